//! Planning a term against what receives it: Cassandra's type checks with their messages.

use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::marker::Receiver;
use super::{Call, InTerm, Shape, Term, list_of, text};
use crate::cql::ast;
use crate::functions::{self, Argument};
use crate::literal::{self, LiteralError, accepts};
use crate::statement::Planner;

/// Plans a term that goes to this receiver.
pub(crate) fn plan(
    planner: &mut Planner<'_>,
    term: &ast::Term,
    receiver: &Receiver,
) -> Result<Term, ErrorResponse> {
    match term {
        ast::Term::Null => Ok(Term::Null),
        ast::Term::Literal(literal) => plan_literal(literal, receiver),
        ast::Term::Marker { index, name } => {
            planner.markers.found(*index, name.as_ref(), receiver);
            Ok(Term::Marker(*index))
        }
        ast::Term::List(items) => plan_list(planner, items, receiver),
        ast::Term::Set(items) => plan_set(planner, items, receiver),
        ast::Term::Map(entries) => plan_map(planner, entries, receiver),
        ast::Term::UserType(fields) => plan_user_type(planner, fields, receiver),
        ast::Term::Tuple(items) => plan_tuple(planner, items, receiver),
        ast::Term::Function(call) => plan_function(planner, call, receiver),
        ast::Term::Hint(ty, inner) => {
            let ty = planner.resolve_type(ty)?;
            if !functions::compatible(&receiver.ty, &ty) {
                return Err(ErrorResponse::invalid(format!(
                    "Cannot assign value {} to {} of type {}",
                    text::term(term),
                    receiver.name,
                    receiver.ty
                )));
            }
            let hinted = receiver.part(receiver.name.to_string(), ty);
            plan(planner, inner, &hinted)
        }
        ast::Term::Arithmetic(left, operator, right) => {
            let arguments = [argument(planner, left)?, argument(planner, right)?];
            let function = functions::arithmetic(*operator, &arguments, Some(&receiver.ty))?;
            assignable_result(&function, receiver)?;
            call(planner, function, &[left, right])
        }
        ast::Term::Negation(inner) => {
            let arguments = [argument(planner, inner)?];
            let function = functions::negation(&arguments, Some(&receiver.ty))?;
            assignable_result(&function, receiver)?;
            call(planner, function, &[inner])
        }
        ast::Term::Cast(inner, ty) => {
            let to = planner.resolve_type(ty)?;
            let function = functions::cast(&argument(planner, inner)?, &to)?;
            assignable_result(&function, receiver)?;
            call(planner, function, &[inner])
        }
    }
}

fn plan_literal(written: &ast::Literal, receiver: &Receiver) -> Result<Term, ErrorResponse> {
    let ty = receiver.ty.strip_frozen();
    if let (CqlType::Timestamp, ast::Literal::String(text)) = (ty, written)
        && text.eq_ignore_ascii_case("now")
    {
        return Ok(Term::Call(Box::new(Call {
            function: functions::current_timestamp(),
            arguments: Vec::new(),
        })));
    }
    // The time matters to the literal handled above only.
    match literal::constant(ty, written, 0) {
        Ok(value) => Ok(Term::Constant(value.into())),
        Err(LiteralError::Invalid(message)) => Err(ErrorResponse::invalid(message)),
        Err(_) => Err(ErrorResponse::invalid(literal::mismatch(
            written,
            &receiver.name,
            &receiver.ty,
        ))),
    }
}

/// Plans the right side of `IN` on something of the receiver's type.
pub(crate) fn plan_in(
    planner: &mut Planner<'_>,
    values: &ast::InValues,
    receiver: &Receiver,
) -> Result<InTerm, ErrorResponse> {
    match values {
        ast::InValues::List(terms) => {
            let terms: Result<_, _> = terms
                .iter()
                .map(|term| plan(planner, term, receiver))
                .collect();
            Ok(InTerm::List(terms?))
        }
        ast::InValues::Marker(term) => {
            let receiver = receiver.part(format!("in({})", receiver.name), list_of(&receiver.ty));
            Ok(InTerm::Whole(plan(planner, term, &receiver)?))
        }
    }
}

/// Plans a term where only the term itself can say its type, as in a `SELECT` clause; `None` if it can't.
pub(crate) fn plan_untyped(
    planner: &mut Planner<'_>,
    term: &ast::Term,
) -> Result<Option<(Term, CqlType)>, ErrorResponse> {
    let Some(ty) = exact_type(planner, term)? else {
        return Ok(None);
    };
    let receiver = planner.selection_receiver(text::term(term), ty.clone());
    Ok(Some((plan(planner, term, &receiver)?, ty)))
}

/// How a function sees a term as its argument.
pub(crate) fn argument<'t>(
    planner: &Planner<'_>,
    term: &'t ast::Term,
) -> Result<Argument<'t>, ErrorResponse> {
    Ok(Argument {
        text: text::term(term),
        ty: exact_type(planner, term)?,
        term: Some(term),
    })
}

/// The type a term has by itself.
pub(crate) fn exact_type(
    planner: &Planner<'_>,
    term: &ast::Term,
) -> Result<Option<CqlType>, ErrorResponse> {
    Ok(match term {
        ast::Term::Hint(ty, _) | ast::Term::Cast(_, ty) => Some(planner.resolve_type(ty)?),
        ast::Term::Function(call) => Some(resolve(planner, call, None)?.returns),
        ast::Term::Arithmetic(left, operator, right) => {
            let arguments = [argument(planner, left)?, argument(planner, right)?];
            Some(functions::arithmetic(*operator, &arguments, None)?.returns)
        }
        ast::Term::Negation(inner) => {
            let arguments = [argument(planner, inner)?];
            Some(functions::negation(&arguments, None)?.returns)
        }
        ast::Term::Tuple(items) => match items.as_slice() {
            [inner] => exact_type(planner, inner)?,
            _ => {
                let mut types = Vec::with_capacity(items.len());
                for item in items {
                    match exact_type(planner, item)? {
                        Some(ty) => types.push(ty),
                        None => return Ok(None),
                    }
                }
                Some(CqlType::Tuple(types.into()))
            }
        },
        _ => None,
    })
}

/// Whether a term can be assigned to a value of the type.
pub(crate) fn fits(term: &ast::Term, ty: &CqlType) -> bool {
    let ty = ty.strip_frozen();
    match term {
        ast::Term::Null | ast::Term::Marker { .. } => true,
        ast::Term::Literal(literal) => accepts(ty, literal),
        ast::Term::List(items) => match ty {
            CqlType::List(element) => items.iter().all(|item| fits(item, element)),
            CqlType::Vector(element, _) => items.iter().all(|item| fits(item, element)),
            _ => false,
        },
        ast::Term::Set(items) => match ty {
            CqlType::Set(element) => items.iter().all(|item| fits(item, element)),
            CqlType::Map(_) | CqlType::Udt(_) => items.is_empty(),
            _ => false,
        },
        ast::Term::Map(entries) => match ty {
            CqlType::Map(types) => entries
                .iter()
                .all(|(key, value)| fits(key, &types.0) && fits(value, &types.1)),
            _ => false,
        },
        ast::Term::UserType(fields) => match ty {
            CqlType::Udt(udt) => fields.iter().all(|(name, value)| {
                udt.fields
                    .iter()
                    .any(|(field, ty)| field == name && fits(value, ty))
            }),
            _ => false,
        },
        ast::Term::Tuple(items) => match ty {
            CqlType::Tuple(types) => {
                items.len() <= types.len()
                    && items
                        .iter()
                        .zip(types.iter())
                        .all(|(item, ty)| fits(item, ty))
            }
            _ => matches!(items.as_slice(), [inner] if fits(inner, ty)),
        },
        // What these give is checked when they are planned.
        ast::Term::Function(_)
        | ast::Term::Hint(..)
        | ast::Term::Arithmetic(..)
        | ast::Term::Negation(_)
        | ast::Term::Cast(..) => true,
    }
}

fn plan_list(
    planner: &mut Planner<'_>,
    items: &[ast::Term],
    receiver: &Receiver,
) -> Result<Term, ErrorResponse> {
    let (element, kind) = match receiver.ty.strip_frozen() {
        CqlType::List(element) => (element, "list"),
        CqlType::Vector(element, dimension) => {
            if items.len() != usize::try_from(*dimension).unwrap_or(usize::MAX) {
                return Err(ErrorResponse::invalid(format!(
                    "Invalid vector literal for {} of type {}; expected {dimension} elements, but given {}",
                    receiver.name,
                    receiver.ty,
                    items.len()
                )));
            }
            (element, "vector")
        }
        other => {
            return Err(ErrorResponse::invalid(format!(
                "Unexpected receiver type '{other}'; only list and vector are expected"
            )));
        }
    };
    let part = receiver.part(format!("value({})", receiver.name), CqlType::clone(element));
    elements(planner, items, &part, receiver, kind)
}

fn plan_set(
    planner: &mut Planner<'_>,
    items: &[ast::Term],
    receiver: &Receiver,
) -> Result<Term, ErrorResponse> {
    match receiver.ty.strip_frozen() {
        CqlType::Set(element) => {
            let part = receiver.part(format!("value({})", receiver.name), CqlType::clone(element));
            elements(planner, items, &part, receiver, "set")
        }
        CqlType::Map(_) | CqlType::Udt(_) if items.is_empty() => empty_shape(receiver).into_term(),
        _ => Err(invalid_literal("set", receiver)),
    }
}

fn empty_shape(receiver: &Receiver) -> Shape {
    let elements = match receiver.ty.strip_frozen() {
        CqlType::Udt(udt) => vec![Term::Null; udt.fields.len()],
        _ => Vec::new(),
    };
    Shape {
        ty: receiver.ty.clone(),
        elements,
    }
}

/// An element of a collection's literal.
fn element(
    planner: &mut Planner<'_>,
    item: &ast::Term,
    part: &Receiver,
    receiver: &Receiver,
    kind: &str,
    role: &str,
) -> Result<Term, ErrorResponse> {
    if !fits(item, &part.ty) {
        return Err(ErrorResponse::invalid(format!(
            "Invalid {kind} literal for {}: {role} {} is not of type {}",
            receiver.name,
            text::term(item),
            part.ty
        )));
    }
    plan(planner, item, part)
}

fn elements(
    planner: &mut Planner<'_>,
    items: &[ast::Term],
    part: &Receiver,
    receiver: &Receiver,
    kind: &str,
) -> Result<Term, ErrorResponse> {
    let mut elements = Vec::with_capacity(items.len());
    for item in items {
        elements.push(element(planner, item, part, receiver, kind, "value")?);
    }
    Shape {
        ty: receiver.ty.clone(),
        elements,
    }
    .into_term()
}

fn plan_map(
    planner: &mut Planner<'_>,
    entries: &[(ast::Term, ast::Term)],
    receiver: &Receiver,
) -> Result<Term, ErrorResponse> {
    let CqlType::Map(types) = receiver.ty.strip_frozen() else {
        return Err(invalid_literal("map", receiver));
    };
    let key_part = receiver.part(format!("key({})", receiver.name), types.0.clone());
    let value_part = receiver.part(format!("value({})", receiver.name), types.1.clone());
    let mut elements = Vec::with_capacity(entries.len() * 2);
    for (key, value) in entries {
        for (item, part, role) in [(key, &key_part, "key"), (value, &value_part, "value")] {
            elements.push(element(planner, item, part, receiver, "map", role)?);
        }
    }
    Shape {
        ty: receiver.ty.clone(),
        elements,
    }
    .into_term()
}

fn plan_user_type(
    planner: &mut Planner<'_>,
    fields: &[(ast::Name, ast::Term)],
    receiver: &Receiver,
) -> Result<Term, ErrorResponse> {
    let CqlType::Udt(udt) = receiver.ty.strip_frozen() else {
        return Err(invalid_literal("user type", receiver));
    };
    if let Some((name, _)) = fields
        .iter()
        .find(|(name, _)| !udt.fields.iter().any(|(field, _)| field == name))
    {
        return Err(ErrorResponse::invalid(format!(
            "Unknown field '{name}' in value of user defined type {}",
            udt.name
        )));
    }
    let mut elements = Vec::with_capacity(udt.fields.len());
    for (field, ty) in &udt.fields {
        let Some((_, value)) = fields.iter().find(|(name, _)| name == field) else {
            elements.push(Term::Null);
            continue;
        };
        if !fits(value, ty) {
            return Err(ErrorResponse::invalid(format!(
                "Invalid user type literal for {}: field {field} is not of type {ty}",
                receiver.name
            )));
        }
        let part = receiver.part(format!("{}.{field}", receiver.name), ty.clone());
        elements.push(plan(planner, value, &part)?);
    }
    Shape {
        ty: receiver.ty.clone(),
        elements,
    }
    .into_term()
}

fn plan_tuple(
    planner: &mut Planner<'_>,
    items: &[ast::Term],
    receiver: &Receiver,
) -> Result<Term, ErrorResponse> {
    let CqlType::Tuple(types) = receiver.ty.strip_frozen() else {
        return match items {
            [inner] => plan(planner, inner, receiver),
            _ => Err(invalid_literal("tuple type", receiver)),
        };
    };
    if items.len() > types.len() {
        return Err(ErrorResponse::invalid(format!(
            "Invalid tuple literal for {}: too many elements. Type {} expects {} but got {}",
            receiver.name,
            receiver.ty,
            types.len(),
            items.len()
        )));
    }
    let mut elements = Vec::with_capacity(items.len());
    for (index, (item, ty)) in items.iter().zip(types.iter()).enumerate() {
        if !fits(item, ty) {
            return Err(ErrorResponse::invalid(format!(
                "Invalid tuple literal for {}: component {index} is not of type {ty}",
                receiver.name
            )));
        }
        let part = receiver.part(format!("{}[{index}]", receiver.name), ty.clone());
        elements.push(plan(planner, item, &part)?);
    }
    Shape {
        ty: receiver.ty.clone(),
        elements,
    }
    .into_term()
}

fn plan_function(
    planner: &mut Planner<'_>,
    written: &ast::FunctionCall,
    receiver: &Receiver,
) -> Result<Term, ErrorResponse> {
    let function = resolve(planner, written, Some(&receiver.ty))?;
    if function.aggregate.is_some() {
        return Err(ErrorResponse::invalid(
            "Aggregation function are not supported in the where clause",
        ));
    }
    if !functions::compatible(&receiver.ty, &function.returns) {
        return Err(ErrorResponse::invalid(format!(
            "Type error: cannot assign result of function {} (type {}) to {} (type {})",
            function.name, function.returns, receiver.name, receiver.ty
        )));
    }
    let arguments: Vec<_> = written.arguments.iter().collect();
    call(planner, function, &arguments)
}

fn resolve(
    planner: &Planner<'_>,
    written: &ast::FunctionCall,
    wanted: Option<&CqlType>,
) -> Result<functions::Function, ErrorResponse> {
    let mut arguments = Vec::with_capacity(written.arguments.len());
    for term in &written.arguments {
        arguments.push(argument(planner, term)?);
    }
    functions::resolve(
        planner,
        written.keyspace.as_deref(),
        &written.name,
        &arguments,
        wanted,
    )?
    .ok_or_else(|| {
        ErrorResponse::invalid(format!(
            "Unknown function {} called",
            functions::qualified(written.keyspace.as_deref(), &written.name)
        ))
    })
}

fn call(
    planner: &mut Planner<'_>,
    function: functions::Function,
    written: &[&ast::Term],
) -> Result<Term, ErrorResponse> {
    let mut arguments = Vec::with_capacity(written.len());
    for (index, term) in written.iter().enumerate() {
        let ty = function.argument(index);
        let receiver = planner.selection_receiver(format!("arg{index}({})", function.name), ty);
        arguments.push(plan(planner, term, &receiver)?);
    }
    if let Some(native) = function.native() {
        return Ok(planner.markers.call(native.clone(), arguments));
    }
    Ok(Term::Call(Box::new(Call {
        function,
        arguments,
    })))
}

fn assignable_result(
    function: &functions::Function,
    receiver: &Receiver,
) -> Result<(), ErrorResponse> {
    if functions::compatible(&receiver.ty, &function.returns) {
        return Ok(());
    }
    Err(ErrorResponse::invalid(format!(
        "Type error: cannot assign result of function {} (type {}) to {} (type {})",
        function.name, function.returns, receiver.name, receiver.ty
    )))
}

fn invalid_literal(kind: &str, receiver: &Receiver) -> ErrorResponse {
    ErrorResponse::invalid(format!(
        "Invalid {kind} literal for {} of type {}",
        receiver.name, receiver.ty
    ))
}
