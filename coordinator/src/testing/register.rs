//! The least store there is: one number with a timestamp, of which the later one wins.

use crate::message::{Reply, Request};
use crate::model::{Model, Reconciled};
use crate::node::NodeId;
use crate::ring::TokenRange;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Register;

/// A number, and when it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Cell {
    pub(crate) micros: i64,
    pub(crate) value: u64,
}

impl Model for Register {
    type Command = ();
    type Mutation = Cell;
    type Partition = ();
    type Data = Cell;
    type Digest = Cell;

    fn digest(data: &Cell) -> Cell {
        *data
    }

    fn reconcile((): &(), answers: &[(NodeId, Cell)]) -> Reconciled<Self> {
        let data = answers
            .iter()
            .map(|(_, data)| *data)
            .max()
            .unwrap_or_default();
        let behind = answers.iter().filter(|(_, known)| *known != data);
        Reconciled {
            data,
            repairs: behind.map(|(node, _)| (*node, data)).collect(),
            short: Vec::new(),
        }
    }

    fn narrow((): &(), _: TokenRange, _: u32) {}

    fn rows(_: &Cell) -> u32 {
        1
    }

    fn append(_: &mut Cell, _: Cell) {}
}

/// A replica of it, with its side of Paxos.
#[derive(Debug, Clone, Default)]
pub(crate) struct Replica {
    pub(crate) cell: Cell,
    pub(crate) acceptor: crate::Acceptor<Register>,
}

impl Replica {
    pub(crate) fn apply(&mut self, cell: Cell) {
        self.cell = self.cell.max(cell);
    }

    /// What it answers.
    pub(crate) fn ask(&mut self, request: Request<Register>) -> Reply<Register> {
        match request {
            Request::Read { digest: false, .. } => Reply::Data(self.cell),
            Request::Read { digest: true, .. } => Reply::Digest(self.cell),
            Request::Write { mutation } | Request::Repair { mutation } => {
                self.apply(mutation);
                Reply::Done
            }
            Request::Prepare { ballot, .. } => Reply::Promise(self.acceptor.prepare(ballot).reply),
            Request::Propose { proposal, .. } => {
                let reply = self.acceptor.propose(proposal).reply;
                Reply::Accepted(reply.expect("nothing this old is proposed"))
            }
            Request::Commit { proposal, .. } => {
                if let Some(cell) = self.acceptor.commit(proposal).reply {
                    self.apply(cell);
                }
                Reply::Done
            }
            _ => Reply::Done,
        }
    }
}
