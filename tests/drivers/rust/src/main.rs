//! Drives a CQL server with Rust's `scylla` driver: `scylla-driver-check HOST PORT VERSION`.
//!
//! Prints `ok NAME` or `not ok NAME: why` for each check; exits 0 when all passed. The driver speaks version 4.

mod schema;
mod statements;
mod types;

use std::fmt::Debug;
use std::future::Future;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};

use scylla::client::Compression;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::deserialize::row::DeserializeRow;
use scylla::serialize::row::SerializeRow;

/// Why a check failed.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A session in a keyspace of its own, and short ways to ask.
pub struct Context {
    /// In the keyspace.
    pub session: Session,
    /// Where the tables of the checks are.
    pub keyspace: String,
    /// `host:port` of the server.
    pub address: String,
    tables: AtomicU32,
}

impl Context {
    async fn open(address: String) -> Result<Self, Failure> {
        let session = connect(&address).await?;
        let keyspace = String::from("scylla_rust");
        session
            .query_unpaged(format!("DROP KEYSPACE IF EXISTS {keyspace}"), ())
            .await?;
        let create = format!(
            "CREATE KEYSPACE {keyspace} WITH replication = \
             {{'class': 'NetworkTopologyStrategy', 'datacenter1': 1}}"
        );
        session.query_unpaged(create, ()).await?;
        session.use_keyspace(&keyspace, false).await?;
        Ok(Context {
            session,
            keyspace,
            address,
            tables: AtomicU32::new(0),
        })
    }

    /// Creates a table of these columns and gives its name.
    pub async fn table(&self, definition: &str) -> Result<String, Failure> {
        let name = format!("t{}", self.tables.fetch_add(1, Ordering::Relaxed));
        self.run(&format!("CREATE TABLE {name} ({definition})"), ())
            .await?;
        Ok(name)
    }

    /// Prepares and executes a statement whose rows, if any, don't matter.
    pub async fn run(&self, cql: &str, values: impl SerializeRow) -> Result<(), Failure> {
        let prepared = self.session.prepare(cql).await?;
        self.session.execute_unpaged(&prepared, values).await?;
        Ok(())
    }

    /// Prepares and executes a statement; gives all rows.
    pub async fn rows<R>(&self, cql: &str, values: impl SerializeRow) -> Result<Vec<R>, Failure>
    where
        R: for<'f, 'm> DeserializeRow<'f, 'm>,
    {
        let prepared = self.session.prepare(cql).await?;
        let result = self
            .session
            .execute_unpaged(&prepared, values)
            .await?
            .into_rows_result()?;
        Ok(result.rows::<R>()?.collect::<Result<_, _>>()?)
    }

    /// The only row.
    pub async fn row<R>(&self, cql: &str, values: impl SerializeRow) -> Result<R, Failure>
    where
        R: for<'f, 'm> DeserializeRow<'f, 'm>,
    {
        let mut rows = self.rows(cql, values).await?;
        equal(cql, rows.len(), 1)?;
        rows.pop().ok_or_else(|| "no row".into())
    }
}

/// A session of its own.
pub async fn connect(address: &str) -> Result<Session, Failure> {
    let builder = SessionBuilder::new()
        .known_node(address)
        .compression(Some(Compression::Lz4));
    Ok(builder.build().await?)
}

/// Exact equality.
pub fn equal<T: PartialEq<U> + Debug, U: Debug>(what: &str, got: T, wanted: U) -> Result<(), Failure> {
    if got == wanted {
        Ok(())
    } else {
        Err(format!("{what}: got {got:?}, wanted {wanted:?}").into())
    }
}

async fn check(name: &str, body: impl Future<Output = Result<(), Failure>>) -> bool {
    match body.await {
        Ok(()) => {
            println!("ok {name}");
            true
        }
        Err(error) => {
            println!("not ok {name}: {}", error.to_string().replace('\n', " "));
            false
        }
    }
}

async fn run(address: String) -> Result<bool, Failure> {
    let context = Context::open(address).await?;
    let c = &context;
    let passed = [
        check("native_types", types::native_types(c)).await,
        check("nulls_and_unset", types::nulls_and_unset(c)).await,
        check("collections", types::collections(c)).await,
        check("user_types_and_tuples", types::user_types_and_tuples(c)).await,
        check("vectors", types::vectors(c)).await,
        check("prepared_statements", statements::prepared(c)).await,
        check("batches", statements::batches(c)).await,
        check("counters", statements::counters(c)).await,
        check("lightweight_transactions", statements::transactions(c)).await,
        check("time_to_live_and_timestamps", statements::times(c)).await,
        check("paging", statements::paging(c)).await,
        check("many_at_once", statements::concurrency(c)).await,
        check("errors", statements::errors(c)).await,
        check("schema_metadata", schema::metadata(c)).await,
        check("schema_changes", schema::changes(c)).await,
    ];
    context
        .session
        .query_unpaged(format!("DROP KEYSPACE {}", context.keyspace), ())
        .await?;
    Ok(passed.iter().all(|&good| good))
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [host, port, version] = arguments.as_slice() else {
        eprintln!("usage: scylla-driver-check HOST PORT VERSION");
        return ExitCode::from(2);
    };
    if version != "4" {
        eprintln!("the driver speaks version 4 only");
        return ExitCode::from(2);
    }
    match run(format!("{host}:{port}")).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("not ok connect: {error}");
            ExitCode::FAILURE
        }
    }
}
