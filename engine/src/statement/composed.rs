//! Planning values that a `SELECT` clause puts together: tuples, lists, sets, maps and user types.

use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::expression::Expression;
use super::selection::Build;
use crate::cql::ast::Selectable;
use crate::term::Term;

impl Build<'_, '_> {
    pub(super) fn tuple(
        &mut self,
        items: &[Selectable],
        wanted: Option<&CqlType>,
    ) -> Result<Option<(Expression, CqlType)>, ErrorResponse> {
        let parts = match wanted.map(CqlType::strip_frozen) {
            Some(CqlType::Tuple(types)) => types.to_vec(),
            _ => Vec::new(),
        };
        let mut expressions = Vec::with_capacity(items.len());
        let mut types = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let Some((expression, ty)) = self.expression(item, parts.get(index))? else {
                return Ok(None);
            };
            expressions.push(expression);
            types.push(ty);
        }
        let ty = CqlType::Tuple(types.into());
        Ok(Some((Expression::Build(ty.clone(), expressions), ty)))
    }

    pub(super) fn elements(
        &mut self,
        items: &[Selectable],
        wanted: Option<&CqlType>,
        kind: &str,
    ) -> Result<Option<(Expression, CqlType)>, ErrorResponse> {
        let mut element = match wanted.map(CqlType::strip_frozen) {
            Some(CqlType::List(element) | CqlType::Set(element) | CqlType::Vector(element, _)) => {
                Some(CqlType::clone(element))
            }
            _ => None,
        };
        let mut expressions = Vec::with_capacity(items.len());
        for item in items {
            let Some((expression, ty)) = self.expression(item, element.as_ref())? else {
                return Ok(None);
            };
            element.get_or_insert(ty);
            expressions.push(expression);
        }
        let ty = match (wanted, element) {
            (Some(wanted), _) => wanted.strip_frozen().clone(),
            (None, Some(element)) if kind == "list" => CqlType::List(element.into()),
            (None, Some(element)) => CqlType::Set(element.into()),
            (None, None) => return Ok(None),
        };
        Ok(Some((Expression::Build(ty.clone(), expressions), ty)))
    }

    pub(super) fn map(
        &mut self,
        entries: &[(Selectable, Selectable)],
        wanted: Option<&CqlType>,
    ) -> Result<Option<(Expression, CqlType)>, ErrorResponse> {
        let mut expressions = Vec::with_capacity(entries.len() * 2);
        match wanted.map(CqlType::strip_frozen) {
            Some(CqlType::Udt(udt)) => {
                for (name, ty) in &udt.fields {
                    let value = entries
                        .iter()
                        .find(|(key, _)| matches!(key, Selectable::Column(key) if key == name));
                    let expression = match value {
                        Some((_, value)) => self
                            .expression(value, Some(ty))?
                            .map(|(expression, _)| expression),
                        None => Some(Expression::Term(self.push_term(Term::Null))),
                    };
                    let Some(expression) = expression else {
                        return Ok(None);
                    };
                    expressions.push(expression);
                }
                let ty = CqlType::Udt(udt.clone());
                Ok(Some((Expression::Build(ty.clone(), expressions), ty)))
            }
            Some(CqlType::Map(types)) => {
                for (key, value) in entries {
                    for (written, ty) in [(key, &types.0), (value, &types.1)] {
                        let Some((expression, _)) = self.expression(written, Some(ty))? else {
                            return Ok(None);
                        };
                        expressions.push(expression);
                    }
                }
                let ty = CqlType::Map(types.clone());
                Ok(Some((Expression::Build(ty.clone(), expressions), ty)))
            }
            _ => Ok(None),
        }
    }
}
