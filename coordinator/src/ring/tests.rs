use smallvec::smallvec;

use super::*;
use crate::testing::{node, ring_of, two_centres};

fn replicas(placement: &Placement, token: i64) -> Vec<u16> {
    let replicas = placement.replicas(Token(token));
    replicas.iter().map(|node| node.0).collect()
}

#[test]
fn a_token_belongs_to_the_node_whose_token_follows_it() {
    let ring = ring_of(3);
    let placement = ring.place(&Replication::Simple { factor: 1 });
    let cases = [
        (i64::MIN, 0),
        (0, 0),
        (1, 1),
        (100, 1),
        (101, 2),
        (200, 2),
        (201, 0),
        (i64::MAX, 0),
    ];
    for (token, owner) in cases {
        assert_eq!(replicas(&placement, token), [owner], "{token}");
    }
}

#[test]
fn simple_replicas_are_the_next_nodes_on_the_ring_each_once() {
    // The second node's tokens follow each other, so that it is met twice.
    let ring = Ring::new(vec![
        node(1, "dc1", "rack1", &[0]),
        node(2, "dc1", "rack1", &[100, 110]),
        node(3, "dc2", "rack1", &[200]),
    ]);
    let placement = ring.place(&Replication::Simple { factor: 2 });
    assert_eq!(replicas(&placement, 50), [1, 2]);
    assert_eq!(replicas(&placement, 150), [2, 0]);
    let more = ring.place(&Replication::Simple { factor: 9 });
    assert_eq!(replicas(&more, 150), [2, 0, 1]);
    assert_eq!(
        replicas(&ring.place(&Replication::Simple { factor: 0 }), 50),
        []
    );
}

#[test]
fn each_data_centre_has_its_own_number_of_replicas() {
    let (ring, replication) = two_centres(2, 1);
    let placement = ring.place(&replication);
    // The ring's order is 0, 3, 1, 4, 2, 5.
    assert_eq!(replicas(&placement, 0), [0, 3, 1]);
    assert_eq!(replicas(&placement, 60), [1, 4, 2]);
    assert_eq!(replicas(&placement, 151), [2, 5, 0]);
}

#[test]
fn replicas_of_a_data_centre_are_in_different_racks_while_there_are_any() {
    let racks = ["a", "a", "b", "b", "c"];
    let nodes = racks.iter().enumerate();
    let nodes = nodes.map(|(n, rack)| node(n as u8 + 1, "dc1", rack, &[100 * n as i64]));
    let ring = Ring::new(nodes.collect());
    let of = |factor| {
        ring.place(&Replication::NetworkTopology {
            factors: smallvec![(DataCentre(0), factor)],
        })
    };
    assert_eq!(replicas(&of(2), 0), [0, 2]);
    assert_eq!(replicas(&of(3), 0), [0, 2, 4]);
    // Three racks for four replicas: one may be in a rack that has one already, the first that is met.
    assert_eq!(replicas(&of(4), 0), [0, 1, 2, 4]);
    assert_eq!(replicas(&of(9), 100), [1, 2, 3, 4, 0]);
}

#[test]
fn racks_of_the_same_name_in_two_data_centres_are_two() {
    let (ring, replication) = two_centres(1, 1);
    assert_eq!(replicas(&ring.place(&replication), 0), [0, 3]);
}

#[test]
fn an_empty_ring_replicates_nothing() {
    let placement = Ring::default().place(&Replication::Simple { factor: 3 });
    assert_eq!(replicas(&placement, 0), []);
    assert_eq!(placement.split(TokenRange::ALL).count(), 0);
}

#[test]
fn a_range_is_split_where_tokens_end() {
    let ring = ring_of(3);
    let placement = ring.place(&Replication::Simple { factor: 1 });
    let split = |first, last| -> Vec<(i64, i64, u16)> {
        let range = TokenRange::new(Token(first), Token(last));
        let parts = placement.split(range.unwrap_or(TokenRange::ALL));
        let shown = parts.map(|(range, nodes)| (range.first.0, range.last.0, nodes[0].0));
        shown.collect()
    };
    assert_eq!(
        split(i64::MIN, i64::MAX),
        [
            (i64::MIN, 0, 0),
            (1, 100, 1),
            (101, 200, 2),
            (201, i64::MAX, 0)
        ]
    );
    assert_eq!(split(50, 101), [(50, 100, 1), (101, 101, 2)]);
    assert_eq!(split(100, 100), [(100, 100, 1)]);
    assert_eq!(split(101, 200), [(101, 200, 2)]);
    assert_eq!(split(201, 300), [(201, 300, 0)]);
}

#[test]
fn a_split_ends_with_the_greatest_token_even_if_a_node_has_it() {
    let ring = Ring::new(vec![node(1, "dc1", "r", &[i64::MAX, i64::MIN])]);
    let placement = ring.place(&Replication::Simple { factor: 1 });
    let parts: Vec<TokenRange> = placement.split(TokenRange::ALL).map(|(r, _)| r).collect();
    let least = TokenRange::new(Token::MIN, Token::MIN);
    let rest = TokenRange::new(Token(i64::MIN + 1), Token::MAX);
    assert_eq!(
        parts.into_iter().map(Some).collect::<Vec<_>>(),
        [least, rest]
    );
}

#[test]
fn a_token_that_two_nodes_claim_is_the_first_nodes() {
    let ring = Ring::new(vec![node(1, "dc1", "r", &[5]), node(2, "dc1", "r", &[5])]);
    let placement = ring.place(&Replication::Simple { factor: 2 });
    assert_eq!(replicas(&placement, 5), [0]);
}

#[test]
fn ranges_meet_or_dont() {
    let range = |first, last| TokenRange::new(Token(first), Token(last));
    assert_eq!(range(5, 4), None);
    let five = range(1, 5).unwrap_or(TokenRange::ALL);
    assert_eq!(five.intersection(range(5, 9).unwrap_or(five)), range(5, 5));
    assert_eq!(five.intersection(range(6, 9).unwrap_or(five)), None);
    assert!(five.contains(Token(1)) && !five.contains(Token(6)));
}
