use super::*;
use crate::node::NodeSet;
use crate::ring::Ring;
use crate::testing::{ring_of, two_centres};

fn plan(
    ring: &Ring,
    replication: &Replication,
    alive: &[u16],
    level: Consistency,
) -> Result<WritePlan, Failure> {
    let alive: NodeSet = alive.iter().copied().map(NodeId).collect();
    let vantage = Vantage {
        ring,
        local: NodeId(0),
        alive: &alive,
    };
    WritePlan::new(&vantage, &ring.place(replication), Token(0), level)
}

fn targets(plan: &WritePlan) -> Vec<(u16, bool, Option<u8>)> {
    let targets = plan.targets.iter();
    targets
        .map(|target| (target.node.0, target.alive, target.quota))
        .collect()
}

#[test]
fn a_write_goes_to_all_and_only_this_data_centre_counts_at_a_local_level() {
    let (ring, replication) = two_centres(3, 3);
    let level = Consistency::LOCAL_QUORUM;
    let plan = plan(&ring, &replication, &[0, 1, 4, 5], level).unwrap();
    assert_eq!(
        targets(&plan),
        [
            (0, true, Some(0)),
            (1, true, Some(0)),
            (4, true, None),
            (5, true, None),
            (3, false, None),
            (2, false, Some(0)),
        ]
    );
    assert_eq!((plan.required, plan.quotas.as_slice()), (2, &[2][..]));
}

#[test]
fn each_quorum_has_a_quota_in_every_data_centre() {
    let (ring, replication) = two_centres(3, 3);
    let level = Consistency::EACH_QUORUM;
    let found = plan(&ring, &replication, &[0, 1, 2, 3, 4], level).unwrap();
    assert_eq!((found.required, found.quotas.as_slice()), (4, &[2, 2][..]));
    assert_eq!(found.targets[3].quota, Some(1));
    assert_eq!(
        plan(&ring, &replication, &[0, 1, 2, 3], level).unwrap_err(),
        Failure::Unavailable {
            level,
            required: 2,
            alive: 1,
            data_centre: Some(DataCentre(1)),
        }
    );
}

#[test]
fn fewer_live_replicas_than_the_level_needs_are_unavailable_at_once() {
    let ring = ring_of(3);
    let replication = Replication::Simple { factor: 3 };
    for (level, required, alive) in [
        (Consistency::ONE, 1, 0),
        (Consistency::TWO, 2, 1),
        (Consistency::QUORUM, 2, 1),
        (Consistency::LOCAL_QUORUM, 2, 1),
        (Consistency::ALL, 3, 2),
    ] {
        let living: Vec<u16> = (0..alive).collect();
        let unavailable = Failure::Unavailable {
            level,
            required,
            alive,
            data_centre: None,
        };
        let found = plan(&ring, &replication, &living, level);
        assert_eq!(found.unwrap_err(), unavailable, "{level}");
    }
}

#[test]
fn any_is_met_by_nobody() {
    let replication = Replication::Simple { factor: 3 };
    let plan = plan(&ring_of(3), &replication, &[], Consistency::ANY).unwrap();
    assert_eq!(plan.required, 1);
    assert!(
        plan.targets
            .iter()
            .all(|target| !target.alive && target.quota == Some(0))
    );
}
