//! The servers of `--compare`: the null server, canned replies and the engine on every runtime, each a process of this
//! command, and what else runs already.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use clap::ValueEnum;
use helenus::Runtime;

use super::Target;
use super::arguments::Bench;
use super::error::BenchError;
use super::null::Loop;
use super::process::listener;
use super::report::FLOOR;

/// A server that is compared. One that was started here ends with this value.
#[derive(Debug)]
pub(super) struct Contestant {
    name: String,
    server: SocketAddr,
    child: Option<Child>,
}

impl Contestant {
    /// What is loaded.
    pub(super) fn target(&self) -> Target {
        Target {
            name: self.name.clone(),
            server: self.server,
            pid: match &self.child {
                Some(child) => Some(child.id()),
                None => listener(self.server),
            },
        }
    }
}

impl Drop for Contestant {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts the servers that the flags leave. The null server comes first.
pub(super) fn start(flags: &Bench) -> Result<Vec<Contestant>, BenchError> {
    let plans = plans();
    let is_wanted = |name: &str| {
        flags.only.is_empty() || flags.only.iter().any(|text| name.contains(text.as_str()))
    };
    let mut contestants = Vec::new();
    for (name, arguments) in &plans {
        if is_wanted(name) {
            contestants.push(launch(name, arguments, flags.workers())?);
        }
    }
    for (name, server) in &flags.beside {
        contestants.push(Contestant {
            name: name.clone(),
            server: *server,
            child: None,
        });
    }
    if contestants.is_empty() {
        let names: Vec<&str> = plans.iter().map(|(name, _)| name.as_str()).collect();
        return Err(BenchError::Nothing(names.join(", ")));
    }
    Ok(contestants)
}

/// Each server's name, and how it is started.
fn plans() -> Vec<(String, Vec<String>)> {
    let canned = Loop::value_variants().iter().map(|event_loop| {
        let name = match event_loop {
            Loop::Bare => FLOOR.to_owned(),
            other => format!("canned {other}"),
        };
        let event_loop = event_loop.to_string();
        let arguments = [
            "bench",
            "--null-server",
            "127.0.0.1:0",
            "--loop",
            &event_loop,
        ];
        (name, arguments.map(str::to_owned).to_vec())
    });
    let engines = Runtime::ALL.into_iter().map(|runtime| {
        let arguments = [
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--log",
            "warn",
            "--runtime",
            runtime.name(),
        ];
        (
            format!("serve {runtime}"),
            arguments.map(str::to_owned).to_vec(),
        )
    });
    canned.chain(engines).collect()
}

/// Starts this command with these arguments, and waits for its line about where it serves.
fn launch(name: &str, arguments: &[String], workers: usize) -> Result<Contestant, BenchError> {
    let failed = |reason: String| BenchError::Start {
        name: name.to_owned(),
        reason,
    };
    let command = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut child = Command::new(command)
        .args(arguments)
        .args(["--workers", &workers.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let mut line = String::new();
    let said = child
        .stdout
        .take()
        .map(|out| BufReader::new(out).read_line(&mut line));
    let server = ready_address(&line);
    // From here on it ends with this.
    let mut contestant = Contestant {
        name: name.to_owned(),
        server: SocketAddr::from(([127, 0, 0, 1], 0)),
        child: Some(child),
    };
    match (said, server) {
        (Some(Ok(_)), Some(server)) => contestant.server = server,
        (Some(Err(error)), _) => return Err(failed(error.to_string())),
        _ => return Err(failed(format!("it said {:?}", line.trim_end()))),
    }
    Ok(contestant)
}

/// The address in `ready: cql ADDRESS (…)`.
fn ready_address(line: &str) -> Option<SocketAddr> {
    let rest = line.strip_prefix("ready: cql ")?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ready_line_of_both_servers_is_understood() {
        for line in [
            "ready: cql 127.0.0.1:39041 (protocol v3 v4 v5, runtime tokio, 2 workers)\n",
            "ready: cql 127.0.0.1:39041 (canned replies, loop bare, 2 workers)\n",
        ] {
            assert_eq!(ready_address(line), "127.0.0.1:39041".parse().ok());
        }
        assert_eq!(ready_address("helenus: cannot listen\n"), None);
    }

    #[test]
    fn the_null_server_comes_first() {
        let plans = plans();
        assert_eq!(plans[0].0, FLOOR);
        assert_eq!(
            plans.len(),
            Loop::value_variants().len() + Runtime::ALL.len()
        );
    }
}
