//! `helenus cert`: an authority, and certificates that it signs, for tests and for trying TLS out.

mod files;
mod issue;
mod render;
#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;

use clap::Args;
use thiserror::Error;

use files::Files;
use issue::Request;

/// The flags of `helenus cert`.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(after_help = "\
Writes ca.pem and ca.key, server.pem and server.key, and NAME.pem and NAME.key for each --client. Keys are readable by \
their owner alone. Whoever has ca.key can be anybody to those who trust ca.pem: for tests, not for production.

Examples:
  helenus cert --out certs --client ada
  helenus serve --tls-cert certs/server.pem --tls-key certs/server.key \\
      --tls-client-ca certs/ca.pem --tls-client-auth required")]
pub(super) struct Cert {
    /// The folder to write to; it is made if it isn't there
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,

    /// A name or address that clients call the server by; may be given again
    #[arg(long, value_name = "NAME", default_values = ["localhost", "127.0.0.1", "::1"])]
    host: Vec<String>,

    /// Make a client's certificate with this common name; may be given again
    #[arg(long, value_name = "NAME")]
    client: Vec<String>,

    /// How long the certificates are valid
    #[arg(long, value_name = "N", default_value_t = 365, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: u32,

    /// Overwrite files that are there
    #[arg(long)]
    force: bool,

    /// Say what was written as JSON
    #[arg(long)]
    json: bool,
}

/// Why there are no certificates.
#[derive(Debug, Error)]
pub(super) enum CertError {
    /// A client's name can't be the name of files.
    #[error(
        "{0:?} can't name a client's files; expected letters, digits, '.', '_', '@' and '-', and neither ca nor server"
    )]
    ClientName(String),
    /// A client was named twice.
    #[error("client {0:?} is named twice")]
    Twice(String),
    /// A server's name is none.
    #[error("{name:?} is neither a DNS name nor an address: {reason}")]
    HostName { name: String, reason: rcgen::Error },
    /// A certificate couldn't be made.
    #[error("cannot make a certificate: {0}")]
    Issue(#[from] rcgen::Error),
    /// A file would be overwritten.
    #[error("{} is there already; --force overwrites it", .0.display())]
    Exists(PathBuf),
    /// A file can't be written.
    #[error("cannot write {}: {reason}", file.display())]
    Write { file: PathBuf, reason: io::Error },
    /// Standard output doesn't take what was written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Makes the certificates, writes them and says so.
///
/// # Errors
/// When a name won't do, a file is there already or can't be written.
pub(super) fn cert(flags: &Cert) -> Result<(), CertError> {
    let issued = issue::issue(&Request {
        hosts: &flags.host,
        clients: &flags.client,
        days: flags.days,
    })?;
    let files = Files::new(&flags.out, &issued);
    files.write(flags.force)?;
    let mut out = io::stdout().lock();
    match flags.json {
        true => render::json(&mut out, &flags.out, &issued)?,
        false => render::text(&mut out, &flags.out, &issued)?,
    }
    Ok(())
}
