//! Every kind of term, literal and type.

use super::super::ast::{
    FunctionCall, Literal, Operator, Relation, Selectable, Statement, Term, TypeName,
};
use super::super::parse;
use super::{select, statement, syntax_error};

fn term(text: &str) -> Term {
    match select(&format!("SELECT * FROM t WHERE a = {text}"))
        .restrictions
        .as_slice()
    {
        [Relation::Column(_, _, term)] => term.clone(),
        other => panic!("{text}: {other:?}"),
    }
}

fn integer(digits: &str) -> Term {
    Term::Literal(Literal::Integer(digits.into()))
}

fn call(name: &str, arguments: Vec<Term>) -> Term {
    Term::Function(FunctionCall {
        keyspace: None,
        name: name.into(),
        arguments,
    })
}

#[test]
fn literals_keep_their_text() {
    let literals = [
        ("'it''s'", Literal::String("it's".into())),
        ("$$it's $ $$", Literal::String("it's $ ".into())),
        ("$$$$", Literal::String("".into())),
        ("007", Literal::Integer("007".into())),
        ("-5", Literal::Integer("-5".into())),
        ("1.", Literal::Float("1.".into())),
        ("-1.5E-3", Literal::Float("-1.5E-3".into())),
        ("1e5", Literal::Float("1e5".into())),
        ("nan", Literal::Float("NaN".into())),
        ("-NaN", Literal::Float("NaN".into())),
        ("INFINITY", Literal::Float("Infinity".into())),
        ("-infinity", Literal::Float("-Infinity".into())),
        ("TRUE", Literal::Boolean(true)),
        ("false", Literal::Boolean(false)),
        ("0xCAfe", Literal::Blob("CAfe".into())),
        ("0X", Literal::Blob("".into())),
    ];
    for (text, literal) in literals {
        assert_eq!(term(text), Term::Literal(literal), "{text}");
    }
}

#[test]
fn uuids_may_begin_with_digits_letters_or_both() {
    for text in [
        "550e8400-e29b-41d4-a716-446655440000",
        "abcdef12-3456-7890-abcd-1234567890ab",
        "12345678-3456-7890-abcd-1234567890ab",
        "1234567e-3456-7890-abcd-1234567890ab",
        "1234567d-3456-7890-ABCD-1234567890ab",
        "a2345678-3456-7890-abcd-1234567890ab",
    ] {
        assert_eq!(term(text), Term::Literal(Literal::Uuid(text.into())));
    }
}

#[test]
fn durations_have_four_notations() {
    for text in [
        "1y2mo3w4d5h6m7s8ms9us10ns",
        "-1h",
        "5µs",
        "1M",
        "P1Y2M3DT4H5M6S",
        "P1D",
        "PT5M",
        "-PT1S",
        "P4W",
        "P0001-02-03T04:05:06",
    ] {
        assert_eq!(term(text), Term::Literal(Literal::Duration(text.into())));
    }
    for text in ["p1", "P1", "PT", "P1Yabc"] {
        assert!(parse(&format!("SELECT {text} FROM t")).is_ok_and(|parsed| matches!(
            parsed.statement,
            Statement::Select(select) if matches!(select.selectors[0].expression, Selectable::Column(_))
        )));
    }
}

#[test]
fn collections_tell_sets_maps_and_user_types_apart() {
    let (one, two) = (integer("1"), integer("2"));
    assert_eq!(term("[]"), Term::List(vec![]));
    assert_eq!(term("[1, 2]"), Term::List(vec![one.clone(), two.clone()]));
    assert_eq!(term("{}"), Term::Set(vec![]));
    assert_eq!(term("{1, 2}"), Term::Set(vec![one.clone(), two.clone()]));
    assert_eq!(term("{1: 2}"), Term::Map(vec![(one.clone(), two.clone())]));
    let fields = vec![("x".into(), one.clone()), ("Y".into(), two.clone())];
    assert_eq!(term("{X: 1, \"Y\": 2}"), Term::UserType(fields));
    assert_eq!(term("(1, 2)"), Term::Tuple(vec![one.clone(), two]));
    assert_eq!(
        term("{f(1)}"),
        Term::Set(vec![call("f", vec![one.clone()])])
    );
    let key = call("f", vec![]);
    assert_eq!(term("{f(): 1}"), Term::Map(vec![(key, one)]));
}

#[test]
fn markers_are_counted_from_the_left() {
    let parsed =
        parse("UPDATE t USING TTL ? SET a = :A, b[?] = 1 WHERE k IN (?, ?) IF c = :\"Q\"").unwrap();
    assert_eq!(parsed.markers, 6);
    let Statement::Update(update) = parsed.statement else {
        panic!("{:?}", parsed.statement);
    };
    let marker = |index, name: Option<&str>| Term::Marker {
        index,
        name: name.map(Into::into),
    };
    assert_eq!(update.using.ttl, Some(marker(0, None)));
    use super::super::ast::Assignment;
    assert_eq!(
        update.assignments[0],
        Assignment::Set("a".into(), marker(1, Some("a")))
    );
    assert_eq!(
        update.assignments[1],
        Assignment::SetElement("b".into(), marker(2, None), integer("1"))
    );
}

#[test]
fn a_rule_tried_in_vain_counts_no_markers() {
    let parsed = parse("SELECT (a), distinct, json FROM t WHERE b = ? AND c = (int) ?").unwrap();
    assert_eq!(parsed.markers, 2);
    assert_eq!(
        parse("SELECT JSON DISTINCT f(?, :x) FROM t")
            .unwrap()
            .markers,
        2
    );
}

#[test]
fn products_bind_more_closely_than_sums() {
    let product = Term::Arithmetic(
        Box::new(integer("2")),
        Operator::Multiply,
        Box::new(integer("3")),
    );
    let sum = Term::Arithmetic(Box::new(integer("1")), Operator::Add, Box::new(product));
    let negated = Term::Negation(Box::new(call("f", vec![])));
    let expected = Term::Arithmetic(Box::new(sum), Operator::Subtract, Box::new(negated));
    assert_eq!(term("1 + 2 * 3 - - f()"), expected);
}

#[test]
fn functions_casts_and_hints() {
    assert_eq!(term("now()"), call("now", vec![]));
    assert_eq!(term("TOKEN(1)"), call("token", vec![integer("1")]));
    assert_eq!(term("\"F\"(1)"), call("F", vec![integer("1")]));
    let qualified = Term::Function(FunctionCall {
        keyspace: Some("ks".into()),
        name: "f".into(),
        arguments: vec![],
    });
    assert_eq!(term("ks.F()"), qualified);
    let native = |name: &str| TypeName::Native(name.into());
    assert_eq!(
        term("cast(1 AS text)"),
        Term::Cast(Box::new(integer("1")), native("text"))
    );
    assert_eq!(
        term("(bigint) 1"),
        Term::Hint(native("bigint"), Box::new(integer("1")))
    );
    let list = TypeName::List(Box::new(native("int")));
    assert_eq!(
        term("(list<int>) []"),
        Term::Hint(list, Box::new(Term::List(vec![])))
    );
    assert_eq!(
        term("(int(1))"),
        Term::Tuple(vec![call("int", vec![integer("1")])])
    );
    assert_eq!(
        term("('x')"),
        Term::Tuple(vec![Term::Literal(Literal::String("x".into()))])
    );
}

#[test]
fn types_of_every_kind() {
    let ty = |text: &str| match term(&format!("({text}) null")) {
        Term::Hint(ty, _) => ty,
        other => panic!("{text}: {other:?}"),
    };
    let int = || Box::new(TypeName::Native("int".into()));
    assert_eq!(ty("INT"), *int());
    assert_eq!(ty("set<int>"), TypeName::Set(int()));
    assert_eq!(ty("map<int, int>"), TypeName::Map(int(), int()));
    assert_eq!(ty("tuple<int, int>"), TypeName::Tuple(vec![*int(), *int()]));
    assert_eq!(ty("vector<int, 3>"), TypeName::Vector(int(), 3));
    let frozen = TypeName::Frozen(Box::new(TypeName::List(int())));
    assert_eq!(ty("frozen<list<int>>"), frozen);
    assert_eq!(ty("'org.Foo'"), TypeName::Custom("org.Foo".into()));
    let TypeName::User(name) = ty("ks.\"T\"") else {
        panic!("no user type");
    };
    assert_eq!((name.keyspace.as_deref(), &*name.name), (Some("ks"), "T"));
    assert_eq!(
        syntax_error("CREATE TABLE t (a frozen<int> PRIMARY KEY)"),
        "frozen<> is only allowed on collections, tuples, and user-defined types (got int)"
    );
    assert_eq!(
        syntax_error("CREATE TYPE byte (a int)"),
        "Invalid (reserved) user type name byte"
    );
}

#[test]
fn unreserved_keywords_are_names_and_reserved_ones_are_not() {
    for word in [
        "key",
        "ttl",
        "count",
        "json",
        "distinct",
        "type",
        "values",
        "text",
        "as",
        "writetime",
    ] {
        let text = format!("SELECT * FROM {word}.{word} WHERE {word} = 1");
        assert_eq!(&*select(&text).from.name, word);
    }
    for word in [
        "select", "token", "table", "schema", "primary", "set", "null", "nan", "true", "order",
    ] {
        syntax_error(&format!("SELECT * FROM t WHERE {word} = 1"));
    }
}

#[test]
fn comments_are_white_space() {
    statement("SELECT /* a\n * b */ a -- c\n FROM // d\r t -- at the end");
}
