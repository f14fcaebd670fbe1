//! `[metrics]`: what is published of the server.

use std::net::SocketAddr;

use super::section::section;
use crate::command::arguments::Serve;

section! {
    /// What is published of the server.
    Metrics in "metrics" {
        /// Address and port to publish /metrics and /healthz on, by HTTP; port 0 takes a free one.
        listen: Option<SocketAddr> = None, restart;
    }
}

impl Metrics {
    /// What flags and variables say wins.
    pub(super) fn override_with(&mut self, flags: &Serve) {
        self.listen = flags.metrics.or(self.listen);
    }
}
