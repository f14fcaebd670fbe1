//! The handshake as one table: who has received what, in which state, and what follows.
//! Answers to native protocol v5, section 4.1.1, and to Cassandra's `ServerConnection` states.

use crate::codes::Opcode;

/// Which end of a connection this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Receives requests.
    Server,
    /// Receives responses.
    Client,
}

/// How far a connection has come. Both ends go through the same states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// Nothing is agreed upon: OPTIONS may be asked, STARTUP is awaited.
    Negotiating,
    /// STARTUP is under way.
    Starting,
    /// The server asked for authentication.
    Authenticating,
    /// Requests may be made.
    Ready,
}

/// A message that may not come in the state it came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Violation {
    /// Something other than OPTIONS or STARTUP before STARTUP.
    ExpectedStartup,
    /// Something other than AUTH_RESPONSE while the server waits for one.
    ExpectedAuthResponse,
    /// A second STARTUP.
    AlreadyStarted,
    /// A message of the handshake outside of it, or a message this end never receives.
    Unexpected,
}

/// The state after a message of this opcode was *received* by this end.
///
/// A server's own answer to STARTUP and AUTH_RESPONSE moves it on as the same message moves the client
/// that receives it: see [`sent`].
///
/// # Errors
///
/// [`Violation`] if the message may not come now. The state then stays as it was.
#[inline]
pub const fn received(role: Role, state: State, opcode: Opcode) -> Result<State, Violation> {
    use Opcode as Op;
    use Role::{Client, Server};
    use State::{Authenticating, Negotiating, Ready, Starting};

    match (role, state, opcode) {
        (Server, Ready, Op::QUERY | Op::PREPARE | Op::EXECUTE | Op::BATCH) => Ok(Ready),
        (Server, Ready, Op::OPTIONS | Op::REGISTER) => Ok(Ready),
        // Cassandra answers an AUTH_RESPONSE that nobody asked for with AUTH_SUCCESS.
        (Server, Ready, Op::AUTH_RESPONSE) => Ok(Ready),
        (Server, Ready, Op::STARTUP) => Err(Violation::AlreadyStarted),
        (Server, Negotiating, Op::OPTIONS) => Ok(Negotiating),
        (Server, Negotiating, Op::STARTUP) => Ok(Starting),
        (Server, Negotiating, _) => Err(Violation::ExpectedStartup),
        (Server, Authenticating, Op::AUTH_RESPONSE) => Ok(Authenticating),
        (Server, Authenticating, _) => Err(Violation::ExpectedAuthResponse),
        (Server, Starting | Ready, _) => Err(Violation::Unexpected),

        (Client, Negotiating, Op::SUPPORTED | Op::ERROR) => Ok(Negotiating),
        (Client, Starting, Op::READY) => Ok(Ready),
        (Client, Starting, Op::AUTHENTICATE) => Ok(Authenticating),
        (Client, Starting, Op::ERROR) => Ok(Negotiating),
        (Client, Authenticating, Op::AUTH_CHALLENGE | Op::ERROR) => Ok(Authenticating),
        (Client, Authenticating, Op::AUTH_SUCCESS) => Ok(Ready),
        (Client, Ready, Op::RESULT | Op::ERROR | Op::EVENT) => Ok(Ready),
        (Client, Ready, Op::SUPPORTED | Op::READY) => Ok(Ready),
        // A client may authenticate again, and a proxy's may send what nobody here has heard of.
        (Client, Ready, Op::AUTH_CHALLENGE | Op::AUTH_SUCCESS) => Ok(Ready),
        (Client, Ready, opcode) if !opcode.is_known() => Ok(Ready),
        (Client, _, _) => Err(Violation::Unexpected),
    }
}

/// The state after this end *sent* a message of this opcode; it is the one its receiver comes to.
///
/// # Errors
///
/// [`Violation`] if the message may not be sent now. The state then stays as it was.
#[inline]
pub const fn sent(role: Role, state: State, opcode: Opcode) -> Result<State, Violation> {
    match role {
        Role::Server => received(Role::Client, state, opcode),
        Role::Client => received(Role::Server, state, opcode),
    }
}

#[cfg(test)]
mod tests {
    use super::Role::{Client, Server};
    use super::State::{Authenticating, Negotiating, Ready, Starting};
    use super::*;

    #[test]
    fn a_server_without_authentication_is_ready_after_startup() {
        let starting = received(Server, Negotiating, Opcode::STARTUP).unwrap();
        assert_eq!(sent(Server, starting, Opcode::READY), Ok(Ready));
    }

    #[test]
    fn a_refused_startup_may_be_tried_again() {
        assert_eq!(sent(Server, Starting, Opcode::ERROR), Ok(Negotiating));
        assert_eq!(received(Client, Starting, Opcode::ERROR), Ok(Negotiating));
    }

    #[test]
    fn authentication_goes_on_until_success() {
        let mut state = sent(Server, Starting, Opcode::AUTHENTICATE).unwrap();
        for answer in [Opcode::AUTH_CHALLENGE, Opcode::ERROR] {
            state = received(Server, state, Opcode::AUTH_RESPONSE).unwrap();
            state = sent(Server, state, answer).unwrap();
            assert_eq!(state, Authenticating);
        }
        assert_eq!(sent(Server, state, Opcode::AUTH_SUCCESS), Ok(Ready));
    }

    #[test]
    fn requests_wait_for_the_handshake() {
        for opcode in [Opcode::QUERY, Opcode::REGISTER, Opcode::AUTH_RESPONSE] {
            assert_eq!(
                received(Server, Negotiating, opcode),
                Err(Violation::ExpectedStartup)
            );
        }
        for opcode in [Opcode::QUERY, Opcode::OPTIONS, Opcode::STARTUP] {
            assert_eq!(
                received(Server, Authenticating, opcode),
                Err(Violation::ExpectedAuthResponse)
            );
        }
        assert_eq!(
            received(Server, Ready, Opcode::STARTUP),
            Err(Violation::AlreadyStarted)
        );
    }

    #[test]
    fn neither_end_takes_what_only_it_may_send() {
        for opcode in (0..=u8::MAX).map(Opcode) {
            for state in [Negotiating, Starting, Authenticating, Ready] {
                if received(Server, state, opcode).is_ok() {
                    assert!(opcode.is_request());
                }
                if received(Client, state, opcode).is_ok() {
                    assert!(!opcode.is_request());
                }
            }
        }
    }
}
