//! The library's clients and real statements: every version and compression, on every runtime.

use crate::library::{Connected, all, connect_with, wait};
use crate::server::Runtime;
use helenus::TestServer;
use helenus_client::{Batch, Error, Statement};
use helenus_core::ProtocolVersion;
use helenus_core::compression::Compression;
use std::net::SocketAddr;

const DIALECTS: [(ProtocolVersion, Option<Compression>); 8] = [
    (ProtocolVersion::V3, None),
    (ProtocolVersion::V3, Some(Compression::Lz4)),
    (ProtocolVersion::V3, Some(Compression::Snappy)),
    (ProtocolVersion::V4, None),
    (ProtocolVersion::V4, Some(Compression::Lz4)),
    (ProtocolVersion::V4, Some(Compression::Snappy)),
    (ProtocolVersion::V5, None),
    (ProtocolVersion::V5, Some(Compression::Lz4)),
];

/// The server of a test: one of its own, or the one that `HELENUS_TEST_SERVER` names.
struct Store {
    address: SocketAddr,
    keyspace: String,
    _own: Option<TestServer>,
}

impl Store {
    fn open(runtime: Runtime, name: &str) -> Store {
        let given = std::env::var("HELENUS_TEST_SERVER").ok();
        let own = given.is_none().then(|| TestServer::start().unwrap());
        let address = match &own {
            Some(server) => server.address(),
            None => given.unwrap_or_default().parse().unwrap(),
        };
        let keyspace = format!("clients_{name}_{runtime:?}").to_lowercase();
        let store = Store {
            address,
            keyspace,
            _own: own,
        };
        let client = store.connect(runtime, ProtocolVersion::V5, None);
        store.run(&client, "DROP KEYSPACE IF EXISTS $");
        let replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
        store.run(
            &client,
            &format!("CREATE KEYSPACE $ WITH replication = {replication}"),
        );
        store
    }

    fn connect(
        &self,
        runtime: Runtime,
        version: ProtocolVersion,
        compression: Option<Compression>,
    ) -> Connected {
        connect_with(runtime, self.address, |config| {
            config.connection.versions = vec![version];
            config.connection.compressions = compression.into_iter().collect();
        })
    }

    /// A text with the keyspace's name in it.
    fn text(&self, text: &str) -> String {
        text.replace('$', &self.keyspace)
    }

    fn run(&self, client: &Connected, text: &str) {
        wait(client.query(&self.text(text), ())).unwrap();
    }
}

pub(crate) fn statements_of_every_kind_in_every_dialect(runtime: Runtime) {
    let store = Store::open(runtime, "kinds");
    for (round, (version, compression)) in DIALECTS.into_iter().enumerate() {
        let client = store.connect(runtime, version, compression);
        assert_eq!(client.version(), version);
        store.run(
            &client,
            &format!("CREATE TABLE $.t{round} (id int, at int, name text, PRIMARY KEY (id, at))"),
        );
        wait(client.use_keyspace(&store.keyspace)).unwrap();
        let insert = format!("INSERT INTO t{round} (id, at, name) VALUES (?, ?, ?)");
        wait(client.query(&insert, (1, 0, "text"))).unwrap();
        let insert = wait(client.prepare(&insert)).unwrap();
        let execute = |at: i32| client.execute(&insert, (1, at, Some("prepared")));
        for outcome in wait(all((1..20).map(execute))) {
            outcome.unwrap();
        }
        let mut batch = Batch::logged();
        for at in 20..23 {
            batch.execute(&insert, (1, at, None::<&str>)).unwrap();
        }
        let text = format!("INSERT INTO t{round} (id, at, name) VALUES (1, ?, 'batch')");
        batch.query(&text, (23,)).unwrap();
        wait(client.batch(&batch)).unwrap();
        let select = format!("SELECT at, name FROM t{round} WHERE id = ?");
        let select = wait(client.prepare(&select)).unwrap();
        let result = wait(client.execute(&select, (1,))).unwrap();
        let rows: Result<Vec<_>, _> = result.typed::<(i32, Option<&str>)>().unwrap().collect();
        let expected: Vec<(i32, Option<&str>)> = (0..24)
            .map(|at| match at {
                0 => (at, Some("text")),
                1..20 => (at, Some("prepared")),
                20..23 => (at, None),
                _ => (at, Some("batch")),
            })
            .collect();
        assert_eq!(rows.unwrap(), expected);
        let error = wait(client.query("SELECT nonsense", ())).unwrap_err();
        assert!(matches!(error, Error::Server(_)), "{error}");
    }
    let client = store.connect(runtime, ProtocolVersion::V5, None);
    store.run(&client, "DROP KEYSPACE $");
}

pub(crate) fn pages_and_large_results_in_every_dialect(runtime: Runtime) {
    let store = Store::open(runtime, "pages");
    let client = store.connect(runtime, ProtocolVersion::V5, None);
    store.run(
        &client,
        "CREATE TABLE $.t (id int, at int, bytes blob, PRIMARY KEY (id, at))",
    );
    let insert = store.text("INSERT INTO $.t (id, at, bytes) VALUES (1, ?, ?)");
    let insert = wait(client.prepare(&insert)).unwrap();
    let blob = |at: i32| -> Vec<u8> {
        // Of many kinds: some that compress, some that don't.
        let mut state = at.unsigned_abs() | 1;
        let next = move |_| {
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            (state >> (8 + at % 16)) as u8
        };
        (0..60_000).map(next).collect()
    };
    for outcome in wait(all((0..30).map(|at| {
        let blob = blob(at);
        let (client, insert) = (&client, &insert);
        async move { client.execute(insert, (at, &blob[..])).await }
    }))) {
        outcome.unwrap();
    }
    for (version, compression) in DIALECTS {
        let client = store.connect(runtime, version, compression);
        let select = store.text("SELECT at, bytes FROM $.t WHERE id = 1");
        let check = |at: usize, row: (i32, &[u8])| {
            let at = i32::try_from(at).unwrap();
            assert_eq!((row.0, row.1 == &blob(at)[..]), (at, true));
        };
        // 1.8 MB in one answer.
        let whole = wait(client.query(&select, ())).unwrap();
        for (at, row) in whole.typed::<(i32, &[u8])>().unwrap().enumerate() {
            check(at, row.unwrap());
        }
        let statement = Statement::new(&select).with(|options| options.page_size = Some(7));
        let prepared = wait(client.prepare(statement.clone())).unwrap();
        let by_text = client.query_pages(statement, ()).unwrap();
        let by_id = client.execute_pages(&prepared, ()).unwrap();
        for mut pages in [by_text, by_id] {
            let (mut at, mut lengths) = (0, Vec::new());
            while let Some(page) = wait(pages.next()) {
                let page = page.unwrap();
                lengths.push(page.rows().unwrap().row_count);
                for row in page.typed::<(i32, &[u8])>().unwrap() {
                    check(at, row.unwrap());
                    at += 1;
                }
            }
            assert_eq!(lengths, [7, 7, 7, 7, 2]);
        }
    }
    store.run(&client, "DROP KEYSPACE $");
}

pub(crate) fn a_column_that_was_added_is_seen_by_a_statement_prepared_before(runtime: Runtime) {
    let store = Store::open(runtime, "alter");
    for version in [ProtocolVersion::V4, ProtocolVersion::V5] {
        let client = store.connect(runtime, version, None);
        store.run(&client, "CREATE TABLE $.t (id int PRIMARY KEY, a int)");
        store.run(&client, "INSERT INTO $.t (id, a) VALUES (1, 2)");
        let select = store.text("SELECT * FROM $.t WHERE id = ?");
        let select = wait(client.prepare(&select)).unwrap();
        let result = wait(client.execute(&select, (1,))).unwrap();
        let rows: Vec<_> = result.typed::<(i32, i32)>().unwrap().collect();
        assert_eq!(rows, [Ok((1, 2))]);
        store.run(&client, "ALTER TABLE $.t ADD b int");
        store.run(&client, "INSERT INTO $.t (id, b) VALUES (1, 3)");
        for _ in 0..2 {
            let result = wait(client.execute(&select, (1,))).unwrap();
            let rows: Vec<_> = result.typed::<(i32, i32, i32)>().unwrap().collect();
            assert_eq!(rows, [Ok((1, 2, 3))]);
        }
        // From v5 on, the description comes once.
        let result = wait(client.execute(&select, (1,))).unwrap();
        let is_left_out = result.rows().unwrap().skip_metadata;
        assert_eq!(is_left_out, version == ProtocolVersion::V5);
        store.run(&client, "DROP TABLE $.t");
    }
    let client = store.connect(runtime, ProtocolVersion::V5, None);
    store.run(&client, "DROP KEYSPACE $");
}

pub(crate) fn a_traced_statement_has_an_id(runtime: Runtime) {
    let store = Store::open(runtime, "trace");
    let client = store.connect(runtime, ProtocolVersion::V4, None);
    let statement =
        Statement::new("SELECT key FROM system.local").with(|options| options.tracing = true);
    let result = wait(client.query(statement, ())).unwrap();
    assert!(result.tracing_id().is_some());
    store.run(&client, "DROP KEYSPACE $");
}
