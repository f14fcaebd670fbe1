//! `count`, `min`, `max`, `sum` and `avg`, and folding rows in general. Answers to Cassandra's `AggregateFcts`.

use std::sync::Arc;

use bytes::Bytes;
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;
use num_bigint::BigInt;

use super::number::{Number, TYPES};
use super::user::Folding;
use super::{Environment, Function, NativeAggregate, NativeState};
use crate::types::compare;

/// How an aggregate folds rows.
#[derive(Debug, Clone)]
pub(crate) enum Aggregate {
    /// Counts values that aren't null; without an argument, rows.
    Count,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The sum, which wraps around.
    Sum,
    /// The mean, integers cut.
    Average,
    /// As a user says.
    User(Arc<Folding>),
    /// As the program around the engine says, where nobody waits.
    Native(Arc<NativeAggregate>),
}

pub(super) fn candidates(name: &str, first: Option<&CqlType>, found: &mut Vec<Function>) {
    let aggregate = match name {
        "count" => Aggregate::Count,
        "min" => Aggregate::Min,
        "max" => Aggregate::Max,
        "sum" => Aggregate::Sum,
        "avg" => Aggregate::Average,
        _ => return,
    };
    let mut add = |ty: CqlType, returns| {
        let mut function = Function::new(name, vec![ty], returns, |_, _, _| Ok(None));
        function.aggregate = Some(aggregate.clone());
        found.push(function);
    };
    match (&aggregate, first) {
        (Aggregate::Sum | Aggregate::Average, _) => {
            for ty in TYPES {
                add(ty.clone(), ty);
            }
        }
        (Aggregate::Count, Some(ty)) => add(ty.clone(), CqlType::BigInt),
        (_, Some(ty)) => add(ty.clone(), ty.clone()),
        (_, None) => {}
    }
}

impl Function {
    /// `count(*)`
    pub(crate) fn count_rows() -> Self {
        let mut function = Self::new("count", Vec::new(), CqlType::BigInt, |_, _, _| Ok(None));
        function.aggregate = Some(Aggregate::Count);
        function
    }
}

/// The state of an aggregate between rows.
#[derive(Debug)]
pub(crate) struct Accumulator {
    aggregate: Aggregate,
    ty: CqlType,
    count: i64,
    total: Option<Number>,
    /// The greatest or least so far; of a user's aggregate, the state.
    extreme: Option<Bytes>,
    /// Of a native aggregate.
    native: Option<Box<NativeFold>>,
}

/// A native aggregate's state, and the rows that it has yet to take in.
#[derive(Debug, Default)]
pub(crate) struct NativeFold {
    /// The state; `None` before the first row.
    pub(crate) state: Option<NativeState>,
    /// The values of rows.
    pub(crate) rows: Vec<Vec<Option<Bytes>>>,
}

impl Accumulator {
    /// Before the first row.
    pub(crate) fn new(function: &Function, aggregate: &Aggregate) -> Self {
        Self {
            extreme: match aggregate {
                Aggregate::User(folding) => folding.initial.clone(),
                _ => None,
            },
            aggregate: aggregate.clone(),
            ty: function.returns.clone(),
            count: 0,
            total: None,
            native: match aggregate {
                Aggregate::Native(_) => Some(Box::default()),
                _ => None,
            },
        }
    }

    /// The native aggregate that it is the state of, and what that has yet to take in.
    pub(crate) fn native(&mut self) -> Option<(&Arc<NativeAggregate>, &mut NativeFold)> {
        match (&self.aggregate, &mut self.native) {
            (Aggregate::Native(aggregate), Some(fold)) => Some((aggregate, fold)),
            _ => None,
        }
    }

    /// Takes a row's values in. Nulls count for nothing, save for a user's function that is called with them.
    pub(crate) fn add(
        &mut self,
        values: Vec<Option<Bytes>>,
        environment: &Environment<'_>,
    ) -> Result<(), ErrorResponse> {
        if let Aggregate::User(folding) = &self.aggregate {
            self.extreme = folding.step(self.extreme.take(), values, environment)?;
            return Ok(());
        }
        if let Some((aggregate, fold)) = self.native() {
            if aggregate.signature().called_on_null || values.iter().all(Option::is_some) {
                fold.rows.push(values);
            }
            return Ok(());
        }
        // `count(*)` has no value, and counts.
        if let Some(value) = values.into_iter().next().unwrap_or(Some(Bytes::new())) {
            self.add_value(value);
        }
        Ok(())
    }

    fn add_value(&mut self, value: Bytes) {
        self.count += 1;
        let better = |order: std::cmp::Ordering| match self.aggregate {
            Aggregate::Min => order.is_lt(),
            _ => order.is_gt(),
        };
        match self.aggregate {
            Aggregate::Count | Aggregate::User(_) | Aggregate::Native(_) => {}
            Aggregate::Min | Aggregate::Max => {
                if self
                    .extreme
                    .as_ref()
                    .is_none_or(|extreme| better(compare(&self.ty, &value, extreme)))
                {
                    self.extreme = Some(value);
                }
            }
            Aggregate::Sum | Aggregate::Average => {
                if let Some(number) = Number::decode(&self.ty, &value) {
                    self.total = Some(match self.total.take() {
                        Some(total) => self.plus(total, number),
                        None => number,
                    });
                }
            }
        }
    }

    fn plus(&self, total: Number, number: Number) -> Number {
        match (total, number) {
            (Number::Float(a), Number::Float(b)) => Number::Float(a + b),
            (Number::Decimal(a, scale), Number::Decimal(b, other)) => {
                let common = scale.max(other);
                let bring = |value: BigInt, from: i32| {
                    let distance = u32::try_from(i64::from(common) - i64::from(from))
                        .unwrap_or(0)
                        .min(10_000);
                    value * BigInt::from(10u8).pow(distance)
                };
                Number::Decimal(bring(a, scale) + bring(b, other), common)
            }
            (Number::Integer(a), Number::Integer(b))
                if matches!(self.aggregate, Aggregate::Sum) =>
            {
                Number::Integer(a.wrapping_add(b))
            }
            // A mean must not wrap around on the way.
            (a, b) => Number::Varint(a.big() + b.big()),
        }
    }

    /// The result over all rows.
    pub(crate) fn finish(
        self,
        environment: &Environment<'_>,
    ) -> Result<Option<Bytes>, ErrorResponse> {
        Ok(match &self.aggregate {
            Aggregate::User(folding) => return folding.finish(self.extreme, environment),
            // What it comes to is computed elsewhere.
            Aggregate::Native(_) => None,
            Aggregate::Count => Some(Bytes::copy_from_slice(&self.count.to_be_bytes())),
            Aggregate::Min | Aggregate::Max => self.extreme,
            Aggregate::Sum => Some(self.total.unwrap_or(Number::Integer(0)).encode(&self.ty)),
            Aggregate::Average => {
                let ty = self.ty.clone();
                Some(self.mean().encode(&ty))
            }
        })
    }

    fn mean(self) -> Number {
        match self.total {
            None => Number::Integer(0),
            Some(Number::Float(total)) => Number::Float(total / self.count as f64),
            // Half to even, as Cassandra averages decimals, at the scale of the sum.
            Some(Number::Decimal(total, scale)) => {
                Number::Decimal(half_even(total, self.count), scale)
            }
            Some(total) => Number::Varint(total.big() / BigInt::from(self.count.max(1))),
        }
    }
}

fn half_even(total: BigInt, count: i64) -> BigInt {
    let count = BigInt::from(count.max(1));
    let quotient = &total / &count;
    let twice = (&total % &count).magnitude() * 2u8;
    let odd = quotient.bit(0);
    let up = twice > *count.magnitude() || (twice == *count.magnitude() && odd);
    if !up {
        return quotient;
    }
    if total.sign() == num_bigint::Sign::Minus {
        quotient - 1
    } else {
        quotient + 1
    }
}
