//! Any answers in any order: one outcome, by the deadline, and a confirmed write is where it has to be.

use proptest::prelude::*;

use super::*;

/// What happens to a write.
#[derive(Debug, Clone)]
enum Happens {
    Confirmed(usize),
    Failed(usize, FailureReason),
    Garbage(usize),
    HintKept(usize),
    HintRefused(usize),
    Unknown(u64),
    Passes(u64),
}

fn anything() -> impl Strategy<Value = Happens> {
    let reason = prop_oneof![
        Just(FailureReason::TIMEOUT),
        Just(FailureReason::UNKNOWN),
        Just(NODE_DOWN)
    ];
    prop_oneof![
        4 => (0..6usize).prop_map(Happens::Confirmed),
        1 => (0..6usize, reason).prop_map(|(index, reason)| Happens::Failed(index, reason)),
        1 => (0..6usize).prop_map(Happens::Garbage),
        2 => (0..6usize).prop_map(Happens::HintKept),
        1 => (0..6usize).prop_map(Happens::HintRefused),
        1 => any::<u64>().prop_map(Happens::Unknown),
        1 => (0..400u64).prop_map(Happens::Passes),
    ]
}

fn levels() -> impl Strategy<Value = Consistency> {
    prop_oneof![
        Just(Consistency::ANY),
        Just(Consistency::ONE),
        Just(Consistency::TWO),
        Just(Consistency::QUORUM),
        Just(Consistency::LOCAL_QUORUM),
        Just(Consistency::EACH_QUORUM),
        Just(Consistency::ALL),
    ]
}

/// How many confirmations a level needs of which nodes, of two data centres of three.
fn is_met(level: Consistency, has: &[bool], hinted: usize) -> bool {
    let count = |nodes: &[bool]| nodes.iter().filter(|has| **has).count();
    let (here, there) = (count(&has[..3]), count(&has[3..]));
    match level {
        Consistency::ANY => here + there + hinted >= 1,
        Consistency::ONE => here + there >= 1,
        Consistency::TWO => here + there >= 2,
        Consistency::QUORUM => here + there >= 4,
        Consistency::LOCAL_QUORUM => here >= 2,
        Consistency::EACH_QUORUM => here >= 2 && there >= 2,
        _ => here + there == 6,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn one_outcome_by_the_deadline_and_a_confirmed_write_is_on_enough_replicas(
        level in levels(),
        down in proptest::collection::vec(any::<bool>(), 6),
        happens in proptest::collection::vec(anything(), 0..40),
    ) {
        let (ring, replication) = two_centres(3, 3);
        let alive: NodeSet = (0..6).filter(|node| !down[usize::from(*node)]).map(NodeId).collect();
        let vantage = Vantage { ring: &ring, local: NodeId(0), alive: &alive };
        let Ok(plan) = WritePlan::new(&vantage, &ring.place(&replication), Token(0), level) else {
            return Ok(());
        };
        let begun = Instant::now();
        let mut desk = of_plan(&plan);
        let (mut has, mut hinted) = ([false; 6], 0);
        let mut outcomes = 0;
        let mut told = |desk: &mut Desk<Write<Register>>, has: &[bool; 6], hinted: usize| {
            let wants = desk.poll();
            outcomes += wants.matches("written").count() + wants.matches("failed").count();
            if wants.contains("written") {
                prop_assert!(is_met(level, has, hinted), "{} {:?} {}", level, has, hinted);
            }
            Ok(outcomes)
        };
        told(&mut desk, &has, hinted)?;
        for happens in happens {
            match happens {
                Happens::Confirmed(index) if index < desk.sent.len() => {
                    has[usize::from(desk.sent[index].0.0)] = true;
                    desk.confirm(index);
                }
                Happens::Failed(index, reason) if index < desk.sent.len() => desk.fail(index, reason),
                Happens::Garbage(index) if index < desk.sent.len() => {
                    desk.reply(index, Reply::Accepted(Ok(())));
                }
                Happens::HintKept(index) if index < desk.hints.len() => {
                    hinted += 1;
                    desk.keep_hint(index);
                }
                Happens::HintRefused(index) if index < desk.hints.len() => desk.refuse_hint(index),
                Happens::Unknown(call) => {
                    let call = CallId(call | 1 << 40);
                    desk.machine.handle_reply(desk.now, NodeId(0), call, Reply::Done);
                }
                Happens::Passes(millis) => desk.after(Duration::from_millis(millis)),
                _ => {}
            }
            told(&mut desk, &has, hinted)?;
        }
        desk.now = desk.now.max(begun + TIMEOUT + Duration::from_secs(1));
        desk.after(Duration::ZERO);
        prop_assert_eq!(told(&mut desk, &has, hinted)?, 1);
        prop_assert!(desk.machine.is_finished());
        prop_assert_eq!(desk.machine.poll_timeout(), None);
        // Whoever may not have it was given a hint, but for this node itself.
        for node in 1..6 {
            let is_hinted = desk.hints.iter().any(|(to, _)| to.0 == node);
            prop_assert!(has[usize::from(node)] || is_hinted, "{} has nothing", node);
        }
    }
}
