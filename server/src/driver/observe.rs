//! What others may know of a connection: its counts, how long its requests took, how far it came, why it ended.

use super::{Driver, Stage};
use crate::clients::ConnectionStage;
use crate::metrics::{Totals, difference, has_moved};
use crate::service::Service;
use helenus_core::Error;
use helenus_core::error::PeerMisbehaved;
use helenus_core::message::Startup;
use std::borrow::Cow;
use std::time::Instant;

/// What a record of a TLS handshake begins with, where CQL has its version.
const TLS_HANDSHAKE: u8 = 0x16;

impl<S: Service> Driver<S> {
    /// Counts the answers of the last turn, which have been given to the socket since.
    pub(super) fn settle(&mut self, now: Instant) {
        let answered = &self.connection.stats().answered;
        if *answered != self.counted.answered {
            let elapsed = now.saturating_duration_since(self.began);
            let pairs = answered
                .as_array()
                .iter()
                .zip(self.counted.answered.as_array());
            for (place, (now, before)) in pairs.enumerate() {
                if now != before {
                    self.hub.metrics().answered(place, elapsed, now - before);
                }
            }
            self.counted.answered = *answered;
        }
        self.began = now;
    }

    /// Adds what happened since the last time to the server's counters.
    pub(super) fn count(&mut self) {
        let stats = self.connection.stats();
        if self.received == self.counted_received
            && self.quota.panics == 0
            && !has_moved(stats, &self.counted)
        {
            return;
        }
        let more = Totals {
            bytes_received: self.received - self.counted_received,
            panics: std::mem::take(&mut self.quota.panics),
            ..difference(stats, &self.counted)
        };
        self.hub.metrics().add(&more);
        self.membership.record.set_requests(stats.requests);
        // These are counted by the turn that comes after.
        let answered = self.counted.answered;
        self.counted = stats.clone();
        self.counted.answered = answered;
        self.counted_received = self.received;
    }

    /// Shows how far the handshake came.
    pub(super) fn show_stage(&mut self) {
        let Some(version) = self.connection.version() else {
            return;
        };
        let stage = match self.connection.is_ready() {
            true => ConnectionStage::Ready,
            false => ConnectionStage::Authenticating,
        };
        if stage == self.shown {
            return;
        }
        self.shown = stage;
        let record = &self.membership.record;
        record.set_stage(stage, Some(version));
        if let Some(options) = self.connection.take_client_options() {
            record.set_options(options);
        }
        if stage == ConnectionStage::Ready {
            let client = record.snapshot(self.membership.id);
            tracing::debug!(
                connection = client.connection,
                peer = %client.address,
                %version,
                driver = client.option(Startup::DRIVER_NAME),
                driver_version = client.option(Startup::DRIVER_VERSION),
                "connection ready"
            );
        }
    }

    /// Why the connection is over, or is being given up.
    pub(super) fn end(&self) -> Cow<'static, str> {
        match (&self.quota.closed, self.stage) {
            (Some(Error::Peer(PeerMisbehaved::UnsupportedVersion(TLS_HANDSHAKE))), _) => {
                "the client speaks TLS, and the port doesn't".into()
            }
            (Some(error), _) => error.to_string().into(),
            (None, Stage::Closed) if !self.eof => "aborted".into(),
            (None, _) if self.eof => "the client closed it".into(),
            (None, Stage::Open) => "the socket broke".into(),
            (None, _) => "drained".into(),
        }
    }

    /// Says that the connection is over.
    pub(super) fn log_end(&self) {
        let stats = self.connection.stats();
        tracing::debug!(
            connection = self.membership.id,
            peer = %self.peer.address,
            reason = %self.end(),
            requests = stats.requests,
            errors = stats.errors,
            received = self.received,
            sent = stats.bytes_sent,
            "connection closed"
        );
    }
}
