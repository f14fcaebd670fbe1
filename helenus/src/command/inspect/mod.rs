//! `helenus inspect`: decodes captures of the protocol in both directions, and points at the byte where a message breaks.

mod arguments;
mod capture;
mod decode;
mod json;
mod text;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;

use helenus_core::Direction;
use thiserror::Error;

pub(super) use arguments::Inspect;
use capture::hex_lines::HexLines;
use capture::packets::Packets;
use capture::raw::RawStream;
use capture::{CaptureError, Content, Format, Piece};
use decode::{Conversation, Event, Kind, Settings};

/// Bytes that tell the format of a capture.
const START: u64 = 4096;

/// Why a capture can't be inspected.
#[derive(Debug, Error)]
pub(super) enum InspectError {
    /// The capture can't be read.
    #[error("{}: {reason}", file.display())]
    Capture {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: CaptureError,
    },
    /// The report can't be written.
    #[error("the report can't be written: {0}")]
    Output(#[from] io::Error),
}

/// Shows what a capture is found to hold.
trait Show {
    /// A connection begins.
    fn opened(&mut self, connection: u32, client: &str, server: &str) -> io::Result<()>;
    /// A message, or bytes that are none.
    fn event(&mut self, connection: u32, event: &Event) -> io::Result<()>;
}

/// Runs the subcommand; whether everything decoded.
pub(super) fn inspect(flags: &Inspect) -> Result<bool, InspectError> {
    let failed = |reason| InspectError::Capture {
        file: flags.file.clone(),
        reason,
    };
    let mut input: Box<dyn Read + Send> = match flags.file.as_os_str().as_encoded_bytes() {
        b"-" => Box::new(io::stdin()),
        _ => Box::new(File::open(&flags.file).map_err(|error| failed(error.into()))?),
    };
    let mut start = Vec::new();
    let read = input.by_ref().take(START).read_to_end(&mut start);
    read.map_err(|error| failed(error.into()))?;
    let format = flags.format.unwrap_or_else(|| Format::of(&start));
    let mut out = BufWriter::new(io::stdout().lock());
    let mut inspection = Inspection {
        settings: Settings {
            begun: flags.version.filter(|_| flags.after_startup),
            compression: flags.compression,
            one_sided: format == Format::Raw,
            rows: flags.rows,
        },
        show: match flags.json {
            true => Box::new(json::Json::new(&mut out, flags.hex)),
            false => Box::new(text::Text::new(&mut out, flags.hex)),
        },
        connections: HashMap::new(),
        is_good: true,
    };
    let outcome = inspection.run(open(flags, format, start, input).map_err(failed)?);
    let is_good = inspection.is_good;
    drop(inspection);
    out.flush()?;
    match outcome? {
        Some(reason) => Err(failed(reason)),
        None => Ok(is_good),
    }
}

type Pieces = Box<dyn Iterator<Item = Result<Piece, CaptureError>>>;

fn open(
    flags: &Inspect,
    format: Format,
    start: Vec<u8>,
    rest: Box<dyn Read + Send>,
) -> Result<Pieces, CaptureError> {
    let by_version = match start.first() {
        Some(0x80..) => Direction::Response,
        _ => Direction::Request,
    };
    let direction = flags.direction.map(Direction::from);
    let input = io::Cursor::new(start).chain(rest);
    Ok(match format {
        Format::Hex => Box::new(HexLines::new(BufReader::new(input), direction)),
        Format::Raw => Box::new(RawStream::new(input, direction.unwrap_or(by_version))),
        Format::Pcap => Box::new(Packets::new(input, flags.port)?),
    })
}

/// The connections of a capture, and who shows them.
struct Inspection<'o> {
    settings: Settings,
    show: Box<dyn Show + 'o>,
    connections: HashMap<u32, Conversation>,
    is_good: bool,
}

impl Inspection<'_> {
    /// Shows everything; why the capture couldn't be read to its end, if it couldn't.
    fn run(&mut self, pieces: Pieces) -> io::Result<Option<CaptureError>> {
        let mut failure = None;
        for piece in pieces {
            match piece {
                Ok(piece) => self.piece(piece)?,
                Err(CaptureError::Packets(why)) => failure = Some(CaptureError::Packets(why)),
                Err(other) => {
                    failure = Some(other);
                    break;
                }
            }
        }
        let mut left: Vec<u32> = self.connections.keys().copied().collect();
        left.sort_unstable();
        for connection in left {
            self.close(connection)?;
        }
        Ok(failure)
    }

    fn piece(&mut self, piece: Piece) -> io::Result<()> {
        let Piece {
            connection,
            time,
            content,
        } = piece;
        if let Content::Opened {
            client,
            server,
            from_start,
        } = &content
        {
            let mut settings = self.settings;
            settings.begun = settings.begun.filter(|_| !from_start);
            self.connections
                .insert(connection, Conversation::new(settings));
            return self
                .show
                .opened(connection, &client.to_string(), &server.to_string());
        }
        let settings = self.settings;
        let conversation = self
            .connections
            .entry(connection)
            .or_insert_with(|| Conversation::new(settings));
        let mut events = Vec::new();
        let tell = &mut |event| events.push(event);
        match content {
            Content::Bytes(direction, bytes) => conversation.receive(direction, time, &bytes, tell),
            Content::Lost(direction, count) => conversation.lose(direction, time, count, tell),
            Content::Closed => return self.close(connection),
            Content::Opened { .. } => {}
        }
        self.tell(connection, &events)
    }

    fn close(&mut self, connection: u32) -> io::Result<()> {
        let mut events = Vec::new();
        if let Some(mut conversation) = self.connections.remove(&connection) {
            conversation.finish(&mut |event| events.push(event));
        }
        self.tell(connection, &events)
    }

    fn tell(&mut self, connection: u32, events: &[Event]) -> io::Result<()> {
        for event in events {
            self.is_good &= matches!(event.kind, Kind::Message(_));
            self.show.event(connection, event)?;
        }
        Ok(())
    }
}
