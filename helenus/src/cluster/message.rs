//! What nodes say to each other, as bytes: a byte for the kind, whose call it belongs to, and what the kind has.

use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use helenus_coordinator::{CallId, FailureReason, Reply, Request};
use helenus_core::wire::{DecodeError, Reader, WireWrite};
use helenus_engine::readers::ReadCommand;
use helenus_engine::replica::{Digest, EncodingError};
use helenus_engine::schema::Schema;
use helenus_engine::storage::Mutation;
use uuid::Uuid;

use super::model::EngineModel;
use super::rounds;
use super::schema::Change;

/// Which request to a replica of which coordination; an answer repeats it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call {
    /// The coordination, by a number that its node doesn't use again.
    pub(crate) coordination: u64,
    /// The call within it.
    pub(crate) call: CallId,
}

impl Call {
    /// Nobody waits for the answer.
    pub(crate) const NONE: Self = Self {
        coordination: 0,
        call: CallId(0),
    };
}

/// A message, read.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "looked at where it was read, and taken apart"
)]
pub(crate) enum Message {
    /// A replica is asked.
    Ask(Call, Request<EngineModel>),
    /// It answers.
    Answer(Call, Reply<EngineModel>),
    /// It answers with data: who asked knows what for, and reads them.
    Data(Call, Bytes),
    /// It can't.
    Failed(Call, FailureReason),
    /// The first node is asked to put a change of the schema in order.
    Define(Change),
    /// It found nothing to change.
    Needless([u8; 16]),
    /// Changes of the schema, in order.
    Changes(Vec<Change>),
    /// The version of the schema that the sender has.
    Version(Uuid),
}

/// Why a message can't be read.
#[derive(Debug)]
pub(crate) struct Unreadable {
    /// Whose call it is, if it asks a replica something: it is owed an answer.
    pub(crate) asked: Option<Call>,
    /// What is said of it.
    pub(crate) reason: FailureReason,
}

impl From<DecodeError> for Unreadable {
    fn from(_: DecodeError) -> Self {
        Self {
            asked: None,
            reason: FailureReason::UNKNOWN,
        }
    }
}

impl From<EncodingError> for Unreadable {
    fn from(error: EncodingError) -> Self {
        let reason = match error {
            EncodingError::UnknownTable(_) | EncodingError::UnknownColumn(_) => {
                FailureReason::INCOMPATIBLE_SCHEMA
            }
            _ => FailureReason::UNKNOWN,
        };
        Self {
            asked: None,
            reason,
        }
    }
}

const READ: u8 = 1;
const READ_DIGEST: u8 = 2;
const WRITE: u8 = 3;
const REPAIR: u8 = 4;
const TRUNCATE: u8 = 5;
const PREPARE: u8 = 6;
const PROPOSE: u8 = 7;
const COMMIT: u8 = 8;
const STORE_BATCH: u8 = 9;
const REMOVE_BATCH: u8 = 10;
const COUNTER_WRITE: u8 = 11;
const DATA: u8 = 32;
const DIGEST: u8 = 33;
const DONE: u8 = 34;
const FAILED: u8 = 35;
const PROMISE: u8 = 36;
const ACCEPTED: u8 = 37;
const DEFINE: u8 = 64;
const NEEDLESS: u8 = 65;
const CHANGES: u8 = 66;
const VERSION: u8 = 67;

/// The kind and the call.
const HEAD: usize = 1 + 8 + 8;

/// The highest kind that asks a replica something.
const LAST_ASKED: u8 = DATA - 1;

fn begin(kind: u8, call: Call) -> BytesMut {
    let mut out = BytesMut::with_capacity(128);
    out.put_u8(kind);
    out.put_u64(call.coordination);
    out.put_u64(call.call.0);
    out
}

/// A mutation, encoded as requests and hints have it.
pub(crate) fn mutation(mutation: &Mutation) -> Bytes {
    let mut out = BytesMut::new();
    mutation.encode(&mut out);
    out.freeze()
}

/// The request to apply an encoded mutation.
pub(crate) fn write(call: Call, mutation: &[u8]) -> Bytes {
    let mut out = begin(WRITE, call);
    out.put_slice(mutation);
    out.freeze()
}

/// A request to a replica; `None` if replicas aren't asked such.
pub(crate) fn ask(call: Call, request: &Request<EngineModel>) -> Option<Bytes> {
    let mut out;
    match request {
        Request::Read { command, digest } => {
            out = begin(if *digest { READ_DIGEST } else { READ }, call);
            command.encode(&mut out);
        }
        Request::Write { mutation } => {
            out = begin(WRITE, call);
            mutation.encode(&mut out);
        }
        Request::Repair { mutation } => {
            out = begin(REPAIR, call);
            mutation.encode(&mut out);
        }
        Request::Truncate { table } => {
            out = begin(TRUNCATE, call);
            out.put_u128(*table);
        }
        Request::CounterWrite {
            mutation,
            consistency,
            timeout,
        } => {
            out = begin(COUNTER_WRITE, call);
            out.put_consistency(*consistency);
            out.put_i64(i64::try_from(timeout.as_micros()).unwrap_or(i64::MAX));
            mutation.encode(&mut out);
        }
        Request::Prepare { partition, ballot } => {
            out = begin(PREPARE, call);
            rounds::put_partition(&mut out, partition);
            rounds::put_ballot(&mut out, *ballot);
        }
        Request::Propose {
            partition,
            proposal,
        } => {
            out = begin(PROPOSE, call);
            rounds::put_partition(&mut out, partition);
            rounds::put_proposal(&mut out, proposal);
        }
        Request::Commit {
            partition,
            proposal,
        } => {
            out = begin(COMMIT, call);
            rounds::put_partition(&mut out, partition);
            rounds::put_proposal(&mut out, proposal);
        }
        Request::StoreBatch { id, mutations } => {
            out = begin(STORE_BATCH, call);
            out.put_u128(*id);
            for each in mutations {
                out.put_bytes_field(Some(&mutation(each)));
            }
        }
        Request::RemoveBatch { id } => {
            out = begin(REMOVE_BATCH, call);
            out.put_u128(*id);
        }
        _ => return None,
    }
    Some(out.freeze())
}

/// An answer of a replica; `None` if it is none that replicas give.
pub(crate) fn answer(call: Call, reply: &Reply<EngineModel>) -> Option<Bytes> {
    let mut out;
    match reply {
        Reply::Data(data) => {
            out = begin(DATA, call);
            data.encode(&mut out);
        }
        Reply::Digest(digest) => {
            out = begin(DIGEST, call);
            out.put_u128(digest.0);
        }
        Reply::Done => out = begin(DONE, call),
        Reply::Promise(promise) => {
            out = begin(PROMISE, call);
            rounds::put_promise(&mut out, promise);
        }
        Reply::Accepted(accepted) => {
            out = begin(ACCEPTED, call);
            rounds::put_verdict(&mut out, *accepted);
        }
        _ => return None,
    }
    Some(out.freeze())
}

/// That a replica can't do what it was asked.
pub(crate) fn failed(call: Call, reason: FailureReason) -> Bytes {
    let mut out = begin(FAILED, call);
    out.put_u16(reason.0);
    out.freeze()
}

/// [`Message::Define`]
pub(crate) fn define(change: &Change) -> Bytes {
    let mut out = begin(DEFINE, Call::NONE);
    change.encode(&mut out);
    out.freeze()
}

/// [`Message::Needless`]
pub(crate) fn needless(random: [u8; 16]) -> Bytes {
    let mut out = begin(NEEDLESS, Call::NONE);
    out.put_slice(&random);
    out.freeze()
}

/// [`Message::Changes`]
pub(crate) fn changes(changes: &[Change]) -> Bytes {
    let mut out = begin(CHANGES, Call::NONE);
    for change in changes {
        change.encode(&mut out);
    }
    out.freeze()
}

/// [`Message::Version`]
pub(crate) fn version(version: Uuid) -> Bytes {
    let mut out = begin(VERSION, Call::NONE);
    out.put_slice(version.as_bytes());
    out.freeze()
}

/// Reads a message, for the tables of this schema.
pub(crate) fn read(schema: &Schema, bytes: &Bytes) -> Result<Message, Unreadable> {
    let mut reader = Reader::new(bytes);
    let kind = reader.u8()?;
    let call = Call {
        coordination: reader.long()?.cast_unsigned(),
        call: CallId(reader.long()?.cast_unsigned()),
    };
    read_body(schema, kind, call, &mut reader, bytes).map_err(|mut unreadable| {
        unreadable.asked = (kind <= LAST_ASKED).then_some(call);
        unreadable
    })
}

fn read_body(
    schema: &Schema,
    kind: u8,
    call: Call,
    reader: &mut Reader<'_>,
    bytes: &Bytes,
) -> Result<Message, Unreadable> {
    let rest = reader.remaining();
    Ok(match kind {
        READ | READ_DIGEST => {
            let command = ReadCommand::decode(schema, rest)?;
            let request = Request::Read {
                command: Arc::new(command),
                digest: kind == READ_DIGEST,
            };
            Message::Ask(call, request)
        }
        WRITE | REPAIR => {
            let mutation = Arc::new(Mutation::decode(schema, rest)?);
            let request = match kind {
                WRITE => Request::Write { mutation },
                _ => Request::Repair { mutation },
            };
            Message::Ask(call, request)
        }
        TRUNCATE => {
            let table = reader.uuid()?.as_u128();
            Message::Ask(call, Request::Truncate { table })
        }
        COUNTER_WRITE => {
            let consistency = reader.consistency()?;
            let timeout = Duration::from_micros(reader.long()?.unsigned_abs());
            let mutation = Arc::new(Mutation::decode(schema, reader.remaining())?);
            let request = Request::CounterWrite {
                mutation,
                consistency,
                timeout,
            };
            Message::Ask(call, request)
        }
        PREPARE => {
            let partition = rounds::partition(reader)?;
            let ballot = rounds::ballot(reader)?;
            Message::Ask(call, Request::Prepare { partition, ballot })
        }
        PROPOSE | COMMIT => {
            let partition = rounds::partition(reader)?;
            let proposal = rounds::proposal(schema, reader)?;
            let request = match kind {
                PROPOSE => Request::Propose {
                    partition,
                    proposal,
                },
                _ => Request::Commit {
                    partition,
                    proposal,
                },
            };
            Message::Ask(call, request)
        }
        STORE_BATCH => {
            let id = reader.uuid()?.as_u128();
            let mut mutations = Vec::new();
            while !reader.is_empty() {
                let bytes = reader.bytes()?.unwrap_or_default();
                mutations.push(Arc::new(Mutation::decode(schema, bytes)?));
            }
            Message::Ask(call, Request::StoreBatch { id, mutations })
        }
        REMOVE_BATCH => {
            let id = reader.uuid()?.as_u128();
            Message::Ask(call, Request::RemoveBatch { id })
        }
        PROMISE => {
            let promise = rounds::promise(schema, reader)?;
            Message::Answer(call, Reply::Promise(promise))
        }
        ACCEPTED => Message::Answer(call, Reply::Accepted(rounds::verdict(reader)?)),
        DATA => Message::Data(call, bytes.slice(HEAD..)),
        DIGEST => {
            let digest = Digest(reader.uuid()?.as_u128());
            Message::Answer(call, Reply::Digest(digest))
        }
        DONE => Message::Answer(call, Reply::Done),
        FAILED => Message::Failed(call, FailureReason(reader.short()?)),
        DEFINE => Message::Define(Change::decode(reader)?),
        NEEDLESS => Message::Needless(reader.uuid()?.into_bytes()),
        CHANGES => {
            let mut changes = Vec::new();
            while !reader.is_empty() {
                changes.push(Change::decode(reader)?);
            }
            Message::Changes(changes)
        }
        VERSION => Message::Version(reader.uuid()?),
        _ => {
            return Err(Unreadable {
                asked: None,
                reason: FailureReason::UNKNOWN,
            });
        }
    })
}
