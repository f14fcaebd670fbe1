//! Types as written become types as meant: Cassandra's `CQL3Type.Raw` with its rules on freezing.

mod walk;
mod written;

use std::sync::Arc;

use helenus_core::message::ErrorResponse;
use helenus_core::types::{CqlType, MAX_TYPE_DEPTH, UserType};

pub(super) use walk::{contains, expand_user_types, map_user_types, refers_to, value_compatible};
pub(super) use written::Written;

use super::Keyspace;
use crate::cql::ast::{TableName, TypeName};

/// The most parts a type may have, those of its user types counted wherever they stand.
const MAX_PARTS: usize = 4096;

/// The type that a statement on `keyspace` means by `name`: user types resolved, tuples and what is in them frozen.
///
/// # Errors
/// Invalid for an unknown user type or one of another keyspace, for collections in collections that aren't frozen,
/// counters in collections or tuples, durations as set elements or map keys, and vectors without dimension, and types of
/// too many parts; syntax errors for `frozen` on a type that can't be and for an unknown class name.
pub fn resolve_type(name: &TypeName, keyspace: &Keyspace) -> Result<CqlType, ErrorResponse> {
    let ty = resolve(name, keyspace, false)?;
    check_size(&ty)?;
    Ok(ty)
}

/// Refuses a type too deep or too wide to be walked and described at ease. User types nest by reference, so that a few
/// short statements could otherwise make types of any size.
pub(super) fn check_size(ty: &CqlType) -> Result<(), ErrorResponse> {
    match walk::is_bounded(ty, MAX_TYPE_DEPTH, MAX_PARTS) {
        true => Ok(()),
        false => Err(ErrorResponse::invalid(format!(
            "Types may nest {MAX_TYPE_DEPTH} levels deep and have {MAX_PARTS} parts at most"
        ))),
    }
}

/// `frozen`: within a `frozen<…>`, where collections and user types are frozen themselves.
fn resolve(name: &TypeName, keyspace: &Keyspace, frozen: bool) -> Result<CqlType, ErrorResponse> {
    let element = |inner: &TypeName| resolve(inner, keyspace, frozen);
    let collection = match name {
        TypeName::Native(name) => {
            let unknown =
                || ErrorResponse::invalid(format!("Unknown type {}.{name}", keyspace.name));
            return CqlType::from_native_name(name).ok_or_else(unknown);
        }
        TypeName::Custom(class) => return custom(class),
        TypeName::Frozen(inner) => {
            return match **inner {
                TypeName::Native(_) | TypeName::Custom(_) => Err(ErrorResponse::syntax(format!(
                    "frozen<> is only allowed on collections, tuples, and user-defined types (got {})",
                    Written::new(inner)
                ))),
                _ => resolve(inner, keyspace, true),
            };
        }
        TypeName::User(name) => CqlType::Udt(Arc::clone(user_type(name, keyspace)?)),
        TypeName::Tuple(elements) => {
            if elements.iter().any(is_counter) {
                return Err(ErrorResponse::invalid(
                    "Counters are not allowed inside tuples",
                ));
            }
            let elements = elements.iter().map(|inner| resolve(inner, keyspace, true));
            return Ok(CqlType::Tuple(elements.collect::<Result<_, _>>()?).freeze());
        }
        TypeName::Vector(inner, dimension) => {
            // What a vector holds stays as written, even within `frozen<…>`.
            let inner = resolve(inner, keyspace, false)?;
            return match u32::try_from(*dimension) {
                Ok(dimension @ 1..) => Ok(CqlType::Vector(Arc::new(inner), dimension)),
                _ => Err(ErrorResponse::invalid(format!(
                    "vectors may only have positive dimensions; given {dimension}"
                ))),
            };
        }
        TypeName::List(inner) | TypeName::Set(inner) => {
            let written = Written::new(name).frozen(frozen);
            check_element(inner, &written, frozen)?;
            let is_set = matches!(name, TypeName::Set(_));
            if is_set && is_duration(inner) {
                return Err(ErrorResponse::invalid(format!(
                    "Durations are not allowed inside sets: {written}"
                )));
            }
            let inner = Arc::new(element(inner)?);
            if is_set {
                CqlType::Set(inner)
            } else {
                CqlType::List(inner)
            }
        }
        TypeName::Map(key, value) => {
            let written = Written::new(name).frozen(frozen);
            check_element(value, &written, frozen)?;
            if is_counter(key) {
                return Err(ErrorResponse::invalid(format!(
                    "Counters are not allowed inside collections: {written}"
                )));
            }
            if is_duration(key) {
                return Err(ErrorResponse::invalid(format!(
                    "Durations are not allowed as map keys: {written}"
                )));
            }
            check_element(key, &written, frozen)?;
            CqlType::Map(Arc::new((element(key)?, element(value)?)))
        }
    };
    Ok(if frozen {
        collection.freeze()
    } else {
        collection
    })
}

fn check_element(
    inner: &TypeName,
    written: &Written<'_>,
    frozen: bool,
) -> Result<(), ErrorResponse> {
    let nested = match inner {
        TypeName::List(_) | TypeName::Set(_) | TypeName::Map(..) => "collections",
        TypeName::User(_) => "UDTs",
        _ if is_counter(inner) => {
            return Err(ErrorResponse::invalid(format!(
                "Counters are not allowed inside collections: {written}"
            )));
        }
        _ => return Ok(()),
    };
    match frozen {
        true => Ok(()),
        false => Err(ErrorResponse::invalid(format!(
            "Non-frozen {nested} are not allowed inside collections: {written}"
        ))),
    }
}

fn is_counter(name: &TypeName) -> bool {
    matches!(name, TypeName::Native(native) if &**native == "counter")
}

fn is_duration(name: &TypeName) -> bool {
    matches!(name, TypeName::Native(native) if &**native == "duration")
}

fn user_type<'a>(
    name: &TableName,
    keyspace: &'a Keyspace,
) -> Result<&'a Arc<UserType>, ErrorResponse> {
    if let Some(other) = name
        .keyspace
        .as_ref()
        .filter(|other| **other != keyspace.name)
    {
        return Err(ErrorResponse::invalid(format!(
            "Statement on keyspace {} cannot refer to a user type in keyspace {other}; user types can only be used in \
             the keyspace they are defined in",
            keyspace.name
        )));
    }
    keyspace.types.get(&name.name).ok_or_else(|| {
        ErrorResponse::invalid(format!("Unknown type {}.{}", keyspace.name, name.name))
    })
}

/// Types without a CQL name of their own, which only a class names.
const CLASSES: [&str; 5] = [
    "EmptyType",
    "LexicalUUIDType",
    "DateType",
    "CompositeType",
    "DynamicCompositeType",
];

fn custom(class: &str) -> Result<CqlType, ErrorResponse> {
    const PACKAGE: &str = "org.apache.cassandra.db.marshal.";
    let unknown = || {
        let name = class.split_once('(').map_or(class, |(name, _)| name);
        let package = if name.contains('.') { "" } else { PACKAGE };
        ErrorResponse::syntax(format!(
            "Error setting type {class}: Unable to find abstract-type class '{package}{name}'"
        ))
    };
    match CqlType::parse_class(class).map_err(|_| unknown())? {
        CqlType::Custom(full) => {
            let name = full.split_once('(').map_or(&*full, |(name, _)| name);
            match CLASSES.contains(&name.strip_prefix(PACKAGE).unwrap_or(name)) {
                true => Ok(CqlType::Custom(full)),
                false => Err(unknown()),
            }
        }
        ty => Ok(ty),
    }
}
