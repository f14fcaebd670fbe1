//! The canned replies as a service of helenus' own servers.

use std::time::Instant;

use helenus_core::{Flags, Request, Responder};
use helenus_server::{PeerInfo, Service};

use super::connection::AllReplies;

/// Answers as the bare loop does. The handshake is the server's own.
#[derive(Debug, Default)]
pub(super) struct Canned(AllReplies);

impl Service for Canned {
    type Session = ();

    fn open(&self, _peer: &PeerInfo) {}

    fn call(&self, _now: Instant, (): &mut (), request: Request<'_>, responder: Responder<'_>) {
        // Dropped, it answers SERVER_ERROR; no version has none.
        if let Some(replies) = self.0.of(request.version().as_u8()) {
            let reply = replies.answer(request.opcode(), request.body());
            responder.forward(reply.opcode, Flags::NONE, reply.body());
        }
    }
}
