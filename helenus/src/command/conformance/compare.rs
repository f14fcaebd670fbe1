//! Where a reply differs from the one that was expected, and in which bytes.

use std::fmt::Display;
use std::ops::Range;

use helenus_core::wire::Reader;
use helenus_core::{ErrorCode, Flags};
use serde::Serialize;

use super::probe::Expected;
use super::reply::Reply;
use crate::command::hex;

/// Bytes of a field that are shown.
const SHOWN: usize = 48;

/// A field that isn't as expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Difference {
    /// The field, as the probe names it.
    pub(super) field: String,
    /// What was expected.
    pub(super) expected: String,
    /// What came.
    pub(super) got: String,
    /// Which bytes of the reply that is, its header included and its body decompressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<Range<usize>>,
}

/// The fields in which `got` isn't what the probe compares.
pub(super) fn compare(expected: &Expected, got: &Reply) -> Vec<Difference> {
    let fields = expected.compare.iter();
    fields
        .filter_map(|field| difference(field, expected, got))
        .collect()
}

fn difference(field: &str, expected: &Expected, got: &Reply) -> Option<Difference> {
    let at = |name| got.span(name);
    match field {
        "framing" => unequal(field, &expected.framing.as_str(), &got.framing.name(), None),
        "version" => unequal(field, &expected.version, &got.header.version, at(field)),
        "flags" => flags(expected, got),
        "stream" => unequal(field, &expected.stream, &got.header.stream.0, at(field)),
        "opcode" => {
            let opcode = got.header.opcode.to_string();
            unequal(field, &expected.opcode, &opcode, at(field))
        }
        "code" => code(expected, got),
        "authenticator" => {
            let have = got.authenticator();
            unequal_option(field, expected.authenticator.as_ref(), have.as_ref(), got)
        }
        "kind" => unequal_option(field, expected.kind.as_ref(), got.kind().as_ref(), got),
        "rows.flags" => unequal_option(
            field,
            expected.rows.flags.as_ref(),
            got.int(field).as_ref(),
            got,
        ),
        "rows.columns" => unequal_option(
            field,
            expected.rows.columns.as_ref(),
            got.int(field).as_ref(),
            got,
        ),
        "row_count" => {
            let (wanted, have) = (expected.row_count, got.row_count());
            let count = at("rows.rest").map(|rest| rest.start..rest.start + 4);
            unequal(field, &or_absent(wanted), &or_absent(have), count)
        }
        "body" => bytes(field, expected.body.as_deref(), got),
        "extra" => bytes(field, expected.extra.as_deref(), got),
        "rows.spec" => bytes(field, expected.rows.spec.as_deref(), got),
        "rows.rest" => bytes(field, expected.rows.rest.as_deref(), got),
        "prepared.rest" => bytes(field, expected.prepared.rest.as_deref(), got),
        "has_tracing_id" => presence("tracing_id", expected.has_tracing_id, got),
        "has_paging_state" => presence("rows.paging_state", expected.has_paging_state, got),
        "has_new_metadata_id" => {
            presence("rows.new_metadata_id", expected.has_new_metadata_id, got)
        }
        "warning_count" => {
            let count = got
                .field("warnings")
                .map_or(0, |list| Reader::new(list).short().map_or(0, usize::from));
            unequal(field, &expected.warning_count, &count, at("warnings"))
        }
        "message_contains" => message(expected, got),
        "supported_keys" => supported_keys(expected, got),
        other => supported_values(other, expected, got),
    }
}

fn unequal<T: PartialEq + Display>(
    field: &str,
    expected: &T,
    got: &T,
    bytes: Option<Range<usize>>,
) -> Option<Difference> {
    (expected != got).then(|| Difference {
        field: field.to_owned(),
        expected: expected.to_string(),
        got: got.to_string(),
        bytes,
    })
}

fn unequal_option<T: PartialEq + Display>(
    field: &str,
    expected: Option<&T>,
    got: Option<&T>,
    reply: &Reply,
) -> Option<Difference> {
    unequal(
        field,
        &or_absent(expected),
        &or_absent(got),
        reply.span(field),
    )
}

/// Whether to compress a reply is the server's choice: that flag isn't compared.
fn flags(expected: &Expected, got: &Reply) -> Option<Difference> {
    let others = |flags: Flags| format!("{:#04x}", flags.without(Flags::COMPRESSION).0);
    let (expected, have) = (Flags(expected.flags), got.header.flags);
    unequal("flags", &others(expected), &others(have), got.span("flags"))
}

fn code(expected: &Expected, got: &Reply) -> Option<Difference> {
    let wanted = expected.code.as_deref().and_then(|text| {
        u32::from_str_radix(text.strip_prefix("0x")?, 16)
            .ok()
            .map(ErrorCode)
    });
    if wanted == got.code() {
        return None;
    }
    let mut have = named(got.code());
    if let Some(message) = got.message() {
        have = format!("{have} ({message})");
    }
    Some(Difference {
        field: "code".to_owned(),
        expected: named(wanted),
        got: have,
        bytes: got.span("code"),
    })
}

fn named(code: Option<ErrorCode>) -> String {
    or_absent(code.map(|code| match code.name() {
        Some(name) => format!("0x{:04X} {name}", code.0),
        None => format!("0x{:04X}", code.0),
    }))
}

/// A difference between bytes; it points at the first one that isn't equal.
fn bytes(field: &str, expected: Option<&str>, got: &Reply) -> Option<Difference> {
    let have = got.field(field);
    let wanted = expected.map(|digits| hex::decode(digits).unwrap_or_default());
    if have == wanted.as_deref() {
        return None;
    }
    let (Some(wanted), Some(have)) = (&wanted, have) else {
        let show = |bytes: Option<&[u8]>| or_absent(bytes.map(|bytes| hex::brief(bytes, SHOWN)));
        return Some(Difference {
            field: field.to_owned(),
            expected: show(wanted.as_deref()),
            got: show(have),
            bytes: got.span(field),
        });
    };
    let pairs = wanted.iter().zip(have);
    let equal = pairs.take_while(|(wanted, have)| wanted == have).count();
    let from = |bytes: &[u8]| match bytes.get(equal..) {
        Some([]) | None => "the end".to_owned(),
        Some(rest) => hex::brief(rest, SHOWN),
    };
    Some(Difference {
        field: format!("{field} from its byte {equal} on"),
        expected: from(wanted),
        got: from(have),
        bytes: got.span(field).map(|span| span.start + equal..span.end),
    })
}

fn presence(field: &str, expected: bool, got: &Reply) -> Option<Difference> {
    let word = |is_there| if is_there { "present" } else { "absent" };
    // A [bytes] of length -1 is none.
    let has = got.field(field).is_some_and(|bytes| bytes != [0xFF; 4]);
    unequal(field, &word(expected), &word(has), got.span(field))
}

fn message(expected: &Expected, got: &Reply) -> Option<Difference> {
    let message = got.message().unwrap_or_default();
    let mut texts = expected.message_contains.iter();
    let missing = texts.find(|text| !message.contains(*text))?;
    Some(Difference {
        field: "message".to_owned(),
        expected: format!("a text with {missing:?}"),
        got: format!("{message:?}"),
        bytes: got.span("message"),
    })
}

fn supported_keys(expected: &Expected, got: &Reply) -> Option<Difference> {
    let have: Vec<String> = supported(got).into_iter().map(|(key, _)| key).collect();
    let missing: Vec<&str> = expected
        .supported
        .keys()
        .filter(|key| !have.contains(key))
        .map(String::as_str)
        .collect();
    (!missing.is_empty()).then(|| Difference {
        field: "supported".to_owned(),
        expected: format!("the options {}", missing.join(", ")),
        got: have.join(", "),
        bytes: got.span("supported"),
    })
}

fn supported_values(field: &str, expected: &Expected, got: &Reply) -> Option<Difference> {
    let Some(key) = field.strip_prefix("supported.") else {
        return Some(Difference {
            field: field.to_owned(),
            expected: "a field that can be compared".to_owned(),
            got: "none of that name".to_owned(),
            bytes: None,
        });
    };
    let wanted = expected.supported.get(key).map(|values| values.join(", "));
    let mut options = supported(got).into_iter();
    let have = options
        .find(|(name, _)| name == key)
        .map(|(_, values)| values.join(", "));
    unequal(
        field,
        &or_absent(wanted),
        &or_absent(have),
        got.span("supported"),
    )
}

/// The options of a SUPPORTED.
fn supported(got: &Reply) -> Vec<(String, Vec<String>)> {
    let bytes = got.field("supported").unwrap_or_default();
    let Ok(map) = Reader::new(bytes).string_multimap() else {
        return Vec::new();
    };
    map.iter()
        .map(|(key, values)| (key.to_owned(), values.iter().map(str::to_owned).collect()))
        .collect()
}

fn or_absent(value: Option<impl Display>) -> String {
    value.map_or_else(|| "absent".to_owned(), |value| value.to_string())
}
