//! The values of one execution, in the order of the statement's bind variables.

use std::cell::Cell;
use std::collections::BTreeMap;

use bytes::Bytes;
use helenus_core::ErrorResponse;
use helenus_core::message::{ColumnSpec, Values};
use helenus_core::types::{CqlType, validate};
use helenus_core::wire::RawValue;

use super::normal;
use crate::context::Context;
use crate::functions::Environment;

/// How many values are kept without allocating.
const INLINE: usize = 8;

/// A bound value.
#[derive(Debug, Clone)]
pub(crate) enum Bound<'a> {
    /// `null`
    Null,
    /// Not set: the column stays as it is.
    Unset,
    /// A value that still lies in the request.
    Slice(&'a [u8]),
    /// A value.
    Bytes(Bytes),
}

impl Bound<'_> {
    /// The value's bytes; `None` for null and unset.
    pub(crate) fn as_slice(&self) -> Option<&[u8]> {
        match self {
            Self::Null | Self::Unset => None,
            Self::Slice(slice) => Some(slice),
            Self::Bytes(bytes) => Some(bytes),
        }
    }

    /// The value as owned bytes; `None` for null and unset.
    pub(crate) fn into_bytes(self) -> Option<Bytes> {
        match self {
            Self::Null | Self::Unset => None,
            Self::Slice(slice) => Some(Bytes::copy_from_slice(slice)),
            Self::Bytes(bytes) => Some(bytes),
        }
    }

    /// Whether this is [`Bound::Unset`].
    pub(crate) fn is_unset(&self) -> bool {
        matches!(self, Self::Unset)
    }
}

/// Values kept beyond the request.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnedBinds {
    values: Vec<Bound<'static>>,
}

impl OwnedBinds {
    /// Sets the value at a place behind those of the variables; `None` is null.
    pub(crate) fn set(&mut self, index: usize, value: Option<Bytes>) {
        if let Some(place) = self.values.get_mut(index) {
            *place = value.map_or(Bound::Null, Bound::Bytes);
        }
    }
}

/// The values of one execution and its circumstances.
#[derive(Debug)]
pub(crate) struct Binds<'a> {
    inline: [Bound<'a>; INLINE],
    spilled: Vec<Bound<'a>>,
    environment: Environment<'a>,
    list_elements: &'a Cell<u32>,
}

impl<'a> Binds<'a> {
    /// Checks the values of a request against the variables and takes them over.
    ///
    /// Fails with Invalid when their number differs or one isn't a value of its type.
    pub(crate) fn new(
        variables: &[ColumnSpec<'_>],
        values: &Values<'a>,
        context: &'a Context,
        list_elements: &'a Cell<u32>,
    ) -> Result<Self, ErrorResponse> {
        let mut binds = Self::empty(context, list_elements);
        let mut count = 0;
        if values.is_named() && !values.is_empty() {
            let mut named = BTreeMap::new();
            for (name, value) in values.iter() {
                // Of values with the same name the first counts.
                named.entry(name.unwrap_or_default()).or_insert(value);
            }
            for variable in variables {
                if let Some(value) = named.get(&*variable.name) {
                    binds.push(count, &variable.ty, *value)?;
                    count += 1;
                }
            }
        } else if values.len() == variables.len() {
            for (variable, (_, value)) in variables.iter().zip(values.iter()) {
                binds.push(count, &variable.ty, value)?;
                count += 1;
            }
        } else {
            count = values.len();
        }
        if count != variables.len() {
            return Err(ErrorResponse::invalid(format!(
                "there were {} markers(?) in CQL but {count} bound variables",
                variables.len()
            )));
        }
        Ok(binds)
    }

    /// No values.
    pub(crate) fn empty(context: &'a Context, list_elements: &'a Cell<u32>) -> Self {
        Self {
            inline: [const { Bound::Null }; INLINE],
            spilled: Vec::new(),
            environment: Environment::new(context),
            list_elements,
        }
    }

    /// The values kept by [`to_owned`](Self::to_owned).
    pub(crate) fn again(
        owned: &'a OwnedBinds,
        context: &'a Context,
        list_elements: &'a Cell<u32>,
    ) -> Self {
        let mut binds = Self::empty(context, list_elements);
        for (index, value) in owned.values.iter().enumerate() {
            binds.put(index, value.clone());
        }
        binds
    }

    /// The values, to be bound again once the request is gone.
    pub(crate) fn to_owned(&self, count: usize) -> OwnedBinds {
        let own = |index| match self.get(index) {
            Bound::Null => Bound::Null,
            Bound::Unset => Bound::Unset,
            Bound::Slice(slice) => Bound::Bytes(Bytes::copy_from_slice(slice)),
            Bound::Bytes(bytes) => Bound::Bytes(bytes),
        };
        OwnedBinds {
            values: (0..count).map(own).collect(),
        }
    }

    /// The value of a variable; null for one that doesn't exist.
    pub(crate) fn get(&self, index: usize) -> Bound<'a> {
        let place = if index < INLINE {
            self.inline.get(index)
        } else {
            self.spilled.get(index - INLINE)
        };
        place.cloned().unwrap_or(Bound::Null)
    }

    /// What functions may know.
    pub(crate) fn environment(&self) -> &Environment<'a> {
        &self.environment
    }

    /// The circumstances of the execution.
    pub(crate) fn context(&self) -> &'a Context {
        self.environment.context
    }

    /// Numbers the list elements written by one execution, from 0.
    pub(crate) fn next_list_element(&self) -> u32 {
        let number = self.list_elements.get();
        self.list_elements.set(number.wrapping_add(1));
        number
    }

    fn push(
        &mut self,
        index: usize,
        ty: &CqlType,
        value: RawValue<'a>,
    ) -> Result<(), ErrorResponse> {
        let bound = match value {
            RawValue::Null => Bound::Null,
            RawValue::Unset => Bound::Unset,
            RawValue::Bytes(bytes) => {
                validate(ty, bytes).map_err(|error| ErrorResponse::invalid(error.to_string()))?;
                match normal::form(ty, bytes) {
                    Some(normal) => Bound::Bytes(normal),
                    None => Bound::Slice(bytes),
                }
            }
        };
        self.put(index, bound);
        Ok(())
    }

    /// Sets a value behind those of the variables.
    pub(crate) fn set(&mut self, index: usize, bound: Bound<'static>) {
        self.put(index, bound);
    }

    fn put(&mut self, index: usize, bound: Bound<'a>) {
        match self.inline.get_mut(index) {
            Some(place) => *place = bound,
            None => {
                let index = index - INLINE;
                if self.spilled.len() <= index {
                    self.spilled.resize(index + 1, Bound::Null);
                }
                if let Some(place) = self.spilled.get_mut(index) {
                    *place = bound;
                }
            }
        }
    }
}
