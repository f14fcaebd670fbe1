//! `intAsBlob`, `blobAsInt` and their like for every native type. Answers to Cassandra's `BytesConversionFcts`.

use bytes::Bytes;
use helenus_core::ErrorResponse;
use helenus_core::types::{CqlType, validate};

use super::{Environment, Function, given};

pub(super) fn candidates(name: &str, found: &mut Vec<Function>) {
    let to = name
        .strip_suffix("asblob")
        .or_else(|| name.strip_suffix("_as_blob"));
    if let Some(ty) = to.and_then(native) {
        found.push(Function::new(name, vec![ty], CqlType::Blob, unchanged));
    }
    let from = name
        .strip_prefix("blobas")
        .or_else(|| name.strip_prefix("blob_as_"));
    if let Some(ty) = from.and_then(native) {
        found.push(Function::new(name, vec![CqlType::Blob], ty, read));
    }
}

/// The native type of that name, except `blob` itself.
pub(super) fn native(name: &str) -> Option<CqlType> {
    Some(match name {
        "ascii" => CqlType::Ascii,
        "bigint" => CqlType::BigInt,
        "boolean" => CqlType::Boolean,
        "counter" => CqlType::Counter,
        "date" => CqlType::Date,
        "decimal" => CqlType::Decimal,
        "double" => CqlType::Double,
        "duration" => CqlType::Duration,
        "float" => CqlType::Float,
        "inet" => CqlType::Inet,
        "int" => CqlType::Int,
        "smallint" => CqlType::SmallInt,
        "text" | "varchar" => CqlType::Text,
        "time" => CqlType::Time,
        "timestamp" => CqlType::Timestamp,
        "timeuuid" => CqlType::Timeuuid,
        "tinyint" => CqlType::TinyInt,
        "uuid" => CqlType::Uuid,
        "varint" => CqlType::Varint,
        _ => return None,
    })
}

fn unchanged(
    _: &Function,
    arguments: &[Option<Bytes>],
    _: &Environment<'_>,
) -> Result<Option<Bytes>, ErrorResponse> {
    Ok(arguments.first().cloned().flatten())
}

fn read(
    function: &Function,
    arguments: &[Option<Bytes>],
    environment: &Environment<'_>,
) -> Result<Option<Bytes>, ErrorResponse> {
    let value = given(arguments, 0);
    if validate(&function.returns, value).is_err() {
        let hex: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
        return Err(ErrorResponse::invalid(format!(
            "In call to function {}, value 0x{hex} is not a valid binary representation for type {}",
            function.name, function.returns
        )));
    }
    unchanged(function, arguments, environment)
}
