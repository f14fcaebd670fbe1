//! A server that is out of file descriptors goes on serving, and accepts again once it has some.
//! In a process of its own, since it lowers the limit of the process.

#[path = "client.rs"]
#[expect(dead_code, reason = "the suite beside it uses all of it")]
mod client;
#[macro_use]
#[path = "server.rs"]
#[expect(dead_code, reason = "the suite beside it uses all of it")]
mod server;

use client::{Client, query, startup};
use helenus_server::Options;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use server::{Running, Runtime};
use socket2::{Domain, Socket, Type};
use std::collections::HashSet;
use std::fs;
use std::time::Duration;

/// How many descriptors the server can open.
const ROOM: usize = 12;

#[test]
fn a_server_out_of_descriptors_accepts_again_when_it_has_some() {
    let before = getrlimit(Resource::Nofile);
    for runtime in [
        Runtime::Threads,
        Runtime::Tokio,
        Runtime::TokioWorkStealing,
        Runtime::Smol,
        Runtime::AsyncStd,
    ] {
        let server = Running::start_workers(runtime, Options::default(), 1);
        // Whatever the runtime opens for itself, it opens for the first connection.
        assert_eq!(Client::login(server.address).ask("defer first"), "first");
        let sockets: Vec<Socket> = (0..40)
            .map(|_| Socket::new(Domain::IPV4, Type::STREAM, None).unwrap())
            .collect();
        setrlimit(
            Resource::Nofile,
            Rlimit {
                current: Some(limit_with(ROOM)),
                ..before
            },
        )
        .unwrap();
        let mut clients: Vec<Client> = sockets
            .into_iter()
            .map(|socket| {
                // The kernel takes the connection, whether the server can accept it or not.
                socket.connect(&server.address.into()).unwrap();
                socket
                    .set_read_timeout(Some(Duration::from_secs(20)))
                    .unwrap();
                let mut client = Client {
                    socket: socket.into(),
                };
                client.write(&[startup(), query(1, "echo served")].concat());
                client
            })
            .collect();
        let served = |client: &mut Client| {
            client.try_receive().is_ok()
                && client.try_receive().is_ok_and(|answer| answer.stream == 1)
        };
        assert!(served(clients.first_mut().unwrap()), "{runtime:?}");
        let last = clients.last_mut().unwrap();
        last.socket
            .set_read_timeout(Some(Duration::from_millis(300)))
            .unwrap();
        assert!(!served(last), "{runtime:?} had descriptors for all");
        // Those that were served make room for the others, a few at a time.
        clients.reverse();
        while clients.len() > 1 {
            clients.pop();
            std::thread::sleep(Duration::from_millis(5));
        }
        let last = clients.first_mut().unwrap();
        last.socket
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        assert!(served(last), "{runtime:?} did not accept again");
        setrlimit(Resource::Nofile, before).unwrap();
    }
}

/// The limit under which `free` descriptors can still be opened.
fn limit_with(free: usize) -> u64 {
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let open: HashSet<u64> = fs::read_dir("/proc/self/fd")
        .unwrap()
        .flatten()
        .filter_map(number)
        .collect();
    (0..)
        .filter(|number| !open.contains(number))
        .nth(free)
        .unwrap()
}
