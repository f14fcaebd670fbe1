//! `helenus bench` as its users run it: what it refuses and why, what it reports, and that it leaves nothing behind.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::Instant;

use helenus::{EmbeddedService, Options, Runtime, Server, TestServer};
use helenus_core::connection::AuthToken;
use helenus_core::{Request, Responder, ServerConfig};
use helenus_server::{PeerInfo, Service};
use serde_json::Value;

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_helenus"))
        .arg("bench")
        .args(arguments)
        .output()
        .unwrap()
}

/// A run of a fifth of a second on this server: its report, and the exit status.
fn measure(server: SocketAddr, arguments: &[&str]) -> (Vec<Value>, Option<i32>) {
    let target = server.to_string();
    let common = [
        "--target",
        &target,
        "--seconds",
        "0.2",
        "--warm-up",
        "0",
        "--json",
        "--keys",
        "100",
    ];
    let output = bench(&[&common[..], arguments].concat());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(!said.is_empty(), "{arguments:?}: {failed}");
    let reports = said.lines().map(|line| serde_json::from_str(line).unwrap());
    (reports.collect(), output.status.code())
}

#[track_caller]
fn refuses(arguments: &[&str], why: &str) {
    let output = bench(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(why), "{said}");
    assert!(output.stdout.is_empty());
}

/// A server of the command, which ends with this value.
struct Process(Child, SocketAddr);

impl Process {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_helenus"))
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        let address = line.split_whitespace().nth(2).unwrap().parse().unwrap();
        Self(child, address)
    }

    /// The null server.
    fn null(event_loop: &str) -> Self {
        Self::start(&[
            "bench",
            "--null-server",
            "127.0.0.1:0",
            "--workers",
            "2",
            "--loop",
            event_loop,
        ])
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn what_cant_be_run_is_refused_with_its_reason() {
    refuses(&[], "--target");
    refuses(
        &["--target", "127.0.0.1:9042", "--workload", "reed"],
        "options",
    );
    refuses(&["--target", "nowhere"], "no HOST:PORT");
    refuses(
        &["--target", "127.0.0.1:9042", "--compare"],
        "cannot be used with",
    );
    refuses(
        &["--target", "127.0.0.1:9042", "--keyspace", "No"],
        "small letters",
    );
    refuses(&["--compare", "--only", "nothing"], "canned tokio");
    let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = free.local_addr().unwrap().to_string();
    refuses(&["--null-server", &address], &address);
    drop(free);
    refuses(&["--target", &address], "no CQL server answers");
}

#[test]
fn a_server_that_lacks_what_is_asked_for_is_named() {
    let null = Process::null("bare");
    let target = null.1.to_string();
    refuses(
        &[
            "--target",
            &target,
            "--workload",
            "options",
            "--compression",
            "lz4",
        ],
        "doesn't offer lz4",
    );
    let server = TestServer::start().unwrap();
    let target = server.address().to_string();
    refuses(
        &[
            "--target",
            &target,
            "--protocol",
            "5",
            "--compression",
            "snappy",
            "--workload",
            "options",
        ],
        "doesn't offer snappy compression in protocol version 5",
    );
}

#[test]
fn every_workload_is_reported_and_nothing_is_left_behind() {
    let server = TestServer::start().unwrap();
    let workloads = "read,write,mixed,options,connect,rows,scan";
    let (reports, status) = measure(
        server.address(),
        &[
            "--workload",
            workloads,
            "--connections",
            "2",
            "--depth",
            "4",
            "--rows",
            "50",
        ],
    );
    assert_eq!(status, Some(0));
    let said: Vec<&str> = reports
        .iter()
        .map(|report| report["workload"].as_str().unwrap())
        .collect();
    assert_eq!(said, workloads.split(',').collect::<Vec<_>>());
    for report in &reports {
        assert!(report["answered"].as_u64().unwrap() > 0, "{report}");
        assert_eq!(report["errors"], serde_json::json!({}));
        assert_eq!(report["protocol"], 4);
        assert_eq!(report["throughput"]["intervals"], 2);
        let latency = |name: &str| report["latency_us"][name].as_f64().unwrap();
        let order = ["p50", "p90", "p95", "p99", "p99_9", "max"].map(latency);
        assert!(order[0] > 0.0 && order.is_sorted(), "{report}");
        if cfg!(target_os = "linux") {
            assert!(report["server_cpu_us"].is_f64(), "{report}");
        }
    }
    assert!(!has_keyspace(&server));
}

/// Whether a load's own keyspace is there.
fn has_keyspace(server: &TestServer) -> bool {
    let client = helenus_std::Client::connect(server.address(), helenus::ClientConfig::default());
    let found = client
        .unwrap()
        .query("SELECT keyspace_name FROM system_schema.keyspaces", ());
    let found = found.unwrap().into_rows().unwrap();
    let mut names = found.typed::<(String,)>().unwrap();
    names.any(|row| row.unwrap().0.contains("bench"))
}

/// A load of many minutes whose keyspace is there.
fn begin(server: &TestServer) -> Child {
    let target = server.address().to_string();
    let load = Command::new(env!("CARGO_BIN_EXE_helenus"))
        .args(["bench", "--target", &target, "--seconds", "600"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !has_keyspace(server) {
        std::thread::yield_now();
    }
    load
}

/// What Ctrl-C does.
fn interrupt(load: &Child) {
    use rustix::process::{Pid, Signal, kill_process};
    kill_process(Pid::from_child(load), Signal::INT).unwrap();
}

#[test]
fn a_load_that_is_interrupted_leaves_nothing_behind() {
    let server = TestServer::start().unwrap();
    let mut load = begin(&server);
    interrupt(&load);
    assert_eq!(load.wait().unwrap().code(), Some(130));
    assert!(!has_keyspace(&server));
}

#[test]
fn the_second_interrupt_waits_for_nothing() {
    let server = TestServer::start().unwrap();
    // Its rows are never written: nothing that is asked of the server comes to an end.
    let stuck = "write delay 8s".parse().unwrap();
    server.service().set_faults([stuck]);
    let mut load = begin(&server);
    interrupt(&load);
    let mut said = String::new();
    let mut stderr = BufReader::new(load.stderr.take().unwrap());
    stderr.read_line(&mut said).unwrap();
    assert!(said.contains("a second signal"), "{said}");
    interrupt(&load);
    assert_eq!(load.wait().unwrap().code(), Some(130));
    assert!(has_keyspace(&server));
}

#[test]
fn errors_are_counted_by_code_and_only_unasked_ones_fail() {
    let server = TestServer::start().unwrap();
    let (reports, status) = measure(server.address(), &["--workload", "error"]);
    assert_eq!(status, Some(0));
    let errors = reports[0]["errors"].as_object().unwrap();
    assert_eq!(errors.keys().collect::<Vec<_>>(), ["UNPREPARED"]);
    // The last answers may come after the count was taken.
    assert!(errors["UNPREPARED"].as_u64() <= reports[0]["answered"].as_u64());
}

#[test]
fn by_a_schedule_so_many_requests_start_as_it_says() {
    let server = TestServer::start().unwrap();
    let (reports, _) = measure(
        server.address(),
        &["--rate", "200", "--protocol", "5", "--compression", "lz4"],
    );
    let report = &reports[0];
    let all = report["answered"].as_u64().unwrap() + report["unanswered"].as_u64().unwrap();
    assert_eq!(all, 40, "{report}");
    assert_eq!(
        (&report["rate"], &report["compression"]),
        (&200.into(), &"lz4".into())
    );
}

#[test]
fn a_keyspace_that_was_there_stays_and_one_that_is_kept_too() {
    let server = TestServer::start().unwrap();
    let client = helenus_std::Client::connect(server.address(), helenus::ClientConfig::default());
    let client = client.unwrap();
    let create = "CREATE KEYSPACE mine WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
    client.query(create, ()).unwrap();
    let tables = || {
        let query = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'mine'";
        client
            .query(query, ())
            .unwrap()
            .into_rows()
            .unwrap()
            .row_count
    };
    measure(server.address(), &["--keyspace", "mine"]);
    assert_eq!(tables(), 0);
    measure(server.address(), &["--keyspace", "mine", "--keep"]);
    assert_eq!(tables(), 1);
}

#[test]
fn canned_replies_come_from_every_loop_in_both_framings() {
    for event_loop in [
        "bare",
        "tokio",
        "tokio-work-stealing",
        "smol",
        "async-std",
        "threads",
    ] {
        let null = Process::null(event_loop);
        for protocol in ["4", "5"] {
            let (reports, status) = measure(
                null.1,
                &[
                    "--workload",
                    "read,write,rows",
                    "--protocol",
                    protocol,
                    "--depth",
                    "3",
                ],
            );
            assert_eq!(
                (reports.len(), status),
                (3, Some(0)),
                "{event_loop} {protocol}"
            );
            for report in reports {
                assert!(
                    report["answered"].as_u64().unwrap() > 0,
                    "{event_loop}: {report}"
                );
            }
        }
    }
}

#[test]
fn servers_are_compared_in_one_table() {
    let output = bench(&[
        "--compare",
        "--only",
        "null",
        "--only",
        "canned tokio",
        "--workload",
        "options",
        "--seconds",
        "0.2",
        "--warm-up",
        "0",
        "--connections",
        "1,2",
        "--depth",
        "1",
        "--workers",
        "1",
    ]);
    let table = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].contains("conns×depth"), "{table}");
    assert_eq!(lines.len(), 1 + 2 * 3, "{table}");
    assert!(lines[1].contains("1×1  null "), "{table}");
    assert!(lines[4].contains("2×1  null "), "{table}");
}

/// Lets one user in, by a password of one letter.
struct Guarded(EmbeddedService);

impl Service for Guarded {
    type Session = <EmbeddedService as Service>::Session;

    fn open(&self, peer: &PeerInfo) -> Self::Session {
        self.0.open(peer)
    }

    fn call(
        &self,
        now: Instant,
        session: &mut Self::Session,
        request: Request<'_>,
        responder: Responder<'_>,
    ) {
        self.0.call(now, session, request, responder);
    }

    fn authenticate(
        &self,
        _now: Instant,
        _session: &mut Self::Session,
        token: AuthToken<'_>,
        responder: Responder<'_>,
    ) {
        if token.bytes() == Some(b"\0ada\0p") {
            responder.accept(None);
        } else {
            responder.refuse("Provided username and/or password are incorrect".to_owned());
        }
    }
}

#[test]
fn a_server_that_asks_who_it_is_gets_an_answer_or_names_the_flags() {
    let listen = "127.0.0.1:0".parse().unwrap();
    let mut config = ServerConfig::default();
    config.authenticator = Some("org.apache.cassandra.auth.PasswordAuthenticator".to_owned());
    let mut options = Options::default();
    options.connection = Arc::new(config);
    let service = Arc::new(Guarded(EmbeddedService::new(listen)));
    let server = Server::bind(Runtime::Tokio, listen, service, options).unwrap();
    let (address, shutdown) = (server.local_addr(), server.handle());
    let thread = std::thread::spawn(move || server.run(1));
    let target = address.to_string();
    refuses(&["--target", &target], "say --user and --password");
    refuses(
        &["--target", &target, "--user", "ada", "--password", "wrong"],
        "refuses the login: Provided username",
    );
    let (reports, status) = measure(
        address,
        &[
            "--user",
            "ada",
            "--password",
            "p",
            "--workload",
            "options,connect",
        ],
    );
    assert_eq!((reports.len(), status), (2, Some(0)));
    shutdown.shutdown();
    thread.join().unwrap().unwrap();
}

#[test]
fn over_tls_the_servers_certificate_is_checked_where_an_authority_is_named() {
    let folder = std::env::temp_dir().join(format!("helenus-bench-{}", std::process::id()));
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let made = Command::new(env!("CARGO_BIN_EXE_helenus"))
        .args(["cert", "--out", folder.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let server = Process::start(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--workers",
        "1",
        "--log",
        "off",
        "--tls-cert",
        &file("server.pem"),
        "--tls-key",
        &file("server.key"),
    ]);
    let target = server.1.to_string();
    let ca = file("ca.pem");
    for trust in [&["--tls"][..], &["--tls", "--tls-ca", &ca]] {
        let load = [
            "--workload",
            "read,connect,rows",
            "--rows",
            "500",
            "--connections",
            "2",
        ];
        let (reports, status) = measure(server.1, &[trust, &load].concat());
        assert_eq!((reports.len(), status), (3, Some(0)));
        assert!(
            reports
                .iter()
                .all(|report| report["answered"].as_u64() > Some(0)),
            "{reports:?}"
        );
    }
    let stranger = [
        "--target",
        &target,
        "--tls",
        "--tls-ca",
        &ca,
        "--tls-name",
        "elsewhere",
    ];
    refuses(&stranger, "TLS failed");
    refuses(
        &["--target", &target, "--tls", "--tls-ca", "/no/such/file"],
        "/no/such/file",
    );
    refuses(&["--target", &target], &target);
    std::fs::remove_dir_all(&folder).unwrap();
}
