//! An altered user type reaches everything that uses it: other types, columns of tables, functions.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use helenus_core::message::ErrorResponse;
use helenus_core::types::{CqlType, UserType};

use crate::schema::types::{check_size, map_user_types};
use crate::schema::{Keyspace, Table, UserAggregate, UserFunction, View};

/// The keyspace with that type in the place of the one of its name.
///
/// # Errors
/// When a type becomes too large by it.
pub(super) fn with_type(keyspace: &Keyspace, altered: UserType) -> Result<Keyspace, ErrorResponse> {
    let altered = Arc::new(altered);
    let known = BTreeMap::from([(Arc::clone(&altered.name), altered)]);
    let renewal = Renewal {
        known: RefCell::new(known),
    };
    let mut keyspace = keyspace.clone();
    for ty in keyspace.types.values_mut() {
        *ty = renewal.user_type(ty);
        check_size(&CqlType::Udt(Arc::clone(ty)))?;
    }
    for view in keyspace.views.values_mut() {
        if let Some(table) = renewal.table(&view.table)? {
            *view = Arc::new(View {
                table: Arc::new(table),
                ..View::clone(view)
            });
        }
    }
    for table in keyspace.tables.values_mut() {
        if let Some(changed) = renewal.table(table)? {
            *table = Arc::new(changed);
        }
    }
    for function in keyspace.functions.values_mut() {
        let mut changed = UserFunction::clone(function);
        renewal.all(&mut changed.argument_types);
        renewal.all([&mut changed.returns]);
        if changed != **function {
            *function = Arc::new(changed);
        }
    }
    for aggregate in keyspace.aggregates.values_mut() {
        let mut changed = UserAggregate::clone(aggregate);
        renewal.all(&mut changed.argument_types);
        renewal.all([&mut changed.state_type, &mut changed.returns]);
        if changed != **aggregate {
            *aggregate = Arc::new(changed);
        }
    }
    Ok(keyspace)
}
/// What each user type is from now on, found out once for each.
struct Renewal {
    known: RefCell<BTreeMap<Arc<str>, Arc<UserType>>>,
}

impl Renewal {
    fn all<'a>(&self, types: impl IntoIterator<Item = &'a mut CqlType>) {
        for ty in types {
            *ty = self.ty(ty);
        }
    }

    /// The table with its columns' types as they are from now on; `None` if they stay.
    fn table(&self, table: &Table) -> Result<Option<Table>, ErrorResponse> {
        let columns = table.columns.iter();
        let types: Vec<CqlType> = columns.clone().map(|column| self.ty(&column.ty)).collect();
        if columns.zip(&types).all(|(column, ty)| column.ty == *ty) {
            return Ok(None);
        }
        let mut changed = Table::clone(table);
        for (column, ty) in changed.columns.iter_mut().zip(types) {
            check_size(&ty)?;
            column.ty = ty;
        }
        Ok(Some(changed))
    }

    fn ty(&self, ty: &CqlType) -> CqlType {
        map_user_types(ty, &|udt| CqlType::Udt(self.user_type(udt)))
    }

    fn user_type(&self, ty: &Arc<UserType>) -> Arc<UserType> {
        if let Some(known) = self.known.borrow().get(&ty.name) {
            return Arc::clone(known);
        }
        let fields: Vec<_> = ty
            .fields
            .iter()
            .map(|(name, field)| (Arc::clone(name), self.ty(field)))
            .collect();
        let renewed = match fields == ty.fields {
            true => Arc::clone(ty),
            false => Arc::new(UserType {
                fields,
                ..UserType::clone(ty)
            }),
        };
        self.known
            .borrow_mut()
            .insert(Arc::clone(&ty.name), Arc::clone(&renewed));
        renewed
    }
}
