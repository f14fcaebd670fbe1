//! `helenus serve`: the embedded engine behind a server, until a signal ends it.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use helenus::{EmbeddedService, Server, ShutdownHandle};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::arguments::Serve;
use super::config::Config;
use super::log::Log;
use super::metrics::{self, Exposition};
use super::reload::Reloader;

/// Serves until SIGINT or SIGTERM; SIGHUP has it read its configuration again.
///
/// # Errors
/// When the address can't be listened on, or the system gives no threads.
pub(super) fn serve(flags: Serve, config: Config) -> io::Result<()> {
    let log = Arc::new(Log::start(config.general.log)?);
    let listen = config.general.listen;
    let service = Arc::new(match config.auth.authentication() {
        Some(authentication) => EmbeddedService::with_logins(listen, authentication),
        None => EmbeddedService::new(listen),
    });
    service.set_guardrails(config.guardrails.rules());
    service.set_faults(config.faults.rules.clone());
    let mut options = helenus::Options::default();
    config.limits.apply(&mut options);
    options.tls = config.tls.load().map_err(io::Error::other)?;
    if let Some(tls) = &options.tls {
        config.tls.warn(tls);
    }
    config.auth.apply(&mut options);
    let server = Server::bind(
        config.general.runtime,
        listen,
        Arc::clone(&service),
        options,
    )?;
    service.announce(server.local_addr());
    let published = publish(&config, &server)?;
    let workers = config.general.workers.count().get();
    let reloader = Reloader {
        flags,
        started: config.clone(),
        current: config.clone(),
        server: server.hub().handle().clone(),
        service: Arc::clone(&service),
        log: Arc::clone(&log),
    };
    obey_signals(server.handle(), reloader)?;
    say_ready(&config, &server, published)?;
    server.run(workers)?;
    tracing::info!("every request in flight was answered; goodbye");
    log.finish();
    Ok(())
}

/// Publishes metrics, if they are wanted, and says where.
fn publish(config: &Config, server: &Server<EmbeddedService>) -> io::Result<Option<SocketAddr>> {
    let Some(address) = config.metrics.listen else {
        return Ok(None);
    };
    let general = &config.general;
    let handle = server.hub().handle().clone();
    let exposition = Exposition::new(handle, general.runtime, general.workers.count().get());
    metrics::serve(address, exposition).map(Some)
}

/// The one line on standard output.
fn say_ready(
    config: &Config,
    server: &Server<EmbeddedService>,
    metrics: Option<SocketAddr>,
) -> io::Result<()> {
    let address = server.local_addr();
    let workers = match config.general.workers.count().get() {
        1 => "1 worker".to_owned(),
        workers => format!("{workers} workers"),
    };
    let tls = match (&config.tls.cert, config.tls.optional) {
        (None, _) => "",
        (Some(_), false) => ", tls",
        (Some(_), true) => ", tls optional",
    };
    let metrics = metrics.map_or_else(String::new, |address| format!(", metrics {address}"));
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "ready: cql {address} (protocol v3 v4 v5, runtime {}, {workers}{tls}{metrics})",
        config.general.runtime
    )?;
    out.flush()
}

/// Reloads the configuration on SIGHUP; shuts the server down on the first other signal and ends the process on the
/// second, for who can't wait for the drain.
fn obey_signals(shutdown: ShutdownHandle, mut reloader: Reloader) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for signal in signals.forever() {
                match signal {
                    SIGHUP => reloader.reload(),
                    _ if shutdown.is_shutdown() => std::process::exit(128 + signal),
                    _ => {
                        tracing::info!(
                            "shutting down; a second signal doesn't wait for what is in flight"
                        );
                        shutdown.shutdown();
                    }
                }
            }
        })?;
    Ok(())
}
