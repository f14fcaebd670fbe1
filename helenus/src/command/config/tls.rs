//! `[tls]`: the server's certificate, and what it asks of its clients.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::SystemTime;

use helenus::tls::{ClientAuth, LoadError, ServerFiles, ServerTls, Warning};

use super::error::{ConfigError, Origin, Problem};
use super::raw::Raw;
use super::section::section;
use super::value::{Value, text};
use crate::command::arguments::Serve;

section! {
    /// TLS between clients and the server. The files are read again on SIGHUP; TLS itself begins and ends with a restart.
    Tls in "tls" {
        /// The server's certificate chain, a PEM file; with one, clients speak TLS: to begin or end that takes a restart.
        cert: Option<PathBuf> = None, live;
        /// The private key of the certificate, a PEM file; set and unset together with it.
        key: Option<PathBuf> = None, live;
        /// The authorities that sign the certificates of clients, a PEM file.
        client_ca: Option<PathBuf> = None, live;
        /// Whether clients are asked for certificates: none, optional or required.
        client_auth: ClientAuth = ClientAuth::None, live;
        /// Whether clients may also speak without TLS, on the same port.
        optional: bool = false, live;
    }
}

impl Tls {
    /// What flags and variables say wins.
    pub(super) fn override_with(&mut self, flags: &Serve) {
        let file = |flag: &Option<PathBuf>, key: &mut Option<PathBuf>| {
            if flag.is_some() {
                key.clone_from(flag);
            }
        };
        file(&flags.tls_cert, &mut self.cert);
        file(&flags.tls_key, &mut self.key);
        file(&flags.tls_client_ca, &mut self.client_ca);
        self.client_auth = flags.tls_client_auth.unwrap_or(self.client_auth);
    }

    /// Refuses what doesn't go together, and files that can't be used.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let asks = self.client_auth != ClientAuth::None;
        let (key, reason) = match (&self.cert, &self.key, &self.client_ca) {
            (Some(_), None, _) => ("tls.key", "tls.cert needs its private key"),
            (None, Some(_), _) => ("tls.cert", "tls.key needs its certificate"),
            (None, None, Some(_)) => ("tls.client_ca", "there is no TLS without tls.cert"),
            (None, None, None) if asks => ("tls.client_auth", "there is no TLS without tls.cert"),
            (None, None, None) if self.optional => {
                ("tls.optional", "there is no TLS without tls.cert")
            }
            (Some(_), Some(_), Some(_)) if !asks => (
                "tls.client_auth",
                "tls.client_ca is of no use unless clients are asked: set this to optional or required",
            ),
            (Some(_), Some(_), None) if asks => (
                "tls.client_ca",
                "clients are asked for certificates, but nothing says which authorities sign them",
            ),
            _ => {
                let loaded = self.load().map(drop);
                return loaded.map_err(|error| self.unusable(&error));
            }
        };
        Err(problem(key, reason.to_owned()))
    }

    /// Reads the files, if there is TLS.
    pub(in crate::command) fn load(&self) -> Result<Option<ServerTls>, LoadError> {
        let (Some(certificate), Some(key)) = (&self.cert, &self.key) else {
            return Ok(None);
        };
        let mut files = ServerFiles::new(certificate, key);
        files.client_ca.clone_from(&self.client_ca);
        files.client_auth = self.client_auth;
        files.plaintext = self.optional;
        ServerTls::load(&files).map(Some)
    }

    /// The key whose file is wrong.
    fn unusable(&self, error: &LoadError) -> ConfigError {
        let is = |file: &Option<PathBuf>| file.as_deref() == error.file();
        let key = match () {
            () if is(&self.key) => "tls.key",
            () if is(&self.client_ca) => "tls.client_ca",
            () => "tls.cert",
        };
        problem(key, error.to_string())
    }

    /// Says in the log if clients will refuse the certificate.
    pub(in crate::command) fn warn(&self, tls: &ServerTls) {
        let now = SystemTime::now();
        let file = self.cert.as_deref().unwrap_or(Path::new("")).display();
        let days = |from: SystemTime, to: SystemTime| {
            to.duration_since(from).unwrap_or_default().as_secs() / 86_400
        };
        match tls.warning(now) {
            Some(Warning::Expired { since }) => {
                let days = days(since, now);
                tracing::warn!("{file}: expired {days} days ago; clients will refuse it");
            }
            Some(Warning::NotYetValid { until }) => {
                let days = days(now, until);
                tracing::warn!("{file}: not valid for {days} more days; clients will refuse it");
            }
            _ => {}
        }
    }
}

fn problem(key: &str, reason: String) -> ConfigError {
    let key = key.to_owned();
    ConfigError::new(Origin::Everywhere, Problem::Value { key, reason })
}

impl Value for ClientAuth {
    fn read(raw: &Raw) -> Result<Self, String> {
        ClientAuth::from_str(text(raw)?).map_err(|error| error.to_string())
    }

    fn show(&self) -> String {
        format!("\"{self}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(change: impl FnOnce(&mut Tls)) -> String {
        let mut tls = Tls::default();
        change(&mut tls);
        tls.check().unwrap_err().to_string()
    }

    #[test]
    fn keys_that_do_not_go_together_are_refused() {
        let file = || Some(PathBuf::from("x.pem"));
        assert_eq!(Tls::default().check(), Ok(()));
        assert_eq!(
            refusal(|tls| tls.cert = file()),
            "tls.key: tls.cert needs its private key"
        );
        assert_eq!(
            refusal(|tls| tls.key = file()),
            "tls.cert: tls.key needs its certificate"
        );
        assert_eq!(
            refusal(|tls| tls.optional = true),
            "tls.optional: there is no TLS without tls.cert"
        );
        assert_eq!(
            refusal(|tls| (tls.cert, tls.key, tls.client_ca) = (file(), file(), file())),
            "tls.client_auth: tls.client_ca is of no use unless clients are asked: set this to optional or required"
        );
        assert_eq!(
            refusal(|tls| {
                (tls.cert, tls.key) = (file(), file());
                tls.client_auth = ClientAuth::Required;
            }),
            "tls.client_ca: clients are asked for certificates, but nothing says which authorities sign them"
        );
    }

    #[test]
    fn a_file_that_cannot_be_used_is_refused_with_its_key() {
        let file = || Some(PathBuf::from("/nowhere/x.pem"));
        assert_eq!(
            refusal(|tls| (tls.cert, tls.key) = (file(), Some("/nowhere/y.pem".into()))),
            "tls.cert: /nowhere/x.pem: cannot be read: No such file or directory (os error 2)"
        );
    }
}
