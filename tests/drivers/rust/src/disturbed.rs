//! A server that stops answering, or that ends and comes back on the same port.

use std::time::{Duration, Instant};

use scylla::errors::ExecutionError;

use crate::{Context, Failure, control, equal};

pub async fn timeouts(c: &Context) -> Result<(), Failure> {
    let t = c.table("k int PRIMARY KEY, v int").await?;
    let insert = c
        .session
        .prepare(format!("INSERT INTO {t} (k, v) VALUES (?, ?)"))
        .await?;
    c.session.execute_unpaged(&insert, (1, 1)).await?;
    if !control("pause")? {
        return Ok(());
    }
    let mut short = insert.clone();
    short.set_request_timeout(Some(Duration::from_millis(300)));
    let mut late = 0;
    for k in 0..3 {
        let outcome = c.session.execute_unpaged(&short, (k, 10 + k)).await;
        late += i32::from(matches!(outcome, Err(ExecutionError::RequestTimeout(_))));
    }
    control("resume")?;
    equal("requests that timed out", late, 3)?;
    // The late answers belong to nobody; what is asked now is answered with its own.
    for k in 0..20 {
        c.session.execute_unpaged(&insert, (k, k)).await?;
        let select = format!("SELECT v FROM {t} WHERE k = ?");
        equal("value", c.row::<(i32,)>(&select, (k,)).await?, (k,))?;
    }
    Ok(())
}

pub async fn restart(c: &Context) -> Result<(), Failure> {
    if !control("resume")? {
        return Ok(());
    }
    let session = c.server.connect().await?;
    let name = format!("{}_again", c.keyspace);
    let replication = "{'class': 'NetworkTopologyStrategy', 'datacenter1': 1}";
    let schema = [
        format!("CREATE KEYSPACE {name} WITH replication = {replication}"),
        format!("CREATE TABLE {name}.t (k int PRIMARY KEY, v text)"),
    ];
    for cql in &schema {
        session.query_unpaged(cql.as_str(), ()).await?;
    }
    let insert = session
        .prepare(format!("INSERT INTO {name}.t (k, v) VALUES (?, ?)"))
        .await?;
    session.execute_unpaged(&insert, (1, "before")).await?;
    control("restart")?;
    let end = Instant::now() + Duration::from_secs(20);
    while let Err(error) = session.query_unpaged("SELECT key FROM system.local", ()).await {
        if Instant::now() > end {
            return Err(format!("no answer of the server that came back: {error}").into());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // It keeps nothing: the statement that the driver prepared before is unknown, and prepared again.
    for cql in &schema {
        session.query_unpaged(cql.as_str(), ()).await?;
    }
    session.execute_unpaged(&insert, (1, "after")).await?;
    let result = session
        .query_unpaged(format!("SELECT v FROM {name}.t"), ())
        .await?
        .into_rows_result()?;
    equal("value", result.single_row::<(String,)>()?.0.as_str(), "after")?;
    session.query_unpaged(format!("DROP KEYSPACE {name}"), ()).await?;
    Ok(())
}
