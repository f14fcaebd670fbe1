//! Types as error messages show them: as they were written.

use std::fmt;

use crate::cql::ast::TypeName;

/// A type as error messages show it.
#[derive(Clone, Copy)]
pub(in crate::schema) struct Written<'a> {
    name: &'a TypeName,
    /// Stands within a `frozen<…>`.
    frozen: bool,
    /// The keyspace to show with user types that are written without one.
    keyspace: Option<&'a str>,
}

impl<'a> Written<'a> {
    pub(in crate::schema) fn new(name: &'a TypeName) -> Self {
        Self {
            name,
            frozen: false,
            keyspace: None,
        }
    }

    /// Shows it as it stands within a `frozen<…>`, or not.
    pub(in crate::schema) fn frozen(self, frozen: bool) -> Self {
        Self { frozen, ..self }
    }

    /// Shows user types with their keyspace.
    pub(in crate::schema) fn within(self, keyspace: &'a str) -> Self {
        Self {
            keyspace: Some(keyspace),
            ..self
        }
    }
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = |name| Written { name, ..*self };
        match self.name {
            TypeName::Native(native) => f.write_str(native),
            TypeName::Custom(class) => write!(f, "'{class}'"),
            TypeName::Frozen(content) => Written {
                frozen: true,
                ..inner(content)
            }
            .fmt(f),
            TypeName::Vector(element, dimension) => {
                write!(f, "vector<{}, {dimension}>", inner(element))
            }
            TypeName::Tuple(elements) => {
                f.write_str("tuple<")?;
                for (index, element) in elements.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{}", inner(element))?;
                }
                f.write_str(">")
            }
            _ if self.frozen => {
                f.write_str("frozen<")?;
                self.content(f)?;
                f.write_str(">")
            }
            _ => self.content(f),
        }
    }
}

impl Written<'_> {
    fn content(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = |name| Written { name, ..*self };
        match self.name {
            TypeName::List(element) => write!(f, "list<{}>", inner(element)),
            TypeName::Set(element) => write!(f, "set<{}>", inner(element)),
            TypeName::Map(key, value) => write!(f, "map<{}, {}>", inner(key), inner(value)),
            TypeName::User(user) => match user.keyspace.as_deref().or(self.keyspace) {
                Some(keyspace) => write!(f, "{keyspace}.{}", user.name),
                None => f.write_str(&user.name),
            },
            _ => Ok(()),
        }
    }
}
