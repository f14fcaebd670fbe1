//! Virtual tables whose rows are made when they are read: `system_views.clients` and `cql_metrics`, with the columns and
//! the words of Cassandra 5.0.

use std::collections::BTreeMap;
use std::net::IpAddr;

use bytes::Bytes;
use helenus_core::Opcode;
use helenus_core::message::Startup;
use helenus_core::types::Value;
use helenus_engine::readers::{
    Consumer, PartitionRange, Position, ReadCommand, ReadProgress, RingBound,
};
use helenus_engine::schema::Table;
use helenus_engine::storage::{DecoratedKey, Shard, ShardOptions, Token};
use helenus_engine::system::writer;
use helenus_server::{ConnectionSnapshot, ServerHandle};

use super::Node;

/// Rows that are made where a request arrived; more are made in the pool for long work.
const INLINE: usize = 256;

/// The columns of a row.
type Row = Vec<(&'static str, Value)>;

/// Whether a table's rows are made when it is read.
pub(super) fn is_live(table: &Table) -> bool {
    &*table.keyspace == "system_views" && matches!(&*table.name, "clients" | "cql_metrics")
}

impl Node {
    /// Makes the rows of a live table and reads them. If they are many, and `inline`, it stops before the first, to be
    /// called again where nobody waits.
    pub(super) fn read_live(
        &self,
        command: &ReadCommand,
        inline: bool,
        consumer: &mut impl Consumer,
    ) -> ReadProgress {
        let Some(server) = self.server() else {
            return ReadProgress::Finished;
        };
        let is_long = &*command.table.name == "clients" && server.connections() > INLINE;
        if inline && is_long {
            let begin = || before_all(command);
            return ReadProgress::Yielded(command.resume.clone().unwrap_or_else(begin));
        }
        let rows = match &*command.table.name {
            "clients" => server.clients().iter().filter_map(client).collect(),
            _ => self.cql_metrics(&server),
        };
        let mut shard = Shard::new(ShardOptions::default());
        for row in &rows {
            let mutation = writer::insert(&command.table, 0, row);
            shard.apply(&mutation, command.now_seconds);
        }
        shard.read(command, usize::MAX, consumer)
    }

    /// The rows of `system_views.cql_metrics`.
    fn cql_metrics(&self, server: &ServerHandle) -> Vec<Row> {
        let latencies = server.latencies();
        let answered = |opcode| {
            let found = latencies.iter().find(|(known, _)| *known == opcode);
            found.map_or(0.0, |(_, histogram)| histogram.count() as f64)
        };
        let (prepared, regular) = (answered(Opcode::EXECUTE), answered(Opcode::QUERY));
        let ratio = match prepared + regular {
            0.0 => 0.0,
            both => prepared / both,
        };
        let (known, evicted) = self.statements.counts();
        let row = |(name, value)| vec![("name", text(name)), ("value", Value::Double(value))];
        [
            ("prepared_statements_count", known as f64),
            ("prepared_statements_evicted", evicted as f64),
            ("prepared_statements_executed", prepared),
            ("prepared_statements_ratio", ratio),
            ("regular_statements_executed", regular),
        ]
        .map(row)
        .into()
    }
}

/// The place before everything that a command reads.
fn before_all(command: &ReadCommand) -> Position {
    match &command.range {
        PartitionRange::Key(key) => Position::at_start(key.clone(), command.reversed),
        PartitionRange::Tokens { start, .. } => {
            let token = match start {
                RingBound::Start | RingBound::End => Token(i64::MIN),
                RingBound::Before(token) | RingBound::After(token) => *token,
            };
            // No partition has an empty key, so this is before all of them.
            let key = Bytes::new();
            Position::after_partition(DecoratedKey { token, key }, command.reversed)
        }
    }
}

/// The row of a client in `system_views.clients`; none before it has said who it is, as with Cassandra.
fn client(client: &ConnectionSnapshot) -> Option<Row> {
    let version = client.version?;
    let address = client.address.ip().to_canonical();
    // Nobody waits for a name service: as with a Cassandra that finds none, an address is its own name.
    let hostname = match address {
        IpAddr::V4(address) if address.is_loopback() => "localhost".to_owned(),
        IpAddr::V6(address) if address.is_loopback() => "localhost".to_owned(),
        address => address.to_string(),
    };
    let options: BTreeMap<&str, &str> = client
        .options
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let options = options
        .into_iter()
        .map(|(name, value)| (text(name), Some(text(value))));
    let requests = i64::try_from(client.requests).unwrap_or(i64::MAX);
    let mut row = vec![
        ("address", Value::Inet(address)),
        ("port", Value::Int(client.address.port().into())),
        ("client_options", Value::Map(options.collect())),
        ("connection_stage", text(client.stage.name())),
        ("hostname", text(&hostname)),
        ("protocol_version", Value::Int(version.as_u8().into())),
        ("request_count", Value::BigInt(requests)),
        ("ssl_enabled", Value::Boolean(client.tls.is_some())),
        (
            "username",
            text(client.user.as_deref().unwrap_or("anonymous")),
        ),
    ];
    let tls = client.tls.as_deref();
    let known = [
        ("driver_name", client.option(Startup::DRIVER_NAME)),
        ("driver_version", client.option(Startup::DRIVER_VERSION)),
        ("keyspace_name", client.keyspace.as_deref()),
        ("ssl_cipher_suite", tls.map(|tls| &*tls.cipher_suite)),
        ("ssl_protocol", tls.map(|tls| &*tls.protocol)),
    ];
    let known = known.into_iter();
    row.extend(known.filter_map(|(name, value)| Some((name, text(value?)))));
    Some(row)
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}
