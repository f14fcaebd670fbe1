//! What is wrong with files is said with their names.

use super::*;
use crate::client::{ClientFiles, ClientTls};
use crate::testing::authority;

#[test]
fn files_that_cannot_be_used_are_named_with_what_is_wrong() {
    let authority = authority();
    authority.sign("other", 10);
    let folder = &authority.folder;
    let key = std::fs::read_to_string(folder.path("server.key")).unwrap();
    folder.write("empty.pem", "");
    folder.write("cut.pem", &key[..key.len() / 2]);
    folder.write(
        "locked.key",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    folder.write(
        "odd.key",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    );
    folder.write(
        "odd.crt",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    );
    let load = |certificate: &str, key: &str| {
        let files = ServerFiles::new(folder.path(certificate), folder.path(key));
        ServerTls::load(&files)
            .map(drop)
            .map_err(|error| folder.hide(&error.to_string()))
    };
    assert_eq!(load("server.crt", "server.key"), Ok(()));
    for (certificate, key, message) in [
        (
            "none.crt",
            "server.key",
            "none.crt: cannot be read: No such file or directory (os error 2)",
        ),
        (
            "server.crt",
            "none.key",
            "none.key: cannot be read: No such file or directory (os error 2)",
        ),
        (
            "empty.pem",
            "server.key",
            "empty.pem: no certificate in it (a PEM section CERTIFICATE)",
        ),
        (
            "server.key",
            "server.key",
            "server.key: no certificate in it (a PEM section CERTIFICATE)",
        ),
        (
            "odd.crt",
            "server.key",
            "odd.crt: not a certificate that can be used: invalid peer certificate: BadEncoding",
        ),
        (
            "server.crt",
            "server.crt",
            "server.crt: no private key in it (a PEM section PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY)",
        ),
        (
            "server.crt",
            "locked.key",
            "locked.key: the private key is encrypted; store it without a passphrase",
        ),
        (
            "server.crt",
            "odd.key",
            "odd.key: not a private key that can be used: failed to parse private key as RSA, ECDSA, or EdDSA",
        ),
        (
            "server.crt",
            "other.key",
            "other.key: not the private key of the certificate in server.crt",
        ),
    ] {
        assert_eq!(load(certificate, key), Err(message.to_owned()));
    }
    let cut = load("server.crt", "cut.pem").unwrap_err();
    assert!(cut.starts_with("cut.pem: not valid PEM: "), "{cut}");
}

#[test]
fn client_certificates_need_authorities() {
    let authority = authority();
    let mut files = authority.server_files("server");
    files.client_auth = ClientAuth::Required;
    assert_eq!(
        ServerTls::load(&files).unwrap_err().to_string(),
        "client certificates are required, but there is no file of the authorities that sign them"
    );
    files.client_ca = Some(authority.folder.write("nobody.pem", ""));
    let error = ServerTls::load(&files).unwrap_err().to_string();
    assert_eq!(
        authority.folder.hide(&error),
        "nobody.pem: no certificate in it (a PEM section CERTIFICATE)"
    );
    let error = ClientTls::load(&ClientFiles::trusting(authority.folder.path("nobody.pem")));
    assert!(error.is_err());
    assert_eq!("optional".parse(), Ok(ClientAuth::Optional));
    assert_eq!(
        "maybe".parse::<ClientAuth>().unwrap_err().to_string(),
        "\"maybe\" says nothing of client certificates; expected none, optional or required"
    );
}

#[test]
fn a_certificate_that_is_not_good_now_is_warned_of() {
    let authority = authority();
    authority.sign("expired", -1);
    let now = SystemTime::now();
    assert_eq!(authority.server("server").warning(now), None);
    let expired = authority.server("expired").warning(now);
    assert!(matches!(expired, Some(Warning::Expired { since }) if since < now));
    let day = Duration::from_secs(24 * 3600);
    let early = authority.server("server").warning(now - 20 * day);
    assert!(matches!(early, Some(Warning::NotYetValid { until }) if until < now));
}
