//! Compiling statements (Java Language Specification, chapter 14).

use super::compile::Compiler;
use super::expression::{Constant, Expression, Loop, Statement};
use super::flow::Assigned;
use super::lexer::Kind;
use super::methods;
use super::types::{self, Type};
use super::{Checked, fault};

/// Keywords that begin what is not supported, or nothing.
const UNSUPPORTED: [&str; 12] = [
    "switch",
    "try",
    "synchronized",
    "assert",
    "class",
    "interface",
    "enum",
    "super",
    "this",
    "yield",
    "abstract",
    "static",
];

impl Compiler<'_> {
    /// Statements up to the closing brace, or the end of the body.
    pub(super) fn block(&mut self) -> Checked<Vec<Statement>> {
        let mark = self.locals.mark();
        let mut statements = Vec::new();
        while !matches!(self.kind(), Kind::End | Kind::Sign("}")) {
            if !self.reachable {
                return fault(self.at(), "Unreachable code");
            }
            if let Some(statement) = self.declaration()? {
                statements.extend(statement);
            } else {
                statements.push(self.statement()?);
            }
        }
        self.locals.forget(mark);
        Ok(statements)
    }

    fn braced(&mut self) -> Checked<Statement> {
        self.expect("{")?;
        let statements = self.block()?;
        self.expect("}")?;
        Ok(Statement::Block(statements))
    }

    /// `type name = value, name;` if that stands here.
    fn declaration(&mut self) -> Checked<Option<Vec<Statement>>> {
        let is_final = self.take_word("final");
        let Some(ty) = self.declared_type()? else {
            return match is_final {
                true => fault(self.at(), "a local variable must follow final"),
                false => Ok(None),
            };
        };
        let statements = self.declarators(&ty, is_final)?;
        self.expect(";")?;
        Ok(Some(statements))
    }

    fn declarators(&mut self, ty: &Type, is_final: bool) -> Checked<Vec<Statement>> {
        let mut statements = Vec::new();
        loop {
            let at = self.at();
            let name = self.name()?;
            if matches!(self.kind(), Kind::Sign("[")) {
                return fault(self.at(), "arrays are not supported");
            }
            let Some(place) = self.locals.declare(name, ty.clone(), is_final, false) else {
                return fault(at, format!("Duplicate local variable {name}"));
            };
            if self.take("=") {
                let at = self.at();
                let value = self.expression()?;
                let value = self.assigned(value, ty, at)?;
                self.locals.assign(place);
                statements.push(Statement::Do(Expression::Assign(place, Box::new(value))));
            }
            if !self.take(",") {
                return Ok(statements);
            }
        }
    }

    pub(super) fn statement(&mut self) -> Checked<Statement> {
        self.enter()?;
        let statement = self.any_statement();
        self.leave();
        statement
    }

    fn any_statement(&mut self) -> Checked<Statement> {
        let at = self.at();
        let word = match self.kind() {
            Kind::Sign("{") => return self.braced(),
            Kind::Sign(";") => {
                self.advance();
                return Ok(Statement::Block(Vec::new()));
            }
            Kind::Word(word) => *word,
            _ => "",
        };
        if UNSUPPORTED.contains(&word) {
            return fault(at, format!("'{word}' is not supported"));
        }
        match word {
            "if" => self.condition(),
            "while" => self.while_loop(),
            "do" => self.do_loop(),
            "for" => self.for_loop(),
            "return" => self.returned(),
            "throw" => self.throw(),
            "break" | "continue" => self.jump(word),
            _ => {
                let expression = self.effect()?;
                self.expect(";")?;
                Ok(Statement::Do(expression))
            }
        }
    }

    /// An expression that may stand as a statement.
    fn effect(&mut self) -> Checked<Expression> {
        let at = self.at();
        let checked = self.expression()?;
        match checked.expression {
            expression @ (Expression::Assign(..)
            | Expression::Postfix(..)
            | Expression::Call(..)) => Ok(expression),
            _ => fault(at, "The expression is no statement"),
        }
    }

    fn parenthesised_condition(&mut self) -> Checked<(Expression, Option<bool>)> {
        self.expect("(")?;
        let condition = self.boolean()?;
        self.expect(")")?;
        Ok(condition)
    }

    fn condition(&mut self) -> Checked<Statement> {
        self.advance();
        let (condition, _) = self.parenthesised_condition()?;
        let before = self.locals.state();
        let then = self.scoped()?;
        let then_on = std::mem::replace(&mut self.reachable, true);
        let after_then = self.locals.state();
        self.locals.restore(before);
        let otherwise = match self.take_word("else") {
            true => Some(Box::new(self.scoped()?)),
            false => None,
        };
        self.locals.meet(after_then, self.reachable, then_on);
        self.reachable |= then_on;
        Ok(Statement::If(condition, Box::new(then), otherwise))
    }

    /// A statement whose declarations end with it.
    fn scoped(&mut self) -> Checked<Statement> {
        let at = self.at();
        if self.declared_type_follows() {
            return fault(at, "a declaration must stand in a block");
        }
        self.statement()
    }

    /// A loop's body; `enter_loop` must have been called.
    fn loop_body(&mut self) -> Checked<Statement> {
        self.has_loops = true;
        self.reachable = true;
        self.scoped()
    }

    /// Ends a loop that also ends where its condition fails, with what is assigned there.
    fn end_loop(&mut self, at_condition: Option<Assigned>) -> bool {
        let (at_breaks, has_continue) = self.locals.leave_loop();
        let falls_out = at_condition.is_some();
        if let Some(state) = at_condition {
            self.locals.restore(state);
        }
        let breaks = at_breaks.is_some();
        if let Some(state) = at_breaks {
            self.locals.meet(state, falls_out, true);
        }
        self.reachable = falls_out || breaks;
        has_continue
    }

    fn while_loop(&mut self) -> Checked<Statement> {
        self.advance();
        let at = self.at();
        let (condition, constant) = self.parenthesised_condition()?;
        if constant == Some(false) {
            return fault(at, "Unreachable code");
        }
        let state = self.locals.state();
        self.locals.enter_loop();
        let body = self.loop_body()?;
        self.end_loop((constant != Some(true)).then_some(state));
        Ok(Statement::Loop(Box::new(Loop {
            condition: Some(condition),
            body_first: false,
            body,
            update: Vec::new(),
        })))
    }

    fn do_loop(&mut self) -> Checked<Statement> {
        self.advance();
        let before = self.locals.state();
        self.locals.enter_loop();
        let body = self.loop_body()?;
        let body_on = self.reachable;
        if !body_on {
            // A `continue` may still lead to the condition, with what was assigned before the loop.
            self.locals.restore(before);
        }
        if !self.take_word("while") {
            return fault(self.at(), "'while' must follow the body of 'do'");
        }
        let (condition, constant) = self.parenthesised_condition()?;
        self.expect(";")?;
        let state = self.locals.state();
        let has_continue = self.end_loop(None);
        if (body_on || has_continue) && constant != Some(true) {
            let breaks = self.reachable;
            self.locals.meet(state, breaks, true);
            self.reachable = true;
        }
        Ok(Statement::Loop(Box::new(Loop {
            condition: Some(condition),
            body_first: true,
            body,
            update: Vec::new(),
        })))
    }

    fn for_loop(&mut self) -> Checked<Statement> {
        self.advance();
        self.expect("(")?;
        let mark = self.locals.mark();
        let mut statements = Vec::new();
        let is_final = self.take_word("final");
        if let Some(ty) = self.declared_type()? {
            if matches!(self.peek(1), Kind::Sign(":")) {
                let statement = self.for_each(&ty, is_final)?;
                self.locals.forget(mark);
                return Ok(statement);
            }
            statements = self.declarators(&ty, is_final)?;
        } else if !matches!(self.kind(), Kind::Sign(";")) {
            statements = self.effects()?.into_iter().map(Statement::Do).collect();
        }
        self.expect(";")?;
        let at = self.at();
        let (condition, constant) = match self.kind() {
            Kind::Sign(";") => (None, Some(true)),
            _ => {
                let (condition, constant) = self.boolean()?;
                (Some(condition), constant)
            }
        };
        if constant == Some(false) {
            return fault(at, "Unreachable code");
        }
        self.expect(";")?;
        let state = self.locals.state();
        // The update runs behind the body; what it needs must be assigned before the loop.
        let update = match self.kind() {
            Kind::Sign(")") => Vec::new(),
            _ => self.effects()?,
        };
        self.expect(")")?;
        self.locals.restore(state.clone());
        self.locals.enter_loop();
        let body = self.loop_body()?;
        self.end_loop((constant != Some(true)).then_some(state));
        self.locals.forget(mark);
        statements.push(Statement::Loop(Box::new(Loop {
            condition,
            body_first: false,
            body,
            update,
        })));
        Ok(Statement::Block(statements))
    }

    fn effects(&mut self) -> Checked<Vec<Expression>> {
        let mut effects = vec![self.effect()?];
        while self.take(",") {
            effects.push(self.effect()?);
        }
        Ok(effects)
    }

    /// `for (type name : collection)`, from the name on.
    fn for_each(&mut self, ty: &Type, is_final: bool) -> Checked<Statement> {
        let at = self.at();
        let name = self.name()?;
        self.expect(":")?;
        let collection_at = self.at();
        let collection = self.expression()?;
        self.expect(")")?;
        let (Type::List(element) | Type::Set(element) | Type::View(element)) = &collection.ty
        else {
            return fault(
                collection_at,
                "Can only iterate over a List, a Set, keySet() or values()",
            );
        };
        let unboxes = matches!((ty, &**element), (Type::Primitive(a), Type::Boxed(b)) if a == b);
        if *ty != **element && !unboxes {
            return fault(
                at,
                format!("Type mismatch: cannot convert from element type {element} to {ty}"),
            );
        }
        let state = self.locals.state();
        let Some(place) = self.locals.declare(name, ty.clone(), is_final, true) else {
            return fault(at, format!("Duplicate local variable {name}"));
        };
        self.locals.enter_loop();
        let body = self.loop_body()?;
        self.end_loop(Some(state));
        let body = match unboxes {
            // A null among the elements doesn't fit the variable.
            true => Statement::Block(vec![
                Statement::Do(Expression::Unbox(Box::new(Expression::Local(place)))),
                body,
            ]),
            false => body,
        };
        Ok(Statement::Each(
            place,
            collection.expression,
            Box::new(body),
        ))
    }

    fn returned(&mut self) -> Checked<Statement> {
        self.advance();
        let at = self.at();
        let returns = self.returns.clone();
        if matches!(self.kind(), Kind::Sign(";")) {
            return fault(
                at,
                format!("This method must return a result of type {returns}"),
            );
        }
        let value = self.expression()?;
        let value = self.assigned(value, &returns, at)?;
        self.expect(";")?;
        self.reachable = false;
        Ok(Statement::Return(value))
    }

    fn throw(&mut self) -> Checked<Statement> {
        self.advance();
        let at = self.at();
        if !self.take_word("new") {
            return fault(at, "only 'throw new' is supported");
        }
        let at = self.at();
        let mut name = self.name()?.to_owned();
        while self.take(".") {
            name.push('.');
            name.push_str(self.name()?);
        }
        let Some(class) = methods::exception(&name) else {
            return fault(
                at,
                format!(
                    "{name} is not supported: only unchecked exceptions of java.lang may be thrown"
                ),
            );
        };
        self.expect("(")?;
        let mut message = None;
        if !matches!(self.kind(), Kind::Sign(")")) {
            let at = self.at();
            let value = self.expression()?;
            message = Some(self.assigned(value, &Type::String, at)?);
        }
        self.expect(")")?;
        self.expect(";")?;
        self.reachable = false;
        Ok(Statement::Throw(class, message))
    }

    fn jump(&mut self, word: &str) -> Checked<Statement> {
        let at = self.at();
        self.advance();
        if matches!(self.kind(), Kind::Word(_)) {
            return fault(at, "labels are not supported");
        }
        self.expect(";")?;
        let (is_in_loop, statement) = match word {
            "break" => (self.locals.note_break(), Statement::Break),
            _ => (self.locals.note_continue(), Statement::Continue),
        };
        if !is_in_loop {
            return fault(at, format!("{word} cannot be used outside of a loop"));
        }
        self.reachable = false;
        Ok(statement)
    }

    /// A condition and its value if that is constant.
    fn boolean(&mut self) -> Checked<(Expression, Option<bool>)> {
        let at = self.at();
        let condition = self.expression()?;
        let constant = match condition.constant() {
            Some(Constant::Boolean(value)) => Some(*value),
            _ => None,
        };
        let ty = Type::Primitive(types::Primitive::Boolean);
        Ok((self.assigned(condition, &ty, at)?, constant))
    }
}
