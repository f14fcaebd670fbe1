//! Who may do what on a node whose clients log in. The tables of `system_auth` are the truth; what they say is kept at hand
//! until one of them is written to.

mod login;

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use helenus_core::message::{ErrorResponse, QueryParams, Rows};
use helenus_core::rows::{FromRow, RowError};
use helenus_core::{Consistency, ProtocolVersion, Response};
use helenus_engine::Context;
use helenus_engine::access::{Caller, Rights, Role, Roles, SUPERUSER};
use helenus_engine::cql::ast::Access;
use helenus_engine::execution::{Completed, Execution, Outcome, not_logged_in};
use helenus_engine::guardrails::{Guardrails, Threshold};
use helenus_engine::schema::SchemaUpdate;
use helenus_engine::statement::{Statement, prepare};
use helenus_engine::storage::Mutation;
use helenus_server::{hash_password, is_password_hash};
use parking_lot::{Mutex, RwLock};

use super::Node;
use super::run::Run;

pub(super) use login::authenticator;
pub use login::{Authentication, LoginMethod};

/// What a node whose clients log in has beside its tables.
pub(super) struct AccessControl {
    pub(super) options: Authentication,
    /// How often `system_auth` was written to.
    version: AtomicU64,
    known: RwLock<Known>,
    /// Held through a change, and through the look at the tables that it begins with.
    changing: Mutex<()>,
    /// Whether the first superuser has a password.
    is_bootstrapped: Mutex<bool>,
    queries: OnceLock<Option<Queries>>,
    /// What the tables are read with: that a read of theirs fails would lock everybody out.
    unlimited: Arc<Guardrails>,
}

/// What the tables said.
struct Known {
    /// When; 0 for never.
    version: u64,
    roles: Arc<Roles>,
    /// By role, as far as they were asked for.
    rights: HashMap<Arc<str>, Arc<Rights>>,
}

/// The statements that read the tables.
struct Queries {
    roles: Arc<Statement>,
    grants: Arc<Statement>,
    identities: Arc<Statement>,
}

impl AccessControl {
    pub(super) fn new(options: Authentication) -> Self {
        Self {
            options,
            version: AtomicU64::new(1),
            known: RwLock::new(Known {
                version: 0,
                roles: Arc::default(),
                rights: HashMap::new(),
            }),
            changing: Mutex::default(),
            is_bootstrapped: Mutex::default(),
            queries: OnceLock::new(),
            unlimited: Arc::new(unlimited()),
        }
    }

    fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Has the tables read again before anybody relies on what they said.
    pub(super) fn changed(&self) {
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    /// The same if one of these changes is of `system_auth`.
    pub(super) fn noticed(&self, mutations: &[Mutation]) {
        if mutations
            .iter()
            .any(|mutation| is_watched(&mutation.table.keyspace))
        {
            self.changed();
        }
    }
}

fn unlimited() -> Guardrails {
    let mut guardrails = Guardrails::default();
    guardrails.tombstones = Threshold::default();
    guardrails
}

/// Whether what is allowed follows from the tables of that keyspace.
pub(super) fn is_watched(keyspace: &str) -> bool {
    keyspace == "system_auth"
}

/// Who sends the requests of a connection.
#[derive(Debug, Clone)]
pub(super) struct User {
    name: Arc<str>,
    /// With the version of `system_auth` that they follow from.
    rights: Option<(u64, Arc<Rights>)>,
}

impl User {
    pub(super) fn new(name: Arc<str>) -> Self {
        Self { name, rights: None }
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Whether the user was a superuser when the last statement was authorized.
    pub(super) fn is_superuser(&self) -> bool {
        let rights = self.rights.as_ref();
        rights.is_some_and(|(_, rights)| rights.is_superuser())
    }

    /// What the user may do now.
    pub(super) fn rights(&mut self, node: &Node, access: &AccessControl) -> Arc<Rights> {
        let version = access.version();
        match &self.rights {
            Some((known, rights)) if *known == version => Arc::clone(rights),
            _ => {
                let (version, rights) = node.rights(access, &self.name);
                self.rights = Some((version, Arc::clone(&rights)));
                rights
            }
        }
    }
}

impl Node {
    /// What the tables say, read again if one was written to.
    fn roles(&self, access: &AccessControl) -> Arc<Roles> {
        {
            let known = access.known.read();
            if known.version == access.version() {
                return Arc::clone(&known.roles);
            }
        }
        let mut known = access.known.write();
        self.renew(access, &mut known);
        Arc::clone(&known.roles)
    }

    fn rights(&self, access: &AccessControl, name: &Arc<str>) -> (u64, Arc<Rights>) {
        let mut known = access.known.write();
        self.renew(access, &mut known);
        let Known {
            version,
            roles,
            rights,
        } = &mut *known;
        let rights = rights
            .entry(Arc::clone(name))
            .or_insert_with(|| Arc::new(roles.rights(name)));
        (*version, Arc::clone(rights))
    }

    fn renew(&self, access: &AccessControl, known: &mut Known) {
        // Whatever is written from here on counts as a change after this look.
        let version = access.version();
        if known.version == version {
            return;
        }
        match self.read_roles(access) {
            Some(roles) => {
                known.roles = Arc::new(roles);
                known.rights.clear();
                known.version = version;
            }
            None => tracing::error!("the tables of system_auth can't be read"),
        }
    }

    fn read_roles(&self, access: &AccessControl) -> Option<Roles> {
        let prepared = |text| prepare(&self.schema(), None, text).ok();
        let queries = access.queries.get_or_init(|| {
            Some(Queries {
                roles: prepared(
                    "SELECT role, can_login, is_superuser, salted_hash, member_of FROM system_auth.roles",
                )?,
                grants: prepared(
                    "SELECT role, resource, permissions FROM system_auth.role_permissions",
                )?,
                identities: prepared("SELECT identity, role FROM system_auth.identity_to_role")?,
            })
        });
        let queries = queries.as_ref()?;
        let mut all = Roles::default();
        type RoleRow<'a> = (
            &'a str,
            Option<bool>,
            Option<bool>,
            Option<&'a str>,
            Option<BTreeSet<String>>,
        );
        let roles = self.select(access, &queries.roles)?;
        each(
            &roles,
            |(name, can_login, is_superuser, hash, member_of): RoleRow<'_>| {
                let member_of = member_of.unwrap_or_default();
                let role = Role {
                    can_login: can_login.unwrap_or_default(),
                    is_superuser: is_superuser.unwrap_or_default(),
                    salted_hash: hash.map(Arc::from),
                    member_of: member_of.into_iter().map(Arc::from).collect(),
                };
                all.add_role(name, role);
            },
        )
        .ok()?;
        type GrantRow<'a> = (&'a str, &'a str, Option<BTreeSet<String>>);
        let grants = self.select(access, &queries.grants)?;
        each(&grants, |(role, resource, permissions): GrantRow<'_>| {
            let permissions = permissions.unwrap_or_default();
            all.add_grant(role, resource, permissions.iter().map(String::as_str));
        })
        .ok()?;
        let identities = self.select(access, &queries.identities)?;
        each(&identities, |(identity, role): (&str, Option<&str>)| {
            all.add_identity(identity, role.unwrap_or_default());
        })
        .ok()?;
        Some(all)
    }

    fn select(&self, access: &AccessControl, statement: &Arc<Statement>) -> Option<Rows> {
        let params = QueryParams::new(Consistency::ONE);
        let context = self.clock.context(ProtocolVersion::LATEST);
        let statement = Arc::clone(statement);
        let guardrails = Arc::clone(&access.unlimited);
        let mut execution = Execution::new(
            self.schema(),
            statement,
            &params,
            None,
            None,
            context,
            guardrails,
        )
        .ok()?;
        match self.run_out(&mut execution, None) {
            Run::Completed(completed) => match completed.response {
                Response::Rows(rows) => Some(rows),
                _ => None,
            },
            _ => None,
        }
    }

    /// Carries out a statement on roles: one change at a time, each on what the last one left.
    pub(super) fn permit(
        &self,
        statement: &Access,
        keyspace: Option<&str>,
        user: Option<&Arc<str>>,
    ) -> Result<Outcome, ErrorResponse> {
        let (Some(access), Some(user)) = (&self.access, user) else {
            return Err(not_logged_in());
        };
        let hash = statement
            .password()
            .map(|password| hash_password(password, access.options.bcrypt_cost))
            .transpose()?;
        let _turn = access.changing.lock();
        let (_, rights) = self.rights(access, user);
        // Later than all that was written before.
        let context = self.clock.context(ProtocolVersion::LATEST);
        let by = Caller {
            rights: &rights,
            schema: &self.schema(),
            keyspace,
            timestamp: context.timestamp,
            password_hash: hash.as_deref(),
            is_hash: is_password_hash,
        };
        let update = self.roles(access).apply(statement, &by)?;
        self.write(&update.mutations, &context);
        Ok(Outcome::Answered(Completed {
            response: update.response,
            warnings: update.warnings,
        }))
    }

    /// Gives who changed the schema what they created, and nobody what is gone.
    pub(crate) fn permit_created(&self, update: &SchemaUpdate, user: Option<&Arc<str>>) {
        let (Some(access), Some(user)) = (&self.access, user) else {
            return;
        };
        let _turn = access.changing.lock();
        let context = self.clock.context(ProtocolVersion::LATEST);
        let mutations = self.roles(access).follow(update, user, context.timestamp);
        self.write(&mutations, &context);
    }

    fn write(&self, mutations: &[Mutation], context: &Context) {
        for mutation in mutations {
            self.shards.apply(mutation, context.now_seconds);
        }
        if let Some(access) = &self.access {
            access.noticed(mutations);
        }
        if let Some(member) = &self.member {
            member.spread(mutations);
        }
    }

    /// Hashes the password of the first superuser when the first client logs in: it takes longer than to start.
    fn bootstrap_superuser(&self, access: &AccessControl) {
        let mut is_done = access.is_bootstrapped.lock();
        if std::mem::replace(&mut *is_done, true) {
            return;
        }
        let roles = self.roles(access);
        if roles
            .role(SUPERUSER)
            .is_none_or(|role| role.salted_hash.is_some())
        {
            return;
        }
        let context = self.clock.context(ProtocolVersion::LATEST);
        match hash_password(SUPERUSER, access.options.bcrypt_cost) {
            Ok(hash) => {
                let schema = self.schema();
                let change = Roles::set_hash(&schema, SUPERUSER, &hash, context.timestamp);
                self.write(change.as_slice(), &context);
            }
            Err(error) => {
                tracing::error!(error = %error.message, "the first superuser has no password")
            }
        }
    }
}

/// Hands each row over.
fn each<'a, T: FromRow<'a>>(rows: &'a Rows, mut take: impl FnMut(T)) -> Result<(), RowError> {
    for row in rows.typed::<T>()? {
        take(row?);
    }
    Ok(())
}
