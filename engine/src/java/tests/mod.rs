//! What bodies compute and what is refused; values, messages and classes of exceptions are Java's.

mod refusals;

use std::sync::Arc;

use bytes::Bytes;
use helenus_core::types::{CqlType, UserType, Value};

use super::{Budget, Signature, compile};

fn run_as(
    parameters: &[(&str, CqlType)],
    returns: &CqlType,
    body: &str,
    called_on_null: bool,
    arguments: &[Option<Value>],
) -> Result<Option<Value>, String> {
    let named: Vec<_> = parameters
        .iter()
        .map(|(name, ty)| (Arc::from(*name), ty.clone()))
        .collect();
    let program =
        compile(body, &named, returns, called_on_null).map_err(|error| error.to_string())?;
    let types: Vec<_> = parameters.iter().map(|(_, ty)| ty.clone()).collect();
    let arguments: Vec<_> = types
        .iter()
        .zip(arguments)
        .map(|(ty, value)| {
            value.as_ref().map(|value| {
                let mut bytes = Vec::new();
                value.encode(ty, &mut bytes).unwrap();
                Bytes::from(bytes)
            })
        })
        .collect();
    let signature = Signature {
        arguments: &types,
        returns,
    };
    let result = program
        .call(signature, &arguments, &Budget::for_row())
        .map_err(|stop| stop.to_string())?;
    Ok(result.map(|bytes| Value::decode(returns, &bytes).unwrap()))
}

/// Runs a body with two ints `a` and `b`, called on null.
fn ints(
    returns: &CqlType,
    body: &str,
    a: Option<i32>,
    b: Option<i32>,
) -> Result<Option<Value>, String> {
    let parameters = [("a", CqlType::Int), ("b", CqlType::Int)];
    run_as(
        &parameters,
        returns,
        body,
        true,
        &[a.map(Value::Int), b.map(Value::Int)],
    )
}

fn int(body: &str, a: i32, b: i32) -> i32 {
    match ints(&CqlType::Int, body, Some(a), Some(b)) {
        Ok(Some(Value::Int(value))) => value,
        other => panic!("{body}: {other:?}"),
    }
}

fn text(body: &str) -> String {
    match ints(&CqlType::Text, body, Some(7), None) {
        Ok(Some(Value::Text(text))) => text,
        other => panic!("{body}: {other:?}"),
    }
}

#[test]
fn integers_wrap_and_divide_as_in_java() {
    for (body, a, b, expected) in [
        ("return a + b;", i32::MAX, 1, i32::MIN),
        ("return a * b;", 65_536, 65_536, 0),
        ("return -a;", i32::MIN, 0, i32::MIN),
        ("return a / b;", -7, 2, -3),
        ("return a % b;", -7, 2, -1),
        ("return a / b;", i32::MIN, -1, i32::MIN),
        ("return a >> b;", -8, 1, -4),
        ("return a >>> b;", -8, 28, 15),
        ("return a << b;", 1, 33, 2),
        ("return a & b | 8 ^ 1;", 6, 3, 2 | 9),
        ("return ~a;", 5, 0, -6),
        ("return (int) 3000000000L;", 0, 0, -1_294_967_296),
        ("int x = a; return (int) (byte) x;", 300, 0, 44),
        ("return (int) (char) (int) a;", -1, 0, 65_535),
        ("return (int) 1e10;", 0, 0, i32::MAX),
        ("return (int) Double.NaN;", 0, 0, 0),
        ("return (int) (byte) 300.7;", 0, 0, 44),
        ("return 2 + 3 * 4 - 10 / 3;", 0, 0, 11),
        ("return (2 + 3) * 4;", 0, 0, 20),
        ("return 0x10 + 010 + 0b11 + 1_000;", 0, 0, 16 + 8 + 3 + 1000),
        ("return 'a' + 1;", 0, 0, 98),
        ("return -2147483648;", 0, 0, i32::MIN),
        ("return Integer.MIN_VALUE;", 0, 0, i32::MIN),
        ("int x = a; x += 3.7; return x;", 2, 0, 5),
        ("byte x = 1; x += 500; return (int) x;", 0, 0, -11),
        ("int x = 5; return x++ + ++x;", 0, 0, 12),
        ("int x = 5; x -= x++ - --x; return x;", 0, 0, 5),
    ] {
        assert_eq!(int(body, a, b), expected, "{body}");
    }
    let by_zero = "java.lang.ArithmeticException: / by zero";
    assert_eq!(
        ints(&CqlType::Int, "return a / b;", Some(1), Some(0)).unwrap_err(),
        by_zero
    );
    assert_eq!(
        ints(&CqlType::Int, "return 1 / 0;", None, None).unwrap_err(),
        by_zero
    );
}

#[test]
fn the_types_of_operands_decide() {
    let double = |body| match ints(&CqlType::Double, body, Some(7), Some(2)) {
        Ok(Some(Value::Double(value))) => value,
        other => panic!("{body}: {other:?}"),
    };
    assert_eq!(double("return (double) (a / b);"), 3.0);
    assert_eq!(double("return (double) a / b;"), 3.5);
    assert_eq!(double("return a / 2.0;"), 3.5);
    assert_eq!(double("return Double.valueOf(a);"), 7.0);
    assert_eq!(double("return Math.pow(a, 2);"), 49.0);
    assert_eq!(double("return 1.0 / 0;"), f64::INFINITY);
    assert_eq!(double("return true ? 1 : 2.5;"), 1.0);
    assert_eq!(
        double("double r = 0; r = a; r /= b; return Double.valueOf(r);"),
        3.5
    );
    let long = |body| ints(&CqlType::BigInt, body, Some(7), Some(2));
    assert_eq!(
        long("return a * 10000000000L;"),
        Ok(Some(Value::BigInt(70_000_000_000)))
    );
    assert_eq!(
        long("return (long) a * Integer.MAX_VALUE;"),
        Ok(Some(Value::BigInt(15_032_385_529)))
    );
    assert_eq!(
        long("return Math.round(2.5) + Math.round(-2.5);"),
        Ok(Some(Value::BigInt(1)))
    );
    assert_eq!(
        long("return 1;"),
        Err("line 1:8 Type mismatch: cannot convert from int to Long".into())
    );
    let small = |body| ints(&CqlType::SmallInt, body, Some(7), Some(2));
    assert_eq!(small("return 1;"), Ok(Some(Value::SmallInt(1))));
    assert_eq!(
        small("return 40000;"),
        Err("line 1:8 Type mismatch: cannot convert from int to Short".into())
    );
}

#[test]
fn nulls_are_boxes_without_content() {
    let of = |body, a| ints(&CqlType::Int, body, a, None);
    assert_eq!(of("return a == null ? null : a * 2;", None), Ok(None));
    assert_eq!(
        of("return a == null ? null : a * 2;", Some(4)),
        Ok(Some(Value::Int(8)))
    );
    assert_eq!(
        of("return (a == null ? 0 : a) + (b == null ? 1 : b);", Some(4)),
        Ok(Some(Value::Int(5)))
    );
    assert_eq!(
        of("return a + 1;", None),
        Err("java.lang.NullPointerException".into())
    );
    assert_eq!(
        of("if (b != null && b > 3) return 1; else return 2;", None),
        Ok(Some(Value::Int(2)))
    );
    assert_eq!(
        of("int x = b; return x;", None),
        Err("java.lang.NullPointerException".into())
    );
    assert_eq!(
        of("String s = null; return s.length();", None),
        Err("java.lang.NullPointerException".into())
    );
    let parameters = [("a", CqlType::Int)];
    let plain = |body| {
        run_as(
            &parameters,
            &CqlType::Int,
            body,
            false,
            &[Some(Value::Int(3))],
        )
    };
    assert_eq!(
        plain("return a == null ? 0 : a;"),
        Err("line 1:10 The operator == is undefined for the argument type(s) int, null".into())
    );
    assert_eq!(
        plain("return 1 / (a - 3);"),
        Err("java.lang.ArithmeticException: / by zero".into())
    );
}

#[test]
fn statements_go_where_java_goes() {
    for (body, a, b, expected) in [
        (
            "int s = 0; for (int i = 0; i < a; i++) s += i; return s;",
            10,
            0,
            45,
        ),
        (
            "int s = 0; while (true) { if (s > a) break; s += b; } return s;",
            10,
            3,
            12,
        ),
        (
            "int s = 0, i = 0; do { i++; if (i % 2 == 0) continue; s += i; } while (i < a); return s;",
            6,
            0,
            9,
        ),
        ("int x; if (a > b) x = a; else x = b; return x;", 3, 9, 9),
        (
            "for (int i = 0, j = 10; ; i++, j--) if (i >= j) return i * 100 + j;",
            0,
            0,
            505,
        ),
        (
            "if (a < b) { return 1; } else if (a == 2) { return 2; } return 3;",
            2,
            1,
            2,
        ),
        ("boolean f = a > 1 ^ b > 1; return f ? 1 : 0;", 2, 1, 1),
        (
            "int x = 0; boolean f = a > 100 && (x = 5) > 1; return x;",
            2,
            1,
            0,
        ),
        ("{ int x = 1; } int x = 2; return x;", 0, 0, 2),
        (
            "List<Integer> l = new ArrayList<Integer>(); l.add(a); l.add(b); int s = 0; for (int x : l) s += x; return s;",
            3,
            4,
            7,
        ),
        (
            "Map<String, List<Integer>> m = new LinkedHashMap<String, List<Integer>>(); m.put(\"x\", new ArrayList<Integer>()); m.get(\"x\").add(a); return m.get(\"x\").get(0) + m.size();",
            3,
            4,
            4,
        ),
        (
            "Set<String> s = new LinkedHashSet<String>(); s.add(\"a\"); s.add(\"b\"); s.add(\"a\"); return s.size();",
            0,
            0,
            2,
        ),
    ] {
        assert_eq!(int(body, a, b), expected, "{body}");
    }
}

#[test]
fn strings_are_utf16() {
    for (body, expected) in [
        (
            "return \"x\" + a + b + 1.0 + 'c' + true + 2.5f + 1e10;",
            "x7null1.0ctrue2.51.0E10",
        ),
        ("return 1 + 2 + \"x\" + 1 + 2;", "3x12"),
        ("String s = \"a\"; s += 1 + 1; return s;", "a2"),
        (
            "return \"Grün\".toUpperCase() + \"Grün\".length();",
            "GRÜN4",
        ),
        ("return \"a😀b\".substring(3) + \"a😀b\".length();", "b4"),
        ("return \"a😀b\".substring(0, 2);", "a?"),
        ("return \"\\u0041\\n\\101\\\"\";", "A\nA\""),
        (
            "return \"abcabc\".replace(\"bc\", \"-\") + \"abc\".replace('b', 'x') + \"ab\".replace(\"\", \".\");",
            "a-a-axc.a.b.",
        ),
        (
            "return \" x \".trim() + \"abc\".indexOf(\"c\") + \"abc\".indexOf('z') + \"abcb\".lastIndexOf(\"b\");",
            "x2-13",
        ),
        (
            "return \"hello\".hashCode() + \",\" + \"b\".compareTo(\"abc\") + \"ab\".compareTo(\"abc\");",
            "99162322,1-1",
        ),
        (
            "return String.valueOf(a) + String.valueOf(1.5) + Integer.parseInt(\"-12\") + a.equals(7) + a.equals(7L);",
            "71.5-12truefalse",
        ),
        (
            "List<String> l = new ArrayList<String>(); l.add(\"x\"); l.add(null); return \"\" + l;",
            "[x, null]",
        ),
        (
            "Map<String,Integer> m = new LinkedHashMap<String,Integer>(); m.put(\"k\", 1); m.put(\"j\", null); String s = \"\"; for (String k : m.keySet()) s += k; return m + s;",
            "{k=1, j=null}kj",
        ),
    ] {
        assert_eq!(text(body), expected, "{body}");
    }
    for (body, expected) in [
        (
            "return \"abc\".substring(2, 1);",
            "java.lang.StringIndexOutOfBoundsException: begin 2, end 1, length 3",
        ),
        (
            "return \"\" + \"abc\".charAt(3);",
            "java.lang.StringIndexOutOfBoundsException: String index out of range: 3",
        ),
        (
            "return \"\" + Integer.parseInt(\"x\");",
            "java.lang.NumberFormatException: For input string: \"x\"",
        ),
        (
            "List<String> l = new ArrayList<String>(); return l.get(0);",
            "java.lang.IndexOutOfBoundsException: Index 0 out of bounds for length 0",
        ),
        (
            "List<Integer> l = new ArrayList<Integer>(); l.add(1); l.add(2); for (Integer x : l) l.add(3); return \"\";",
            "java.util.ConcurrentModificationException",
        ),
        (
            "throw new IllegalStateException(\"m\" + a);",
            "java.lang.IllegalStateException: m7",
        ),
        (
            "throw new RuntimeException();",
            "java.lang.RuntimeException",
        ),
    ] {
        assert_eq!(
            ints(&CqlType::Text, body, Some(7), None).unwrap_err(),
            expected,
            "{body}"
        );
    }
}

#[test]
fn the_examples_of_the_manual_run() {
    let tuple = CqlType::Tuple([CqlType::Int, CqlType::BigInt].into());
    let state = Value::Tuple(vec![Some(Value::Int(2)), Some(Value::BigInt(30))]);
    let body = "if (val != null) { state.setInt(0, state.getInt(0)+1); state.setLong(1, state.getLong(1)+val.intValue()); } return state;";
    let parameters = [("state", tuple.clone()), ("val", CqlType::Int)];
    let arguments = [Some(state.clone()), Some(Value::Int(12))];
    assert_eq!(
        run_as(&parameters, &tuple, body, true, &arguments),
        Ok(Some(Value::Tuple(vec![
            Some(Value::Int(3)),
            Some(Value::BigInt(42))
        ])))
    );
    let body = "double r = 0; if (state.getInt(0) == 0) return null; r = state.getLong(1); r /= state.getInt(0); return Double.valueOf(r);";
    let parameters = [("state", tuple)];
    assert_eq!(
        run_as(&parameters, &CqlType::Double, body, true, &[Some(state)]),
        Ok(Some(Value::Double(15.0)))
    );
    let counts = CqlType::Map((CqlType::Text, CqlType::Int).into());
    let body = "Integer count = (Integer) state.get(type); if (count == null) count = 1; else count++; state.put(type, count); return state;";
    let parameters = [("state", counts.clone()), ("type", CqlType::Text)];
    let state = Value::Map(vec![(Value::Text("a".into()), Some(Value::Int(1)))]);
    let key = Some(Value::Text("a".into()));
    assert_eq!(
        run_as(&parameters, &counts, body, true, &[Some(state), key]),
        Ok(Some(Value::Map(vec![(
            Value::Text("a".into()),
            Some(Value::Int(2))
        )])))
    );
    let body = "return Double.valueOf(Math.log(input.doubleValue()));";
    let arguments = [Some(Value::Double(1.0))];
    assert_eq!(
        run_as(
            &[("input", CqlType::Double)],
            &CqlType::Double,
            body,
            true,
            &arguments
        ),
        Ok(Some(Value::Double(0.0)))
    );
    let body = "return column.substring(0, num);";
    let parameters = [("column", CqlType::Text), ("num", CqlType::Int)];
    let arguments = [Some(Value::Text("abcdef".into())), Some(Value::Int(3))];
    assert_eq!(
        run_as(&parameters, &CqlType::Text, body, false, &arguments),
        Ok(Some(Value::Text("abc".into())))
    );
}

#[test]
fn user_types_are_read_by_name_and_number() {
    let ty = UserType {
        keyspace: "k".into(),
        name: "u".into(),
        fields: vec![("a".into(), CqlType::Int), ("B".into(), CqlType::Text)],
    };
    let ty = CqlType::Udt(Arc::new(ty));
    let value = Value::Tuple(vec![None, Some(Value::Text("x".into()))]);
    let of = |returns: &CqlType, body: &str| {
        run_as(
            &[("x", ty.clone())],
            returns,
            body,
            true,
            &[Some(value.clone())],
        )
    };
    assert_eq!(
        of(&CqlType::Int, "return x.getInt(\"a\");"),
        Ok(Some(Value::Int(0)))
    );
    assert_eq!(
        of(&CqlType::Boolean, "return x.isNull(0) && !x.isNull(\"b\");"),
        Ok(Some(Value::Boolean(true)))
    );
    assert_eq!(
        of(
            &CqlType::Text,
            "return x.getString(\"\\\"B\\\"\") + x.getString(1);"
        ),
        Ok(Some(Value::Text("xx".into())))
    );
    assert_eq!(
        of(
            &ty,
            "UDTValue u = udfContext.newReturnUDTValue(); u.setInt(\"a\", 5).setString(\"b\", null); return u;"
        ),
        Ok(Some(Value::Tuple(vec![Some(Value::Int(5)), None])))
    );
    assert_eq!(
        of(&CqlType::Int, "return x.getInt(\"zz\");"),
        Err("java.lang.IllegalArgumentException: zz is not a field defined in this UDT".into())
    );
    assert_eq!(
        of(&CqlType::Int, "return x.getInt(1);"),
        Err("org.apache.cassandra.cql3.functions.types.exceptions.CodecNotFoundException: Codec not found for requested operation: [text <-> java.lang.Integer]".into())
    );
}

#[test]
fn values_of_every_type_pass_through() {
    let udt = UserType {
        keyspace: "k".into(),
        name: "u".into(),
        fields: vec![("a".into(), CqlType::Int)],
    };
    let text = |text: &str| Value::Text(text.into());
    for (ty, value) in [
        (CqlType::Ascii, text("x")),
        (CqlType::BigInt, Value::BigInt(-1)),
        (CqlType::Blob, Value::Blob(vec![0, 255])),
        (CqlType::Boolean, Value::Boolean(true)),
        (CqlType::Date, Value::Date(5)),
        (CqlType::Double, Value::Double(1.5)),
        (CqlType::Float, Value::Float(1.5)),
        (CqlType::Inet, Value::Inet("::1".parse().unwrap())),
        (CqlType::SmallInt, Value::SmallInt(3)),
        (CqlType::Time, Value::Time(9)),
        (CqlType::Timestamp, Value::Timestamp(-9)),
        (CqlType::TinyInt, Value::TinyInt(-3)),
        (
            CqlType::List(CqlType::Int.into()),
            Value::List(vec![Some(Value::Int(1))]),
        ),
        (
            CqlType::Set(CqlType::Text.into()),
            Value::Set(vec![text("a"), text("b")]),
        ),
        (
            CqlType::Vector(CqlType::Text.into(), 2),
            Value::Vector(vec![text("a"), text("")]),
        ),
        (
            CqlType::Vector(CqlType::Float.into(), 1),
            Value::Vector(vec![Value::Float(2.0)]),
        ),
        (CqlType::Udt(udt.into()).freeze(), Value::Tuple(vec![None])),
    ] {
        let given = [Some(value.clone())];
        assert_eq!(
            run_as(&[("x", ty.clone())], &ty, "return x;", true, &given),
            Ok(Some(value)),
            "{ty}"
        );
        assert_eq!(
            run_as(&[("x", ty.clone())], &ty, "return x;", true, &[None]),
            Ok(None),
            "{ty}"
        );
    }
}
