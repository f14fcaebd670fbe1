//! Running a program.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use bytes::Bytes;
use helenus_core::types::CqlType;

use super::expression::{Expression, Loop, Statement};
use super::methods::Method;
use super::operators::{self, ByZero};
use super::value::{Record, Shape, Value};
use super::{Program, Signature, convert, library};

/// How many steps programs may take together. A step is an expression or statement, or some bytes allocated.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: usize,
    left: Cell<usize>,
}

/// Steps for all calls on one row: done in some tens of milliseconds, where that holds nobody up.
const ROW_STEPS: usize = 1 << 20;
/// Steps for the values of a statement, which are computed where the request arrived.
const VALUES_STEPS: usize = 1 << 17;

impl Budget {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            left: Cell::new(limit),
        }
    }

    /// For the expressions of a `SELECT` on one row.
    pub(crate) fn for_row() -> Self {
        Self::new(ROW_STEPS)
    }

    /// For the values of one statement.
    pub(crate) fn for_values() -> Self {
        Self::new(VALUES_STEPS)
    }

    fn spend(&self, steps: usize) -> Result<(), Stop> {
        match self.left.get().checked_sub(steps) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(Stop::Exhausted { limit: self.limit }),
        }
    }

    /// How many steps have been taken.
    pub(crate) fn spent(&self) -> usize {
        self.limit - self.left.get()
    }

    /// Whether so many steps are more than the values of statements may take.
    pub(crate) fn is_too_much(steps: usize) -> bool {
        steps > VALUES_STEPS
    }
}

/// Why a program gave no value. Displays as Apache Cassandra tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// An exception that was thrown.
    Thrown {
        /// The class's full name.
        class: &'static str,
        /// What it says.
        message: Option<String>,
    },
    /// The budget is used up.
    Exhausted {
        /// What it was.
        limit: usize,
    },
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thrown {
                class,
                message: None,
            } => f.write_str(class),
            Self::Thrown {
                class,
                message: Some(message),
            } => write!(f, "{class}: {message}"),
            Self::Exhausted { limit } => {
                write!(f, "it took more than {limit} steps and was stopped")
            }
        }
    }
}

pub(super) fn thrown(class: &'static str, message: Option<String>) -> Stop {
    Stop::Thrown { class, message }
}

/// How a statement ended.
enum Flow {
    On,
    Break,
    Continue,
    Return(Value),
}

impl Program {
    /// The result for these arguments, in serialized form.
    pub(crate) fn call(
        &self,
        signature: Signature<'_>,
        arguments: &[Option<Bytes>],
        budget: &Budget,
    ) -> Result<Option<Bytes>, Stop> {
        let mut locals = vec![Value::Null; self.locals];
        let given = signature.arguments.iter().zip(arguments);
        for (place, (ty, argument)) in locals.iter_mut().zip(given) {
            budget.spend(argument.as_ref().map_or(0, Bytes::len) / 8)?;
            *place = convert::read(ty, argument.as_ref());
        }
        let mut machine = Machine {
            locals,
            budget,
            returns: signature.returns,
        };
        match machine.block(&self.body)? {
            Flow::Return(value) => {
                machine.charge(&value)?;
                convert::write(signature.returns, &value)
            }
            // The compiler has seen to it that every way ends in `return` or `throw`.
            Flow::On | Flow::Break | Flow::Continue => Ok(None),
        }
    }
}

/// A call under way.
pub(super) struct Machine<'p> {
    locals: Vec<Value>,
    budget: &'p Budget,
    returns: &'p CqlType,
}

impl Machine<'_> {
    pub(super) fn spend(&self, steps: usize) -> Result<(), Stop> {
        self.budget.spend(steps)
    }

    /// A new string, which costs what it takes.
    pub(super) fn string(&self, units: Vec<u16>) -> Result<Value, Stop> {
        self.spend(units.len() / 4)?;
        Ok(Value::String(units.into()))
    }

    /// A record of the type that the function returns, without values.
    pub(super) fn new_record(&self) -> Result<Value, Stop> {
        let shape = match self.returns.strip_frozen() {
            CqlType::Udt(ty) => Shape::Udt(ty.clone()),
            CqlType::Tuple(types) => Shape::Tuple(types.clone()),
            _ => return Ok(Value::Null),
        };
        self.spend(shape.len())?;
        let fields = RefCell::new(vec![None; shape.len()]);
        Ok(Value::Record(Rc::new(Record { shape, fields })))
    }

    fn set(&mut self, place: usize, value: Value) {
        if let Some(local) = self.locals.get_mut(place) {
            *local = value;
        }
    }

    fn block(&mut self, statements: &[Statement]) -> Result<Flow, Stop> {
        for statement in statements {
            match self.statement(statement)? {
                Flow::On => {}
                ended => return Ok(ended),
            }
        }
        Ok(Flow::On)
    }

    fn statement(&mut self, statement: &Statement) -> Result<Flow, Stop> {
        self.spend(1)?;
        match statement {
            Statement::Do(expression) => {
                self.value(expression)?;
                Ok(Flow::On)
            }
            Statement::Block(statements) => self.block(statements),
            Statement::If(condition, then, otherwise) => match self.holds(condition)? {
                true => self.statement(then),
                false => match otherwise {
                    Some(otherwise) => self.statement(otherwise),
                    None => Ok(Flow::On),
                },
            },
            Statement::Loop(of) => self.looped(of),
            Statement::Each(place, collection, body) => self.each(*place, collection, body),
            Statement::Break => Ok(Flow::Break),
            Statement::Continue => Ok(Flow::Continue),
            Statement::Return(value) => self.value(value).map(Flow::Return),
            Statement::Throw(class, message) => {
                let message = match message {
                    Some(message) => match self.value(message)? {
                        Value::String(units) => Some(String::from_utf16_lossy(&units)),
                        _ => None,
                    },
                    None => None,
                };
                Err(thrown(class, message))
            }
        }
    }

    fn looped(&mut self, of: &Loop) -> Result<Flow, Stop> {
        let mut is_first = true;
        loop {
            let is_due = !(of.body_first && is_first);
            if let (true, Some(condition)) = (is_due, &of.condition)
                && !self.holds(condition)?
            {
                return Ok(Flow::On);
            }
            is_first = false;
            match self.statement(&of.body)? {
                Flow::On | Flow::Continue => {}
                Flow::Break => return Ok(Flow::On),
                ended => return Ok(ended),
            }
            for update in &of.update {
                self.value(update)?;
            }
        }
    }

    fn each(
        &mut self,
        place: usize,
        collection: &Expression,
        body: &Statement,
    ) -> Result<Flow, Stop> {
        let items = match self.value(collection)? {
            Value::Sequence(items) => items,
            _ => return Err(thrown("java.lang.NullPointerException", None)),
        };
        let len = items.borrow().len();
        let mut at = 0;
        // As Java's iterators do it: at its end a collection is done with, else it must be as it was.
        while at != items.borrow().len() {
            if items.borrow().len() != len {
                return Err(thrown("java.util.ConcurrentModificationException", None));
            }
            let item = items.borrow().get(at).cloned().unwrap_or(Value::Null);
            self.set(place, item);
            at += 1;
            match self.statement(body)? {
                Flow::On | Flow::Continue => {}
                Flow::Break => return Ok(Flow::On),
                ended => return Ok(ended),
            }
        }
        Ok(Flow::On)
    }

    fn holds(&mut self, condition: &Expression) -> Result<bool, Stop> {
        Ok(matches!(self.value(condition)?, Value::Boolean(true)))
    }

    fn pair(&mut self, pair: &(Expression, Expression)) -> Result<(Value, Value), Stop> {
        let first = self.value(&pair.0)?;
        Ok((first, self.value(&pair.1)?))
    }

    fn value(&mut self, expression: &Expression) -> Result<Value, Stop> {
        self.spend(1)?;
        Ok(match expression {
            Expression::Constant(constant) => {
                if let super::expression::Constant::String(units) = constant {
                    self.spend(units.len() / 4)?;
                }
                constant.value()
            }
            Expression::Local(place) => self.locals.get(*place).cloned().unwrap_or(Value::Null),
            Expression::Assign(place, value) => {
                let value = self.value(value)?;
                self.set(*place, value.clone());
                value
            }
            Expression::Postfix(place, value) => {
                let old = self.locals.get(*place).cloned().unwrap_or(Value::Null);
                let value = self.value(value)?;
                self.set(*place, value);
                old
            }
            Expression::Convert(to, inner) => self.value(inner)?.converted(*to),
            Expression::Unbox(inner) => match self.value(inner)? {
                Value::Null => return Err(thrown("java.lang.NullPointerException", None)),
                value => value,
            },
            Expression::Negate(inner) => operators::negated(&self.value(inner)?),
            Expression::Complement(inner) => operators::complement(&self.value(inner)?),
            Expression::Not(inner) => Value::Boolean(!self.holds(inner)?),
            Expression::Binary(operator, operands) => {
                let (a, b) = self.pair(operands)?;
                operators::binary(*operator, &a, &b).map_err(|ByZero| {
                    thrown(
                        "java.lang.ArithmeticException",
                        Some("/ by zero".to_owned()),
                    )
                })?
            }
            Expression::Shift(operator, operands) => {
                let (a, b) = self.pair(operands)?;
                operators::shift(*operator, &a, &b)
            }
            Expression::Compare(comparison, operands) => {
                let (a, b) = self.pair(operands)?;
                Value::Boolean(operators::compare(*comparison, &a, &b))
            }
            Expression::IsNull(inner) => Value::Boolean(self.value(inner)?.is_null()),
            Expression::Both(parts) => {
                Value::Boolean(self.holds(&parts.0)? && self.holds(&parts.1)?)
            }
            Expression::Either(parts) => {
                Value::Boolean(self.holds(&parts.0)? || self.holds(&parts.1)?)
            }
            Expression::Choice(parts) => match self.holds(&parts.0)? {
                true => self.value(&parts.1)?,
                false => self.value(&parts.2)?,
            },
            Expression::Concat(parts) => {
                let (a, b) = self.pair(parts)?;
                let mut units = self.text(&a)?;
                units.extend(self.text(&b)?);
                self.string(units)?
            }
            Expression::Call(method, arguments) => self.call(*method, arguments)?,
        })
    }

    /// A value's text, paid for before it is made.
    fn text(&self, value: &Value) -> Result<Vec<u16>, Stop> {
        self.charge(value)?;
        Ok(value.text())
    }

    /// Pays for walking all of a value: what it holds many times over costs as often.
    pub(super) fn charge(&self, value: &Value) -> Result<(), Stop> {
        self.spend(1)?;
        match value {
            Value::String(units) => self.spend(units.len() / 4),
            Value::Opaque(bytes) => self.spend(bytes.len() / 8),
            Value::Sequence(items) => items.borrow().iter().try_for_each(|item| self.charge(item)),
            Value::Map(entries) => entries.borrow().iter().try_for_each(|(key, value)| {
                self.charge(key)?;
                self.charge(value)
            }),
            Value::Record(record) => {
                let fields = record.fields.borrow();
                let len: usize = fields.iter().flatten().map(|field| field.len()).sum();
                self.spend(fields.len() + len / 8)
            }
            _ => Ok(()),
        }
    }

    fn call(&mut self, method: Method, arguments: &[Expression]) -> Result<Value, Stop> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.value(argument)?);
        }
        // What makes a text or bytes of its argument walks all of it.
        if matches!(method, Method::ValueOfText | Method::Set(_)) {
            values.iter().try_for_each(|value| self.charge(value))?;
        }
        library::call(self, method, &values)
    }
}
