//! What the engine's readers may cost in memory. Alone in its binary: once allocations are counted, all are.

use helenus_bench::readers::{SETS, allocations};

/// A reader that has been made asks for memory at most for the one row that it merges into, however many it reads.
#[test]
fn readers_allocate_nothing_a_row() {
    for set in SETS
        .iter()
        .filter(|set| !set.name.starts_with("large_partition"))
    {
        let read = allocations(set);
        let (most, least) = match set.name {
            // Four columns, one after the other: the columns of the merged row grow three times.
            "combined.many_merged" => (4, 1),
            _ => (0, 0),
        };
        assert!(read.fragments >= 3, "{}", set.name);
        assert!(
            (least..=most).contains(&read.allocations),
            "{}: {} of {} fragments",
            set.name,
            read.allocations,
            read.fragments
        );
    }
}
