//! A client: writes, reads page by page, and hears of the change it makes to the schema.
//! `cargo run -p helenus-std --example client -- 127.0.0.1:9042`

#![expect(clippy::print_stdout, reason = "it tells what it does")]

use helenus_client::{Batch, Config, Error, Statement};
use helenus_core::compression::Compression;
use helenus_core::message::EventType;
use helenus_std::Client;
use std::thread;

fn main() -> Result<(), Error> {
    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("127.0.0.1:9042");
    let mut config = Config::default();
    config.connection.compressions = vec![Compression::Lz4];
    let client = Client::connect(address, config)?;
    println!("connected to {address} in {}", client.version());

    let mut events = client.events(&[EventType::SchemaChange])?;
    for statement in [
        "CREATE KEYSPACE IF NOT EXISTS example WITH replication = \
         {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE IF NOT EXISTS example.users (id int PRIMARY KEY, name text)",
    ] {
        client.query(statement, ())?;
    }
    if let Some(event) = events.next() {
        println!("the server says: {:?}", event?);
    }

    let insert = client.prepare("INSERT INTO example.users (id, name) VALUES (?, ?)")?;
    // The calls that threads make at once are pipelined.
    thread::scope(|scope| {
        for (id, name) in [(1, Some("Ada")), (2, Some("Grace")), (3, None)] {
            let (client, insert) = (&client, &insert);
            scope.spawn(move || {
                if let Err(error) = client.execute(insert, (id, name)) {
                    println!("{id} wasn't written: {error}");
                }
            });
        }
    });
    let mut batch = Batch::logged();
    batch.query("DELETE FROM example.users WHERE id = 3", ())?;
    batch.execute(&insert, (4, "Barbara"))?;
    client.batch(&batch)?;

    let select = Statement::new("SELECT id, name FROM example.users")
        .with(|options| options.page_size = Some(2));
    let pages = client.query_pages(select, ())?;
    for page in pages {
        println!("a page:");
        for user in page?.typed::<(i32, Option<&str>)>()? {
            let (id, name) = user?;
            println!("  {id}: {}", name.unwrap_or("nobody"));
        }
    }
    client.query("DROP KEYSPACE example", ())?;
    Ok(())
}
