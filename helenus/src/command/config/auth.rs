//! `[auth]`: who may log in, and how.

use std::num::NonZeroUsize;

use helenus::{Authentication, LoginMethod, Options};

use super::raw::Raw;
use super::section::section;
use super::value::{Value, text};
use crate::command::arguments::Serve;

section! {
    /// Who may log in, and how.
    Auth in "auth" {
        /// How clients log in: none (everybody may do everything), password, certificate or certificate-or-password.
        method: Method = Method(None), restart;
        /// Binary logarithm of the rounds by which new passwords are hashed, from 4 to 16.
        bcrypt_cost: Cost = Cost(10), restart;
        /// What the certificate of the superuser "cassandra" says: an alternative name, or its common name.
        superuser_identity: Option<String> = None, restart;
        /// Logins that are verified at the same time, each on a thread of its own.
        threads: NonZeroUsize = NonZeroUsize::MIN, restart;
        /// Logins that may wait; one more of the address with most of them waiting is answered OVERLOADED.
        queue: NonZeroUsize = QUEUE, restart;
    }
}

const QUEUE: NonZeroUsize = match NonZeroUsize::new(64) {
    Some(queue) => queue,
    None => NonZeroUsize::MIN,
};

impl Auth {
    /// What flags and variables say wins.
    pub(super) fn override_with(&mut self, flags: &Serve) {
        self.method = flags.auth.unwrap_or(self.method);
    }

    /// How clients log in, if they do.
    pub(in crate::command) fn authentication(&self) -> Option<Authentication> {
        let mut authentication = Authentication::default();
        authentication.method = self.method.0?;
        authentication.bcrypt_cost = self.bcrypt_cost.0;
        authentication.superuser_identity = self.superuser_identity.clone();
        Some(authentication)
    }

    /// Sets what a server is started with.
    pub(in crate::command) fn apply(&self, options: &mut Options) {
        options.logins.threads = self.threads.get();
        options.logins.queue = self.queue.get();
    }
}

/// How clients log in, if they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::command) struct Method(Option<LoginMethod>);

const METHODS: [(&str, Option<LoginMethod>); 4] = [
    ("none", None),
    ("password", Some(LoginMethod::Password)),
    ("certificate", Some(LoginMethod::Certificate)),
    (
        "certificate-or-password",
        Some(LoginMethod::CertificateOrPassword),
    ),
];

impl Value for Method {
    fn read(raw: &Raw) -> Result<Self, String> {
        let text = text(raw)?;
        let known = METHODS.into_iter().find(|(name, _)| *name == text);
        known.map(|(_, method)| Self(method)).ok_or_else(|| {
            format!(
                "{text:?} is no way to log in; expected none, password, certificate or certificate-or-password"
            )
        })
    }

    fn show(&self) -> String {
        let known = METHODS.into_iter().find(|(_, method)| *method == self.0);
        format!("{:?}", known.map_or("none", |(name, _)| name))
    }
}

/// The cost of a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::command) struct Cost(u32);

impl Value for Cost {
    fn read(raw: &Raw) -> Result<Self, String> {
        let cost = NonZeroUsize::read(raw).ok().map(NonZeroUsize::get);
        cost.filter(|cost| (4..=16).contains(cost))
            .and_then(|cost| u32::try_from(cost).ok())
            .map(Self)
            .ok_or_else(|| "expected a whole number from 4 to 16".to_owned())
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}
