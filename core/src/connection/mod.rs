//! The state machines of a connection, one for each of its ends: [`ServerConnection`] and
//! [`ClientConnection`].
//!
//! The server's answers the handshake by itself, lends requests out, and keeps to the [`Limits`] of what a peer may
//! make it hold.
//!
//! It answers as Apache Cassandra 5.0.4 does, byte for byte where clients look, except where that server
//! loses requests or contradicts itself:
//!
//! | what comes | Cassandra | here |
//! |---|---|---|
//! | v3, v4: an opcode that is unknown or a response's; a response bit; the beta version without its flag | an ERROR, and then nothing but that ERROR | an ERROR; the envelope is consumed and the next one read |
//! | v3, v4: a negative body length | open, and deaf | an ERROR, and closed |
//! | an unsupported version | what was read so far is dropped, whatever it was | the envelope is passed over; closed if its length makes no sense |
//! | a request behind STARTUP in the same read | lost | answered |
//! | v5: a STARTUP refused for its `CQL_VERSION` | the client must go on in segments | it may try again, as after other refusals |
//! | an envelope cut within its header by a segment's end, or an empty segment that is not self-contained | an ERROR without end | put together; ignored |
//! | several envelopes in segments that are not self-contained | swallowed | answered |
//! | v5, lz4: a block that gives fewer bytes than its segment's header says | what is missing is read as an envelope, and answered without end | 0x000A; the next segment is read |
//! | a self-contained segment that ends within an envelope | an ERROR without end | an ERROR on its stream; the next segment is read |
//! | a self-contained segment amidst a message of several | the message is dropped | an ERROR on its stream |
//! | lz4 bytes that don't decompress; cut numbers; opcodes above 0x7F; bytes longer than its memory | 0x0000 and the text of a Java exception | 0x000A |
//! | text that is no UTF-8 | 0x000A, all of the text in hex, and the text of a Java exception | 0x000A without them |
//! | QUERY flags of v5 in v3 and v4 | a keyspace is read where none was sent | the undefined flag is ignored |
//! | OPTIONS with the payload flag and no payload | 0x0000 and the text of a Java exception | SUPPORTED |
//! | AUTH_RESPONSE with a null token after READY, without authentication | 0x0000 and the text of a Java exception | AUTH_SUCCESS, as for other tokens |
//! | AUTH_RESPONSE with a null token, or one of a negative length, with authentication | 0x0000 and the text of a Java exception | 0x0100, as for an empty token |

mod client;
mod config;
mod event;
mod exchange;
mod handshake;
mod limits;
mod request;
mod responder;
mod server;
mod stats;
mod subscriptions;
mod ticket;
mod transmit;

pub use crate::streams::CallId;
pub use client::{
    Answer, CallError, CallOptions, Challenge, ClientConfig, ClientConnection, ClientError,
    ClientEvent, ClientLimits, ClientNext, ClientStats, Notice, Owner, Retry, SendRefused,
};
pub use config::ServerConfig;
pub use event::{Event, Next, Progress};
pub use handshake::ClientOptions;
pub use limits::Limits;
pub use request::{AuthToken, Request};
pub use responder::{Outbox, Reply, Responder};
pub use server::ServerConnection;
pub use stats::{ErrorCodeCounts, ErrorCounts, OpcodeCounts, Stats};
pub use ticket::RequestTicket;
pub use transmit::Transmit;
