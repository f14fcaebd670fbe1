//! Permissions by code of the program's own, which may take its time: what it allowed is remembered for a while, and what
//! isn't known is asked where nobody waits.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use helenus_core::message::ErrorResponse;
use helenus_engine::access::{Permission, Resource};
use helenus_server::JobLease;

/// Permissions that are remembered at most; beyond that all are asked for anew.
const MOST: usize = 16 * 1024;

/// Decides what users may do, instead of roles or besides them.
///
/// It may block, on another server say: it is called in the pool for the program's own code,
/// [`Options::hooks`](crate::Options::hooks) large. A statement that it doesn't decide on in that pool's time, or panics at,
/// is answered with a server error; other requests go on meanwhile.
///
/// ```
/// use helenus::{Authorizer, Builder, EmbeddedService, Permission, Resource};
///
/// struct ReadOnly;
///
/// impl Authorizer for ReadOnly {
///     fn authorize(&self, _: Option<&str>, permission: Permission, resource: &Resource) -> Result<(), String> {
///         match permission {
///             Permission::Select => Ok(()),
///             _ => Err(format!("{resource} can only be read")),
///         }
///     }
/// }
///
/// let service = EmbeddedService::builder("127.0.0.1:0".parse()?).authorizer(ReadOnly).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Authorizer: Send + Sync + 'static {
    /// Whether a user may do that; `None` where clients don't log in.
    ///
    /// It is asked for each of the permissions that Cassandra would look for, superusers' too, before anything of a
    /// statement is computed. Statements on roles are the roles' matter alone.
    ///
    /// # Errors
    /// What the client is told, as UNAUTHORIZED.
    fn authorize(
        &self,
        user: Option<&str>,
        permission: Permission,
        resource: &Resource,
    ) -> Result<(), String>;

    /// For how long it isn't asked again after it allowed something: two seconds, as Cassandra's
    /// `permissions_validity`, unless it says otherwise.
    fn validity(&self) -> Duration {
        Duration::from_secs(2)
    }
}

type Granted = HashMap<(Option<Arc<str>>, Permission, Resource), Instant>;

/// An authorizer, and what it has allowed.
pub(super) struct Authorization {
    authorizer: Box<dyn Authorizer>,
    /// Until when.
    granted: Mutex<Granted>,
}

impl Authorization {
    pub(super) fn new(authorizer: impl Authorizer) -> Self {
        Self {
            authorizer: Box::new(authorizer),
            granted: Mutex::default(),
        }
    }

    /// Whether all of this is known to be allowed.
    pub(super) fn is_known(
        &self,
        user: Option<&Arc<str>>,
        asked: impl IntoIterator<Item = (Permission, Resource)>,
    ) -> bool {
        let now = Instant::now();
        let granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        asked.into_iter().all(|(permission, resource)| {
            let until = granted.get(&(user.cloned(), permission, resource));
            until.is_some_and(|until| *until > now)
        })
    }

    /// Asks for each, with all the time that one answer may take; gives what is refused.
    pub(super) fn ask(
        &self,
        user: Option<&Arc<str>>,
        asked: Vec<(Permission, Resource)>,
        lease: &JobLease,
    ) -> Option<ErrorResponse> {
        for (permission, resource) in asked {
            if !lease.renew() {
                return Some(ErrorResponse::unauthorized("Nobody waits for it any more"));
            }
            let name = user.map(|user| &**user);
            if let Err(refusal) = self.authorizer.authorize(name, permission, &resource) {
                return Some(ErrorResponse::unauthorized(refusal));
            }
            self.remember((user.cloned(), permission, resource));
        }
        None
    }

    fn remember(&self, permission: (Option<Arc<str>>, Permission, Resource)) {
        let now = Instant::now();
        let Some(until) = now.checked_add(self.authorizer.validity()) else {
            return;
        };
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        if granted.len() >= MOST {
            granted.retain(|_, until| *until > now);
        }
        if granted.len() >= MOST {
            granted.clear();
        }
        granted.insert(permission, until);
    }
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorization").finish_non_exhaustive()
    }
}
