//! A proxy before a real cluster: `cargo run --example proxy -- --upstream 127.0.0.1:9042 --listen 127.0.0.1:9043`, on
//! the runtime of choice, to a server of another version and compression if it must be.

#![expect(clippy::print_stdout, reason = "a command line tool")]

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use clap::Parser;
use helenus::{ClientConfig, Options, Proxy, Runtime, Server, Upstream};
use helenus_client::PlainText;
use helenus_core::ProtocolVersion;
use helenus_core::compression::Compression;

/// Passes the requests of CQL clients on to another server.
#[derive(Debug, Parser)]
struct Arguments {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:9043")]
    listen: SocketAddr,
    /// The server behind.
    #[arg(long, default_value = "127.0.0.1:9042")]
    upstream: SocketAddr,
    /// What drives the connections: tokio, smol, async-std or threads.
    #[arg(long, default_value_t)]
    runtime: Runtime,
    /// The only version to speak with the server behind: 3, 4 or 5; the highest that it knows, if none is given.
    #[arg(long, value_parser = version)]
    upstream_version: Option<ProtocolVersion>,
    /// The compression to the server behind: lz4 or snappy; none, if none is given.
    #[arg(long, value_parser = compression)]
    upstream_compression: Option<Compression>,
    /// Who the proxy is for the server behind, as NAME:PASSWORD.
    #[arg(long)]
    user: Option<String>,
    /// Event loops.
    #[arg(long, default_value_t = 1)]
    workers: usize,
}

fn version(text: &str) -> Result<ProtocolVersion, String> {
    let number = text.parse().ok();
    number
        .and_then(ProtocolVersion::from_u8)
        .ok_or_else(|| "expected 3, 4 or 5".to_owned())
}

fn compression(text: &str) -> Result<Compression, String> {
    Compression::from_name(text).ok_or_else(|| "expected lz4 or snappy".to_owned())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let mut config = ClientConfig::default();
    config.connection.versions.retain(|version| {
        arguments
            .upstream_version
            .is_none_or(|wanted| *version == wanted)
    });
    config.connection.compressions = arguments.upstream_compression.into_iter().collect();
    if let Some((name, password)) = arguments
        .user
        .as_deref()
        .and_then(|user| user.split_once(':'))
    {
        config.authenticator = Some(Arc::new(PlainText::new(name, password)));
    }
    let upstream = Upstream {
        address: arguments.upstream,
        config,
    };
    let proxy = Proxy::new(arguments.runtime, upstream);
    let options = Options::default();
    let server = Server::bind_async(arguments.runtime, arguments.listen, proxy, options)?;
    println!("proxy on {} ({})", server.local_addr(), arguments.runtime);
    server.run(arguments.workers)?;
    Ok(())
}
