//! Types as written become types as meant: Cassandra's `CQL3Type.Raw` with its rules on freezing.

use std::fmt;
use std::sync::Arc;

use helenus_core::message::ErrorResponse;
use helenus_core::types::{CqlType, UserType};

use super::Keyspace;
use crate::cql::ast::{TableName, TypeName};

/// The type that a statement on `keyspace` means by `name`: user types resolved, tuples and what is in them frozen.
///
/// # Errors
/// Invalid for an unknown user type or one of another keyspace, for collections in collections that aren't frozen,
/// counters in collections or tuples, durations as set elements or map keys, and vectors without dimension; syntax
/// errors for `frozen` on a type that can't be and for an unknown class name.
pub fn resolve_type(name: &TypeName, keyspace: &Keyspace) -> Result<CqlType, ErrorResponse> {
    resolve(name, keyspace, false)
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
            let written = Written {
                frozen,
                ..Written::new(name)
            };
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
            let written = Written {
                frozen,
                ..Written::new(name)
            };
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

/// A type as error messages show it.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    name: &'a TypeName,
    /// Stands within a `frozen<…>`.
    frozen: bool,
    /// The keyspace to show with user types that are written without one.
    keyspace: Option<&'a str>,
}

impl<'a> Written<'a> {
    pub(super) fn new(name: &'a TypeName) -> Self {
        Self {
            name,
            frozen: false,
            keyspace: None,
        }
    }

    /// Shows user types with their keyspace.
    pub(super) fn within(self, keyspace: &'a str) -> Self {
        Self {
            keyspace: Some(keyspace),
            ..self
        }
    }
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = |name| Written { name, ..*self };
        match self.name {
            TypeName::Native(native) => f.write_str(native),
            TypeName::Custom(class) => write!(f, "'{class}'"),
            TypeName::Frozen(content) => Written {
                frozen: true,
                ..inner(content)
            }
            .fmt(f),
            TypeName::Vector(element, dimension) => {
                write!(f, "vector<{}, {dimension}>", inner(element))
            }
            TypeName::Tuple(elements) => {
                f.write_str("tuple<")?;
                for (index, element) in elements.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{}", inner(element))?;
                }
                f.write_str(">")
            }
            _ if self.frozen => {
                f.write_str("frozen<")?;
                self.content(f)?;
                f.write_str(">")
            }
            _ => self.content(f),
        }
    }
}

impl Written<'_> {
    fn content(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = |name| Written { name, ..*self };
        match self.name {
            TypeName::List(element) => write!(f, "list<{}>", inner(element)),
            TypeName::Set(element) => write!(f, "set<{}>", inner(element)),
            TypeName::Map(key, value) => write!(f, "map<{}, {}>", inner(key), inner(value)),
            TypeName::User(user) => match user.keyspace.as_deref().or(self.keyspace) {
                Some(keyspace) => write!(f, "{keyspace}.{}", user.name),
                None => f.write_str(&user.name),
            },
            _ => Ok(()),
        }
    }
}

/// Whether any part of the type satisfies `test`.
pub(super) fn contains(ty: &CqlType, test: &impl Fn(&CqlType) -> bool) -> bool {
    test(ty)
        || match ty {
            CqlType::List(inner)
            | CqlType::Set(inner)
            | CqlType::Vector(inner, _)
            | CqlType::Frozen(inner) => contains(inner, test),
            CqlType::Map(inner) => contains(&inner.0, test) || contains(&inner.1, test),
            CqlType::Tuple(elements) => elements.iter().any(|element| contains(element, test)),
            CqlType::Udt(udt) => udt.fields.iter().any(|(_, field)| contains(field, test)),
            _ => false,
        }
}

/// Whether the type is or contains the user type of that keyspace and name.
pub(super) fn refers_to(ty: &CqlType, keyspace: &str, name: &str) -> bool {
    contains(
        ty,
        &|part| matches!(part, CqlType::Udt(udt) if *udt.keyspace == *keyspace && *udt.name == *name),
    )
}

/// The type with every user type in it replaced by what `replace` gives for it.
pub(super) fn map_user_types(
    ty: &CqlType,
    replace: &impl Fn(&Arc<UserType>) -> CqlType,
) -> CqlType {
    let inner = |ty: &Arc<CqlType>| Arc::new(map_user_types(ty, replace));
    match ty {
        CqlType::List(element) => CqlType::List(inner(element)),
        CqlType::Set(element) => CqlType::Set(inner(element)),
        CqlType::Vector(element, dimension) => CqlType::Vector(inner(element), *dimension),
        CqlType::Frozen(content) => map_user_types(content, replace).freeze(),
        CqlType::Map(pair) => CqlType::Map(Arc::new((
            map_user_types(&pair.0, replace),
            map_user_types(&pair.1, replace),
        ))),
        CqlType::Tuple(elements) => CqlType::Tuple(
            elements
                .iter()
                .map(|element| map_user_types(element, replace))
                .collect(),
        ),
        CqlType::Udt(udt) => replace(udt),
        other => other.clone(),
    }
}

/// The type with its user types as the tuples of their fields, which a dropped column keeps.
pub(super) fn expand_user_types(ty: &CqlType) -> CqlType {
    map_user_types(ty, &|udt| {
        let fields = udt
            .fields
            .iter()
            .map(|(_, field)| match expand_user_types(field) {
                field @ (CqlType::List(_)
                | CqlType::Set(_)
                | CqlType::Map(_)
                | CqlType::Tuple(_)) => field.freeze(),
                field => field,
            });
        CqlType::Tuple(fields.collect())
    })
}

/// Whether bytes written as `old` can be read as `new`, and are stored in the same way.
pub(super) fn value_compatible(new: &CqlType, old: &CqlType) -> bool {
    use CqlType::{
        Ascii, BigInt, Blob, Frozen, Inet, List, Map, Set, Text, Timestamp, Timeuuid, Tuple, Uuid,
        Vector,
    };
    if new == old {
        return true;
    }
    match (new, old) {
        (Text, Ascii) | (BigInt, Timestamp) | (Timestamp, BigInt) | (Uuid, Timeuuid) => true,
        // Any bytes are a blob, but a value's length must not have been left out where it now is needed.
        (
            Blob,
            Ascii
            | Text
            | Inet
            | CqlType::Varint
            | CqlType::Decimal
            | CqlType::Duration
            | Frozen(_),
        ) => true,
        (Frozen(new), Frozen(old)) => value_compatible(new, old),
        (Tuple(new), Tuple(old)) => {
            new.len() >= old.len()
                && new
                    .iter()
                    .zip(old.iter())
                    .all(|(new, old)| value_compatible(new, old))
        }
        (List(new), List(old)) | (Set(new), Set(old)) => value_compatible(new, old),
        (Map(new), Map(old)) => {
            value_compatible(&new.0, &old.0) && value_compatible(&new.1, &old.1)
        }
        (Vector(new, length), Vector(old, old_length)) => {
            length == old_length && value_compatible(new, old)
        }
        _ => false,
    }
}
