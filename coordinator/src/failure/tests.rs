use smallvec::smallvec;

use super::*;
use crate::testing::{ring_of, two_centres};

const QUORUM: Consistency = Consistency::QUORUM;

#[test]
fn unavailable_names_the_data_centre_that_lacks_replicas() {
    let (ring, _) = two_centres(3, 3);
    let failure = |data_centre| Failure::Unavailable {
        level: Consistency::EACH_QUORUM,
        required: 2,
        alive: 1,
        data_centre,
    };
    let everywhere = failure(None).into_response(&ring);
    assert_eq!(
        everywhere,
        ErrorResponse::unavailable(Consistency::EACH_QUORUM, 2, 1)
    );
    let there = failure(Some(DataCentre(1))).into_response(&ring);
    assert_eq!(
        there.message,
        "Cannot achieve consistency level EACH_QUORUM in DC dc2"
    );
    assert_eq!(there.detail, everywhere.detail);
}

#[test]
fn a_timeout_says_how_many_answered() {
    let read = Failure::ReadTimeout {
        level: QUORUM,
        received: 1,
        required: 2,
        data_present: true,
    };
    assert_eq!(
        read.into_response(&ring_of(3)),
        ErrorResponse {
            code: ErrorCode::READ_TIMEOUT,
            message: "Operation timed out - received only 1 responses.".into(),
            detail: ErrorDetail::ReadTimeout {
                consistency: QUORUM,
                received: 1,
                block_for: 2,
                data_present: true,
            },
        }
    );
}

#[test]
fn a_contended_write_says_how_often_it_was_tried() {
    let failure = |write_type, contentions| Failure::WriteTimeout {
        level: Consistency::SERIAL,
        received: 1,
        required: 2,
        write_type,
        contentions,
    };
    let cas = failure(WriteType::CAS, Some(3)).into_response(&ring_of(3));
    assert_eq!(
        cas.message,
        "CAS operation timed out: received 1 of 2 required responses after 3 contention retries"
    );
    let simple = failure(WriteType::SIMPLE, None).into_response(&ring_of(3));
    assert_eq!(
        simple.message,
        "Operation timed out - received only 1 responses."
    );
}

#[test]
fn a_failure_names_each_replica_with_its_reason() {
    let reasons: FailureReasonMap = smallvec![
        (NodeId(1), FailureReason::READ_TOO_MANY_TOMBSTONES),
        (NodeId(2), FailureReason(999)),
    ];
    let failure = Failure::ReadFailure {
        level: QUORUM,
        received: 1,
        required: 2,
        data_present: false,
        reasons,
    };
    let response = failure.into_response(&ring_of(3));
    assert_eq!(
        response.message,
        "Operation failed - received 1 responses and 2 failures: READ_TOO_MANY_TOMBSTONES from \
         /127.0.0.2:7000, UNKNOWN from /127.0.0.3:7000"
    );
    let address = |last| std::net::IpAddr::from([127, 0, 0, last]);
    assert_eq!(
        response.detail,
        ErrorDetail::ReadFailure {
            consistency: QUORUM,
            received: 1,
            block_for: 2,
            reasons: FailureReasons::Map(vec![(address(2), 1), (address(3), 999)]),
            data_present: false,
        }
    );
}

#[test]
fn an_unknown_outcome_of_a_conditional_write_has_a_code_of_its_own() {
    let failure = Failure::CasWriteUnknown {
        level: Consistency::SERIAL,
        received: 1,
        required: 2,
    };
    let response = failure.into_response(&ring_of(3));
    assert_eq!(response.code, ErrorCode::CAS_WRITE_UNKNOWN);
    assert_eq!(
        response.message,
        "CAS operation result is unknown - proposal accepted by 1 but not a quorum."
    );
}
