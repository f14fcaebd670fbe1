//! Static types, and how CQL's types look from Java: as Apache Cassandra's codecs have them.

use std::fmt;

use helenus_core::types::CqlType;

/// A primitive type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Primitive {
    Boolean,
    Byte,
    Short,
    Char,
    Int,
    Long,
    Float,
    Double,
}

use Primitive::*;

impl Primitive {
    pub(super) const ALL: [Self; 8] = [Boolean, Byte, Short, Char, Int, Long, Float, Double];

    pub(super) fn name(self) -> &'static str {
        match self {
            Boolean => "boolean",
            Byte => "byte",
            Short => "short",
            Char => "char",
            Int => "int",
            Long => "long",
            Float => "float",
            Double => "double",
        }
    }

    /// The class that boxes it.
    pub(super) fn boxed(self) -> &'static str {
        match self {
            Boolean => "Boolean",
            Byte => "Byte",
            Short => "Short",
            Char => "Character",
            Int => "Integer",
            Long => "Long",
            Float => "Float",
            Double => "Double",
        }
    }

    pub(super) fn is_numeric(self) -> bool {
        self != Boolean
    }

    /// Whether it is an integer or a character.
    pub(super) fn is_integral(self) -> bool {
        matches!(self, Byte | Short | Char | Int | Long)
    }

    /// Whether a value of this type is one of `to` by widening (JLS 5.1.2), or the same.
    pub(super) fn widens_to(self, to: Self) -> bool {
        self == to
            || match self {
                Boolean => false,
                Byte => matches!(to, Short | Int | Long | Float | Double),
                Short | Char => matches!(to, Int | Long | Float | Double),
                _ => to.is_numeric() && self < to,
            }
    }

    /// The type operands are promoted to (JLS 5.6).
    pub(super) fn promoted(self, other: Self) -> Self {
        self.max(other).max(Int)
    }
}

/// The type of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    /// Of `null`.
    Null,
    Primitive(Primitive),
    Boxed(Primitive),
    String,
    List(Box<Type>),
    Set(Box<Type>),
    Map(Box<(Type, Type)>),
    /// What `keySet()` and `values()` give: only looked at.
    View(Box<Type>),
    Udt,
    Tuple,
    /// A class whose values are handed on as they are, by its name.
    Opaque(&'static str),
}

impl Type {
    /// The primitive type it is or unboxes to.
    pub(super) fn unboxed(&self) -> Option<Primitive> {
        match self {
            Self::Primitive(primitive) | Self::Boxed(primitive) => Some(*primitive),
            _ => None,
        }
    }

    pub(super) fn is_primitive(&self) -> bool {
        matches!(self, Self::Primitive(_))
    }

    /// The numeric type it is or unboxes to.
    pub(super) fn numeric(&self) -> Option<Primitive> {
        self.unboxed().filter(|primitive| primitive.is_numeric())
    }

    /// The class that stands for it where only classes may.
    pub(super) fn into_class(self) -> Self {
        match self {
            Self::Primitive(primitive) => Self::Boxed(primitive),
            other => other,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Primitive(primitive) => f.write_str(primitive.name()),
            Self::Boxed(primitive) => f.write_str(primitive.boxed()),
            Self::String => f.write_str("String"),
            Self::List(element) => write!(f, "List<{element}>"),
            Self::Set(element) => write!(f, "Set<{element}>"),
            Self::Map(types) => write!(f, "Map<{},{}>", types.0, types.1),
            Self::View(element) => write!(f, "Collection<{element}>"),
            Self::Udt => f.write_str("UDTValue"),
            Self::Tuple => f.write_str("TupleValue"),
            Self::Opaque(class) => f.write_str(class),
        }
    }
}

/// The class of a CQL type's values.
pub(super) fn of_cql(ty: &CqlType) -> Type {
    let boxed = |ty: &CqlType| Box::new(of_cql(ty).into_class());
    match ty {
        CqlType::Ascii | CqlType::Text => Type::String,
        CqlType::Boolean => Type::Boxed(Boolean),
        CqlType::TinyInt => Type::Boxed(Byte),
        CqlType::SmallInt => Type::Boxed(Short),
        CqlType::Int => Type::Boxed(Int),
        CqlType::BigInt | CqlType::Counter | CqlType::Time => Type::Boxed(Long),
        CqlType::Float => Type::Boxed(Float),
        CqlType::Double => Type::Boxed(Double),
        CqlType::List(element) | CqlType::Vector(element, _) => Type::List(boxed(element)),
        CqlType::Set(element) => Type::Set(boxed(element)),
        CqlType::Map(types) => Type::Map(Box::new((
            of_cql(&types.0).into_class(),
            of_cql(&types.1).into_class(),
        ))),
        CqlType::Udt(_) => Type::Udt,
        CqlType::Tuple(_) => Type::Tuple,
        CqlType::Frozen(inner) => of_cql(inner),
        CqlType::Uuid | CqlType::Timeuuid => Type::Opaque("UUID"),
        CqlType::Inet => Type::Opaque("InetAddress"),
        CqlType::Timestamp => Type::Opaque("Date"),
        CqlType::Date => Type::Opaque("LocalDate"),
        CqlType::Duration => Type::Opaque("Duration"),
        CqlType::Varint => Type::Opaque("BigInteger"),
        CqlType::Decimal => Type::Opaque("BigDecimal"),
        _ => Type::Opaque("ByteBuffer"),
    }
}

/// The class of that name, as far as it needs no parameters.
pub(super) fn simple(name: &str) -> Option<Type> {
    if let Some(primitive) = Primitive::ALL.iter().find(|ty| ty.name() == name) {
        return Some(Type::Primitive(*primitive));
    }
    if let Some(primitive) = Primitive::ALL.iter().find(|ty| ty.boxed() == name) {
        return Some(Type::Boxed(*primitive));
    }
    Some(match name {
        "String" => Type::String,
        "UDTValue" => Type::Udt,
        "TupleValue" => Type::Tuple,
        // What Cassandra imports into every body.
        "UUID" => Type::Opaque("UUID"),
        "Date" => Type::Opaque("Date"),
        "ByteBuffer" => Type::Opaque("ByteBuffer"),
        _ => return None,
    })
}

/// The interfaces and classes of collections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Collection {
    List,
    Set,
    Map,
}

/// The collection an interface's name means.
pub(super) fn collection(name: &str) -> Option<Collection> {
    Some(match name {
        "List" => Collection::List,
        "Set" => Collection::Set,
        "Map" => Collection::Map,
        _ => return None,
    })
}

/// The collection that `new` of a class gives. Those whose order follows from hash codes are left out.
pub(super) fn constructed(name: &str) -> Option<Collection> {
    Some(match name {
        "ArrayList" | "LinkedList" => Collection::List,
        "LinkedHashSet" => Collection::Set,
        "LinkedHashMap" => Collection::Map,
        _ => return None,
    })
}
