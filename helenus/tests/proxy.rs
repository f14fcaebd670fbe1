//! The proxy before a test server, on every runtime, between every two versions.

use std::net::SocketAddr;
use std::thread::JoinHandle;

use helenus::{
    ClientConfig, Options, Proxy, Runtime, Server, ShutdownHandle, TestServer, Upstream,
};
use helenus_client::{Error, Statement};
use helenus_core::compression::Compression;
use helenus_core::message::EventType;
use helenus_core::{ErrorCode, ProtocolVersion, ServerEvent};
use helenus_std::Client;

/// A proxy that runs on a thread of its own until it is dropped.
struct Running {
    address: SocketAddr,
    shutdown: ShutdownHandle,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Running {
    fn start(runtime: Runtime, upstream: SocketAddr, config: ClientConfig) -> Self {
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let upstream = Upstream {
            address: upstream,
            config,
        };
        let proxy = Proxy::new(runtime, upstream);
        let server = Server::bind_async(runtime, listen, proxy, Options::default()).unwrap();
        let (address, shutdown) = (server.local_addr(), server.handle());
        let thread = std::thread::spawn(move || server.run(1));
        Self {
            address,
            shutdown,
            thread: Some(thread),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shutdown.shutdown();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }
}

fn speaking(version: ProtocolVersion, compression: Option<Compression>) -> ClientConfig {
    let mut config = ClientConfig::default();
    config.connection.versions = vec![version];
    config.connection.compressions = compression.into_iter().collect();
    config
}

/// A keyspace, a table, prepared statements, pages and an event, all through the proxy.
fn use_everything(client: &Client) -> Result<(), Error> {
    let mut events = client.events(&[EventType::SchemaChange])?;
    client.query(
        "CREATE KEYSPACE proxied WITH replication = \
         {'class': 'SimpleStrategy', 'replication_factor': 1}",
        (),
    )?;
    let event = events.next().expect("an event")?;
    assert!(matches!(event, ServerEvent::SchemaChange(_)), "{event:?}");
    client.use_keyspace("proxied")?;
    client.query(
        "CREATE TABLE t (k int, c int, v text, s smallint, PRIMARY KEY (k, c))",
        (),
    )?;

    let insert = client.prepare("INSERT INTO t (k, c, v, s) VALUES (?, ?, ?, ?)")?;
    let long = "x".repeat(200_000);
    for c in 0..5 {
        let text = if c == 3 { &long } else { "short" };
        client.execute(&insert, (1, c, text, Some(7_i16)))?;
    }
    let select = client
        .prepare("SELECT c, v, s FROM t WHERE k = ?")?
        .with(|options| options.page_size = Some(2));
    let mut lengths = Vec::new();
    for page in client.execute_pages(&select, (1,))? {
        for row in page?.typed::<(i32, &str, i16)>()? {
            let (c, v, s) = row?;
            lengths.push((c, v.len(), s));
        }
    }
    let wanted = [(0, 5, 7), (1, 5, 7), (2, 5, 7), (3, 200_000, 7), (4, 5, 7)];
    assert_eq!(lengths, wanted);

    // The statement is forgotten by the server behind, and prepared again.
    client.query("ALTER TABLE t ADD w int", ())?;
    client.execute(&insert, (1, 5, "after", None::<i16>))?;
    let error = client.query("SELECT nothing FROM t", ()).unwrap_err();
    assert!(
        matches!(&error, Error::Server(error) if error.code == ErrorCode::INVALID),
        "{error:?}"
    );
    let traced = Statement::new("SELECT v FROM t WHERE k = 1 AND c = 0")
        .with(|options| options.tracing = true);
    assert!(client.query(traced, ())?.tracing_id().is_some());
    client.query("DROP KEYSPACE proxied", ())?;
    Ok(())
}

#[test]
fn every_version_reaches_every_other_on_every_runtime() {
    let behind = TestServer::start().unwrap();
    for runtime in Runtime::ALL {
        for (back, packed) in [
            (ProtocolVersion::V3, Some(Compression::Snappy)),
            (ProtocolVersion::V4, None),
            (ProtocolVersion::V5, Some(Compression::Lz4)),
        ] {
            let proxy = Running::start(runtime, behind.address(), speaking(back, packed));
            for (front, packed) in [
                (ProtocolVersion::V3, None),
                (ProtocolVersion::V4, Some(Compression::Lz4)),
                (ProtocolVersion::V5, None),
            ] {
                let client = Client::connect(proxy.address, speaking(front, packed)).unwrap();
                assert_eq!(client.version(), front);
                use_everything(&client)
                    .unwrap_or_else(|error| panic!("{runtime}, {front} to {back}: {error}"));
            }
        }
    }
}

#[test]
fn a_server_that_is_not_there_is_an_error_that_sends_drivers_elsewhere() {
    let gone = {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.local_addr().unwrap()
    };
    for runtime in Runtime::ALL {
        let proxy = Running::start(runtime, gone, ClientConfig::default());
        let client = Client::connect(proxy.address, ClientConfig::default()).unwrap();
        let error = client
            .query("SELECT key FROM system.local", ())
            .unwrap_err();
        assert!(
            matches!(&error, Error::Server(error) if error.code == ErrorCode::IS_BOOTSTRAPPING),
            "{runtime}: {error:?}"
        );
        // The connection goes on.
        client.options().unwrap();
    }
}
