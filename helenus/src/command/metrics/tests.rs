//! What is published, asked for over sockets while a client is served.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use helenus::{EmbeddedService, Options, Runtime, Server, ShutdownHandle};

use super::*;

/// A server whose metrics are published.
struct Published {
    service: EmbeddedService,
    cql: SocketAddr,
    http: SocketAddr,
    shutdown: ShutdownHandle,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Published {
    fn start() -> Self {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let service = EmbeddedService::new(any);
        let served = Arc::new(service.clone());
        let server = Server::bind(Runtime::Tokio, any, served, Options::default()).unwrap();
        let handle = server.hub().handle().clone();
        let http = serve(any, Exposition::new(handle, Runtime::Tokio, 1)).unwrap();
        let (cql, shutdown) = (server.local_addr(), server.handle());
        let thread = Some(thread::spawn(move || server.run(1)));
        Self {
            service,
            cql,
            http,
            shutdown,
            thread,
        }
    }

    /// The whole answer to these bytes.
    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.http).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn get(&self, path: &str) -> (String, String) {
        let answer = self.ask(&format!("GET {path} HTTP/1.1\r\nHost: here\r\n\r\n"));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.lines().next().unwrap();
        (status.to_owned(), body.to_owned())
    }

    fn samples(&self) -> BTreeMap<String, f64> {
        let (status, text) = self.get("/metrics");
        assert_eq!(status, "HTTP/1.1 200 OK");
        samples(&text)
    }

    /// Scrapes until a sample has this value: a request counts as answered one turn after its answer was sent.
    fn await_sample(&self, name: &str, value: f64) -> BTreeMap<String, f64> {
        loop {
            let samples = self.samples();
            let found = samples[name];
            assert!(found <= value, "{name} {found}");
            if found == value {
                return samples;
            }
            thread::yield_now();
        }
    }

    fn stop(&mut self) {
        self.shutdown.shutdown();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        self.shutdown.shutdown();
    }
}

/// Every sample by its name and labels.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.map(|line| line.rsplit_once(' ').unwrap());
    pairs
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
        .collect()
}

/// A v4 client.
struct Client(TcpStream);

impl Client {
    fn connect(server: &Published) -> Self {
        let mut client = Self(TcpStream::connect(server.cql).unwrap());
        let startup = b"\0\x01\0\x0bCQL_VERSION\0\x053.0.0";
        assert_eq!(client.ask(4, 0x01, startup), 0x02);
        client
    }

    /// The opcode of the answer to a request.
    fn ask(&mut self, version: u8, opcode: u8, body: &[u8]) -> u8 {
        self.send(version, opcode, body);
        let mut header = [0; 9];
        self.0.read_exact(&mut header).unwrap();
        let length = u32::from_be_bytes(header[5..].try_into().unwrap());
        let mut body = vec![0; length as usize];
        self.0.read_exact(&mut body).unwrap();
        header[4]
    }

    fn send(&mut self, version: u8, opcode: u8, body: &[u8]) {
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        let header = [version, 0, 0, 1, opcode];
        self.0
            .write_all(&[&header, &length[..], body].concat())
            .unwrap();
    }

    fn query(&mut self, text: &str) -> u8 {
        self.ask(4, 0x07, &query(text))
    }
}

/// The body of a QUERY of consistency ONE.
fn query(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap().to_be_bytes();
    [&length[..], text.as_bytes(), &[0, 1, 0]].concat()
}

#[test]
fn every_counter_moves_by_what_a_client_does() {
    let server = Published::start();
    let before = server.samples();
    assert_eq!(before["helenus_connections"], 0.0);
    assert_eq!(
        before["helenus_build_info{version=\"0.1.0\",runtime=\"tokio\"}"],
        1.0
    );

    let mut client = Client::connect(&server);
    assert_eq!(client.query("SELECT key FROM system.local"), 0x08);
    assert_eq!(client.query("SELECT key FROM system.local"), 0x08);
    assert_eq!(client.query("SELEKT"), 0x00);
    assert_eq!(client.ask(4, 0x05, &[]), 0x06);
    // A body that is cut: a protocol error.
    assert_eq!(client.ask(4, 0x07, &[0, 0]), 0x00);

    let after = server.await_sample("helenus_cql_requests_total{opcode=\"query\"}", 4.0);
    let moved = |name: &str| after[name] - before[name];
    for (name, by) in [
        ("helenus_connections_opened_total", 1.0),
        ("helenus_connections", 1.0),
        ("helenus_cql_requests_received_total", 6.0),
        ("helenus_cql_responses_total", 6.0),
        ("helenus_cql_requests_total{opcode=\"startup\"}", 1.0),
        ("helenus_cql_requests_total{opcode=\"options\"}", 1.0),
        (
            "helenus_cql_request_duration_seconds_count{opcode=\"query\"}",
            4.0,
        ),
        ("helenus_cql_errors_total{type=\"syntax_error\"}", 1.0),
        ("helenus_cql_errors_total{type=\"protocol_error\"}", 1.0),
        ("helenus_cql_errors_total{type=\"overloaded\"}", 0.0),
        ("helenus_cql_error_responses_total", 2.0),
        ("helenus_cql_faults_total{kind=\"decode\"}", 1.0),
        ("helenus_connections_failed_total", 0.0),
        ("helenus_service_panics_total", 0.0),
    ] {
        assert_eq!(moved(name), by, "{name}");
    }
    assert!(moved("helenus_bytes_sent_total") > 6.0 * 9.0);
    // STARTUP, two SELECTs of 28 bytes, one of 6, OPTIONS, and the cut one.
    let bytes = 9 + 22 + 2 * (9 + 4 + 28 + 3) + (9 + 4 + 6 + 3) + 9 + (9 + 2);
    assert_eq!(moved("helenus_bytes_received_total"), f64::from(bytes));

    drop(client);
    server.await_sample("helenus_connections_closed_total", 1.0);
}

#[test]
fn what_clients_hold_and_what_is_discarded_of_them_is_exact() {
    let server = Published::start();
    let mut slow = Client::connect(&server);
    // Half a request: a header, which is taken at once, and 91 bytes.
    let mut half = vec![4, 0, 0, 1, 0x07, 0, 0, 1, 0];
    half.extend([0; 91]);
    slow.0.write_all(&half).unwrap();
    let samples = server.await_sample("helenus_bytes_held", 91.0);
    assert_eq!(samples["helenus_cql_requests_in_flight"], 0.0);

    let delay = "read on system.local delay 3600s".parse().unwrap();
    server.service.set_faults([delay]);
    let mut client = Client::connect(&server);
    let body = query("SELECT key FROM system.local");
    client.send(4, 0x07, &body);
    let held = 91.0 + 9.0 + body.len() as f64;
    let samples = server.await_sample("helenus_bytes_held", held);
    assert_eq!(samples["helenus_cql_requests_in_flight"], 1.0);

    // Of a message of 17 MiB, a header and 1,000 bytes.
    let mut long = vec![4, 0, 0, 2, 0x07];
    long.extend((17_u32 << 20).to_be_bytes());
    long.extend([0; 1000]);
    client.0.write_all(&long).unwrap();
    let samples = server.await_sample("helenus_bytes_discarded_total", 1009.0);
    assert_eq!(samples["helenus_bytes_held"], held);
}

#[test]
fn the_text_is_whole_and_every_family_is_described() {
    let server = Published::start();
    let (_, text) = server.get("/metrics");
    assert!(text.ends_with("# EOF\n"));
    let mut family = String::new();
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(help.ends_with('.'), "{line}");
            family = name.to_owned();
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            assert!(rest.starts_with(&family), "{line}");
        } else {
            assert!(line.starts_with(&family), "{line} is not of {family}");
        }
    }
    let samples = samples(&text);
    let of_batches = |name: &str| {
        let named = samples
            .iter()
            .filter(|(sample, _)| sample.starts_with(name));
        named
            .filter(|(sample, _)| sample.contains("opcode=\"batch\""))
            .map(|(_, value)| *value)
            .collect::<Vec<_>>()
    };
    let buckets = of_batches("helenus_cql_request_duration_seconds_bucket");
    assert_eq!(buckets, [0.0; helenus_server::BUCKETS]);
    assert_eq!(
        of_batches("helenus_cql_request_duration_seconds_count"),
        [0.0]
    );
}

#[test]
fn everything_published_is_documented() {
    let documented = include_str!("../../../dashboards/README.md");
    let (_, text) = Published::start().get("/metrics");
    for family in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let name = match family.split_once(' ').unwrap() {
            (name, "counter") => format!("`{name}_total`"),
            (name, "info") => format!("`{name}_info`"),
            (name, _) => format!("`{name}`"),
        };
        assert!(documented.contains(&name), "{name}");
    }
}

#[test]
fn healthz_says_whether_the_server_takes_clients() {
    let mut server = Published::start();
    let good = ("HTTP/1.1 200 OK".to_owned(), "serving\n".to_owned());
    assert_eq!(server.get("/healthz"), good);
    server.stop();
    let (status, body) = server.get("/healthz");
    assert_eq!(status, "HTTP/1.1 503 Service Unavailable");
    assert_eq!(body, "draining\n");
    assert_eq!(server.samples()["helenus_draining"], 1.0);
}

#[test]
fn half_a_request_keeps_nobody_from_being_answered() {
    let server = Published::start();
    let _stalled: Vec<TcpStream> = (0..8)
        .map(|_| {
            let mut stream = TcpStream::connect(server.http).unwrap();
            stream.write_all(b"GET /met").unwrap();
            stream
        })
        .collect();
    assert_eq!(server.get("/healthz").0, "HTTP/1.1 200 OK");
}

#[test]
fn what_is_no_request_for_metrics_is_refused() {
    let server = Published::start();
    assert_eq!(server.get("/").0, "HTTP/1.1 404 Not Found");
    let posted = server.ask("POST /metrics HTTP/1.1\r\nHost: here\r\nContent-Length: 0\r\n\r\n");
    assert!(
        posted.starts_with("HTTP/1.1 405 Method Not Allowed\r\n"),
        "{posted}"
    );
    assert!(posted.contains("\r\nallow: GET, HEAD\r\n"), "{posted}");
    let head = server.ask("HEAD /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
    assert!(
        server
            .ask("\x16\x03\x01 no HTTP\r\n\r\n")
            .starts_with("HTTP/1.1 400 ")
    );
    let long = format!(
        "GET /metrics HTTP/1.1\r\nHost: {}\r\n\r\n",
        "x".repeat(64 * 1024)
    );
    let mut stream = TcpStream::connect(server.http).unwrap();
    // The server may hang up before it has read all of it.
    let _ = stream.write_all(long.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 431 "));
}

#[test]
fn each_pool_is_published_by_its_name() {
    let server = Published::start();
    let samples = server.samples();
    for pool in ["work", "logins", "hooks"] {
        for name in ["helenus_offload_stuck", "helenus_offload_timed_out_total"] {
            assert_eq!(samples[&format!("{name}{{pool=\"{pool}\"}}")], 0.0);
        }
    }
}

#[test]
fn the_dashboard_asks_for_nothing_that_is_not_published() {
    let dashboard = include_str!("../../../dashboards/helenus.json");
    let parsed: serde_json::Value = serde_json::from_str(dashboard).unwrap();
    let server = Published::start();
    let samples = server.samples();
    let names: Vec<&str> = samples
        .keys()
        .map(|sample| sample.split('{').next().unwrap_or_default())
        .collect();
    let mut asked = 0;
    for panel in parsed["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().into_iter().flatten() {
            let expression = target["expr"].as_str().unwrap();
            for name in metrics_in(expression) {
                assert!(names.contains(&name), "{name} in {expression}");
                asked += 1;
            }
        }
    }
    assert!(asked > 20, "{asked}");
}

/// The names of metrics in an expression of PromQL.
fn metrics_in(expression: &str) -> impl Iterator<Item = &str> {
    expression
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with("helenus_") || word.starts_with("process_"))
}
