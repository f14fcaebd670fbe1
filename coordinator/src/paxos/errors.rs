//! What a client is told of rounds that didn't end well: Cassandra's `CasWriteTimeoutException`, `CasWriteUnknownResultException`
//! and what serial reads make of them.

use helenus_core::message::WriteType;

use super::Paxos;
use crate::failure::{Failure, FailureReason, FailureReasonMap};
use crate::model::Model;

impl<M: Model> Paxos<M> {
    pub(super) fn timed_out(&self, received: u16, required: u16) -> Failure {
        Failure::WriteTimeout {
            level: self.plan.level,
            received,
            required,
            write_type: WriteType::CAS,
            contentions: Some(self.contentions),
        }
    }

    /// Too many replicas failed to promise.
    pub(super) fn failed(&self, received: u16, reasons: FailureReasonMap) -> Failure {
        if are_timeouts(&reasons) {
            return self.timed_out(received, self.plan.required);
        }
        Failure::WriteFailure {
            level: self.plan.level,
            received,
            required: self.plan.required,
            write_type: WriteType::CAS,
            reasons,
        }
    }

    /// A proposal that not enough accepted, and that isn't refused by all either.
    pub(super) fn unknown(&self, received: u16, failures: &FailureReasonMap) -> Failure {
        if !failures.is_empty() && are_timeouts(failures) {
            let contacts = self.plan.contacts.len() as u16;
            return self.timed_out(contacts - failures.len() as u16, contacts);
        }
        Failure::CasWriteUnknown {
            level: self.plan.level,
            received,
            required: self.plan.required,
        }
    }

    pub(super) fn with_contentions(&self, mut failure: Failure) -> Failure {
        if let Failure::WriteTimeout {
            write_type,
            contentions,
            ..
        } = &mut failure
            && *write_type == WriteType::CAS
        {
            *contentions = Some(self.contentions);
        }
        failure
    }

    /// A serial read that failed at its rounds has failed as a read.
    pub(super) fn as_read(&self, failure: Failure) -> Failure {
        match failure {
            Failure::WriteTimeout { .. } => Failure::ReadTimeout {
                level: self.plan.level,
                received: 0,
                required: self.plan.required,
                data_present: false,
            },
            Failure::WriteFailure {
                received,
                required,
                reasons,
                ..
            } => Failure::ReadFailure {
                level: self.plan.level,
                received,
                required,
                data_present: false,
                reasons,
            },
            failure => failure,
        }
    }
}

fn are_timeouts(reasons: &FailureReasonMap) -> bool {
    let mut reasons = reasons.iter();
    reasons.all(|(_, reason)| *reason == FailureReason::TIMEOUT)
}
