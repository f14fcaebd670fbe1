//! SIGHUP: the configuration is read again. A bad one changes nothing; a good one changes what a running server can,
//! with its connections kept.

use std::sync::Arc;

use helenus::{Cluster, EmbeddedService, Options};
use helenus_server::ServerHandle;

use super::arguments::Serve;
use super::config::{Config, Reload};
use super::log::Log;

/// What can be changed while it runs, and from where.
#[derive(Debug)]
pub(super) struct Reloader {
    /// What was said on the command line, which wins again.
    pub(super) flags: Serve,
    /// What the server was started with.
    pub(super) started: Config,
    /// What is in force.
    pub(super) current: Config,
    pub(super) served: Served,
    pub(super) log: Arc<Log>,
}

/// What takes the settings over.
#[derive(Debug)]
pub(super) enum Served {
    /// One node.
    Alone(ServerHandle, Arc<EmbeddedService>),
    /// Several.
    Cluster(Arc<Cluster>),
}

impl Served {
    fn services(&self) -> Vec<&Arc<EmbeddedService>> {
        match self {
            Self::Alone(_, service) => vec![service],
            Self::Cluster(cluster) => (1..=cluster.len())
                .filter_map(|node| cluster.service(node))
                .collect(),
        }
    }

    fn options(&self) -> Options {
        match self {
            Self::Alone(server, _) => Options::clone(&server.options()),
            Self::Cluster(cluster) => cluster.options(),
        }
    }

    fn reconfigure(&self, options: Options) {
        match self {
            Self::Alone(server, _) => server.reconfigure(options),
            Self::Cluster(cluster) => cluster.reconfigure(options),
        }
    }
}

impl Reloader {
    /// Reads the configuration again and puts it into force, or says why not.
    pub(super) fn reload(&mut self) {
        let mut new = match Config::resolve(&self.flags) {
            Ok(new) => new,
            Err(error) => return refuse(&error),
        };
        // A file may have changed since it was checked.
        let certificates = match new.tls.load() {
            Ok(certificates) => certificates,
            Err(error) => return refuse(&error),
        };
        for row in self.started.changes(&new) {
            if row.reload == Reload::Restart {
                tracing::warn!(
                    "{} can't change on a running server; {} waits for a restart",
                    row.name(),
                    row.value
                );
            }
        }
        self.log.set_level(new.general.log);
        for service in self.served.services() {
            service.set_guardrails(new.guardrails.rules());
            service.set_faults(new.faults.rules.clone());
        }
        let mut options = self.served.options();
        let mut read = "the configuration";
        match (&options.tls, &certificates) {
            (Some(tls), Some(certificates)) => {
                tls.replace(certificates);
                new.tls.warn(tls);
                read = "the configuration and the certificates";
            }
            (None, None) => {}
            _ => {
                tracing::warn!("TLS begins or ends with a restart; tls.cert waits for it");
                new.tls.clone_from(&self.current.tls);
            }
        }
        new.limits.apply(&mut options);
        self.served.reconfigure(options);
        let changes: Vec<String> = self
            .current
            .changes(&new)
            .into_iter()
            .filter(|row| row.reload == Reload::Live)
            .map(|row| format!("{} = {}", row.name(), row.value))
            .collect();
        tracing::info!(
            "read again: {read}; {}",
            match changes.as_slice() {
                [] => "no key changed".to_owned(),
                changes => format!("now {}", changes.join(", ")),
            }
        );
        self.current = new;
    }
}

/// Says why nothing changed.
fn refuse(error: &dyn std::error::Error) {
    tracing::error!("read again: the configuration, which can't be used; nothing changed: {error}");
}
