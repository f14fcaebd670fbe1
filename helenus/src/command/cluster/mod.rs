//! `helenus cluster`: the controls of a cluster that `helenus serve --nodes` runs.

pub(super) mod admin;
mod control;

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::Value;
use thiserror::Error;

use super::config::flag;
use control::Control;

/// How long a control may take: a node that ends closes its connections first.
const PATIENCE: Duration = Duration::from_secs(30);
/// No answer is longer.
const MAX_ANSWER: u64 = 1 << 20;

/// The flags of `helenus cluster`.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(after_help = "\
Exit status: 0 if it was done, 1 if it couldn't be.

Example:
  helenus serve --nodes 3 --admin 127.0.0.1:9041 &
  helenus cluster stop 2
  helenus cluster partition 1
  helenus cluster delay 3 --by 50ms
  helenus cluster heal")]
pub(super) struct Cluster {
    /// Where the cluster's controls are: what `serve --admin` was given
    #[arg(long, global = true, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9041", env = "HELENUS_ADMIN", value_parser = flag::<SocketAddr>)]
    admin: SocketAddr,

    /// Print what each node is doing as JSON
    #[arg(long, global = true)]
    json: bool,

    /// What to do.
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Say what each node is doing
    Show,
    /// End nodes: connections are closed, nobody can connect, the others see them down
    Stop {
        /// Numbers of nodes
        #[arg(value_name = "NODE", required = true)]
        nodes: Vec<usize>,
    },
    /// Start nodes that were stopped, with what they stored
    Start {
        /// Numbers of nodes
        #[arg(value_name = "NODE", required = true)]
        nodes: Vec<usize>,
    },
    /// Have nodes keep their connections and answer nothing, as stopped processes
    Pause {
        /// Numbers of nodes
        #[arg(value_name = "NODE", required = true)]
        nodes: Vec<usize>,
    },
    /// Have nodes that were paused go on
    Resume {
        /// Numbers of nodes
        #[arg(value_name = "NODE", required = true)]
        nodes: Vec<usize>,
    },
    /// Cut nodes off from the others; clients reach both sides
    Partition {
        /// Numbers of nodes
        #[arg(value_name = "NODE", required = true)]
        nodes: Vec<usize>,
    },
    /// End partitions, delays and losses
    Heal,
    /// Have messages to and from nodes take longer
    Delay {
        /// Numbers of nodes
        #[arg(value_name = "NODE", required = true)]
        nodes: Vec<usize>,
        /// How long each takes, as in 50ms
        #[arg(long, value_name = "DURATION", value_parser = flag::<Duration>)]
        by: Duration,
        /// How much longer some take, which has others overtake them
        #[arg(long, value_name = "DURATION", value_parser = flag::<Duration>)]
        jitter: Option<Duration>,
    },
    /// Lose messages to and from nodes
    Drop {
        /// Numbers of nodes
        #[arg(value_name = "NODE", required = true)]
        nodes: Vec<usize>,
        /// Of a hundred messages, how many
        #[arg(long, value_name = "PERCENT", default_value_t = 100.0)]
        percent: f64,
    },
}

/// Why it couldn't be done.
#[derive(Debug, Error)]
pub(super) enum ControlError {
    /// Nobody answers, or not in HTTP.
    #[error("the controls at {0} don't answer: {1}")]
    NoAnswer(SocketAddr, io::Error),
    /// The cluster says why.
    #[error("{0}")]
    Refused(String),
}

/// Does it, and prints what each node is doing then.
///
/// # Errors
/// When nobody answers, or the cluster can't.
pub(super) fn cluster(flags: &Cluster) -> Result<(), ControlError> {
    let unanswered = |error| ControlError::NoAnswer(flags.admin, error);
    let (method, path) = match flags.what.control() {
        Some(control) => ("POST", control.path()),
        None => ("GET", "/nodes".to_owned()),
    };
    let answer = ask(flags.admin, method, &path).map_err(unanswered)?;
    let foreign = |_| unanswered(io::Error::other("what they say is no JSON"));
    let said: Value = serde_json::from_str(&answer).map_err(foreign)?;
    if let Some(error) = said["error"].as_str() {
        return Err(ControlError::Refused(error.to_owned()));
    }
    let mut out = io::stdout().lock();
    // Who doesn't read it has the exit status.
    let _ = match flags.json {
        true => out.write_all(answer.as_bytes()),
        false => out.write_all(table(&said).as_bytes()),
    };
    Ok(())
}

/// One line a node.
fn table(said: &Value) -> String {
    let nodes = said["nodes"].as_array();
    let text = |node: &Value, name: &str| node[name].as_str().unwrap_or_default().to_owned();
    let line = |node: &Value| {
        format!(
            "{:>3}  {:<21}  {:<12}  {}\n",
            node["node"].as_u64().unwrap_or_default(),
            text(node, "address"),
            text(node, "data_centre"),
            text(node, "state")
        )
    };
    nodes.into_iter().flatten().map(line).collect()
}

/// The body of the answer.
fn ask(address: SocketAddr, method: &str, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.take(MAX_ANSWER).read_to_string(&mut answer)?;
    let body = answer
        .split_once("\r\n\r\n")
        .map(|(_, body)| body.to_owned());
    body.ok_or_else(|| io::Error::other("what they say is no HTTP"))
}

impl What {
    fn control(&self) -> Option<Control> {
        Some(match self {
            Self::Show => return None,
            Self::Stop { nodes } => Control::Stop(nodes.clone()),
            Self::Start { nodes } => Control::Start(nodes.clone()),
            Self::Pause { nodes } => Control::Pause(nodes.clone()),
            Self::Resume { nodes } => Control::Resume(nodes.clone()),
            Self::Partition { nodes } => Control::Partition(nodes.clone()),
            Self::Heal => Control::Heal,
            Self::Delay { nodes, by, jitter } => {
                Control::Delay(nodes.clone(), *by, jitter.unwrap_or_default())
            }
            Self::Drop { nodes, percent } => Control::Drop(nodes.clone(), *percent),
        })
    }
}
