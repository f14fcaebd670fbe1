//! What a client's connection says and hears on its own behalf, on stream 0: the handshake, heartbeats,
//! and errors that concern no request. Answers to native protocol v5, sections 4.1.1 to 4.1.3 and 9.

use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};

use super::ClientConnection;
use super::error::{ClientError, next_version, refuses_version};
use super::event::{Challenge, ClientEvent};
use crate::codes::{Opcode, ProtocolVersion};
use crate::compression::Compression;
use crate::envelope::{Flags, Header, StreamId};
use crate::error::PeerMisbehaved;
use crate::framing::{Dialect, Framing};
use crate::message::{AuthResponse, ErrorResponse, RequestBody, Response, Startup};
use crate::segment::SegmentFormat;
use crate::transition::{Role, State, received, sent};
use crate::wire::WireWrite;

impl ClientConnection {
    /// Says the first word.
    pub(super) fn begin(&mut self) {
        if self.config.ask_options {
            self.say(Opcode::OPTIONS, |_| ());
            self.is_awaiting = true;
        } else {
            self.start();
        }
    }

    /// Asks for a sign of life.
    pub(super) fn ask(&mut self, now: Instant) {
        self.heartbeat.asked(now);
        self.stats.heartbeats += 1;
        self.say(Opcode::OPTIONS, |_| ());
    }

    /// Answers a challenge.
    pub(super) fn answer_challenge(&mut self, token: Option<&[u8]>) {
        self.is_awaiting = true;
        let version = self.dialect.version;
        self.say(Opcode::AUTH_RESPONSE, |out| {
            RequestBody::AuthResponse(AuthResponse { token }).encode(version, out);
        });
    }

    /// Writes a message on stream 0. None is too long: the longest is a token.
    fn say(&mut self, opcode: Opcode, body: impl FnOnce(&mut BytesMut)) {
        let mark = self
            .outbound
            .begin(self.dialect.into(), StreamId(0), opcode, Flags::NONE);
        body(self.outbound.buffer());
        self.outbound.finish(mark);
        self.stats.requests += 1;
        if let Ok(state) = sent(Role::Client, self.state, opcode) {
            self.state = state;
        }
    }

    /// Sends STARTUP. It is the last envelope that isn't framed as agreed.
    fn start(&mut self) {
        let config = self.config.clone();
        let version = self.dialect.version;
        let supported = self.supported.as_ref();
        let names = supported.map(|supported| supported.get(Startup::COMPRESSION));
        let compression = config.choose(version, names);
        let mut options = vec![
            (Startup::CQL_VERSION, config.cql_version.as_str()),
            (Startup::DRIVER_NAME, config.driver_name.as_str()),
            (Startup::DRIVER_VERSION, config.driver_version.as_str()),
        ];
        options.extend(compression.map(|found| (Startup::COMPRESSION, found.name())));
        let further = config.startup_options.iter();
        options.extend(further.map(|(name, value)| (name.as_str(), value.as_str())));
        self.say(Opcode::STARTUP, |out| out.put_string_map(&options));
        self.is_awaiting = true;
        self.framing = match (version, compression) {
            (ProtocolVersion::V5, Some(Compression::Lz4)) => Framing::Segments(SegmentFormat::Lz4),
            (ProtocolVersion::V5, _) => Framing::Segments(SegmentFormat::Plain),
            (_, compression) => Framing::Bare(compression),
        };
        if let Framing::Bare(_) = self.framing {
            // The very answer to STARTUP may be compressed.
            self.inbound.switch(self.framing);
        }
    }

    /// Hears what came on stream 0, or on any before the connection was ready.
    pub(super) fn hear(
        &mut self,
        header: &Header,
        dialect: Dialect,
        body: &Bytes,
    ) -> Result<Option<ClientEvent<'static>>, ClientError> {
        let opcode = header.opcode;
        let at = super::answer::message_at(header.flags, body).map_err(ClientError::Decode)?;
        let decode = || {
            Response::decode(opcode, dialect.version, body, at.position())
                .map_err(ClientError::Decode)
        };
        if opcode == Opcode::ERROR {
            let Response::Error(error) = decode()? else {
                return Err(PeerMisbehaved::Unexpected(opcode).into());
            };
            return Err(self.refused(header, error));
        }
        if header.stream != StreamId(0) {
            return Err(PeerMisbehaved::UnknownStream(header.stream).into());
        }
        if self.state == State::Ready {
            let is_answer = opcode == Opcode::SUPPORTED && self.heartbeat.answered();
            return match is_answer {
                true => Ok(None),
                false => Err(PeerMisbehaved::UnknownStream(header.stream).into()),
            };
        }
        if header.version != self.dialect.number() {
            return Err(ClientError::Peer(PeerMisbehaved::VersionChanged {
                got: header.version,
                agreed: self.dialect.number(),
            }));
        }
        let state = match received(Role::Client, self.state, opcode) {
            Ok(state) if self.is_awaiting => state,
            _ => return Err(PeerMisbehaved::Unexpected(opcode).into()),
        };
        let response = decode()?;
        self.is_awaiting = false;
        self.state = state;
        Ok(match response {
            Response::Supported(supported) => {
                self.supported = Some(supported);
                self.start();
                None
            }
            Response::Ready => {
                self.agree();
                Some(ClientEvent::Ready)
            }
            Response::Authenticate(authenticate) => {
                self.agree();
                let challenge = Challenge::Authenticator(authenticate.authenticator);
                Some(ClientEvent::Challenge(challenge))
            }
            Response::AuthChallenge(token) => Some(ClientEvent::Challenge(Challenge::Token(token))),
            Response::AuthSuccess(token) => {
                self.final_token = token;
                Some(ClientEvent::Ready)
            }
            _ => return Err(PeerMisbehaved::Unexpected(opcode).into()),
        })
    }

    /// The version is accepted: from here on, in both directions, envelopes travel as agreed.
    fn agree(&mut self) {
        self.is_agreed = true;
        self.inbound.switch(self.framing);
        self.outbound.switch(self.framing);
    }

    /// What an ERROR that concerns no request says. One in another version, before one was agreed upon,
    /// refuses this one, whatever its text.
    fn refused(&self, header: &Header, error: ErrorResponse) -> ClientError {
        let error = Arc::new(error);
        let tried = self.dialect.version;
        let is_foreign = header.version != self.dialect.number();
        if !self.is_agreed && (is_foreign || refuses_version(&error)) {
            let next = next_version(&self.config.versions, tried, &error.message);
            return ClientError::VersionRefused { tried, next, error };
        }
        let state = self.state;
        ClientError::Refused { state, error }
    }
}
