//! Types as Cassandra's class names: what stands in custom types, `system_schema` of old and comparator strings.
//! Answers to Cassandra's `TypeParser`.

use std::fmt::Write as _;
use std::sync::Arc;

use nom::Parser;
use nom::bytes::complete::take_while1;
use nom::character::complete::{char, u32 as number};
use thiserror::Error;

use super::{CqlType, MAX_TYPE_DEPTH, UserType};

const PACKAGE: &str = "org.apache.cassandra.db.marshal.";

/// A class name that doesn't parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the class name of a type doesn't parse at byte {offset}")]
pub struct ClassNameError {
    /// Where, in bytes from the start.
    pub offset: usize,
}

impl CqlType {
    /// The full class name of this type.
    #[must_use]
    pub fn class_name(&self) -> String {
        let mut out = String::new();
        write_class(&mut out, self, Freezing::Shown);
        out
    }

    /// The type of this class name. Classes in Cassandra's own package may come without it, as Cassandra takes them;
    /// classes that are none of its types become [`CqlType::Custom`] with everything in their parentheses.
    ///
    /// # Errors
    /// When parentheses don't match, parameters are missing or types nest deeper than [`MAX_TYPE_DEPTH`].
    pub fn parse_class(name: &str) -> Result<Self, ClassNameError> {
        let mut left = name;
        let parsed = parse(&mut left, MAX_TYPE_DEPTH);
        match parsed {
            Some(ty) if left.trim_start().is_empty() => Ok(ty),
            _ => Err(ClassNameError {
                offset: name.len() - left.len(),
            }),
        }
    }

    const fn simple_class(&self) -> Option<&'static str> {
        Some(match self {
            Self::Ascii => "AsciiType",
            Self::BigInt => "LongType",
            Self::Blob => "BytesType",
            Self::Boolean => "BooleanType",
            Self::Counter => "CounterColumnType",
            Self::Decimal => "DecimalType",
            Self::Double => "DoubleType",
            Self::Float => "FloatType",
            Self::Int => "Int32Type",
            Self::Timestamp => "TimestampType",
            Self::Uuid => "UUIDType",
            Self::Text => "UTF8Type",
            Self::Varint => "IntegerType",
            Self::Timeuuid => "TimeUUIDType",
            Self::Inet => "InetAddressType",
            Self::Date => "SimpleDateType",
            Self::Time => "TimeType",
            Self::SmallInt => "ShortType",
            Self::TinyInt => "ByteType",
            Self::Duration => "DurationType",
            _ => return None,
        })
    }

    fn from_simple_class(class: &str) -> Option<Self> {
        Some(match class {
            "AsciiType" => Self::Ascii,
            "LongType" => Self::BigInt,
            "BytesType" => Self::Blob,
            "BooleanType" => Self::Boolean,
            "CounterColumnType" => Self::Counter,
            "DecimalType" => Self::Decimal,
            "DoubleType" => Self::Double,
            "FloatType" => Self::Float,
            "Int32Type" => Self::Int,
            // `DateType` is what `timestamp` was before Cassandra 2.0.
            "TimestampType" | "DateType" => Self::Timestamp,
            "UUIDType" => Self::Uuid,
            "UTF8Type" => Self::Text,
            "IntegerType" => Self::Varint,
            "TimeUUIDType" => Self::Timeuuid,
            "InetAddressType" => Self::Inet,
            "SimpleDateType" => Self::Date,
            "TimeType" => Self::Time,
            "ShortType" => Self::SmallInt,
            "ByteType" => Self::TinyInt,
            "DurationType" => Self::Duration,
            _ => return None,
        })
    }
}

/// Whether `FrozenType(…)` is written: within a frozen type or a tuple it goes without saying.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Freezing {
    Shown,
    Implied,
}

fn write_class(out: &mut String, ty: &CqlType, freezing: Freezing) {
    if let CqlType::Custom(class) = ty {
        return out.push_str(class);
    }
    if let CqlType::Frozen(_) = ty {
        return write_frozen(out, ty.strip_frozen(), freezing);
    }
    out.push_str(PACKAGE);
    if let Some(simple) = ty.simple_class() {
        return out.push_str(simple);
    }
    match ty {
        CqlType::List(element) => write_parameters(out, "ListType", [&**element], freezing),
        CqlType::Set(element) => write_parameters(out, "SetType", [&**element], freezing),
        CqlType::Map(entry) => write_parameters(out, "MapType", [&entry.0, &entry.1], freezing),
        CqlType::Tuple(elements) => {
            write_parameters(out, "TupleType", elements.iter(), Freezing::Implied);
        }
        CqlType::Vector(element, dimension) => {
            out.push_str("VectorType(");
            write_class(out, element, Freezing::Shown);
            // Writing to a string doesn't fail.
            let _ = write!(out, " , {dimension})");
        }
        CqlType::Udt(ty) => {
            let _ = write!(out, "UserType({},{}", ty.keyspace, hex(&ty.name));
            for (name, field) in &ty.fields {
                let _ = write!(out, ",{}:", hex(name));
                write_class(out, field, freezing);
            }
            out.push(')');
        }
        _ => {}
    }
}

/// Writes a frozen type. Only types that could be otherwise are said to be frozen.
fn write_frozen(out: &mut String, inner: &CqlType, freezing: Freezing) {
    let could_be_otherwise = matches!(
        inner,
        CqlType::List(_) | CqlType::Set(_) | CqlType::Map(_) | CqlType::Udt(_)
    );
    if freezing == Freezing::Shown && could_be_otherwise {
        out.push_str(PACKAGE);
        write_parameters(out, "FrozenType", [inner], Freezing::Implied);
    } else {
        write_class(out, inner, Freezing::Implied);
    }
}

fn write_parameters<'a>(
    out: &mut String,
    class: &str,
    parameters: impl IntoIterator<Item = &'a CqlType>,
    freezing: Freezing,
) {
    out.push_str(class);
    out.push('(');
    for (i, parameter) in parameters.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_class(out, parameter, freezing);
    }
    out.push(')');
}

fn hex(text: &str) -> String {
    text.bytes()
        .fold(String::with_capacity(2 * text.len()), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
}

fn from_hex(digits: &str) -> Option<String> {
    if !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return None;
    }
    let bytes = (0..digits.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&digits[i..i + 2], 16))
        .collect::<Result<Vec<u8>, _>>()
        .ok()?;
    String::from_utf8(bytes).ok()
}

/// A parser's result on what is left of the text; moves `left` on only when it matched.
fn eat<'a, O>(
    left: &mut &'a str,
    mut parser: impl Parser<&'a str, Output = O, Error = nom::error::Error<&'a str>>,
) -> Option<O> {
    let trimmed = left.trim_start();
    let (after, output) = parser.parse(trimmed).ok()?;
    *left = after;
    Some(output)
}

fn word<'a>(left: &mut &'a str) -> Option<&'a str> {
    eat(
        left,
        take_while1(|c: char| c.is_ascii_alphanumeric() || "._-+$&".contains(c)),
    )
}

fn parse(left: &mut &str, depth: usize) -> Option<CqlType> {
    let depth = depth.checked_sub(1)?;
    let begin = *left;
    let name = word(left)?;
    let class = name.strip_prefix(PACKAGE).unwrap_or(name);
    if let Some(simple) = CqlType::from_simple_class(class) {
        return Some(simple);
    }
    Some(match class {
        "ListType" => CqlType::List(Arc::new(only(left, depth)?)),
        "SetType" => CqlType::Set(Arc::new(only(left, depth)?)),
        "FrozenType" => CqlType::Frozen(Arc::new(only(left, depth)?)),
        // The order of a clustering column, which isn't part of its type.
        "ReversedType" => only(left, depth)?,
        "MapType" => {
            eat(left, char('('))?;
            let key = parse(left, depth)?;
            eat(left, char(','))?;
            let value = parse(left, depth)?;
            eat(left, char(')'))?;
            CqlType::Map(Arc::new((key, value)))
        }
        "TupleType" => {
            eat(left, char('('))?;
            let mut elements = vec![parse(left, depth)?];
            while eat(left, char(',')).is_some() {
                elements.push(parse(left, depth)?);
            }
            eat(left, char(')'))?;
            CqlType::Tuple(elements.into())
        }
        "VectorType" => {
            eat(left, char('('))?;
            let element = parse(left, depth)?;
            eat(left, char(','))?;
            // Elements of no bytes could be without end.
            let dimension = eat(left, number).filter(|dimension| *dimension > 0)?;
            eat(left, char(')'))?;
            CqlType::Vector(Arc::new(element), dimension)
        }
        "UserType" => user_type(left, depth)?,
        _ => {
            skip_parameters(left)?;
            let end = begin.len() - left.len();
            CqlType::Custom(begin.get(..end)?.trim().into())
        }
    })
}

fn only(left: &mut &str, depth: usize) -> Option<CqlType> {
    eat(left, char('('))?;
    let ty = parse(left, depth)?;
    eat(left, char(')'))?;
    Some(ty)
}

fn user_type(left: &mut &str, depth: usize) -> Option<CqlType> {
    eat(left, char('('))?;
    let keyspace = word(left)?.into();
    eat(left, char(','))?;
    let name = from_hex(word(left)?)?.into();
    let mut fields = Vec::new();
    while eat(left, char(',')).is_some() {
        let field = from_hex(word(left)?)?.into();
        eat(left, char(':'))?;
        fields.push((field, parse(left, depth)?));
    }
    eat(left, char(')'))?;
    Some(CqlType::Udt(Arc::new(UserType {
        keyspace,
        name,
        fields,
    })))
}

/// Passes over the parenthesised parameters of a class nobody knows, if it has any.
fn skip_parameters(left: &mut &str) -> Option<()> {
    if !left.starts_with('(') {
        return Some(());
    }
    let mut open = 0usize;
    for (i, c) in left.char_indices() {
        match c {
            '(' => open += 1,
            ')' => open = open.checked_sub(1)?,
            _ => {}
        }
        if open == 0 {
            *left = left.get(i + 1..)?;
            return Some(());
        }
    }
    None
}
