//! User functions and aggregates.

use std::sync::Arc;

use bytes::Bytes;
use helenus_core::types::CqlType;

use super::Keyspace;
use super::natives::Native;
use crate::functions::NativeFunction;
use crate::java::Program;

/// What tells functions of a keyspace apart: the name and the CQL types of the arguments.
pub type FunctionKey = (Arc<str>, Vec<String>);

/// A user function.
#[derive(Debug, Clone)]
pub struct UserFunction {
    /// The keyspace it lives in.
    pub keyspace: Arc<str>,
    /// The name, without quotes.
    pub name: Arc<str>,
    /// The names of the arguments.
    pub argument_names: Vec<Arc<str>>,
    /// The types of the arguments.
    pub argument_types: Vec<CqlType>,
    /// The type of the result.
    pub returns: CqlType,
    /// Whether it is called with nulls, rather than being null if an argument is.
    pub called_on_null: bool,
    /// The language of the body.
    pub language: Arc<str>,
    /// The body as written.
    pub body: Arc<str>,
    /// What is run.
    pub(crate) code: Code,
}

/// What a user function runs.
#[derive(Debug, Clone)]
pub(crate) enum Code {
    /// The body, compiled.
    Java(Arc<Program>),
    /// A function of the program around the engine.
    Native(Arc<NativeFunction>),
}

impl PartialEq for UserFunction {
    /// The code follows from the rest.
    fn eq(&self, other: &Self) -> bool {
        self.keyspace == other.keyspace
            && self.name == other.name
            && self.argument_names == other.argument_names
            && self.argument_types == other.argument_types
            && self.returns == other.returns
            && self.called_on_null == other.called_on_null
            && self.language == other.language
            && self.body == other.body
    }
}

impl UserFunction {
    /// What tells it apart within its keyspace.
    pub fn key(&self) -> FunctionKey {
        (Arc::clone(&self.name), type_names(&self.argument_types))
    }

    /// Whether a call may take so long that it shouldn't be made where others wait. (Native ones are never made there.)
    pub(crate) fn may_take_long(&self) -> bool {
        match &self.code {
            Code::Java(program) => program.may_take_long(),
            Code::Native(_) => false,
        }
    }

    /// Whether it is the program's around the engine, so that no statement changes it.
    pub fn is_native(&self) -> bool {
        matches!(self.code, Code::Native(_))
    }
}

/// A user aggregate.
#[derive(Debug, Clone, PartialEq)]
pub struct UserAggregate {
    /// The keyspace it lives in.
    pub keyspace: Arc<str>,
    /// The name, without quotes.
    pub name: Arc<str>,
    /// The types of the arguments.
    pub argument_types: Vec<CqlType>,
    /// The name of the function that takes the state and a row's values, and gives the next state.
    pub state_function: Arc<str>,
    /// The type of the state.
    pub state_type: CqlType,
    /// The name of the function that makes the result of the last state.
    pub final_function: Option<Arc<str>>,
    /// The type of the result.
    pub returns: CqlType,
    /// The state before the first row; `None` is null.
    pub initial: Option<Bytes>,
    /// That state as a CQL literal.
    pub initial_text: Option<Arc<str>>,
    /// What is run, if it is the program's around the engine.
    pub(crate) native: Option<Native>,
}

impl UserAggregate {
    /// Whether it is the program's around the engine, so that no statement changes it.
    pub fn is_native(&self) -> bool {
        self.native.is_some()
    }

    /// What tells it apart within its keyspace.
    pub fn key(&self) -> FunctionKey {
        (Arc::clone(&self.name), type_names(&self.argument_types))
    }

    /// What tells its state function apart.
    pub(super) fn state_function_key(&self) -> FunctionKey {
        let mut types = vec![self.state_type.to_string()];
        types.extend(type_names(&self.argument_types));
        (Arc::clone(&self.state_function), types)
    }

    /// What tells its final function apart, if it has one.
    pub(super) fn final_function_key(&self) -> Option<FunctionKey> {
        let name = Arc::clone(self.final_function.as_ref()?);
        Some((name, vec![self.state_type.to_string()]))
    }

    /// Whether it calls the function of that key.
    pub(super) fn calls(&self, function: &FunctionKey) -> bool {
        !self.is_native()
            && (self.state_function_key() == *function
                || self.final_function_key().as_ref() == Some(function))
    }
}

/// Types as system tables and events name them.
pub(crate) fn type_names(types: &[CqlType]) -> Vec<String> {
    types.iter().map(ToString::to_string).collect()
}

impl Keyspace {
    /// The user functions of that name.
    pub(crate) fn functions_named<'a>(
        &'a self,
        name: &str,
    ) -> impl Iterator<Item = &'a Arc<UserFunction>> {
        let from: FunctionKey = (name.into(), Vec::new());
        let named = self.functions.range(from.clone()..);
        named
            .take_while(move |(key, _)| key.0 == from.0)
            .map(|(_, function)| function)
    }

    /// The user aggregates of that name.
    pub(crate) fn aggregates_named<'a>(
        &'a self,
        name: &str,
    ) -> impl Iterator<Item = &'a Arc<UserAggregate>> {
        let from: FunctionKey = (name.into(), Vec::new());
        let named = self.aggregates.range(from.clone()..);
        named
            .take_while(move |(key, _)| key.0 == from.0)
            .map(|(_, aggregate)| aggregate)
    }

    /// The function an aggregate's state goes through, and the one its result does.
    pub(crate) fn functions_of(
        &self,
        aggregate: &UserAggregate,
    ) -> Option<(&Arc<UserFunction>, Option<&Arc<UserFunction>>)> {
        let state = self.functions.get(&aggregate.state_function_key())?;
        let last = match aggregate.final_function_key() {
            Some(key) => Some(self.functions.get(&key)?),
            None => None,
        };
        Some((state, last))
    }
}
