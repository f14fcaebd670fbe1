//! What permissions are about: keyspaces, tables, functions, roles and MBeans, each within its parent. Answers to the
//! resources of `org.apache.cassandra.auth`, whose names are kept in `system_auth`.

use std::fmt;
use std::sync::Arc;

use helenus_core::types::CqlType;

use super::permission::{Permission, PermissionSet};

/// Something that a role may be allowed to use.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Resource {
    /// All keyspaces.
    AllKeyspaces,
    /// A keyspace.
    Keyspace(Arc<str>),
    /// All tables of a keyspace.
    AllTables(Arc<str>),
    /// A table: keyspace and name.
    Table(Arc<str>, Arc<str>),
    /// All functions.
    AllFunctions,
    /// All functions of a keyspace.
    FunctionsOf(Arc<str>),
    /// A function or aggregate: keyspace, name and the types of its arguments.
    Function(Arc<str>, Arc<str>, Arc<[CqlType]>),
    /// All roles.
    AllRoles,
    /// A role.
    Role(Arc<str>),
    /// All MBeans.
    AllMbeans,
    /// An MBean, or a pattern of names.
    Mbean(Arc<str>),
}

use Permission::*;

const DATA: PermissionSet = PermissionSet::of(&[
    Create,
    Alter,
    Drop,
    Select,
    Modify,
    Authorize,
    Unmask,
    SelectMasked,
]);
const FUNCTIONS: PermissionSet = PermissionSet::of(&[Create, Alter, Drop, Authorize, Execute]);
const ROLES: PermissionSet = PermissionSet::of(&[Create, Alter, Drop, Authorize, Describe]);
const MBEANS: PermissionSet = PermissionSet::of(&[Select, Modify, Authorize, Describe, Execute]);
const CREATE: PermissionSet = PermissionSet::of(&[Create]);

impl Resource {
    /// The permissions that it can be granted with. What has nothing within it can't be created in.
    pub const fn applicable(&self) -> PermissionSet {
        match self {
            Self::AllKeyspaces | Self::Keyspace(_) | Self::AllTables(_) => DATA,
            Self::Table(..) => DATA.without(CREATE),
            Self::AllFunctions | Self::FunctionsOf(_) => FUNCTIONS,
            Self::Function(..) => FUNCTIONS.without(CREATE),
            Self::AllRoles => ROLES,
            Self::Role(_) => ROLES.without(CREATE),
            Self::AllMbeans | Self::Mbean(_) => MBEANS,
        }
    }

    /// What it lies in, whose permissions are its too.
    pub fn parent(&self) -> Option<Self> {
        match self {
            Self::AllKeyspaces | Self::AllFunctions | Self::AllRoles | Self::AllMbeans => None,
            Self::Keyspace(_) => Some(Self::AllKeyspaces),
            Self::AllTables(keyspace) => Some(Self::Keyspace(keyspace.clone())),
            Self::Table(keyspace, _) => Some(Self::AllTables(keyspace.clone())),
            Self::FunctionsOf(_) => Some(Self::AllFunctions),
            Self::Function(keyspace, ..) => Some(Self::FunctionsOf(keyspace.clone())),
            Self::Role(_) => Some(Self::AllRoles),
            Self::Mbean(_) => Some(Self::AllMbeans),
        }
    }

    /// Itself and all that it lies in.
    pub fn chain(&self) -> impl Iterator<Item = Self> {
        std::iter::successors(Some(self.clone()), Self::parent)
    }

    /// The keyspace whose data it is about.
    pub fn keyspace(&self) -> Option<&Arc<str>> {
        match self {
            Self::Keyspace(keyspace) | Self::AllTables(keyspace) | Self::Table(keyspace, _) => {
                Some(keyspace)
            }
            _ => None,
        }
    }

    /// The name under which `system_auth` has it: `data/keyspace/table`.
    pub fn name(&self) -> String {
        match self {
            Self::AllKeyspaces => "data".to_owned(),
            Self::Keyspace(keyspace) => format!("data/{keyspace}"),
            Self::AllTables(keyspace) => format!("data/{keyspace}/*"),
            Self::Table(keyspace, name) => format!("data/{keyspace}/{name}"),
            Self::AllFunctions => "functions".to_owned(),
            Self::FunctionsOf(keyspace) => format!("functions/{keyspace}"),
            Self::Function(keyspace, name, arguments) => {
                let classes: Vec<_> = arguments.iter().map(CqlType::class_name).collect();
                format!("functions/{keyspace}/{name}[{}]", classes.join("^"))
            }
            Self::AllRoles => "roles".to_owned(),
            Self::Role(name) => format!("roles/{name}"),
            Self::AllMbeans => "mbean".to_owned(),
            Self::Mbean(name) => format!("mbean/{name}"),
        }
    }

    /// The resource of that name; `None` for what is none.
    pub fn from_name(name: &str) -> Option<Self> {
        let (kind, rest) = match name.split_once('/') {
            Some((kind, rest)) => (kind, Some(rest)),
            None => (name, None),
        };
        Some(match (kind, rest) {
            ("data", None) => Self::AllKeyspaces,
            ("data", Some(rest)) => match rest.split_once('/') {
                None => Self::Keyspace(rest.into()),
                Some((keyspace, "*")) => Self::AllTables(keyspace.into()),
                Some((keyspace, table)) => Self::Table(keyspace.into(), table.into()),
            },
            ("functions", None) => Self::AllFunctions,
            ("functions", Some(rest)) => match rest.split_once('/') {
                None => Self::FunctionsOf(rest.into()),
                Some((keyspace, function)) => {
                    let (name, classes) = function.strip_suffix(']')?.rsplit_once('[')?;
                    let classes = classes.split('^').filter(|class| !class.is_empty());
                    let arguments: Option<Arc<[_]>> = classes
                        .map(|class| CqlType::parse_class(class).ok())
                        .collect();
                    Self::Function(keyspace.into(), name.into(), arguments?)
                }
            },
            ("roles", None) => Self::AllRoles,
            ("roles", Some(role)) => Self::Role(role.into()),
            ("mbean", None) => Self::AllMbeans,
            ("mbean", Some(name)) => Self::Mbean(name.into()),
            _ => return None,
        })
    }

    /// The kind, as messages name it.
    pub(crate) const fn class(&self) -> &'static str {
        match self {
            Self::AllKeyspaces | Self::Keyspace(_) | Self::AllTables(_) | Self::Table(..) => {
                "DataResource"
            }
            Self::AllFunctions | Self::FunctionsOf(_) | Self::Function(..) => "FunctionResource",
            Self::AllRoles | Self::Role(_) => "RoleResource",
            Self::AllMbeans | Self::Mbean(_) => "JMXResource",
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllKeyspaces => f.write_str("<all keyspaces>"),
            Self::Keyspace(keyspace) => write!(f, "<keyspace {keyspace}>"),
            Self::AllTables(keyspace) => write!(f, "<all tables in {keyspace}>"),
            Self::Table(keyspace, name) => write!(f, "<table {keyspace}.{name}>"),
            Self::AllFunctions => f.write_str("<all functions>"),
            Self::FunctionsOf(keyspace) => write!(f, "<all functions in {keyspace}>"),
            Self::Function(keyspace, name, arguments) => {
                let types: Vec<_> = arguments.iter().map(ToString::to_string).collect();
                write!(f, "<function {keyspace}.{name}({})>", types.join(", "))
            }
            Self::AllRoles => f.write_str("<all roles>"),
            Self::Role(name) => write!(f, "<role {name}>"),
            Self::AllMbeans => f.write_str("<all mbeans>"),
            Self::Mbean(name) => write!(f, "<mbean {name}>"),
        }
    }
}
