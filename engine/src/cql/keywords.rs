//! The keywords of CQL, after Cassandra 5.0's `Lexer.g`, and where each may stand for an identifier.

/// What else a keyword may be used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Only a keyword.
    Reserved,
    /// Any identifier: of a keyspace, table, column, function or type.
    Basic,
    /// An identifier, but no function's or type's.
    Column,
    /// A native type; an identifier, but no user type's.
    Native,
}

macro_rules! keywords {
    ($($class:ident { $($name:ident = $word:literal,)+ })+) => {
        /// A keyword.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Keyword {
            $($($name,)+)+
        }

        impl Keyword {
            /// The keyword in lower case.
            pub(super) fn word(self) -> &'static str {
                match self {
                    $($(Self::$name => $word,)+)+
                }
            }

            /// What else it may be used as.
            pub(super) fn class(self) -> Class {
                match self {
                    $($(Self::$name)|+ => Class::$class,)+
                }
            }
        }

        /// Every spelling of a keyword.
        const SPELLINGS: &[(&str, Keyword)] = &[
            $($(($word, Keyword::$name),)+)+
            ("columnfamily", Keyword::Table),
            ("columnfamilies", Keyword::Tables),
        ];
    };
}

keywords! {
    Reserved {
        Add = "add",
        Allow = "allow",
        Alter = "alter",
        And = "and",
        Apply = "apply",
        Asc = "asc",
        Authorize = "authorize",
        Batch = "batch",
        Begin = "begin",
        By = "by",
        Create = "create",
        Delete = "delete",
        Desc = "desc",
        Describe = "describe",
        Drop = "drop",
        Entries = "entries",
        Execute = "execute",
        From = "from",
        Full = "full",
        Grant = "grant",
        If = "if",
        In = "in",
        Index = "index",
        Insert = "insert",
        Into = "into",
        Is = "is",
        Keyspace = "keyspace",
        Limit = "limit",
        Materialized = "materialized",
        Modify = "modify",
        Norecursive = "norecursive",
        Not = "not",
        Null = "null",
        Of = "of",
        On = "on",
        Or = "or",
        Order = "order",
        Primary = "primary",
        Rename = "rename",
        Revoke = "revoke",
        Schema = "schema",
        Select = "select",
        Set = "set",
        Table = "table",
        To = "to",
        Token = "token",
        Truncate = "truncate",
        Unlogged = "unlogged",
        Update = "update",
        Use = "use",
        Using = "using",
        View = "view",
        Where = "where",
        With = "with",
    }
    Basic {
        Access = "access",
        Aggregate = "aggregate",
        Aggregates = "aggregates",
        All = "all",
        Ann = "ann",
        As = "as",
        Called = "called",
        Cidrs = "cidrs",
        Cluster = "cluster",
        Clustering = "clustering",
        Compact = "compact",
        Contains = "contains",
        Custom = "custom",
        Datacenters = "datacenters",
        Default = "default",
        Exists = "exists",
        Filtering = "filtering",
        Finalfunc = "finalfunc",
        Frozen = "frozen",
        Function = "function",
        Functions = "functions",
        Group = "group",
        Hashed = "hashed",
        Identity = "identity",
        Initcond = "initcond",
        Input = "input",
        Internals = "internals",
        Keys = "keys",
        Keyspaces = "keyspaces",
        Language = "language",
        Like = "like",
        List = "list",
        Login = "login",
        Map = "map",
        Masked = "masked",
        Mbean = "mbean",
        Mbeans = "mbeans",
        Nologin = "nologin",
        Nosuperuser = "nosuperuser",
        Only = "only",
        Options = "options",
        Partition = "partition",
        Password = "password",
        Per = "per",
        Permission = "permission",
        Permissions = "permissions",
        Replace = "replace",
        Returns = "returns",
        Role = "role",
        Roles = "roles",
        SelectMasked = "select_masked",
        Sfunc = "sfunc",
        Static = "static",
        Storage = "storage",
        Stype = "stype",
        Superuser = "superuser",
        Tables = "tables",
        Trigger = "trigger",
        Tuple = "tuple",
        Type = "type",
        Types = "types",
        Unmask = "unmask",
        Unset = "unset",
        User = "user",
        Users = "users",
        Values = "values",
        Vector = "vector",
    }
    Column {
        Cast = "cast",
        Count = "count",
        Distinct = "distinct",
        Json = "json",
        Key = "key",
        Maxwritetime = "maxwritetime",
        Ttl = "ttl",
        Writetime = "writetime",
    }
    Native {
        Ascii = "ascii",
        Bigint = "bigint",
        Blob = "blob",
        Boolean = "boolean",
        Counter = "counter",
        Date = "date",
        Decimal = "decimal",
        Double = "double",
        Duration = "duration",
        Float = "float",
        Inet = "inet",
        Int = "int",
        Smallint = "smallint",
        Text = "text",
        Time = "time",
        Timestamp = "timestamp",
        Timeuuid = "timeuuid",
        Tinyint = "tinyint",
        Uuid = "uuid",
        Varchar = "varchar",
        Varint = "varint",
    }
}

/// The spellings as numbers, in ascending order.
static SORTED: [(u128, Keyword); SPELLINGS.len()] = sorted();

const fn sorted() -> [(u128, Keyword); SPELLINGS.len()] {
    let mut sorted = [(0, Keyword::Select); SPELLINGS.len()];
    let mut count = 0;
    while count < SPELLINGS.len() {
        let number = packed(SPELLINGS[count].0);
        let mut place = count;
        while place > 0 && number < sorted[place - 1].0 {
            sorted[place] = sorted[place - 1];
            place -= 1;
        }
        sorted[place] = (number, SPELLINGS[count].1);
        count += 1;
    }
    sorted
}

/// The letters of a word as one number, which compares faster than they do. No keyword has more than 16.
const fn packed(word: &str) -> u128 {
    let mut number = 0;
    let mut at = 0;
    while at < word.len() {
        number = number << 8 | word.as_bytes()[at] as u128;
        at += 1;
    }
    number
}

impl Keyword {
    /// The keyword an identifier spells, whatever its case.
    pub(super) fn lookup(identifier: &str) -> Option<Self> {
        let mut lower = [0u8; 16];
        let start = lower.len().checked_sub(identifier.len())?;
        lower
            .get_mut(start..)?
            .copy_from_slice(identifier.as_bytes());
        lower.make_ascii_lowercase();
        let number = u128::from_be_bytes(lower);
        let place = SORTED
            .binary_search_by_key(&number, |&(number, _)| number)
            .ok()?;
        SORTED.get(place).map(|&(_, keyword)| keyword)
    }

    /// The name of the token in error messages.
    pub(super) fn token_name(self) -> String {
        match self {
            Self::Table => String::from("K_COLUMNFAMILY"),
            other => format!("K_{}", other.word().to_ascii_uppercase()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_found_whatever_its_case() {
        for &(word, keyword) in SPELLINGS {
            assert_eq!(Keyword::lookup(word), Some(keyword));
            assert_eq!(Keyword::lookup(&word.to_uppercase()), Some(keyword));
        }
        for word in ["", "selec", "selects", "s_elect", "abcdefghijklmnopq"] {
            assert_eq!(Keyword::lookup(word), None);
        }
    }
}
