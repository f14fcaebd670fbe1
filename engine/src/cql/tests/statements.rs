//! Every kind of statement.

use super::super::ast::*;
use super::super::parse;
use super::{select, statement};

fn name(keyspace: &str, name: &str) -> TableName {
    TableName {
        keyspace: (!keyspace.is_empty()).then(|| keyspace.into()),
        name: name.into(),
    }
}

fn integer(digits: &str) -> Term {
    Term::Literal(Literal::Integer(digits.into()))
}

fn native(name: &str) -> TypeName {
    TypeName::Native(name.into())
}

#[test]
fn select_with_every_clause() {
    let select = select(
        "SELECT DISTINCT a AS x, \"B\" FROM Ks.\"T\" WHERE k = 1 AND c IN (1, 2) GROUP BY k, c ORDER BY c DESC, d ASC, \
         e PER PARTITION LIMIT 3 LIMIT ? ALLOW FILTERING;",
    );
    assert!(select.distinct && select.allow_filtering && !select.json);
    assert_eq!(select.from, name("ks", "T"));
    let column = |name: &str| Selectable::Column(name.into());
    assert_eq!(select.selectors[0].expression, column("a"));
    assert_eq!(select.selectors[0].alias.as_deref(), Some("x"));
    assert_eq!(select.selectors[1].expression, column("B"));
    assert_eq!(select.restrictions.len(), 2);
    assert_eq!(select.group_by, [column("k"), column("c")]);
    let descending: Vec<_> = select.order_by.iter().map(|by| by.descending).collect();
    assert_eq!(descending, [true, false, false]);
    assert_eq!(select.per_partition_limit, Some(integer("3")));
    assert_eq!(
        select.limit,
        Some(Term::Marker {
            index: 0,
            name: None
        })
    );
}

#[test]
fn json_and_distinct_are_keywords_only_before_selectors() {
    let both = select("SELECT JSON DISTINCT a FROM t");
    assert!(both.json && both.distinct);
    let neither = select("SELECT json, distinct FROM t");
    assert!(!neither.json && !neither.distinct);
    assert_eq!(neither.selectors.len(), 2);
    assert!(!select("SELECT distinct FROM t").distinct);
    assert!(select("SELECT * FROM t").selectors.is_empty());
}

#[test]
fn selectors_of_every_kind() {
    let expression = |text: &str| {
        let select = select(&format!("SELECT {text} FROM t"));
        select.selectors.into_iter().next().unwrap().expression
    };
    let a = || Box::new(Selectable::Column("a".into()));
    let one = || integer("1");
    let call = |name: &str, arguments| Selectable::Function {
        keyspace: None,
        name: name.into(),
        arguments,
    };
    assert_eq!(expression("count(*)"), Selectable::CountAll);
    assert_eq!(
        expression("COUNT(1)"),
        call("count", vec![Selectable::Term(one())])
    );
    assert_eq!(expression("token(a)"), call("token", vec![*a()]));
    assert_eq!(expression("writetime(a)"), Selectable::WriteTime(a()));
    assert_eq!(expression("maxwritetime(a)"), Selectable::MaxWriteTime(a()));
    let element = Selectable::Element(a(), one());
    assert_eq!(
        expression("ttl(a[1])"),
        Selectable::Ttl(Box::new(element.clone()))
    );
    assert_eq!(expression("a[1]"), element);
    assert_eq!(
        expression("a[1..]"),
        Selectable::Slice(a(), Some(one()), None)
    );
    assert_eq!(
        expression("a[..1]"),
        Selectable::Slice(a(), None, Some(one()))
    );
    let slice = Selectable::Slice(a(), Some(one()), Some(integer("2")));
    assert_eq!(
        expression("a[1..2].b"),
        Selectable::Field(Box::new(slice), "b".into())
    );
    assert_eq!(
        expression("cast(a AS text)"),
        Selectable::Cast(a(), native("text"))
    );
    assert_eq!(expression("-a"), Selectable::Negation(a()));
    assert_eq!(expression("(int) a"), Selectable::Hint(native("int"), a()));
    assert_eq!(expression("(a)"), Selectable::Tuple(vec![*a()]));
    assert_eq!(expression("[a, a]"), Selectable::List(vec![*a(), *a()]));
    assert_eq!(expression("{a}"), Selectable::Set(vec![*a()]));
    assert_eq!(expression("{a: a}"), Selectable::Map(vec![(*a(), *a())]));
    assert_eq!(expression("null"), Selectable::Term(Term::Null));
    let sum = Selectable::Arithmetic(a(), Operator::Add, a());
    assert_eq!(expression("a + a"), sum);
    let qualified = Selectable::Function {
        keyspace: Some("ks".into()),
        name: "f".into(),
        arguments: vec![],
    };
    assert_eq!(expression("ks.f()"), qualified);
    assert_eq!(expression("key"), Selectable::Column("key".into()));
}

#[test]
fn relations_of_every_kind() {
    let relation = |text: &str| {
        let select = select(&format!("SELECT * FROM t WHERE {text}"));
        select.restrictions.into_iter().next().unwrap()
    };
    let (one, a) = (|| integer("1"), || Name::from("a"));
    for (sign, comparison) in [
        ("=", Comparison::Equal),
        ("!=", Comparison::NotEqual),
        ("<", Comparison::Less),
        ("<=", Comparison::LessOrEqual),
        (">", Comparison::Greater),
        (">=", Comparison::GreaterOrEqual),
    ] {
        let expected = Relation::Column(a(), comparison, one());
        assert_eq!(relation(&format!("a {sign} 1")), expected);
        assert_eq!(relation(&format!("((a {sign} 1))")), expected);
    }
    let marker = |index| Term::Marker { index, name: None };
    assert_eq!(
        relation("a IN ()"),
        Relation::In(a(), InValues::List(vec![]))
    );
    assert_eq!(
        relation("a IN (1)"),
        Relation::In(a(), InValues::List(vec![one()]))
    );
    assert_eq!(
        relation("a IN ?"),
        Relation::In(a(), InValues::Marker(marker(0)))
    );
    let names = || vec![a(), "b".into()];
    let pair = || Term::Tuple(vec![one(), one()]);
    assert_eq!(
        relation("(a, b) > (1, 1)"),
        Relation::Columns(names(), Comparison::Greater, pair())
    );
    assert_eq!(
        relation("(a, b) = ?"),
        Relation::Columns(names(), Comparison::Equal, marker(0))
    );
    let values = |terms| Relation::ColumnsIn(names(), InValues::List(terms));
    assert_eq!(relation("(a, b) IN ()"), values(vec![]));
    assert_eq!(
        relation("(a, b) IN ((1, 1), (1, 1))"),
        values(vec![pair(), pair()])
    );
    assert_eq!(
        relation("(a, b) IN (?, ?)"),
        values(vec![marker(0), marker(1)])
    );
    let whole = Relation::ColumnsIn(names(), InValues::Marker(marker(0)));
    assert_eq!(relation("(a, b) IN ?"), whole);
    assert_eq!(
        relation("token(a, b) >= 1"),
        Relation::Token(names(), Comparison::GreaterOrEqual, one())
    );
    assert_eq!(relation("a CONTAINS 1"), Relation::Contains(a(), one()));
    assert_eq!(
        relation("a CONTAINS KEY 1"),
        Relation::ContainsKey(a(), one())
    );
    assert_eq!(
        relation("a[1] = 1"),
        Relation::Element(a(), one(), Comparison::Equal, one())
    );
    assert_eq!(relation("a LIKE 1"), Relation::Like(a(), one()));
    assert_eq!(relation("a IS NOT NULL"), Relation::IsNotNull(a()));
    assert_eq!(relation("expr(a, 1)"), Relation::Expression(a(), one()));
    assert_eq!(
        relation("\"\" = 1"),
        Relation::Column("".into(), Comparison::Equal, one())
    );
}

#[test]
fn insert_with_values_or_json() {
    let insert = |text: &str| match statement(text) {
        Statement::Insert(insert) => *insert,
        other => panic!("{other:?}"),
    };
    let plain =
        insert("INSERT INTO ks.t (a, b) VALUES (1, ?) IF NOT EXISTS USING TTL 5 AND TIMESTAMP 6");
    assert!(plain.if_not_exists);
    assert_eq!(plain.using.ttl, Some(integer("5")));
    assert_eq!(plain.using.timestamp, Some(integer("6")));
    let marker = Term::Marker {
        index: 0,
        name: None,
    };
    let source = InsertSource::Values(vec!["a".into(), "b".into()], vec![integer("1"), marker]);
    assert_eq!(plain.source, source);
    let json = insert("INSERT INTO t JSON '{}' DEFAULT UNSET");
    assert_eq!(
        json.source,
        InsertSource::Json {
            document: Term::Literal(Literal::String("{}".into())),
            default_unset: true,
        }
    );
}

#[test]
fn update_with_every_assignment_and_condition() {
    let Statement::Update(update) = statement(
        "UPDATE t SET a = 1, b = b + 1, c = c - 1, d = 1 + d, e += 1, f -= 1, g[1] = 1, h.x = 1, i = i -1 WHERE k = 1 \
         IF a = 1 AND b[1] > 1 AND c.x IN (1) AND d IN ? AND e CONTAINS 1 AND f CONTAINS KEY 1",
    ) else {
        panic!("no update");
    };
    let one = || integer("1");
    let expected = [
        Assignment::Set("a".into(), one()),
        Assignment::Add("b".into(), one()),
        Assignment::Subtract("c".into(), one()),
        Assignment::Prepend("d".into(), one()),
        Assignment::Add("e".into(), one()),
        Assignment::Subtract("f".into(), one()),
        Assignment::SetElement("g".into(), one(), one()),
        Assignment::SetField("h".into(), "x".into(), one()),
        Assignment::Add("i".into(), integer("-1")),
    ];
    assert_eq!(update.assignments, expected);
    let Conditions::If(conditions) = update.condition else {
        panic!("no conditions");
    };
    let list = || ConditionTest::In(InValues::List(vec![one()]));
    let marker = Term::Marker {
        index: 0,
        name: None,
    };
    let expected = [
        (
            ConditionSubject::Column("a".into()),
            ConditionTest::Compare(Comparison::Equal, one()),
        ),
        (
            ConditionSubject::Element("b".into(), one()),
            ConditionTest::Compare(Comparison::Greater, one()),
        ),
        (ConditionSubject::Field("c".into(), "x".into()), list()),
        (
            ConditionSubject::Column("d".into()),
            ConditionTest::In(InValues::Marker(marker)),
        ),
        (
            ConditionSubject::Column("e".into()),
            ConditionTest::Contains(one()),
        ),
        (
            ConditionSubject::Column("f".into()),
            ConditionTest::ContainsKey(one()),
        ),
    ];
    let found: Vec<_> = conditions
        .into_iter()
        .map(|c| (c.subject, c.test))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn exists_is_a_condition_and_may_be_a_column() {
    let condition = |text: &str| match statement(text) {
        Statement::Delete(delete) => delete.condition,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        condition("DELETE FROM t WHERE k = 1 IF EXISTS"),
        Conditions::Exists
    );
    assert_eq!(condition("DELETE FROM t WHERE k = 1"), Conditions::None);
    let column = condition("DELETE FROM t WHERE k = 1 IF exists = 1");
    assert!(matches!(column, Conditions::If(_)));
}

#[test]
fn delete_of_columns_elements_and_fields() {
    let Statement::Delete(delete) =
        statement("DELETE a, b[1], c.d FROM t USING TIMESTAMP 5 WHERE k = 1")
    else {
        panic!("no delete");
    };
    let targets = [
        DeleteTarget::Column("a".into()),
        DeleteTarget::Element("b".into(), integer("1")),
        DeleteTarget::Field("c".into(), "d".into()),
    ];
    assert_eq!(delete.targets, targets);
    assert_eq!(delete.using.timestamp, Some(integer("5")));
}

#[test]
fn batches_of_every_kind() {
    for (text, kind) in [
        ("BEGIN BATCH", BatchKind::Logged),
        ("BEGIN UNLOGGED BATCH", BatchKind::Unlogged),
        ("begin counter batch", BatchKind::Counter),
    ] {
        let text = format!(
            "{text} USING TIMESTAMP ? INSERT INTO t (a) VALUES (?); DELETE FROM t WHERE a = ? \
             UPDATE t SET b = ? WHERE a = 1; APPLY BATCH;"
        );
        let parsed = parse(&text).unwrap();
        assert_eq!(parsed.markers, 4);
        let Statement::Batch(batch) = parsed.statement else {
            panic!("no batch");
        };
        assert_eq!(batch.kind, kind);
        assert_eq!(batch.statements.len(), 3);
    }
    assert!(parse("BEGIN BATCH APPLY BATCH").is_ok());
}

#[test]
fn describe_of_every_kind() {
    let target = |text: &str| match statement(text) {
        Statement::Describe(describe) => describe.target,
        other => panic!("{other:?}"),
    };
    use DescribeTarget::*;
    let qualified = || name("k", "n");
    for (text, expected) in [
        ("DESCRIBE CLUSTER", Cluster),
        ("DESC SCHEMA", Schema { full: false }),
        ("DESC FULL SCHEMA", Schema { full: true }),
        ("DESC KEYSPACES", Keyspaces),
        (
            "DESC KEYSPACE",
            Keyspace {
                only: false,
                name: None,
            },
        ),
        (
            "DESC ONLY KEYSPACE k",
            Keyspace {
                only: true,
                name: Some("k".into()),
            },
        ),
        ("DESC TABLES", Tables),
        ("DESC TABLE k.n", Table(qualified())),
        ("DESC COLUMNFAMILY k.n", Table(qualified())),
        ("DESC TYPES", Types),
        ("DESC TYPE k.n", Type(qualified())),
        ("DESC FUNCTIONS", Functions),
        ("DESC FUNCTION k.n", Function(qualified())),
        ("DESC AGGREGATES", Aggregates),
        ("DESC AGGREGATE k.n", Aggregate(qualified())),
        ("DESC INDEX k.n", Index(qualified())),
        ("DESC MATERIALIZED VIEW k.n", View(qualified())),
        ("DESC k.n", Anything(qualified())),
        ("DESC n", Anything(name("", "n"))),
        ("DESC cluster.n", Anything(name("cluster", "n"))),
    ] {
        assert_eq!(target(text), expected, "{text}");
    }
    let Statement::Describe(internals) = statement("DESC TABLE n WITH INTERNALS") else {
        panic!("no describe");
    };
    assert!(internals.internals);
}

#[test]
fn use_and_truncate() {
    assert_eq!(statement("USE \"K\";"), Statement::Use("K".into()));
    assert_eq!(statement("TRUNCATE t"), Statement::Truncate(name("", "t")));
    assert_eq!(
        statement("truncate table k.t"),
        Statement::Truncate(name("k", "t"))
    );
}

#[test]
fn statements_of_later_days_are_named() {
    for (text, named) in [
        ("CREATE TRIGGER t ON k.t USING 'x'", "CREATE TRIGGER"),
        ("DROP TRIGGER t ON k.t", "DROP TRIGGER"),
        (
            "CREATE TABLE t (a int MASKED WITH DEFAULT PRIMARY KEY)",
            "dynamic data masking",
        ),
        (
            "ALTER TABLE t DROP COMPACT STORAGE",
            "ALTER TABLE … DROP COMPACT STORAGE",
        ),
    ] {
        assert_eq!(statement(text), Statement::Unsupported(named), "{text}");
    }
}
