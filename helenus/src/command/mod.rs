//! The command line: what can be said, and what each subcommand does with it.

mod address;
mod arguments;
mod bench;
mod cert;
mod cluster;
mod config;
mod conformance;
mod hex;
mod http;
mod inspect;
mod log;
mod metrics;
mod pages;
mod ping;
mod reload;
mod serve;
mod socket;
mod tls;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};

/// Exit status of a wrong flag, key or file.
const USAGE: u8 = 2;
/// Exit status of what could not be done.
const FAILURE: u8 = 1;

/// Runs the command that the process was started with.
pub(crate) fn run() -> ExitCode {
    match Arguments::parse().command {
        Command::Serve(flags) if flags.help_config => {
            report(print_config_reference(), is_broken_pipe)
        }
        Command::Serve(flags) => match config::Config::resolve(&flags) {
            Ok(config) => match serve::serve(flags, config) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => fail(FAILURE, &error),
            },
            Err(error) => fail(USAGE, &error),
        },
        Command::Conformance(flags) => report(
            conformance::conformance(&flags),
            |error| matches!(error, conformance::ConformanceError::Output(error) if is_broken_pipe(error)),
        ),
        Command::Bench(flags) => match bench::bench(&flags) {
            Err(error @ bench::BenchError::Interrupted(signal)) => {
                fail(u8::try_from(128 + signal).unwrap_or(FAILURE), &error)
            }
            outcome => report(
                outcome,
                |error| matches!(error, bench::BenchError::Output(error) if is_broken_pipe(error)),
            ),
        },
        Command::Inspect(flags) => report(
            inspect::inspect(&flags),
            |error| matches!(error, inspect::InspectError::Output(error) if is_broken_pipe(error)),
        ),
        Command::Ping(flags) => match ping::ping(&flags) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error @ ping::PingError::Tls(_)) => fail(USAGE, &error),
            Err(error) => fail(FAILURE, &error),
        },
        Command::Cluster(flags) => match cluster::cluster(&flags) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(FAILURE, &error),
        },
        Command::Cert(flags) => match cert::cert(&flags) {
            Ok(()) => ExitCode::SUCCESS,
            Err(cert::CertError::Output(error)) if is_broken_pipe(&error) => ExitCode::SUCCESS,
            Err(error) => fail(FAILURE, &error),
        },
        Command::Completions(flags) => report(pages::completions(&flags), is_broken_pipe),
        Command::Man(flags) => report(pages::man(&flags), is_broken_pipe),
    }
}

fn print_config_reference() -> std::io::Result<bool> {
    std::io::stdout().write_all(config::Config::reference().as_bytes())?;
    Ok(true)
}

fn is_broken_pipe(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::BrokenPipe
}

/// The exit status of a report that was written to standard output, or why there is none.
fn report<E: std::error::Error>(outcome: Result<bool, E>, broken_pipe: fn(&E) -> bool) -> ExitCode {
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FAILURE),
        // Whoever read it has read enough.
        Err(error) if broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => fail(USAGE, &error),
    }
}

/// Says on standard error why the command ends.
#[expect(
    clippy::print_stderr,
    reason = "the command's last word goes to its user"
)]
fn fail(code: u8, error: &dyn std::error::Error) -> ExitCode {
    eprintln!("helenus: {error}");
    ExitCode::from(code)
}
