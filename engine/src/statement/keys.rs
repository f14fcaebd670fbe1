//! Which partitions a statement means: restrictions on the partition key, bound to keys or a range of the ring.

use bytes::{BufMut as _, Bytes, BytesMut};
use helenus_core::ErrorResponse;
use smallvec::SmallVec;

use super::clustering::{null_in_condition, unset_in_condition};
use crate::readers::{PartitionRange, RingBound};
use crate::schema::{Column, Table};
use crate::storage::{DecoratedKey, Token};
use crate::term::{Binds, Bound, InTerm, Term};
use crate::types::compare;

/// How many partitions or rows the `IN` of a statement may name in all.
const MAX_COMBINATIONS: usize = 65_536;

/// Refuses a statement whose `IN` relations name more places than a server should visit at once.
pub(crate) fn check_combinations(left: usize, right: usize) -> Result<(), ErrorResponse> {
    let combinations = left.saturating_mul(right);
    if combinations > MAX_COMBINATIONS {
        return Err(ErrorResponse::invalid(format!(
            "The cartesian product of the IN restrictions produces {combinations} combination values, above fail threshold of {MAX_COMBINATIONS}"
        )));
    }
    Ok(())
}

/// The longest partition key, and the longest part of one.
const MAX_KEY: usize = 65_535;

/// A partition key for the moment of a read; most are short enough to take no allocation.
pub(crate) type KeyBytes = SmallVec<[u8; 32]>;

/// A restriction of one part of the partition key.
#[derive(Debug, Clone)]
pub(crate) enum KeyPart {
    /// `=`
    Equal(Term),
    /// `IN`
    In(InTerm),
}

/// A bound on `token(…)` and whether it is inclusive.
pub(crate) type TokenBound = (Term, bool);

/// Restrictions of the partition key.
#[derive(Debug, Clone)]
pub(crate) enum KeyPlan {
    /// None.
    All,
    /// A range of tokens.
    Tokens {
        /// The lower bound.
        lower: Option<TokenBound>,
        /// The upper bound.
        upper: Option<TokenBound>,
    },
    /// Every part is restricted to values.
    Points(Vec<KeyPart>),
}

/// The partitions a plan means under some bindings.
#[derive(Debug, Clone)]
pub(crate) enum BoundKeys {
    /// One.
    One(DecoratedKey),
    /// These, in the order of the key's types; perhaps none.
    Many(Vec<DecoratedKey>),
    /// Those of a range.
    Range(PartitionRange),
}

impl KeyPlan {
    /// Whether some part is restricted by `IN`.
    pub(crate) fn has_in(&self) -> bool {
        matches!(self, Self::Points(parts) if parts.iter().any(|part| matches!(part, KeyPart::In(_))))
    }

    /// Whether exactly one partition is named, whatever the bindings.
    pub(crate) fn is_one(&self) -> bool {
        matches!(self, Self::Points(_)) && !self.has_in()
    }

    /// The key of the one partition; `None` if another plan names it, or a value can't be in a key.
    pub(crate) fn bind_one(&self, table: &Table, binds: &Binds<'_>) -> Option<KeyBytes> {
        let Self::Points(parts) = self else {
            return None;
        };
        if let [KeyPart::Equal(term)] = parts.as_slice() {
            let value = term.bind(binds).ok()?;
            let key = value.as_slice()?;
            return (1..=MAX_KEY)
                .contains(&key.len())
                .then(|| KeyBytes::from_slice(key));
        }
        let BoundKeys::One(key) = self.bind(table, binds).ok()? else {
            return None;
        };
        Some(KeyBytes::from_slice(&key.key))
    }

    /// The partitions under these bindings.
    pub(crate) fn bind(
        &self,
        table: &Table,
        binds: &Binds<'_>,
    ) -> Result<BoundKeys, ErrorResponse> {
        match self {
            Self::All => Ok(BoundKeys::Range(PartitionRange::ALL)),
            Self::Tokens { lower, upper } => token_range(lower.as_ref(), upper.as_ref(), binds),
            Self::Points(parts) => match parts.as_slice() {
                [KeyPart::Equal(term)] => {
                    let value = term.bind(binds)?;
                    let column = table.partition_key().first();
                    let bytes = part(&value, column)?;
                    if bytes.is_empty() {
                        return Err(ErrorResponse::invalid("Key may not be empty"));
                    }
                    check_len(bytes)?;
                    Ok(BoundKeys::One(DecoratedKey::new(
                        value.into_bytes().unwrap_or_default(),
                    )))
                }
                parts if self.has_in() => product(parts, table, binds),
                parts => {
                    let mut key = BytesMut::new();
                    for (term, column) in parts.iter().zip(table.partition_key()) {
                        if let KeyPart::Equal(term) = term {
                            let value = term.bind(binds)?;
                            put_part(&mut key, part(&value, Some(column))?)?;
                        }
                    }
                    finish(key).map(BoundKeys::One)
                }
            },
        }
    }
}

fn part<'v>(value: &'v Bound<'_>, column: Option<&Column>) -> Result<&'v [u8], ErrorResponse> {
    let name = column.map_or("", |column| &*column.name);
    match value {
        Bound::Unset => Err(unset_in_condition(name)),
        value => value.as_slice().ok_or_else(|| null_in_condition(name)),
    }
}

fn check_len(bytes: &[u8]) -> Result<(), ErrorResponse> {
    if bytes.len() > MAX_KEY {
        return Err(ErrorResponse::invalid(format!(
            "Key length of {} is longer than maximum of {MAX_KEY}",
            bytes.len()
        )));
    }
    Ok(())
}

/// Appends a part of a key of several: `[short bytes]` and a zero byte.
fn put_part(key: &mut BytesMut, bytes: &[u8]) -> Result<(), ErrorResponse> {
    check_len(bytes)?;
    key.put_u16(u16::try_from(bytes.len()).unwrap_or(u16::MAX));
    key.put_slice(bytes);
    key.put_u8(0);
    Ok(())
}

/// The key of a partition of these values; an error if one is too long. Alone, a value may be empty, though no statement
/// can name such a key: a view may have it.
pub(crate) fn partition_key<V: AsRef<[u8]>>(values: &[V]) -> Result<DecoratedKey, ErrorResponse> {
    if let [only] = values {
        let only = only.as_ref();
        check_len(only)?;
        return Ok(DecoratedKey::new(Bytes::copy_from_slice(only)));
    }
    let mut key = BytesMut::new();
    for value in values {
        put_part(&mut key, value.as_ref())?;
    }
    finish(key)
}

fn finish(key: BytesMut) -> Result<DecoratedKey, ErrorResponse> {
    check_len(&key)?;
    Ok(DecoratedKey::new(key.freeze()))
}

/// Every combination of the parts' values, in the order of their types, doubles dropped.
fn product(
    parts: &[KeyPart],
    table: &Table,
    binds: &Binds<'_>,
) -> Result<BoundKeys, ErrorResponse> {
    let mut keys: Vec<Vec<Bytes>> = vec![Vec::new()];
    for (key_part, column) in parts.iter().zip(table.partition_key()) {
        let values = match key_part {
            KeyPart::Equal(term) => vec![term.bind(binds)?],
            KeyPart::In(terms) => terms.bind(binds, &column.name)?,
        };
        let mut choices = Vec::with_capacity(values.len());
        for value in values {
            part(&value, Some(column))?;
            choices.extend(value.into_bytes());
        }
        choices.sort_by(|a, b| compare(&column.ty, a, b));
        choices.dedup_by(|a, b| compare(&column.ty, a, b).is_eq());
        check_combinations(keys.len(), choices.len())?;
        keys = keys
            .iter()
            .flat_map(|key| {
                choices.iter().map(move |choice| {
                    let mut key = key.clone();
                    key.push(choice.clone());
                    key
                })
            })
            .collect();
    }
    let mut decorated = Vec::with_capacity(keys.len());
    for values in keys {
        if values.len() == 1 && values.iter().any(Bytes::is_empty) {
            return Err(ErrorResponse::invalid("Key may not be empty"));
        }
        decorated.push(partition_key(&values)?);
    }
    Ok(BoundKeys::Many(decorated))
}

fn token_range(
    lower: Option<&TokenBound>,
    upper: Option<&TokenBound>,
    binds: &Binds<'_>,
) -> Result<BoundKeys, ErrorResponse> {
    let start = match lower {
        Some((term, inclusive)) => match token(term, binds)? {
            token if *inclusive => RingBound::Before(token),
            token => RingBound::After(token),
        },
        None => RingBound::Start,
    };
    let end = match upper {
        Some((term, inclusive)) => match token(term, binds)? {
            // The ring's least token stands for its end as well.
            Token(i64::MIN) => RingBound::End,
            token if *inclusive => RingBound::After(token),
            token => RingBound::Before(token),
        },
        None => RingBound::End,
    };
    Ok(BoundKeys::Range(PartitionRange::Tokens { start, end }))
}

fn token(term: &Term, binds: &Binds<'_>) -> Result<Token, ErrorResponse> {
    let value = term.bind(binds)?;
    let bytes = value
        .as_slice()
        .ok_or_else(|| ErrorResponse::invalid("Invalid null token value"))?;
    let bytes = bytes
        .try_into()
        .map_err(|_| ErrorResponse::invalid("Invalid null token value"))?;
    Ok(Token(i64::from_be_bytes(bytes)))
}

/// The part of a serialized key of several parts.
pub(crate) fn key_part(key: &[u8], position: usize) -> Option<&[u8]> {
    let mut rest = key;
    for _ in 0..position {
        let (len, behind) = rest.split_first_chunk::<2>()?;
        rest = behind.get(usize::from(u16::from_be_bytes(*len)) + 1..)?;
    }
    let (len, behind) = rest.split_first_chunk::<2>()?;
    behind.get(..usize::from(u16::from_be_bytes(*len)))
}
