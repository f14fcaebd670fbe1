//! SASL's PLAIN against salted bcrypt hashes, as `org.apache.cassandra.auth.PasswordAuthenticator` does it (4.x and 5.0).

use super::{Authenticator, Identity, Login};
use crate::sync::lock;
use bcrypt::{HashParts, Version};
use helenus_core::ErrorResponse;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::str::FromStr;
use std::sync::{Arc, Mutex};

/// The class name by which drivers know to send a user's name and password.
const CLASS: &str = "org.apache.cassandra.auth.PasswordAuthenticator";

/// The longest name of a role, in bytes: that of a partition key.
const MAX_NAME: usize = u16::MAX as usize;

/// The costliest hash that is verified, some seconds' worth: with more, one role could keep everybody
/// else from logging in.
const MAX_COST: u32 = 16;

/// Names whose last right password is remembered.
const REMEMBERED: usize = 4096;

/// What is kept of a role that may log in with a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// The bcrypt hash of the password, as in `system_auth.roles`; `None` if the role has none.
    pub salted_hash: Option<Arc<str>>,
    /// Whether the role may log in at all.
    pub can_login: bool,
}

/// Where a [`PasswordAuthenticator`] finds passwords.
pub trait CredentialStore: Send + Sync + 'static {
    /// What is kept of the role `name`; `None` if there is no such role. Called on the pool for logins,
    /// where it may block.
    fn credential(&self, name: &str) -> Option<Credential>;

    /// The same where it is known without blocking, on a thread that pumps connections: for who logs
    /// in again. `None`, the default, leaves it to [`credential`](Self::credential).
    fn credential_at_once(&self, _name: &str) -> Option<Credential> {
        None
    }
}

/// Lets in who knows the password of a role, in Cassandra's words.
///
/// A wrong password, a role without one and a name that doesn't exist cost the same work and are
/// answered alike. A password that was right is remembered, as a digest under a key of this process,
/// so that further connections of the same client cost nothing; it counts until the role's hash
/// changes.
#[derive(Debug)]
pub struct PasswordAuthenticator<S> {
    store: S,
    /// What is verified for names that have no hash.
    decoy: String,
    remembered: Remembered,
}

impl<S: CredentialStore> PasswordAuthenticator<S> {
    /// Lets in the roles of `store`, whose hashes mostly have this `cost`.
    pub fn new(store: S, cost: u32) -> Self {
        let decoy = format!("$2a${:02}${}", cost.clamp(4, MAX_COST), ".".repeat(53));
        PasswordAuthenticator {
            store,
            decoy,
            remembered: Remembered::default(),
        }
    }

    fn verify_plain(&self, plain: &Plain) -> Result<Identity, ErrorResponse> {
        let credential = self.store.credential(&plain.name);
        let known = credential
            .as_ref()
            .and_then(|known| known.salted_hash.as_deref());
        let is_right = is_right(&plain.password, known.unwrap_or(&self.decoy));
        match (credential, is_right) {
            (Some(credential), true) => {
                if let Some(hash) = &credential.salted_hash {
                    self.remembered.insert(plain, hash);
                    return admit(plain, &credential);
                }
                Err(incorrect(plain))
            }
            _ => Err(incorrect(plain)),
        }
    }
}

impl<S: CredentialStore> Authenticator for PasswordAuthenticator<S> {
    fn name(&self) -> &str {
        CLASS
    }

    fn verify(&self, login: &Login) -> Result<Identity, ErrorResponse> {
        self.verify_plain(&Plain::decode(login.token.as_deref())?)
    }

    fn verify_at_once(&self, login: &Login) -> Option<Result<Identity, ErrorResponse>> {
        let plain = match Plain::decode(login.token.as_deref()) {
            Ok(plain) => plain,
            Err(error) => return Some(Err(error)),
        };
        let credential = self.store.credential_at_once(&plain.name)?;
        let hash = credential.salted_hash.as_ref()?;
        self.remembered
            .contains(&plain, hash)
            .then(|| admit(&plain, &credential))
    }
}

/// Who knows the password may still not be allowed in.
fn admit(plain: &Plain, credential: &Credential) -> Result<Identity, ErrorResponse> {
    if !credential.can_login {
        let message = format!("{} is not permitted to log in", plain.name);
        return Err(ErrorResponse::bad_credentials(message));
    }
    Ok(Identity::new(&*plain.name))
}

fn incorrect(plain: &Plain) -> ErrorResponse {
    ErrorResponse::bad_credentials(format!(
        "Provided username {} and/or password are incorrect",
        plain.name
    ))
}

/// A token of PLAIN (RFC 4616): an authorization id that nobody looks at, a name and a password.
#[derive(Debug)]
struct Plain {
    name: String,
    password: String,
}

impl Plain {
    /// Takes a token apart from its end, as Cassandra does, whose errors tell them apart.
    fn decode(token: Option<&[u8]>) -> Result<Plain, ErrorResponse> {
        let mut parts = token.unwrap_or_default().rsplitn(4, |byte| *byte == 0);
        let last = parts.next().unwrap_or_default();
        let (password, name) = match (parts.next(), parts.next(), parts.next()) {
            (None, _, _) => (None, None),
            (Some(_), None, _) => (Some(last), None),
            (Some(name), Some(_), None) => (Some(last), Some(name)),
            (Some(_), Some(_), Some(_)) => {
                return Err(ErrorResponse::bad_credentials(
                    "Credential format error: username or password is empty or contains NUL(\\0) character",
                ));
            }
        };
        let given = |part: Option<&[u8]>, message| match part {
            Some(part) if !part.is_empty() => Ok(String::from_utf8_lossy(part).into_owned()),
            _ => Err(ErrorResponse::bad_credentials(message)),
        };
        let password = given(password, "Password must not be null")?;
        let name = given(name, "Authentication ID must not be null")?;
        if name.len() > MAX_NAME {
            return Err(ErrorResponse::invalid(format!(
                "Key length of {} is longer than maximum of {MAX_NAME}",
                name.len()
            )));
        }
        Ok(Plain { name, password })
    }
}

/// Whether `hash` is one of `password`.
fn is_right(password: &str, hash: &str) -> bool {
    is_password_hash(hash) && bcrypt::verify(password, hash).unwrap_or(false)
}

/// Whether `text` is a bcrypt hash that a password can be verified against: of cost 16 at most, above
/// which verifying takes seconds.
pub fn is_password_hash(text: &str) -> bool {
    HashParts::from_str(text).is_ok_and(|parts| (4..=MAX_COST).contains(&parts.get_cost()))
}

/// The bcrypt hash of a password under a fresh salt, written as Cassandra writes them. `cost` is the
/// binary logarithm of the rounds, brought between 4 and 16; 10 takes about a twentieth of a second.
///
/// # Errors
/// SERVER_ERROR when the system has no randomness.
pub fn hash_password(password: &str, cost: u32) -> Result<String, ErrorResponse> {
    bcrypt::hash_with_result(password, cost.clamp(4, MAX_COST))
        .map(|parts| parts.format_for_version(Version::TwoA))
        .map_err(|error| ErrorResponse::server_error(format!("No password can be hashed: {error}")))
}

/// The last right password of some names.
#[derive(Debug, Default)]
struct Remembered {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Made with the first entry.
    key: Option<[u8; 32]>,
    digests: HashMap<String, [u8; 32]>,
}

impl Remembered {
    fn contains(&self, plain: &Plain, hash: &str) -> bool {
        let inner = lock(&self.inner);
        match (&inner.key, inner.digests.get(&plain.name)) {
            (Some(key), Some(known)) => *known == digest(key, plain, hash),
            _ => false,
        }
    }

    fn insert(&self, plain: &Plain, hash: &str) {
        let mut inner = lock(&self.inner);
        let mut key = inner.key.unwrap_or_default();
        if inner.key.is_none() {
            // Without randomness nothing is remembered.
            if getrandom::fill(&mut key).is_err() {
                return;
            }
            inner.key = Some(key);
        }
        if inner.digests.len() >= REMEMBERED && !inner.digests.contains_key(&plain.name) {
            inner.digests.clear();
        }
        let digest = digest(&key, plain, hash);
        inner.digests.insert(plain.name.clone(), digest);
    }
}

/// Of the key, the hash, whose length is fixed, and the password.
fn digest(key: &[u8; 32], plain: &Plain, hash: &str) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(key);
    digest.update(hash);
    digest.update(&plain.password);
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::PeerInfo;
    use helenus_core::ErrorCode;
    use std::net::SocketAddr;

    /// Ali's password is "sesame"; Bob may not log in; Cas has no password.
    #[derive(Default)]
    struct Store {
        hashes: Mutex<HashMap<String, Arc<str>>>,
    }

    impl CredentialStore for Store {
        fn credential(&self, name: &str) -> Option<Credential> {
            let known = ["ali", "bob", "cas"].contains(&name);
            known.then(|| Credential {
                salted_hash: lock(&self.hashes).get(name).cloned(),
                can_login: name != "bob",
            })
        }

        fn credential_at_once(&self, name: &str) -> Option<Credential> {
            self.credential(name)
        }
    }

    fn authenticator() -> PasswordAuthenticator<Store> {
        let authenticator = PasswordAuthenticator::new(Store::default(), 4);
        for name in ["ali", "bob"] {
            set(&authenticator, name, "sesame");
        }
        authenticator
    }

    fn set(authenticator: &PasswordAuthenticator<Store>, name: &str, password: &str) {
        let hash = hash_password(password, 4).unwrap();
        lock(&authenticator.store.hashes).insert(name.to_owned(), hash.into());
    }

    fn login(token: Option<&[u8]>) -> Login {
        let address = SocketAddr::from(([127, 0, 0, 1], 9042));
        Login {
            peer: PeerInfo::new(0, address, address),
            token: token.map(Box::from),
        }
    }

    fn refusal(outcome: Result<Identity, ErrorResponse>) -> (ErrorCode, String) {
        let error = outcome.unwrap_err();
        (error.code, error.message.into_owned())
    }

    #[test]
    fn a_token_without_meaning_is_refused_at_once_in_cassandras_words() {
        const FORMAT: &str =
            "Credential format error: username or password is empty or contains NUL(\\0) character";
        for (token, message) in [
            (None, "Password must not be null"),
            (Some(&b""[..]), "Password must not be null"),
            (Some(b"ali"), "Password must not be null"),
            (Some(b"\0ali\0"), "Password must not be null"),
            (Some(b"\0sesame"), "Authentication ID must not be null"),
            (Some(b"\0\0x"), "Authentication ID must not be null"),
            (Some(b"\0ali\0sesame\0x"), FORMAT),
        ] {
            let outcome = authenticator().verify_at_once(&login(token)).unwrap();
            let expected = (ErrorCode::BAD_CREDENTIALS, message.to_owned());
            assert_eq!(refusal(outcome), expected, "{token:?}");
        }
        let long = [b"\0", &[b'a'; 70_000][..], b"\0x"].concat();
        let outcome = authenticator().verify_at_once(&login(Some(&long))).unwrap();
        assert_eq!(
            refusal(outcome),
            (
                ErrorCode::INVALID,
                "Key length of 70000 is longer than maximum of 65535".to_owned()
            )
        );
    }

    #[test]
    fn who_knows_the_password_is_let_in_if_the_role_may_log_in() {
        let authenticator = authenticator();
        for token in [&b"\0ali\0sesame"[..], b"ali\0sesame", b"x\0ali\0sesame"] {
            let identity = authenticator.verify(&login(Some(token)));
            match token {
                b"ali\0sesame" => assert!(identity.is_err()),
                _ => assert_eq!(identity, Ok(Identity::new("ali"))),
            }
        }
        for (token, message) in [
            (&b"\0bob\0sesame"[..], "bob is not permitted to log in"),
            (
                b"\0bob\0x",
                "Provided username bob and/or password are incorrect",
            ),
            (
                b"\0cas\0x",
                "Provided username cas and/or password are incorrect",
            ),
            (
                b"\0\xFF\xFE\0\xFF",
                "Provided username \u{FFFD}\u{FFFD} and/or password are incorrect",
            ),
        ] {
            assert_eq!(
                refusal(authenticator.verify(&login(Some(token)))).1,
                message
            );
        }
    }

    #[test]
    fn a_right_password_is_remembered_until_the_hash_changes() {
        let authenticator = authenticator();
        let (right, wrong) = (login(Some(b"\0ali\0sesame")), login(Some(b"\0ali\0x")));
        assert_eq!(authenticator.verify_at_once(&right), None);
        authenticator.verify(&right).unwrap();
        assert_eq!(
            authenticator.verify_at_once(&right),
            Some(Ok(Identity::new("ali")))
        );
        assert_eq!(authenticator.verify_at_once(&wrong), None);
        set(&authenticator, "ali", "other");
        assert_eq!(authenticator.verify_at_once(&right), None);
        assert!(authenticator.verify(&right).is_err());
    }

    #[test]
    fn hashes_are_those_of_cassandra() {
        // Of "cassandra", made by Cassandra 5.0.4.
        const HERS: &str = "$2a$10$mTHS4WWIv2FUUfz2lxTvA.naJ34znH7thEgc7krKl4tOY.vdG/Fdm";
        assert!(is_right("cassandra", HERS));
        assert!(!is_right("Cassandra", HERS));
        let ours = hash_password("cassandra", 5).unwrap();
        assert!(ours.starts_with("$2a$05$") && ours.len() == 60, "{ours}");
        assert!(is_right("cassandra", &ours));
    }

    #[test]
    fn what_is_no_hash_or_takes_too_long_verifies_nothing() {
        for text in ["", "abc", "$2a$10$short", "$2a$17$"] {
            assert!(!is_password_hash(text), "{text}");
        }
        let costly = format!("$2a$17${}", ".".repeat(53));
        assert!(!is_password_hash(&costly));
        assert!(is_password_hash(&costly.replace("17", "16")));
        assert!(is_password_hash(
            &PasswordAuthenticator::new(Store::default(), 10).decoy
        ));
    }
}
