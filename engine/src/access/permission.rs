//! Permissions and sets of them: `org.apache.cassandra.auth.Permission`.

use std::fmt;

/// What a role may be allowed to do with a [`Resource`](super::Resource).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Permission {
    /// `CREATE`
    Create,
    /// `ALTER`
    Alter,
    /// `DROP`
    Drop,
    /// `SELECT`
    Select,
    /// `MODIFY`
    Modify,
    /// `AUTHORIZE`: to grant and revoke.
    Authorize,
    /// `DESCRIBE`
    Describe,
    /// `EXECUTE`
    Execute,
    /// `UNMASK`
    Unmask,
    /// `SELECT_MASKED`
    SelectMasked,
}

impl Permission {
    /// All of them, in Cassandra's order.
    pub const ALL: [Self; 10] = [
        Self::Create,
        Self::Alter,
        Self::Drop,
        Self::Select,
        Self::Modify,
        Self::Authorize,
        Self::Describe,
        Self::Execute,
        Self::Unmask,
        Self::SelectMasked,
    ];

    /// The name, as it is written in CQL and kept in `system_auth`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Alter => "ALTER",
            Self::Drop => "DROP",
            Self::Select => "SELECT",
            Self::Modify => "MODIFY",
            Self::Authorize => "AUTHORIZE",
            Self::Describe => "DESCRIBE",
            Self::Execute => "EXECUTE",
            Self::Unmask => "UNMASK",
            Self::SelectMasked => "SELECT_MASKED",
        }
    }

    /// The permission of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|permission| permission.name() == name)
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of permissions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct PermissionSet(u16);

impl PermissionSet {
    /// None.
    pub const NONE: Self = Self(0);
    /// All that there are.
    pub const ALL: Self = Self::of(&Permission::ALL);

    /// These.
    pub const fn of(permissions: &[Permission]) -> Self {
        let (mut bits, mut index) = (0, 0);
        while index < permissions.len() {
            bits |= 1 << permissions[index] as u16;
            index += 1;
        }
        Self(bits)
    }

    /// Whether `permission` is among them.
    pub const fn contains(self, permission: Permission) -> bool {
        self.0 & (1 << permission as u16) != 0
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those of either set.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those that aren't in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Each, in Cassandra's order.
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL
            .into_iter()
            .filter(move |permission| self.contains(*permission))
    }

    /// Their names in alphabetical order, as messages list them.
    pub(super) fn names(self) -> String {
        let mut names: Vec<_> = self.iter().map(Permission::name).collect();
        names.sort_unstable();
        names.join(", ")
    }
}

impl From<Permission> for PermissionSet {
    fn from(permission: Permission) -> Self {
        Self::of(&[permission])
    }
}

impl FromIterator<Permission> for PermissionSet {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> Self {
        let all = permissions.into_iter();
        all.fold(Self::NONE, |set, permission| set.with(permission.into()))
    }
}
