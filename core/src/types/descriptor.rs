//! [`CqlType`], the descriptor of a column's or value's type (native protocol v5, section 4.2.5.2).

use std::sync::Arc;

/// The type of a CQL value.
///
/// Cheap to clone: nested descriptors are shared. [`CqlType::Frozen`] exists for the schema's sake; on the
/// wire a frozen type is described as the type inside.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CqlType {
    /// `ascii`, wire id 0x0001.
    Ascii,
    /// `bigint`, wire id 0x0002.
    BigInt,
    /// `blob`, wire id 0x0003.
    Blob,
    /// `boolean`, wire id 0x0004.
    Boolean,
    /// `counter`, wire id 0x0005.
    Counter,
    /// `decimal`, wire id 0x0006.
    Decimal,
    /// `double`, wire id 0x0007.
    Double,
    /// `float`, wire id 0x0008.
    Float,
    /// `int`, wire id 0x0009.
    Int,
    /// `timestamp`, wire id 0x000B.
    Timestamp,
    /// `uuid`, wire id 0x000C.
    Uuid,
    /// `text`, also called `varchar`, wire id 0x000D.
    Text,
    /// `varint`, wire id 0x000E.
    Varint,
    /// `timeuuid`, wire id 0x000F.
    Timeuuid,
    /// `inet`, wire id 0x0010.
    Inet,
    /// `date`, wire id 0x0011, from v4.
    Date,
    /// `time`, wire id 0x0012, from v4.
    Time,
    /// `smallint`, wire id 0x0013, from v4.
    SmallInt,
    /// `tinyint`, wire id 0x0014, from v4.
    TinyInt,
    /// `duration`, wire id 0x0015, from v5.
    Duration,
    /// `list<element>`, wire id 0x0020.
    List(Arc<CqlType>),
    /// `map<key, value>`, wire id 0x0021.
    Map(Arc<(CqlType, CqlType)>),
    /// `set<element>`, wire id 0x0022.
    Set(Arc<CqlType>),
    /// A user-defined type, wire id 0x0030.
    Udt(Arc<UserType>),
    /// `tuple<…>`, wire id 0x0031.
    Tuple(Arc<[CqlType]>),
    /// `vector<element, dimension>`; a custom type on the wire in every version up to v5.
    Vector(Arc<CqlType>, u32),
    /// `frozen<type>`.
    Frozen(Arc<CqlType>),
    /// A type known by its class name alone, wire id 0x0000.
    Custom(Arc<str>),
}

/// A user-defined type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UserType {
    /// The keyspace the type lives in.
    pub keyspace: Arc<str>,
    /// The type's name, without quotes.
    pub name: Arc<str>,
    /// Field names, without quotes, and their types, in order.
    pub fields: Vec<(Arc<str>, CqlType)>,
}

impl CqlType {
    /// The type inside all `frozen<…>` around it.
    #[inline]
    #[must_use]
    pub fn strip_frozen(&self) -> &Self {
        match self {
            Self::Frozen(inner) => inner.strip_more(),
            _ => self,
        }
    }

    /// The loop apart, so that types that aren't frozen cost a comparison wherever they are looked at.
    #[cold]
    fn strip_more(&self) -> &Self {
        let mut ty = self;
        while let Self::Frozen(inner) = ty {
            ty = inner;
        }
        ty
    }

    /// Whether this is `frozen<…>`.
    #[inline]
    #[must_use]
    pub const fn is_frozen(&self) -> bool {
        matches!(self, Self::Frozen(_))
    }

    /// This type as `frozen<…>`, which it may be already.
    #[must_use]
    pub fn freeze(self) -> Self {
        if self.is_frozen() {
            self
        } else {
            Self::Frozen(Arc::new(self))
        }
    }

    /// Whether this is a list, set or map, frozen or not.
    #[must_use]
    pub fn is_collection(&self) -> bool {
        matches!(
            self.strip_frozen(),
            Self::List(_) | Self::Set(_) | Self::Map(_)
        )
    }

    /// Whether this is `counter`.
    #[inline]
    #[must_use]
    pub const fn is_counter(&self) -> bool {
        matches!(self, Self::Counter)
    }

    /// Whether no bytes are a value of this type that is neither null nor like another value, as an empty text is.
    #[must_use]
    pub fn has_empty(&self) -> bool {
        matches!(
            self.strip_frozen(),
            Self::BigInt
                | Self::Boolean
                | Self::Counter
                | Self::Decimal
                | Self::Double
                | Self::Float
                | Self::Int
                | Self::Timestamp
                | Self::Uuid
                | Self::Varint
                | Self::Timeuuid
                | Self::Inet
        )
    }

    /// How many bytes every value of this type has, where that is fixed and Cassandra stores vectors of it without
    /// lengths. `None` for all others, among them `smallint`, `tinyint`, `date` and `time`.
    #[must_use]
    pub fn fixed_size(&self) -> Option<usize> {
        match self.strip_frozen() {
            Self::Boolean => Some(1),
            Self::Int | Self::Float => Some(4),
            Self::BigInt | Self::Counter | Self::Double | Self::Timestamp => Some(8),
            Self::Uuid | Self::Timeuuid => Some(16),
            Self::Vector(element, dimension) => element
                .fixed_size()?
                .checked_mul(usize::try_from(*dimension).ok()?),
            _ => None,
        }
    }
}
