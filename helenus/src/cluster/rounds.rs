//! Rounds of Paxos as bytes: partitions, ballots, proposals and promises.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use helenus_coordinator::{Ballot, NodeId, Promise, Proposal};
use helenus_core::wire::{Reader, WireWrite};
use helenus_engine::schema::{Schema, TableId};
use helenus_engine::storage::Mutation;

use super::message::{Unreadable, mutation};
use super::model::{EngineModel, Partition};

pub(super) fn put_partition(out: &mut BytesMut, partition: &Partition) {
    out.put_u128(partition.table.as_u128());
    out.put_bytes_field(Some(&partition.key));
}

pub(super) fn partition(reader: &mut Reader<'_>) -> Result<Partition, Unreadable> {
    Ok(Partition {
        table: TableId::from_u128(reader.uuid()?.as_u128()),
        key: Bytes::copy_from_slice(reader.bytes()?.unwrap_or_default()),
    })
}

pub(super) fn put_ballot(out: &mut BytesMut, ballot: Ballot) {
    out.put_i64(ballot.micros);
    out.put_u16(ballot.node.0);
    out.put_u16(ballot.random);
}

pub(super) fn ballot(reader: &mut Reader<'_>) -> Result<Ballot, Unreadable> {
    Ok(Ballot {
        micros: reader.long()?,
        node: NodeId(reader.short()?),
        random: reader.short()?,
    })
}

pub(super) fn put_proposal(out: &mut BytesMut, proposal: &Proposal<EngineModel>) {
    put_ballot(out, proposal.ballot);
    let change = proposal.mutation.as_deref().map(mutation);
    out.put_bytes_field(change.as_deref());
}

pub(super) fn proposal(
    schema: &Schema,
    reader: &mut Reader<'_>,
) -> Result<Proposal<EngineModel>, Unreadable> {
    let ballot = ballot(reader)?;
    let mutation = match reader.bytes()? {
        Some(bytes) => Some(Arc::new(Mutation::decode(schema, bytes)?)),
        None => None,
    };
    Ok(Proposal { ballot, mutation })
}

/// Whether a replica agrees, or which later ballot it has seen.
pub(super) fn put_verdict(out: &mut BytesMut, verdict: Result<(), Ballot>) {
    out.put_u8(verdict.is_ok().into());
    if let Err(later) = verdict {
        put_ballot(out, later);
    }
}

pub(super) fn verdict(reader: &mut Reader<'_>) -> Result<Result<(), Ballot>, Unreadable> {
    match reader.u8()? {
        1 => Ok(Ok(())),
        _ => ballot(reader).map(Err),
    }
}

pub(super) fn put_promise(out: &mut BytesMut, promise: &Promise<EngineModel>) {
    put_verdict(out, promise.promised);
    for known in [&promise.accepted, &promise.committed] {
        out.put_u8(known.is_some().into());
        if let Some(proposal) = known {
            put_proposal(out, proposal);
        }
    }
}

pub(super) fn promise(
    schema: &Schema,
    reader: &mut Reader<'_>,
) -> Result<Promise<EngineModel>, Unreadable> {
    let promised = verdict(reader)?;
    let mut known = || match reader.u8()? {
        1 => proposal(schema, reader).map(Some),
        _ => Ok(None),
    };
    Ok(Promise {
        promised,
        accepted: known()?,
        committed: known()?,
    })
}

#[cfg(test)]
mod tests {
    use helenus_core::types::Value;
    use helenus_engine::system::{NodeInfo, writer};
    use uuid::Uuid;

    use super::*;

    fn at(micros: i64) -> Ballot {
        Ballot {
            micros,
            node: NodeId(2),
            random: 7,
        }
    }

    #[test]
    fn promises_survive_encoding_and_not_being_cut() {
        let (schema, _) = Schema::bootstrap(&NodeInfo::default(), 0);
        let table = schema.table("system_traces", "sessions").unwrap();
        let row = [("session_id", Value::Uuid(Uuid::from_u128(1)))];
        let change = Arc::new(writer::insert(table, 5, &row));
        let proposal = |micros, mutation| Proposal {
            ballot: at(micros),
            mutation,
        };
        for promise in [
            Promise {
                promised: Ok(()),
                accepted: None,
                committed: Some(proposal(3, Some(change))),
            },
            Promise {
                promised: Err(at(9)),
                accepted: Some(proposal(8, None)),
                committed: None,
            },
        ] {
            let mut bytes = BytesMut::new();
            put_promise(&mut bytes, &promise);
            let read = |bytes: &[u8]| super::promise(&schema, &mut Reader::new(bytes));
            let again = read(&bytes).unwrap();
            assert_eq!(format!("{again:?}"), format!("{promise:?}"));
            for cut in 0..bytes.len() {
                assert!(read(&bytes[..cut]).is_err(), "{cut}");
            }
        }
    }
}
