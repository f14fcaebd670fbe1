//! What is made is what rustls takes, and what is there is kept.

use std::fs;
use std::path::{Path, PathBuf};

use helenus::tls::{ClientAuth, ClientFiles, ClientTls, ServerFiles, ServerTls};

use super::issue::{Issued, Request, issue};
use super::*;

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("helenus-cert-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

fn made(hosts: &[&str], clients: &[&str]) -> Result<Issued, String> {
    let request = Request {
        hosts: &owned(hosts),
        clients: &owned(clients),
        days: 30,
    };
    issue(&request).map_err(|error| error.to_string())
}

fn write(folder: &Path, force: bool) -> Result<(), String> {
    let issued = made(&["localhost", "::1"], &["ada"])?;
    let written = Files::new(folder, &issued).write(force);
    written.map_err(|error| error.to_string())
}

#[test]
fn what_is_made_is_taken_by_servers_and_clients() {
    let folder = folder("taken");
    write(&folder, false).unwrap();
    let mut files = ServerFiles::new(folder.join("server.pem"), folder.join("server.key"));
    files.client_ca = Some(folder.join("ca.pem"));
    files.client_auth = ClientAuth::Required;
    let server = ServerTls::load(&files).unwrap();
    assert_eq!(server.warning(std::time::SystemTime::now()), None);
    let client = ClientFiles::trusting(folder.join("ca.pem"))
        .identified_by(folder.join("ada.pem"), folder.join("ada.key"));
    ClientTls::load(&client).unwrap();
    fs::remove_dir_all(&folder).unwrap();
}

#[cfg(unix)]
#[test]
fn keys_are_for_their_owner_alone_even_where_something_is_replaced() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("owner");
    for force in [false, true] {
        write(&folder, force).unwrap();
        for name in ["ca.key", "server.key", "ada.key"] {
            let mode = fs::metadata(folder.join(name))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o644)).unwrap();
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_is_there_is_not_overwritten_and_then_nothing_is_written() {
    let folder = folder("kept");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("ada.key"), "precious").unwrap();
    let refused = write(&folder, false).unwrap_err();
    assert!(
        refused.ends_with("ada.key is there already; --force overwrites it"),
        "{refused}"
    );
    assert_eq!(
        fs::read_to_string(folder.join("ada.key")).unwrap(),
        "precious"
    );
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    write(&folder, true).unwrap();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 6);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn names_that_will_not_do_are_refused() {
    for name in ["", "../ada", "ada/b", "ca", "Server", ".ada"] {
        let refused = made(&["localhost"], &[name]).err().unwrap();
        assert!(refused.contains("can't name a client's files"), "{refused}");
    }
    assert_eq!(
        made(&["localhost"], &["ada", "Ada"]).err().unwrap(),
        "client \"Ada\" is named twice"
    );
    let refused = made(&["häuser.example"], &[]).err().unwrap();
    assert!(
        refused.contains("is neither a DNS name nor an address"),
        "{refused}"
    );
}

#[test]
fn a_report_names_every_file() {
    let issued = made(&["localhost"], &["ada"]).unwrap();
    let mut out = Vec::new();
    render::json(&mut out, Path::new("certs"), &issued).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(report["ca"]["certificate"], "certs/ca.pem");
    assert_eq!(report["server"]["hosts"][0], "localhost");
    assert_eq!(report["clients"][0]["key"], "certs/ada.key");
    out.clear();
    render::text(&mut out, Path::new("certs"), &issued).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(
        text.contains("--tls-cert certs/server.pem --tls-key certs/server.key"),
        "{text}"
    );
}
