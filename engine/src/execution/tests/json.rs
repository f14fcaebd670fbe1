//! `SELECT JSON`, `INSERT … JSON`, `toJson` and `fromJson`, with Cassandra's answers.

use helenus_core::RawValue;

use super::{expect, node};

#[test]
fn rows_are_documents() {
    let mut node = node();
    node.all(&[
        "CREATE TABLE n (\"Key\" int, c int, \"a b\" int, \"x\"\"y\" text, low int, st int static, PRIMARY KEY (\"Key\", c))",
        "INSERT INTO n (\"Key\", c, \"a b\", \"x\"\"y\", low) VALUES (1, 2, 3, 'v', 4)",
        "INSERT INTO t (k, l, m, u) VALUES (1, [1, 2], {'a\"': 1}, {zip: 5})",
    ]);
    expect(
        &mut node,
        &[
            (
                "SELECT JSON * FROM n",
                r#"[json] / {"\"Key\"": 1, "c": 2, "st": null, "a b": 3, "low": 4, "x\"y": "v"}"#,
            ),
            (
                "SELECT JSON \"Key\" AS \"Other\", low AS z, low + 1, (int) 5, toJson(low) FROM n",
                r#"[json] / {"\"Other\"": 1, "z": 4, "low + 1": 5, "(int)5": 5, "system.tojson(low)": "4"}"#,
            ),
            (
                "SELECT JSON DISTINCT \"Key\" FROM n",
                r#"[json] / {"\"Key\"": 1}"#,
            ),
            (
                "SELECT JSON low, low FROM n",
                r#"[json] / {"low": 4, "low": 4}"#,
            ),
            (
                "SELECT JSON count(*), max(c) AS m FROM n",
                r#"[json] / {"count": 1, "m": 2}"#,
            ),
            ("SELECT JSON c FROM n WHERE \"Key\" = 9", "[json]"),
            (
                "SELECT JSON max(c) FROM n GROUP BY \"Key\"",
                r#"[json] / {"system.max(c)": 2}"#,
            ),
            (
                "SELECT JSON l, m, u, fl FROM t",
                r#"[json] / {"l": [1, 2], "m": {"a\"": 1}, "u": {"street": null, "zip": 5}, "fl": null}"#,
            ),
            (
                "SELECT json FROM n",
                "INVALID: Undefined column name json in table k.n",
            ),
        ],
    );
}

#[test]
fn documents_of_several_partitions_are_sorted_and_paged() {
    let mut node = node();
    node.all(&[
        "INSERT INTO cc (p, c, d) VALUES (1, 2, 0)",
        "INSERT INTO cc (p, c, d) VALUES (2, 1, 0)",
        "INSERT INTO cc (p, c, d) VALUES (1, 3, 0)",
    ]);
    assert_eq!(
        node.run("SELECT JSON c FROM cc WHERE p IN (1, 2) ORDER BY c LIMIT 2"),
        r#"[json] / {"c": 1} / {"c": 2}"#
    );
}

#[test]
fn inserted_documents_name_their_columns() {
    let mut node = node();
    expect(
        &mut node,
        &[
            (
                r#"INSERT INTO t JSON '{"K": 1, "i": 5, "l": ["1", 2], "u": {"zip": 3}}'"#,
                "void",
            ),
            ("SELECT k, i, l, u.zip FROM t", "k|i|l|u.zip / 1|5|[1, 2]|3"),
            (
                r#"INSERT INTO t JSON '{"k": 1, "v": "x"}' DEFAULT UNSET"#,
                "void",
            ),
            ("SELECT i, v FROM t", "i|v / 5|x"),
            (
                r#"INSERT INTO t JSON '{"k": 1, "i": null}' DEFAULT UNSET"#,
                "void",
            ),
            ("SELECT i, v FROM t", "i|v / null|x"),
            (
                r#"INSERT INTO t JSON '{"k": 1, "i": 7}' DEFAULT NULL"#,
                "void",
            ),
            ("SELECT i, v, l FROM t", "i|v|l / 7|null|null"),
            (r#"INSERT INTO t JSON '{"k": 1, "I": 2, "i": 3}'"#, "void"),
            ("SELECT i FROM t", "i / 2"),
            (
                r#"INSERT INTO t JSON '{"k": 1, "\"i\"": 8} and more'"#,
                "void",
            ),
            ("SELECT i FROM t", "i / 8"),
            (
                r#"INSERT INTO t JSON '{"k": 2, "i": 9}' IF NOT EXISTS"#,
                "[applied] / true",
            ),
            (
                r#"BEGIN BATCH INSERT INTO t JSON '{"k": 3, "i": 1}' USING TTL 100; INSERT INTO kv JSON '{"k": 4, "v": "b"}'; APPLY BATCH"#,
                "void",
            ),
            ("SELECT i, ttl(i) FROM t WHERE k = 3", "i|ttl(i) / 1|100"),
            ("SELECT v FROM kv WHERE k = 4", "v / b"),
        ],
    );
    expect(
        &mut node,
        &[
            (
                "INSERT INTO t JSON '{}'",
                "INVALID: Invalid null value in condition for column k",
            ),
            (
                "INSERT INTO t JSON '{}' DEFAULT UNSET",
                "INVALID: Invalid unset value for column k",
            ),
            (
                "INSERT INTO t JSON 'null'",
                "INVALID: Got null for INSERT JSON values",
            ),
            (
                r#"INSERT INTO t JSON '{"k": 1, "zz": 2}'"#,
                "INVALID: JSON values map contains unrecognized column: zz",
            ),
            (
                r#"INSERT INTO t JSON '{"k": "x"}'"#,
                "INVALID: Error decoding JSON value for k: Unable to make int from 'x'",
            ),
            (
                "INSERT INTO t JSON '{'",
                "INVALID: Could not decode JSON string as a map: Unexpected end-of-input: was expecting double-quote to start \
                 field name at line 1, column 2. (String was: {)",
            ),
            (
                r#"INSERT INTO cn JSON '{"k": 1, "c": 2}'"#,
                "INVALID: INSERT statements are not allowed on counter tables, use UPDATE instead",
            ),
        ],
    );
}

#[test]
fn a_bound_document_is_read_at_execution() {
    let mut node = node();
    let statement = node.prepare("INSERT INTO t JSON ? DEFAULT UNSET").unwrap();
    let variables = statement.variables.columns();
    assert_eq!(variables.len(), 1);
    assert_eq!(
        (&*variables[0].name, variables[0].ty.to_string()),
        ("[json]", "text".to_owned())
    );
    assert!(statement.pk_indexes.is_empty());
    let mut insert =
        |document: RawValue<'_>| node.with("INSERT INTO t JSON ? DEFAULT UNSET", &[document]);
    assert_eq!(
        insert(RawValue::Bytes(br#"{"k": 1, "s": ["b", "a"], "v": "now"}"#)),
        "void"
    );
    assert_eq!(
        insert(RawValue::Null),
        "INVALID: Got null for INSERT JSON values"
    );
    assert_eq!(
        insert(RawValue::Bytes(br#"{"i": 1}"#)),
        "INVALID: Invalid unset value for column k"
    );
    assert_eq!(node.run("SELECT k, s, v FROM t"), "k|s|v / 1|{a, b}|now");
    let text = "BEGIN BATCH INSERT INTO t JSON ?; UPDATE t SET i = ? WHERE k = 6; INSERT INTO kv JSON :x; APPLY BATCH";
    let values = [
        RawValue::Bytes(br#"{"k": 5, "i": 50}"#),
        RawValue::Bytes(&[0, 0, 0, 60]),
        RawValue::Bytes(br#"{"k": 7, "v": "seven"}"#),
    ];
    assert_eq!(node.with(text, &values), "void");
    assert_eq!(
        node.run("SELECT k, i FROM t WHERE k IN (5, 6)"),
        "k|i / 5|50 / 6|60"
    );
    assert_eq!(node.run("SELECT v FROM kv"), "v / seven");
}

#[test]
fn functions_turn_values_and_documents_into_each_other() {
    let mut node = node();
    expect(
        &mut node,
        &[
            (
                "INSERT INTO t (k, i, l, v) VALUES (1, fromJson('5'), from_json('[1]'), toJson((int) 3))",
                "void",
            ),
            (
                "UPDATE t SET l = l + fromJson('[2]'), u.zip = fromJson('7') WHERE k = fromJson('1')",
                "void",
            ),
            (
                "SELECT toJson(l), to_json(u) AS u, toJson(s), toJson('x'), toJson(max(i)), v FROM t WHERE k IN (fromJson('1'))",
                r#"system.tojson(l)|u|system.tojson(s)|system.tojson('x')|system.tojson(system.max(i))|v / [1, 2]|{"street": null, "zip": 7}|null|"x"|5|3"#,
            ),
            (
                "SELECT fromJson('5') FROM t",
                "INVALID: fromjson() cannot be used in the selection clause of a SELECT statement",
            ),
            (
                "SELECT toJson(null) FROM t",
                "INVALID: Cannot infer type of argument NULL in call to function system.tojson(any): use type casts to \
                 disambiguate",
            ),
            (
                "SELECT toJson() FROM t",
                "INVALID: Invalid number of arguments for function system.tojson(any)",
            ),
            (
                "INSERT INTO t (k, i) VALUES (1, fromJson(5))",
                "INVALID: Function system.fromjson requires an argument of type text, but found argument 5 of type int",
            ),
            (
                "INSERT INTO t (k, i) VALUES (1, fromJson('\"x\"'))",
                "FUNCTION_FAILURE: org.apache.cassandra.serializers.MarshalException: Unable to make int from 'x'",
            ),
            (
                "INSERT INTO t (k, i) VALUES (1, fromJson('{'))",
                "FUNCTION_FAILURE: execution of 'system.fromjson[text]' failed: Could not decode JSON string '{': Unexpected \
                 end-of-input: was expecting double-quote to start field name at line 1, column 2",
            ),
        ],
    );
}
