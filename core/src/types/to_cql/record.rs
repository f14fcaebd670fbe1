//! [`RecordFields`]: a user type written from its fields.

use bytes::{BufMut, BytesMut};

use super::tuples::put_field;
use super::{ToCql, Written, mismatch};
use crate::types::{CqlType, ValueError};

/// The fields of a user type, by name and in any order. Those that aren't named are null; a name that the type doesn't have
/// is an error. Without a type the fields are written in the order given. [`ToCql`] has an example.
#[derive(Clone, Copy)]
pub struct RecordFields<'a>(pub &'a [(&'a str, &'a dyn ToCql)]);

impl std::fmt::Debug for RecordFields<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}

impl ToCql for RecordFields<'_> {
    fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        let udt = match ty.map(CqlType::strip_frozen) {
            Some(CqlType::Udt(udt)) => udt,
            Some(ty) => return Err(mismatch(ty)),
            None => {
                for (_, field) in self.0 {
                    put_field(*field, None, out)?;
                }
                return Ok(Written::Value);
            }
        };
        let mut found = 0;
        for (name, ty) in &udt.fields {
            match self.0.iter().find(|(given, _)| **given == **name) {
                Some((_, field)) => {
                    found += 1;
                    put_field(*field, Some(ty), out)?;
                }
                None => out.put_i32(-1),
            }
        }
        match found == self.0.len() {
            true => Ok(Written::Value),
            false => Err(ValueError::NoField),
        }
    }
}
