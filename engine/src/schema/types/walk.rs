//! Walking types: what they contain, and with parts of them replaced.

use std::sync::Arc;

use helenus_core::types::{CqlType, UserType};

/// Whether any part of the type satisfies `test`.
pub(in crate::schema) fn contains(ty: &CqlType, test: &impl Fn(&CqlType) -> bool) -> bool {
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

/// Whether the type nests no deeper than `depth` and has no more than `parts` parts, itself among them. Takes no more
/// steps than that.
pub(super) fn is_bounded(ty: &CqlType, depth: usize, parts: usize) -> bool {
    fn walk(ty: &CqlType, depth: usize, parts: &mut usize) -> bool {
        let (Some(depth), Some(left)) = (depth.checked_sub(1), parts.checked_sub(1)) else {
            return false;
        };
        *parts = left;
        match ty {
            CqlType::List(inner)
            | CqlType::Set(inner)
            | CqlType::Vector(inner, _)
            | CqlType::Frozen(inner) => walk(inner, depth, parts),
            CqlType::Map(inner) => walk(&inner.0, depth, parts) && walk(&inner.1, depth, parts),
            CqlType::Tuple(elements) => elements.iter().all(|element| walk(element, depth, parts)),
            CqlType::Udt(udt) => udt
                .fields
                .iter()
                .all(|(_, field)| walk(field, depth, parts)),
            _ => true,
        }
    }
    let mut parts = parts;
    walk(ty, depth, &mut parts)
}

/// Whether the type is or contains the user type of that keyspace and name.
pub(in crate::schema) fn refers_to(ty: &CqlType, keyspace: &str, name: &str) -> bool {
    contains(
        ty,
        &|part| matches!(part, CqlType::Udt(udt) if *udt.keyspace == *keyspace && *udt.name == *name),
    )
}

/// The type with every user type in it replaced by what `replace` gives for it.
pub(in crate::schema) fn map_user_types(
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
pub(in crate::schema) fn expand_user_types(ty: &CqlType) -> CqlType {
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
pub(in crate::schema) fn value_compatible(new: &CqlType, old: &CqlType) -> bool {
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
