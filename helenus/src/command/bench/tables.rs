//! The keyspace and the tables of a load: made and filled before it, dropped after.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use helenus_client::{ClientTls, Config, Error, PlainText, Prepared};
use helenus_core::message::BindValues;
use helenus_std::Client;

use super::arguments::Bench;
use super::error::BenchError;
use super::interrupt::Interrupt;
use super::workload::{Statements, VALUE};

/// Threads that fill a table, whose requests share the connection.
const FILLERS: u32 = 32;

/// A real server's schema changes take their time.
const PATIENCE: Duration = Duration::from_secs(60);

/// What was made on a server for a load.
#[derive(Debug)]
pub(super) struct Tables {
    client: Client,
    keyspace: String,
    /// The tables made, and whether the keyspace was.
    made: (Vec<&'static str>, bool),
    /// The statements, prepared.
    pub(super) statements: Statements,
}

impl Tables {
    /// Connects, and makes what the workloads need.
    pub(super) fn make(
        server: SocketAddr,
        flags: &Bench,
        tls: Option<&ClientTls>,
        interrupt: &Interrupt,
    ) -> Result<Self, BenchError> {
        let client = connect(server, flags, tls)?;
        let keyspace = match &flags.keyspace {
            Some(name) => name.clone(),
            None => format!("helenus_bench_{}", std::process::id()),
        };
        let mut tables = Self {
            client,
            keyspace,
            made: (Vec::new(), false),
            statements: Statements::default(),
        };
        match tables.fill(flags, interrupt) {
            Ok(()) => Ok(tables),
            Err(error) => {
                tables.drop(flags.keep);
                Err(error)
            }
        }
    }

    fn fill(&mut self, flags: &Bench, interrupt: &Interrupt) -> Result<(), BenchError> {
        let needs_keys = flags.workload.iter().any(|workload| workload.needs_keys());
        let needs_page = flags.workload.iter().any(|workload| workload.needs_page());
        if needs_keys || needs_page {
            self.make_keyspace(flags.keyspace.is_some())?;
        }
        let keyspace = self.keyspace.clone();
        if needs_keys {
            self.make_table("bench_keys", "k int PRIMARY KEY, v text")?;
            let insert = self.prepare(&format!(
                "INSERT INTO {keyspace}.bench_keys (k, v) VALUES (?, ?)"
            ))?;
            self.write(&insert, flags.keys, interrupt, |key| (key, VALUE))?;
            self.statements.insert = Some(insert);
            self.statements.select =
                Some(self.prepare(&format!("SELECT v FROM {keyspace}.bench_keys WHERE k = ?"))?);
            self.statements.count =
                Some(self.prepare(&format!("SELECT count(*) FROM {keyspace}.bench_keys"))?);
        }
        if needs_page {
            self.make_table(
                "bench_page",
                "p int, c int, n1 bigint, n2 bigint, n3 bigint, n4 bigint, t1 text, t2 text, t3 text, t4 text, \
                 PRIMARY KEY (p, c)",
            )?;
            let insert = self.prepare(&format!(
                "INSERT INTO {keyspace}.bench_page (p, c, n1, n2, n3, n4, t1, t2, t3, t4) \
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            ))?;
            self.write(&insert, flags.rows, interrupt, page_row)?;
            self.statements.page =
                Some(self.prepare(&format!("SELECT * FROM {keyspace}.bench_page WHERE p = ?"))?);
        }
        Ok(())
    }

    fn make_keyspace(&mut self, may_exist: bool) -> Result<(), BenchError> {
        let exists = may_exist && {
            let found = self.client.query(
                "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?",
                (self.keyspace.as_str(),),
            );
            found.is_ok_and(|result| result.rows().is_some_and(|rows| rows.row_count > 0))
        };
        if exists {
            return Ok(());
        }
        let made = self.client.query(
            format!(
                "CREATE KEYSPACE {} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}",
                self.keyspace
            )
            .as_str(),
            (),
        );
        made.map_err(|error| BenchError::Keyspace {
            keyspace: self.keyspace.clone(),
            reason: error.to_string(),
        })?;
        self.made.1 = true;
        Ok(())
    }

    fn make_table(&mut self, name: &'static str, columns: &str) -> Result<(), BenchError> {
        let statement = format!("CREATE TABLE {}.{name} ({columns})", self.keyspace);
        self.client
            .query(statement.as_str(), ())
            .map_err(|error| failed(&statement, &error))?;
        self.made.0.push(name);
        Ok(())
    }

    fn prepare(&self, statement: &str) -> Result<Prepared, BenchError> {
        self.client
            .prepare(statement)
            .map_err(|error| failed(statement, &error))
    }

    /// Writes the rows 0 to `count`.
    fn write<V: BindValues>(
        &self,
        insert: &Prepared,
        count: u32,
        interrupt: &Interrupt,
        row: impl Fn(i32) -> V + Sync,
    ) -> Result<(), BenchError> {
        let write = |first: u32| -> Result<(), BenchError> {
            for key in (first..count).step_by(FILLERS as usize) {
                interrupt.check()?;
                let written = self.client.execute(insert, row(key as i32));
                written.map_err(|error| failed(insert.text(), &error))?;
            }
            Ok(())
        };
        thread::scope(|scope| {
            let fillers: Vec<_> = (0..FILLERS.min(count))
                .map(|first| scope.spawn(move || write(first)))
                .collect();
            fillers
                .into_iter()
                .try_for_each(|filler| filler.join().unwrap_or(Ok(())))
        })
    }

    /// Drops what was made, unless it is to be kept. A server that can't any more has nothing to keep either.
    pub(super) fn drop(self, keep: bool) {
        if keep {
            return;
        }
        let (tables, keyspace) = &self.made;
        if *keyspace {
            let statement = format!("DROP KEYSPACE {}", self.keyspace);
            let _ = self.client.query(statement.as_str(), ());
            return;
        }
        for table in tables {
            let statement = format!("DROP TABLE {}.{table}", self.keyspace);
            let _ = self.client.query(statement.as_str(), ());
        }
    }
}

/// A row of the page: ten columns, four numbers and four texts of ten bytes beside its key.
fn page_row(row: i32) -> (i32, i32, i64, i64, i64, i64, String, String, String, String) {
    let number = i64::from(row);
    let text = |column: u8| format!("{column}-{row:08}");
    (
        0,
        row,
        number,
        number + 1,
        number + 2,
        number + 3,
        text(1),
        text(2),
        text(3),
        text(4),
    )
}

fn connect(
    server: SocketAddr,
    flags: &Bench,
    tls: Option<&ClientTls>,
) -> Result<Client, BenchError> {
    let mut config = Config::default();
    config.connection.versions = vec![flags.version()];
    config.connection.request_timeout = Some(PATIENCE);
    config.tls = tls.cloned();
    let login = flags.login();
    if let Some((user, password)) = login {
        config.authenticator = Some(std::sync::Arc::new(PlainText::new(user, password)));
    }
    Client::connect(server, config)
        .map_err(|error| BenchError::connecting(server, login.is_some(), &error))
}

fn failed(statement: &str, error: &Error) -> BenchError {
    BenchError::Statement {
        statement: statement.to_owned(),
        reason: error.to_string(),
    }
}
