//! `CREATE` and `DROP AGGREGATE`.

use std::cell::Cell;
use std::sync::Arc;

use bytes::Bytes;
use helenus_core::message::{ChangeType, ErrorResponse, SchemaChange, SchemaTarget};
use helenus_core::types::CqlType;

use super::function::{both_directives, check_frozen, check_not_native, is_compatible};
use super::{Alteration, Outcome, access};
use crate::Context;
use crate::cql::ast::{self, CreateAggregate, DropFunction};
use crate::literal;
use crate::schema::types::Written;
use crate::schema::{FunctionKey, Keyspace, Schema, UserAggregate, UserFunction, resolve_type};
use crate::statement::Planner;
use crate::term::{self, Binds, Markers, Receiver};

impl Schema {
    pub(super) fn create_aggregate(
        &self,
        keyspace: &str,
        create: &CreateAggregate,
        context: &Context,
    ) -> Outcome {
        let name = &create.name.name;
        let existing = create.existing;
        if existing.or_replace && existing.if_not_exists {
            return Err(both_directives());
        }
        access::check_length(name)?;
        check_frozen("Argument", &create.arguments)?;
        check_frozen("State type", [&create.state_type])?;
        let keyspace = self
            .keyspaces
            .get(keyspace)
            .ok_or_else(|| ErrorResponse::config(format!("Keyspace {keyspace} doesn't exist")))?;
        let types = create.arguments.iter().map(|ty| resolve_type(ty, keyspace));
        let argument_types = types.collect::<Result<Vec<_>, ErrorResponse>>()?;
        let state_type = resolve_type(&create.state_type, keyspace)?;
        let mut aggregate = UserAggregate {
            keyspace: Arc::clone(&keyspace.name),
            name: Arc::clone(name),
            argument_types,
            state_function: Arc::clone(&create.state_function),
            returns: state_type.clone(),
            state_type,
            final_function: create.final_function.clone(),
            initial: None,
            initial_text: None,
            native: None,
        };
        let accepts_null = check_functions(keyspace, create, &mut aggregate)?;
        aggregate.initial = match &create.initial {
            Some(term) => self.initial_state(keyspace, term, &aggregate.state_type, context)?,
            None => None,
        };
        aggregate.initial_text = aggregate
            .initial
            .as_ref()
            .map(|value| literal::display(&aggregate.state_type, value).into());
        if aggregate.initial.is_none() && !accepts_null {
            return Err(ErrorResponse::invalid(format!(
                "Cannot create aggregate '{name}' without INITCOND because state function {}.{} does not accept 'null' \
                 arguments",
                keyspace.name, create.state_function
            )));
        }
        let key = aggregate.key();
        if !existing.if_not_exists {
            check_not_native(keyspace, &key)?;
        }
        if keyspace.functions.contains_key(&key) {
            return Err(ErrorResponse::invalid(format!(
                "Aggregate '{name}' cannot replace a function"
            )));
        }
        let old = keyspace.aggregates.get(&key);
        if let Some(old) = old {
            if existing.if_not_exists {
                return Ok(None);
            }
            if !existing.or_replace {
                return Err(ErrorResponse::invalid(format!(
                    "Aggregate '{name}' already exists"
                )));
            }
            if !is_compatible(&aggregate.returns, &old.returns) {
                return Err(ErrorResponse::invalid(format!(
                    "Cannot replace aggregate '{name}', the new return type {} isn't compatible with the return type {} \
                     of existing function",
                    aggregate.returns, old.returns
                )));
            }
            if **old == aggregate {
                return Ok(None);
            }
        }
        let change = match old {
            Some(_) => ChangeType::Updated,
            None => ChangeType::Created,
        };
        let written = |ty| Written::new(ty).within(&keyspace.name).to_string();
        let target = SchemaTarget::Aggregate {
            keyspace: Arc::clone(&keyspace.name),
            name: Arc::clone(name),
            arguments: create.arguments.iter().map(written).collect(),
        };
        let mut keyspace = Keyspace::clone(keyspace);
        keyspace.aggregates.insert(key, Arc::new(aggregate));
        Ok(Some(Alteration {
            keyspace: Some(keyspace),
            change: SchemaChange { change, target },
        }))
    }

    /// The value of `INITCOND`.
    fn initial_state(
        &self,
        keyspace: &Keyspace,
        written: &ast::Term,
        ty: &CqlType,
        context: &Context,
    ) -> Result<Option<Bytes>, ErrorResponse> {
        let invalid = || ErrorResponse::invalid(format!("Invalid value for INITCOND of type {ty}"));
        // A term is planned on some table; this one is there in every schema, and no term of ours looks at it.
        let table = self.table("system", "local").ok_or_else(invalid)?;
        let mut markers = Markers::new(0);
        let mut planner = Planner {
            schema: self,
            keyspace,
            table,
            markers: &mut markers,
        };
        let receiver = Receiver::named(table, "(dummy)", ty.clone());
        let planned = term::plan(&mut planner, written, &receiver)?;
        if markers.calls_natives() || !markers.finish()?.is_empty() {
            return Err(invalid());
        }
        let list_elements = Cell::new(0);
        let binds = Binds::empty(context, &list_elements);
        let value = planned.bind(&binds)?.into_bytes();
        match &value {
            Some(bytes) if helenus_core::types::validate(ty, bytes).is_err() => Err(invalid()),
            _ => Ok(value),
        }
    }

    pub(super) fn drop_aggregate(&self, keyspace: &str, dropped: &DropFunction) -> Outcome {
        let overloads = |keyspace: &Keyspace| {
            let functions = keyspace.functions_named(&dropped.name.name).count();
            functions + keyspace.aggregates_named(&dropped.name.name).count()
        };
        let Some((keyspace, key)) = self.dropped(
            keyspace,
            dropped,
            "AGGREGATE",
            overloads,
            |keyspace, key| {
                let mut named = keyspace
                    .aggregates_named(&key.0)
                    .map(|aggregate| aggregate.key());
                named.find(|own| dropped.arguments.is_none() || own == key)
            },
        )?
        else {
            return Ok(None);
        };
        check_not_native(keyspace, &key)?;
        let mut keyspace = keyspace.clone();
        keyspace.aggregates.remove(&key);
        let target = SchemaTarget::Aggregate {
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
}

/// Finds the functions an aggregate goes through, and from them the type of its result; whether the state function is
/// called on null.
fn check_functions(
    keyspace: &Keyspace,
    create: &CreateAggregate,
    aggregate: &mut UserAggregate,
) -> Result<bool, ErrorResponse> {
    let shown = |name: &str, types: &mut dyn Iterator<Item = &ast::TypeName>| {
        let types = types.map(|ty| Written::new(ty).within(&keyspace.name).to_string());
        format!(
            "{}.{name}({})",
            keyspace.name,
            types.collect::<Vec<_>>().join(", ")
        )
    };
    let mut state_arguments = std::iter::once(&create.state_type).chain(&create.arguments);
    let state_shown = shown(&create.state_function, &mut state_arguments);
    let state_key = aggregate.state_function_key();
    let Some(state) = keyspace.functions.get(&state_key) else {
        return Err(missing(keyspace, &state_key, "State", &state_shown));
    };
    refuse_native(state, "State", &state_shown)?;
    if state.returns != aggregate.state_type {
        return Err(ErrorResponse::invalid(format!(
            "State function {state_shown} return type must be the same as the first argument type - check STYPE, argument \
             and return types"
        )));
    }
    if let (Some(name), Some(key)) = (&create.final_function, aggregate.final_function_key()) {
        let final_shown = || shown(name, &mut std::iter::once(&create.state_type));
        let Some(last) = keyspace.functions.get(&key) else {
            return Err(missing(keyspace, &key, "Final", &final_shown()));
        };
        refuse_native(last, "Final", &final_shown())?;
        aggregate.returns = last.returns.clone();
    }
    Ok(state.called_on_null)
}

/// An aggregate that is made by a statement folds where it reads, which native functions don't run at.
fn refuse_native(function: &UserFunction, what: &str, shown: &str) -> Result<(), ErrorResponse> {
    match function.is_native() {
        true => Err(ErrorResponse::invalid(format!(
            "{what} function {shown} is native: register a native aggregate instead"
        ))),
        false => Ok(()),
    }
}

fn missing(keyspace: &Keyspace, key: &FunctionKey, what: &str, shown: &str) -> ErrorResponse {
    let why = match keyspace.aggregates.contains_key(key) {
        true => "isn't a scalar function",
        false => "doesn't exist",
    };
    ErrorResponse::invalid(format!("{what} function {shown} {why}"))
}
