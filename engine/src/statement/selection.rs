//! Planning the `SELECT` clause: expressions with their types and the names of the result's columns.
//! Answers to Cassandra's `cql3.selection`.

use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::column::ColumnRef;
use super::expression::{
    AggregatePlan, Expression, Metadata, MetadataKind, MetadataPart, Output, Selection,
};
use super::names;
use super::planner::Planner;
use crate::cql::ast::{self, Selectable, Selector};
use crate::functions::{self, Argument, Function};
use crate::schema::Column;
use crate::term::{self, Receiver, Term};

/// A result column: its name and type.
pub(crate) type OutputColumn = (String, CqlType);

/// Plans what a `SELECT` returns, and names its columns.
pub(crate) fn plan(
    planner: &mut Planner<'_>,
    selectors: &[Selector],
) -> Result<(Selection, Vec<OutputColumn>), ErrorResponse> {
    let table = planner.table.clone();
    let key_len = table.partition_key_len;
    let mut selection = Selection {
        output: Output::Columns(Vec::new()),
        terms: Vec::new(),
        aggregates: Vec::new(),
        natives: Vec::new(),
        uses_statics: false,
    };
    if selectors.is_empty() {
        let columns = table.columns.iter();
        selection.uses_statics = table.static_len > 0;
        selection.output = Output::Columns(
            columns
                .clone()
                .map(|column| ColumnRef::new(column, key_len))
                .collect(),
        );
        let named = columns
            .map(|column| (column.name.to_string(), column.ty.clone()))
            .collect();
        return Ok((selection, named));
    }
    let mut named = Vec::with_capacity(selectors.len());
    let mut expressions = Vec::with_capacity(selectors.len());
    for selector in selectors {
        let mut build = Build {
            planner,
            selection: &mut selection,
            own_functions: Vec::new(),
        };
        let (expression, ty) = build.typed(&selector.expression)?;
        let name = match &selector.alias {
            Some(alias) => alias.to_string(),
            None => names::column_name(&selector.expression, &table.keyspace, &build.own_functions),
        };
        named.push((name, ty));
        expressions.push(expression);
    }
    let columns: Option<Vec<_>> = expressions
        .iter()
        .map(|expression| match expression {
            Expression::Column(column) => Some(column.clone()),
            _ => None,
        })
        .collect();
    selection.output = match columns {
        Some(columns) => Output::Columns(columns),
        None => Output::Expressions(expressions),
    };
    Ok((selection, named))
}

/// Plans an expression that isn't returned itself; its terms are kept with those of the selection.
pub(crate) fn plan_expression(
    planner: &mut Planner<'_>,
    selection: &mut Selection,
    written: &Selectable,
) -> Result<(Expression, CqlType), ErrorResponse> {
    let mut build = Build {
        planner,
        selection,
        own_functions: Vec::new(),
    };
    build.typed(written)
}

pub(super) struct Build<'b, 'p> {
    pub(super) planner: &'b mut Planner<'p>,
    pub(super) selection: &'b mut Selection,
    /// Functions that were written without a keyspace and are of the table's.
    own_functions: Vec<ast::Name>,
}

impl Build<'_, '_> {
    /// An expression that has a type by itself.
    fn typed(&mut self, written: &Selectable) -> Result<(Expression, CqlType), ErrorResponse> {
        self.expression(written, None)?.ok_or_else(|| {
            ErrorResponse::invalid(format!(
                "Cannot infer type for term {} in selection clause (try using a cast to force a type)",
                names::text(written)
            ))
        })
    }

    /// An expression; `None` if neither it nor its surroundings say its type.
    pub(super) fn expression(
        &mut self,
        written: &Selectable,
        wanted: Option<&CqlType>,
    ) -> Result<Option<(Expression, CqlType)>, ErrorResponse> {
        Ok(Some(match written {
            Selectable::Column(name) => {
                let column = self.column(name)?;
                (Expression::Column(column.clone()), column.ty)
            }
            Selectable::Term(term) => return self.term(term, wanted),
            Selectable::CountAll => {
                let function = Function::count_rows();
                (self.aggregate(function, Vec::new())?, CqlType::BigInt)
            }
            Selectable::WriteTime(inner) => self.metadata(inner, MetadataKind::WriteTime)?,
            Selectable::MaxWriteTime(inner) => self.metadata(inner, MetadataKind::MaxWriteTime)?,
            Selectable::Ttl(inner) => self.metadata(inner, MetadataKind::Ttl)?,
            Selectable::Cast(inner, ty) => {
                let (expression, from) = self.typed(inner)?;
                let to = self.planner.resolve_type(ty)?;
                let argument = Argument {
                    text: names::text(inner),
                    ty: Some(from),
                    term: None,
                };
                let function = functions::cast(&argument, &to)?;
                (Expression::Call(Box::new(function), vec![expression]), to)
            }
            Selectable::Function {
                keyspace,
                name,
                arguments,
            } => self.function(keyspace.as_deref(), name, arguments)?,
            Selectable::Field(inner, name) => self.field(inner, name)?,
            Selectable::Element(inner, key) => self.element(inner, key)?,
            Selectable::Slice(inner, from, to) => self.slice(inner, from.as_ref(), to.as_ref())?,
            Selectable::Arithmetic(left, operator, right) => {
                let (left_argument, left_planned) = self.argument(left)?;
                let (right_argument, right_planned) = self.argument(right)?;
                let arguments = [left_argument, right_argument];
                let function = functions::arithmetic(*operator, &arguments, wanted)?;
                self.call(function, vec![(left, left_planned), (right, right_planned)])?
            }
            Selectable::Negation(inner) => {
                let (argument, planned) = self.argument(inner)?;
                let function = functions::negation(&[argument], wanted)?;
                self.call(function, vec![(inner, planned)])?
            }
            Selectable::Tuple(items) => match items.as_slice() {
                [inner] => return self.expression(inner, wanted),
                _ => return self.tuple(items, wanted),
            },
            Selectable::List(items) => return self.elements(items, wanted, "list"),
            Selectable::Set(items) => return self.elements(items, wanted, "set"),
            Selectable::Map(entries) => return self.map(entries, wanted),
            Selectable::Hint(ty, inner) => {
                let ty = self.planner.resolve_type(ty)?;
                let Some((expression, given)) = self.expression(inner, Some(&ty))? else {
                    return Ok(None);
                };
                if !functions::compatible(&ty, &given) {
                    return Err(ErrorResponse::invalid(format!(
                        "Cannot assign value {} to {} of type {ty}",
                        names::text(inner),
                        names::text(written)
                    )));
                }
                (expression, ty)
            }
        }))
    }

    fn column(&mut self, name: &str) -> Result<ColumnRef, ErrorResponse> {
        let column = ColumnRef::new(
            self.planner.column(name)?,
            self.planner.table.partition_key_len,
        );
        self.selection.uses_statics |= column.is_static();
        Ok(column)
    }

    fn term(
        &mut self,
        written: &ast::Term,
        wanted: Option<&CqlType>,
    ) -> Result<Option<(Expression, CqlType)>, ErrorResponse> {
        let (planned, ty) = match wanted {
            Some(ty) => {
                let receiver = self
                    .planner
                    .selection_receiver("[selection]".to_owned(), ty.clone());
                (term::plan(self.planner, written, &receiver)?, ty.clone())
            }
            None => match term::plan_untyped(self.planner, written)? {
                Some(typed) => typed,
                None => return Ok(None),
            },
        };
        Ok(Some((Expression::Term(self.push_term(planned)), ty)))
    }

    pub(super) fn push_term(&mut self, term: Term) -> usize {
        self.selection.terms.push(term);
        self.selection.terms.len() - 1
    }

    fn aggregate(
        &mut self,
        function: Function,
        arguments: Vec<Expression>,
    ) -> Result<Expression, ErrorResponse> {
        let Some(aggregate) = function.aggregate.clone() else {
            return Err(ErrorResponse::invalid(format!(
                "{} is no aggregate",
                function.name
            )));
        };
        self.selection.aggregates.push(AggregatePlan {
            function,
            aggregate,
            arguments,
        });
        Ok(Expression::Aggregate(self.selection.aggregates.len() - 1))
    }

    fn metadata(
        &mut self,
        inner: &Selectable,
        kind: MetadataKind,
    ) -> Result<(Expression, CqlType), ErrorResponse> {
        let (name, part) = match inner {
            Selectable::Column(name) => (name, None),
            Selectable::Field(base, _) | Selectable::Element(base, _) => match &**base {
                Selectable::Column(name) => (name, Some(inner)),
                _ => return Err(unsupported_metadata(inner)),
            },
            _ => return Err(unsupported_metadata(inner)),
        };
        let column: Column = self.planner.column(name)?.clone();
        if column.is_primary_key() {
            return Err(ErrorResponse::invalid(format!(
                "Cannot use selection function {} on PRIMARY KEY part {name}",
                function_name(kind)
            )));
        }
        let reference = self.column(name)?;
        let one = if kind == MetadataKind::Ttl {
            CqlType::Int
        } else {
            CqlType::BigInt
        };
        let part = match part {
            None => MetadataPart::Whole,
            Some(Selectable::Field(_, field)) => {
                MetadataPart::Field(field_position(&column.ty, field, name)?)
            }
            Some(Selectable::Element(_, key)) => {
                let key_type = element_key_type(&column.ty, name)?;
                let receiver = self
                    .planner
                    .selection_receiver(format!("key({name})"), key_type);
                let key = term::plan(self.planner, key, &receiver)?;
                MetadataPart::Element(self.push_term(key))
            }
            Some(_) => return Err(unsupported_metadata(inner)),
        };
        let ty = match part {
            MetadataPart::Whole if column.is_complex() && kind != MetadataKind::MaxWriteTime => {
                CqlType::List(one.into())
            }
            _ => one,
        };
        let metadata = Metadata {
            column: reference,
            kind,
            part,
        };
        Ok((Expression::Metadata(metadata), ty))
    }

    /// How a function sees an argument, and the argument planned if it has a type by itself. Planned once: twice at each
    /// level would double the work with every level.
    fn argument<'s>(
        &mut self,
        written: &'s Selectable,
    ) -> Result<(Argument<'s>, Option<Expression>), ErrorResponse> {
        let text = names::text(written);
        let (terms, aggregates) = (self.selection.terms.len(), self.selection.aggregates.len());
        let natives = self.selection.natives.len();
        let term = match written {
            Selectable::Term(term) => Some(term),
            _ => None,
        };
        let (expression, ty) = match self.expression(written, None)? {
            Some((expression, ty)) => (Some(expression), Some(ty)),
            None => {
                self.selection.terms.truncate(terms);
                self.selection.aggregates.truncate(aggregates);
                self.selection.natives.truncate(natives);
                (None, None)
            }
        };
        Ok((Argument { text, ty, term }, expression))
    }

    fn function(
        &mut self,
        keyspace: Option<&str>,
        name: &ast::Name,
        written: &[Selectable],
    ) -> Result<(Expression, CqlType), ErrorResponse> {
        let nested = self.selection.aggregates.len();
        let mut arguments = Vec::with_capacity(written.len());
        let mut planned = Vec::with_capacity(written.len());
        for selectable in written {
            let (argument, expression) = self.argument(selectable)?;
            arguments.push(argument);
            planned.push((selectable, expression));
        }
        if let ("count", [argument]) = (&**name, arguments.as_slice())
            && argument.ty.is_none()
        {
            // `count(1)`: whatever the constant, rows are counted.
            return Ok((
                self.aggregate(Function::count_rows(), Vec::new())?,
                CqlType::BigInt,
            ));
        }
        if !functions::is_selectable(name) {
            return Err(ErrorResponse::invalid(format!(
                "{name}() cannot be used in the selection clause of a SELECT statement"
            )));
        }
        let function = functions::resolve(self.planner, keyspace, name, &arguments, None)?
            .ok_or_else(|| {
                ErrorResponse::invalid(format!(
                    "Unknown function '{}'",
                    functions::qualified(keyspace, name)
                ))
            })?;
        let is_own = function.keyspace() == &*self.planner.table.keyspace;
        if keyspace.is_none() && is_own && function.resources().next().is_some() {
            self.own_functions.push(name.clone());
        }
        if function.aggregate.is_none() {
            return self.call(function, planned);
        }
        let (call, ty) = self.call(function.clone(), planned)?;
        if self.selection.aggregates.len() > nested {
            return Err(ErrorResponse::invalid(
                "aggregate functions cannot be used as arguments of aggregate functions",
            ));
        }
        let arguments = match call {
            Expression::Call(_, arguments) => arguments,
            other => vec![other],
        };
        Ok((self.aggregate(function, arguments)?, ty))
    }

    /// A call on arguments, those that are planned as they are.
    fn call(
        &mut self,
        function: Function,
        written: Vec<(&Selectable, Option<Expression>)>,
    ) -> Result<(Expression, CqlType), ErrorResponse> {
        let mut arguments = Vec::with_capacity(written.len());
        for (index, (selectable, planned)) in written.into_iter().enumerate() {
            if let Some(expression) = planned {
                arguments.push(expression);
                continue;
            }
            let ty = function.argument(index);
            let (expression, _) = self.expression(selectable, Some(&ty))?.ok_or_else(|| {
                ErrorResponse::invalid(format!(
                    "Cannot infer type for term {}",
                    names::text(selectable)
                ))
            })?;
            arguments.push(expression);
        }
        let returns = function.returns.clone();
        if let Some(native) = function.native() {
            return Ok((self.selection.call(native.clone(), arguments), returns));
        }
        Ok((Expression::Call(Box::new(function), arguments), returns))
    }

    fn field(
        &mut self,
        inner: &Selectable,
        name: &str,
    ) -> Result<(Expression, CqlType), ErrorResponse> {
        let (base, ty) = self.typed(inner)?;
        let CqlType::Udt(udt) = ty.strip_frozen() else {
            return Err(ErrorResponse::invalid(format!(
                "Invalid field selection: {} of type {ty} is not a user type",
                names::text(inner)
            )));
        };
        let position = field_position(&ty, name, &names::text(inner))?;
        let field = udt
            .fields
            .get(position)
            .map_or(CqlType::Blob, |(_, ty)| ty.clone());
        Ok((Expression::Field(Box::new(base), position), field))
    }

    fn element(
        &mut self,
        inner: &Selectable,
        key: &ast::Term,
    ) -> Result<(Expression, CqlType), ErrorResponse> {
        let (base, ty) = self.typed(inner)?;
        let text = names::text(inner);
        let key = self.key(&ty, key, &text)?;
        let returns = match ty.strip_frozen() {
            CqlType::Map(types) => types.1.clone(),
            CqlType::Set(element) => CqlType::clone(element),
            _ => ty.clone(),
        };
        Ok((Expression::Element(Box::new(base), ty, key), returns))
    }

    fn slice(
        &mut self,
        inner: &Selectable,
        from: Option<&ast::Term>,
        to: Option<&ast::Term>,
    ) -> Result<(Expression, CqlType), ErrorResponse> {
        let (base, ty) = self.typed(inner)?;
        let text = names::text(inner);
        let mut key = |written: Option<&ast::Term>| match written {
            Some(written) => self.key(&ty, written, &text).map(Some),
            None => {
                element_key_type(&ty, &text)?;
                Ok(None)
            }
        };
        let (from, to) = (key(from)?, key(to)?);
        Ok((Expression::Slice(Box::new(base), ty.clone(), from, to), ty))
    }

    fn key(
        &mut self,
        ty: &CqlType,
        written: &ast::Term,
        name: &str,
    ) -> Result<usize, ErrorResponse> {
        let key_type = element_key_type(ty, name)?;
        let role = if matches!(ty.strip_frozen(), CqlType::Map(_)) {
            "key"
        } else {
            "value"
        };
        let receiver: Receiver = self
            .planner
            .selection_receiver(format!("{role}({name})"), key_type);
        let term = term::plan(self.planner, written, &receiver)?;
        Ok(self.push_term(term))
    }
}

fn unsupported_metadata(inner: &Selectable) -> ErrorResponse {
    ErrorResponse::invalid(format!(
        "Cannot use selection functions writetime, maxwritetime and ttl on {}",
        names::text(inner)
    ))
}

fn function_name(kind: MetadataKind) -> &'static str {
    match kind {
        MetadataKind::WriteTime => "writetime",
        MetadataKind::MaxWriteTime => "maxwritetime",
        MetadataKind::Ttl => "ttl",
    }
}

fn field_position(ty: &CqlType, field: &str, text: &str) -> Result<usize, ErrorResponse> {
    let CqlType::Udt(udt) = ty.strip_frozen() else {
        return Err(ErrorResponse::invalid(format!(
            "Invalid field selection: {text} of type {ty} is not a user type"
        )));
    };
    udt.fields
        .iter()
        .position(|(name, _)| &**name == field)
        .ok_or_else(|| {
            ErrorResponse::invalid(format!("{text} of type {} has no field {field}", udt.name))
        })
}

fn element_key_type(ty: &CqlType, text: &str) -> Result<CqlType, ErrorResponse> {
    match ty.strip_frozen() {
        CqlType::Map(types) => Ok(types.0.clone()),
        CqlType::Set(element) => Ok(CqlType::clone(element)),
        CqlType::List(_) => Err(ErrorResponse::invalid(format!(
            "Element selection is only allowed on sets and maps, but {text} is a list"
        ))),
        _ => Err(ErrorResponse::invalid(format!(
            "Invalid element selection: {text} is of type {ty} is not a collection"
        ))),
    }
}
