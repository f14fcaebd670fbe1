//! What the driver's metadata shows, and how it follows changes.
//!
//! This driver has no listener for schema events; it reads the schema anew after its own changes, and when asked.

use scylla::cluster::metadata::ColumnKind;

use crate::{Context, Failure, equal};

pub async fn metadata(c: &Context) -> Result<(), Failure> {
    let create = "CREATE TABLE described (a int, b text, c timeuuid, s int static, v map<text, frozen<list<int>>>, \
                  PRIMARY KEY ((a, b), c)) WITH CLUSTERING ORDER BY (c DESC)";
    c.run(create, ()).await?;
    c.session.refresh_metadata().await?;
    let state = c.session.get_cluster_state();
    let keyspace = state.get_keyspace(&c.keyspace).ok_or("no keyspace")?;
    let table = keyspace.tables.get("described").ok_or("no table")?;
    equal(
        "partition key",
        &table.partition_key,
        &["a".to_owned(), "b".to_owned()],
    )?;
    equal("clustering key", &table.clustering_key, &["c".to_owned()])?;
    let kind = |name: &str| table.columns.get(name).map(|column| column.kind.clone());
    equal("static", kind("s"), Some(ColumnKind::Static))?;
    equal("regular", kind("v"), Some(ColumnKind::Regular))?;
    let address = keyspace.user_defined_types.get("address").ok_or("no type")?;
    let fields: Vec<&str> = address
        .field_types
        .iter()
        .map(|(name, _)| name.as_ref())
        .collect();
    equal("fields", fields, ["street", "number"])
}

pub async fn changes(c: &Context) -> Result<(), Failure> {
    let observer = c.server.connect().await?;
    let seen = async |name: &str| -> Result<Option<usize>, Failure> {
        observer.refresh_metadata().await?;
        let state = observer.get_cluster_state();
        let keyspace = state.get_keyspace(&c.keyspace).ok_or("no keyspace")?;
        Ok(keyspace.tables.get(name).map(|table| table.columns.len()))
    };
    c.session
        .query_unpaged("CREATE TABLE evented (k int PRIMARY KEY)", ())
        .await?;
    equal("after CREATE", seen("evented").await?, Some(1))?;
    c.session
        .query_unpaged("ALTER TABLE evented ADD v int", ())
        .await?;
    equal("after ALTER", seen("evented").await?, Some(2))?;
    c.session.query_unpaged("DROP TABLE evented", ()).await?;
    equal("after DROP", seen("evented").await?, None)?;
    c.session.await_schema_agreement().await?;
    Ok(())
}
