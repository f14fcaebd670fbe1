//! `CREATE`, `ALTER` and `DROP TYPE`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use helenus_core::message::{ChangeType, ErrorResponse};
use helenus_core::types::{CqlType, UserType, quoted};

use super::{Alteration, Outcome, access, renew};
use crate::cql::ast::{AlterType, Name, TypeName};
use crate::schema::types::{Written, check_size, refers_to};
use crate::schema::{Keyspace, Schema, resolve_type};

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
        access::check_length(name)?;
        let mut names = BTreeSet::new();
        for (field, _) in fields {
            access::check_length(field)?;
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
        let created = Arc::new(created);
        check_size(&CqlType::Udt(Arc::clone(&created)))?;
        keyspace.types.insert(Arc::clone(name), created);
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
            renew::with_type(keyspace, altered)?,
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
        let functions = keyspace.functions.values().filter(|function| {
            refers(&function.returns) || function.argument_types.iter().any(refers)
        });
        let aggregates = keyspace.aggregates.values().filter(|aggregate| {
            refers(&aggregate.state_type)
                || refers(&aggregate.returns)
                || aggregate.argument_types.iter().any(refers)
        });
        let functions = functions
            .map(|function| &function.name)
            .chain(aggregates.map(|aggregate| &aggregate.name));
        let users: [(&str, Vec<String>); 3] = [
            (
                "functions",
                functions
                    .map(|function| format!("{}.{function}", keyspace.name))
                    .collect(),
            ),
            ("user types", types.map(|ty| ty.name.to_string()).collect()),
            (
                "tables",
                tables.map(|table| table.name.to_string()).collect(),
            ),
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
    access::check_length(field)?;
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
    // Cassandra holds every pair against the type as it was, so that names can be swapped.
    let mut names: BTreeMap<&Name, &Name> =
        old.fields.iter().map(|(name, _)| (name, name)).collect();
    for (from, to) in renames {
        access::check_length(to)?;
        match names.get_mut(from) {
            Some(name) => *name = to,
            None if if_exists => {}
            None => {
                return Err(ErrorResponse::invalid(format!(
                    "Unkown field {from} in user type {}",
                    shown(old)
                )));
            }
        }
    }
    let renamed = |name: &Name| Name::clone(names.get(name).copied().unwrap_or(name));
    let fields: Fields = old
        .fields
        .iter()
        .map(|(name, ty)| (renamed(name), ty.clone()))
        .collect();
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
