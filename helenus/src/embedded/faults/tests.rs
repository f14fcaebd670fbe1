use std::net::Ipv4Addr;

use helenus_core::message::{ErrorDetail, FailureReasons, WriteType};
use helenus_core::{Consistency, ErrorCode};
use helenus_engine::execution::WorkKind;

use super::*;

fn work<'w>(kind: WorkKind, table: (&'w str, &'w str)) -> Work<'w> {
    Work::new(kind, vec![table], Consistency::ONE, Consistency::SERIAL)
}

fn faults(texts: &[&str]) -> Faults {
    let faults = Faults::default();
    faults.set(texts.iter().map(|text| text.parse().unwrap()).collect());
    faults
}

fn meet(faults: &Faults, kind: WorkKind, table: (&str, &str)) -> Option<Strike> {
    faults.meet(&work(kind, table), || Ipv4Addr::LOCALHOST.into())
}

fn code(faults: &Faults, kind: WorkKind, table: (&str, &str)) -> Option<ErrorCode> {
    meet(faults, kind, table)?.error.map(|error| error.code)
}

const KV: (&str, &str) = ("shop", "kv");

#[test]
fn the_text_of_a_fault_reads_back() {
    for text in [
        "read delay 250ms",
        "write on shop error failure",
        "any on shop.orders delay 2s error timeout applied times 3",
        "conditional error cas_write_unknown",
        "truncate delay 1500us error truncate_error",
    ] {
        assert_eq!(text.parse::<Fault>().unwrap().to_string(), text);
    }
}

#[test]
fn a_wrong_text_says_what_would_be_right() {
    for (text, reason) in [
        (
            "",
            "\"\" is no operation; a fault begins with one of any, read, write, counter, batch, conditional, truncate",
        ),
        (
            "reads delay 1s",
            "\"reads\" is no operation; a fault begins with one of any, read, write, counter, batch, conditional, truncate",
        ),
        ("read", "a fault needs a delay, an error or both"),
        ("read delay", "expected something behind \"delay\""),
        (
            "read delay 5",
            "\"5\" is no delay; write it as 250ms, in us, ms or s",
        ),
        (
            "read error oops",
            "\"oops\" is no error; expected one of timeout, read_timeout, write_timeout, failure, unavailable, overloaded, is_bootstrapping, truncate_error, cas_write_unknown, server_error",
        ),
        ("read applied", "applied needs an error in front of it"),
        (
            "read error timeout times 0",
            "\"0\" is no number of times; expected a whole number, 1 or more",
        ),
        (
            "read in shop",
            "\"in\" is not understood; expected on, delay, error, applied or times",
        ),
    ] {
        assert_eq!(
            text.parse::<Fault>().unwrap_err().to_string(),
            reason,
            "{text}"
        );
    }
}

#[test]
fn a_fault_strikes_what_it_names_and_nothing_else() {
    let faults = faults(&["write on shop.kv error failure", "read error timeout"]);
    let simple = WorkKind::Write(WriteType::SIMPLE);
    assert_eq!(
        code(&faults, simple.clone(), KV),
        Some(ErrorCode::WRITE_FAILURE)
    );
    assert_eq!(code(&faults, simple, ("shop", "other")), None);
    assert_eq!(
        code(&faults, WorkKind::Read, ("any", "t")),
        Some(ErrorCode::READ_TIMEOUT)
    );
    assert_eq!(code(&faults, WorkKind::Truncate, KV), None);
}

#[test]
fn the_servers_own_tables_are_spared_unless_they_are_named() {
    let local = ("system", "local");
    assert_eq!(
        code(&faults(&["any error timeout"]), WorkKind::Read, local),
        None
    );
    assert_eq!(
        code(
            &faults(&["any on system error timeout"]),
            WorkKind::Read,
            local
        ),
        Some(ErrorCode::READ_TIMEOUT)
    );
}

#[test]
fn kinds_of_writes_are_told_apart() {
    for (kind, operation) in [
        (WriteType::COUNTER, "counter"),
        (WriteType::BATCH, "batch"),
        (WriteType::UNLOGGED_BATCH, "batch"),
        (WriteType::CAS, "conditional"),
    ] {
        let kind = WorkKind::Write(kind);
        for tried in ["counter", "batch", "conditional", "read", "truncate"] {
            let struck = code(
                &faults(&[&format!("{tried} error failure")]),
                kind.clone(),
                KV,
            );
            assert_eq!(struck.is_some(), tried == operation, "{kind:?} {tried}");
        }
    }
}

#[test]
fn a_fault_is_over_after_so_many_times_and_then_the_next_one_strikes() {
    let faults = faults(&["read error timeout times 2", "read error failure"]);
    let codes: Vec<_> = (0..4).map(|_| code(&faults, WorkKind::Read, KV)).collect();
    assert_eq!(
        codes,
        [
            Some(ErrorCode::READ_TIMEOUT),
            Some(ErrorCode::READ_TIMEOUT),
            Some(ErrorCode::READ_FAILURE),
            Some(ErrorCode::READ_FAILURE)
        ]
    );
}

#[test]
fn errors_have_the_fields_that_a_cassandra_fills_in() {
    let node = Ipv4Addr::LOCALHOST.into();
    let read = work(WorkKind::Read, KV);
    assert_eq!(
        FaultError::Timeout.answer(&read, node).detail,
        ErrorDetail::ReadTimeout {
            consistency: Consistency::ONE,
            received: 0,
            block_for: 1,
            data_present: false,
        }
    );
    let batch = work(WorkKind::Write(WriteType::BATCH), KV);
    assert_eq!(
        FaultError::Failure.answer(&batch, node).detail,
        ErrorDetail::WriteFailure {
            consistency: Consistency::ONE,
            received: 0,
            block_for: 1,
            reasons: FailureReasons::Map(vec![(node, 0)]),
            write_type: WriteType::BATCH,
        }
    );
    let conditional = work(WorkKind::Write(WriteType::CAS), KV);
    assert_eq!(
        FaultError::Timeout.answer(&conditional, node).detail,
        ErrorDetail::WriteTimeout {
            consistency: Consistency::SERIAL,
            received: 0,
            block_for: 1,
            write_type: WriteType::CAS,
            contentions: Some(0),
        }
    );
    assert_eq!(
        FaultError::ReadTimeout.answer(&conditional, node).detail,
        ErrorDetail::ReadTimeout {
            consistency: Consistency::QUORUM,
            received: 0,
            block_for: 1,
            data_present: false,
        }
    );
}
