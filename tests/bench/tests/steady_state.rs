//! What core may cost in memory. Alone in its binary: the allocator counts every thread.

use helenus_bench::{SCENARIOS, allocations, run};

#[test]
fn core_allocates_nothing_in_steady_state() {
    for (name, make) in SCENARIOS
        .iter()
        .filter(|(name, _)| name.starts_with("core v"))
    {
        let mut scenario = make();
        run(&mut *scenario, 320);
        let before = allocations::count();
        run(&mut *scenario, 3200);
        assert_eq!(allocations::count() - before, 0, "{name}");
    }
}
