//! Certificates in files, made once for the whole suite: an authority's, a server's and a client's.

use helenus_tls::rustls::{ClientConfig, ClientConnection, StreamOwned};
use helenus_tls::{ClientAuth, ClientFiles, ClientTls, ServerFiles, ServerTls, rustls};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// An authority, and what it has signed.
pub(crate) struct Certificates {
    folder: PathBuf,
}

/// Those that are trusted.
pub(crate) fn trusted() -> &'static Certificates {
    static TRUSTED: OnceLock<Certificates> = OnceLock::new();
    TRUSTED.get_or_init(|| Certificates::new("trusted"))
}

/// Another authority's, for the same names.
pub(crate) fn foreign() -> &'static Certificates {
    static FOREIGN: OnceLock<Certificates> = OnceLock::new();
    FOREIGN.get_or_init(|| Certificates::new("foreign"))
}

impl Certificates {
    fn new(name: &str) -> Certificates {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("certificates-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut params = named(name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority = CertifiedIssuer::self_signed(params, key).unwrap();
        fs::write(folder.join("ca.crt"), authority.pem()).unwrap();
        for (name, usage) in [
            ("server", ExtendedKeyUsagePurpose::ServerAuth),
            ("ada", ExtendedKeyUsagePurpose::ClientAuth),
        ] {
            let mut params = named(name);
            params.extended_key_usages = vec![usage];
            let key = KeyPair::generate().unwrap();
            let certificate = params.signed_by(&key, &authority).unwrap();
            fs::write(folder.join(format!("{name}.crt")), certificate.pem()).unwrap();
            fs::write(folder.join(format!("{name}.key")), key.serialize_pem()).unwrap();
        }
        Certificates { folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A server's side, changed.
    pub(crate) fn server_with(&self, change: impl FnOnce(&mut ServerFiles)) -> ServerTls {
        let mut files = ServerFiles::new(self.file("server.crt"), self.file("server.key"));
        files.client_ca = Some(self.file("ca.crt"));
        change(&mut files);
        ServerTls::load(&files).unwrap()
    }

    pub(crate) fn server(&self) -> ServerTls {
        self.server_with(|_| {})
    }

    /// A server's side that asks for certificates.
    pub(crate) fn asking(&self, asked: ClientAuth) -> ServerTls {
        self.server_with(|files| files.client_auth = asked)
    }

    pub(crate) fn client(&self) -> ClientTls {
        ClientTls::load(&ClientFiles::trusting(self.file("ca.crt"))).unwrap()
    }

    /// The side of a client with a certificate.
    pub(crate) fn ada(&self) -> ClientTls {
        let files = ClientFiles::trusting(self.file("ca.crt"))
            .identified_by(self.file("ada.crt"), self.file("ada.key"));
        ClientTls::load(&files).unwrap()
    }

    /// A socket with TLS of another make than the library's.
    pub(crate) fn socket(&self, address: SocketAddr) -> Secured {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = rustls::RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_file(self.file("ca.crt")).unwrap())
            .unwrap();
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::from(IpAddr::from(Ipv4Addr::LOCALHOST));
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let socket = TcpStream::connect(address).unwrap();
        socket.set_nodelay(true).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        StreamOwned::new(connection, socket)
    }
}

pub(crate) type Secured = StreamOwned<ClientConnection, TcpStream>;

fn named(name: &str) -> CertificateParams {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.remove(DnType::CommonName);
    params.distinguished_name.push(DnType::CommonName, name);
    params
}
