//! The native functions and aggregates of a node, and how each keyspace gets its own.

use std::sync::Arc;

use helenus_core::types::CqlType;

use super::function::{Code, type_names};
use super::types::contains;
use super::{Keyspace, UserAggregate, UserFunction, is_system};
use crate::functions::{NativeAggregate, NativeFunction, NativeSignature};

/// The language that system tables and `DESCRIBE` name.
const LANGUAGE: &str = "native";

/// The most arguments a function takes.
const MAX_ARGUMENTS: usize = 255;

/// The longest name of a keyspace.
const KEYSPACE_LENGTH: usize = 48;

/// The native functions and aggregates of a node. Those of `system` are there from the start, others as long as their
/// keyspace is.
#[derive(Debug, Clone, Default)]
pub struct Natives {
    functions: Vec<Arc<NativeFunction>>,
    aggregates: Vec<Arc<NativeAggregate>>,
}

/// Why a native function or aggregate can't be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{function} can't be registered: {reason}")]
pub struct InvalidNative {
    /// The function, with the types of its arguments.
    pub function: String,
    /// What is wrong.
    pub reason: &'static str,
}

impl Natives {
    /// Adds a function.
    ///
    /// # Errors
    /// When its keyspace or name can't be one, it has more than 255 arguments or a user type, or there is one of that name
    /// and those arguments already.
    pub fn register_function(&mut self, function: NativeFunction) -> Result<(), InvalidNative> {
        self.check(function.signature())?;
        self.functions.push(Arc::new(function));
        Ok(())
    }

    /// Adds an aggregate.
    ///
    /// # Errors
    /// As [`register_function`](Self::register_function).
    pub fn register_aggregate(&mut self, aggregate: NativeAggregate) -> Result<(), InvalidNative> {
        self.check(aggregate.signature())?;
        self.aggregates.push(Arc::new(aggregate));
        Ok(())
    }

    fn check(&self, new: &NativeSignature) -> Result<(), InvalidNative> {
        let is_word = |name: &str| {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            !name.is_empty() && name.bytes().all(is_letter)
        };
        let functions = self.functions.iter().map(|function| function.signature());
        let aggregates = self
            .aggregates
            .iter()
            .map(|aggregate| aggregate.signature());
        let mut known = functions.chain(aggregates);
        let is_same = |known: &Arc<NativeSignature>| {
            known.keyspace == new.keyspace
                && known.name == new.name
                && known.argument_types == new.argument_types
        };
        let reason = if !is_word(&new.keyspace) || new.keyspace.len() > KEYSPACE_LENGTH {
            "its keyspace isn't made of up to 48 letters, digits and underscores"
        } else if &*new.keyspace != "system" && is_system(&new.keyspace) {
            "of the server's own keyspaces only system takes functions"
        } else if !is_word(&new.name) || u16::try_from(new.name.len()).is_err() {
            "its name isn't made of letters, digits and underscores"
        } else if new.argument_types.len() > MAX_ARGUMENTS {
            "it has more than 255 arguments"
        } else if new
            .argument_types
            .iter()
            .chain([&new.returns])
            .any(has_user_type)
        {
            "user types are the schema's, which statements change"
        } else if known.any(is_same) {
            "there is one with these arguments already"
        } else {
            return Ok(());
        };
        Err(InvalidNative {
            function: new.to_string(),
            reason,
        })
    }

    /// Gives a new keyspace those that are its own.
    pub(crate) fn add_to(&self, keyspace: &mut Keyspace) {
        for function in &self.functions {
            if function.signature().keyspace == keyspace.name {
                let function = user_function(function);
                keyspace
                    .functions
                    .insert(function.key(), Arc::new(function));
            }
        }
        for aggregate in &self.aggregates {
            if aggregate.signature().keyspace == keyspace.name {
                let aggregate = user_aggregate(aggregate);
                let key = aggregate.key();
                keyspace.aggregates.insert(key, Arc::new(aggregate));
            }
        }
    }
}

fn user_function(function: &Arc<NativeFunction>) -> UserFunction {
    let signature = function.signature();
    let names = (0..signature.argument_types.len()).map(|index| format!("arg{index}").into());
    UserFunction {
        keyspace: Arc::clone(&signature.keyspace),
        name: Arc::clone(&signature.name),
        argument_names: names.collect(),
        argument_types: signature.argument_types.clone(),
        returns: signature.returns.clone(),
        called_on_null: signature.called_on_null,
        language: LANGUAGE.into(),
        body: "".into(),
        code: Code::Native(Arc::clone(function)),
    }
}

/// Its state is Rust's; the table of aggregates, which must name a type and a function of it, is told the result's and the
/// language.
fn user_aggregate(aggregate: &Arc<NativeAggregate>) -> UserAggregate {
    let signature = aggregate.signature();
    UserAggregate {
        keyspace: Arc::clone(&signature.keyspace),
        name: Arc::clone(&signature.name),
        argument_types: signature.argument_types.clone(),
        state_function: LANGUAGE.into(),
        state_type: signature.returns.clone(),
        final_function: None,
        returns: signature.returns.clone(),
        initial: None,
        initial_text: None,
        native: Some(Native(Arc::clone(aggregate))),
    }
}

fn has_user_type(ty: &CqlType) -> bool {
    contains(ty, &|part| matches!(part, CqlType::Udt(_)))
}

/// A native aggregate, the same if it is the very one.
#[derive(Debug, Clone)]
pub(crate) struct Native(pub(crate) Arc<NativeAggregate>);

impl PartialEq for Native {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A native function or aggregate as messages name it.
pub(super) fn shown(keyspace: &str, name: &str, types: &[CqlType]) -> String {
    format!("{keyspace}.{name}({})", type_names(types).join(", "))
}
