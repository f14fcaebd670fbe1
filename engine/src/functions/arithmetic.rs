//! `+ - * / %` and negation. Answers to Cassandra's `OperationFcts`.

use bytes::Bytes;
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;
use num_bigint::BigInt;

use super::number::{Number, TYPES};
use super::resolve::choose;
use super::{Argument, Environment, Function, given, time};
use crate::cql::ast::{Literal, Operator, Term};
use crate::term::text;

/// How many digits a quotient of decimals is given at least.
const QUOTIENT_SCALE: i64 = 32;
/// How many zeros are taken off a quotient's end.
const MAX_ZEROS: u32 = 128;
/// The greatest scale two decimals are brought to.
const MAX_SCALE: i64 = 10_000;

/// The operator on these arguments.
pub(crate) fn arithmetic(
    operator: Operator,
    arguments: &[Argument<'_>; 2],
    wanted: Option<&CqlType>,
) -> Result<Function, ErrorResponse> {
    let [left, right] = arguments;
    let sign = text::operator(operator);
    let types = match (&left.ty, &right.ty) {
        (Some(left), Some(right)) => (left.clone(), right.clone()),
        (Some(known), None) => (known.clone(), untyped(right, known, sign, arguments)?),
        (None, Some(known)) => (untyped(left, known, sign, arguments)?, known.clone()),
        (None, None) => {
            let preferred = |argument: &Argument<'_>| preferred_type(argument.term, wanted);
            match (preferred(left), preferred(right)) {
                (Some(left), Some(right)) => (left, right),
                _ => return Err(ambiguous(sign, arguments)),
            }
        }
    };
    let (left_type, right_type) = (
        types.0.strip_frozen().clone(),
        types.1.strip_frozen().clone(),
    );
    let (returns, run): (CqlType, super::Run) = match (&left_type, &right_type) {
        (CqlType::Text | CqlType::Ascii, CqlType::Text | CqlType::Ascii)
            if operator == Operator::Add =>
        {
            let ascii = left_type == CqlType::Ascii && right_type == CqlType::Ascii;
            (
                if ascii { CqlType::Ascii } else { CqlType::Text },
                concatenate,
            )
        }
        (CqlType::Timestamp | CqlType::Date, CqlType::Duration)
            if matches!(operator, Operator::Add | Operator::Subtract) =>
        {
            let run: super::Run = if operator == Operator::Add {
                time::add
            } else {
                time::subtract
            };
            (left_type.clone(), run)
        }
        (left, right) => match result_type(left, right) {
            Some(ty) => (ty, runner(operator)),
            None => {
                return Err(ErrorResponse::invalid(format!(
                    "the '{sign}' operation is not supported between {} and {}",
                    arguments[0].text, arguments[1].text
                )));
            }
        },
    };
    Ok(Function {
        name: format!("system.{}", operator_name(operator)).into(),
        arguments: vec![left_type, right_type],
        returns,
        aggregate: None,
        body: super::Body::Strict(run),
    })
}

/// Negation of this argument.
pub(crate) fn negation(
    arguments: &[Argument<'_>; 1],
    wanted: Option<&CqlType>,
) -> Result<Function, ErrorResponse> {
    let [argument] = arguments;
    let mut argument = argument.clone();
    if argument.ty.is_none() {
        argument.ty = preferred_type(argument.term, wanted);
    }
    let candidates = TYPES
        .iter()
        .map(|ty| {
            let mut function = Function::new("\"_negate\"", vec![ty.clone()], ty.clone(), negate);
            function.name = "system.\"_negate\"".into();
            function
        })
        .collect();
    choose("system._negate", candidates, &[argument], wanted)?
        .ok_or_else(|| ErrorResponse::invalid("Unknown function 'system._negate'"))
}

/// The type of an argument that has none by itself, beside one that has.
fn untyped(
    argument: &Argument<'_>,
    known: &CqlType,
    sign: char,
    arguments: &[Argument<'_>; 2],
) -> Result<CqlType, ErrorResponse> {
    match argument.term {
        Some(Term::Literal(Literal::Duration(_))) => Ok(CqlType::Duration),
        Some(Term::Literal(Literal::Integer(_))) if *known == CqlType::Decimal => {
            preferred_type(argument.term, None).ok_or_else(|| ambiguous(sign, arguments))
        }
        Some(term @ Term::Literal(_)) if crate::term::fits(term, known) => Ok(known.clone()),
        term => preferred_type(term, None).ok_or_else(|| ambiguous(sign, arguments)),
    }
}

pub(super) fn preferred_type(term: Option<&Term>, wanted: Option<&CqlType>) -> Option<CqlType> {
    let Some(Term::Literal(literal)) = term else {
        return None;
    };
    if let (Some(wanted), Literal::Integer(_) | Literal::Float(_)) = (wanted, literal)
        && TYPES.contains(wanted)
        && crate::term::fits(&Term::Literal(literal.clone()), wanted)
    {
        return Some(wanted.clone());
    }
    Some(match literal {
        Literal::Integer(digits) if digits.parse::<i32>().is_ok() => CqlType::Int,
        Literal::Integer(digits) if digits.parse::<i64>().is_ok() => CqlType::BigInt,
        Literal::Integer(_) => CqlType::Varint,
        Literal::Float(_) => CqlType::Double,
        Literal::Duration(_) => CqlType::Duration,
        Literal::String(_) => match wanted {
            Some(ty @ (CqlType::Timestamp | CqlType::Date)) => ty.clone(),
            _ => CqlType::Text,
        },
        _ => return None,
    })
}

fn ambiguous(sign: char, arguments: &[Argument<'_>; 2]) -> ErrorResponse {
    ErrorResponse::invalid(format!(
        "Ambiguous '{sign}' operation with args {} and {}: use type hint to disambiguate, example '(int) ?'",
        arguments[0].text, arguments[1].text
    ))
}

/// The type that two numeric types give: the wider one, a decimal or double where floats meet large integers.
fn result_type(left: &CqlType, right: &CqlType) -> Option<CqlType> {
    use CqlType::{BigInt, Counter, Decimal, Double, Float, Int, SmallInt, TinyInt, Varint};
    let rank = |ty: &CqlType| {
        Some(match ty {
            TinyInt => 0,
            SmallInt => 1,
            Int => 2,
            BigInt | Counter => 3,
            Float => 4,
            Double => 5,
            Varint => 6,
            Decimal => 7,
            _ => return None,
        })
    };
    let (low, high) = {
        let (a, b) = (rank(left)?, rank(right)?);
        (a.min(b), a.max(b))
    };
    Some(match (low, high) {
        (_, 7) => Decimal,
        (4 | 5, 6) => Decimal,
        (_, 6) => Varint,
        (_, 5) | (3, 4) => Double,
        (_, 4) => Float,
        (_, 3) => BigInt,
        (_, 2) => Int,
        (_, 1) => SmallInt,
        _ => TinyInt,
    })
}

fn runner(operator: Operator) -> super::Run {
    match operator {
        Operator::Add => |function, arguments, _| compute(function, arguments, Operator::Add),
        Operator::Subtract => {
            |function, arguments, _| compute(function, arguments, Operator::Subtract)
        }
        Operator::Multiply => {
            |function, arguments, _| compute(function, arguments, Operator::Multiply)
        }
        Operator::Divide => |function, arguments, _| compute(function, arguments, Operator::Divide),
        Operator::Remainder => {
            |function, arguments, _| compute(function, arguments, Operator::Remainder)
        }
    }
}

fn operands(function: &Function, arguments: &[Option<Bytes>]) -> Option<(Number, Number)> {
    let operand = |index| {
        let ty = function.argument(index);
        let number = Number::decode(&ty, given(arguments, index))?;
        Some(match number {
            // Cassandra makes decimals of these by way of doubles, which have a digit behind the point.
            Number::Integer(small)
                if function.returns == CqlType::Decimal
                    && !matches!(ty, CqlType::BigInt | CqlType::Counter) =>
            {
                Number::Decimal(BigInt::from(small) * 10, 1)
            }
            number => number,
        })
    };
    Some((operand(0)?, operand(1)?))
}

fn compute(
    function: &Function,
    arguments: &[Option<Bytes>],
    operator: Operator,
) -> Result<Option<Bytes>, ErrorResponse> {
    let Some((left, right)) = operands(function, arguments) else {
        return Ok(None);
    };
    let result = match function.returns {
        CqlType::Float | CqlType::Double => {
            Some(Number::Float(floats(operator, left.float(), right.float())))
        }
        CqlType::Varint => bigs(operator, left.big(), right.big()).map(Number::Varint),
        CqlType::Decimal => decimals(operator, left.decimal(), right.decimal()),
        _ => integers(operator, left.integer(), right.integer()).map(Number::Integer),
    };
    match result {
        Some(number) => Ok(Some(number.encode(&function.returns))),
        None => Err(by_zero(function, operator)),
    }
}

fn by_zero(function: &Function, operator: Operator) -> ErrorResponse {
    let what = match function.returns {
        CqlType::Varint => "BigInteger divide by zero",
        CqlType::Decimal => "Division by zero",
        _ => "/ by zero",
    };
    let types = function.arguments.clone();
    ErrorResponse::function_failure(
        "system",
        operator_name(operator),
        types.iter().map(ToString::to_string).collect(),
        format!(
            "the operation '{} {} {}' failed: {what}",
            function.argument(0),
            text::operator(operator),
            function.argument(1)
        ),
    )
}

/// The name Cassandra has the operator's function under.
fn operator_name(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "_add",
        Operator::Subtract => "_substract",
        Operator::Multiply => "_multiply",
        Operator::Divide => "_divide",
        Operator::Remainder => "_modulo",
    }
}

fn floats(operator: Operator, left: f64, right: f64) -> f64 {
    match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
        Operator::Remainder => left % right,
    }
}

fn integers(operator: Operator, left: i64, right: i64) -> Option<i64> {
    Some(match operator {
        Operator::Add => left.wrapping_add(right),
        Operator::Subtract => left.wrapping_sub(right),
        Operator::Multiply => left.wrapping_mul(right),
        Operator::Divide | Operator::Remainder if right == 0 => return None,
        Operator::Divide => left.wrapping_div(right),
        Operator::Remainder => left.wrapping_rem(right),
    })
}

fn bigs(operator: Operator, left: BigInt, right: BigInt) -> Option<BigInt> {
    Some(match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide | Operator::Remainder if right == BigInt::ZERO => return None,
        Operator::Divide => left / right,
        Operator::Remainder => left % right,
    })
}

fn decimals(operator: Operator, left: (BigInt, i32), right: (BigInt, i32)) -> Option<Number> {
    if let Operator::Multiply = operator {
        return Some(Number::Decimal(
            left.0 * right.0,
            left.1.saturating_add(right.1),
        ));
    }
    let (low, high) = (
        i64::from(left.1.min(right.1)),
        i64::from(left.1.max(right.1)),
    );
    if high - low > MAX_SCALE {
        return None;
    }
    let to = |value: &BigInt, from: i32, scale: i64| value * power(scale - i64::from(from));
    let (a, b) = (to(&left.0, left.1, high), to(&right.0, right.1, high));
    let scale = i32::try_from(high).ok()?;
    Some(match operator {
        Operator::Add => Number::Decimal(a + b, scale),
        Operator::Subtract => Number::Decimal(a - b, scale),
        _ if b == BigInt::ZERO => return None,
        Operator::Remainder => Number::Decimal(a % b, scale),
        _ => {
            let extra = QUOTIENT_SCALE.max(i64::from(left.1));
            let mut quotient = a * power(extra) / b;
            let mut scale = extra;
            // As Cassandra, no zeros at the end.
            let ten = BigInt::from(10u8);
            for _ in 0..MAX_ZEROS {
                if quotient == BigInt::ZERO || &quotient % &ten != BigInt::ZERO {
                    break;
                }
                quotient /= &ten;
                scale -= 1;
            }
            if quotient == BigInt::ZERO {
                scale = 0;
            }
            Number::Decimal(quotient, i32::try_from(scale).ok()?)
        }
    })
}

fn power(exponent: i64) -> BigInt {
    BigInt::from(10u8).pow(u32::try_from(exponent.clamp(0, 2 * MAX_SCALE)).unwrap_or(0))
}

fn negate(
    function: &Function,
    arguments: &[Option<Bytes>],
    _: &Environment<'_>,
) -> Result<Option<Bytes>, ErrorResponse> {
    Ok(
        Number::decode(&function.argument(0), given(arguments, 0)).map(|number| {
            let negated = match number {
                Number::Integer(integer) => Number::Integer(integer.wrapping_neg()),
                Number::Varint(big) => Number::Varint(-big),
                Number::Float(float) => Number::Float(-float),
                Number::Decimal(unscaled, scale) => Number::Decimal(-unscaled, scale),
            };
            negated.encode(&function.returns)
        }),
    )
}

fn concatenate(
    _: &Function,
    arguments: &[Option<Bytes>],
    _: &Environment<'_>,
) -> Result<Option<Bytes>, ErrorResponse> {
    Ok(Some(
        [given(arguments, 0), given(arguments, 1)].concat().into(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use helenus_core::ProtocolVersion;

    fn decimal(unscaled: i64, scale: i32) -> Bytes {
        Number::Decimal(unscaled.into(), scale).encode(&CqlType::Decimal)
    }

    fn typed(ty: &CqlType) -> Argument<'static> {
        Argument {
            text: "x".into(),
            ty: Some(ty.clone()),
            term: None,
        }
    }

    fn compute(
        operator: Operator,
        left: (&CqlType, Bytes),
        right: (&CqlType, Bytes),
    ) -> (CqlType, Bytes) {
        let function = arithmetic(operator, &[typed(left.0), typed(right.0)], None).unwrap();
        let context = Context {
            timestamp: 0,
            now_seconds: 0,
            now_millis: 0,
            random: [0; 16],
            version: ProtocolVersion::V5,
        };
        let value = function
            .call(&[Some(left.1), Some(right.1)], &Environment::new(&context))
            .unwrap()
            .unwrap();
        (function.returns, value)
    }

    #[test]
    fn decimals_keep_the_scales_cassandra_gives_them() {
        use CqlType::{Decimal, Int};
        let value = || (&Decimal, decimal(150, 2));
        let two = || (&Int, Bytes::copy_from_slice(&2i32.to_be_bytes()));
        assert_eq!(compute(Operator::Add, value(), two()).1, decimal(350, 2));
        assert_eq!(
            compute(Operator::Multiply, value(), two()).1,
            decimal(3000, 3)
        );
        let three = (&Int, Bytes::copy_from_slice(&3i32.to_be_bytes()));
        assert_eq!(compute(Operator::Divide, value(), three).1, decimal(5, 1));
        assert_eq!(
            compute(Operator::Remainder, value(), two()).1,
            decimal(150, 2)
        );
    }

    #[test]
    fn the_wider_type_wins() {
        use CqlType::{BigInt, Decimal, Double, Float, Int, SmallInt, TinyInt, Varint};
        for (left, right, expected) in [
            (TinyInt, SmallInt, SmallInt),
            (Int, BigInt, BigInt),
            (Int, Float, Float),
            (BigInt, Float, Double),
            (Float, Double, Double),
            (Int, Varint, Varint),
            (Float, Varint, Decimal),
            (Double, Decimal, Decimal),
        ] {
            assert_eq!(
                result_type(&left, &right),
                Some(expected.clone()),
                "{left} {right}"
            );
            assert_eq!(result_type(&right, &left), Some(expected), "{right} {left}");
        }
    }
}
