//! Drives a CQL server with Rust's `scylla` driver: `scylla-driver-check HOST PORT VERSION COMPRESSION`.
//! The environment says the rest, as for every driver's program: ../README.md.
//!
//! Prints `ok NAME` or `not ok NAME: why` for each check; exits 0 when all passed. The driver speaks version 4.

mod disturbed;
mod large;
mod schema;
mod statements;
mod types;

use std::env;
use std::fmt::Debug;
use std::future::Future;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
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
    /// How the server is reached.
    pub server: Server,
    tables: AtomicU32,
}

impl Context {
    async fn open(server: Server) -> Result<Self, Failure> {
        let session = server.connect().await?;
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
            server,
            tables: AtomicU32::new(0),
        })
    }

    async fn close(&self) -> Result<(), Failure> {
        let drop = format!("DROP KEYSPACE {}", self.keyspace);
        self.session.query_unpaged(drop, ()).await?;
        Ok(())
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

/// How a server is reached.
#[derive(Clone)]
pub struct Server {
    /// `host:port`.
    pub address: String,
    /// What is demanded in STARTUP.
    pub compression: Option<Compression>,
}

impl Server {
    /// What every session begins with.
    pub fn session(&self) -> Result<SessionBuilder, Failure> {
        let mut builder = SessionBuilder::new()
            .known_node(&self.address)
            .compression(self.compression);
        if let Ok(file) = env::var("CHECK_CA") {
            builder = builder.tls_context(Some(trusting(&file)?));
        }
        if let (Ok(user), Ok(password)) = (env::var("CHECK_USER"), env::var("CHECK_PASSWORD")) {
            builder = builder.user(user, password);
        }
        Ok(builder)
    }

    /// A session of its own.
    pub async fn connect(&self) -> Result<Session, Failure> {
        Ok(self.session()?.build().await?)
    }
}

fn trusting(file: &str) -> Result<Arc<ClientConfig>, Failure> {
    let mut trusted = RootCertStore::empty();
    trusted.add(CertificateDer::from_pem_file(file)?)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(Arc::new(
        config.with_root_certificates(trusted).with_no_client_auth(),
    ))
}

/// Has the harness pause, resume or restart the server; false where nobody can.
pub fn control(word: &str) -> Result<bool, Failure> {
    let Ok(port) = env::var("CHECK_CONTROL") else {
        return Ok(false);
    };
    let mut harness = TcpStream::connect(("127.0.0.1", port.parse()?))?;
    writeln!(harness, "{word}")?;
    let mut said = String::new();
    harness.read_to_string(&mut said)?;
    equal(word, said.as_str(), "")?;
    Ok(true)
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

async fn run(server: Server) -> Result<bool, Failure> {
    let context = Context::open(server).await?;
    let c = &context;
    let passed = [
        check("native_types", types::native_types(c)).await,
        check("nulls_and_unset", types::nulls_and_unset(c)).await,
        check("collections", types::collections(c)).await,
        check("user_types_and_tuples", types::user_types_and_tuples(c)).await,
        check("types_that_grew", types::types_that_grew(c)).await,
        check("vectors", types::vectors(c)).await,
        check("prepared_statements", statements::prepared(c)).await,
        check("two_clients_prepare_again", statements::prepared_twice(c)).await,
        check("batches", statements::batches(c)).await,
        check("counters", statements::counters(c)).await,
        check("lightweight_transactions", statements::transactions(c)).await,
        check("time_to_live_and_timestamps", statements::times(c)).await,
        check("paging", statements::paging(c)).await,
        check("pages_without_rows", statements::empty_pages(c)).await,
        check("a_large_cell", large::cell(c)).await,
        check("messages_around_the_size_of_a_segment", large::segments(c)).await,
        check("a_page_of_200_kb", large::page(c)).await,
        check("many_at_once", statements::concurrency(c)).await,
        check("errors", statements::errors(c)).await,
        check("schema_metadata", schema::metadata(c)).await,
        check("schema_changes", schema::changes(c)).await,
        check("a_request_times_out", disturbed::timeouts(c)).await,
        check("drop_keyspace", c.close()).await,
        // The last one: the server forgets what the others made.
        check("a_session_outlives_its_server", disturbed::restart(c)).await,
    ];
    Ok(passed.iter().all(|&good| good))
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [host, port, version, compression] = arguments.as_slice() else {
        eprintln!("usage: scylla-driver-check HOST PORT VERSION COMPRESSION");
        return ExitCode::from(2);
    };
    let compression = match (version.as_str(), compression.as_str()) {
        ("4", "none") => None,
        ("4", "lz4") => Some(Compression::Lz4),
        ("4", "snappy") => Some(Compression::Snappy),
        _ => {
            eprintln!("the driver speaks version 4 only, with none, lz4 or snappy");
            return ExitCode::from(2);
        }
    };
    let address = format!("{host}:{port}");
    match run(Server { address, compression }).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("not ok connect: {error}");
            ExitCode::FAILURE
        }
    }
}
