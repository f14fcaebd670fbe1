//! Types as CQL writes them.

use std::borrow::Cow;
use std::fmt;

use super::{CqlType, UserType};

impl CqlType {
    /// The CQL name of a native type; `None` for the others.
    #[must_use]
    pub const fn native_name(&self) -> Option<&'static str> {
        Some(match self {
            Self::Ascii => "ascii",
            Self::BigInt => "bigint",
            Self::Blob => "blob",
            Self::Boolean => "boolean",
            Self::Counter => "counter",
            Self::Decimal => "decimal",
            Self::Double => "double",
            Self::Float => "float",
            Self::Int => "int",
            Self::Timestamp => "timestamp",
            Self::Uuid => "uuid",
            Self::Text => "text",
            Self::Varint => "varint",
            Self::Timeuuid => "timeuuid",
            Self::Inet => "inet",
            Self::Date => "date",
            Self::Time => "time",
            Self::SmallInt => "smallint",
            Self::TinyInt => "tinyint",
            Self::Duration => "duration",
            _ => return None,
        })
    }

    /// The native type of this lower-case CQL name, `varchar` among them.
    #[must_use]
    pub fn from_native_name(name: &str) -> Option<Self> {
        Some(match name {
            "ascii" => Self::Ascii,
            "bigint" => Self::BigInt,
            "blob" => Self::Blob,
            "boolean" => Self::Boolean,
            "counter" => Self::Counter,
            "decimal" => Self::Decimal,
            "double" => Self::Double,
            "float" => Self::Float,
            "int" => Self::Int,
            "timestamp" => Self::Timestamp,
            "uuid" => Self::Uuid,
            "text" | "varchar" => Self::Text,
            "varint" => Self::Varint,
            "timeuuid" => Self::Timeuuid,
            "inet" => Self::Inet,
            "date" => Self::Date,
            "time" => Self::Time,
            "smallint" => Self::SmallInt,
            "tinyint" => Self::TinyInt,
            "duration" => Self::Duration,
            _ => return None,
        })
    }
}

/// The type as CQL writes it: `map<text, frozen<list<int>>>`; a user type by its name alone, in quotes where it needs
/// them; a custom type by its class name in apostrophes.
impl fmt::Display for CqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.native_name() {
            return f.write_str(name);
        }
        match self {
            Self::List(element) => write!(f, "list<{element}>"),
            Self::Set(element) => write!(f, "set<{element}>"),
            Self::Map(entry) => write!(f, "map<{}, {}>", entry.0, entry.1),
            Self::Udt(ty) => f.write_str(&quoted(&ty.name)),
            Self::Tuple(elements) => {
                f.write_str("tuple<")?;
                for (i, element) in elements.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{element}")?;
                }
                f.write_str(">")
            }
            Self::Vector(element, dimension) => write!(f, "vector<{element}, {dimension}>"),
            Self::Frozen(inner) => write!(f, "frozen<{inner}>"),
            Self::Custom(class) => write!(f, "'{class}'"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for UserType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", quoted(&self.keyspace), quoted(&self.name))
    }
}

/// An identifier as CQL text: in quotes unless it is a plain lower-case name that is no reserved keyword.
#[must_use]
pub fn quoted(name: &str) -> Cow<'_, str> {
    let mut bytes = name.bytes();
    let plain = bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        && RESERVED.binary_search(&name).is_err();
    if plain {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(format!("\"{}\"", name.replace('"', "\"\"")))
    }
}

/// The words that CQL doesn't take as a name without quotes, sorted (Cassandra's `reserved_keywords.txt`).
const RESERVED: [&str; 57] = [
    "add",
    "allow",
    "alter",
    "and",
    "apply",
    "asc",
    "authorize",
    "batch",
    "begin",
    "by",
    "columnfamily",
    "create",
    "delete",
    "desc",
    "describe",
    "drop",
    "entries",
    "execute",
    "from",
    "full",
    "grant",
    "if",
    "in",
    "index",
    "infinity",
    "insert",
    "into",
    "is",
    "keyspace",
    "limit",
    "materialized",
    "modify",
    "nan",
    "norecursive",
    "not",
    "null",
    "of",
    "on",
    "or",
    "order",
    "primary",
    "rename",
    "revoke",
    "schema",
    "select",
    "set",
    "table",
    "to",
    "token",
    "truncate",
    "unlogged",
    "update",
    "use",
    "using",
    "view",
    "where",
    "with",
];
