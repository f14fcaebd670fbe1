//! What no statement may change, and which names are allowed.

use helenus_core::message::ErrorResponse;

use crate::cql::ast::Ddl;
use crate::schema::{is_local_system, is_replicated_system};

/// The longest name of a keyspace.
const NAME_LENGTH: usize = 48;

/// Refuses changes of system keyspaces and keyspace names that can't be.
pub(super) fn check(ddl: &Ddl, keyspace: &str) -> Result<(), ErrorResponse> {
    if is_local_system(keyspace) {
        return Err(match ddl {
            // These need no right on the keyspace, so that Cassandra finds out later.
            Ddl::CreateKeyspace { .. }
            | Ddl::DropIndex { .. }
            | Ddl::AlterView { .. }
            | Ddl::DropView { .. }
            | Ddl::CreateFunction(_)
            | Ddl::DropFunction(_)
            | Ddl::CreateAggregate(_)
            | Ddl::DropAggregate(_) => ErrorResponse::invalid(format!(
                "System keyspace '{keyspace}' is not user-modifiable"
            )),
            _ => {
                ErrorResponse::unauthorized(format!("{keyspace} keyspace is not user-modifiable."))
            }
        });
    }
    if is_replicated_system(keyspace) {
        let all_tables = format!("<all tables in {keyspace}>");
        let (permission, resource) = match ddl {
            Ddl::CreateKeyspace { .. }
            | Ddl::AlterKeyspace { .. }
            | Ddl::DropIndex { .. }
            | Ddl::AlterView { .. }
            | Ddl::DropView { .. }
            | Ddl::CreateFunction(_)
            | Ddl::DropFunction(_)
            | Ddl::CreateAggregate(_)
            | Ddl::DropAggregate(_) => return Ok(()),
            Ddl::DropKeyspace { .. } => ("DROP", format!("<keyspace {keyspace}>")),
            Ddl::CreateTable(_) | Ddl::CreateType { .. } => ("CREATE", all_tables),
            Ddl::AlterTable { table, .. } => {
                ("ALTER", format!("<table {keyspace}.{}>", table.name))
            }
            Ddl::CreateView(statement) => (
                "ALTER",
                format!("<table {keyspace}.{}>", statement.base.name),
            ),
            Ddl::CreateIndex(statement) => (
                "ALTER",
                format!("<table {keyspace}.{}>", statement.table.name),
            ),
            Ddl::DropTable { table, .. } => ("DROP", format!("<table {keyspace}.{}>", table.name)),
            Ddl::AlterType { .. } => ("ALTER", all_tables),
            Ddl::DropType { .. } => ("DROP", all_tables),
        };
        return Err(ErrorResponse::unauthorized(format!(
            "Cannot {permission} {resource}"
        )));
    }
    if keyspace.len() > NAME_LENGTH || !is_word(keyspace) {
        return Err(ErrorResponse::invalid(format!(
            "Keyspace name must not be empty, more than {NAME_LENGTH} characters long, or contain \
             non-alphanumeric-underscore characters (got '{keyspace}')"
        )));
    }
    Ok(())
}

/// Whether a statement is refused for its keyspace alone, whoever asks for it.
pub(crate) fn is_unalterable(ddl: &Ddl, keyspace: &str) -> bool {
    check(ddl, keyspace).is_err()
}

/// Whether a name is made of letters, digits and underscores, and not empty.
pub(super) fn is_word(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Refuses names of columns, types and fields that don't fit the protocol's `[string]`, by which they are told.
pub(super) fn check_length(name: &str) -> Result<(), ErrorResponse> {
    match u16::try_from(name.len()) {
        Ok(_) => Ok(()),
        Err(_) => Err(ErrorResponse::invalid(format!(
            "A name may have {} bytes at most",
            u16::MAX
        ))),
    }
}
