//! Choosing a function by name and arguments. Answers to Cassandra's `FunctionResolver`.

use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::arithmetic::preferred_type;
use super::{Function, aggregate, blob, collection, floor, json, math, time, user, vector};
use crate::cql::ast;
use crate::schema::Table;
use crate::statement::Planner;
use crate::term;

/// An argument as it stands in the text.
#[derive(Debug, Clone)]
pub(crate) struct Argument<'t> {
    /// Its text, for messages.
    pub(crate) text: String,
    /// Its type, if it has one by itself.
    pub(crate) ty: Option<CqlType>,
    /// The term, which says what it fits without a type.
    pub(crate) term: Option<&'t ast::Term>,
}

impl Argument<'_> {
    pub(super) fn fits(&self, ty: &CqlType) -> bool {
        match (&self.ty, self.term) {
            (Some(own), _) => compatible(ty, own),
            (None, Some(term)) => term::fits(term, ty),
            (None, None) => true,
        }
    }

    /// Whether it has that type, or as a literal would have it rather than another.
    fn prefers(&self, ty: &CqlType) -> bool {
        match &self.ty {
            Some(_) => self.is_exactly(ty),
            None => preferred_type(self.term, None).as_ref() == Some(ty),
        }
    }

    fn is_exactly(&self, ty: &CqlType) -> bool {
        self.ty
            .as_ref()
            .is_some_and(|own| own.strip_frozen() == ty.strip_frozen())
    }
}

/// Whether a value of type `given` may stand where `wanted` is expected.
pub(crate) fn compatible(wanted: &CqlType, given: &CqlType) -> bool {
    use CqlType::{
        Ascii, BigInt, Blob, Counter, Date, Decimal, Int, Text, Time, Timestamp, Timeuuid, Uuid,
        Varint,
    };
    let (wanted, given) = (wanted.strip_frozen(), given.strip_frozen());
    wanted == given
        || match (wanted, given) {
            (Blob, _)
            | (Text, Ascii)
            | (Uuid, Timeuuid)
            | (Varint, Int | BigInt)
            | (Timestamp, BigInt)
            | (BigInt, Timestamp | Counter)
            | (Counter, BigInt)
            | (Date, Int)
            | (Time, BigInt) => true,
            (Decimal, Varint) => false,
            (CqlType::List(a), CqlType::List(b)) | (CqlType::Set(a), CqlType::Set(b)) => {
                compatible(a, b)
            }
            (CqlType::Map(a), CqlType::Map(b)) => compatible(&a.0, &b.0) && compatible(&a.1, &b.1),
            (CqlType::Tuple(a), CqlType::Tuple(b)) => {
                a.len() >= b.len() && a.iter().zip(b.iter()).all(|(a, b)| compatible(a, b))
            }
            _ => false,
        }
}

/// A function's name as the text had it.
pub(crate) fn qualified(keyspace: Option<&str>, name: &str) -> String {
    match keyspace {
        Some(keyspace) => format!("{keyspace}.{name}"),
        None => name.to_owned(),
    }
}

/// The function of that name for these arguments; `None` if nothing has the name. A name without keyspace is one of the
/// server's functions, native ones of `system` among them, or of the keyspace that the statement is about.
///
/// Fails with Invalid if no overload takes the arguments.
pub(crate) fn resolve(
    planner: &Planner<'_>,
    keyspace: Option<&str>,
    name: &str,
    arguments: &[Argument<'_>],
    wanted: Option<&CqlType>,
) -> Result<Option<Function>, ErrorResponse> {
    let mut candidates = Vec::new();
    let own = match keyspace {
        Some(keyspace) => planner
            .schema
            .keyspaces
            .get(keyspace)
            .map(|keyspace| &**keyspace),
        None => Some(planner.keyspace),
    };
    if let Some(own) = own {
        user::candidates(own, name, &mut candidates);
    }
    if keyspace.is_none_or(|keyspace| keyspace == "system") {
        if let Some(function) = json::resolve(name, arguments, wanted)? {
            return Ok(Some(function));
        }
        let system = planner.schema.keyspaces.get("system");
        if let Some(system) = system.filter(|_| own.is_none_or(|own| &*own.name != "system")) {
            user::candidates(system, name, &mut candidates);
        }
        servers(planner.table, name, arguments, &mut candidates);
    }
    let chosen = choose(&qualified(keyspace, name), candidates, arguments, wanted)?;
    if let Some(function) = &chosen {
        planner.markers.called(function);
    }
    Ok(chosen)
}

/// The functions that every server has.
fn servers(table: &Table, name: &str, arguments: &[Argument<'_>], found: &mut Vec<Function>) {
    if name == "token" {
        let types = table
            .partition_key()
            .iter()
            .map(|column| column.ty.clone())
            .collect();
        found.push(Function::new("token", types, CqlType::BigInt, math::token));
    }
    time::candidates(name, found);
    floor::candidates(name, found);
    blob::candidates(name, found);
    math::candidates(name, found);
    let first = arguments.first().and_then(|argument| argument.ty.as_ref());
    collection::candidates(name, first, found);
    aggregate::candidates(name, first, found);
    let types = arguments.iter().filter_map(|argument| argument.ty.as_ref());
    vector::candidates(name, types, found);
}

/// Chooses among overloads: the one the arguments' types name exactly, else the one they fit.
pub(super) fn choose(
    name: &str,
    candidates: Vec<Function>,
    arguments: &[Argument<'_>],
    wanted: Option<&CqlType>,
) -> Result<Option<Function>, ErrorResponse> {
    if let [only] = candidates.as_slice() {
        return check_only(only, arguments).map(|()| candidates.into_iter().next());
    }
    if candidates.is_empty() {
        return Ok(None);
    }
    let takes = |function: &&Function| {
        function.arguments.len() == arguments.len()
            && arguments
                .iter()
                .zip(&function.arguments)
                .all(|(argument, ty)| argument.fits(ty))
    };
    let exact = |function: &&&Function| {
        arguments
            .iter()
            .zip(&function.arguments)
            .all(|(argument, ty)| argument.is_exactly(ty))
    };
    let fitting: Vec<&Function> = candidates.iter().filter(takes).collect();
    if let Some(function) = fitting.iter().find(exact) {
        return Ok(Some(Function::clone(function)));
    }
    if let [only] = fitting.as_slice() {
        return Ok(Some(Function::clone(only)));
    }
    let preferred = |function: &&&Function| {
        arguments
            .iter()
            .zip(&function.arguments)
            .all(|(argument, ty)| argument.prefers(ty))
    };
    if let Some(function) = fitting.iter().find(preferred) {
        return Ok(Some(Function::clone(function)));
    }
    let returning: Vec<&&Function> = fitting
        .iter()
        .filter(|function| wanted.is_some_and(|wanted| function.returns == *wanted))
        .collect();
    if let [only] = returning.as_slice() {
        return Ok(Some(Function::clone(only)));
    }
    let known: Vec<_> = candidates.iter().map(signature).collect();
    Err(ErrorResponse::invalid(if fitting.is_empty() {
        format!(
            "Invalid call to function {name}, none of its type signatures match (known type signatures: {})",
            known.join(", ")
        )
    } else {
        let known: Vec<_> = fitting.iter().map(|function| signature(function)).collect();
        format!(
            "Ambiguous call to function {name} (can be matched by following signatures: {}): use type casts to disambiguate",
            known.join(", ")
        )
    }))
}

fn check_only(function: &Function, arguments: &[Argument<'_>]) -> Result<(), ErrorResponse> {
    if function.arguments.len() != arguments.len() {
        return Err(ErrorResponse::invalid(format!(
            "Invalid number of arguments in call to function {}: {} required but {} provided",
            function.name,
            function.arguments.len(),
            arguments.len()
        )));
    }
    for (index, (argument, ty)) in arguments.iter().zip(&function.arguments).enumerate() {
        if !argument.fits(ty) {
            return Err(ErrorResponse::invalid(format!(
                "Type error: {} cannot be passed as argument {index} of function {} of type {ty}",
                argument.text, function.name
            )));
        }
    }
    Ok(())
}

/// A function as messages show it: name, types and result.
pub(crate) fn signature(function: &Function) -> String {
    let types: Vec<_> = function.arguments.iter().map(ToString::to_string).collect();
    format!(
        "{} : ({}) -> {}",
        function.name,
        types.join(", "),
        function.returns
    )
}
