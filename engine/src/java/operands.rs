//! Compiling operands: literals, variables, calls, casts, `new`; and the names of types.

use super::compile::{Compiler, Typed, is_keyword};
use super::expression::{Constant, Expression};
use super::lexer::Kind;
use super::literals;
use super::methods::{self, Found, Method};
use super::operators::{self, Binary};
use super::types::{self, Collection, Primitive, Type};
use super::{Checked, fault};

impl<'s> Compiler<'s> {
    pub(super) fn unary(&mut self) -> Checked<Typed> {
        let at = self.at();
        let Kind::Sign(sign) = *self.kind() else {
            return self.postfix();
        };
        match sign {
            "-" | "+" | "!" | "~" => {}
            "++" | "--" => return self.prefix(sign),
            "(" => {
                if let Some(ty) = self.cast()? {
                    return self.cast_operand(&ty, at);
                }
                return self.postfix();
            }
            _ => return self.postfix(),
        }
        self.advance();
        if let ("-", Kind::Number(text)) = (sign, self.kind().clone()) {
            let (value, primitive) = literals::number(text, self.at(), true)?;
            self.advance();
            let constant = Constant::from(&operators::negated(&value));
            return Ok(Typed::of_constant(constant, primitive));
        }
        self.enter()?;
        let operand = self.unary()?;
        self.leave();
        let undefined = |ty: &Type| {
            fault(
                at,
                format!("The operator {sign} is undefined for the argument type(s) {ty}"),
            )
        };
        let height = operand.height;
        if sign == "!" {
            if operand.ty.unboxed() != Some(Primitive::Boolean) {
                return undefined(&operand.ty);
            }
            let operand = self.unboxed(operand);
            if let Some(Constant::Boolean(value)) = operand.constant() {
                return Ok(Typed::of_constant(
                    Constant::Boolean(!value),
                    Primitive::Boolean,
                ));
            }
            let not = Expression::Not(Box::new(operand.expression));
            return Ok(Typed::above(not, operand.ty, &[height]));
        }
        let primitive = match operand.ty.numeric() {
            Some(primitive) if sign != "~" || primitive.is_integral() => {
                primitive.promoted(Primitive::Int)
            }
            _ => return undefined(&operand.ty),
        };
        let operand = self.unboxed(operand);
        let operand = self.converted(operand, primitive);
        if let Some(constant) = operand.constant() {
            let value = constant.value();
            let value = match sign {
                "-" => operators::negated(&value),
                "~" => operators::complement(&value),
                _ => value,
            };
            return Ok(Typed::of_constant(Constant::from(&value), primitive));
        }
        let inner = Box::new(operand.expression);
        let expression = match sign {
            "-" => Expression::Negate(inner),
            "~" => Expression::Complement(inner),
            _ => *inner,
        };
        Ok(Typed::above(
            expression,
            Type::Primitive(primitive),
            &[height],
        ))
    }

    /// The variable one more or less, and its type.
    fn step(
        &mut self,
        place: usize,
        name: &str,
        sign: &str,
        at: usize,
    ) -> Checked<(Expression, Type)> {
        self.check_writable(place, name, at)?;
        self.check_readable(place, name, at)?;
        let ty = self.locals.ty(place);
        let Some(primitive) = ty.numeric() else {
            return fault(
                at,
                format!("Type mismatch: cannot convert from {ty} to int"),
            );
        };
        let own = Typed::new(Expression::Local(place), ty.clone());
        let one = Typed::of_constant(Constant::Int(1), Primitive::Int);
        let operator = if sign == "++" {
            Binary::Add
        } else {
            Binary::Subtract
        };
        let sum = self.binary(super::compile::Operator::Binary(operator), own, one, at)?;
        Ok((self.converted(sum, primitive).expression, ty))
    }

    fn prefix(&mut self, sign: &str) -> Checked<Typed> {
        self.advance();
        let at = self.at();
        let name = self.name()?;
        let Some(place) = self.locals.find(name) else {
            return fault(at, format!("{name} cannot be resolved to a variable"));
        };
        let (value, ty) = self.step(place, name, sign, at)?;
        Ok(Typed::above(
            Expression::Assign(place, Box::new(value)),
            ty,
            &[3],
        ))
    }

    /// An operand with what is called on it.
    fn postfix(&mut self) -> Checked<Typed> {
        let mut operand = self.primary()?;
        loop {
            let at = self.at();
            self.check_height(&operand, at)?;
            match *self.kind() {
                Kind::Sign(".") => {
                    self.advance();
                    let name = self.name()?;
                    if !matches!(self.kind(), Kind::Sign("(")) {
                        return fault(at, format!("the field {name} is not supported"));
                    }
                    operand = self.called(operand, name, at)?;
                }
                Kind::Sign("[") => return fault(at, "arrays are not supported"),
                Kind::Sign("::") => return fault(at, "method references are not supported"),
                Kind::Sign("->") => return fault(at, "lambda expressions are not supported"),
                Kind::Sign(sign @ ("++" | "--")) => {
                    let Expression::Local(place) = operand.expression else {
                        return fault(at, "Invalid argument to operation ++/--");
                    };
                    self.advance();
                    let (value, ty) = self.step(place, "", sign, at)?;
                    operand = Typed::above(Expression::Postfix(place, Box::new(value)), ty, &[3]);
                }
                _ => return Ok(operand),
            }
        }
    }

    fn primary(&mut self) -> Checked<Typed> {
        let at = self.at();
        match self.kind().clone() {
            Kind::Number(text) => {
                self.advance();
                let (value, primitive) = literals::number(text, at, false)?;
                Ok(Typed::of_constant(Constant::from(&value), primitive))
            }
            Kind::Character(unit) => {
                self.advance();
                Ok(Typed::of_constant(Constant::Char(unit), Primitive::Char))
            }
            Kind::Text(units) => {
                self.advance();
                let constant = Constant::String(units.into());
                Ok(Typed::new(Expression::Constant(constant), Type::String))
            }
            Kind::Sign("(") => {
                self.advance();
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Kind::Word(word) => self.word(word, at),
            Kind::Sign(sign) => fault(
                at,
                format!("Syntax error on token '{sign}', an expression expected"),
            ),
            Kind::End => fault(
                at,
                "Syntax error, the body ends where an expression is expected",
            ),
        }
    }

    fn word(&mut self, word: &'s str, at: usize) -> Checked<Typed> {
        let boolean = |value| {
            Ok(Typed::of_constant(
                Constant::Boolean(value),
                Primitive::Boolean,
            ))
        };
        if let Some(place) = self.locals.find(word) {
            self.advance();
            let is_increment = matches!(self.kind(), Kind::Sign("++" | "--"));
            self.check_readable(place, word, at)?;
            if is_increment {
                self.check_writable(place, word, at)?;
            }
            return Ok(Typed::new(Expression::Local(place), self.locals.ty(place)));
        }
        match word {
            "true" | "false" => {
                self.advance();
                return boolean(word == "true");
            }
            "null" => {
                self.advance();
                return Ok(Typed::new(Expression::Constant(Constant::Null), Type::Null));
            }
            "new" => {
                self.advance();
                return self.created();
            }
            "udfContext" => return self.context(),
            _ if is_keyword(word) => return fault(at, format!("'{word}' is not supported here")),
            _ => {}
        }
        let class_at = self.after_package();
        let Kind::Word(class) = *self.peek(class_at) else {
            return fault(at, format!("{word} cannot be resolved"));
        };
        if !matches!(self.peek(class_at + 1), Kind::Sign(".")) {
            return fault(at, format!("{word} cannot be resolved to a variable"));
        }
        self.next += class_at + 2;
        let name = self.name()?;
        if !matches!(self.kind(), Kind::Sign("(")) {
            let Some((constant, ty)) = methods::constant(class, name) else {
                return fault(at, format!("{class}.{name} is not supported"));
            };
            return Ok(Typed::new(Expression::Constant(constant), ty));
        }
        let arguments = self.arguments()?;
        let given: Vec<_> = arguments
            .iter()
            .map(|argument| argument.ty.clone())
            .collect();
        match methods::of_class(class, name, &given) {
            Some(found) => self.call(found, None, arguments, at),
            None => fault(
                at,
                format!(
                    "the method {class}.{name}({}) is not supported",
                    list(&given)
                ),
            ),
        }
    }

    /// `udfContext.newReturnUDTValue()` and its like.
    fn context(&mut self) -> Checked<Typed> {
        let at = self.at();
        self.advance();
        self.expect(".")?;
        let name = self.name()?;
        self.expect("(")?;
        self.expect(")")?;
        match (name, &self.returns) {
            ("newReturnUDTValue", Type::Udt) | ("newReturnTupleValue", Type::Tuple) => {
                Ok(Typed::new(
                    Expression::Call(Method::NewRecord, Vec::new()),
                    self.returns.clone(),
                ))
            }
            _ => fault(
                at,
                format!(
                    "udfContext.{name} is not supported for a function that returns {}",
                    self.returns
                ),
            ),
        }
    }

    fn arguments(&mut self) -> Checked<Vec<Typed>> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        if self.take(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expression()?);
            if !self.take(",") {
                self.expect(")")?;
                return Ok(arguments);
            }
        }
    }

    /// A method called on an operand.
    fn called(&mut self, receiver: Typed, name: &str, at: usize) -> Checked<Typed> {
        if receiver.ty.is_primitive() {
            return fault(
                at,
                format!("Cannot invoke {name} on the primitive type {}", receiver.ty),
            );
        }
        let arguments = self.arguments()?;
        let given: Vec<_> = arguments
            .iter()
            .map(|argument| argument.ty.clone())
            .collect();
        match methods::instance(&receiver.ty, name, &given) {
            Some(found) => self.call(found, Some(receiver), arguments, at),
            None => {
                let message = format!(
                    "the method {name}({}) of {} is not supported",
                    list(&given),
                    receiver.ty
                );
                fault(at, message)
            }
        }
    }

    fn call(
        &mut self,
        found: Found,
        receiver: Option<Typed>,
        arguments: Vec<Typed>,
        at: usize,
    ) -> Checked<Typed> {
        let mut heights = Vec::with_capacity(arguments.len() + 1);
        let mut parts = Vec::with_capacity(arguments.len() + 1);
        if let Some(receiver) = receiver {
            heights.push(receiver.height);
            parts.push(receiver.expression);
        }
        for (argument, parameter) in arguments.into_iter().zip(&found.parameters) {
            heights.push(argument.height);
            parts.push(self.passed(argument, parameter, at)?);
        }
        let call = Expression::Call(found.method, parts);
        Ok(Typed::above(call, found.returns, &heights))
    }

    /// `new ArrayList<Integer>()` and its like, from behind `new`.
    fn created(&mut self) -> Checked<Typed> {
        self.next += self.after_package();
        let at = self.at();
        let name = self.name()?;
        let Some(collection) = types::constructed(name) else {
            let hint = match name {
                "HashMap" | "HashSet" => format!(": its order is not defined; use Linked{name}"),
                _ => String::new(),
            };
            return fault(at, format!("new {name} is not supported{hint}"));
        };
        self.expect("<")?;
        if self.take(">") {
            // Cassandra's compiler doesn't see all the classes that inferring them takes.
            return fault(
                at,
                format!("new {name}<> without type arguments is not supported"),
            );
        }
        let ty = self.parameterised(collection)?;
        self.expect("(")?;
        if !self.take(")") {
            return fault(
                self.at(),
                format!("arguments of new {name} are not supported"),
            );
        }
        let method = match collection {
            Collection::Map => Method::NewMap,
            Collection::List | Collection::Set => Method::NewSequence,
        };
        Ok(Typed::new(Expression::Call(method, Vec::new()), ty))
    }

    /// How many tokens `java.util.` or `java.lang.` takes here.
    fn after_package(&self) -> usize {
        let is_package = matches!(
            (self.peek(0), self.peek(1), self.peek(2), self.peek(3)),
            (
                Kind::Word("java"),
                Kind::Sign("."),
                Kind::Word("util" | "lang"),
                Kind::Sign(".")
            )
        );
        if is_package { 4 } else { 0 }
    }

    /// Whether a declaration of local variables begins here.
    pub(super) fn declared_type_follows(&self) -> bool {
        let class = self.after_package();
        let Kind::Word(word) = *self.peek(class) else {
            return false;
        };
        let is_primitive = Primitive::ALL
            .iter()
            .any(|primitive| primitive.name() == word);
        if self.locals.find(word).is_some() || (is_keyword(word) && !is_primitive) {
            return false;
        }
        match self.peek(class + 1) {
            Kind::Word(next) => !is_keyword(next),
            Kind::Sign("<") => {
                types::collection(word).is_some() || types::constructed(word).is_some()
            }
            Kind::Sign("[") => true,
            _ => false,
        }
    }

    /// The type of a declaration, if one begins here.
    pub(super) fn declared_type(&mut self) -> Checked<Option<Type>> {
        match self.declared_type_follows() {
            true => self.type_name().map(Some),
            false => Ok(None),
        }
    }

    fn type_name(&mut self) -> Checked<Type> {
        self.next += self.after_package();
        let at = self.at();
        let Kind::Word(word) = *self.kind() else {
            return fault(at, "Syntax error, a type expected");
        };
        self.advance();
        if matches!(self.kind(), Kind::Sign("[")) {
            return fault(self.at(), "arrays are not supported");
        }
        if let Some(ty) = types::simple(word) {
            return Ok(ty);
        }
        let Some(collection) = types::collection(word) else {
            return fault(at, format!("variables of type {word} are not supported"));
        };
        match self.take("<") {
            true => self.parameterised(collection),
            false => fault(
                at,
                format!("{word} without type arguments is not supported"),
            ),
        }
    }

    /// Type arguments, from behind the `<`.
    fn parameterised(&mut self, collection: Collection) -> Checked<Type> {
        self.enter()?;
        let first = self.class()?;
        let ty = match collection {
            Collection::List => Type::List(Box::new(first)),
            Collection::Set => Type::Set(Box::new(first)),
            Collection::Map => {
                self.expect(",")?;
                Type::Map(Box::new((first, self.class()?)))
            }
        };
        self.leave();
        self.close_angle()?;
        Ok(ty)
    }

    fn class(&mut self) -> Checked<Type> {
        let at = self.at();
        match self.type_name()? {
            Type::Primitive(primitive) => fault(at, format!("{} is no class", primitive.name())),
            ty => Ok(ty),
        }
    }

    /// `>`, which may be the first half of `>>`.
    fn close_angle(&mut self) -> Checked<()> {
        let rest = match self.kind() {
            Kind::Sign(">>") => ">",
            Kind::Sign(">>>") => ">>",
            _ => return self.expect(">"),
        };
        if let Some(token) = self.tokens.get_mut(self.next) {
            token.kind = Kind::Sign(rest);
            token.at += 1;
        }
        Ok(())
    }

    /// The type of a cast, if one begins at this parenthesis.
    fn cast(&mut self) -> Checked<Option<Type>> {
        let start = self.next;
        let Kind::Word(word) = *self.peek(1) else {
            return Ok(None);
        };
        let simple = types::simple(word);
        let is_type = simple.is_some() || types::collection(word).is_some() || word == "java";
        if !is_type || self.locals.find(word).is_some() {
            return Ok(None);
        }
        if simple.is_some() && !matches!(self.peek(2), Kind::Sign(")")) {
            return Ok(None);
        }
        if simple.is_none() && !matches!(self.peek(2), Kind::Sign("<" | ".")) {
            return Ok(None);
        }
        self.advance();
        let ty = self.type_name()?;
        let begins_operand = match self.peek(1) {
            Kind::Word(word) => *word != "instanceof",
            Kind::Number(_) | Kind::Text(_) | Kind::Character(_) => true,
            Kind::Sign(sign) => {
                matches!(*sign, "(" | "!" | "~")
                    || (ty.is_primitive() && matches!(*sign, "+" | "-" | "++" | "--"))
            }
            Kind::End => false,
        };
        if !matches!(self.kind(), Kind::Sign(")")) || !begins_operand {
            self.next = start;
            return Ok(None);
        }
        self.advance();
        Ok(Some(ty))
    }

    fn cast_operand(&mut self, ty: &Type, at: usize) -> Checked<Typed> {
        self.enter()?;
        let operand = self.unary()?;
        self.leave();
        let height = operand.height;
        let wrong = |from: &Type| fault(at, format!("Cannot cast from {from} to {ty}"));
        let result = match (ty, operand.ty.clone()) {
            (Type::Primitive(to), Type::Primitive(from))
                if to.is_numeric() == from.is_numeric() =>
            {
                self.converted(operand, *to)
            }
            (Type::Primitive(to), Type::Boxed(from)) if from.widens_to(*to) => {
                let operand = self.unboxed(operand);
                self.converted(operand, *to)
            }
            (Type::Boxed(to), Type::Primitive(from)) if *to == from => Typed {
                ty: ty.clone(),
                ..operand
            },
            (Type::Primitive(_), from) => return wrong(&from),
            (_, from) if from == *ty || from == Type::Null => Typed {
                ty: ty.clone(),
                ..operand
            },
            (_, from) => return wrong(&from),
        };
        // A cast's result is no statement and no variable.
        let is_plain = matches!(
            result.expression,
            Expression::Local(_)
                | Expression::Assign(..)
                | Expression::Postfix(..)
                | Expression::Call(..)
        );
        let expression = match (is_plain, &result.ty) {
            (true, Type::Primitive(primitive)) => {
                Expression::Convert(*primitive, Box::new(result.expression))
            }
            _ => result.expression,
        };
        Ok(Typed::above(expression, result.ty, &[height]))
    }
}

fn list(types: &[Type]) -> String {
    types
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}
