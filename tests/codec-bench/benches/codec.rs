//! The same scenarios under criterion, which keeps what it measured before and says what changed.

use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use helenus_codec_bench::contender::{Contender, Entry};
use helenus_codec_bench::scenarios;

fn codec(criterion: &mut Criterion) {
    for scenario in scenarios::all() {
        let mut group = criterion.benchmark_group(scenario.name);
        group
            .sample_size(20)
            .warm_up_time(Duration::from_millis(200))
            .measurement_time(Duration::from_millis(500));
        for (contender, entry) in Contender::ALL.into_iter().zip((scenario.entries)()) {
            if let Entry::Works(mut work) = entry {
                group.bench_function(contender.name(), |bencher| {
                    bencher.iter_custom(|times| {
                        let start = Instant::now();
                        work.run(times);
                        start.elapsed()
                    });
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, codec);
criterion_main!(benches);
