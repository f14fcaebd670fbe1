//! A connection's two directions: STARTUP decides how bytes travel, requests tell what their answers mean, and prepared
//! statements what the bytes of values are.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use helenus_core::compression::Compression;
use helenus_core::message::RequestBody;
use helenus_core::segment::SegmentFormat;
use helenus_core::wire::Reader;
use helenus_core::{
    DecodeError, Direction, Extras, Flags, Header, Opcode, ProtocolVersion, Response,
    ResultMetadata, ServerEvent, StreamId,
};
use serde_json::Value as Json;

use super::half::{Frame, Framing, Half, Step};
use super::{Broken, Event, Fields, Kind, Message, fields, requests, responses};

/// The most prepared statements that are remembered; when there are more, all are forgotten.
const MAX_PREPARED: usize = 10_000;

/// What is known of a connection beforehand.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::command::inspect) struct Settings {
    /// The capture begins after the handshake, in this version.
    pub(in crate::command::inspect) begun: Option<ProtocolVersion>,
    /// What was agreed on in a handshake that isn't there.
    pub(in crate::command::inspect) compression: Option<Compression>,
    /// Only one direction is there: nothing answers what the other asks.
    pub(in crate::command::inspect) one_sided: bool,
    /// How many rows of a result are described.
    pub(in crate::command::inspect) rows: usize,
}

/// A prepared statement.
#[derive(Debug, Clone)]
pub(super) struct PreparedStatement {
    pub(super) query: String,
    pub(super) variables: Arc<ResultMetadata>,
    result: Option<Arc<ResultMetadata>>,
}

/// The prepared statements of a connection by their ids.
pub(super) type Statements = HashMap<Vec<u8>, PreparedStatement>;

/// A request that wasn't answered yet.
#[derive(Debug)]
struct Asked {
    brief: String,
    time: Option<Duration>,
    opcode: Opcode,
    /// The text that is being prepared.
    preparing: Option<String>,
    /// The statement that is executed, and the metadata that its rows come with.
    executing: Option<(Vec<u8>, Option<Arc<ResultMetadata>>)>,
}

/// Decodes a connection.
#[derive(Debug)]
pub(in crate::command::inspect) struct Conversation {
    settings: Settings,
    client: Half,
    server: Half,
    /// What STARTUP asked for.
    compression: Option<Compression>,
    /// How requests travel isn't known until this STARTUP is answered.
    awaits_ready: bool,
    asked: HashMap<StreamId, Asked>,
    statements: Statements,
}

impl Conversation {
    /// A connection of which this is known.
    pub(in crate::command::inspect) fn new(settings: Settings) -> Self {
        let compression = settings.compression;
        let framing = match settings.begun {
            Some(ProtocolVersion::V5) => Framing::Segments(None),
            _ => Framing::Bare(compression),
        };
        Self {
            settings,
            client: Half::new(Direction::Request, framing),
            server: Half::new(Direction::Response, framing),
            compression,
            awaits_ready: false,
            asked: HashMap::new(),
            statements: Statements::new(),
        }
    }

    /// Takes the next bytes of a direction; what is complete goes to `tell`.
    pub(in crate::command::inspect) fn receive(
        &mut self,
        direction: Direction,
        time: Option<Duration>,
        bytes: &[u8],
        tell: &mut dyn FnMut(Event),
    ) {
        self.half(direction).receive(bytes);
        self.advance(direction, time, tell);
    }

    /// Bytes of a direction are missing.
    pub(in crate::command::inspect) fn lose(
        &mut self,
        direction: Direction,
        time: Option<Duration>,
        count: u64,
        tell: &mut dyn FnMut(Event),
    ) {
        if let Some((offset, broken)) = self.half(direction).lose(count) {
            tell(Event {
                direction,
                offset,
                time,
                kind: Kind::Broken(Box::new(broken)),
            });
        }
    }

    /// The capture ends here.
    pub(in crate::command::inspect) fn finish(&mut self, tell: &mut dyn FnMut(Event)) {
        if std::mem::take(&mut self.awaits_ready) {
            self.switch_client();
            self.advance(Direction::Request, None, tell);
        }
        for direction in [Direction::Request, Direction::Response] {
            if let Some((offset, broken)) = self.half(direction).finish() {
                tell(Event {
                    direction,
                    offset,
                    time: None,
                    kind: Kind::Broken(Box::new(broken)),
                });
            }
        }
    }

    const fn half(&mut self, direction: Direction) -> &mut Half {
        match direction {
            Direction::Request => &mut self.client,
            Direction::Response => &mut self.server,
        }
    }

    fn advance(
        &mut self,
        direction: Direction,
        time: Option<Duration>,
        tell: &mut dyn FnMut(Event),
    ) {
        while !(self.awaits_ready && direction == Direction::Request) {
            let (offset, kind) = match self.half(direction).step() {
                Step::Wait => return,
                Step::Broken(offset, broken) => (offset, Kind::Broken(Box::new(broken))),
                Step::Frame(frame) => (frame.offset, self.message(direction, time, frame)),
            };
            tell(Event {
                direction,
                offset,
                time,
                kind,
            });
            // An answer to STARTUP tells how the requests behind it are to be read.
            if direction == Direction::Response && !self.awaits_ready {
                self.advance(Direction::Request, time, tell);
            }
        }
    }

    fn message(&mut self, direction: Direction, time: Option<Duration>, frame: Frame) -> Kind {
        let mut message = Message {
            header: frame.header,
            framing: frame.framing,
            bytes: frame.bytes,
            fields: Fields::new(),
            answers: None,
            remarks: Vec::new(),
        };
        let body = message.bytes.slice(Header::SIZE.min(message.bytes.len())..);
        // The beta of a version is spoken as the latest one.
        let version =
            ProtocolVersion::from_u8(message.header.version).unwrap_or(ProtocolVersion::LATEST);
        let decoded = match direction {
            Direction::Request => self.request(version, time, &body, &mut message),
            Direction::Response => self.response(version, time, &body, &mut message),
        };
        match decoded {
            Ok(()) => Kind::Message(Box::new(message)),
            Err(error) => {
                let at = Header::SIZE + error.offset as usize;
                let opcode = message.header.opcode;
                Kind::Broken(Box::new(Broken {
                    what: format!(
                        "{opcode} on stream {}: {}",
                        message.header.stream, error.kind
                    ),
                    mark: at..at,
                    bytes: message.bytes,
                    is_final: false,
                }))
            }
        }
    }

    fn request(
        &mut self,
        version: ProtocolVersion,
        time: Option<Duration>,
        body: &Bytes,
        message: &mut Message,
    ) -> Result<(), DecodeError> {
        let header = message.header;
        let mut reader = Reader::new(body);
        if header.flags.contains(Flags::CUSTOM_PAYLOAD) && version >= ProtocolVersion::V4 {
            let entries = reader.bytes_map()?;
            let entry = |(key, value): (&str, Option<&[u8]>)| {
                (key.to_owned(), value.map_or(Json::Null, fields::bytes))
            };
            message
                .fields
                .push(("payload", Json::Object(entries.iter().map(entry).collect())));
        }
        let decoded = RequestBody::decode(header.opcode, version, &mut reader);
        if let Ok(RequestBody::Startup(startup)) = &decoded {
            let compression = startup.option("COMPRESSION");
            self.compression = compression.and_then(Compression::from_name);
            self.started(version);
        }
        // An answer tells something even of a request that doesn't decode.
        let asked = Asked {
            brief: match &decoded {
                Ok(request) => requests::brief(request, &self.statements),
                Err(_) => header.opcode.to_string(),
            },
            time,
            opcode: header.opcode,
            preparing: match &decoded {
                Ok(RequestBody::Prepare(prepare)) => Some(prepare.query.to_owned()),
                _ => None,
            },
            executing: match &decoded {
                Ok(RequestBody::Execute(execute)) => {
                    let known = self.statements.get(execute.id);
                    Some((
                        execute.id.to_vec(),
                        known.and_then(|known| known.result.clone()),
                    ))
                }
                _ => None,
            },
        };
        let before = self.asked.insert(header.stream, asked);
        if before.is_some() && !self.settings.one_sided {
            message
                .remarks
                .push("its stream's last request isn't answered yet".to_owned());
        }
        message
            .fields
            .extend(requests::describe(&decoded?, &self.statements));
        if !reader.is_empty() {
            message
                .remarks
                .push(format!("{} bytes behind it", reader.remaining().len()));
        }
        Ok(())
    }

    /// A STARTUP was sent.
    fn started(&mut self, version: ProtocolVersion) {
        match version {
            ProtocolVersion::V5 if self.settings.one_sided => self.switch_client(),
            ProtocolVersion::V5 => self.awaits_ready = true,
            ProtocolVersion::V3 | ProtocolVersion::V4 => {
                self.client.switch(Framing::Bare(self.compression));
                self.server.switch(Framing::Bare(self.compression));
            }
        }
    }

    /// The format of the segments that STARTUP asked for; without a STARTUP their checksums tell.
    fn segments(&self) -> Framing {
        Framing::Segments(match (self.compression, self.settings.one_sided) {
            (Some(_), _) => Some(SegmentFormat::Lz4),
            (None, true) => None,
            (None, false) => Some(SegmentFormat::Plain),
        })
    }

    fn switch_client(&mut self) {
        let segments = self.segments();
        self.client.switch(segments);
    }

    fn response(
        &mut self,
        version: ProtocolVersion,
        time: Option<Duration>,
        body: &Bytes,
        message: &mut Message,
    ) -> Result<(), DecodeError> {
        let header = message.header;
        let asked = match header.opcode {
            Opcode::EVENT => None,
            _ => self.asked.remove(&header.stream),
        };
        self.answered(version, &header, asked.as_ref());
        if let Some(asked) = &asked {
            let took = asked
                .time
                .zip(time)
                .map(|(then, now)| now.saturating_sub(then));
            message.answers = Some((asked.brief.clone(), took));
        } else if header.opcode != Opcode::EVENT
            && !self.settings.one_sided
            && self.settings.begun.is_none()
        {
            message.remarks.push("no request on its stream".to_owned());
        }
        let mut reader = Reader::new(body);
        let extras = Extras::decode(header.flags, &mut reader)?;
        message.fields.extend(responses::describe_extras(&extras));
        if header.opcode == Opcode::EVENT {
            let event = ServerEvent::decode(&mut reader, version)?;
            message.fields.extend(responses::describe_event(&event));
            return Ok(());
        }
        let response = Response::decode(header.opcode, version, body, reader.position())?;
        let executing = asked.as_ref().and_then(|asked| asked.executing.as_ref());
        let known = executing.and_then(|(_, metadata)| metadata.as_deref());
        let described = responses::describe(&response, known, self.settings.rows);
        let in_body = |error: DecodeError| {
            // The rows' own offsets begin where the rows do.
            let start = match &response {
                Response::Rows(rows) => body.len() - rows.content.len(),
                _ => 0,
            };
            DecodeError::new(error.kind, error.offset.saturating_add(start as u32))
        };
        message.fields.extend(described.map_err(in_body)?);
        if let Some(asked) = asked {
            self.learn(&response, asked);
        }
        Ok(())
    }

    /// The answer to STARTUP decides how both directions go on.
    fn answered(&mut self, version: ProtocolVersion, header: &Header, asked: Option<&Asked>) {
        let is_accepted = matches!(header.opcode, Opcode::READY | Opcode::AUTHENTICATE);
        let is_of_startup = asked.is_some_and(|asked| asked.opcode == Opcode::STARTUP);
        if is_of_startup || self.settings.one_sided {
            self.awaits_ready = false;
        }
        if is_accepted
            && version == ProtocolVersion::V5
            && (is_of_startup || self.settings.one_sided)
        {
            let segments = self.segments();
            self.server.switch(segments);
            self.client.switch(segments);
        }
    }

    /// Keeps what an answer says about later messages.
    fn learn(&mut self, response: &Response, asked: Asked) {
        match response {
            Response::Prepared(prepared) => {
                if self.statements.len() >= MAX_PREPARED {
                    self.statements.clear();
                }
                let statement = PreparedStatement {
                    query: asked.preparing.unwrap_or_default(),
                    variables: Arc::clone(&prepared.variables),
                    result: prepared.result.clone(),
                };
                self.statements.insert(prepared.id.to_vec(), statement);
            }
            Response::Rows(rows) if rows.metadata_changed => {
                let executed = asked
                    .executing
                    .and_then(|(id, _)| self.statements.get_mut(&id));
                if let Some(statement) = executed {
                    statement.result = Some(Arc::clone(&rows.metadata));
                }
            }
            _ => {}
        }
    }
}
