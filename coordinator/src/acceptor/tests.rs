use super::*;
use crate::node::NodeId;
use crate::testing::register::{Cell, Register};

fn ballot(micros: i64, node: u16) -> Ballot {
    Ballot {
        micros,
        node: NodeId(node),
        random: 0,
    }
}

fn proposal(micros: i64, value: u64) -> Proposal<Register> {
    Proposal {
        ballot: ballot(micros, 0),
        mutation: Some(Cell { micros, value }),
    }
}

fn prepare(acceptor: &mut Acceptor<Register>, ballot: Ballot) -> (Result<(), Ballot>, Keep) {
    let answer = acceptor.prepare(ballot);
    (answer.reply.promised, answer.keep)
}

fn propose(acceptor: &mut Acceptor<Register>, micros: i64) -> (Option<Result<(), Ballot>>, Keep) {
    let answer = acceptor.propose(proposal(micros, 1));
    (answer.reply, answer.keep)
}

#[test]
fn a_promise_is_kept_and_made_once() {
    let mut acceptor = Acceptor::default();
    assert_eq!(
        prepare(&mut acceptor, ballot(5, 0)),
        (Ok(()), Keep::Promise)
    );
    let refused = Err(ballot(5, 0));
    for micros in [4, 5] {
        let again = prepare(&mut acceptor, ballot(micros, 0));
        assert_eq!(again, (refused, Keep::Nothing));
    }
    assert_eq!(propose(&mut acceptor, 4), (Some(refused), Keep::Nothing));
    assert_eq!(propose(&mut acceptor, 5), (Some(Ok(())), Keep::Accepted));
}

#[test]
fn of_two_ballots_of_one_microsecond_the_first_wins() {
    let mut acceptor = Acceptor::<Register>::default();
    assert_eq!(prepare(&mut acceptor, ballot(5, 0)).0, Ok(()));
    assert_eq!(prepare(&mut acceptor, ballot(5, 1)).0, Err(ballot(5, 0)));
}

#[test]
fn what_was_accepted_is_told_to_who_prepares() {
    let mut acceptor = Acceptor::default();
    assert_eq!(propose(&mut acceptor, 5).0, Some(Ok(())));
    let promise = acceptor.prepare(ballot(6, 0)).reply;
    assert_eq!(
        promise.accepted.map(|accepted| accepted.ballot),
        Some(ballot(5, 0))
    );
    assert!(promise.committed.is_none());
    assert_eq!(prepare(&mut acceptor, ballot(5, 3)).0, Err(ballot(6, 0)));
}

#[test]
fn a_commit_ends_what_was_accepted_before_it_and_is_applied_whenever_it_comes() {
    let mut acceptor = Acceptor::default();
    assert_eq!(propose(&mut acceptor, 5).0, Some(Ok(())));
    let answer = acceptor.commit(proposal(7, 3));
    let cell = |micros, value| Some(Cell { micros, value });
    assert_eq!((answer.reply, answer.keep), (cell(7, 3), Keep::Committed));
    assert!(acceptor.accepted.is_none());
    // An earlier one may have been of other cells.
    let answer = acceptor.commit(proposal(6, 2));
    assert_eq!((answer.reply, answer.keep), (cell(6, 2), Keep::Nothing));
    assert_eq!(
        acceptor.committed.as_ref().map(|commit| commit.ballot),
        Some(ballot(7, 0))
    );
    // One that was accepted later isn't over.
    assert_eq!(propose(&mut acceptor, 9).0, Some(Ok(())));
    assert_eq!(acceptor.commit(proposal(8, 4)).keep, Keep::Committed);
    assert!(acceptor.accepted.is_some());
}

#[test]
fn a_proposal_that_comes_twice_is_never_refused_after_it_was_accepted() {
    let mut acceptor = Acceptor::default();
    assert_eq!(propose(&mut acceptor, 5), (Some(Ok(())), Keep::Accepted));
    assert_eq!(prepare(&mut acceptor, ballot(6, 0)).0, Ok(()));
    assert_eq!(propose(&mut acceptor, 5), (Some(Ok(())), Keep::Nothing));
    assert_eq!(propose(&mut acceptor, 6).0, Some(Ok(())));
    assert_eq!(propose(&mut acceptor, 5).0, Some(Ok(())));
    assert_eq!(propose(&mut acceptor, 4).0, Some(Err(ballot(6, 0))));
    for micros in 7..10 {
        assert_eq!(propose(&mut acceptor, micros).0, Some(Ok(())));
    }
    // Four were accepted since: nobody knows any more.
    assert_eq!(propose(&mut acceptor, 5), (None, Keep::Nothing));
    assert_eq!(acceptor.recent.first(), Some(&ballot(6, 0)));
}

#[test]
fn a_proposal_that_was_learned_is_accepted() {
    let mut acceptor = Acceptor::default();
    assert_eq!(acceptor.commit(proposal(5, 1)).keep, Keep::Committed);
    assert_eq!(propose(&mut acceptor, 5), (Some(Ok(())), Keep::Nothing));
    assert!(acceptor.accepted.is_none());
}
