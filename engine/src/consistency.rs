//! What each consistency level asks of the replicas, of which a node by itself has one. Answers to Cassandra's
//! `ConsistencyLevel`. Among several nodes whoever coordinates a request knows how many are alive, and counts.

use helenus_core::{Consistency, ErrorResponse};

use crate::guardrails::Guard;
use crate::schema::Keyspace;

/// What a request does with the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A write of counters.
    CounterWrite,
    /// A write within a batch.
    BatchWrite,
    /// A conditional write, whose Paxos rounds have a level of their own.
    Conditional,
}

/// The level at which neighbours of a vector are searched, whatever was asked for, of which the client is told.
pub(crate) fn nearest_level(
    asked: Consistency,
    guard: &mut Guard<'_>,
) -> Result<Consistency, ErrorResponse> {
    const NEEDED: &str = "Top-K queries can only be run with consistency level";
    if [Consistency::ONE, Consistency::LOCAL_ONE, NODE_LOCAL].contains(&asked) {
        return Ok(asked);
    }
    if is_serial(asked) {
        return Err(ErrorResponse::invalid(format!(
            "{NEEDED} ONE/LOCAL_ONE. Consistency level {asked} was used."
        )));
    }
    guard.warn(format!(
        "{NEEDED} ONE / LOCAL_ONE / NODE_LOCAL. Consistency level {asked} was requested. Downgrading the consistency level \
         to ONE."
    ));
    Ok(Consistency::ONE)
}

/// Refuses a level that this kind of request may not have, or that the keyspace's replicas can't meet on so many nodes.
pub(crate) fn check(
    nodes: usize,
    keyspace: &Keyspace,
    table: &str,
    access: Access,
    consistency: Consistency,
    serial: Option<Consistency>,
) -> Result<(), ErrorResponse> {
    let mut level = consistency;
    if level == NODE_LOCAL {
        return Err(ErrorResponse::invalid(
            "NODE_LOCAL consistency level is highly dangerous and should be used only for debugging purposes",
        ));
    }
    match access {
        Access::Read => {
            if level == Consistency::ANY {
                return Err(ErrorResponse::invalid(
                    "ANY ConsistencyLevel is only supported for writes",
                ));
            }
            // A serial read makes its rounds at a quorum.
            if level == Consistency::SERIAL {
                level = Consistency::QUORUM;
            } else if level == Consistency::LOCAL_SERIAL {
                level = Consistency::LOCAL_QUORUM;
            }
        }
        Access::Write | Access::CounterWrite if is_serial(level) => {
            return Err(ErrorResponse::invalid(
                "You must use conditional updates for serializable writes",
            ));
        }
        Access::CounterWrite if level == Consistency::ANY => {
            return Err(ErrorResponse::invalid(format!(
                "Consistency level ANY is not yet supported for counter table {table}"
            )));
        }
        Access::Conditional => {
            let serial = serial.unwrap_or(Consistency::SERIAL);
            if !is_serial(serial) {
                return Err(ErrorResponse::invalid(
                    "Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL",
                ));
            }
            let rounds = if serial == Consistency::SERIAL {
                Consistency::QUORUM
            } else {
                Consistency::LOCAL_QUORUM
            };
            require(nodes, keyspace, rounds)?;
            if is_serial(level) || level == Consistency::ANY {
                return Ok(());
            }
        }
        Access::Write | Access::CounterWrite | Access::BatchWrite => {}
    }
    require(nodes, keyspace, level)
}

/// `NODE_LOCAL`, which no client should ask for.
const NODE_LOCAL: Consistency = Consistency(0x000B);

fn is_serial(level: Consistency) -> bool {
    level == Consistency::SERIAL || level == Consistency::LOCAL_SERIAL
}

fn require(nodes: usize, keyspace: &Keyspace, level: Consistency) -> Result<(), ErrorResponse> {
    if nodes > 1 {
        return Ok(());
    }
    let replicas = keyspace.replication.replicas();
    let quorum = replicas / 2 + 1;
    let required = match level {
        Consistency::TWO => 2,
        Consistency::THREE => 3,
        Consistency::QUORUM | Consistency::LOCAL_QUORUM | Consistency::EACH_QUORUM => quorum,
        Consistency::ALL => replicas,
        _ => 1,
    };
    let alive = replicas.min(1);
    if required > alive {
        return Err(ErrorResponse::unavailable(level, required, alive));
    }
    Ok(())
}
