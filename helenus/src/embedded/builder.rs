//! A node with code of the program's own: functions that statements call, and who decides what users may do.

use std::net::SocketAddr;

use helenus_engine::schema::{InvalidNative, Natives};
use helenus_engine::{NativeAggregate, NativeFunction};

use super::access::AccessControl;
use super::authorization::Authorization;
use super::{Authentication, Authorizer, EmbeddedService};

/// What of a node is the program's own.
#[derive(Debug, Default)]
pub(super) struct Hooks {
    pub(super) natives: Natives,
    pub(super) authorization: Option<Authorization>,
}

/// What an [`EmbeddedService`] is made with.
#[derive(Debug)]
pub struct Builder {
    address: SocketAddr,
    authentication: Option<Authentication>,
    hooks: Hooks,
    /// The first that couldn't be registered.
    invalid: Option<InvalidNative>,
}

impl EmbeddedService {
    /// For an empty node that tells its clients to reach it at `address`.
    ///
    /// Statements may call what is registered here wherever they may call a user function. `system_schema` lists it as of
    /// the language `native`, and no statement changes it. What has the keyspace `system`, or none, is there from the start,
    /// for everybody; other functions are there while their keyspace is, and with logins they need EXECUTE.
    ///
    /// They may block: they are called in a pool of their own, [`Options::hooks`](crate::Options::hooks) large. One
    /// that fails, panics, gives no value of its type, or takes longer than that pool allows fails its statement with
    /// `FUNCTION_FAILURE`. The last is in quarantine from then on: its thread is replaced, and calls of it fail at once.
    ///
    /// ```
    /// use helenus::types::{CqlType, Value};
    /// use helenus::{ClientConfig, EmbeddedService, NativeAggregate, NativeFunction, TestServer};
    ///
    /// let distance = NativeFunction::new(
    ///     "distance",
    ///     [CqlType::Double, CqlType::Double],
    ///     CqlType::Double,
    ///     |values| match values {
    ///         [Some(Value::Double(a)), Some(Value::Double(b))] => Ok(Some(Value::Double((a - b).abs()))),
    ///         _ => Err("two numbers are expected".into()),
    ///     },
    /// );
    /// let longest = NativeAggregate::new(
    ///     "longest",
    ///     [CqlType::Text],
    ///     CqlType::Text,
    ///     String::new,
    ///     |longest: &mut String, values| {
    ///         if let [Some(Value::Text(text))] = values
    ///             && text.len() > longest.len()
    ///         {
    ///             longest.clone_from(text);
    ///         }
    ///         Ok(())
    ///     },
    ///     |longest| Ok(Some(Value::Text(longest))),
    /// );
    /// let service = EmbeddedService::builder("127.0.0.1:0".parse()?)
    ///     .register_function(distance)
    ///     .register_aggregate(longest)
    ///     .build()?;
    /// let server = TestServer::start_with(service)?;
    /// let client = helenus_std::Client::connect(server.address(), ClientConfig::default())?;
    /// let result = client.query("SELECT distance(1.5, 4.0) FROM system.local", ())?;
    /// assert_eq!(result.typed::<(f64,)>()?.next(), Some(Ok((2.5,))));
    /// let result = client.query("SELECT longest(key) FROM system.local", ())?;
    /// assert_eq!(result.typed::<(&str,)>()?.next(), Some(Ok(("local",))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder(address: SocketAddr) -> Builder {
        Builder {
            address,
            authentication: None,
            hooks: Hooks::default(),
            invalid: None,
        }
    }

    /// The native functions that once didn't end, and aren't called any more: `keyspace.name[type, type]`.
    pub fn quarantined_functions(&self) -> Vec<String> {
        self.node.quarantine.names()
    }
}

impl Builder {
    /// Has clients log in, who may do what their roles were granted, as [`EmbeddedService::with_logins`] says.
    #[must_use]
    pub fn logins(mut self, authentication: Authentication) -> Self {
        self.authentication = Some(authentication);
        self
    }

    /// Adds a function that statements may call.
    #[must_use]
    pub fn register_function(mut self, function: NativeFunction) -> Self {
        let registered = self.hooks.natives.register_function(function);
        self.invalid = self.invalid.or(registered.err());
        self
    }

    /// Adds an aggregate that statements may call.
    #[must_use]
    pub fn register_aggregate(mut self, aggregate: NativeAggregate) -> Self {
        let registered = self.hooks.natives.register_aggregate(aggregate);
        self.invalid = self.invalid.or(registered.err());
        self
    }

    /// Has an authorizer of the program's own decide what users may do, after what their roles allow if they log in.
    #[must_use]
    pub fn authorizer(mut self, authorizer: impl Authorizer) -> Self {
        self.hooks.authorization = Some(Authorization::new(authorizer));
        self
    }

    /// The node.
    ///
    /// # Errors
    /// For the first function that can't be registered: one without a proper name, in another of the server's own
    /// keyspaces, with a user type or too many arguments, or with the name and the arguments of another.
    pub fn build(self) -> Result<EmbeddedService, InvalidNative> {
        match self.invalid {
            Some(invalid) => Err(invalid),
            None => {
                let access = self.authentication.map(AccessControl::new);
                Ok(EmbeddedService::alone(self.address, access, self.hooks))
            }
        }
    }
}
