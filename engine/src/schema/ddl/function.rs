//! `CREATE` and `DROP FUNCTION`.

use std::sync::Arc;

use helenus_core::message::{ChangeType, ErrorResponse, SchemaChange, SchemaTarget};
use helenus_core::types::CqlType;

use super::{Alteration, Outcome, access};
use crate::cql::ast::{CreateFunction, DropFunction, TypeName};
use crate::java;
use crate::schema::function::{Code, type_names};
use crate::schema::natives;
use crate::schema::types::Written;
use crate::schema::{FunctionKey, Keyspace, Schema, UserFunction, resolve_type};

/// The most arguments a method of Java takes.
const MAX_ARGUMENTS: usize = 255;

/// What a body may be, for who wrote another.
const SUBSET: &str = "This server runs a subset of Java: local variables, operators, if, loops, return, throw of \
                      unchecked exceptions, and common methods of String, Math, the boxes, List, Set, Map, UDTValue and TupleValue";

impl Schema {
    pub(super) fn create_function(&self, keyspace: &str, create: &CreateFunction) -> Outcome {
        let existing = create.existing;
        let name = &create.name.name;
        if existing.or_replace && existing.if_not_exists {
            return Err(both_directives());
        }
        if &*create.language != "java" {
            return Err(ErrorResponse::invalid(
                "Currently only Java UDFs are available in Cassandra. For more information - CASSANDRA-18252 and \
                 CASSANDRA-17281",
            ));
        }
        check_arguments(create)?;
        check_frozen("Argument", create.arguments.iter().map(|(_, ty)| ty))?;
        check_frozen("Return type", [&create.returns])?;
        let keyspace = self.existing(keyspace)?;
        let types = create
            .arguments
            .iter()
            .map(|(_, ty)| resolve_type(ty, keyspace));
        let argument_types = types.collect::<Result<Vec<_>, _>>()?;
        let returns = resolve_type(&create.returns, keyspace)?;
        let key: FunctionKey = (Arc::clone(name), type_names(&argument_types));
        let old = keyspace.functions.get(&key);
        let named: Vec<_> = create
            .arguments
            .iter()
            .map(|(name, _)| Arc::clone(name))
            .zip(argument_types.iter().cloned())
            .collect();
        let program = java::compile(&create.body, &named, &returns, create.called_on_null);
        let program = program.map_err(|error| {
            ErrorResponse::invalid(format!("Java source compilation failed: {error}. {SUBSET}"))
        })?;
        if !existing.if_not_exists {
            check_not_native(keyspace, &key)?;
        }
        if keyspace.aggregates.contains_key(&key) {
            return Err(ErrorResponse::invalid(format!(
                "Function '{name}' cannot replace an aggregate"
            )));
        }
        if let Some(old) = old {
            if existing.if_not_exists {
                return Ok(None);
            }
            check_replacement(create, old, &returns)?;
        }
        let function = UserFunction {
            keyspace: Arc::clone(&keyspace.name),
            name: Arc::clone(name),
            argument_names: named.into_iter().map(|(name, _)| name).collect(),
            argument_types,
            returns,
            called_on_null: create.called_on_null,
            language: Arc::clone(&create.language),
            body: Arc::clone(&create.body),
            code: Code::Java(Arc::new(program)),
        };
        if old.is_some_and(|old| **old == function) {
            return Ok(None);
        }
        let change = match old {
            Some(_) => ChangeType::Updated,
            None => ChangeType::Created,
        };
        // The answer has the types as they were written, events have them as they are.
        let written = |ty| Written::new(ty).within(&keyspace.name).to_string();
        let target = SchemaTarget::Function {
            keyspace: Arc::clone(&keyspace.name),
            name: Arc::clone(name),
            arguments: create.arguments.iter().map(|(_, ty)| written(ty)).collect(),
        };
        let mut keyspace = keyspace.clone();
        keyspace.functions.insert(key, Arc::new(function));
        Ok(Some(Alteration {
            keyspace: Some(keyspace),
            change: SchemaChange { change, target },
        }))
    }

    pub(super) fn drop_function(&self, keyspace: &str, dropped: &DropFunction) -> Outcome {
        let overloads = |keyspace: &Keyspace| {
            let functions = keyspace
                .functions_named(&dropped.name.name)
                .map(|function| function.key());
            let aggregates = keyspace
                .aggregates_named(&dropped.name.name)
                .map(|aggregate| aggregate.key());
            functions.chain(aggregates).count()
        };
        let Some((keyspace, key)) =
            self.dropped(keyspace, dropped, "FUNCTION", overloads, |keyspace, key| {
                let mut named = keyspace
                    .functions_named(&key.0)
                    .map(|function| function.key());
                named.find(|own| dropped.arguments.is_none() || own == key)
            })?
        else {
            return Ok(None);
        };
        check_not_native(keyspace, &key)?;
        let users: Vec<_> = keyspace
            .aggregates
            .values()
            .filter(|aggregate| aggregate.calls(&key))
            .map(|aggregate| format!("{}.{}", aggregate.keyspace, aggregate.name))
            .collect();
        if !users.is_empty() {
            return Err(ErrorResponse::invalid(format!(
                "Function '{}' is still referenced by aggregates {}",
                shown(&keyspace.name, dropped),
                users.join(", ")
            )));
        }
        let mut keyspace = keyspace.clone();
        keyspace.functions.remove(&key);
        let target = SchemaTarget::Function {
            keyspace: Arc::clone(&keyspace.name),
            name: key.0,
            arguments: key.1,
        };
        Ok(Some(Alteration {
            keyspace: Some(keyspace),
            change: SchemaChange {
                change: ChangeType::Dropped,
                target,
            },
        }))
    }

    /// The keyspace and key of what is to be dropped; `None` if that doesn't exist and needn't.
    pub(super) fn dropped(
        &self,
        keyspace: &str,
        dropped: &DropFunction,
        kind: &str,
        overloads: impl Fn(&Keyspace) -> usize,
        find: impl Fn(&Keyspace, &FunctionKey) -> Option<FunctionKey>,
    ) -> Result<Option<(&Keyspace, FunctionKey)>, ErrorResponse> {
        let name = &dropped.name.name;
        let title = match kind {
            "FUNCTION" => "Function",
            _ => "Aggregate",
        };
        let missing = || match dropped.if_exists {
            true => Ok(None),
            false => Err(ErrorResponse::invalid(format!(
                "{title} '{}' doesn't exist",
                shown(keyspace, dropped)
            ))),
        };
        let Some(keyspace) = self.keyspaces.get(keyspace) else {
            return missing();
        };
        if dropped.arguments.is_none() && overloads(keyspace) > 1 {
            return Err(ErrorResponse::invalid(format!(
                "'DROP {kind} {name}' matches multiple function definitions; specify the argument types by issuing a \
                 statement like 'DROP {kind} {name} (type, type, ...)'. You can use cqlsh 'DESCRIBE {kind} {name}' \
                 command to find all overloads"
            )));
        }
        let arguments = dropped.arguments.as_deref().unwrap_or_default();
        check_frozen("Argument", arguments)?;
        let types = arguments.iter().map(|ty| resolve_type(ty, keyspace));
        let types = types.collect::<Result<Vec<_>, _>>()?;
        let key = (Arc::clone(name), type_names(&types));
        match find(keyspace, &key) {
            Some(key) => Ok(Some((keyspace, key))),
            None => missing(),
        }
    }
}

/// Refuses to change what the program around the engine has registered.
pub(super) fn check_not_native(
    keyspace: &Keyspace,
    key: &FunctionKey,
) -> Result<(), ErrorResponse> {
    let refuse = |what: &str, types: &[CqlType]| {
        let shown = natives::shown(&keyspace.name, &key.0, types);
        Err(ErrorResponse::invalid(format!(
            "{what} '{shown}' is native: only the program that registered it can change it"
        )))
    };
    let function = keyspace.functions.get(key);
    if let Some(function) = function.filter(|function| function.is_native()) {
        return refuse("Function", &function.argument_types);
    }
    let aggregate = keyspace.aggregates.get(key);
    if let Some(aggregate) = aggregate.filter(|aggregate| aggregate.is_native()) {
        return refuse("Aggregate", &aggregate.argument_types);
    }
    Ok(())
}

/// The refusal of `OR REPLACE` together with `IF NOT EXISTS`.
pub(super) fn both_directives() -> ErrorResponse {
    ErrorResponse::invalid("Cannot use both 'OR REPLACE' and 'IF NOT EXISTS' directives")
}

fn check_arguments(create: &CreateFunction) -> Result<(), ErrorResponse> {
    access::check_length(&create.name.name)?;
    let names: Vec<&str> = create.arguments.iter().map(|(name, _)| &**name).collect();
    if names.len() > MAX_ARGUMENTS {
        return Err(ErrorResponse::invalid(format!(
            "A function may have {MAX_ARGUMENTS} arguments at most"
        )));
    }
    let is_double =
        |index: usize, name: &&str| names.iter().skip(index + 1).any(|other| other == name);
    if names
        .iter()
        .enumerate()
        .any(|(index, name)| is_double(index, name))
    {
        return Err(ErrorResponse::invalid(format!(
            "Duplicate argument names for given function {} with argument names [{}]",
            create.name.name,
            names.join(", ")
        )));
    }
    names.iter().try_for_each(|name| access::check_length(name))
}

/// Refuses `frozen` where a function's types are frozen anyway; tuples may have it, as they always are.
pub(super) fn check_frozen<'a>(
    what: &str,
    types: impl IntoIterator<Item = &'a TypeName>,
) -> Result<(), ErrorResponse> {
    let is_tuple = |ty: &TypeName| matches!(ty, TypeName::Tuple(_));
    for ty in types {
        if let TypeName::Frozen(inner) = ty
            && !is_tuple(inner)
        {
            let shown = Written::new(ty);
            return Err(ErrorResponse::invalid(format!(
                "{what} '{shown}' cannot be frozen; remove frozen<> modifier from '{shown}'"
            )));
        }
    }
    Ok(())
}

fn check_replacement(
    create: &CreateFunction,
    old: &UserFunction,
    returns: &CqlType,
) -> Result<(), ErrorResponse> {
    let name = &create.name.name;
    if !create.existing.or_replace {
        return Err(ErrorResponse::invalid(format!(
            "Function '{name}' already exists"
        )));
    }
    if create.called_on_null != old.called_on_null {
        return Err(ErrorResponse::invalid(format!(
            "Function '{name}' must have {} directive",
            if create.called_on_null {
                "CALLED ON NULL INPUT"
            } else {
                "RETURNS NULL ON NULL INPUT"
            }
        )));
    }
    if !is_compatible(returns, &old.returns) {
        return Err(ErrorResponse::invalid(format!(
            "Cannot replace function '{name}', the new return type {returns} is not compatible with the return type \
             {} of existing function",
            old.returns
        )));
    }
    Ok(())
}

/// Whether a function may give `new` from now on where it gave `old`.
pub(super) fn is_compatible(new: &CqlType, old: &CqlType) -> bool {
    new == old
        || matches!(
            (new, old),
            (CqlType::Text, CqlType::Ascii) | (CqlType::Blob, CqlType::Ascii | CqlType::Text)
        )
}

/// What is dropped, as messages name it.
pub(super) fn shown(keyspace: &str, dropped: &DropFunction) -> String {
    let name = format!("{keyspace}.{}", dropped.name.name);
    match &dropped.arguments {
        Some(arguments) => {
            let types = arguments
                .iter()
                .map(|ty| Written::new(ty).within(keyspace).to_string());
            format!("{name}({})", types.collect::<Vec<_>>().join(", "))
        }
        None => name,
    }
}
