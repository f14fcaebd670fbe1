//! What a connection hears of the TLS beneath it.

use super::{Driver, Stage};
use crate::clients::TlsSession;
use crate::metrics::Totals;
use crate::service::Service;
use helenus_tls::{Error, Negotiated};
use std::time::Instant;

impl<S: Service> helenus_tls::Driver for Driver<S> {
    fn handle_handshake(&mut self, _now: Instant, negotiated: Option<Negotiated>) {
        let mut counted = Totals::default();
        match &negotiated {
            Some(tls) => {
                counted.tls_handshakes = 1;
                counted.tls_resumptions = u64::from(tls.is_resumed);
                self.membership.record.set_tls(TlsSession {
                    protocol: tls.version.to_owned(),
                    cipher_suite: tls.cipher_suite.to_owned(),
                });
                tracing::debug!(
                    connection = self.membership.id,
                    peer = %self.peer.address,
                    version = tls.version,
                    cipher_suite = tls.cipher_suite,
                    resumed = tls.is_resumed,
                    client = tls.identity.as_ref().map(|identity| identity.subject()),
                    "connection secured"
                );
            }
            None => counted.tls_plaintext = 1,
        }
        self.hub.metrics().add(&counted);
        self.peer.tls = negotiated;
        if !self.open() {
            self.stage = Stage::Closed;
        }
    }

    fn handle_failure(&mut self, error: &Error) {
        let mut counted = Totals::default();
        match error {
            Error::Plaintext => counted.tls_plaintext = 1,
            _ => counted.tls_failures = 1,
        }
        self.hub.metrics().add(&counted);
        tracing::debug!(
            connection = self.membership.id,
            peer = %self.peer.address,
            %error,
            "connection not secured"
        );
    }

    fn handle_unsent(&mut self, bytes: usize) {
        self.sealed = bytes;
    }
}
