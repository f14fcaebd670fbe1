//! `helenus serve`: the embedded engine behind a server, until a signal ends it.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use helenus::{Cluster, ClusterOptions, EmbeddedService, Options, Server};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::arguments::Serve;
use super::cluster::admin;
use super::config::Config;
use super::log::Log;
use super::metrics::{self, Exposition};
use super::reload::{Reloader, Served};

/// Serves until SIGINT or SIGTERM; SIGHUP has it read its configuration again.
///
/// # Errors
/// When the address can't be listened on, or the system gives no threads.
pub(super) fn serve(flags: Serve, config: Config) -> io::Result<()> {
    let log = Arc::new(Log::start(config.general.log)?);
    let mut options = Options::default();
    config.limits.apply(&mut options);
    options.tls = config.tls.load().map_err(io::Error::other)?;
    if let Some(tls) = &options.tls {
        config.tls.warn(tls);
    }
    config.auth.apply(&mut options);
    match config.cluster.is_wanted() {
        false => serve_alone(flags, config, options, &log)?,
        true => serve_cluster(flags, config, options, &log)?,
    }
    tracing::info!("every request in flight was answered; goodbye");
    log.finish();
    Ok(())
}

/// One node.
fn serve_alone(flags: Serve, config: Config, options: Options, log: &Arc<Log>) -> io::Result<()> {
    let listen = config.general.listen;
    let service = Arc::new(match config.auth.authentication() {
        Some(authentication) => EmbeddedService::with_logins(listen, authentication),
        None => EmbeddedService::new(listen),
    });
    service.set_guardrails(config.guardrails.rules());
    service.set_faults(config.faults.rules.clone());
    let runtime = config.general.runtime;
    let server = Server::bind(runtime, listen, Arc::clone(&service), options)?;
    service.announce(server.local_addr());
    let published = publish(&config, &server)?;
    let workers = config.general.workers.count().get();
    let served = Served::Alone(server.hub().handle().clone(), service);
    let shutdown = server.handle();
    let is_shutdown = shutdown.clone();
    obey_signals(
        move || shutdown.shutdown(),
        move || is_shutdown.is_shutdown(),
        reloader(flags, &config, served, log),
    )?;
    let extra = published.map_or_else(String::new, |address| format!(", metrics {address}"));
    say_ready(&config, &[server.local_addr()], &extra)?;
    server.run(workers)
}

/// Several nodes.
fn serve_cluster(flags: Serve, config: Config, options: Options, log: &Arc<Log>) -> io::Result<()> {
    let mut cluster = ClusterOptions::new(config.cluster.nodes.get());
    cluster.data_centres = config.cluster.data_centres.get();
    cluster.listen = config.general.listen;
    cluster.runtime = config.general.runtime;
    cluster.workers = config.general.workers.count().get();
    cluster.authentication = config.auth.authentication();
    cluster.server = options;
    let cluster = Arc::new(Cluster::start(cluster)?);
    for service in (1..=cluster.len()).filter_map(|node| cluster.service(node)) {
        service.set_guardrails(config.guardrails.rules());
        service.set_faults(config.faults.rules.clone());
    }
    let admin = match config.cluster.admin {
        Some(address) => Some(admin::serve(address, &cluster)?),
        None => None,
    };
    let (ending, ended) = (Arc::clone(&cluster), Arc::clone(&cluster));
    obey_signals(
        move || ending.shutdown(),
        move || ended.is_shutdown(),
        reloader(flags, &config, Served::Cluster(Arc::clone(&cluster)), log),
    )?;
    let centres = config.cluster.data_centres;
    let centres = match centres.get() {
        1 => String::new(),
        _ => format!(" in {centres} data centres"),
    };
    let admin = admin.map_or_else(String::new, |address| format!(", admin {address}"));
    let extra = format!(", {} nodes{centres}{admin}", cluster.len());
    say_ready(&config, &cluster.addresses(), &extra)?;
    cluster.wait()
}

fn reloader(flags: Serve, config: &Config, served: Served, log: &Arc<Log>) -> Reloader {
    Reloader {
        flags,
        started: config.clone(),
        current: config.clone(),
        served,
        log: Arc::clone(log),
    }
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
fn say_ready(config: &Config, addresses: &[SocketAddr], extra: &str) -> io::Result<()> {
    let addresses: Vec<_> = addresses.iter().map(SocketAddr::to_string).collect();
    let addresses = addresses.join(" ");
    let workers = match config.general.workers.count().get() {
        1 => "1 worker".to_owned(),
        workers => format!("{workers} workers"),
    };
    let tls = match (&config.tls.cert, config.tls.optional) {
        (None, _) => "",
        (Some(_), false) => ", tls",
        (Some(_), true) => ", tls optional",
    };
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "ready: cql {addresses} (protocol v3 v4 v5, runtime {}, {workers}{tls}{extra})",
        config.general.runtime
    )?;
    out.flush()
}

/// Reloads the configuration on SIGHUP; shuts the server down on the first other signal and ends the process on the
/// second, for who can't wait for the drain.
fn obey_signals(
    shutdown: impl Fn() + Send + 'static,
    is_shutdown: impl Fn() -> bool + Send + 'static,
    mut reloader: Reloader,
) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for signal in signals.forever() {
                match signal {
                    SIGHUP => reloader.reload(),
                    _ if is_shutdown() => std::process::exit(128 + signal),
                    _ => {
                        tracing::info!(
                            "shutting down; a second signal doesn't wait for what is in flight"
                        );
                        shutdown();
                    }
                }
            }
        })?;
    Ok(())
}
