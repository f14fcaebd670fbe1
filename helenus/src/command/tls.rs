//! The flags of TLS towards a server, the same for every subcommand that connects to one.

use std::path::PathBuf;

use clap::Args;
use helenus_tls::{ClientFiles, ClientTls, LoadError};

/// The flags of TLS towards a server.
#[derive(Debug, Default, Args)]
pub(super) struct TlsFlags {
    /// Encrypt; without --tls-ca, whoever answers is trusted
    #[arg(long)]
    tls: bool,

    /// Trust servers whose certificates these authorities have signed, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls")]
    tls_ca: Option<PathBuf>,

    /// The name that the server's certificate is to have [default: the address]
    #[arg(long, value_name = "NAME", requires = "tls_ca")]
    tls_name: Option<String>,

    /// The certificate to show to servers that ask for one, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_key", requires = "tls")]
    tls_cert: Option<PathBuf>,

    /// Its key, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

impl TlsFlags {
    /// What is encrypted with, if anything is.
    ///
    /// # Errors
    /// What is wrong with which file.
    pub(super) fn load(&self) -> Result<Option<ClientTls>, LoadError> {
        if !self.tls {
            return Ok(None);
        }
        let mut files = match &self.tls_ca {
            Some(file) => ClientFiles::trusting(file),
            None => ClientFiles::dangerous_trusting_anyone(),
        };
        if let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) {
            files = files.identified_by(certificate, key);
        }
        let tls = ClientTls::load(&files)?;
        match &self.tls_name {
            Some(name) => tls.with_server_name(name).map(Some),
            None => Ok(Some(tls)),
        }
    }
}
