//! The compiler: reads tokens, knows every type, and gives the tree that runs. Expressions (Java Language Specification,
//! chapter 15) up to operators; [`operands`](super::operands) has the rest.

use std::sync::Arc;

use helenus_core::types::CqlType;

use super::expression::{Constant, Expression};
use super::flow::Locals;
use super::lexer::{Kind, Token, tokenize};
use super::operators::{Binary, Comparison, Shift};
use super::types::{Primitive, Type, of_cql};
use super::{Checked, CompileError, Fault, MAX_DEPTH, Program, fault};

/// How high the tree of one expression may be: it is walked by recursion.
const MAX_HEIGHT: u16 = 200;

/// Compiles a body. Parameters of a function that isn't called on null are primitive where they can be.
pub(crate) fn compile(
    body: &str,
    parameters: &[(Arc<str>, CqlType)],
    returns: &CqlType,
    called_on_null: bool,
) -> Result<Program, CompileError> {
    compile_body(body, parameters, returns, called_on_null).map_err(|Fault { at, message }| {
        let before = body.get(..at).unwrap_or(body);
        let last = before.rsplit('\n').next().unwrap_or_default();
        CompileError {
            line: before.matches('\n').count() + 1,
            column: last.chars().count() + 1,
            message,
        }
    })
}

fn compile_body(
    body: &str,
    parameters: &[(Arc<str>, CqlType)],
    returns: &CqlType,
    called_on_null: bool,
) -> Checked<Program> {
    let mut compiler = Compiler {
        tokens: tokenize(body)?,
        next: 0,
        depth: 0,
        locals: Locals::default(),
        returns: of_cql(returns),
        reachable: true,
        has_loops: false,
    };
    for (name, ty) in parameters {
        let ty = match (of_cql(ty), called_on_null) {
            (Type::Boxed(primitive), false) => Type::Primitive(primitive),
            (ty, _) => ty,
        };
        if !is_identifier(name) {
            return fault(0, format!("the argument {name} is no identifier of Java"));
        }
        if compiler.locals.declare(name, ty, false, true).is_none() {
            return fault(0, format!("Duplicate parameter {name}"));
        }
    }
    let statements = compiler.block()?;
    if !matches!(compiler.kind(), Kind::End) {
        return fault(
            compiler.at(),
            "Syntax error, there is no block that ends here",
        );
    }
    if compiler.reachable {
        let message = format!(
            "This method must return a result of type {}",
            compiler.returns
        );
        return fault(body.len(), message);
    }
    Ok(Program {
        body: statements,
        locals: compiler.locals.most(),
        has_loops: compiler.has_loops,
        size: compiler.tokens.len(),
    })
}

const KEYWORDS: [&str; 53] = [
    "abstract",
    "assert",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extends",
    "false",
    "final",
    "finally",
    "float",
    "for",
    "goto",
    "if",
    "implements",
    "import",
    "instanceof",
    "int",
    "interface",
    "long",
    "native",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "short",
    "static",
    "strictfp",
    "super",
    "switch",
    "synchronized",
    "this",
    "throw",
    "throws",
    "transient",
    "true",
    "try",
    "void",
    "volatile",
    "while",
];

pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

fn is_identifier(name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    !name.is_empty()
        && name != "_"
        && !name.starts_with(|c: char| c.is_numeric())
        && name.chars().all(is_part)
        && !is_keyword(name)
}

/// The state of compiling one body.
pub(super) struct Compiler<'s> {
    pub(super) tokens: Vec<Token<'s>>,
    pub(super) next: usize,
    depth: u16,
    pub(super) locals: Locals,
    pub(super) returns: Type,
    /// Whether the next statement can be reached.
    pub(super) reachable: bool,
    pub(super) has_loops: bool,
}

/// An expression with its type.
#[derive(Debug)]
pub(super) struct Typed {
    pub(super) expression: Expression,
    pub(super) ty: Type,
    pub(super) height: u16,
}

impl Typed {
    pub(super) fn new(expression: Expression, ty: Type) -> Self {
        Self {
            expression,
            ty,
            height: 1,
        }
    }

    pub(super) fn of_constant(constant: Constant, primitive: Primitive) -> Self {
        Self::new(Expression::Constant(constant), Type::Primitive(primitive))
    }

    /// Its value if that is constant and no null.
    pub(super) fn constant(&self) -> Option<&Constant> {
        match &self.expression {
            Expression::Constant(Constant::Null) => None,
            Expression::Constant(constant) => Some(constant),
            _ => None,
        }
    }

    /// An expression one higher than its parts.
    pub(super) fn above(expression: Expression, ty: Type, parts: &[u16]) -> Self {
        Self {
            expression,
            ty,
            height: parts.iter().max().copied().unwrap_or(0) + 1,
        }
    }
}

/// An operator between operands.
#[derive(Clone, Copy)]
pub(super) enum Operator {
    Either,
    Both,
    Compare(Comparison),
    Shift(Shift),
    Binary(Binary),
}

/// An operator and how strongly it binds.
fn operator(sign: &str) -> Option<(Operator, u8)> {
    Some(match sign {
        "||" => (Operator::Either, 1),
        "&&" => (Operator::Both, 2),
        "|" => (Operator::Binary(Binary::Or), 3),
        "^" => (Operator::Binary(Binary::Xor), 4),
        "&" => (Operator::Binary(Binary::And), 5),
        "==" => (Operator::Compare(Comparison::Equal), 6),
        "!=" => (Operator::Compare(Comparison::NotEqual), 6),
        "<" => (Operator::Compare(Comparison::Less), 7),
        "<=" => (Operator::Compare(Comparison::LessOrEqual), 7),
        ">" => (Operator::Compare(Comparison::Greater), 7),
        ">=" => (Operator::Compare(Comparison::GreaterOrEqual), 7),
        "<<" => (Operator::Shift(Shift::Left), 8),
        ">>" => (Operator::Shift(Shift::Right), 8),
        ">>>" => (Operator::Shift(Shift::Unsigned), 8),
        "+" => (Operator::Binary(Binary::Add), 9),
        "-" => (Operator::Binary(Binary::Subtract), 9),
        "*" => (Operator::Binary(Binary::Multiply), 10),
        "/" => (Operator::Binary(Binary::Divide), 10),
        "%" => (Operator::Binary(Binary::Remainder), 10),
        _ => return None,
    })
}

impl<'s> Compiler<'s> {
    pub(super) fn peek(&self, ahead: usize) -> &Kind<'s> {
        self.tokens
            .get(self.next + ahead)
            .map_or(&Kind::End, |token| &token.kind)
    }

    pub(super) fn kind(&self) -> &Kind<'s> {
        self.peek(0)
    }

    /// Where the next token begins.
    pub(super) fn at(&self) -> usize {
        self.tokens
            .get(self.next)
            .or(self.tokens.last())
            .map_or(0, |token| token.at)
    }

    pub(super) fn advance(&mut self) {
        self.next += 1;
    }

    /// Takes a sign if it stands here.
    pub(super) fn take(&mut self, sign: &str) -> bool {
        let is_here = matches!(self.kind(), Kind::Sign(here) if *here == sign);
        self.next += usize::from(is_here);
        is_here
    }

    /// Takes a word if it stands here.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let is_here = matches!(self.kind(), Kind::Word(here) if *here == word);
        self.next += usize::from(is_here);
        is_here
    }

    pub(super) fn expect(&mut self, sign: &str) -> Checked<()> {
        match self.take(sign) {
            true => Ok(()),
            false => fault(self.at(), format!("Syntax error, '{sign}' expected")),
        }
    }

    /// An identifier.
    pub(super) fn name(&mut self) -> Checked<&'s str> {
        match self.kind() {
            Kind::Word(word) if !is_keyword(word) => {
                let word = *word;
                self.advance();
                Ok(word)
            }
            _ => fault(self.at(), "Syntax error, an identifier expected"),
        }
    }

    /// One level deeper; every call needs its `leave`, unless compiling fails.
    pub(super) fn enter(&mut self) -> Checked<()> {
        self.depth += 1;
        match self.depth > MAX_DEPTH {
            true => fault(
                self.at(),
                format!("more than {MAX_DEPTH} levels of nesting are not supported"),
            ),
            false => Ok(()),
        }
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// An expression.
    pub(super) fn expression(&mut self) -> Checked<Typed> {
        self.enter()?;
        let at = self.at();
        let expression = self.assignment()?;
        self.leave();
        self.check_height(&expression, at)?;
        Ok(expression)
    }

    pub(super) fn check_height(&self, expression: &Typed, at: usize) -> Checked<()> {
        match expression.height > MAX_HEIGHT {
            true => fault(
                at,
                format!("an expression of more than {MAX_HEIGHT} levels is not supported"),
            ),
            false => Ok(()),
        }
    }

    fn assignment(&mut self) -> Checked<Typed> {
        let place = match (self.kind(), self.peek(1)) {
            (Kind::Word(word), Kind::Sign(sign)) => {
                self.locals.find(word).map(|place| (place, *word, *sign))
            }
            _ => None,
        };
        let Some((place, name, sign)) = place else {
            return self.choice();
        };
        let Some(operator) = sign.strip_suffix('=').filter(|rest| is_assignment(rest)) else {
            return self.choice();
        };
        let at = self.at();
        self.next += 2;
        self.check_writable(place, name, at)?;
        let ty = self.locals.ty(place);
        if operator.is_empty() {
            let at = self.at();
            let value = self.expression()?;
            let height = value.height;
            let value = self.assigned(value, &ty, at)?;
            self.locals.assign(place);
            let assignment = Expression::Assign(place, Box::new(value));
            return Ok(Typed::above(assignment, ty, &[height]));
        }
        self.compound(place, name, operator, at)
    }

    /// `variable operator= value`
    fn compound(&mut self, place: usize, name: &str, sign: &str, at: usize) -> Checked<Typed> {
        self.check_readable(place, name, at)?;
        let ty = self.locals.ty(place);
        let own = Typed::new(Expression::Local(place), ty.clone());
        let value = self.expression()?;
        let height = value.height;
        let Some((operator, _)) = operator(sign) else {
            return fault(at, format!("the operator {sign}= is not supported"));
        };
        let result = self.binary(operator, own, value, at)?;
        let value = match (&ty, &result.ty) {
            (Type::String, Type::String) => result.expression,
            (Type::Primitive(to), Type::Primitive(from))
                if from.is_numeric() == to.is_numeric() =>
            {
                self.converted(result, *to).expression
            }
            (Type::Boxed(to), Type::Primitive(from)) if from == to => result.expression,
            _ => {
                return fault(
                    at,
                    format!("Type mismatch: cannot convert from {} to {ty}", result.ty),
                );
            }
        };
        Ok(Typed::above(
            Expression::Assign(place, Box::new(value)),
            ty,
            &[height, 3],
        ))
    }

    pub(super) fn check_writable(&mut self, place: usize, name: &str, at: usize) -> Checked<()> {
        match self.locals.is_final(place) {
            true => fault(
                at,
                format!("The final local variable {name} cannot be assigned"),
            ),
            false => Ok(()),
        }
    }

    pub(super) fn check_readable(&mut self, place: usize, name: &str, at: usize) -> Checked<()> {
        match self.locals.is_assigned(place) {
            true => Ok(()),
            false => fault(
                at,
                format!("The local variable {name} may not have been initialized"),
            ),
        }
    }

    /// `condition ? a : b`
    fn choice(&mut self) -> Checked<Typed> {
        let at = self.at();
        let condition = self.operation(1)?;
        if !self.take("?") {
            return Ok(condition);
        }
        let height = condition.height;
        let boolean = Type::Primitive(Primitive::Boolean);
        let condition = self.assigned(condition, &boolean, at)?;
        let before = self.locals.state();
        let first_at = self.at();
        let first = self.expression()?;
        self.locals.restore(before.clone());
        self.expect(":")?;
        let second = self.expression()?;
        self.locals.restore(before);
        let heights = [height, first.height, second.height];
        let (first, second, ty) = self.unified(first, second, first_at)?;
        let parts = Box::new((condition, first, second));
        Ok(Typed::above(Expression::Choice(parts), ty, &heights))
    }

    /// Operands and operators that bind at least that strongly.
    fn operation(&mut self, strength: u8) -> Checked<Typed> {
        let mut left = self.unary()?;
        loop {
            let at = self.at();
            if matches!(self.kind(), Kind::Word("instanceof")) {
                return fault(at, "instanceof is not supported");
            }
            let Kind::Sign(sign) = self.kind() else {
                return Ok(left);
            };
            let Some((operator, own)) = operator(sign).filter(|(_, own)| *own >= strength) else {
                return Ok(left);
            };
            self.advance();
            let before = self.locals.state();
            let right = self.operation(own + 1)?;
            if matches!(operator, Operator::Both | Operator::Either) {
                // What the right side assigns may not happen.
                self.locals.restore(before);
            }
            left = self.binary(operator, left, right, at)?;
            self.check_height(&left, at)?;
        }
    }
}

/// Whether a sign with `=` behind it assigns.
fn is_assignment(sign: &str) -> bool {
    matches!(
        sign,
        "" | "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "<<" | ">>" | ">>>"
    )
}
