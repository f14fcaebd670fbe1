//! A closed-loop load on a CQL server: N connections, each with the same number of requests always in flight. One thread a
//! connection, one read for many replies and one write for many requests, so that the client costs as little as it can.

mod client;
mod report;
mod requests;
mod soak;
mod visits;

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};

use client::Client;
use report::{Report, server_cpu};

/// Loads a CQL server and reports what it took.
#[derive(Debug, Clone, Parser)]
pub(crate) struct Options {
    /// The server.
    #[arg(long, default_value = "127.0.0.1:9042")]
    target: SocketAddr,
    /// What is asked for.
    #[arg(long, value_enum, default_value = "read")]
    workload: Workload,
    /// Connections, each a thread.
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// Requests in flight on a connection.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=1024))]
    depth: u16,
    /// How long to measure, after as long a warm-up, at most 5 s.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Keys read and written.
    #[arg(long, default_value_t = 10_000)]
    keys: u32,
    /// The server's process, whose CPU time is counted.
    #[arg(long)]
    pid: Option<u32>,
    /// Rows that a scan table holds; with `scan`, which counts them over and over.
    #[arg(long, default_value_t = 1_000_000)]
    rows: u32,
    /// Connections that come and go; with `visitors` and `strangers`.
    #[arg(long, default_value_t = 10_000)]
    visits: u32,
    /// How long it goes on; with `soak`.
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What the load consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Workload {
    /// A prepared SELECT of one row by its key.
    Read,
    /// A prepared INSERT of one row.
    Write,
    /// OPTIONS, which no engine answers.
    Options,
    /// Connections that say OPTIONS, read the answer and go.
    Visitors,
    /// Connections whose first byte is 0x42, which read the answer and go.
    Strangers,
    /// Clients that stay beside ones that break off, stall, don't read and flood, for `--minutes`.
    Soak,
    /// `SELECT count(*)` over a table filled with `--rows` rows first.
    Scan,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    if matches!(options.workload, Workload::Visitors | Workload::Strangers) {
        return visits::load(&options);
    }
    if options.workload == Workload::Soak {
        return soak::load(&options);
    }
    let mut setup = Client::connect(options.target)?;
    setup.create_tables()?;
    match options.workload {
        Workload::Read => setup.fill("kv", options.keys)?,
        Workload::Scan => setup.fill("scan", options.rows)?,
        _ => {}
    }

    let warm_up = Duration::from_secs(options.seconds.min(5));
    let begin = Instant::now() + warm_up;
    let end = begin + Duration::from_secs(options.seconds);
    let (mut total, cpu) = thread::scope(|scope| -> Result<_, Failure> {
        let workers: Vec<_> = (0..options.connections)
            .map(|worker| {
                let options = &options;
                scope.spawn(move || {
                    Client::connect(options.target)?.load(options, worker, begin, end)
                })
            })
            .collect();
        thread::sleep(begin.saturating_duration_since(Instant::now()));
        let before = options.pid.map(server_cpu).transpose()?;
        thread::sleep(end.saturating_duration_since(Instant::now()));
        let after = options.pid.map(server_cpu).transpose()?;
        let mut total = Report::default();
        for worker in workers {
            total.add(
                &worker
                    .join()
                    .map_err(|_| "a connection's thread panicked")??,
            );
        }
        Ok((total, before.zip(after)))
    })?;
    total.finish(Duration::from_secs(options.seconds), cpu);
    total.print(&options);
    Ok(())
}
