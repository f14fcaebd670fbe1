//! The targets: functions of bytes that return, or panic with a finding.

mod client;
mod compression;
mod cql;
mod forward;
mod messages;
mod replica;
mod server;
mod types;

pub(crate) use replica::messages as replica_messages;
pub(crate) use server::client_bytes;

/// A fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// What it feeds, and what must hold.
    pub about: &'static str,
    /// Returns, or panics with a finding.
    pub run: fn(&[u8]),
    /// What means something in its inputs.
    pub words: &'static [&'static [u8]],
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "server",
        about: "a client's bytes, the caller's doings between: no panic, no loop, readable output, an end",
        run: server::server,
        words: &[
            b"CQL_VERSION",
            b"COMPRESSION",
            b"THROW_ON_OVERLOAD",
            b"SCHEMA_CHANGE",
        ],
    },
    Target {
        name: "chunking",
        about: "a client's bytes whole and cut: the same requests, answers and errors",
        run: server::chunking,
        words: &[b"CQL_VERSION", b"COMPRESSION", b"lz4", b"snappy"],
    },
    Target {
        name: "client",
        about: "a server's bytes, the caller's doings between: no panic, no loop, and one end to every call",
        run: client::client,
        words: &[b"COMPRESSION", b"SCHEMA_CHANGE", b"UPDATED"],
    },
    Target {
        name: "client_chunking",
        about: "a server's bytes whole and cut: the same events",
        run: client::chunking,
        words: &[b"COMPRESSION", b"SCHEMA_CHANGE", b"UPDATED"],
    },
    Target {
        name: "forward",
        about: "messages to another version and back: the same meaning",
        run: forward::forward,
        words: &[],
    },
    Target {
        name: "requests",
        about: "a request's body: decoded, encoded, decoded to the same",
        run: messages::requests,
        words: &[],
    },
    Target {
        name: "responses",
        about: "a response's body and the cells of its rows: decoded, encoded, decoded to the same",
        run: messages::responses,
        words: &[],
    },
    Target {
        name: "segments",
        about: "segment headers and payloads: round trip, and every damaged bit is found",
        run: compression::segments,
        words: &[],
    },
    Target {
        name: "decompression",
        about: "lz4 and snappy: bounded whatever comes, round trip of what is good",
        run: compression::decompression,
        words: &[],
    },
    Target {
        name: "class_names",
        about: "class names of types: parsed, named, parsed to the same",
        run: types::class_names,
        words: &[
            b"org.apache.cassandra.db.marshal.",
            b"ListType(",
            b"UserType(ks,6e616d65,",
            b"VectorType(FloatType , 3)",
            b"FrozenType(",
            b"CompositeType(",
            b"DynamicCompositeType(a=>LongType)",
            b"ReversedType(",
        ],
    },
    Target {
        name: "values",
        about: "a type's descriptor and a value of it: decoded, encoded, decoded to the same",
        run: types::values,
        words: &[],
    },
    Target {
        name: "replica",
        about: "what replicas tell each other: decoded, used, reconciled, encoded to the same",
        run: replica::replica,
        words: &[],
    },
    Target {
        name: "cql",
        about: "CQL statements, one a line, to their results in an engine with a few tables",
        run: cql::cql,
        words: &[
            b"SELECT ",
            b"DISTINCT ",
            b"JSON ",
            b" FROM k.t ",
            b" WHERE ",
            b" AND ",
            b" IN (",
            b" LIMIT ",
            b" ALLOW FILTERING",
            b" ORDER BY ",
            b" DESC",
            b" GROUP BY ",
            b"PER PARTITION LIMIT ",
            b"INSERT INTO k.t (p, c, v) VALUES (1, 2, ",
            b" IF NOT EXISTS",
            b" USING TTL ",
            b" TIMESTAMP ",
            b"UPDATE k.t SET ",
            b"DELETE ",
            b"BEGIN BATCH ",
            b"APPLY BATCH",
            b"CREATE TABLE ",
            b"PRIMARY KEY ",
            b"WITH CLUSTERING ORDER BY ",
            b"CREATE INDEX ON k.t (v)",
            b"ALTER TABLE k.t ADD ",
            b"DROP ",
            b"TRUNCATE ",
            b"USE ",
            b"DESCRIBE ",
            b"token(",
            b"CAST(v AS ",
            b"writetime(",
            b"count(*)",
            b"toJson(",
            b"CONTAINS KEY ",
            b" = ?",
            b"frozen<",
            b"map<text, int>",
            b"0x",
            b"-1",
            b"'",
            b"\"",
            b"$$",
            b"now()",
            b"{'a': 1}",
            b"[1, 2]",
            b"(1, 'x')",
            b"P1Y2M3DT4H5M6S",
            b"NaN",
            b"null",
            b"\n",
        ],
    },
];

/// The target of this name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
