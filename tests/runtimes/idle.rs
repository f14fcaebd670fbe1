//! Nobody polls: a thousand idle connections wake no thread of the server, on any runtime, and the library's
//! own clients no thread of theirs. In a process of its own, since it looks at all threads of the process.

#[path = "client.rs"]
#[expect(dead_code, reason = "the suite beside it uses all of it")]
mod client;
#[path = "library.rs"]
#[expect(dead_code, reason = "the suite beside it uses all of it")]
mod library;
#[path = "server.rs"]
#[expect(dead_code, reason = "the suite beside it uses all of it")]
mod server;

use client::Client;
use helenus_core::ServerConfig;
use helenus_server::Options;
use library::{Connected, connect, wait};
use server::{Running, Runtime};
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const CONNECTIONS: usize = 1000;
const OWN_CLIENTS: usize = 20;
const WATCHED: Duration = Duration::from_secs(3);

#[test]
fn a_thousand_idle_connections_wake_no_thread() {
    for runtime in [
        Runtime::Threads,
        Runtime::Tokio,
        Runtime::TokioWorkStealing,
        Runtime::Smol,
        Runtime::AsyncStd,
    ] {
        // A deadline that was met doesn't go off either.
        let mut config = ServerConfig::default();
        config.handshake_timeout = Some(WATCHED);
        let mut options = Options::default();
        options.connection = Arc::new(config);
        let server = Running::start(runtime, options);
        let mut clients: Vec<Client> = (0..CONNECTIONS)
            .map(|_| Client::login(server.address))
            .collect();
        for client in &mut clients {
            assert_eq!(client.ask("defer answered"), "answered");
        }
        let own: Vec<Connected> = (0..OWN_CLIENTS)
            .map(|_| connect(runtime, server.address))
            .collect();
        for client in &own {
            wait(client.query("defer answered", ())).unwrap();
        }
        // The runtimes' own threads come to rest within a moment.
        thread::sleep(Duration::from_secs(1));
        let before = switches();
        thread::sleep(WATCHED);
        let woken: BTreeMap<String, u64> = switches()
            .into_iter()
            .map(|(thread, after)| {
                let more = after - before.get(&thread).copied().unwrap_or_default();
                (thread, more)
            })
            .filter(|(_, more)| *more > 0)
            .collect();
        assert!(woken.is_empty(), "{runtime:?} woke {woken:?}");
    }
}

/// How often each thread but this one gave up its core so far.
fn switches() -> BTreeMap<String, u64> {
    let this = fs::read_link("/proc/thread-self").unwrap();
    let mut switches = BTreeMap::new();
    for task in fs::read_dir("/proc/self/task").unwrap().flatten() {
        let Ok(status) = fs::read_to_string(task.path().join("status")) else {
            continue;
        };
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.split_whitespace().nth(1))
                .unwrap_or_default()
                .to_owned()
        };
        if this.ends_with(task.file_name()) {
            continue;
        }
        let name = format!("{} {}", field("Name:"), field("Pid:"));
        switches.insert(
            name,
            field("voluntary_ctxt_switches:")
                .parse()
                .unwrap_or_default(),
        );
    }
    switches
}
