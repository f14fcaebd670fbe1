//! The embedded engine as a [`Service`]: one node, in memory.

mod access;
mod authorization;
mod builder;
mod clock;
mod cql_literal;
mod delays;
mod direct;
mod errand;
mod faults;
mod live;
mod quarantine;
mod run;
mod service;
mod shards;
mod statements;
mod tracing;
mod upkeep;

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use helenus_core::ProtocolVersion;
use helenus_core::types::Value;
use helenus_engine::Guardrails;
use helenus_engine::access::Roles;
use helenus_engine::schema::Schema;
use helenus_engine::system::NodeInfo;
use helenus_engine::system::writer;
use helenus_server::ServerHandle;
use uuid::Uuid;

use access::{AccessControl, User};
use authorization::Authorization;
use builder::Hooks;
use clock::Clock;
use faults::Faults;
use quarantine::Quarantine;
use shards::Shards;
use statements::Statements;

use crate::cluster::Member;

pub use access::{Authentication, LoginMethod};
pub use authorization::Authorizer;
pub use builder::Builder;
pub use faults::{Fault, FaultError, FaultOperation, InvalidFault};
pub use service::Session;

pub(crate) use delays::Delays;
pub(crate) use errand::Task;

/// Shards a core: enough that two requests at the same time seldom meet on one.
const SHARDS_PER_CORE: usize = 16;

/// A Cassandra of one node in memory, as a [`Service`](helenus_server::Service) for any runtime.
///
/// A clone is another handle on the same data.
#[derive(Clone)]
pub struct EmbeddedService {
    node: Arc<Node>,
}

/// The node: schema, storage and prepared statements, shared by all connections.
pub(crate) struct Node {
    schema: RwLock<Arc<Schema>>,
    /// Held through a change of the schema.
    pub(crate) altering: Mutex<()>,
    pub(crate) shards: Arc<Shards>,
    statements: Statements,
    pub(crate) clock: Clock,
    guardrails: RwLock<GuardrailsByUser>,
    faults: Faults,
    pub(crate) delays: Delays,
    quarantine: Quarantine,
    /// Who decides what users may do besides their roles, if anybody does.
    authorization: Option<Authorization>,
    /// What serves it, if anything does.
    server: RwLock<Option<ServerHandle>>,
    /// `None` where everybody may do everything.
    access: Option<AccessControl>,
    /// `None` for a node by itself.
    pub(crate) member: Option<Member>,
}

/// The limits that statements are held against.
struct GuardrailsByUser {
    superusers: Arc<Guardrails>,
    others: Arc<Guardrails>,
}

impl From<Guardrails> for GuardrailsByUser {
    fn from(guardrails: Guardrails) -> Self {
        Self {
            superusers: Arc::new(guardrails.for_superusers()),
            others: Arc::new(guardrails),
        }
    }
}

impl EmbeddedService {
    /// An empty node that tells its clients to reach it at `address`, and lets everybody do everything.
    pub fn new(address: SocketAddr) -> Self {
        Self::alone(address, None, Hooks::default())
    }

    /// The same for clients that log in, and may do what their roles were granted.
    ///
    /// It begins with one role, as Cassandra does: the superuser `cassandra`, whose password is `cassandra`.
    pub fn with_logins(address: SocketAddr, authentication: Authentication) -> Self {
        let access = AccessControl::new(authentication);
        Self::alone(address, Some(access), Hooks::default())
    }

    fn alone(address: SocketAddr, access: Option<AccessControl>, hooks: Hooks) -> Self {
        let info = NodeInfo::new(advertised(address.ip()), address.port(), host_id(address));
        Self::build(&info, &[], access, hooks, |_| None)
    }

    /// A node among `peers`.
    pub(crate) fn among(
        info: &NodeInfo,
        peers: &[NodeInfo],
        authentication: Option<Authentication>,
        member: impl FnOnce(&Arc<Schema>) -> Member,
    ) -> Self {
        let access = authentication.map(AccessControl::new);
        let hooks = Hooks::default();
        Self::build(info, peers, access, hooks, |schema| Some(member(schema)))
    }

    /// A node among `peers`, with its part in their cluster, which is made with the schema that it begins with.
    fn build(
        info: &NodeInfo,
        peers: &[NodeInfo],
        access: Option<AccessControl>,
        hooks: Hooks,
        member: impl FnOnce(&Arc<Schema>) -> Option<Member>,
    ) -> Self {
        let clock = Clock::default();
        let context = clock.context(ProtocolVersion::LATEST);
        let (schema, mut mutations) =
            Schema::bootstrap_with(info, peers, hooks.natives, context.timestamp);
        if let Some(access) = &access {
            let identity = access.options.superuser_identity.as_deref();
            mutations.extend(Roles::bootstrap(&schema, identity, context.timestamp));
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let shards = Arc::new(Shards::new(SHARDS_PER_CORE * cores));
        for mutation in &mutations {
            shards.apply(mutation, context.now_seconds);
        }
        let schema = Arc::new(schema);
        Self {
            node: Arc::new(Node {
                member: member(&schema),
                schema: RwLock::new(schema),
                altering: Mutex::default(),
                shards,
                statements: Statements::default(),
                clock,
                guardrails: RwLock::new(Guardrails::default().into()),
                faults: Faults::default(),
                delays: Delays::default(),
                quarantine: Quarantine::default(),
                authorization: hooks.authorization,
                server: RwLock::default(),
                access,
            }),
        }
    }

    /// Holds statements against other limits; those under way go on with the ones they began with. At first they are
    /// Cassandra's defaults, few of which are set.
    ///
    /// Cassandra applies most of them to no one where there is no authentication. Here who sets one means it: it counts
    /// for every user but superusers.
    pub fn set_guardrails(&self, guardrails: Guardrails) {
        let guardrails = guardrails.into();
        *self
            .node
            .guardrails
            .write()
            .unwrap_or_else(PoisonError::into_inner) = guardrails;
    }

    /// Makes requests meet these faults from now on, and no others: of those that fit a request, the first.
    ///
    /// ```
    /// # use helenus::{EmbeddedService, InvalidFault};
    /// # let service = EmbeddedService::new("127.0.0.1:9042".parse().expect("an address"));
    /// service.set_faults(["read on shop.orders delay 250ms error timeout times 1".parse()?]);
    /// // … the first SELECT from that table times out, and the client tries again …
    /// service.set_faults([]);
    /// # Ok::<(), InvalidFault>(())
    /// ```
    pub fn set_faults(&self, faults: impl IntoIterator<Item = Fault>) {
        self.node.faults.set(faults.into_iter().collect());
    }

    /// The node.
    pub(crate) fn node(&self) -> &Arc<Node> {
        &self.node
    }

    /// Tells clients from now on to reach the node at `address`: for a server that chose its port when it was bound.
    pub fn announce(&self, address: SocketAddr) {
        let context = self.node.clock.context(ProtocolVersion::LATEST);
        let schema = self.node.schema();
        let Some(table) = schema.table("system", "local") else {
            return;
        };
        let row = [
            ("key", Value::Text("local".to_owned())),
            ("rpc_address", Value::Inet(advertised(address.ip()))),
            ("rpc_port", Value::Int(address.port().into())),
            ("host_id", Value::Uuid(host_id(address))),
        ];
        let mutation = writer::insert(table, context.timestamp, &row);
        self.node.shards.apply(&mutation, context.now_seconds);
    }
}

impl fmt::Debug for EmbeddedService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddedService").finish_non_exhaustive()
    }
}

impl Node {
    /// The schema as it stands.
    pub(crate) fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What serves the node, if anything does.
    pub(crate) fn server(&self) -> Option<ServerHandle> {
        let server = self.server.read();
        server.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Is served by another server from now on; returns the one before.
    fn served_by(&self, server: ServerHandle) -> Option<ServerHandle> {
        let mut current = self.server.write().unwrap_or_else(PoisonError::into_inner);
        current.replace(server)
    }

    /// The limits that count for a user.
    fn guardrails(&self, user: Option<&User>) -> Arc<Guardrails> {
        let guardrails = self.guardrails.read();
        let guardrails = guardrails.unwrap_or_else(PoisonError::into_inner);
        match user.is_some_and(User::is_superuser) {
            true => Arc::clone(&guardrails.superusers),
            false => Arc::clone(&guardrails.others),
        }
    }
}

/// The address clients are told: a server that listens on all addresses names the loopback one, since clients try to connect to
/// what they are told.
fn advertised(listen: IpAddr) -> IpAddr {
    if listen.is_unspecified() {
        Ipv4Addr::LOCALHOST.into()
    } else {
        listen
    }
}

/// The node's identity, which follows from its address: to drivers, a server that ended and came back is the same node.
/// Otherwise they would close the connections that they have just opened, and open others for the new node.
pub(crate) fn host_id(listen: SocketAddr) -> Uuid {
    let address = SocketAddr::new(advertised(listen.ip()), listen.port());
    Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("cql://{address}").as_bytes())
}
