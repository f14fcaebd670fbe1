//! What is refused when a function is created, and what ends when it runs.

use helenus_core::types::CqlType;

use super::ints;
use crate::java::compile;

fn refusal(body: &str) -> String {
    ints(&CqlType::Int, body, Some(1), Some(2)).expect_err(body)
}

#[test]
fn what_a_compiler_refuses_is_refused() {
    for (body, expected) in [
        ("return x;", "line 1:8 x cannot be resolved to a variable"),
        (
            "",
            "line 1:1 This method must return a result of type Integer",
        ),
        (
            "if (a > 1) return 1;",
            "line 1:21 This method must return a result of type Integer",
        ),
        ("return 1; return 2;", "line 1:11 Unreachable code"),
        ("while (true) {} return 1;", "line 1:17 Unreachable code"),
        (
            "int x; return x;",
            "line 1:15 The local variable x may not have been initialized",
        ),
        (
            "int x; if (a > 1) x = 1; return x;",
            "line 1:33 The local variable x may not have been initialized",
        ),
        (
            "int x; while (a > 1) { x = 1; } return x;",
            "line 1:40 The local variable x may not have been initialized",
        ),
        (
            "int a = 1; return a;",
            "line 1:5 Duplicate local variable a",
        ),
        (
            "final int x = 1; x = 2; return x;",
            "line 1:18 The final local variable x cannot be assigned",
        ),
        (
            "return \"x\";",
            "line 1:8 Type mismatch: cannot convert from String to Integer",
        ),
        (
            "return 1.5;",
            "line 1:8 Type mismatch: cannot convert from double to Integer",
        ),
        (
            "int x = 5L; return x;",
            "line 1:9 Type mismatch: cannot convert from long to int",
        ),
        (
            "return a + true;",
            "line 1:10 The operator + is undefined for the argument type(s) Integer, boolean",
        ),
        (
            "return !a;",
            "line 1:8 The operator ! is undefined for the argument type(s) Integer",
        ),
        (
            "if (a) return 1; return 2;",
            "line 1:5 Type mismatch: cannot convert from Integer to boolean",
        ),
        (
            "a + 1; return 1;",
            "line 1:1 The expression is no statement",
        ),
        ("return 1", "line 1:9 Syntax error, ';' expected"),
        ("return (1;", "line 1:10 Syntax error, ')' expected"),
        (
            "break; return 1;",
            "line 1:1 break cannot be used outside of a loop",
        ),
        (
            "return 99999999999;",
            "line 1:8 The literal 99999999999 is out of range or no number",
        ),
        (
            "return (int) \"x\";",
            "line 1:8 Cannot cast from String to int",
        ),
        (
            "int i = 1;\n  return i.foo();",
            "line 2:11 Cannot invoke foo on the primitive type int",
        ),
        ("return 'ab';", "line 1:8 Invalid character constant"),
        (
            "return \"x;",
            "line 1:8 literal is not properly closed by its quote",
        ),
    ] {
        assert_eq!(refusal(body), expected, "{body}");
    }
}

#[test]
fn what_is_not_supported_is_named_when_the_function_is_created() {
    for (body, expected) in [
        (
            "System.exit(1); return 2;",
            "line 1:1 the method System.exit(int) is not supported",
        ),
        (
            "int[] x = new int[3]; return 1;",
            "line 1:4 arrays are not supported",
        ),
        (
            "switch (a) { default: return 1; }",
            "line 1:1 'switch' is not supported",
        ),
        (
            "try { return 1; } catch (Exception e) { return 2; }",
            "line 1:1 'try' is not supported",
        ),
        (
            "Object o = a; return 1;",
            "line 1:1 variables of type Object are not supported",
        ),
        (
            "var x = 1; return x;",
            "line 1:1 variables of type var are not supported",
        ),
        (
            "Map<String, Integer> m = new HashMap<>(); return 1;",
            "line 1:30 new HashMap is not supported: its order is not defined; use LinkedHashMap",
        ),
        (
            "List<Integer> l = new ArrayList<>(); return 1;",
            "line 1:23 new ArrayList<> without type arguments is not supported",
        ),
        (
            "return \"a\".matches(\"b\") ? 1 : 2;",
            "line 1:11 the method matches(String) of String is not supported",
        ),
        (
            "return a == b ? 1 : 2;",
            "line 1:10 comparing Integer and Integer by identity is not supported: use equals()",
        ),
        (
            "throw new Exception(\"x\");",
            "line 1:11 Exception is not supported: only unchecked exceptions of java.lang may be thrown",
        ),
        (
            "return a instanceof Integer ? 1 : 2;",
            "line 1:10 instanceof is not supported",
        ),
        (
            "Runnable r = () -> {}; return 1;",
            "line 1:1 variables of type Runnable are not supported",
        ),
        (
            "List l = null; return 1;",
            "line 1:1 List without type arguments is not supported",
        ),
        (
            "return Thread.currentThread().hashCode();",
            "line 1:8 the method Thread.currentThread() is not supported",
        ),
        (
            "return udfContext.newReturnUDTValue().getInt(0);",
            "line 1:8 udfContext.newReturnUDTValue is not supported for a function that returns Integer",
        ),
    ] {
        assert_eq!(refusal(body), expected, "{body}");
    }
}

#[test]
fn deep_bodies_are_refused_not_recursed_into() {
    for body in [
        format!("return {}1{};", "(".repeat(20_000), ")".repeat(20_000)),
        format!("return -{}1;", "~".repeat(20_000)),
        format!("return 1{};", " + a".repeat(20_000)),
        format!("{} return 1; {}", "{".repeat(20_000), "}".repeat(20_000)),
        format!("{} return 1;", "if (a > 1) ".repeat(20_000)),
        format!(
            "List<{}Integer{} x = null; return 1;",
            "List<".repeat(20_000),
            ">".repeat(20_001)
        ),
        format!("return {};", "a > 1 ? 1 : ".repeat(20_000) + "2"),
        format!("return \"\"{};", ".trim()".repeat(20_000)),
        format!("return {};", "(int) ".repeat(20_000) + "1"),
    ] {
        let error = refusal(&body);
        assert!(error.contains("levels"), "{error}");
    }
}

#[test]
fn a_call_ends_when_its_budget_does() {
    for body in [
        "while (true) {}",
        "for (;;) { }",
        "String s = \"xxxxxxxx\"; while (true) s += s;",
        "List<String> l = new ArrayList<String>(); while (true) l.add(\"x\");",
        "Map<Integer, Integer> m = new LinkedHashMap<Integer, Integer>(); int i = 0; while (true) m.put(i, i++);",
        // What is shared costs as often as it is looked at.
        "String s = \"xxxxxxxx\"; for (int i = 0; i < 16; i++) s += s; List<String> l = new ArrayList<String>(); for (int i = 0; i < 1000; i++) l.add(s); return (\"\" + l).length();",
        "String s = \"xxxxxxxx\"; for (int i = 0; i < 14; i++) s += s; String t = s + 1; List<String> l = new ArrayList<String>(); for (int i = 0; i < 1000; i++) l.add(s + 2); return l.indexOf(t);",
    ] {
        let error = ints(&CqlType::Int, body, Some(1), Some(1)).unwrap_err();
        assert_eq!(
            error, "it took more than 1048576 steps and was stopped",
            "{body}"
        );
    }
    let parameters = [];
    let program = compile("return 1;", &parameters, &CqlType::Int, true).unwrap();
    assert!(!program.may_take_long());
    let program = compile("while (true) {}", &parameters, &CqlType::Int, true).unwrap();
    assert!(program.may_take_long());
}

#[test]
fn a_result_is_paid_for() {
    let lists = CqlType::List(CqlType::Text.into());
    let body = "String s = \"xxxxxxxx\"; for (int i = 0; i < 14; i++) s += s; List<String> l = new ArrayList<String>(); \
                for (int i = 0; i < 10000; i++) l.add(s); return l;";
    let error = ints(&lists, body, None, None).unwrap_err();
    assert_eq!(error, "it took more than 1048576 steps and was stopped");
}

proptest::proptest! {
    #[test]
    fn damaged_bodies_are_refused_or_run(
        which in 0usize..6,
        at in 0usize..400,
        what in "[ -~]{0,3}",
        cut in 0usize..4,
    ) {
        let bodies = [
            "int s = 0; for (int i = 0; i < a; i++) { s += i * 2 - (i % 3); if (s > 100) break; else continue; } return s;",
            "List<Integer> l = new ArrayList<Integer>(); l.add(a); l.add(b); int x = 0; for (Integer y : l) if (y != null) x += y; return x;",
            "String t = \"x\" + a + 'c' + 1.5; do { t = t.substring(1); } while (!t.isEmpty()); return t.length() > 3 ? 1 : null;",
            "Map<String, List<Integer>> m = new LinkedHashMap<String, List<Integer>>(); m.put(\"k\", null); return m.get(\"k\") == null ? m.size() : 0;",
            "int x; if (a > b && b != 0 || a == 1) x = (int) (1L << a) >>> 2; else x = ~a ^ b; return x / (b - 2);",
            "throw new IllegalStateException(\"m\" + Math.max(a, b) + Integer.MAX_VALUE + (byte) 300 + 0x1F + 1e3f);",
        ];
        let body = bodies[which];
        let at = body.floor_char_boundary(at.min(body.len()));
        let end = (at + cut).min(body.len());
        let damaged = format!("{}{what}{}", &body[..at], &body[end..]);
        for arguments in [(Some(3), Some(2)), (None, None)] {
            if let Err(error) = ints(&CqlType::Int, &damaged, arguments.0, arguments.1) {
                proptest::prop_assert!(!error.is_empty());
            }
        }
    }
}
