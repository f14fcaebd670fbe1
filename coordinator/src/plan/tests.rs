use std::time::Duration;

use super::*;
use crate::testing::{ring_of, two_centres};

const LATER: Speculation = Speculation::After(Duration::from_millis(5));

fn ids(nodes: &[NodeId]) -> Vec<u16> {
    nodes.iter().map(|node| node.0).collect()
}

fn read(
    ring: &Ring,
    replication: &Replication,
    local: u16,
    alive: &[u16],
    level: Consistency,
    speculation: Speculation,
) -> Result<ReadPlan, Failure> {
    let alive = alive.iter().copied().map(NodeId).collect();
    let vantage = Vantage {
        ring,
        local: NodeId(local),
        alive: &alive,
    };
    ReadPlan::new(
        &vantage,
        &ring.place(replication),
        Token(0),
        level,
        speculation,
    )
}

const fn unavailable(level: Consistency, required: u16, alive: u16) -> Failure {
    Failure::Unavailable {
        level,
        required,
        alive,
        data_centre: None,
    }
}

#[test]
fn this_node_is_asked_first_then_its_data_centre() {
    let (ring, replication) = two_centres(3, 3);
    let plan = read(
        &ring,
        &replication,
        4,
        &[0, 1, 2, 3, 4, 5],
        Consistency::QUORUM,
        LATER,
    );
    let plan = plan.unwrap();
    assert_eq!(ids(&plan.candidates), [4, 3, 5, 0, 1, 2]);
    assert_eq!((plan.contacts, plan.required), (4, 4));
    assert_eq!(plan.speculation, LATER);
}

#[test]
fn a_local_level_asks_its_data_centre_alone() {
    let (ring, replication) = two_centres(3, 3);
    let all = [0, 1, 2, 3, 4, 5];
    let plan = read(
        &ring,
        &replication,
        1,
        &all,
        Consistency::LOCAL_QUORUM,
        LATER,
    )
    .unwrap();
    assert_eq!(ids(&plan.candidates), [1, 0, 2]);
    assert_eq!((plan.contacts, plan.required), (2, 2));
    let level = Consistency::LOCAL_QUORUM;
    let failure = read(&ring, &replication, 1, &[1, 3, 4, 5], level, LATER).unwrap_err();
    assert_eq!(failure, unavailable(level, 2, 1));
}

#[test]
fn each_quorum_asks_a_quorum_of_every_data_centre() {
    let (ring, replication) = two_centres(3, 3);
    let level = Consistency::EACH_QUORUM;
    let plan = read(&ring, &replication, 0, &[0, 1, 2, 4, 5], level, LATER).unwrap();
    assert_eq!(ids(&plan.candidates), [0, 1, 4, 5]);
    assert_eq!((plan.contacts, plan.required), (4, 4));
    assert_eq!(plan.speculation, Speculation::Never);
    let failure = read(&ring, &replication, 0, &[0, 1, 2, 5], level, LATER).unwrap_err();
    assert_eq!(
        failure,
        Failure::Unavailable {
            level,
            required: 2,
            alive: 1,
            data_centre: Some(DataCentre(1)),
        }
    );
}

#[test]
fn each_quorum_of_simple_replicas_is_a_quorum_of_them() {
    let ring = ring_of(3);
    let replication = Replication::Simple { factor: 3 };
    let level = Consistency::EACH_QUORUM;
    let plan = read(&ring, &replication, 0, &[0, 1, 2], level, LATER).unwrap();
    assert_eq!((plan.contacts, plan.required), (2, 2));
}

#[test]
fn always_asks_one_more_if_there_is_one() {
    let ring = ring_of(3);
    let replication = Replication::Simple { factor: 3 };
    let level = Consistency::QUORUM;
    let plan = read(
        &ring,
        &replication,
        0,
        &[0, 1, 2],
        level,
        Speculation::Always,
    )
    .unwrap();
    assert_eq!((plan.contacts, plan.required), (3, 2));
    let plan = read(&ring, &replication, 0, &[0, 2], level, Speculation::Always).unwrap();
    assert_eq!((plan.contacts, plan.required), (2, 2));
    assert_eq!(plan.speculation, Speculation::Never);
}

#[test]
fn fewer_live_replicas_than_the_level_needs_are_unavailable_at_once() {
    let ring = ring_of(3);
    let replication = Replication::Simple { factor: 3 };
    let cases = [
        (Consistency::ONE, 1, 0),
        (Consistency::TWO, 2, 1),
        (Consistency::QUORUM, 2, 1),
        (Consistency::THREE, 3, 2),
        (Consistency::ALL, 3, 2),
    ];
    for (level, required, alive) in cases {
        let living: Vec<u16> = (0..alive).collect();
        let expected = unavailable(level, required, alive);
        let found = read(&ring, &replication, 0, &living, level, LATER);
        assert_eq!(found.unwrap_err(), expected, "{level}");
    }
}

#[test]
fn more_replicas_than_nodes_are_never_there() {
    let ring = ring_of(1);
    let replication = Replication::Simple { factor: 3 };
    let failure = read(&ring, &replication, 0, &[0], Consistency::QUORUM, LATER).unwrap_err();
    assert_eq!(failure, unavailable(Consistency::QUORUM, 2, 1));
}
