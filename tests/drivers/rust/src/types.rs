//! Values of every type, there and back.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Debug;
use std::net::IpAddr;

use scylla::deserialize::value::DeserializeValue;
use scylla::serialize::value::SerializeValue;
use scylla::value::{
    CqlDate, CqlDecimal, CqlDuration, CqlTime, CqlTimestamp, CqlTimeuuid, CqlVarint, MaybeUnset,
};
use scylla::{DeserializeValue, SerializeValue};
use uuid::Uuid;

use crate::{Context, Failure, equal};

async fn round_trip<T>(context: &Context, table: &str, kind: &str, values: Vec<T>) -> Result<(), Failure>
where
    T: SerializeValue + for<'f, 'm> DeserializeValue<'f, 'm> + PartialEq + Debug + Clone,
{
    for value in values {
        let insert = format!("INSERT INTO {table} (k, c_{kind}) VALUES (?, ?)");
        context.run(&insert, (1, value.clone())).await?;
        let select = format!("SELECT c_{kind} FROM {table} WHERE k = ?");
        let (got,): (T,) = context.row(&select, (1,)).await?;
        equal(kind, got, value)?;
    }
    Ok(())
}

pub async fn native_types(c: &Context) -> Result<(), Failure> {
    let kinds = "ascii bigint blob boolean date decimal double duration float inet int smallint text time \
                 timestamp timeuuid tinyint uuid varint";
    let columns: Vec<String> = kinds
        .split_whitespace()
        .map(|kind| format!("c_{kind} {kind}"))
        .collect();
    let t = &c
        .table(&format!("k int PRIMARY KEY, {}", columns.join(", ")))
        .await?;
    let decimal = |bytes: &[u8], scale| CqlDecimal::from_signed_be_bytes_slice_and_exponent(bytes, scale);
    round_trip(c, t, "ascii", vec![String::new(), "plain".into()]).await?;
    round_trip(c, t, "bigint", vec![i64::MIN, -1, 0, i64::MAX]).await?;
    round_trip(c, t, "blob", vec![vec![], vec![0u8, 1, 254, 255]]).await?;
    round_trip(c, t, "boolean", vec![true, false]).await?;
    round_trip(
        c,
        t,
        "date",
        vec![CqlDate(0), CqlDate(1 << 31), CqlDate(u32::MAX)],
    )
    .await?;
    round_trip(
        c,
        t,
        "decimal",
        vec![decimal(&[0x92], 2), decimal(&[1, 0, 0], -30)],
    )
    .await?;
    round_trip(c, t, "double", vec![-2.25e300, 0.0, f64::INFINITY, 5e-324]).await?;
    let durations = [(14, 3, 1_234_567_890_123), (-1, -2, -3)];
    let durations = durations.map(|(months, days, nanoseconds)| CqlDuration {
        months,
        days,
        nanoseconds,
    });
    round_trip(c, t, "duration", durations.to_vec()).await?;
    round_trip(c, t, "float", vec![0.25f32, -1.5, f32::NEG_INFINITY]).await?;
    round_trip(
        c,
        t,
        "inet",
        vec!["10.1.2.3".parse::<IpAddr>()?, "2001:db8::1".parse()?],
    )
    .await?;
    round_trip(c, t, "int", vec![i32::MIN, 0, i32::MAX]).await?;
    round_trip(c, t, "smallint", vec![i16::MIN, i16::MAX]).await?;
    round_trip(c, t, "text", vec![String::new(), "Ελληνικά 𝄞".into()]).await?;
    round_trip(c, t, "time", vec![CqlTime(0), CqlTime(86_399_999_999_999)]).await?;
    round_trip(
        c,
        t,
        "timestamp",
        vec![CqlTimestamp(0), CqlTimestamp(-1), CqlTimestamp(i64::MAX)],
    )
    .await?;
    round_trip(
        c,
        t,
        "timeuuid",
        vec!["8e14e760-7fa8-11eb-bc66-000000000001".parse::<CqlTimeuuid>()?],
    )
    .await?;
    round_trip(c, t, "tinyint", vec![i8::MIN, i8::MAX]).await?;
    round_trip(c, t, "uuid", vec![Uuid::nil(), Uuid::max()]).await?;
    let varints = [&[0u8][..], &[0, 0x80], &[0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0]];
    let varints = varints.map(CqlVarint::from_signed_bytes_be_slice).to_vec();
    round_trip(c, t, "varint", varints).await
}

pub async fn nulls_and_unset(c: &Context) -> Result<(), Failure> {
    let t = c.table("k int PRIMARY KEY, a text, b int").await?;
    let insert = format!("INSERT INTO {t} (k, a, b) VALUES (?, ?, ?)");
    c.run(&insert, (1, "a", 1)).await?;
    c.run(&insert, (1, None::<&str>, MaybeUnset::<i32>::Unset))
        .await?;
    let row: (Option<String>, Option<i32>) = c.row(&format!("SELECT a, b FROM {t}"), ()).await?;
    equal("null deletes, unset leaves", row, (None, Some(1)))
}

type Nested = HashMap<i32, Vec<String>>;

pub async fn collections(c: &Context) -> Result<(), Failure> {
    let t = c
        .table("k int PRIMARY KEY, l list<int>, s set<text>, m map<text, bigint>, f frozen<map<int, frozen<list<text>>>>")
        .await?;
    let nested: Nested = HashMap::from([(1, vec!["a".into(), "b".into()]), (2, vec![])]);
    let insert = format!("INSERT INTO {t} (k, l, s, m, f) VALUES (?, ?, ?, ?, ?)");
    let map = HashMap::from([("x", -1i64)]);
    c.run(
        &insert,
        (1, vec![3, 1, 3], BTreeSet::from(["b", "a"]), map, &nested),
    )
    .await?;
    let update = format!("UPDATE {t} SET l = l + ?, m[?] = ?, s = s - ? WHERE k = ?");
    c.run(&update, (vec![7], "z", 9i64, BTreeSet::from(["b"]), 1))
        .await?;
    c.run(&format!("DELETE l[?] FROM {t} WHERE k = ?"), (0, 1))
        .await?;
    let (l, s, m, f): (Vec<i32>, BTreeSet<String>, HashMap<String, i64>, Nested) =
        c.row(&format!("SELECT l, s, m, f FROM {t}"), ()).await?;
    equal("list", l, [1, 3, 7])?;
    equal("set", s, BTreeSet::from(["a".to_owned()]))?;
    equal(
        "map",
        m,
        HashMap::from([("x".to_owned(), -1), ("z".to_owned(), 9)]),
    )?;
    equal("nested", f, nested)
}

#[derive(Clone, Debug, PartialEq, SerializeValue, DeserializeValue)]
struct Address {
    street: String,
    number: Option<i32>,
}

pub async fn user_types_and_tuples(c: &Context) -> Result<(), Failure> {
    c.run("CREATE TYPE address (street text, number int)", ()).await?;
    let t = c
        .table("k int PRIMARY KEY, a frozen<address>, u address, l list<frozen<address>>, t tuple<int, text>")
        .await?;
    let home = Address {
        street: "Main".into(),
        number: Some(7),
    };
    let work = Address {
        street: "Side".into(),
        number: None,
    };
    let insert = format!("INSERT INTO {t} (k, a, u, l, t) VALUES (?, ?, ?, ?, ?)");
    c.run(&insert, (1, &home, &work, vec![&work, &home], (5, None::<&str>)))
        .await?;
    c.run(&format!("UPDATE {t} SET u.number = ? WHERE k = ?"), (9, 1))
        .await?;
    let (a, u, l, tuple): (Address, Address, Vec<Address>, (i32, Option<String>)) =
        c.row(&format!("SELECT a, u, l, t FROM {t}"), ()).await?;
    equal("frozen", &a, &home)?;
    equal(
        "by field",
        u,
        Address {
            street: "Side".into(),
            number: Some(9),
        },
    )?;
    equal("list", l, [work, home])?;
    equal("tuple", tuple, (5, None))?;
    let (street,): (String,) = c.row(&format!("SELECT a.street FROM {t}"), ()).await?;
    equal("field", street, "Main")
}

#[derive(Debug, PartialEq, DeserializeValue)]
struct Place {
    street: String,
    number: Option<i32>,
}

/// A type that gained a field: what was written before lacks it.
pub async fn types_that_grew(c: &Context) -> Result<(), Failure> {
    c.run("CREATE TYPE place (street text)", ()).await?;
    let t = c.table("k int PRIMARY KEY, a frozen<place>").await?;
    for cql in [
        &format!("INSERT INTO {t} (k, a) VALUES (1, {{street: 'Old'}})"),
        "ALTER TYPE place ADD number int",
        &format!("INSERT INTO {t} (k, a) VALUES (2, {{street: 'New', number: 7}})"),
    ] {
        c.session.query_unpaged(cql, ()).await?;
    }
    for (k, street, number) in [(1, "Old", None), (2, "New", Some(7))] {
        let select = format!("SELECT a FROM {t} WHERE k = {k}");
        let wanted = Place {
            street: street.into(),
            number,
        };
        equal(street, c.row::<(Place,)>(&select, ()).await?.0, wanted)?;
    }
    Ok(())
}

pub async fn vectors(c: &Context) -> Result<(), Failure> {
    let t = c
        .table("k int PRIMARY KEY, f vector<float, 3>, t vector<text, 2>")
        .await?;
    let insert = format!("INSERT INTO {t} (k, f, t) VALUES (?, ?, ?)");
    c.run(&insert, (1, vec![0.5f32, -1.0, 2.25], vec!["a", "longer"]))
        .await?;
    let (f, texts): (Vec<f32>, Vec<String>) = c.row(&format!("SELECT f, t FROM {t}"), ()).await?;
    equal("floats", f, [0.5, -1.0, 2.25])?;
    equal("texts", texts, ["a", "longer"])
}
