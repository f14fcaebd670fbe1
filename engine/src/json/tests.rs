//! Documents and values both ways; texts and messages were recorded from Apache Cassandra 5.0.4.

use helenus_core::types::CqlType;

use super::{Fault, parse, value, write};
use crate::schema::testing::World;

fn ty(name: &str) -> CqlType {
    let mut world = World::new();
    world.ok("CREATE TYPE u (a int, \"B c\" text, d frozen<list<int>>)");
    world.ok(&format!("CREATE TABLE t (k int PRIMARY KEY, v {name})"));
    world
        .schema
        .table("ks", "t")
        .unwrap()
        .column("v")
        .unwrap()
        .ty
        .clone()
}

/// What a document becomes in a column of that type, as a document again; or why it doesn't.
fn through(ty: &CqlType, text: &str) -> Result<String, String> {
    let document = parse(text).map_err(|error| format!("malformed: {error}"))?;
    let bytes = value(ty, &document, 1_577_836_800_000).map_err(|fault| match fault {
        Fault::Marshal(message) => message,
        Fault::Invalid(message) => format!("invalid: {message}"),
    })?;
    Ok(match bytes {
        None => "null".to_owned(),
        Some(bytes) if bytes.is_empty() => "\"\"".to_owned(),
        Some(bytes) => {
            helenus_core::types::validate(ty, &bytes).expect("a valid value");
            let mut out = String::new();
            write(ty, &bytes, &mut out).map_err(|error| error.message.into_owned())?;
            out
        }
    })
}

#[test]
fn every_type_reads_and_writes_its_documents() {
    let cases: &[(&str, &[(&str, &str)])] = &[
        (
            "ascii",
            &[("\"5\"", "\"5\""), ("\"\"", "\"\""), ("null", "null")],
        ),
        (
            "bigint",
            &[
                ("5", "5"),
                ("\"+5\"", "5"),
                ("\"\"", "\"\""),
                ("-9223372036854775808", "-9223372036854775808"),
            ],
        ),
        ("blob", &[("\"0x00FF\"", "\"0x00ff\""), ("\"0x\"", "\"\"")]),
        (
            "boolean",
            &[("true", "true"), ("\"TRUE\"", "true"), ("\"\"", "false")],
        ),
        (
            "date",
            &[
                ("\"2020-01-01\"", "\"2020-01-01\""),
                ("\"5\"", "\"-5877641-06-28\""),
                ("\"2147483648\"", "\"1970-01-01\""),
            ],
        ),
        (
            "decimal",
            &[
                ("1.50", "1.5"),
                ("\"1.50\"", "1.50"),
                ("1e10", "1.0E+10"),
                ("1E-10", "1.0E-10"),
                ("\"1e400\"", "1E+400"),
                ("-1", "-1"),
                ("\"0.000001\"", "0.000001"),
                ("\"0.0000001\"", "1E-7"),
                (
                    "123456789012345678901234567890.123456789",
                    "1.2345678901234568E+29",
                ),
            ],
        ),
        (
            "double",
            &[
                ("5", "5.0"),
                ("1e300", "1.0E300"),
                ("\"NaN\"", "null"),
                ("\"-Infinity\"", "null"),
                ("1e400", "null"),
                ("\" 1.5 \"", "1.5"),
                ("\"1.5f\"", "1.5"),
                ("12345678901234567890", "1.2345678901234567E19"),
                ("-0.0", "-0.0"),
                ("0.001", "0.001"),
                ("1e-5", "1.0E-5"),
                ("1e7", "1.0E7"),
            ],
        ),
        (
            "float",
            &[
                ("1.1", "1.1"),
                ("16777217", "1.6777216E7"),
                ("1e40", "null"),
                ("0.1", "0.1"),
            ],
        ),
        (
            "inet",
            &[
                ("\"::1\"", "\"0:0:0:0:0:0:0:1\""),
                ("\"1.2.3.4\"", "\"1.2.3.4\""),
                ("\"5\"", "\"0.0.0.5\""),
            ],
        ),
        (
            "int",
            &[
                ("2147483647", "2147483647"),
                ("\"+5\"", "5"),
                ("\"\"", "\"\""),
            ],
        ),
        ("smallint", &[("32767", "32767"), ("\"-5\"", "-5")]),
        (
            "text",
            &[
                ("\"a\\u00e9\\n\\\"\\\\\\/\"", "\"aé\\n\\\"\\\\/\""),
                ("\"\\ud83d\\ude00\"", "\"😀\""),
                ("\"\\ud83d\"", "\"?\""),
                ("\"\\u0000\\u001f\"", "\"\\u0000\\u001F\""),
            ],
        ),
        (
            "time",
            &[
                ("\"01:02:03.004\"", "\"01:02:03.004000000\""),
                ("\"5\"", "\"00:00:00.000000005\""),
            ],
        ),
        (
            "timestamp",
            &[
                (
                    "\"2020-02-03T04:05:06.007+0100\"",
                    "\"2020-02-03 03:05:06.007Z\"",
                ),
                ("1577836800000", "\"2020-01-01 00:00:00.000Z\""),
                ("\"now\"", "\"2020-01-01 00:00:00.000Z\""),
                ("\"-62135596800001\"", "\"0001-12-31 23:59:59.999Z\""),
                ("\"253402300800000\"", "\"+10000-01-01 00:00:00.000Z\""),
                ("-9223372036854775808", "\"+292275056-05-16 16:47:04.192Z\""),
            ],
        ),
        (
            "timeuuid",
            &[(
                "\"50554d6e-29bb-11e5-b345-feff819cdc9f\"",
                "\"50554d6e-29bb-11e5-b345-feff819cdc9f\"",
            )],
        ),
        ("tinyint", &[("-128", "-128")]),
        (
            "uuid",
            &[(
                "\"550E8400-E29B-41D4-A716-446655440000\"",
                "\"550e8400-e29b-41d4-a716-446655440000\"",
            )],
        ),
        (
            "varint",
            &[
                (
                    "123456789012345678901234567890",
                    "123456789012345678901234567890",
                ),
                ("\"-5\"", "-5"),
            ],
        ),
        (
            "duration",
            &[
                ("\"1y2mo3d4h5m6s7ms8us9ns\"", "\"1y2mo3d4h5m6s7ms8us9ns\""),
                ("\"-1mo2d3h\"", "\"-1mo2d3h\""),
                ("\"90m\"", "\"1h30m\""),
                ("\"1w\"", "\"7d\""),
                ("\"\"", "\"\""),
            ],
        ),
        (
            "list<int>",
            &[
                ("[\"1\", 2]", "[1, 2]"),
                ("\"[1, 2]\"", "[1, 2]"),
                ("[]", "[]"),
            ],
        ),
        ("set<text>", &[("[\"b\",\"a\",\"b\"]", "[\"a\", \"b\"]")]),
        (
            "map<int, text>",
            &[(
                "{\"2\":\"b\",\"1\":\"a\",\"2\":\"c\"}",
                "{\"1\": \"a\", \"2\": \"c\"}",
            )],
        ),
        (
            "tuple<int, text>",
            &[("[1,\"a\"]", "[1, \"a\"]"), ("[null,null]", "[null, null]")],
        ),
        (
            "u",
            &[
                (
                    "{\"A\":1}",
                    "{\"a\": 1, \"\\\"B c\\\"\": null, \"d\": null}",
                ),
                (
                    "{\"\\\"B c\\\"\":\"x\",\"d\":[1,2]}",
                    "{\"a\": null, \"\\\"B c\\\"\": \"x\", \"d\": [1, 2]}",
                ),
            ],
        ),
        ("vector<float, 2>", &[("[1,\"2.5\"]", "[1.0, 2.5]")]),
        ("vector<text, 2>", &[("[\"a\",\"b\"]", "[\"a\", \"b\"]")]),
        (
            "map<frozen<u>, int>",
            &[(
                "{\"{\\\"a\\\": 1}\": 5}",
                "{\"{\\\"a\\\": 1, \\\"\\\\\\\"B c\\\\\\\"\\\": null, \\\"d\\\": null}\": 5}",
            )],
        ),
        (
            "map<frozen<list<int>>, frozen<map<blob, timestamp>>>",
            &[(
                "{\"[1, 2]\": {\"0x01\": \"2020-01-01\"}}",
                "{\"[1, 2]\": {\"0x01\": \"2020-01-01 00:00:00.000Z\"}}",
            )],
        ),
        (
            "map<float, boolean>",
            &[("{\"NaN\": true}", "{\"null\": true}")],
        ),
    ];
    for (name, documents) in cases {
        let ty = ty(name);
        for (given, expected) in *documents {
            assert_eq!(
                through(&ty, given).as_deref(),
                Ok(*expected),
                "{name}: {given}"
            );
        }
    }
}

#[test]
fn documents_of_another_kind_are_refused_with_cassandras_words() {
    let cases: &[(&str, &[(&str, &str)])] = &[
        (
            "ascii",
            &[
                ("5.5", "Expected an ascii string, but got a Double: 5.5"),
                (
                    "{\"a\":1}",
                    "Expected an ascii string, but got a LinkedHashMap: {a=1}",
                ),
            ],
        ),
        (
            "bigint",
            &[
                (
                    "9223372036854775808",
                    "Expected a bigint value, but got a BigInteger: 9223372036854775808",
                ),
                ("\"x\"", "Unable to make long from 'x'"),
                ("1e3", "Expected a bigint value, but got a Double: 1000.0"),
            ],
        ),
        (
            "blob",
            &[
                (
                    "\"00ff\"",
                    "Value '00ff' is not a valid blob representation: String representation of blob is missing 0x prefix: 00ff",
                ),
                (
                    "\"0x123\"",
                    "Value '0x123' is not a valid blob representation: cannot parse '123' as hex bytes",
                ),
            ],
        ),
        (
            "boolean",
            &[
                ("0", "Expected a boolean value, but got a Integer: 0"),
                ("\"yes\"", "Unable to make boolean from 'yes'"),
            ],
        ),
        (
            "date",
            &[
                (
                    "5",
                    "Expected a string representation of a date value, but got a Integer: 5",
                ),
                ("\"x\"", "Unable to coerce 'x' to a formatted date (long)"),
            ],
        ),
        (
            "decimal",
            &[
                (
                    "true",
                    "Value 'true' is not a valid representation of a decimal value",
                ),
                (
                    "\"1_0\"",
                    "Value '1_0' is not a valid representation of a decimal value",
                ),
            ],
        ),
        (
            "double",
            &[
                ("\"nan\"", "Unable to make double from 'nan'"),
                ("[1]", "Expected a double value, but got a ArrayList: [1]"),
            ],
        ),
        (
            "int",
            &[
                (
                    "2147483648",
                    "Expected an int value, but got a Long: 2147483648",
                ),
                ("\" 5\"", "Unable to make int from ' 5'"),
            ],
        ),
        (
            "smallint",
            &[
                ("1e3", "Unable to make short from '1000.0'"),
                ("32768", "Unable to make short from '32768'"),
            ],
        ),
        (
            "tinyint",
            &[
                ("128", "Unable to make byte from '128'"),
                ("true", "Expected a byte value, but got a Boolean: true"),
            ],
        ),
        (
            "time",
            &[(
                "\"25:00:00\"",
                "(TimeType) Unable to coerce '25:00:00' to a formatted time (long)",
            )],
        ),
        (
            "timestamp",
            &[
                (
                    "5",
                    "Expected a long or a datestring representation of a timestamp value, but got a Integer: 5",
                ),
                ("\"x\"", "Unable to parse a date/time from 'x'"),
            ],
        ),
        (
            "timeuuid",
            &[
                ("\"x\"", "Unknown timeuuid representation: x"),
                (
                    "\"550e8400-e29b-41d4-a716-446655440000\"",
                    "TimeUUID supports only version 1 UUIDs",
                ),
            ],
        ),
        (
            "uuid",
            &[(
                "\"550e8400e29b41d4a716446655440000\"",
                "Unable to make UUID from '550e8400e29b41d4a716446655440000'",
            )],
        ),
        (
            "varint",
            &[
                (
                    "1.0",
                    "Value '1.0' is not a valid representation of a varint value",
                ),
                (
                    "\"\"",
                    "Value '' is not a valid representation of a varint value",
                ),
            ],
        ),
        (
            "duration",
            &[
                ("\"1x\"", "invalid: Unable to convert '1x' to a duration"),
                (
                    "5",
                    "Expected a string representation of a duration, but got a Integer: 5",
                ),
            ],
        ),
        (
            "list<int>",
            &[
                ("[null]", "Invalid null element in list"),
                ("{}", "Expected a list, but got a LinkedHashMap: {}"),
                ("[1.5]", "Expected an int value, but got a Double: 1.5"),
            ],
        ),
        (
            "set<text>",
            &[
                (
                    "{}",
                    "Expected a list (representing a set), but got a LinkedHashMap: {}",
                ),
                ("[null]", "Invalid null element in set"),
            ],
        ),
        (
            "map<int, text>",
            &[
                ("[]", "Expected a map, but got a ArrayList: []"),
                ("{\"1\":null}", "Invalid null value in map"),
                ("{\"x\":\"a\"}", "Unable to make int from 'x'"),
            ],
        ),
        (
            "tuple<int, text>",
            &[
                ("[1]", "Tuple is missing items (expected 2): [1]"),
                (
                    "[1,\"a\",2]",
                    "Tuple contains extra items (expected 2): [1, a, 2]",
                ),
            ],
        ),
        (
            "u",
            &[(
                "{\"B c\":\"x\"}",
                "Unknown field 'b c' in value of user defined type u",
            )],
        ),
        (
            "vector<float, 2>",
            &[
                (
                    "[1,2,3]",
                    "List had incorrect size: expected 2 but given 3; [1, 2, 3]",
                ),
                ("[null,1]", "Invalid null element in list"),
            ],
        ),
    ];
    for (name, documents) in cases {
        let ty = ty(name);
        for (given, expected) in *documents {
            assert_eq!(
                through(&ty, given),
                Err((*expected).to_owned()),
                "{name}: {given}"
            );
        }
    }
}

#[test]
fn malformed_documents_are_refused_with_their_place() {
    for (given, expected) in [
        (
            "",
            "No content to map due to end-of-input at line 1, column 1",
        ),
        (
            "{",
            "Unexpected end-of-input: was expecting double-quote to start field name at line 1, column 2",
        ),
        (
            "{\n\"a\":05}",
            "Invalid numeric value: Leading zeroes not allowed at line 2, column 7",
        ),
        (
            "[1,]",
            "Unexpected character (']' (code 93)): was expecting a valid value (JSON String, Number, Array, Object or token 'null', 'true' or 'false') at line 1, column 4",
        ),
        (
            "NaN",
            "Unrecognized token 'NaN': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false') at line 1, column 1",
        ),
        (
            "\"\t\"",
            "Illegal unquoted character ((CTRL-CHAR, code 9)): has to be escaped using backslash to be included in string value at line 1, column 2",
        ),
        (
            "\"\\x\"",
            "Unrecognized character escape 'x' (code 120) at line 1, column 3",
        ),
        (
            "{'k': 9}",
            "Unexpected character (''' (code 39)): was expecting double-quote to start field name at line 1, column 2",
        ),
        (
            "5.",
            "Unexpected end-of-input: was expecting a digit at line 1, column 3",
        ),
    ] {
        assert_eq!(
            parse(given).map_err(|error| error.to_string()),
            Err(expected.to_owned()),
            "{given}"
        );
    }
    // What stands behind the first value doesn't matter.
    assert!(parse("1 2").is_ok());
    for deep in ["[".repeat(100_000), "{\"a\":".repeat(100_000)] {
        let error = parse(&deep).unwrap_err().to_string();
        assert!(
            error.starts_with("Document nesting depth exceeds"),
            "{error}"
        );
    }
}

#[test]
fn every_value_of_every_cut_document_is_refused_or_read() {
    let text = "{\"a\": [1, -2.5e3, \"x\\u00e9\\n\", null, true], \"b\": {\"c\": false}}";
    for end in 0..text.len() {
        assert!(parse(&text[..end]).is_err(), "{end}");
    }
    assert!(parse(text).is_ok());
}

#[test]
fn keys_in_keys_are_bounded() {
    let mut ty = CqlType::Text;
    let mut bytes = b"\"".to_vec();
    for _ in 0..40 {
        ty = CqlType::Map((ty, CqlType::Int).into());
        let length = u32::try_from(bytes.len()).unwrap();
        bytes = [
            &1u32.to_be_bytes()[..],
            &length.to_be_bytes(),
            &bytes,
            &[0, 0, 0, 4, 0, 0, 0, 1],
        ]
        .concat();
    }
    helenus_core::types::validate(&ty, &bytes).expect("a valid value");
    let error = write(&ty, &bytes, &mut String::new()).unwrap_err();
    assert_eq!(
        error.message,
        "A map's key takes more than 1048576 bytes as JSON"
    );
}
