//! The blocking client of the runtime of threads, call by call.

use crate::server::{Running, Runtime, created};
use helenus::TestServer;
use helenus_client::{Batch, Config, Error, Statement};
use helenus_core::ProtocolVersion;
use helenus_core::message::EventType;
use helenus_server::Options;
use helenus_std::Client;
use std::thread;

#[test]
fn every_call_blocks_until_its_answer_is_there() -> Result<(), Error> {
    let server = TestServer::start().unwrap();
    let client = Client::connect(server.address(), Config::default())?;
    assert_eq!(client.version(), ProtocolVersion::V5);
    let supported = client.options()?;
    assert!(!supported.get("CQL_VERSION").is_empty());
    let replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
    let create = format!("CREATE KEYSPACE \"Ks\" WITH replication = {replication}");
    client.query(&create, ())?;
    client.use_keyspace("Ks")?;
    client.query("CREATE TABLE t (a int, b int, PRIMARY KEY (a, b))", ())?;
    let insert = client.prepare("INSERT INTO t (a, b) VALUES (?, ?)")?;
    thread::scope(|scope| {
        for b in 0..8 {
            let (client, insert) = (client.clone(), &insert);
            scope.spawn(move || client.execute(insert, (1, b)).unwrap());
        }
    });
    let mut batch = Batch::unlogged();
    batch.execute(&insert, (1, 8))?;
    batch.query("INSERT INTO t (a, b) VALUES (1, 9)", ())?;
    client.batch(&batch)?;
    let select = Statement::new("SELECT b FROM t").with(|options| options.page_size = Some(4));
    let prepared = client.prepare(select.clone())?;
    for pages in [
        client.query_pages(select, ())?,
        client.execute_pages(&prepared, ())?,
    ] {
        let mut found = Vec::new();
        for page in pages {
            let page = page?;
            let rows: Result<Vec<(i32,)>, _> = page.typed()?.collect();
            found.push(rows?.into_iter().map(|(b,)| b).collect::<Vec<_>>());
        }
        assert_eq!(found, [vec![0, 1, 2, 3], vec![4, 5, 6, 7], vec![8, 9]]);
    }
    Ok(())
}

#[test]
fn events_are_an_iterator() {
    let server = Running::start(Runtime::Threads, Options::default());
    let client = Client::connect(server.address, Config::default()).unwrap();
    let events = client.events(&[EventType::SchemaChange]).unwrap();
    for name in ["a", "b"] {
        server.service.server().publish(created(name));
    }
    let heard: Vec<_> = events.take(2).map(Result::unwrap).collect();
    assert_eq!(heard, [created("a"), created("b")]);
}
