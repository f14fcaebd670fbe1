//! Connections that come, say something, read one answer and go, as fast as they are answered: OPTIONS, and
//! bytes that are no CQL.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use crate::report::server_cpu;
use crate::{Failure, Options, Workload};

/// A server that is silent for so long has failed.
const SILENCE: Duration = Duration::from_secs(10);

/// What a visitor says.
const fn words(workload: Workload) -> &'static [u8] {
    match workload {
        Workload::Strangers => &[0x42],
        _ => &[4, 0, 0, 1, 5, 0, 0, 0, 0],
    }
}

/// Makes all visits, by as many threads as there are to be connections, and prints what one cost.
pub(crate) fn load(options: &Options) -> Result<(), Failure> {
    let before = options.pid.map(server_cpu).transpose()?;
    let begun = Instant::now();
    let each = options.visits / options.connections.max(1) as u32;
    thread::scope(|scope| -> Result<(), Failure> {
        let visitors: Vec<_> = (0..options.connections)
            .map(|_| scope.spawn(|| (0..each).try_for_each(|_| visit(options))))
            .collect();
        for visitor in visitors {
            visitor.join().map_err(|_| "a visitor panicked")??;
        }
        Ok(())
    })?;
    let elapsed = begun.elapsed();
    let visits = each * options.connections as u32;
    println!("{visits} connections in {elapsed:.2?}");
    if let (Some(before), Some(pid)) = (before, options.pid) {
        let used = server_cpu(pid)?.saturating_sub(before);
        println!("server CPU a connection: {:.2?}", used / visits.max(1));
    }
    Ok(())
}

fn visit(options: &Options) -> Result<(), Failure> {
    let mut socket = TcpStream::connect(options.target)?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(SILENCE))?;
    socket.write_all(words(options.workload))?;
    let mut answer = [0; 4096];
    if socket.read(&mut answer)? < 9 {
        return Err("no answer".into());
    }
    Ok(())
}
