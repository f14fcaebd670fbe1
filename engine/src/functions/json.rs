//! `toJson` and `fromJson`. Answers to Cassandra's `ToJsonFct` and `FromJsonFct`.

use bytes::Bytes;
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::number::{Number, scientific};
use super::{Argument, Body, Environment, Function, given, number};
use crate::json;

/// Whether a function of that name may stand in a `SELECT` clause: `fromJson` needs to be told its type.
pub(crate) fn is_selectable(name: &str) -> bool {
    !matches!(name, "fromjson" | "from_json")
}

/// The function of that name, if it is one of these.
pub(super) fn resolve(
    name: &str,
    arguments: &[Argument<'_>],
    wanted: Option<&CqlType>,
) -> Result<Option<Function>, ErrorResponse> {
    let (name, signature, run): (_, _, super::Run) = match name {
        "tojson" | "to_json" => ("tojson", "any", to_json),
        "fromjson" | "from_json" => ("fromjson", "text", from_json),
        _ => return Ok(None),
    };
    let [argument] = arguments else {
        return Err(ErrorResponse::invalid(format!(
            "Invalid number of arguments for function system.{name}({signature})"
        )));
    };
    let (takes, returns) = match name {
        "tojson" => (known_type(argument, name)?, CqlType::Text),
        _ => {
            let Some(returns) = wanted else {
                return Err(ErrorResponse::invalid(format!(
                    "{name}() can only be called if receiver type is known"
                )));
            };
            if !argument.fits(&CqlType::Text) {
                let ty = known_type(argument, name)?;
                return Err(ErrorResponse::invalid(format!(
                    "Function system.{name} requires an argument of type text, but found argument {} of type {ty}",
                    argument.text
                )));
            }
            (CqlType::Text, returns.clone())
        }
    };
    let mut function = Function::new(name, vec![takes], returns, run);
    if name == "tojson" {
        function.body = Body::Total(run);
    }
    Ok(Some(function))
}

fn known_type(argument: &Argument<'_>, name: &str) -> Result<CqlType, ErrorResponse> {
    let known = argument
        .ty
        .clone()
        .or_else(|| super::arithmetic::preferred_type(argument.term, None));
    known.ok_or_else(|| {
        ErrorResponse::invalid(format!(
            "Cannot infer type of argument {} in call to function system.{name}(any): use type casts to disambiguate",
            argument.text
        ))
    })
}

fn to_json(
    function: &Function,
    arguments: &[Option<Bytes>],
    _: &Environment<'_>,
) -> Result<Option<Bytes>, ErrorResponse> {
    let ty = function.argument(0);
    let value = given(arguments, 0);
    // An empty number is null to Java, whatever a row says of it.
    let is_null = arguments.first().is_none_or(Option::is_none)
        || (value.is_empty()
            && !matches!(
                ty.strip_frozen(),
                CqlType::Ascii | CqlType::Text | CqlType::Blob
            ));
    let mut out = String::new();
    match is_null {
        true => out.push_str("null"),
        false => json::write(&ty, value, &mut out)?,
    }
    Ok(Some(out.into()))
}

fn from_json(
    function: &Function,
    arguments: &[Option<Bytes>],
    environment: &Environment<'_>,
) -> Result<Option<Bytes>, ErrorResponse> {
    let failed = |message| {
        ErrorResponse::function_failure("system", "fromjson", vec!["text".to_owned()], message)
    };
    let text = String::from_utf8_lossy(given(arguments, 0));
    let document = json::parse(&text).map_err(|error| {
        failed(format!(
            "execution of 'system.fromjson[text]' failed: Could not decode JSON string '{}': {error}",
            json::clip(&text)
        ))
    })?;
    let now = environment.context.now_millis;
    json::value(&function.returns, &document, now).map_err(|fault| match fault {
        json::Fault::Marshal(message) => failed(format!(
            "org.apache.cassandra.serializers.MarshalException: {message}"
        )),
        json::Fault::Invalid(message) => ErrorResponse::invalid(message),
    })
}

/// A value of a type that JSON writes without quotes; `None` for other types, and for numbers too long to print.
pub(crate) fn json_scalar(ty: &CqlType, value: &[u8]) -> Option<String> {
    if let CqlType::Boolean = ty {
        return Some((value.first()? != &0).to_string());
    }
    Some(match Number::decode(ty, value)? {
        _ if *ty == CqlType::Timestamp => return None,
        // JSON has no numbers that aren't finite.
        Number::Float(float) if !float.is_finite() => "null".to_owned(),
        Number::Decimal(unscaled, scale) => scientific(&unscaled, scale),
        _ => return number::text(ty, value),
    })
}
