//! The steps of rounds that are being traced, in Cassandra's words but for the ballots.

use std::fmt;

/// A step of a conditional write or a serial read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PaxosStep {
    /// A round begins.
    Preparing,
    /// Another round came first.
    Refused,
    /// A proposal is left that another coordinator may not have seen through.
    Finishing,
    /// Replicas missed the last commit.
    CatchingUp,
    /// The data that the condition is about is read.
    Reading,
    /// The condition is met.
    Met,
    /// It isn't.
    NotMet,
    /// Another round came before the proposal.
    NotAccepted,
    /// The write is decided, and as many replicas have it as its level needs.
    Applied,
    /// The write is refused.
    NotApplied,
}

impl fmt::Display for PaxosStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PaxosStep::Preparing => "Preparing",
            PaxosStep::Refused => {
                "Some replicas have already promised a higher ballot than ours; aborting"
            }
            PaxosStep::Finishing => "Finishing incomplete paxos round",
            PaxosStep::CatchingUp => "Repairing replicas that missed the most recent commit",
            PaxosStep::Reading => "Reading existing values for CAS precondition",
            PaxosStep::Met => "CAS precondition is met; proposing client-requested updates",
            PaxosStep::NotMet => "CAS precondition does not match current values",
            PaxosStep::NotAccepted => "Paxos proposal not accepted (pre-empted by a higher ballot)",
            PaxosStep::Applied => "CAS applied successfully",
            PaxosStep::NotApplied => "CAS did not apply",
        })
    }
}
