//! Who the client is, where a server asks.

use std::fmt;

/// The client's part of a SASL exchange.
pub trait Authenticator: fmt::Debug + Send + Sync {
    /// The server wants authentication by the class `authenticator`, the name that AUTHENTICATE gave:
    /// the first token. An error's text becomes [`Error::Authentication`](crate::Error).
    fn initial(&self, authenticator: &str) -> Result<Option<Vec<u8>>, String>;

    /// The server goes on with `challenge`: the next token.
    fn challenge(&self, challenge: Option<&[u8]>) -> Result<Option<Vec<u8>>, String>;
}

/// A user's name and password, for Apache Cassandra's `PasswordAuthenticator` and what speaks SASL PLAIN
/// like it. They travel as they are: only over TLS, or where nobody listens.
#[derive(Clone)]
pub struct PlainText {
    username: String,
    password: String,
}

impl PlainText {
    /// The credentials of `username`.
    #[must_use]
    pub fn new(username: impl Into<String>, password: impl Into<String>) -> Self {
        PlainText {
            username: username.into(),
            password: password.into(),
        }
    }
}

impl fmt::Debug for PlainText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlainText")
            .field("username", &self.username)
            .finish_non_exhaustive()
    }
}

impl Authenticator for PlainText {
    fn initial(&self, _authenticator: &str) -> Result<Option<Vec<u8>>, String> {
        let token = [b"", self.username.as_bytes(), self.password.as_bytes()].join(&0);
        Ok(Some(token))
    }

    fn challenge(&self, _challenge: Option<&[u8]>) -> Result<Option<Vec<u8>>, String> {
        Err("SASL PLAIN knows no challenge".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_token_has_no_identity_to_act_for() {
        let user = PlainText::new("cassandra", "secret");
        let token = user.initial("org.apache.cassandra.auth.PasswordAuthenticator");
        assert_eq!(token, Ok(Some(b"\0cassandra\0secret".to_vec())));
        assert!(user.challenge(None).is_err());
    }

    #[test]
    fn a_password_is_not_shown() {
        let shown = format!("{:?}", PlainText::new("cassandra", "secret"));
        assert_eq!(shown, "PlainText { username: \"cassandra\", .. }");
    }
}
