//! What writes allocate.

use super::*;
use crate::ring::Placement;

/// Plans a write, makes it, and has every live replica confirm it.
fn write_once(vantage: &Vantage<'_>, placement: &Placement, level: Consistency, now: Instant) {
    let plan = WritePlan::new(vantage, placement, Token(0), level).unwrap();
    let deadline = now + TIMEOUT;
    let mut write =
        Write::<Register>::new(&plan, Cell::default(), WriteType::SIMPLE, now, deadline);
    let mut done = false;
    while let Some(action) = write.poll_action(now) {
        match action {
            Action::Send { to, call, .. } | Action::Hint { to, call, .. } => {
                write.handle_reply(now, to, call, Reply::Done);
            }
            Action::Done(outcome) => done = outcome.is_ok(),
            _ => {}
        }
    }
    assert!(done && write.is_finished());
}

#[test]
fn a_write_to_up_to_five_replicas_allocates_nothing() {
    let now = Instant::now();
    let ring = ring_of(6);
    for factor in 1..=5 {
        let placement = ring.place(&Replication::Simple { factor });
        let alive: NodeSet = (0..6).filter(|node| *node != 4).map(NodeId).collect();
        let vantage = Vantage {
            ring: &ring,
            local: NodeId(5),
            alive: &alive,
        };
        let before = helenus_allocations::count();
        write_once(&vantage, &placement, Consistency::QUORUM, now);
        let after = helenus_allocations::count();
        assert_eq!(after - before, 0, "{factor} replicas");
    }
    let (ring, replication) = two_centres(2, 2);
    let placement = ring.place(&replication);
    let vantage = Vantage {
        ring: &ring,
        local: NodeId(0),
        alive: &NodeSet::first(6),
    };
    let before = helenus_allocations::count();
    write_once(&vantage, &placement, Consistency::EACH_QUORUM, now);
    assert_eq!(helenus_allocations::count() - before, 0);
}

#[test]
fn the_counter_of_allocations_counts() {
    let before = helenus_allocations::count();
    drop(std::hint::black_box(vec![1]));
    assert_eq!(helenus_allocations::count() - before, 1);
}
