//! A client: writes, reads page by page, and hears of the change it makes to the schema.
//! `cargo run -p helenus-tokio --example client -- 127.0.0.1:9042`
//!
//! With a file of authorities behind the address, it speaks TLS to a server that one of them vouches for. Its
//! certificate has the address as a name; `with_server_name` is for one that has another.

#![expect(clippy::print_stdout, reason = "it tells what it does")]

use helenus_client::{Batch, ClientFiles, ClientTls, Config, Statement};
use helenus_core::compression::Compression;
use helenus_core::message::EventType;
use helenus_tokio::Client;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next();
    let address = address.as_deref().unwrap_or("127.0.0.1:9042");
    let mut config = Config::default();
    config.connection.compressions = vec![Compression::Lz4];
    if let Some(authorities) = arguments.next() {
        config.tls = Some(ClientTls::load(&ClientFiles::trusting(authorities))?);
    }
    let client = Client::connect(address, config).await?;
    println!("connected to {address} in {}", client.version());

    let mut events = client.events(&[EventType::SchemaChange]).await?;
    for statement in [
        "CREATE KEYSPACE IF NOT EXISTS example WITH replication = \
         {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE IF NOT EXISTS example.users (id int PRIMARY KEY, name text)",
    ] {
        client.query(statement, ()).await?;
    }
    if let Some(event) = events.next().await {
        println!("the server says: {:?}", event?);
    }

    let insert = client
        .prepare("INSERT INTO example.users (id, name) VALUES (?, ?)")
        .await?;
    // Calls that are made at once are pipelined.
    tokio::try_join!(
        client.execute(&insert, (1, "Ada")),
        client.execute(&insert, (2, "Grace")),
        client.execute(&insert, (3, None::<&str>)),
    )?;
    let mut batch = Batch::logged();
    batch.query("DELETE FROM example.users WHERE id = 3", ())?;
    batch.execute(&insert, (4, "Barbara"))?;
    client.batch(&batch).await?;

    let select = Statement::new("SELECT id, name FROM example.users")
        .with(|options| options.page_size = Some(2));
    let mut pages = client.query_pages(select, ())?;
    while let Some(page) = pages.next().await {
        println!("a page:");
        for user in page?.typed::<(i32, Option<&str>)>()? {
            let (id, name) = user?;
            println!("  {id}: {}", name.unwrap_or("nobody"));
        }
    }
    client.query("DROP KEYSPACE example", ()).await?;
    Ok(())
}
