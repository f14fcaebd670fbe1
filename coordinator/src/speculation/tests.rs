use std::time::Instant;

use super::*;

const PERCENTILE: Wait = Wait::Percentile(99.0);
const FIXED: Wait = Wait::Fixed(Duration::from_millis(50));

#[test]
fn the_option_is_read_as_cassandra_does() {
    use SpeculativeRetry::{Always, Max, Min, Never};

    let cases = [
        ("NONE", Some(Never)),
        ("never", Some(Never)),
        ("Always", Some(Always)),
        ("99PERCENTILE", Some(SpeculativeRetry::DEFAULT)),
        ("99p", Some(SpeculativeRetry::DEFAULT)),
        ("50ms", Some(SpeculativeRetry::Wait(FIXED))),
        ("50.9MS", Some(SpeculativeRetry::Wait(FIXED))),
        ("MIN(99p,50ms)", Some(Min(PERCENTILE, FIXED))),
        ("max(50ms , 99percentile)", Some(Max(FIXED, PERCENTILE))),
        ("0p", None),
        ("100p", None),
        ("-1ms", None),
        ("1e3ms", None),
        ("ms", None),
        ("MIN(99p,98p)", None),
        ("MIN(99p)", None),
        ("MEDIAN(99p,5ms)", None),
        ("sometimes", None),
        ("", None),
    ];
    for (text, expected) in cases {
        assert_eq!(SpeculativeRetry::parse(text), expected, "{text:?}");
    }
}

#[test]
fn a_read_waits_as_long_as_the_option_says() {
    let now = Instant::now();
    let mut latencies = Latencies::new();
    (0..100).for_each(|_| latencies.record(now, Duration::from_millis(10)));
    let timeout = Duration::from_secs(5);
    let resolve = |text| {
        let retry = SpeculativeRetry::parse(text);
        retry.map(|retry| retry.resolve(&latencies, timeout))
    };
    let percentile = latencies.percentile(99.0);
    assert_eq!(resolve("NONE"), Some(Speculation::Never));
    assert_eq!(resolve("ALWAYS"), Some(Speculation::Always));
    assert_eq!(resolve("99p"), Some(Speculation::After(percentile)));
    let fixed = Speculation::After(Duration::from_millis(50));
    assert_eq!(resolve("50ms"), Some(fixed));
    assert_eq!(resolve("MAX(99p,50ms)"), Some(fixed));
    assert_eq!(
        resolve("MIN(99p,50ms)"),
        Some(Speculation::After(percentile))
    );
}

#[test]
fn a_read_that_would_ask_another_replica_after_its_timeout_never_does() {
    let retry = SpeculativeRetry::Wait(Wait::Fixed(Duration::from_secs(5)));
    let resolve = |timeout| retry.resolve(&Latencies::new(), timeout);
    assert_eq!(resolve(Duration::from_secs(5)), Speculation::Never);
    assert_eq!(
        resolve(Duration::from_secs(6)),
        Speculation::After(Duration::from_secs(5))
    );
}
