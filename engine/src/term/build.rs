//! Values put together from terms: collections, tuples, user types and vectors.

use bytes::{BufMut, Bytes, BytesMut};
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;
use helenus_core::wire::WireWrite as _;

use super::binds::{Binds, Bound};
use super::elements::{begin_count, put_element};
use super::{Term, normal};

/// The longest list, set or map key Cassandra takes.
const MAX_ELEMENT: usize = 65_535;

/// A value made of terms; for a map, keys and values in turn.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// What is made.
    pub(crate) ty: CqlType,
    /// Of what.
    pub(crate) elements: Vec<Term>,
}

impl Shape {
    /// The term of this shape: a constant if all parts are.
    pub(crate) fn into_term(self) -> Result<Term, ErrorResponse> {
        if !self.elements.iter().all(Term::is_constant) {
            return Ok(Term::Build(Box::new(self)));
        }
        let parts = self
            .elements
            .iter()
            .map(|term| match term {
                Term::Constant(bytes) => Bound::Bytes(bytes.clone()),
                _ => Bound::Null,
            })
            .collect();
        Ok(Term::Constant(assemble(&self.ty, parts)?))
    }

    /// The value under these bindings.
    pub(crate) fn bind<'a>(&'a self, binds: &Binds<'a>) -> Result<Bound<'a>, ErrorResponse> {
        let mut parts = Vec::with_capacity(self.elements.len());
        for element in &self.elements {
            let part = element.bind(binds)?;
            // An unset element makes the whole value unset, in collections only.
            if part.is_unset() && self.ty.is_collection() {
                return Ok(Bound::Unset);
            }
            parts.push(part);
        }
        assemble(&self.ty, parts).map(Bound::Bytes)
    }
}

/// Serializes a value of a type from its parts.
pub(crate) fn assemble(ty: &CqlType, parts: Vec<Bound<'_>>) -> Result<Bytes, ErrorResponse> {
    let mut out = BytesMut::new();
    match ty {
        CqlType::Frozen(inner) => return assemble(inner, parts),
        CqlType::List(_) => {
            begin_count(&mut out, parts.len());
            for part in &parts {
                put_element(&mut out, Some(present(part)?));
            }
        }
        CqlType::Set(element) => {
            let mut elements = Vec::with_capacity(parts.len());
            for part in parts {
                present(&part)?;
                elements.push(part.into_bytes());
            }
            normal::put_set(&mut out, element, elements);
        }
        CqlType::Map(types) => {
            let mut entries = Vec::with_capacity(parts.len() / 2);
            let mut parts = parts.into_iter();
            while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
                present(&key)?;
                present(&value)?;
                entries.push((key.into_bytes().unwrap_or_default(), value.into_bytes()));
            }
            normal::put_map(&mut out, &types.0, entries);
        }
        CqlType::Vector(element, _) => {
            let fixed = element.fixed_size().is_some();
            for part in &parts {
                let Some(bytes) = part.as_slice() else {
                    return Err(ErrorResponse::invalid(
                        "null is not supported inside vectors",
                    ));
                };
                if !fixed {
                    out.put_unsigned_vint(bytes.len() as u64);
                }
                out.put_slice(bytes);
            }
        }
        _ => parts
            .iter()
            .for_each(|part| put_element(&mut out, part.as_slice())),
    }
    Ok(out.freeze())
}

fn present<'a>(part: &'a Bound<'_>) -> Result<&'a [u8], ErrorResponse> {
    let Some(bytes) = part.as_slice() else {
        return Err(ErrorResponse::invalid(
            "null is not supported inside collections",
        ));
    };
    if bytes.len() > MAX_ELEMENT {
        return Err(ErrorResponse::invalid(format!(
            "Collection value is too long. Element values are limited to {MAX_ELEMENT} bytes but {} bytes value provided",
            bytes.len()
        )));
    }
    Ok(bytes)
}
