//! Statements of every kind, and what goes wrong with them.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use futures::TryStreamExt;
use futures::future::try_join_all;
use scylla::response::PagingState;
use scylla::statement::Consistency;
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::unprepared::Statement;
use scylla::value::Counter;

use crate::{Context, Failure, equal};

pub async fn prepared(c: &Context) -> Result<(), Failure> {
    let t = c.table("p int, c text, v int, PRIMARY KEY (p, c)").await?;
    for i in 0..10 {
        let insert = format!("INSERT INTO {t} (p, c, v) VALUES (?, ?, ?)");
        c.run(&insert, (1, format!("c{i}"), i)).await?;
    }
    let select = format!("SELECT v FROM {t} WHERE p = ? AND c IN ? LIMIT ?");
    let rows: Vec<(i32,)> = c.rows(&select, (1, vec!["c7", "c2", "c9"], 2)).await?;
    equal("rows", rows, [(2,), (7,)])?;
    let by_key = c
        .session
        .prepare(format!("SELECT v FROM {t} WHERE p = ? AND c = ?"))
        .await?;
    c.run(&format!("ALTER TABLE {t} ADD w text"), ()).await?;
    let result = c
        .session
        .execute_unpaged(&by_key, (1, "c3"))
        .await?
        .into_rows_result()?;
    equal("after ALTER", result.single_row::<(i32,)>()?, (3,))
}

/// Either client changes the table, and both go on with what they prepared.
pub async fn prepared_twice(c: &Context) -> Result<(), Failure> {
    let t = c.table("k int PRIMARY KEY, v text").await?;
    let other = c.server.connect().await?;
    other.use_keyspace(&c.keyspace, false).await?;
    let mut clients = Vec::new();
    for session in [&c.session, &other] {
        let insert = session
            .prepare(format!("INSERT INTO {t} (k, v) VALUES (?, ?)"))
            .await?;
        let select = session.prepare(format!("SELECT v FROM {t} WHERE k = ?")).await?;
        clients.push((session, insert, select));
    }
    for (step, (changer, _, _)) in clients.iter().enumerate() {
        changer
            .query_unpaged(format!("ALTER TABLE {t} ADD added{step} int"), ())
            .await?;
        for (k, (session, insert, select)) in (0..).zip(&clients) {
            session.execute_unpaged(insert, (k, format!("v{step}"))).await?;
            let result = session.execute_unpaged(select, (k,)).await?.into_rows_result()?;
            equal("value", result.single_row::<(String,)>()?.0, format!("v{step}"))?;
        }
    }
    Ok(())
}

pub async fn batches(c: &Context) -> Result<(), Failure> {
    let t = c.table("p int, c int, v text, PRIMARY KEY (p, c)").await?;
    let insert = c
        .session
        .prepare(format!("INSERT INTO {t} (p, c, v) VALUES (?, ?, ?)"))
        .await?;
    for (p, kind) in [(0, BatchType::Logged), (1, BatchType::Unlogged)] {
        let mut batch = Batch::new(kind);
        batch.set_timestamp(Some(1000));
        for _ in 0..3 {
            batch.append_statement(insert.clone());
        }
        batch.append_statement(Statement::new(format!("DELETE FROM {t} WHERE p = {p} AND c = 1")));
        c.session
            .batch(&batch, ((p, 0, "v0"), (p, 1, "v1"), (p, 2, "v2"), ()))
            .await?;
        let count = format!("SELECT count(*) FROM {t} WHERE p = ?");
        equal("rows", c.row::<(i64,)>(&count, (p,)).await?, (2,))?;
        let written = format!("SELECT writetime(v) FROM {t} WHERE p = ? AND c = 0");
        equal("timestamp", c.row::<(i64,)>(&written, (p,)).await?, (1000,))?;
    }
    Ok(())
}

pub async fn counters(c: &Context) -> Result<(), Failure> {
    let t = c.table("k text PRIMARY KEY, n counter").await?;
    let add = c
        .session
        .prepare(format!("UPDATE {t} SET n = n + ? WHERE k = ?"))
        .await?;
    let mut batch = Batch::new(BatchType::Counter);
    batch.append_statement(add.clone());
    batch.append_statement(add);
    c.session
        .batch(&batch, ((Counter(4), "a"), (Counter(6), "a")))
        .await?;
    c.run(&format!("UPDATE {t} SET n = n - 3 WHERE k = 'a'"), ())
        .await?;
    equal(
        "counter",
        c.row::<(Counter,)>(&format!("SELECT n FROM {t}"), ()).await?.0.0,
        7,
    )
}

pub async fn transactions(c: &Context) -> Result<(), Failure> {
    let t = c.table("k int PRIMARY KEY, v int").await?;
    let insert = format!("INSERT INTO {t} (k, v) VALUES (?, ?) IF NOT EXISTS");
    equal("first", c.row::<(bool,)>(&insert, (1, 10)).await?, (true,))?;
    equal(
        "second",
        c.row::<(bool, i32, i32)>(&insert, (1, 11)).await?,
        (false, 1, 10),
    )?;
    let update = format!("UPDATE {t} SET v = ? WHERE k = ? IF v = ?");
    equal("third", c.row::<(bool,)>(&update, (20, 1, 10)).await?, (true,))?;
    equal(
        "fourth",
        c.row::<(bool, i32)>(&update, (30, 1, 10)).await?,
        (false, 20),
    )
}

pub async fn times(c: &Context) -> Result<(), Failure> {
    let t = c.table("k int PRIMARY KEY, v text").await?;
    let insert = format!("INSERT INTO {t} (k, v) VALUES (?, ?) USING TTL ? AND TIMESTAMP ?");
    c.run(&insert, (1, "a", 1000, 123_456i64)).await?;
    let (ttl, written): (i32, i64) = c
        .row(&format!("SELECT ttl(v), writetime(v) FROM {t}"), ())
        .await?;
    equal("writetime", written, 123_456)?;
    equal("ttl within bounds", (991..=1000).contains(&ttl), true)?;
    for (value, timestamp) in [("later", 200_000), ("earlier", 150_000)] {
        let mut statement = Statement::new(format!("INSERT INTO {t} (k, v) VALUES (1, '{value}')"));
        statement.set_timestamp(Some(timestamp));
        c.session.query_unpaged(statement, ()).await?;
    }
    equal(
        "the later write wins",
        c.row::<(String,)>(&format!("SELECT v FROM {t}"), ()).await?.0,
        "later",
    )
}

pub async fn paging(c: &Context) -> Result<(), Failure> {
    let t = c.table("p int, c int, PRIMARY KEY (p, c)").await?;
    for i in 0..50 {
        c.run(&format!("INSERT INTO {t} (p, c) VALUES (?, ?)"), (i % 5, i))
            .await?;
    }
    for size in [1, 7, 49, 50, 51] {
        let mut scan = Statement::new(format!("SELECT c FROM {t}"));
        scan.set_page_size(size);
        let rows = c.session.query_iter(scan, ()).await?.rows_stream::<(i32,)>()?;
        let seen: BTreeSet<i32> = rows.map_ok(|(c,)| c).try_collect().await?;
        equal("rows of a scan", seen, (0..50).collect::<BTreeSet<_>>())?;
    }
    let mut select = c
        .session
        .prepare(format!("SELECT c FROM {t} WHERE p = ?"))
        .await?;
    select.set_page_size(4);
    let (mut sizes, mut state) = (Vec::new(), PagingState::start());
    loop {
        let (page, next) = c.session.execute_single_page(&select, (1,), state).await?;
        sizes.push(page.into_rows_result()?.rows_num());
        match next.into_paging_control_flow() {
            ControlFlow::Break(()) => break,
            ControlFlow::Continue(next) => state = next,
        }
    }
    equal("page sizes", sizes, [4, 4, 2])
}

/// Pages without rows end, or go on to those that have some.
pub async fn empty_pages(c: &Context) -> Result<(), Failure> {
    let t = c.table("p int, c int, v int, PRIMARY KEY (p, c)").await?;
    let count = async |cql: String| -> Result<usize, Failure> {
        let mut scan = Statement::new(cql);
        scan.set_page_size(2);
        let rows = c.session.query_iter(scan, ()).await?.rows_stream::<(i32,)>()?;
        Ok(rows.try_collect::<Vec<_>>().await?.len())
    };
    equal(
        "rows of an empty table",
        count(format!("SELECT c FROM {t}")).await?,
        0,
    )?;
    for i in 0..40 {
        c.run(
            &format!("INSERT INTO {t} (p, c, v) VALUES (?, ?, ?)"),
            (i % 10, i, i),
        )
        .await?;
    }
    let none = format!("SELECT c FROM {t} WHERE v = 77 ALLOW FILTERING");
    equal("rows that match", count(none).await?, 0)?;
    for p in 1..10 {
        c.run(&format!("DELETE FROM {t} WHERE p = {p}"), ()).await?;
    }
    equal("rows left", count(format!("SELECT c FROM {t}")).await?, 4)
}

pub async fn concurrency(c: &Context) -> Result<(), Failure> {
    let t = c.table("k int PRIMARY KEY, v text").await?;
    let insert = &c
        .session
        .prepare(format!("INSERT INTO {t} (k, v) VALUES (?, ?)"))
        .await?;
    let select = &c
        .session
        .prepare(format!("SELECT v FROM {t} WHERE k = ?"))
        .await?;
    let each = (0..500).map(|k| async move {
        c.session.execute_unpaged(insert, (k, format!("v{k}"))).await?;
        let result = c
            .session
            .execute_unpaged(select, (k,))
            .await?
            .into_rows_result()?;
        equal("value", result.single_row::<(String,)>()?.0, format!("v{k}"))
    });
    try_join_all(each).await?;
    Ok(())
}

pub async fn errors(c: &Context) -> Result<(), Failure> {
    let t = c.table("k int PRIMARY KEY").await?;
    let mut two = Statement::new(format!("SELECT k FROM {t} WHERE k = 1"));
    two.set_consistency(Consistency::Two);
    for (statement, message) in [
        (
            Statement::new("SELEC 1"),
            "line 1:0 no viable alternative at input 'SELEC'",
        ),
        (
            Statement::new("SELECT * FROM nosuchtable"),
            "table nosuchtable does not exist",
        ),
        (
            Statement::new(format!("CREATE TABLE {t} (k int PRIMARY KEY)")),
            "already existing",
        ),
        (
            two,
            "Not enough nodes are alive to satisfy required consistency level",
        ),
    ] {
        let text = statement.contents.clone();
        match c.session.query_unpaged(statement, ()).await {
            Ok(_) => return Err(format!("accepted: {text}").into()),
            Err(error) if format!("{error:#} {error:?}").contains(message) => {}
            Err(error) => return Err(format!("{text}: {error}").into()),
        }
    }
    Ok(())
}
