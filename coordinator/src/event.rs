//! The steps of a request that is being traced, in the words of Apache Cassandra's traces.

use std::fmt;

use crate::node::NodeId;
use crate::paxos::PaxosStep;
use crate::ring::Ring;

/// A step of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A replica is asked for data in full.
    ReadingData(NodeId),
    /// A replica is asked for the digest of its data.
    ReadingDigest(NodeId),
    /// Another replica is asked, for those that were asked take long.
    Speculating(NodeId),
    /// The replicas don't agree.
    DigestMismatch,
    /// A replica is asked for its data in full because they don't agree.
    ReadingFull(NodeId),
    /// Another replica is asked for its data in full.
    ReadingFullSpeculatively(NodeId),
    /// A replica is asked further, for the limit cut its answer.
    ReadingFurther(NodeId),
    /// A replica is sent what it lacks.
    Repairing(NodeId),
    /// Another replica is sent what one lacks that doesn't confirm it.
    RepairingSpeculatively(NodeId),
    /// Confirmations of what replicas lacked didn't come in time.
    RepairTimedOut {
        /// How many had to come.
        required: u16,
    },
    /// Too few replicas answered in time, or too many failed.
    ReadEnded {
        /// Whether any failed.
        failed: bool,
        /// How many answered.
        received: u16,
        /// How many had to.
        required: u16,
        /// Whether one of them answered with data in full.
        data_present: bool,
    },
    /// A conditional write or a serial read has come so far.
    Paxos(PaxosStep),
    /// A read of a range of tokens begins.
    ReadingRanges {
        /// How many ranges have replicas of their own.
        ranges: u32,
        /// How many of them are read at once.
        concurrency: u32,
    },
    /// A replica is asked for a range.
    ReadingRange(NodeId),
    /// So many ranges are being read.
    RangesSubmitted(u32),
    /// The ranges gave nothing; so many are read at once from now on.
    NoRowsYet {
        /// How many.
        concurrency: u32,
    },
}

impl Event {
    /// The step as Cassandra's traces say it, with the nodes' addresses.
    pub fn display(self, ring: &Ring) -> impl fmt::Display {
        Shown(self, ring)
    }
}

struct Shown<'a>(Event, &'a Ring);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown(event, ring) = self;
        match *event {
            Event::ReadingData(node) => write!(f, "reading data from {}", ring.shown(node)),
            Event::ReadingDigest(node) => write!(f, "reading digest from {}", ring.shown(node)),
            Event::Speculating(node) => {
                write!(f, "speculating read retry on {}", ring.shown(node))
            }
            Event::Paxos(step) => write!(f, "{step}"),
            Event::DigestMismatch => f.write_str("Digest mismatch"),
            Event::ReadingFull(node) => {
                write!(f, "Enqueuing full data read to {}", ring.shown(node))
            }
            Event::ReadingFullSpeculatively(node) => {
                write!(
                    f,
                    "Enqueuing speculative full data read to {}",
                    ring.shown(node)
                )
            }
            Event::ReadingFurther(node) => write!(
                f,
                "Requesting extra rows from {} for short read protection",
                ring.shown(node)
            ),
            Event::Repairing(node) => {
                write!(f, "Sending read-repair-mutation to {}", ring.shown(node))
            }
            Event::RepairingSpeculatively(node) => write!(
                f,
                "Sending speculative read-repair-mutation to {}",
                ring.shown(node)
            ),
            Event::RepairTimedOut { required } => write!(
                f,
                "Timed out while read-repairing after receiving all {required} data and digest responses"
            ),
            Event::ReadEnded {
                failed,
                received,
                required,
                data_present,
            } => {
                let what = if failed { "Failed" } else { "Timed out" };
                let got = match (received, data_present) {
                    (0, _) => "",
                    (_, true) => " (including data)",
                    (_, false) => " (only digests)",
                };
                write!(
                    f,
                    "{what}; received {received} of {required} responses{got}"
                )
            }
            Event::ReadingRanges {
                ranges,
                concurrency,
            } => write!(
                f,
                "Submitting range requests on {ranges} ranges with a concurrency of {concurrency}"
            ),
            Event::ReadingRange(node) => write!(f, "Enqueuing request to {}", ring.shown(node)),
            Event::RangesSubmitted(count) => {
                write!(f, "Submitted {count} concurrent range requests")
            }
            Event::NoRowsYet { concurrency } => write!(
                f,
                "Didn't get any response rows; new concurrent requests: {concurrency}"
            ),
        }
    }
}

#[cfg(test)]
mod tests;
