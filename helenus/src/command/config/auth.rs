//! `[auth]`: who may log in, and how.

use std::num::NonZeroUsize;
use std::str::FromStr;

use helenus::{Authentication, Options};

use super::raw::Raw;
use super::section::section;
use super::value::{Value, text};
use crate::command::arguments::Serve;

section! {
    /// Who may log in, and how.
    Auth in "auth" {
        /// How clients log in: "none" lets everybody do everything, "password" asks for the name and password of a role.
        method: Method = Method::None, restart;
        /// Binary logarithm of the rounds by which new passwords are hashed, from 4 to 16.
        bcrypt_cost: Cost = Cost(10), restart;
        /// Logins that are verified at the same time, each on a thread of its own.
        threads: NonZeroUsize = NonZeroUsize::MIN, restart;
        /// Logins that may wait; one more is answered OVERLOADED.
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
        match self.method {
            Method::None => None,
            Method::Password => {
                let mut authentication = Authentication::default();
                authentication.bcrypt_cost = self.bcrypt_cost.0;
                Some(authentication)
            }
        }
    }

    /// Sets what a server is started with.
    pub(in crate::command) fn apply(&self, options: &mut Options) {
        options.logins.threads = self.threads.get();
        options.logins.queue = self.queue.get();
    }
}

/// How clients log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::command) enum Method {
    /// They don't.
    None,
    /// With the password of a role.
    Password,
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::None),
            "password" => Ok(Self::Password),
            _ => Err(format!(
                "{text:?} is no way to log in; expected none or password"
            )),
        }
    }
}

impl Value for Method {
    fn read(raw: &Raw) -> Result<Self, String> {
        text(raw)?.parse()
    }

    fn show(&self) -> String {
        match self {
            Self::None => "\"none\"".to_owned(),
            Self::Password => "\"password\"".to_owned(),
        }
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
