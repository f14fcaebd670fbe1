//! Hours of everything at once: clients that are served beside ones that break off, stall in the middle of a request, don't
//! read what they asked for, or ask for more than they wait for. Every client that stays must be served to the end, and the
//! server's memory must be flat.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bytes::BytesMut;

use crate::client::Client;
use crate::requests;
use crate::{Failure, Options, Workload};

/// The threads of each kind that break off, stall and don't read.
const OF_EACH: u64 = 3;

/// Clients that stay: they ask a little at a time.
const LIGHT: usize = 4;

/// Clients that stay, with as many requests in flight as `--depth` says.
const FLOODS: usize = 2;

/// How often the server's memory is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// How much more memory the last third of the time may have used than the second, beside a tenth of it.
const SLACK: u64 = 4 << 20;

/// Runs it all, and fails if a client that stayed was not served or memory grew.
pub(crate) fn load(options: &Options) -> Result<(), Failure> {
    let mut setup = Client::connect(options.target)?;
    setup.create_tables()?;
    setup.fill("kv", options.keys)?;
    let begin = Instant::now();
    let end = begin + Duration::from_secs_f64(options.minutes * 60.0);
    let visits = AtomicU64::new(0);
    thread::scope(|scope| {
        type Visit = fn(&Options, &mut Random, Instant) -> Result<(), Failure>;
        let kinds: [Visit; 3] = [break_off, stall, read_slowly];
        for seed in 0..OF_EACH * kinds.len() as u64 {
            let visit = kinds[(seed / OF_EACH) as usize];
            let visits = &visits;
            scope.spawn(move || {
                let mut random = Random(seed + 1);
                while Instant::now() < end {
                    // A server that closes on such a client is within its rights.
                    let _ = visit(options, &mut random, end);
                    visits.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let staying: Vec<_> = (0..LIGHT + FLOODS)
            .map(|number| {
                let depth = if number < LIGHT { 1 } else { options.depth };
                let workload = if number % 2 == 0 {
                    Workload::Read
                } else {
                    Workload::Write
                };
                let options = Options {
                    depth,
                    workload,
                    ..options.clone()
                };
                scope.spawn(move || {
                    Client::connect(options.target)?.load(&options, number, begin, end)
                })
            })
            .collect();
        let memory = options.pid.map(|pid| watch(pid, end)).transpose()?;
        let mut answered = Vec::new();
        for client in staying {
            let report = client.join().map_err(|_| "a client's thread panicked")??;
            if report.errors > 0 {
                return Err(format!("{} requests failed", report.errors).into());
            }
            answered.push(report.answered);
        }
        println!(
            "{} clients stayed and had {answered:?} answers; {} came and went",
            answered.len(),
            visits.load(Ordering::Relaxed)
        );
        if answered.contains(&0) {
            return Err("a client that stayed was not served".into());
        }
        memory.map_or(Ok(()), |memory| is_flat(&memory))
    })
}

/// The server's resident memory until `end`, in bytes.
fn watch(pid: u32, end: Instant) -> Result<Vec<u64>, Failure> {
    let mut seen = Vec::new();
    while Instant::now() < end {
        let statm = std::fs::read_to_string(format!("/proc/{pid}/statm"))?;
        let pages = statm.split_whitespace().nth(1).ok_or("no resident pages")?;
        seen.push(pages.parse::<u64>()? * 4096);
        thread::sleep(LOOK);
    }
    Ok(seen)
}

/// The first third of the time is for growing.
fn is_flat(memory: &[u64]) -> Result<(), Failure> {
    let third = memory.len() / 3;
    let most = |part: &[u64]| part.iter().copied().max().unwrap_or_default();
    let [first, second, last] = [
        most(&memory[..third]),
        most(&memory[third..2 * third]),
        most(&memory[2 * third..]),
    ];
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!(
        "most memory, by thirds of the time: {:.1}, {:.1} and {:.1} MiB",
        mib(first),
        mib(second),
        mib(last)
    );
    if last > second + second / 10 + SLACK {
        return Err("the server's memory grows".into());
    }
    Ok(())
}

/// Asks for much, and is gone before it is there.
fn break_off(options: &Options, random: &mut Random, _: Instant) -> Result<(), Failure> {
    let mut stream = start(options)?;
    stream.write_all(&some_requests(random.below(200)))?;
    if random.below(2) == 0 {
        let _ = stream.read(&mut [0; 512])?;
    }
    // What is left to read makes the system end the connection with a reset.
    Ok(())
}

/// Sends half a request and waits.
fn stall(options: &Options, random: &mut Random, end: Instant) -> Result<(), Failure> {
    let mut stream = start(options)?;
    let requests = some_requests(3);
    let cut = 1 + random.below(requests.len() as u64 - 1) as usize;
    stream.write_all(&requests[..cut])?;
    pause(Duration::from_millis(random.below(2000)), end);
    Ok(())
}

/// Asks for more than fits between here and there, and reads a byte at a time.
fn read_slowly(options: &Options, random: &mut Random, end: Instant) -> Result<(), Failure> {
    let mut stream = start(options)?;
    stream.set_write_timeout(Some(Duration::from_millis(200)))?;
    for _ in 0..20 {
        if stream.write_all(&some_requests(1000)).is_err() {
            break;
        }
    }
    let patience = Instant::now() + Duration::from_millis(random.below(3000));
    while Instant::now() < patience.min(end) {
        let _ = stream.read(&mut [0; 1])?;
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// A connection that is past its STARTUP.
fn start(options: &Options) -> Result<TcpStream, Failure> {
    let mut stream = TcpStream::connect(options.target)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut startup = BytesMut::new();
    requests::write(&mut startup, 0, &requests::startup());
    stream.write_all(&startup)?;
    stream.read_exact(&mut [0; 9])?;
    Ok(stream)
}

/// So many requests for all that is known of all columns.
fn some_requests(count: u64) -> BytesMut {
    let mut output = BytesMut::new();
    let query = requests::query("SELECT * FROM system_schema.columns LIMIT 20");
    for stream in 0..count.max(1) {
        requests::write(&mut output, stream as u16 % 1024, &query);
    }
    output
}

fn pause(length: Duration, end: Instant) {
    thread::sleep(length.min(end.saturating_duration_since(Instant::now())));
}

/// Numbers in no order, the same in every run.
struct Random(u64);

impl Random {
    /// One from 0 to below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound.max(1)
    }
}
