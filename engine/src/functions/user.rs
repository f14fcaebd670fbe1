//! User functions and aggregates among the functions of CQL.

use std::sync::Arc;

use bytes::Bytes;
use helenus_core::ErrorResponse;

use super::{Aggregate, Body, Environment, Function};
use crate::access::Resource;
use crate::java::Signature;
use crate::schema::{Code, Keyspace, UserAggregate, UserFunction, is_local_system, type_names};

/// A user aggregate with the functions it goes through.
#[derive(Debug, Clone)]
pub(crate) struct Folding {
    /// Makes the next state.
    pub(crate) step: Arc<UserFunction>,
    /// Makes the result of the last state.
    pub(crate) last: Option<Arc<UserFunction>>,
    /// The state before the first row.
    pub(crate) initial: Option<Bytes>,
}

/// The user functions and aggregates of that name.
pub(super) fn candidates(keyspace: &Keyspace, name: &str, found: &mut Vec<Function>) {
    found.extend(keyspace.functions_named(name).map(function));
    let aggregates = keyspace.aggregates_named(name);
    found.extend(aggregates.filter_map(|found| aggregate(keyspace, found)));
}

fn function(function: &Arc<UserFunction>) -> Function {
    Function {
        name: format!("{}.{}", function.keyspace, function.name).into(),
        arguments: function.argument_types.clone(),
        returns: function.returns.clone(),
        aggregate: None,
        body: Body::User(function.clone()),
    }
}

fn aggregate(keyspace: &Keyspace, aggregate: &UserAggregate) -> Option<Function> {
    let folded = match &aggregate.native {
        Some(native) => Aggregate::Native(native.0.clone()),
        None => Aggregate::User(Arc::new(folding(keyspace, aggregate)?)),
    };
    Some(Function {
        name: format!("{}.{}", aggregate.keyspace, aggregate.name).into(),
        arguments: aggregate.argument_types.clone(),
        returns: aggregate.returns.clone(),
        aggregate: Some(folded),
        // An aggregate is folded, never called.
        body: Body::Strict(|_, _, _| Ok(None)),
    })
}

fn folding(keyspace: &Keyspace, aggregate: &UserAggregate) -> Option<Folding> {
    let (step, last) = keyspace.functions_of(aggregate)?;
    Some(Folding {
        step: step.clone(),
        last: last.cloned(),
        initial: aggregate.initial.clone(),
    })
}

/// Calls a user function.
pub(super) fn call(
    function: &UserFunction,
    arguments: &[Option<Bytes>],
    environment: &Environment<'_>,
) -> Result<Option<Bytes>, ErrorResponse> {
    if !function.called_on_null && arguments.iter().any(Option::is_none) {
        return Ok(None);
    }
    let signature = Signature {
        arguments: &function.argument_types,
        returns: &function.returns,
    };
    let failure = |reason| {
        let types = type_names(&function.argument_types);
        ErrorResponse::function_failure(&function.keyspace, &function.name, types, reason)
    };
    match &function.code {
        Code::Java(program) => program
            .call(signature, arguments, &environment.budget)
            .map_err(|stop| failure(stop.to_string())),
        // Planning turns its calls into what an execution hands out, wherever a function may stand.
        Code::Native(_) => Err(failure("It can't be called here: it is native".to_owned())),
    }
}

impl Folding {
    /// The state after a row with these values.
    pub(super) fn step(
        &self,
        state: Option<Bytes>,
        values: Vec<Option<Bytes>>,
        environment: &Environment<'_>,
    ) -> Result<Option<Bytes>, ErrorResponse> {
        // As Cassandra: a function that isn't called on null leaves the state as it is.
        if !self.step.called_on_null && values.iter().any(Option::is_none) {
            return Ok(state);
        }
        let mut arguments = Vec::with_capacity(values.len() + 1);
        arguments.push(state);
        arguments.extend(values);
        call(&self.step, &arguments, environment)
    }

    /// The result of the last state.
    pub(super) fn finish(
        &self,
        state: Option<Bytes>,
        environment: &Environment<'_>,
    ) -> Result<Option<Bytes>, ErrorResponse> {
        match &self.last {
            Some(last) => call(last, &[state], environment),
            None => Ok(state),
        }
    }
}

impl Function {
    /// What permission to execute it asks for: itself if it is a user's, and what it goes through. The server's own
    /// functions, native ones of `system` among them, are everybody's.
    pub(crate) fn resources(&self) -> impl Iterator<Item = Resource> {
        let folded = match (&self.aggregate, self.name.split_once('.')) {
            (Some(Aggregate::User(_) | Aggregate::Native(_)), Some((keyspace, name))) => Some(
                Resource::Function(keyspace.into(), name.into(), self.arguments.clone().into()),
            ),
            _ => None,
        };
        let called = self.user_functions().map(|function| {
            Resource::Function(
                function.keyspace.clone(),
                function.name.clone(),
                function.argument_types.clone().into(),
            )
        });
        let is_guarded = |resource: &Resource| !matches!(resource, Resource::Function(keyspace, ..) if is_local_system(keyspace));
        folded.into_iter().chain(called).filter(is_guarded)
    }

    /// The user functions it calls.
    pub(crate) fn user_functions(&self) -> impl Iterator<Item = &Arc<UserFunction>> {
        let own = match &self.body {
            Body::User(function) => Some(function),
            _ => None,
        };
        let folding = match &self.aggregate {
            Some(Aggregate::User(folding)) => Some(folding),
            _ => None,
        };
        let folded = folding
            .into_iter()
            .flat_map(|folding| [Some(&folding.step), folding.last.as_ref()]);
        own.into_iter().chain(folded.flatten())
    }
}
