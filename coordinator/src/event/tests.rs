//! Steps of reads, as traces of Apache Cassandra 5.0.4 say them.

use super::*;
use crate::testing::ring_of;

#[test]
fn steps_of_reads_are_told_in_cassandras_words() {
    let node = NodeId(1);
    let ended = |failed, received, data_present| Event::ReadEnded {
        failed,
        received,
        required: 2,
        data_present,
    };
    let cases = [
        (
            Event::ReadingData(node),
            "reading data from /127.0.0.2:7000",
        ),
        (
            Event::ReadingDigest(node),
            "reading digest from /127.0.0.2:7000",
        ),
        (
            Event::Speculating(node),
            "speculating read retry on /127.0.0.2:7000",
        ),
        (
            Event::ReadingFull(node),
            "Enqueuing full data read to /127.0.0.2:7000",
        ),
        (
            Event::ReadingFullSpeculatively(node),
            "Enqueuing speculative full data read to /127.0.0.2:7000",
        ),
        (
            Event::Repairing(node),
            "Sending read-repair-mutation to /127.0.0.2:7000",
        ),
        (
            Event::RepairingSpeculatively(node),
            "Sending speculative read-repair-mutation to /127.0.0.2:7000",
        ),
        (
            Event::RepairTimedOut { required: 1 },
            "Timed out while read-repairing after receiving all 1 data and digest responses",
        ),
        (
            ended(false, 0, false),
            "Timed out; received 0 of 2 responses",
        ),
        (
            ended(false, 1, true),
            "Timed out; received 1 of 2 responses (including data)",
        ),
        (
            ended(true, 1, false),
            "Failed; received 1 of 2 responses (only digests)",
        ),
        (
            Event::ReadingRanges {
                ranges: 13,
                concurrency: 1,
            },
            "Submitting range requests on 13 ranges with a concurrency of 1",
        ),
        (
            Event::ReadingRange(node),
            "Enqueuing request to /127.0.0.2:7000",
        ),
        (
            Event::RangesSubmitted(1),
            "Submitted 1 concurrent range requests",
        ),
        (
            Event::NoRowsYet { concurrency: 12 },
            "Didn't get any response rows; new concurrent requests: 12",
        ),
    ];
    for (event, words) in cases {
        assert_eq!(event.display(&ring_of(3)).to_string(), words);
    }
}

#[test]
fn a_node_that_left_the_ring_is_still_told_of() {
    let shown = Event::ReadingData(NodeId(9))
        .display(&ring_of(3))
        .to_string();
    assert_eq!(shown, "reading data from an unknown node");
}
