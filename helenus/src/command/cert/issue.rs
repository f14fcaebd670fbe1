//! Keys and certificates: an authority's, a server's and those of clients.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};
use time::{Duration, OffsetDateTime};

use super::CertError;

/// What is wanted.
pub(super) struct Request<'a> {
    pub(super) hosts: &'a [String],
    pub(super) clients: &'a [String],
    pub(super) days: u32,
}

/// A certificate and its key, both PEM, and the name of their files.
pub(super) struct Pair {
    pub(super) name: String,
    pub(super) certificate: String,
    pub(super) key: String,
}

/// What was made.
pub(super) struct Issued {
    pub(super) authority: Pair,
    pub(super) server: Pair,
    pub(super) hosts: Vec<String>,
    pub(super) clients: Vec<Pair>,
    pub(super) expires: OffsetDateTime,
}

impl Issued {
    pub(super) fn pairs(&self) -> impl Iterator<Item = &Pair> {
        [&self.authority, &self.server]
            .into_iter()
            .chain(&self.clients)
    }
}

/// Clocks of clients that are a little behind shall do no harm.
const EARLIER: Duration = Duration::hours(1);

/// Makes an authority, and what it signs.
pub(super) fn issue(request: &Request<'_>) -> Result<Issued, CertError> {
    check_clients(request.clients)?;
    let now = OffsetDateTime::now_utc();
    let validity = (now - EARLIER, now + Duration::days(request.days.into()));
    let mut params = params("helenus test authority", validity);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let sign = |name: &str, mut params: CertificateParams, purpose| {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![purpose];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &authority)?;
        Ok::<_, rcgen::Error>(Pair {
            name: name.to_owned(),
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    };
    let first = request.hosts.first().map_or("server", String::as_str);
    let mut server = self::params(first, validity);
    for name in request.hosts {
        let names = CertificateParams::new(vec![name.clone()]);
        let names = names.map_err(|reason| CertError::HostName {
            name: name.clone(),
            reason,
        })?;
        server.subject_alt_names.extend(names.subject_alt_names);
    }
    let clients = request.clients.iter().map(|name| {
        let params = self::params(name, validity);
        sign(name, params, ExtendedKeyUsagePurpose::ClientAuth)
    });
    Ok(Issued {
        clients: clients.collect::<Result<_, _>>()?,
        server: sign("server", server, ExtendedKeyUsagePurpose::ServerAuth)?,
        hosts: request.hosts.to_vec(),
        authority: Pair {
            name: "ca".to_owned(),
            certificate: authority.pem(),
            key: authority.key().serialize_pem(),
        },
        expires: validity.1,
    })
}

fn params(common_name: &str, validity: (OffsetDateTime, OffsetDateTime)) -> CertificateParams {
    let mut params = CertificateParams::default();
    (params.not_before, params.not_after) = validity;
    params.distinguished_name.remove(DnType::CommonName);
    params
        .distinguished_name
        .push(DnType::CommonName, common_name);
    params
}

/// A client's name names its files.
fn check_clients(clients: &[String]) -> Result<(), CertError> {
    for (at, name) in clients.iter().enumerate() {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._@-".contains(&byte);
        let is_taken = ["ca", "server"].contains(&name.to_ascii_lowercase().as_str());
        if name.is_empty() || name.starts_with('.') || !name.bytes().all(is_plain) || is_taken {
            return Err(CertError::ClientName(name.clone()));
        }
        if clients[..at]
            .iter()
            .any(|other| other.eq_ignore_ascii_case(name))
        {
            return Err(CertError::Twice(name.clone()));
        }
    }
    Ok(())
}
