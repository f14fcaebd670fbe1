//! What a certificate says, as far as rustls keeps it to itself: its subject, its names and how long it is good.

use crate::negotiated::SubjectName;
use rustls::pki_types::CertificateDer;
use std::net::IpAddr;
use std::time::SystemTime;
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::der::asn1::{PrintableStringRef, Utf8StringRef};
use x509_cert::der::oid::db::rfc4519::CN;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

fn parse(certificate: &CertificateDer<'_>) -> Option<Certificate> {
    Certificate::from_der(certificate).ok()
}

/// From when to when a certificate is good. None if it doesn't decode.
pub(crate) fn validity(certificate: &CertificateDer<'_>) -> Option<(SystemTime, SystemTime)> {
    let parsed = parse(certificate)?;
    let validity = parsed.tbs_certificate().validity();
    Some((
        validity.not_before.to_system_time(),
        validity.not_after.to_system_time(),
    ))
}

/// The subject as RFC 4514 writes it. Empty if there is none.
pub(crate) fn subject(certificate: &CertificateDer<'_>) -> String {
    let subject = |parsed: Certificate| parsed.tbs_certificate().subject().to_string();
    parse(certificate).map(subject).unwrap_or_default()
}

/// The first common name of the subject.
pub(crate) fn common_name(certificate: &CertificateDer<'_>) -> Option<String> {
    let parsed = parse(certificate)?;
    let mut attributes = parsed.tbs_certificate().subject().iter();
    let value = &attributes.find(|attribute| attribute.oid == CN)?.value;
    let text = |utf8: Utf8StringRef<'_>| utf8.as_str().to_owned();
    let printable = |ascii: PrintableStringRef<'_>| ascii.as_str().to_owned();
    value
        .decode_as()
        .map(text)
        .or_else(|_| value.decode_as().map(printable))
        .ok()
}

/// The alternative names of the subject, of the kinds that [`SubjectName`] has.
pub(crate) fn names(certificate: &CertificateDer<'_>) -> Vec<SubjectName> {
    let names = parse(certificate).and_then(|parsed| {
        let extension = parsed.tbs_certificate().get_extension::<SubjectAltName>();
        let (_, names) = extension.ok().flatten()?;
        Some(names.0)
    });
    names.iter().flatten().filter_map(name).collect()
}

fn name(name: &GeneralName) -> Option<SubjectName> {
    match name {
        GeneralName::DnsName(name) => Some(SubjectName::Dns(name.to_string())),
        GeneralName::Rfc822Name(name) => Some(SubjectName::Email(name.to_string())),
        GeneralName::UniformResourceIdentifier(uri) => Some(SubjectName::Uri(uri.to_string())),
        GeneralName::IpAddress(octets) => {
            let v4 = <[u8; 4]>::try_from(octets.as_bytes()).map(IpAddr::from);
            let address = v4.or_else(|_| <[u8; 16]>::try_from(octets.as_bytes()).map(IpAddr::from));
            address.ok().map(SubjectName::Ip)
        }
        _ => None,
    }
}
