//! What was written, and who is to be given what.

use std::io::{self, Write};
use std::path::Path;

use serde_json::json;

use super::files::{certificate, key};
use super::issue::Issued;

pub(super) fn text(out: &mut impl Write, folder: &Path, issued: &Issued) -> io::Result<()> {
    let file = |name: &str| certificate(folder, name).display().to_string();
    let secret = |name: &str| key(folder, name).display().to_string();
    writeln!(out, "Valid until {}. Written:", issued.expires.date())?;
    writeln!(
        out,
        "  {}  the authority, for who is to trust it",
        file("ca")
    )?;
    writeln!(out, "  {}  its key: keep it, or delete it", secret("ca"))?;
    let hosts = issued.hosts.join(", ");
    writeln!(out, "  {}  the server's, as {hosts}", file("server"))?;
    writeln!(out, "  {}", secret("server"))?;
    for client in &issued.clients {
        writeln!(out, "  {}  client {}'s", file(&client.name), client.name)?;
        writeln!(out, "  {}", secret(&client.name))?;
    }
    writeln!(out, "\nThe server:")?;
    write!(
        out,
        "  helenus serve --tls-cert {} --tls-key {}",
        file("server"),
        secret("server")
    )?;
    if !issued.clients.is_empty() {
        write!(
            out,
            " --tls-client-ca {} --tls-client-auth required",
            file("ca")
        )?;
    }
    let host = issued.hosts.first().map_or("localhost", String::as_str);
    writeln!(out, "\n\nA client:")?;
    writeln!(out, "  SSL_CERTFILE={} cqlsh --ssl {host}", file("ca"))?;
    if let Some(client) = issued.clients.first() {
        let (certificate, key) = (file(&client.name), secret(&client.name));
        writeln!(
            out,
            "with usercert = {certificate} and userkey = {key} under [ssl] of cqlshrc"
        )?;
    }
    Ok(())
}

pub(super) fn json(out: &mut impl Write, folder: &Path, issued: &Issued) -> io::Result<()> {
    let pair =
        |name: &str| json!({ "certificate": certificate(folder, name), "key": key(folder, name) });
    let mut server = pair("server");
    server["hosts"] = json!(issued.hosts);
    let clients = issued.clients.iter().map(|client| {
        let mut pair = pair(&client.name);
        pair["name"] = json!(client.name);
        pair
    });
    let report = json!({
        "ca": pair("ca"),
        "server": server,
        "clients": clients.collect::<Vec<_>>(),
        "expires": issued.expires.unix_timestamp(),
    });
    writeln!(out, "{report:#}")
}
