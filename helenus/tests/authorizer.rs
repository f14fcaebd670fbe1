//! An authorizer of the program's own, over sockets: however long it takes, others are answered.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use helenus::{
    Authentication, Authorizer, ClientConfig, EmbeddedService, Options, Permission, Resource,
    TestServer,
};
use helenus_client::{Error, PlainText};
use helenus_core::ErrorCode;
use helenus_std::Client;

/// Allows all but `secret`; waits for its sender with `slow`, and panics at `broken`.
struct ByTable {
    asked: Arc<AtomicUsize>,
    told: Mutex<Receiver<()>>,
}

impl Authorizer for ByTable {
    fn authorize(
        &self,
        user: Option<&str>,
        permission: Permission,
        resource: &Resource,
    ) -> Result<(), String> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        match resource {
            Resource::Table(_, name) => match &**name {
                "secret" => Err(format!(
                    "{} must not {permission} {resource}",
                    user.unwrap_or("nobody")
                )),
                "slow" => {
                    let _ = self.told.lock().unwrap().recv();
                    Ok(())
                }
                "broken" => panic!("this was asked for"),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn validity(&self) -> Duration {
        Duration::from_secs(3600)
    }
}

struct Setting {
    server: TestServer,
    asked: Arc<AtomicUsize>,
    tell: Sender<()>,
}

fn start(timeout: Duration, authentication: Option<Authentication>) -> Setting {
    let (tell, told) = channel();
    let asked = Arc::new(AtomicUsize::new(0));
    let mut builder = EmbeddedService::builder("127.0.0.1:0".parse().unwrap());
    if let Some(authentication) = authentication {
        builder = builder.logins(authentication);
    }
    let builder = builder.authorizer(ByTable {
        asked: Arc::clone(&asked),
        told: Mutex::new(told),
    });
    let mut options = Options::default();
    options.hooks.timeout = timeout;
    let server = TestServer::serve(builder.build().unwrap(), options).unwrap();
    Setting {
        server,
        asked,
        tell,
    }
}

const LONG: Duration = Duration::from_secs(60);

/// A client, the tables being there.
fn connect(setting: &Setting, config: ClientConfig) -> Client {
    let client = Client::connect(setting.server.address(), config).unwrap();
    client
        .query(
            "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
            (),
        )
        .unwrap();
    for table in ["plain", "secret", "slow", "broken"] {
        let create = format!("CREATE TABLE ks.{table} (k int PRIMARY KEY, v int)");
        client.query(&*create, ()).unwrap();
    }
    client
}

/// The code and the message of the error, if it is one.
fn ask(client: &Client, text: &str) -> Result<(), (ErrorCode, String)> {
    match client.query(text, ()) {
        Ok(_) => Ok(()),
        Err(Error::Server(error)) => Err((error.code, error.message.to_string())),
        Err(error) => panic!("{text}: {error:?}"),
    }
}

#[test]
fn what_it_refuses_is_unauthorized_and_what_it_allowed_is_remembered() {
    let setting = start(LONG, None);
    let client = connect(&setting, ClientConfig::default());
    for (text, refusal) in [
        (
            "SELECT * FROM ks.secret",
            "nobody must not SELECT <table ks.secret>",
        ),
        (
            "DELETE FROM ks.secret WHERE k = 1",
            "nobody must not MODIFY <table ks.secret>",
        ),
        (
            "BEGIN BATCH INSERT INTO ks.plain (k) VALUES (9); INSERT INTO ks.secret (k) VALUES (9); APPLY BATCH",
            "nobody must not MODIFY <table ks.secret>",
        ),
        (
            "DROP TABLE ks.secret",
            "nobody must not DROP <table ks.secret>",
        ),
    ] {
        let refused = Err((ErrorCode::UNAUTHORIZED, refusal.to_owned()));
        assert_eq!(ask(&client, text), refused, "{text}");
    }
    for text in [
        "SELECT * FROM ks.secret WHERE k = ?",
        "DELETE FROM ks.secret WHERE k = ?",
    ] {
        let prepared = client.prepare(text).unwrap();
        let refused = client.execute(&prepared, (1,));
        assert!(
            matches!(&refused, Err(Error::Server(error)) if error.code == ErrorCode::UNAUTHORIZED),
            "{text}: {refused:?}"
        );
    }
    let before = setting.asked.load(Ordering::Relaxed);
    for _ in 0..50 {
        assert_eq!(ask(&client, "SELECT * FROM ks.plain WHERE k = 9"), Ok(()));
    }
    assert_eq!(setting.asked.load(Ordering::Relaxed) - before, 1);
    let read = client.query("SELECT k FROM ks.plain", ()).unwrap();
    assert_eq!(
        read.rows().unwrap().row_count,
        0,
        "nothing of the batch was done"
    );
    client.query("USE ks", ()).unwrap();
    assert_eq!(ask(&client, "SELECT * FROM plain"), Ok(()));
}

#[test]
fn others_are_answered_while_it_thinks() {
    let setting = start(LONG, None);
    let client = connect(&setting, ClientConfig::default());
    thread::scope(|scope| {
        let slow = scope.spawn(|| ask(&client, "SELECT * FROM ks.slow"));
        for _ in 0..200 {
            assert_eq!(ask(&client, "SELECT * FROM ks.plain WHERE k = 1"), Ok(()));
        }
        assert!(!slow.is_finished());
        setting.tell.send(()).unwrap();
        assert_eq!(slow.join().unwrap(), Ok(()));
    });
}

#[test]
fn one_that_never_decides_or_panics_fails_the_request_and_no_other() {
    let setting = start(Duration::from_millis(500), None);
    let client = connect(&setting, ClientConfig::default());
    let late = "The authorizer did not decide within 500ms".to_owned();
    assert_eq!(
        ask(&client, "SELECT * FROM ks.slow"),
        Err((ErrorCode::SERVER_ERROR, late))
    );
    for _ in 0..8 {
        let code = ask(&client, "SELECT * FROM ks.broken").unwrap_err().0;
        assert_eq!(code, ErrorCode::SERVER_ERROR);
        assert_eq!(ask(&client, "SELECT * FROM ks.plain WHERE k = 1"), Ok(()));
    }
    drop(setting.tell);
}

#[test]
fn it_is_told_who_asks_where_clients_log_in() {
    let mut authentication = Authentication::default();
    authentication.bcrypt_cost = 4;
    let setting = start(LONG, Some(authentication));
    let mut config = ClientConfig::default();
    config.authenticator = Some(Arc::new(PlainText::new("cassandra", "cassandra")));
    let client = connect(&setting, config);
    assert_eq!(
        ask(&client, "SELECT * FROM ks.secret"),
        Err((
            ErrorCode::UNAUTHORIZED,
            "cassandra must not SELECT <table ks.secret>".to_owned()
        ))
    );
    assert_eq!(ask(&client, "SELECT * FROM ks.plain"), Ok(()));
}
