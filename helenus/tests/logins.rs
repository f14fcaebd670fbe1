//! Logins and permissions of the embedded service, over sockets.

use std::sync::Arc;

use helenus::tls::{ClientAuth, ClientFiles, ClientTls, ServerFiles, ServerTls};
use helenus::{Authentication, ClientConfig, EmbeddedService, LoginMethod, Options, TestServer};
use helenus_client::{Error, Lost, PlainText};
use helenus_core::ErrorCode;
use helenus_core::connection::ClientError;
use helenus_std::Client;

fn start(bcrypt_cost: u32) -> TestServer {
    let mut authentication = Authentication::default();
    authentication.bcrypt_cost = bcrypt_cost;
    TestServer::start_with_logins(authentication).unwrap()
}

fn connect(server: &TestServer, name: &str, password: &str) -> Result<Client, Error> {
    let mut config = ClientConfig::default();
    config.authenticator = Some(Arc::new(PlainText::new(name, password)));
    Client::connect(server.address(), config)
}

fn superuser(server: &TestServer) -> Client {
    connect(server, "cassandra", "cassandra").unwrap()
}

fn all(client: &Client, statements: &[&str]) {
    for statement in statements {
        if let Err(error) = client.query(*statement, ()) {
            panic!("{statement}: {error}");
        }
    }
}

/// The code and the message of what the server refused.
fn refused<T>(outcome: Result<T, Error>) -> (ErrorCode, String) {
    match outcome {
        Err(Error::Server(error)) => (error.code, error.message.to_string()),
        Err(Error::Lost {
            reason: Lost::Connection(ClientError::Refused { error, .. }),
            ..
        }) => (error.code, error.message.to_string()),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was not refused"),
    }
}

const KEYSPACE: [&str; 2] = [
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE ks.t (k int PRIMARY KEY, v text)",
];

#[test]
fn a_new_node_lets_in_its_superuser_and_nobody_else() {
    let server = start(4);
    for (name, password) in [("cassandra", "x"), ("nobody", "cassandra")] {
        assert_eq!(
            refused(connect(&server, name, password)),
            (
                ErrorCode::BAD_CREDENTIALS,
                format!("Provided username {name} and/or password are incorrect")
            )
        );
    }
    let client = superuser(&server);
    let rows = client
        .query("SELECT role, salted_hash FROM system_auth.roles", ())
        .unwrap();
    let rows: Vec<(&str, &str)> = rows.typed().unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].0, "cassandra");
    assert!(rows[0].1.starts_with("$2a$04$"), "{}", rows[0].1);
}

#[test]
fn what_is_granted_and_revoked_counts_from_the_next_request_on() {
    let server = start(4);
    let root = superuser(&server);
    all(&root, &KEYSPACE);
    all(
        &root,
        &["CREATE ROLE p WITH PASSWORD = 'p' AND LOGIN = true"],
    );
    let client = connect(&server, "p", "p").unwrap();
    let select = client.prepare("SELECT v FROM ks.t WHERE k = ?").unwrap();
    let lacks = (
        ErrorCode::UNAUTHORIZED,
        "User p has no SELECT permission on <table ks.t> or any of its parents".to_owned(),
    );
    for _ in 0..2 {
        assert_eq!(refused(client.execute(&select, (1,))), lacks);
        all(&root, &["GRANT SELECT ON KEYSPACE ks TO p"]);
        client.execute(&select, (1,)).unwrap();
        all(&root, &["REVOKE SELECT ON KEYSPACE ks FROM p"]);
    }
    // Whoever writes to the tables changes what they say.
    all(
        &root,
        &["UPDATE system_auth.roles SET is_superuser = true WHERE role = 'p'"],
    );
    client.execute(&select, (1,)).unwrap();
    all(&root, &["TRUNCATE system_auth.roles"]);
    assert_eq!(refused(client.execute(&select, (1,))), lacks);
}

#[test]
fn a_changed_password_replaces_the_one_that_is_remembered() {
    let server = start(4);
    let root = superuser(&server);
    all(
        &root,
        &["CREATE ROLE p WITH PASSWORD = 'old' AND LOGIN = true"],
    );
    for _ in 0..2 {
        connect(&server, "p", "old").unwrap();
    }
    all(&root, &["ALTER ROLE p WITH PASSWORD = 'new'"]);
    let (code, _) = refused(connect(&server, "p", "old"));
    assert_eq!(code, ErrorCode::BAD_CREDENTIALS);
    connect(&server, "p", "new").unwrap();
    all(&root, &["ALTER ROLE p WITH LOGIN = false"]);
    let (_, message) = refused(connect(&server, "p", "new"));
    assert_eq!(message, "p is not permitted to log in");
}

/// A server that takes the certificates of clients, and who logs in without one by password.
struct Certified {
    files: std::path::PathBuf,
    address: std::net::SocketAddr,
    shutdown: helenus::ShutdownHandle,
    thread: Option<std::thread::JoinHandle<std::io::Result<()>>>,
}

impl Certified {
    fn start(clients: &[&str], authentication: Authentication) -> Self {
        let files = std::env::temp_dir().join(format!("helenus-logins-{}", std::process::id()));
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_helenus"));
        command.args(["cert", "--force", "--out"]).arg(&files);
        for client in clients {
            command.args(["--client", client]);
        }
        assert!(command.output().unwrap().status.success());
        let mut pem = ServerFiles::new(files.join("server.pem"), files.join("server.key"));
        pem.client_ca = Some(files.join("ca.pem"));
        pem.client_auth = ClientAuth::Optional;
        let mut options = Options::default();
        options.tls = Some(ServerTls::load(&pem).unwrap());
        let listen = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
        let service = Arc::new(EmbeddedService::with_logins(listen, authentication));
        let server = helenus_std::Server::bind(listen, service, options).unwrap();
        let (address, shutdown) = (server.local_addr(), server.handle());
        let thread = Some(std::thread::spawn(move || server.run()));
        Certified {
            files,
            address,
            shutdown,
            thread,
        }
    }

    fn connect(&self, certificate: Option<&str>, login: (&str, &str)) -> Result<Client, Error> {
        let mut files = ClientFiles::trusting(self.files.join("ca.pem"));
        if let Some(name) = certificate {
            let file = |kind: &str| self.files.join(format!("{name}.{kind}"));
            files = files.identified_by(file("pem"), file("key"));
        }
        let mut config = ClientConfig::default();
        config.tls = Some(ClientTls::load(&files).unwrap());
        config.authenticator = Some(Arc::new(PlainText::new(login.0, login.1)));
        Client::connect(self.address, config)
    }
}

impl Drop for Certified {
    fn drop(&mut self) {
        self.shutdown.shutdown();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
        let _ = std::fs::remove_dir_all(&self.files);
    }
}

#[test]
fn a_certificate_is_the_identity_of_a_role_and_a_password_that_of_who_has_none() {
    let mut authentication = Authentication::default();
    authentication.bcrypt_cost = 4;
    authentication.method = LoginMethod::CertificateOrPassword;
    authentication.superuser_identity = Some("root".to_owned());
    let server = Certified::start(&["root", "ali"], authentication);
    // Whatever the password is.
    let root = server.connect(Some("root"), ("x", "x")).unwrap();
    assert_eq!(
        refused(server.connect(Some("ali"), ("cassandra", "cassandra"))),
        (
            ErrorCode::BAD_CREDENTIALS,
            "Certificate identity 'ali' not authorized".to_owned()
        )
    );
    all(
        &root,
        &[
            "CREATE ROLE reader WITH LOGIN = true",
            "ADD IDENTITY 'ali' TO ROLE 'reader'",
        ],
    );
    let ali = server.connect(Some("ali"), ("x", "x")).unwrap();
    assert_eq!(
        refused(ali.query("CREATE ROLE other", ())).1,
        "User reader does not have sufficient privileges to perform the requested operation"
    );
    server.connect(None, ("cassandra", "cassandra")).unwrap();
    let (code, _) = refused(server.connect(None, ("cassandra", "x")));
    assert_eq!(code, ErrorCode::BAD_CREDENTIALS);
}
