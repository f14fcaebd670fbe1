//! Who may log in: what the author of a service brings, and how the driver of a connection asks it.

#[cfg(feature = "password")]
mod password;
#[cfg(test)]
mod tests;

#[cfg(feature = "password")]
pub use password::{
    Credential, CredentialStore, PasswordAuthenticator, hash_password, is_password_hash,
};

use crate::hub::Hub;
use crate::mailbox::{Mail, Mailbox};
use crate::metrics::Totals;
use crate::offload::Origin;
use crate::service::{PeerInfo, Service};
use helenus_core::connection::AuthToken;
use helenus_core::{ErrorResponse, Reply, Responder, Response};
use std::fmt;
use std::sync::Arc;

/// Who a client turned out to be.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Identity {
    /// The name of the role.
    pub name: Arc<str>,
}

impl Identity {
    /// The role of that name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Identity { name: name.into() }
    }
}

/// What a client brings to log in.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Login {
    /// Where it comes from, and the certificate it showed.
    pub peer: PeerInfo,
    /// The token of its AUTH_RESPONSE; `None` if that was null.
    pub token: Option<Box<[u8]>>,
}

/// How the clients of a [`Service`](crate::Service) log in, in one step: a token is right or wrong.
///
/// The service hands it out with [`Service::authenticator`](crate::Service::authenticator); whoever
/// is let in is told to [`Service::authenticated`](crate::Service::authenticated):
///
/// ```
/// use helenus_core::{ErrorResponse, Request, Responder, Response};
/// use helenus_server::{Authenticator, Identity, Login, PeerInfo, Service};
/// use std::sync::Arc;
/// use std::time::Instant;
///
/// struct Ticket;
///
/// impl Authenticator for Ticket {
///     fn name(&self) -> &str {
///         "org.example.TicketAuthenticator"
///     }
///
///     fn verify(&self, login: &Login) -> Result<Identity, ErrorResponse> {
///         match login.token.as_deref() {
///             Some(b"open sesame") => Ok(Identity::new("ali")),
///             _ => Err(ErrorResponse::bad_credentials("Not that word")),
///         }
///     }
/// }
///
/// struct Cave;
///
/// impl Service for Cave {
///     type Session = Option<Identity>;
///
///     fn authenticator(&self) -> Option<Arc<dyn Authenticator>> {
///         Some(Arc::new(Ticket))
///     }
///
///     fn open(&self, _: &PeerInfo) -> Option<Identity> {
///         None
///     }
///
///     fn authenticated(&self, session: &mut Option<Identity>, identity: Identity) {
///         *session = Some(identity);
///     }
///
///     fn call(&self, _: Instant, session: &mut Option<Identity>, _: Request<'_>, responder: Responder<'_>) {
///         // No request comes before the client is let in.
///         assert!(session.is_some());
///         responder.send(Response::Void);
///     }
/// }
/// ```
///
/// A mechanism of several steps answers in [`Service::authenticate`](crate::Service::authenticate)
/// instead.
pub trait Authenticator: Send + Sync + 'static {
    /// The class name that AUTHENTICATE gives, by which clients choose what to send.
    fn name(&self) -> &str;

    /// Lets the client in, or says why not. Runs on the pool for logins
    /// ([`Options::logins`](crate::Options::logins)), where it may block: that pool is small, and a
    /// login that finds it full is answered OVERLOADED, so that a flood of them costs little. Addresses
    /// take turns in it, and one that floods it makes room for the others.
    ///
    /// # Errors
    /// What the client is answered, mostly [`ErrorResponse::bad_credentials`]; it may try again.
    fn verify(&self, login: &Login) -> Result<Identity, ErrorResponse>;

    /// What can be said of a login without work, on the thread that pumps its connection: that its
    /// token has no meaning, or that it was verified before. `None`, the default, leaves it to
    /// [`verify`](Self::verify).
    fn verify_at_once(&self, _login: &Login) -> Option<Result<Identity, ErrorResponse>> {
        None
    }
}

impl fmt::Debug for dyn Authenticator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Authenticator").field(&self.name()).finish()
    }
}

/// Answers an AUTH_RESPONSE. Who is let in later is posted to `mailbox` in front of the answer, so
/// that the session knows them before the client can ask for anything.
pub(crate) fn log_in<S: Service>(
    hub: &Arc<Hub<S>>,
    authenticator: &Arc<dyn Authenticator>,
    (peer, mailbox): (&PeerInfo, &Arc<Mailbox>),
    session: &mut S::Session,
    token: &AuthToken<'_>,
    responder: Responder<'_>,
) {
    let login = Login {
        peer: peer.clone(),
        token: token.bytes().map(Box::from),
    };
    if let Some(verdict) = authenticator.verify_at_once(&login) {
        count(hub, verdict.is_ok());
        return match verdict {
            Ok(identity) => {
                let user = Arc::clone(&identity.name);
                hub.handle().set_user(peer.connection, user);
                hub.service().authenticated(session, identity);
                responder.accept(None);
            }
            Err(error) => responder.error(error),
        };
    }
    let (authenticator, mailbox) = (Arc::clone(authenticator), Arc::clone(mailbox));
    let counted = Arc::clone(hub);
    let job = move || {
        let verdict = authenticator.verify(&login);
        move |reply: Reply| {
            count(&counted, verdict.is_ok());
            match verdict {
                Ok(identity) => {
                    mailbox.post(Mail::Login(identity));
                    reply.send(Response::AuthSuccess(None));
                }
                Err(error) => reply.error(error),
            }
        }
    };
    let origin = Origin::from(peer.address.ip());
    let logins = &hub.handle().logins;
    if !logins.submit_answer(origin, responder.defer(), job) {
        hub.metrics().add(&Totals {
            logins_shed: 1,
            ..Totals::default()
        });
    }
}

fn count<S: Service>(hub: &Hub<S>, is_accepted: bool) {
    hub.metrics().add(&Totals {
        logins: u64::from(is_accepted),
        logins_failed: u64::from(!is_accepted),
        ..Totals::default()
    });
}
