//! `CREATE`, `ALTER` and `DROP TYPE`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use helenus_core::message::{ChangeType, ErrorResponse};
use helenus_core::types::{CqlType, UserType, quoted};

use super::{Alteration, Outcome};
use crate::cql::ast::{AlterType, Name, TypeName};
use crate::schema::types::{Written, map_user_types, refers_to};
use crate::schema::{Keyspace, Schema, Table, resolve_type};

type Fields = Vec<(Arc<str>, CqlType)>;

impl Schema {
    pub(super) fn create_type(
        &self,
        keyspace: &str,
        name: &Arc<str>,
        if_not_exists: bool,
        fields: &[(Name, TypeName)],
    ) -> Outcome {
        let keyspace = self.existing(keyspace)?;
        if keyspace.types.contains_key(name) {
            return match if_not_exists {
                true => Ok(None),
                false => Err(ErrorResponse::invalid(format!(
                    "A user type with name '{name}' already exists"
                ))),
            };
        }
        let mut names = BTreeSet::new();
        for (field, _) in fields {
            if !names.insert(field) {
                return Err(ErrorResponse::invalid(format!(
                    "Duplicate field name '{field}' in type '{name}'"
                )));
            }
        }
        fields.iter().try_for_each(|(_, ty)| check_field(ty))?;
        let fields = fields
            .iter()
            .map(|(field, ty)| Ok((Name::clone(field), resolve_type(ty, keyspace)?)));
        let fields = fields.collect::<Result<_, ErrorResponse>>()?;
        let mut keyspace = keyspace.clone();
        let created = UserType {
            keyspace: Arc::clone(&keyspace.name),
            name: Arc::clone(name),
            fields,
        };
        keyspace.types.insert(Arc::clone(name), Arc::new(created));
        Ok(Some(Alteration::user_type(
            keyspace,
            ChangeType::Created,
            name,
        )))
    }

    pub(super) fn alter_type(
        &self,
        keyspace: &str,
        name: &Arc<str>,
        if_exists: bool,
        change: &AlterType,
    ) -> Outcome {
        let found = self
            .keyspaces
            .get(keyspace)
            .and_then(|keyspace| Some((keyspace, keyspace.types.get(name)?)));
        let Some((keyspace, old)) = found else {
            return match if_exists {
                true => Ok(None),
                false => Err(ErrorResponse::invalid(format!(
                    "Type {}.{} doesn't exist",
                    quoted(keyspace),
                    quoted(name)
                ))),
            };
        };
        let fields = match change {
            AlterType::Add {
                if_not_exists,
                field,
                ty,
            } => add(keyspace, old, *if_not_exists, field, ty)?,
            AlterType::Rename { if_exists, fields } => rename(old, *if_exists, fields)?,
            AlterType::Type(..) => {
                return Err(ErrorResponse::invalid(
                    "Altering field types is no longer supported",
                ));
            }
        };
        if fields == old.fields {
            return Ok(None);
        }
        let altered = UserType {
            fields,
            ..UserType::clone(old)
        };
        Ok(Some(Alteration::user_type(
            with_type(keyspace, altered),
            ChangeType::Updated,
            name,
        )))
    }

    pub(super) fn drop_type(&self, keyspace: &str, name: &Arc<str>, if_exists: bool) -> Outcome {
        let Some(keyspace) = self
            .keyspaces
            .get(keyspace)
            .filter(|keyspace| keyspace.types.contains_key(name))
        else {
            return match if_exists {
                true => Ok(None),
                false => Err(ErrorResponse::invalid(format!(
                    "Type '{keyspace}.{name}' doesn't exist"
                ))),
            };
        };
        let refers = |ty: &CqlType| refers_to(ty, &keyspace.name, name);
        let types = keyspace
            .types
            .values()
            .filter(|ty| ty.fields.iter().any(|(_, field)| refers(field)));
        let tables = keyspace
            .tables
            .values()
            .filter(|table| table.columns.iter().any(|column| refers(&column.ty)));
        let users: [(&str, Vec<&str>); 2] = [
            ("user types", types.map(|ty| &*ty.name).collect()),
            ("tables", tables.map(|table| &*table.name).collect()),
        ];
        if let Some((kind, users)) = users.iter().find(|(_, users)| !users.is_empty()) {
            return Err(ErrorResponse::invalid(format!(
                "Cannot drop user type '{}.{name}' as it is still used by {kind} {}",
                keyspace.name,
                users.join(", ")
            )));
        }
        let mut keyspace = Keyspace::clone(keyspace);
        keyspace.types.remove(name);
        Ok(Some(Alteration::user_type(
            keyspace,
            ChangeType::Dropped,
            name,
        )))
    }
}

fn check_field(ty: &TypeName) -> Result<(), ErrorResponse> {
    match ty {
        TypeName::Native(native) if &**native == "counter" => Err(ErrorResponse::invalid(
            "A user type cannot contain counters",
        )),
        TypeName::User(_) => Err(ErrorResponse::invalid(
            "A user type cannot contain non-frozen UDTs",
        )),
        _ => Ok(()),
    }
}

fn shown(ty: &UserType) -> String {
    format!("{}.{}", quoted(&ty.keyspace), quoted(&ty.name))
}

fn add(
    keyspace: &Keyspace,
    old: &UserType,
    if_not_exists: bool,
    field: &Name,
    ty: &TypeName,
) -> Result<Fields, ErrorResponse> {
    check_field(ty)?;
    if old.fields.iter().any(|(known, _)| known == field) {
        return match if_not_exists {
            true => Ok(old.fields.clone()),
            false => Err(ErrorResponse::invalid(format!(
                "Cannot add field {field} to type {}: a field with name {field} already exists",
                shown(old)
            ))),
        };
    }
    let resolved = resolve_type(ty, keyspace)?;
    if refers_to(&resolved, &old.keyspace, &old.name) {
        return Err(ErrorResponse::invalid(format!(
            "Cannot add new field {field} of type {} to user type {} as it would create a circular reference",
            Written::new(ty).within(&old.keyspace),
            shown(old)
        )));
    }
    let mut fields = old.fields.clone();
    fields.push((Name::clone(field), resolved));
    Ok(fields)
}

fn rename(
    old: &UserType,
    if_exists: bool,
    renames: &[(Name, Name)],
) -> Result<Fields, ErrorResponse> {
    let mut fields = old.fields.clone();
    for (from, to) in renames {
        match old.fields.iter().position(|(known, _)| known == from) {
            Some(index) => fields[index].0 = Name::clone(to),
            None if if_exists => {}
            None => {
                return Err(ErrorResponse::invalid(format!(
                    "Unkown field {from} in user type {}",
                    shown(old)
                )));
            }
        }
    }
    let mut names = BTreeSet::new();
    for (field, _) in &fields {
        if !names.insert(field) {
            return Err(ErrorResponse::invalid(format!(
                "Duplicate field name {field} in type {}",
                old.keyspace
            )));
        }
    }
    Ok(fields)
}

/// The keyspace with that type replaced wherever it is used: in other types and in tables.
fn with_type(keyspace: &Keyspace, altered: UserType) -> Keyspace {
    let old = Arc::clone(&altered.name);
    let mut renewed: BTreeMap<Arc<str>, Arc<UserType>> = BTreeMap::new();
    renewed.insert(Arc::clone(&old), Arc::new(altered));
    // A type is renewed once all it refers to are; there are no circles, so every round renews one.
    let mut rest: Vec<&Arc<UserType>> = keyspace
        .types
        .values()
        .filter(|ty| ty.name != old && has_field_of(ty, &old))
        .collect();
    while !rest.is_empty() {
        let waiting = |ty: &UserType| rest.iter().any(|other| has_field_of(ty, &other.name));
        let now: Vec<&Arc<UserType>> = rest.iter().copied().filter(|ty| !waiting(ty)).collect();
        if now.is_empty() {
            break;
        }
        rest.retain(|ty| !now.iter().any(|renewed| renewed.name == ty.name));
        for ty in now {
            let fields = ty
                .fields
                .iter()
                .map(|(name, field)| (Arc::clone(name), replaced(field, &renewed)))
                .collect();
            renewed.insert(
                Arc::clone(&ty.name),
                Arc::new(UserType {
                    fields,
                    ..UserType::clone(ty)
                }),
            );
        }
    }

    let mut keyspace = keyspace.clone();
    for table in keyspace.tables.values_mut() {
        let uses = |ty: &CqlType| refers_to(ty, &keyspace.name, &old);
        if table.columns.iter().any(|column| uses(&column.ty)) {
            let mut changed = Table::clone(table);
            for column in &mut changed.columns {
                column.ty = replaced(&column.ty, &renewed);
            }
            *table = Arc::new(changed);
        }
    }
    keyspace.types.extend(renewed);
    keyspace
}

fn has_field_of(ty: &UserType, name: &str) -> bool {
    ty.fields
        .iter()
        .any(|(_, field)| refers_to(field, &ty.keyspace, name))
}

fn replaced(ty: &CqlType, renewed: &BTreeMap<Arc<str>, Arc<UserType>>) -> CqlType {
    map_user_types(ty, &|udt| {
        CqlType::Udt(Arc::clone(renewed.get(&udt.name).unwrap_or(udt)))
    })
}
