//! `helenus serve`: the embedded engine behind a server, until a signal ends it.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use helenus::{EmbeddedService, Server, ShutdownHandle};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::config::Config;
use super::log::Log;
use super::metrics::{self, Exposition};

/// Serves until SIGINT or SIGTERM.
///
/// # Errors
/// When the address can't be listened on, or the system gives no threads.
pub(super) fn serve(config: &Config) -> io::Result<()> {
    let log = Log::start(config.general.log)?;
    let listen = config.general.listen;
    let service = Arc::new(match config.auth.authentication() {
        Some(authentication) => EmbeddedService::with_passwords(listen, authentication),
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
    end_on_signals(server.handle())?;
    let published = publish(config, &server)?;
    say_ready(config, &server, published)?;
    server.run(config.general.workers.count().get())?;
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

/// Shuts the server down on the first signal and ends the process on the second, for who can't wait for the drain.
fn end_on_signals(shutdown: ShutdownHandle) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            let mut signals = signals.forever();
            if signals.next().is_some() {
                tracing::info!("shutting down; a second signal doesn't wait for what is in flight");
                shutdown.shutdown();
            }
            if let Some(signal) = signals.next() {
                std::process::exit(128 + signal);
            }
        })?;
    Ok(())
}
