//! One connection of the load, protocol v4 without compression.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes, BytesMut};
use helenus_core::message::{RequestBody, Response};
use helenus_core::wire::Reader;
use helenus_core::{Flags, Header, Opcode};

use crate::report::Report;
use crate::requests::{self, SETUP, VERSION};
use crate::{Failure, Options, Workload};

/// How long a server may be silent before the load gives up.
const SILENCE: Duration = Duration::from_secs(60);

/// Rows written at a time while a table is filled.
const FILL_DEPTH: u32 = 256;

/// A connection that is past its STARTUP.
pub(crate) struct Client {
    stream: TcpStream,
    input: BytesMut,
}

impl Client {
    /// Connects and starts the protocol.
    pub(crate) fn connect(target: SocketAddr) -> Result<Self, Failure> {
        let stream = TcpStream::connect(target)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SILENCE))?;
        let mut client = Self {
            stream,
            input: BytesMut::new(),
        };
        match client.ask(&requests::startup())? {
            Response::Ready => Ok(client),
            other => Err(format!("the server answered STARTUP with {other:?}").into()),
        }
    }

    /// Makes the keyspace and tables of all workloads, if they aren't there.
    pub(crate) fn create_tables(&mut self) -> Result<(), Failure> {
        for statement in SETUP {
            self.ask(&requests::query(statement))?;
        }
        Ok(())
    }

    /// Writes the rows 0 to `rows` of a table.
    pub(crate) fn fill(&mut self, table: &str, rows: u32) -> Result<(), Failure> {
        let id = self.prepare(&requests::insert(table))?;
        let mut output = BytesMut::new();
        for begin in (0..rows).step_by(FILL_DEPTH as usize) {
            let end = rows.min(begin.saturating_add(FILL_DEPTH));
            output.clear();
            for key in begin..end {
                requests::write_insert(&mut output, 0, &id, key);
            }
            self.stream.write_all(&output)?;
            for _ in begin..end {
                self.answer()?;
            }
        }
        Ok(())
    }

    /// Keeps `depth` requests in flight until `end`, and counts those answered from `begin` on.
    pub(crate) fn load(
        mut self,
        options: &Options,
        worker: usize,
        begin: Instant,
        end: Instant,
    ) -> Result<Report, Failure> {
        let id = match options.workload {
            Workload::Read => self.prepare(requests::SELECT)?,
            Workload::Write => self.prepare(&requests::insert("kv"))?,
            Workload::Scan => self.prepare(requests::COUNT)?,
            _ => Bytes::new(),
        };
        let mut key = (worker as u32).wrapping_mul(0x9E37_79B9);
        let mut request = |output: &mut BytesMut, stream: u16| {
            // A full-period step through all 2³² numbers, so that keys come in no order.
            key = key.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let key = ((u64::from(key) * u64::from(options.keys)) >> 32) as u32;
            match options.workload {
                Workload::Read => requests::write_select(output, stream, &id, key),
                Workload::Write => requests::write_insert(output, stream, &id, key),
                Workload::Scan => requests::write_count(output, stream, &id),
                _ => requests::write_options(output, stream),
            }
        };
        let mut output = BytesMut::new();
        let mut sent = vec![Instant::now(); usize::from(options.depth)];
        (0..options.depth).for_each(|stream| request(&mut output, stream));
        let mut report = Report::default();
        loop {
            self.stream.write_all(&output)?;
            output.clear();
            self.read()?;
            let now = Instant::now();
            while let Some((header, body)) = take_envelope(&mut self.input) {
                let slot = header.stream.0 as usize;
                let since = *sent.get(slot).ok_or("an answer to a request never made")?;
                if now >= begin && now < end {
                    report.answered += 1;
                    report.latency.record((now - since).as_nanos() as u64)?;
                }
                if header.opcode == Opcode::ERROR {
                    report.errors += 1;
                    if report.errors == 1 {
                        eprintln!(
                            "first error: {}",
                            String::from_utf8_lossy(body.get(6..).unwrap_or_default())
                        );
                    }
                }
                sent[slot] = now;
                request(&mut output, header.stream.0 as u16);
            }
            if now >= end {
                return Ok(report);
            }
        }
    }

    fn prepare(&mut self, statement: &str) -> Result<Bytes, Failure> {
        match self.ask(&requests::prepare(statement))? {
            Response::Prepared(prepared) => Ok(prepared.id),
            other => Err(format!("the server answered PREPARE with {other:?}").into()),
        }
    }

    fn ask(&mut self, body: &RequestBody<'_>) -> Result<Response, Failure> {
        let mut output = BytesMut::new();
        requests::write(&mut output, 0, body);
        self.stream.write_all(&output)?;
        self.answer()
    }

    /// The next answer; an ERROR is a failure.
    fn answer(&mut self) -> Result<Response, Failure> {
        loop {
            if let Some((header, body)) = take_envelope(&mut self.input) {
                let body = body.freeze();
                let mut reader = Reader::new(&body);
                if header.flags.contains(Flags::WARNING) {
                    reader.string_list()?;
                }
                return match Response::decode(header.opcode, VERSION, &body, reader.position())? {
                    Response::Error(error) => Err(format!("the server answered {error:?}").into()),
                    response => Ok(response),
                };
            }
            self.read()?;
        }
    }

    fn read(&mut self) -> Result<(), Failure> {
        let mut chunk = [0; 64 * 1024];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err("the server closed the connection".into()),
                Ok(length) => {
                    self.input.extend_from_slice(&chunk[..length]);
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Takes a whole envelope off the front.
fn take_envelope(input: &mut BytesMut) -> Option<(Header, BytesMut)> {
    let header = Header::decode(input.first_chunk()?);
    if input.len() - Header::SIZE < header.length as usize {
        return None;
    }
    input.advance(Header::SIZE);
    Some((header, input.split_to(header.length as usize)))
}
