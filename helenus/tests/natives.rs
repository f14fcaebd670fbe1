//! Native functions of the embedded service over sockets: whatever one does, the others' requests go on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use helenus::types::{CqlType, Value};
use helenus::{
    Authentication, Builder, ClientConfig, EmbeddedService, NativeAggregate, NativeFunction,
    Options, TestServer,
};
use helenus_client::{Error, PlainText};
use helenus_core::ErrorCode;
use helenus_std::Client;

/// What a call may take here.
const TIMEOUT: Duration = Duration::from_millis(500);

fn builder() -> Builder {
    EmbeddedService::builder("127.0.0.1:0".parse().unwrap()).register_function(NativeFunction::new(
        "shop.twice",
        [CqlType::Int],
        CqlType::Int,
        |values| match values {
            [Some(Value::Int(number))] => Ok(Some(Value::Int(number * 2))),
            _ => Err("an int is expected".into()),
        },
    ))
}

fn serve(builder: Builder, timeout: Duration) -> TestServer {
    let mut options = Options::default();
    options.hooks.timeout = timeout;
    TestServer::serve(builder.build().unwrap(), options).unwrap()
}

/// A client of a server that has a table with rows 0 to 99.
fn start(builder: Builder) -> (TestServer, Client) {
    start_with(builder, TIMEOUT)
}

fn start_with(builder: Builder, timeout: Duration) -> (TestServer, Client) {
    let server = serve(builder, timeout);
    let client = Client::connect(server.address(), ClientConfig::default()).unwrap();
    create(&client);
    (server, client)
}

fn create(client: &Client) {
    for text in [
        "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE shop.orders (k int PRIMARY KEY, v int)",
    ] {
        client.query(text, ()).unwrap();
    }
    for key in 0..100 {
        let insert = format!("INSERT INTO shop.orders (k, v) VALUES ({key}, {key})");
        client.query(&*insert, ()).unwrap();
    }
}

/// A function that ends when its sender is dropped.
fn stuck(name: &str) -> (NativeFunction, Sender<()>) {
    let (end, ended) = channel::<()>();
    let ended = Mutex::new(ended);
    let function = NativeFunction::new(name, [CqlType::Int], CqlType::Int, move |_| {
        let _ = ended.lock().unwrap().recv();
        Ok(None)
    });
    (function, end)
}

/// The first column of each row, or the code and the message of the error.
fn ask(client: &Client, text: &str) -> Result<Vec<Option<i32>>, (ErrorCode, String)> {
    match client.query(text, ()) {
        Ok(result) => {
            let rows = result.typed::<(Option<i32>,)>().unwrap();
            Ok(rows.map(|row| row.unwrap().0).collect())
        }
        Err(Error::Server(error)) => Err((error.code, error.message.to_string())),
        Err(error) => panic!("{text}: {error:?}"),
    }
}

fn failure(text: &str) -> Result<Vec<Option<i32>>, (ErrorCode, String)> {
    Err((ErrorCode::FUNCTION_FAILURE, text.to_owned()))
}

const POINT_READ: &str = "SELECT v FROM shop.orders WHERE k = 7";

#[test]
fn one_that_never_ends_fails_its_statement_and_is_not_called_again_while_others_are_answered() {
    let (function, end) = stuck("shop.stuck");
    let (server, client) = start(builder().register_function(function));
    let reads = AtomicUsize::new(0);
    thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&client, "SELECT shop.stuck(v) FROM shop.orders"));
        while !asked.is_finished() {
            assert_eq!(ask(&client, POINT_READ), Ok(vec![Some(7)]));
            let twice = "SELECT shop.twice(v) FROM shop.orders WHERE k = 7";
            assert_eq!(ask(&client, twice), Ok(vec![Some(14)]));
            reads.fetch_add(1, Ordering::Relaxed);
        }
        assert_eq!(
            asked.join().unwrap(),
            failure("execution of 'shop.stuck[int]' failed: it did not end within 500ms")
        );
    });
    assert!(reads.into_inner() > 1);
    let quarantined =
        "execution of 'shop.stuck[int]' failed: it is in quarantine, for a call of it did not end";
    for text in [
        "SELECT shop.stuck(v) FROM shop.orders",
        "INSERT INTO shop.orders (k, v) VALUES (1, shop.stuck(1))",
    ] {
        assert_eq!(ask(&client, text), failure(quarantined));
    }
    assert_eq!(
        server.service().quarantined_functions(),
        ["shop.stuck[int]"]
    );
    drop(end);
    // It stays where it is: who ended once may not end the next time.
    let text = "SELECT shop.stuck(v) FROM shop.orders WHERE k = 1";
    assert_eq!(ask(&client, text), failure(quarantined));
}

#[test]
fn those_that_all_threads_are_stuck_in_are_given_up_and_the_threads_replaced() {
    let (functions, ends): (Vec<_>, Vec<_>) = (0..8)
        .map(|number| stuck(&format!("shop.stuck{number}")))
        .unzip();
    let functions = functions.into_iter();
    let (server, client) = start(functions.fold(builder(), Builder::register_function));
    thread::scope(|scope| {
        for number in 0..8 {
            let client = &client;
            scope.spawn(move || {
                let text = format!("SELECT shop.stuck{number}(v) FROM shop.orders WHERE k = 7");
                let text = ask(client, &text).unwrap_err();
                assert_eq!(text.0, ErrorCode::FUNCTION_FAILURE);
            });
        }
    });
    assert_eq!(server.service().quarantined_functions().len(), 8);
    let twice = "SELECT shop.twice(v) FROM shop.orders WHERE k = 7";
    assert_eq!(ask(&client, twice), Ok(vec![Some(14)]));
    drop(ends);
}

#[test]
fn each_call_has_the_time_of_one_however_many_there_are() {
    let slow = NativeFunction::new("shop.slow", [CqlType::Int], CqlType::Int, |values| {
        thread::sleep(TIMEOUT / 50);
        Ok(values[0].clone())
    });
    let (server, client) = start(builder().register_function(slow));
    let rows = ask(&client, "SELECT shop.slow(v) FROM shop.orders").unwrap();
    assert_eq!(rows.len(), 100);
    assert_eq!(rows.iter().flatten().sum::<i32>(), 4950);
    assert!(server.service().quarantined_functions().is_empty());
}

#[test]
fn one_that_panics_fails_its_statement_and_nothing_else() {
    let panics = NativeFunction::new("panics", [CqlType::Int], CqlType::Int, |_| {
        panic!("this was asked for")
    });
    let aggregate = NativeAggregate::new(
        "panicsatlast",
        [CqlType::Int],
        CqlType::Int,
        || 0,
        |_: &mut i32, _| Ok(()),
        |_| panic!("this too"),
    );
    let builder = builder()
        .register_function(panics)
        .register_aggregate(aggregate);
    // A panic may print a backtrace, which takes its time.
    let (server, client) = start_with(builder, Duration::from_secs(60));
    for _ in 0..20 {
        assert_eq!(
            ask(&client, "SELECT panics(v) FROM shop.orders"),
            failure("execution of 'system.panics[int]' failed: it panicked: this was asked for")
        );
        assert_eq!(
            ask(&client, "SELECT panicsatlast(v) FROM shop.orders"),
            failure("execution of 'system.panicsatlast[int]' failed: it panicked: this too")
        );
        assert_eq!(ask(&client, POINT_READ), Ok(vec![Some(7)]));
    }
    assert!(server.service().quarantined_functions().is_empty());
}

#[test]
fn pages_batches_and_prepared_statements_call_them() {
    let (_server, client) = start(builder());
    let prepared = client
        .prepare("INSERT INTO shop.orders (k, v) VALUES (?, shop.twice(?))")
        .unwrap();
    client.execute(&prepared, (200, 21)).unwrap();
    assert_eq!(
        ask(&client, "SELECT v FROM shop.orders WHERE k = 200"),
        Ok(vec![Some(42)])
    );
    let text = "BEGIN BATCH INSERT INTO shop.orders (k, v) VALUES (201, shop.twice(1)); \
                DELETE FROM shop.orders WHERE k = shop.twice(100); APPLY BATCH";
    client.query(text, ()).unwrap();
    let rows = ask(
        &client,
        "SELECT shop.twice(v) FROM shop.orders WHERE k IN (200, 201)",
    );
    assert_eq!(rows, Ok(vec![Some(4)]));
}

#[test]
fn a_fault_meets_statements_that_call_them_first() {
    let (server, client) = start(builder());
    let fault = "read on shop.orders delay 10ms error timeout times 1";
    server.service().set_faults([fault.parse().unwrap()]);
    let text = "SELECT v FROM shop.orders WHERE k = shop.twice(4)";
    assert_eq!(ask(&client, text).unwrap_err().0, ErrorCode::READ_TIMEOUT);
    assert_eq!(ask(&client, text), Ok(vec![Some(8)]));
    let fault = "read on shop.orders delay 10ms times 1";
    server.service().set_faults([fault.parse().unwrap()]);
    assert_eq!(ask(&client, text), Ok(vec![Some(8)]));
}

#[test]
fn with_logins_they_need_execute_but_for_those_of_every_keyspace() {
    let mut authentication = Authentication::default();
    authentication.bcrypt_cost = 4;
    let open = NativeFunction::new("open", [CqlType::Int], CqlType::Int, |values| {
        Ok(values[0].clone())
    });
    let builder = builder().register_function(open).logins(authentication);
    let server = serve(builder, TIMEOUT);
    let connect = |name: &str, password: &str| {
        let mut config = ClientConfig::default();
        config.authenticator = Some(Arc::new(PlainText::new(name, password)));
        Client::connect(server.address(), config).unwrap()
    };
    let superuser = connect("cassandra", "cassandra");
    create(&superuser);
    for text in [
        "CREATE ROLE clerk WITH PASSWORD = 'p' AND LOGIN = true",
        "GRANT SELECT ON shop.orders TO clerk",
    ] {
        superuser.query(text, ()).unwrap();
    }
    let clerk = connect("clerk", "p");
    let twice = "SELECT shop.twice(v) FROM shop.orders WHERE k = 7";
    assert_eq!(
        ask(&clerk, twice),
        Err((
            ErrorCode::UNAUTHORIZED,
            "User clerk has no EXECUTE permission on <function shop.twice(int)> or any of its parents".to_owned()
        ))
    );
    let open = "SELECT open(v) FROM shop.orders WHERE k = 7";
    assert_eq!(ask(&clerk, open), Ok(vec![Some(7)]));
    superuser
        .query("GRANT EXECUTE ON FUNCTION shop.twice(int) TO clerk", ())
        .unwrap();
    assert_eq!(ask(&clerk, twice), Ok(vec![Some(14)]));
}

#[test]
fn what_cannot_be_registered_is_told_when_the_service_is_built() {
    let double = NativeFunction::new("shop.twice", [CqlType::Int], CqlType::Text, |_| Ok(None));
    let error = builder().register_function(double).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "shop.twice[int] can't be registered: there is one with these arguments already"
    );
}
