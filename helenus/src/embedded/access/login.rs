//! How clients log in: with the password of a role, or with a certificate that says whose they are.

use std::sync::Arc;

use helenus_core::ErrorResponse;
use helenus_server::{
    Authenticator, Credential, CredentialStore, Identity, Login, PasswordAuthenticator,
};
use helenus_tls::{PeerIdentity, SubjectName};

use super::super::Node;

/// How clients of an [`EmbeddedService`](crate::EmbeddedService) log in.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Authentication {
    /// What they show.
    pub method: LoginMethod,
    /// The binary logarithm of the rounds by which passwords are hashed, from 4 to 16; 10 by default, as with Cassandra,
    /// which takes about a twentieth of a second.
    pub bcrypt_cost: u32,
    /// What the certificate of the first superuser says, for servers that let in nobody without one. More are added with
    /// `ADD IDENTITY`.
    pub superuser_identity: Option<String>,
}

impl Default for Authentication {
    /// Passwords.
    fn default() -> Self {
        Self {
            method: LoginMethod::Password,
            bcrypt_cost: 10,
            superuser_identity: None,
        }
    }
}

/// What clients show to log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoginMethod {
    /// The name and password of a role.
    Password,
    /// A certificate that was verified in the TLS handshake, of which an alternative name (a SPIFFE URI, mostly) or the
    /// common name is the identity of a role (`ADD IDENTITY … TO ROLE …`).
    Certificate,
    /// A certificate; a password from who has none.
    CertificateOrPassword,
}

/// The authenticator of a node's clients.
pub(in crate::embedded) fn authenticator(node: &Arc<Node>) -> Option<Arc<dyn Authenticator>> {
    let options = &node.access.as_ref()?.options;
    let passwords = PasswordAuthenticator::new(Passwords(Arc::clone(node)), options.bcrypt_cost);
    Some(match options.method {
        LoginMethod::Password => Arc::new(passwords),
        LoginMethod::Certificate => Arc::new(Certificates {
            node: Arc::clone(node),
            passwords: None,
        }),
        LoginMethod::CertificateOrPassword => Arc::new(Certificates {
            node: Arc::clone(node),
            passwords: Some(passwords),
        }),
    })
}

/// The passwords of a node's roles.
struct Passwords(Arc<Node>);

impl CredentialStore for Passwords {
    fn credential(&self, name: &str) -> Option<Credential> {
        self.0.bootstrap_superuser(self.0.access.as_ref()?);
        self.credential_at_once(name)
    }

    fn credential_at_once(&self, name: &str) -> Option<Credential> {
        let roles = self.0.roles(self.0.access.as_ref()?);
        let role = roles.role(name)?;
        Some(Credential {
            salted_hash: role.salted_hash.clone(),
            can_login: role.can_login,
        })
    }
}

/// Lets in whose certificate a role has, whatever token comes with it.
struct Certificates {
    node: Arc<Node>,
    /// For who has no certificate.
    passwords: Option<PasswordAuthenticator<Passwords>>,
}

impl Certificates {
    fn role_of(&self, certificate: &PeerIdentity) -> Result<Identity, ErrorResponse> {
        let candidates = identities(certificate);
        let Some(access) = &self.node.access else {
            return Err(unknown(&candidates));
        };
        let roles = self.node.roles(access);
        let found = candidates.iter().find_map(|name| roles.role_of(name));
        let name = found.ok_or_else(|| unknown(&candidates))?;
        match roles.role(name) {
            Some(role) if role.can_login => Ok(Identity::new(Arc::clone(name))),
            _ => Err(ErrorResponse::bad_credentials(format!(
                "{name} is not permitted to log in"
            ))),
        }
    }
}

impl Authenticator for Certificates {
    fn name(&self) -> &str {
        match &self.passwords {
            Some(_) => "org.apache.cassandra.auth.MutualTlsWithPasswordFallbackAuthenticator",
            None => "org.apache.cassandra.auth.MutualTlsAuthenticator",
        }
    }

    fn verify(&self, login: &Login) -> Result<Identity, ErrorResponse> {
        match (login.peer.identity(), &self.passwords) {
            (Some(certificate), _) => self.role_of(certificate),
            (None, Some(passwords)) => passwords.verify(login),
            (None, None) => Err(ErrorResponse::bad_credentials(
                "A certificate is needed to log in",
            )),
        }
    }

    fn verify_at_once(&self, login: &Login) -> Option<Result<Identity, ErrorResponse>> {
        match (login.peer.identity(), &self.passwords) {
            (None, Some(passwords)) => passwords.verify_at_once(login),
            _ => Some(self.verify(login)),
        }
    }
}

/// What may be the identity of a role: URIs, then other alternative names, then the common name.
fn identities(certificate: &PeerIdentity) -> Vec<String> {
    let mut names = certificate.names();
    names.sort_by_key(|name| !matches!(name, SubjectName::Uri(_)));
    let names = names.into_iter().filter_map(|name| match name {
        SubjectName::Uri(name) | SubjectName::Dns(name) | SubjectName::Email(name) => Some(name),
        SubjectName::Ip(address) => Some(address.to_string()),
        _ => None,
    });
    names.chain(certificate.common_name()).collect()
}

fn unknown(identities: &[String]) -> ErrorResponse {
    let identity = identities.first().map_or("", String::as_str);
    ErrorResponse::bad_credentials(format!("Certificate identity '{identity}' not authorized"))
}
