//! The methods and constants a body may use, and which one a call means.

use super::expression::Constant;
use super::types::Primitive::{self, Boolean, Byte, Char, Double, Float, Int, Long, Short};
use super::types::Type;

/// A method. Of an instance method the receiver is the first argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    // String
    Length,
    StringIsEmpty,
    CharAt,
    Substring,
    IndexOfText,
    IndexOfChar,
    LastIndexOf,
    ContainsText,
    StartsWith,
    EndsWith,
    EqualsIgnoreCase,
    CompareText,
    ToUpperCase,
    ToLowerCase,
    Trim,
    ReplaceChar,
    ReplaceText,
    HashText,
    Concatenate,
    /// The receiver, which must not be null.
    Itself,
    // Anything
    Equals,
    /// `toString()` of what must not be null.
    ToText,
    /// `String.valueOf`
    ValueOfText,
    // Boxes
    /// The box's value as another primitive.
    As(Primitive),
    CompareBoxes,
    IsNan,
    IsInfinite,
    ParseInt,
    ParseLong,
    // Math
    Abs,
    Max,
    Min,
    Pow,
    Sqrt,
    Floor,
    Ceil,
    Round,
    Log,
    Log10,
    Exp,
    Signum,
    FloorDiv,
    FloorMod,
    AddExact,
    SubtractExact,
    MultiplyExact,
    // Collections
    Size,
    IsEmpty,
    ListGet,
    ListSet,
    ListAdd,
    SetAdd,
    Contains,
    IndexOf,
    MapGet,
    MapGetOrDefault,
    MapPut,
    ContainsKey,
    Keys,
    Values,
    NewSequence,
    NewMap,
    // User types and tuples
    Get(Field),
    Set(Field),
    FieldIsNull,
    SetToNull,
    NewRecord,
}

/// What an accessor of a user type or tuple takes a field for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Primitive(Primitive),
    String,
}

impl Field {
    fn ty(self) -> Type {
        match self {
            Self::Primitive(primitive) => Type::Primitive(primitive),
            Self::String => Type::String,
        }
    }
}

/// What a call means.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) method: Method,
    /// What the arguments are converted to.
    pub(super) parameters: Vec<Type>,
    pub(super) returns: Type,
}

fn found(method: Method, parameters: Vec<Type>, returns: Type) -> Option<Found> {
    Some(Found {
        method,
        parameters,
        returns,
    })
}

const INT: Type = Type::Primitive(Int);
const BOOLEAN: Type = Type::Primitive(Boolean);
const DOUBLE: Type = Type::Primitive(Double);

/// Whether values of this type can be told apart by `equals` here.
pub(super) fn is_comparable(ty: &Type) -> bool {
    matches!(
        ty,
        Type::String | Type::Boxed(_) | Type::Primitive(_) | Type::Opaque(_) | Type::Null
    )
}

/// The method of that name on a value of that type.
pub(super) fn instance(receiver: &Type, name: &str, arguments: &[Type]) -> Option<Found> {
    if let ("equals", [argument]) = (name, arguments) {
        let argument = argument.clone().into_class();
        return match is_comparable(receiver) && is_comparable(&argument) {
            true => found(Method::Equals, vec![argument], BOOLEAN),
            false => None,
        };
    }
    match receiver {
        Type::String => text(name, arguments),
        Type::Boxed(primitive) => boxed(*primitive, name, arguments),
        Type::List(element) => list(element, name, arguments),
        Type::Set(element) => match (name, arguments) {
            ("add", [_]) if is_comparable(element) => {
                found(Method::SetAdd, vec![Type::clone(element)], BOOLEAN)
            }
            _ => sequence(element, name, arguments),
        },
        Type::View(element) => sequence(element, name, arguments),
        Type::Map(types) => map(&types.0, &types.1, name, arguments),
        Type::Udt | Type::Tuple => record(receiver, name, arguments),
        _ => None,
    }
}

fn text(name: &str, arguments: &[Type]) -> Option<Found> {
    let string = || vec![Type::String];
    match (name, arguments) {
        ("length", []) => found(Method::Length, vec![], INT),
        ("isEmpty", []) => found(Method::StringIsEmpty, vec![], BOOLEAN),
        ("charAt", [_]) => found(Method::CharAt, vec![INT], Type::Primitive(Char)),
        ("substring", [_]) => found(Method::Substring, vec![INT], Type::String),
        ("substring", [_, _]) => found(Method::Substring, vec![INT, INT], Type::String),
        ("indexOf", [Type::String]) => found(Method::IndexOfText, string(), INT),
        ("indexOf", [_]) => found(Method::IndexOfChar, vec![INT], INT),
        ("lastIndexOf", [Type::String]) => found(Method::LastIndexOf, string(), INT),
        ("contains", [_]) => found(Method::ContainsText, string(), BOOLEAN),
        ("startsWith", [_]) => found(Method::StartsWith, string(), BOOLEAN),
        ("endsWith", [_]) => found(Method::EndsWith, string(), BOOLEAN),
        ("equalsIgnoreCase", [_]) => found(Method::EqualsIgnoreCase, string(), BOOLEAN),
        ("compareTo", [_]) => found(Method::CompareText, string(), INT),
        ("toUpperCase", []) => found(Method::ToUpperCase, vec![], Type::String),
        ("toLowerCase", []) => found(Method::ToLowerCase, vec![], Type::String),
        ("trim", []) => found(Method::Trim, vec![], Type::String),
        ("concat", [_]) => found(Method::Concatenate, string(), Type::String),
        ("replace", [first, _]) if first.unboxed().is_some() => {
            let char = || Type::Primitive(Char);
            found(Method::ReplaceChar, vec![char(), char()], Type::String)
        }
        ("replace", [_, _]) => found(
            Method::ReplaceText,
            vec![Type::String, Type::String],
            Type::String,
        ),
        ("hashCode", []) => found(Method::HashText, vec![], INT),
        ("toString", []) => found(Method::Itself, vec![], Type::String),
        _ => None,
    }
}

fn boxed(primitive: Primitive, name: &str, arguments: &[Type]) -> Option<Found> {
    let to = match name {
        "byteValue" => Some(Byte),
        "shortValue" => Some(Short),
        "intValue" => Some(Int),
        "longValue" => Some(Long),
        "floatValue" => Some(Float),
        "doubleValue" => Some(Double),
        _ => None,
    };
    let is_number = primitive.is_numeric() && primitive != Char;
    match (name, arguments) {
        (_, []) if to.is_some() && is_number => {
            let to = to?;
            found(Method::As(to), vec![], Type::Primitive(to))
        }
        ("booleanValue", []) if primitive == Boolean => found(Method::As(Boolean), vec![], BOOLEAN),
        ("charValue", []) if primitive == Char => {
            found(Method::As(Char), vec![], Type::Primitive(Char))
        }
        ("isNaN", []) if matches!(primitive, Float | Double) => {
            found(Method::IsNan, vec![], BOOLEAN)
        }
        ("isInfinite", []) if matches!(primitive, Float | Double) => {
            found(Method::IsInfinite, vec![], BOOLEAN)
        }
        // Of the narrow ones Java gives the difference, not the order.
        ("compareTo", [_]) if matches!(primitive, Int | Long | Float | Double) => {
            found(Method::CompareBoxes, vec![Type::Boxed(primitive)], INT)
        }
        ("toString", []) => found(Method::ToText, vec![], Type::String),
        _ => None,
    }
}

fn sequence(element: &Type, name: &str, arguments: &[Type]) -> Option<Found> {
    match (name, arguments) {
        ("size", []) => found(Method::Size, vec![], INT),
        ("isEmpty", []) => found(Method::IsEmpty, vec![], BOOLEAN),
        ("contains", [argument]) if is_comparable(element) && is_comparable(argument) => found(
            Method::Contains,
            vec![argument.clone().into_class()],
            BOOLEAN,
        ),
        _ => None,
    }
}

fn list(element: &Type, name: &str, arguments: &[Type]) -> Option<Found> {
    let one = || vec![element.clone()];
    match (name, arguments) {
        ("get", [_]) => found(Method::ListGet, vec![INT], element.clone()),
        ("set", [_, _]) => found(Method::ListSet, vec![INT, element.clone()], element.clone()),
        ("add", [_]) => found(Method::ListAdd, one(), BOOLEAN),
        ("indexOf", [argument]) if is_comparable(element) && is_comparable(argument) => {
            found(Method::IndexOf, vec![argument.clone().into_class()], INT)
        }
        _ => sequence(element, name, arguments),
    }
}

fn map(key: &Type, value: &Type, name: &str, arguments: &[Type]) -> Option<Found> {
    let any_key = |argument: &Type| {
        (is_comparable(key) && is_comparable(argument)).then(|| argument.clone().into_class())
    };
    match (name, arguments) {
        ("size", []) => found(Method::Size, vec![], INT),
        ("isEmpty", []) => found(Method::IsEmpty, vec![], BOOLEAN),
        ("get", [argument]) => found(Method::MapGet, vec![any_key(argument)?], value.clone()),
        ("getOrDefault", [argument, _]) => {
            let parameters = vec![any_key(argument)?, value.clone()];
            found(Method::MapGetOrDefault, parameters, value.clone())
        }
        ("containsKey", [argument]) => {
            found(Method::ContainsKey, vec![any_key(argument)?], BOOLEAN)
        }
        ("put", [_, _]) if is_comparable(key) => found(
            Method::MapPut,
            vec![key.clone(), value.clone()],
            value.clone(),
        ),
        ("keySet", []) => found(Method::Keys, vec![], Type::View(Box::new(key.clone()))),
        ("values", []) => found(Method::Values, vec![], Type::View(Box::new(value.clone()))),
        _ => None,
    }
}

/// `getInt("field")`, `setInt(0, value)` and their like; a tuple's fields have numbers only.
fn record(receiver: &Type, name: &str, arguments: &[Type]) -> Option<Found> {
    let place = match arguments.first()? {
        Type::String if *receiver == Type::Udt => Type::String,
        _ => INT,
    };
    match (name, arguments.len()) {
        ("isNull", 1) => return found(Method::FieldIsNull, vec![place], BOOLEAN),
        ("setToNull", 1) => return found(Method::SetToNull, vec![place], receiver.clone()),
        _ => {}
    }
    let field = |name: &str| {
        Some(match name {
            "Bool" => Field::Primitive(Boolean),
            "Byte" => Field::Primitive(Byte),
            "Short" => Field::Primitive(Short),
            "Int" => Field::Primitive(Int),
            "Long" => Field::Primitive(Long),
            "Float" => Field::Primitive(Float),
            "Double" => Field::Primitive(Double),
            "String" => Field::String,
            _ => return None,
        })
    };
    if let (Some(name), 1) = (name.strip_prefix("get"), arguments.len()) {
        let field = field(name)?;
        return found(Method::Get(field), vec![place], field.ty());
    }
    match (name.strip_prefix("set"), arguments.len()) {
        (Some(name), 2) => {
            let field = field(name)?;
            found(
                Method::Set(field),
                vec![place, field.ty()],
                receiver.clone(),
            )
        }
        _ => None,
    }
}

/// The static method of a class.
pub(super) fn of_class(class: &str, name: &str, arguments: &[Type]) -> Option<Found> {
    match class {
        "Math" => math(name, arguments),
        "String" => match (name, arguments) {
            ("valueOf", [argument]) if argument.is_primitive() => {
                found(Method::ValueOfText, vec![argument.clone()], Type::String)
            }
            ("valueOf", [argument @ (Type::String | Type::Boxed(_))]) => {
                found(Method::ValueOfText, vec![argument.clone()], Type::String)
            }
            _ => None,
        },
        _ => {
            let primitive = *Primitive::ALL
                .iter()
                .find(|primitive| primitive.boxed() == class)?;
            of_box(primitive, name, arguments)
        }
    }
}

fn of_box(primitive: Primitive, name: &str, arguments: &[Type]) -> Option<Found> {
    let own = || Type::Primitive(primitive);
    match (name, arguments) {
        ("valueOf", [Type::String]) => match primitive {
            Int => found(Method::ParseInt, vec![Type::String], Type::Boxed(Int)),
            Long => found(Method::ParseLong, vec![Type::String], Type::Boxed(Long)),
            _ => None,
        },
        ("valueOf", [_]) => found(Method::Itself, vec![own()], Type::Boxed(primitive)),
        ("parseInt", [_]) if primitive == Int => found(Method::ParseInt, vec![Type::String], INT),
        ("parseLong", [_]) if primitive == Long => {
            found(Method::ParseLong, vec![Type::String], Type::Primitive(Long))
        }
        ("toString", [_]) => found(Method::ValueOfText, vec![own()], Type::String),
        ("compare", [_, _]) if matches!(primitive, Int | Long | Float | Double) => {
            found(Method::CompareBoxes, vec![own(), own()], INT)
        }
        ("max", [_, _]) if matches!(primitive, Int | Long | Float | Double) => {
            found(Method::Max, vec![own(), own()], own())
        }
        ("min", [_, _]) if matches!(primitive, Int | Long | Float | Double) => {
            found(Method::Min, vec![own(), own()], own())
        }
        ("isNaN", [_]) if matches!(primitive, Float | Double) => {
            found(Method::IsNan, vec![own()], BOOLEAN)
        }
        ("isInfinite", [_]) if matches!(primitive, Float | Double) => {
            found(Method::IsInfinite, vec![own()], BOOLEAN)
        }
        _ => None,
    }
}

fn math(name: &str, arguments: &[Type]) -> Option<Found> {
    let double = |method| found(method, vec![DOUBLE], DOUBLE);
    match arguments {
        [argument] => {
            let own = argument.numeric()?.promoted(Int);
            match name {
                "abs" => found(
                    Method::Abs,
                    vec![Type::Primitive(own)],
                    Type::Primitive(own),
                ),
                "round" if own == Double => {
                    found(Method::Round, vec![DOUBLE], Type::Primitive(Long))
                }
                "round" => found(Method::Round, vec![Type::Primitive(Float)], INT),
                "signum" if own == Double => double(Method::Signum),
                "sqrt" => double(Method::Sqrt),
                "floor" => double(Method::Floor),
                "ceil" => double(Method::Ceil),
                "log" => double(Method::Log),
                "log10" => double(Method::Log10),
                "exp" => double(Method::Exp),
                _ => None,
            }
        }
        [a, b] => {
            let both = a.numeric()?.promoted(b.numeric()?);
            let two = |method| {
                let ty = || Type::Primitive(both);
                found(method, vec![ty(), ty()], ty())
            };
            match name {
                "max" => two(Method::Max),
                "min" => two(Method::Min),
                "pow" => found(Method::Pow, vec![DOUBLE, DOUBLE], DOUBLE),
                // `floorMod(long, int)` gives an int from Java 9 on.
                "floorMod" if both == Long && b.numeric()? != Long => None,
                "floorDiv" if both.is_integral() => two(Method::FloorDiv),
                "floorMod" if both.is_integral() => two(Method::FloorMod),
                "addExact" if both.is_integral() => two(Method::AddExact),
                "subtractExact" if both.is_integral() => two(Method::SubtractExact),
                "multiplyExact" if both.is_integral() => two(Method::MultiplyExact),
                _ => None,
            }
        }
        _ => None,
    }
}

/// `Integer.MAX_VALUE` and its like.
pub(super) fn constant(class: &str, name: &str) -> Option<(Constant, Type)> {
    let of = |value, primitive| Some((value, Type::Primitive(primitive)));
    match (class, name) {
        ("Byte", "MAX_VALUE") => of(Constant::Byte(i8::MAX), Byte),
        ("Byte", "MIN_VALUE") => of(Constant::Byte(i8::MIN), Byte),
        ("Short", "MAX_VALUE") => of(Constant::Short(i16::MAX), Short),
        ("Short", "MIN_VALUE") => of(Constant::Short(i16::MIN), Short),
        ("Integer", "MAX_VALUE") => of(Constant::Int(i32::MAX), Int),
        ("Integer", "MIN_VALUE") => of(Constant::Int(i32::MIN), Int),
        ("Long", "MAX_VALUE") => of(Constant::Long(i64::MAX), Long),
        ("Long", "MIN_VALUE") => of(Constant::Long(i64::MIN), Long),
        ("Double", "MAX_VALUE") => of(Constant::Double(f64::MAX), Double),
        ("Double", "NaN") => of(Constant::Double(f64::NAN), Double),
        ("Double", "POSITIVE_INFINITY") => of(Constant::Double(f64::INFINITY), Double),
        ("Double", "NEGATIVE_INFINITY") => of(Constant::Double(f64::NEG_INFINITY), Double),
        ("Float", "MAX_VALUE") => of(Constant::Float(f32::MAX), Float),
        ("Float", "NaN") => of(Constant::Float(f32::NAN), Float),
        ("Float", "POSITIVE_INFINITY") => of(Constant::Float(f32::INFINITY), Float),
        ("Float", "NEGATIVE_INFINITY") => of(Constant::Float(f32::NEG_INFINITY), Float),
        ("Math", "PI") => of(Constant::Double(std::f64::consts::PI), Double),
        ("Math", "E") => of(Constant::Double(std::f64::consts::E), Double),
        ("Boolean", "TRUE") => Some((Constant::Boolean(true), Type::Boxed(Boolean))),
        ("Boolean", "FALSE") => Some((Constant::Boolean(false), Type::Boxed(Boolean))),
        _ => None,
    }
}

/// The exceptions a body may throw: unchecked ones, by their full names.
pub(super) fn exception(name: &str) -> Option<&'static str> {
    const UNCHECKED: [&str; 12] = [
        "java.lang.ArithmeticException",
        "java.lang.ArrayIndexOutOfBoundsException",
        "java.lang.ClassCastException",
        "java.lang.Error",
        "java.lang.IllegalArgumentException",
        "java.lang.IllegalStateException",
        "java.lang.IndexOutOfBoundsException",
        "java.lang.NullPointerException",
        "java.lang.NumberFormatException",
        "java.lang.RuntimeException",
        "java.lang.UnsupportedOperationException",
        "java.util.NoSuchElementException",
    ];
    UNCHECKED
        .into_iter()
        .find(|full| *full == name || full.rsplit('.').next() == Some(name))
}
