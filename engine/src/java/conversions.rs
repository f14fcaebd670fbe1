//! Conversions between types (Java Language Specification, chapter 5), and operators on operands of any types.

use super::compile::{Compiler, Operator, Typed};
use super::expression::{Constant, Expression};
use super::operators::{self, Binary, Comparison, Shift};
use super::types::{Primitive, Type};
use super::{Checked, fault};

impl Compiler<'_> {
    /// What a box holds; anything else as it is.
    pub(super) fn unboxed(&mut self, operand: Typed) -> Typed {
        match operand.ty {
            Type::Boxed(primitive) => Typed::above(
                Expression::Unbox(Box::new(operand.expression)),
                Type::Primitive(primitive),
                &[operand.height],
            ),
            _ => operand,
        }
    }

    /// A primitive as one of another type.
    pub(super) fn converted(&mut self, operand: Typed, to: Primitive) -> Typed {
        if operand.ty == Type::Primitive(to) {
            return operand;
        }
        if let Some(constant) = operand.constant() {
            return Typed::of_constant(Constant::from(&constant.value().converted(to)), to);
        }
        let height = operand.height;
        Typed::above(
            Expression::Convert(to, Box::new(operand.expression)),
            Type::Primitive(to),
            &[height],
        )
    }

    /// A value assigned to a variable of that type, or returned: also constants that fit a narrower type.
    pub(super) fn assigned(&mut self, value: Typed, to: &Type, at: usize) -> Checked<Expression> {
        let narrowed = match (to, value.constant()) {
            (Type::Primitive(narrow) | Type::Boxed(narrow), Some(constant))
                if value.ty.is_primitive() && operators::fits(&constant.value(), *narrow) =>
            {
                Some(*narrow)
            }
            _ => None,
        };
        match narrowed {
            Some(narrow) => Ok(self.converted(value, narrow).expression),
            None => self.passed(value, to, at),
        }
    }

    /// A value passed to a parameter of that type.
    pub(super) fn passed(&mut self, value: Typed, to: &Type, at: usize) -> Checked<Expression> {
        let from = value.ty.clone();
        match (&from, to) {
            (from, to) if from == to => Ok(value.expression),
            (Type::Null, to) if !to.is_primitive() => Ok(value.expression),
            (Type::Primitive(from), Type::Primitive(to)) if from.widens_to(*to) => {
                Ok(self.converted(value, *to).expression)
            }
            (Type::Boxed(from), Type::Primitive(to)) if from.widens_to(*to) => {
                let value = self.unboxed(value);
                Ok(self.converted(value, *to).expression)
            }
            (Type::Primitive(from), Type::Boxed(to)) if from == to => Ok(value.expression),
            _ => fault(
                at,
                format!("Type mismatch: cannot convert from {from} to {to}"),
            ),
        }
    }

    /// Both branches of a `?:` as values of one type (JLS 15.25).
    pub(super) fn unified(
        &mut self,
        first: Typed,
        second: Typed,
        at: usize,
    ) -> Checked<(Expression, Expression, Type)> {
        let boxed_beside_null = |ty: &Type| ty.clone().into_class();
        let ty = match (&first.ty, &second.ty) {
            (a, b) if a == b => a.clone(),
            (Type::Null, other) | (other, Type::Null) => boxed_beside_null(other),
            (a, b) => match (a.unboxed(), b.unboxed()) {
                (Some(own), Some(other)) if own == other => Type::Primitive(own),
                (Some(own), Some(other)) if own.is_numeric() && other.is_numeric() => {
                    Type::Primitive(narrowest(&first, own, &second, other))
                }
                _ => {
                    return fault(
                        at,
                        format!(
                            "values of {a} and {b} as alternatives of one expression are not supported"
                        ),
                    );
                }
            },
        };
        let first = self.assigned(first, &ty, at)?;
        let second = self.assigned(second, &ty, at)?;
        Ok((first, second, ty))
    }

    /// An operator on two operands.
    pub(super) fn binary(
        &mut self,
        operator: Operator,
        left: Typed,
        right: Typed,
        at: usize,
    ) -> Checked<Typed> {
        let heights = [left.height, right.height];
        let undefined = |left: &Type, right: &Type| {
            let sign = sign(operator);
            fault(
                at,
                format!(
                    "The operator {sign} is undefined for the argument type(s) {left}, {right}"
                ),
            )
        };
        let numbers = left.ty.numeric().zip(right.ty.numeric());
        let are_booleans = left.ty.unboxed() == Some(Primitive::Boolean)
            && right.ty.unboxed() == Some(Primitive::Boolean);
        let (ty, gives) = match operator {
            Operator::Binary(Binary::Add)
                if left.ty == Type::String || right.ty == Type::String =>
            {
                return self.concatenated(left, right, at);
            }
            Operator::Both | Operator::Either if are_booleans => {
                (Primitive::Boolean, Primitive::Boolean)
            }
            Operator::Binary(Binary::And | Binary::Or | Binary::Xor) if are_booleans => {
                (Primitive::Boolean, Primitive::Boolean)
            }
            Operator::Binary(Binary::And | Binary::Or | Binary::Xor) => match numbers {
                Some((a, b)) if a.is_integral() && b.is_integral() => {
                    (a.promoted(b), a.promoted(b))
                }
                _ => return undefined(&left.ty, &right.ty),
            },
            Operator::Binary(_) => match numbers {
                Some((a, b)) => (a.promoted(b), a.promoted(b)),
                None => return undefined(&left.ty, &right.ty),
            },
            Operator::Shift(shift) => return self.shifted(shift, left, right, at),
            Operator::Compare(comparison @ (Comparison::Equal | Comparison::NotEqual)) => {
                let is_any_primitive = left.ty.is_primitive() || right.ty.is_primitive();
                match numbers {
                    Some((a, b)) if is_any_primitive => (a.promoted(b), Primitive::Boolean),
                    _ if are_booleans && is_any_primitive => {
                        (Primitive::Boolean, Primitive::Boolean)
                    }
                    _ => return self.same(comparison, left, right, at),
                }
            }
            Operator::Compare(_) => match numbers {
                Some((a, b)) => (a.promoted(b), Primitive::Boolean),
                None => return undefined(&left.ty, &right.ty),
            },
            Operator::Both | Operator::Either => return undefined(&left.ty, &right.ty),
        };
        let (left, right) = (self.unboxed(left), self.unboxed(right));
        let (left, right) = (self.converted(left, ty), self.converted(right, ty));
        if let (Some(a), Some(b)) = (left.constant(), right.constant())
            && let Some(constant) = folded(operator, a, b)
        {
            return Ok(Typed::of_constant(constant, gives));
        }
        let pair = Box::new((left.expression, right.expression));
        let expression = match operator {
            Operator::Both => Expression::Both(pair),
            Operator::Either => Expression::Either(pair),
            Operator::Compare(comparison) => Expression::Compare(comparison, pair),
            Operator::Binary(binary) => Expression::Binary(binary, pair),
            Operator::Shift(shift) => Expression::Shift(shift, pair),
        };
        Ok(Typed::above(expression, Type::Primitive(gives), &heights))
    }

    fn shifted(&mut self, shift: Shift, left: Typed, right: Typed, at: usize) -> Checked<Typed> {
        let heights = [left.height, right.height];
        let integral = |ty: &Type| ty.numeric().filter(|primitive| primitive.is_integral());
        let (Some(own), Some(distance)) = (integral(&left.ty), integral(&right.ty)) else {
            let sign = sign(Operator::Shift(shift));
            let message = format!(
                "The operator {sign} is undefined for the argument type(s) {}, {}",
                left.ty, right.ty
            );
            return fault(at, message);
        };
        let (own, distance) = (
            own.promoted(Primitive::Int),
            distance.promoted(Primitive::Int),
        );
        let (left, right) = (self.unboxed(left), self.unboxed(right));
        let (left, right) = (self.converted(left, own), self.converted(right, distance));
        if let (Some(a), Some(b)) = (left.constant(), right.constant()) {
            let value = operators::shift(shift, &a.value(), &b.value());
            return Ok(Typed::of_constant(Constant::from(&value), own));
        }
        let pair = Box::new((left.expression, right.expression));
        Ok(Typed::above(
            Expression::Shift(shift, pair),
            Type::Primitive(own),
            &heights,
        ))
    }

    /// `==` and `!=` on references: with null only, as identity is no matter of values.
    fn same(
        &mut self,
        comparison: Comparison,
        left: Typed,
        right: Typed,
        at: usize,
    ) -> Checked<Typed> {
        let (operand, other) = match (&left.ty, &right.ty) {
            (Type::Null, _) => (right, left.ty),
            (_, Type::Null) => (left, right.ty),
            (a, b) => {
                return fault(
                    at,
                    format!("comparing {a} and {b} by identity is not supported: use equals()"),
                );
            }
        };
        if operand.ty.is_primitive() {
            let sign = sign(Operator::Compare(comparison));
            let message = format!(
                "The operator {sign} is undefined for the argument type(s) {}, {other}",
                operand.ty
            );
            return fault(at, message);
        }
        let boolean = Type::Primitive(Primitive::Boolean);
        let height = operand.height;
        let is_null = Expression::IsNull(Box::new(operand.expression));
        let expression = match comparison {
            Comparison::Equal => is_null,
            _ => Expression::Not(Box::new(is_null)),
        };
        Ok(Typed::above(expression, boolean, &[height, 1]))
    }

    fn concatenated(&mut self, left: Typed, right: Typed, at: usize) -> Checked<Typed> {
        for operand in [&left, &right] {
            if !has_text(&operand.ty) {
                return fault(at, format!("the text of {} is not supported", operand.ty));
            }
        }
        let heights = [left.height, right.height];
        let pair = Box::new((left.expression, right.expression));
        Ok(Typed::above(
            Expression::Concat(pair),
            Type::String,
            &heights,
        ))
    }
}

/// Whether `toString()` of values of this type is known here.
fn has_text(ty: &Type) -> bool {
    match ty {
        Type::List(element) | Type::Set(element) | Type::View(element) => has_text(element),
        Type::Map(types) => has_text(&types.0) && has_text(&types.1),
        Type::Udt | Type::Tuple | Type::Opaque(_) => false,
        _ => true,
    }
}

/// The type of two numbers as alternatives: a narrow one beside a constant that fits it, or their promoted type.
fn narrowest(first: &Typed, own: Primitive, second: &Typed, other: Primitive) -> Primitive {
    use Primitive::{Byte, Char, Int, Short};
    let fits = |narrow: Primitive, value: &Typed, of: Primitive| {
        matches!(narrow, Byte | Short | Char)
            && of == Int
            && value
                .constant()
                .is_some_and(|constant| operators::fits(&constant.value(), narrow))
    };
    match (own, other) {
        (Byte, Short) | (Short, Byte) => Short,
        _ if fits(own, second, other) => own,
        _ if fits(other, first, own) => other,
        _ => own.promoted(other),
    }
}

fn folded(operator: Operator, a: &Constant, b: &Constant) -> Option<Constant> {
    let (a, b) = (a.value(), b.value());
    Some(match (operator, a, b) {
        (Operator::Both, super::value::Value::Boolean(a), super::value::Value::Boolean(b)) => {
            Constant::Boolean(a && b)
        }
        (Operator::Either, super::value::Value::Boolean(a), super::value::Value::Boolean(b)) => {
            Constant::Boolean(a || b)
        }
        (Operator::Compare(comparison), a, b) => {
            Constant::Boolean(operators::compare(comparison, &a, &b))
        }
        // A division by zero is left to be thrown.
        (Operator::Binary(binary), a, b) => {
            Constant::from(&operators::binary(binary, &a, &b).ok()?)
        }
        _ => return None,
    })
}

fn sign(operator: Operator) -> &'static str {
    match operator {
        Operator::Both => "&&",
        Operator::Either => "||",
        Operator::Compare(Comparison::Equal) => "==",
        Operator::Compare(Comparison::NotEqual) => "!=",
        Operator::Compare(Comparison::Less) => "<",
        Operator::Compare(Comparison::LessOrEqual) => "<=",
        Operator::Compare(Comparison::Greater) => ">",
        Operator::Compare(Comparison::GreaterOrEqual) => ">=",
        Operator::Shift(Shift::Left) => "<<",
        Operator::Shift(Shift::Right) => ">>",
        Operator::Shift(Shift::Unsigned) => ">>>",
        Operator::Binary(Binary::Add) => "+",
        Operator::Binary(Binary::Subtract) => "-",
        Operator::Binary(Binary::Multiply) => "*",
        Operator::Binary(Binary::Divide) => "/",
        Operator::Binary(Binary::Remainder) => "%",
        Operator::Binary(Binary::And) => "&",
        Operator::Binary(Binary::Or) => "|",
        Operator::Binary(Binary::Xor) => "^",
    }
}
