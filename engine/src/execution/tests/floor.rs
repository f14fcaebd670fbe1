//! Times rounded down. What Apache Cassandra 5.0.4 answers.

use super::{expect, node};

#[test]
fn floor_rounds_down_to_whole_steps_from_a_start() {
    let mut node = node();
    node.all(&[
        "CREATE TABLE f (k int PRIMARY KEY, t timestamp, d date, ti time, tu timeuuid, du duration)",
        "INSERT INTO f (k, t, d, ti, tu, du) VALUES (1, '2016-09-27 16:12:34.567+0000', '2016-09-27', '16:12:34.567', \
         99dd9cc0-84ca-11e6-9d25-1d1dd9c0e1b0, 5m)",
        "INSERT INTO f (k, t, d, ti, du) VALUES (2, '1969-09-27 16:12:34.567+0000', '1969-09-27', '00:00:00', 1mo)",
    ]);
    expect(
        &mut node,
        &[
            (
                "SELECT floor(t, 1h) FROM f WHERE k = 1",
                "system.floor(t, 1h) / 1474992000000",
            ),
            (
                "SELECT floor(t, 5m) FROM f WHERE k = 1",
                "system.floor(t, 5m) / 1474992600000",
            ),
            (
                "SELECT floor(t, du) FROM f WHERE k = 1",
                "system.floor(t, du) / 1474992600000",
            ),
            (
                "SELECT floor(t, 1d) FROM f WHERE k = 1",
                "system.floor(t, 1d) / 1474934400000",
            ),
            (
                "SELECT floor(t, 1w) FROM f WHERE k = 1",
                "system.floor(t, 1w) / 1474502400000",
            ),
            (
                "SELECT floor(t, 1mo) FROM f WHERE k = 1",
                "system.floor(t, 1mo) / 1472688000000",
            ),
            (
                "SELECT floor(t, 5mo) FROM f WHERE k = 1",
                "system.floor(t, 5mo) / 1472688000000",
            ),
            (
                "SELECT floor(t, 1y) FROM f WHERE k = 1",
                "system.floor(t, 1y) / 1451606400000",
            ),
            (
                "SELECT floor(t, 1mo5d) FROM f WHERE k = 1",
                "system.floor(t, 1mo5d) / 1472774400000",
            ),
            (
                "SELECT floor(t, 1us) FROM f WHERE k = 1",
                "INVALID: The floor cannot be computed for the 1us duration as precision is below 1 millisecond",
            ),
            (
                "SELECT floor(t, 0s) FROM f WHERE k = 1",
                "system.floor(t, 0s) / 1474992754567",
            ),
            (
                "SELECT floor(t, -1h) FROM f WHERE k = 1",
                "INVALID: Negative durations are not supported by the floor function",
            ),
            (
                "SELECT floor(t, 1h) FROM f WHERE k = 2",
                "INVALID: The floor function starting time is greater than the provided time",
            ),
            (
                "SELECT floor(t, 1mo) FROM f WHERE k = 2",
                "INVALID: The floor function starting time is greater than the provided time",
            ),
            (
                "SELECT floor(t, 1h, '2016-09-27 16:05:00+0000') FROM f WHERE k = 1",
                "system.floor(t, 1h, '2016-09-27 16:05:00+0000') / 1474992300000",
            ),
            (
                "SELECT floor(t, 1mo, '2016-01-31 16:05:00+0000') FROM f WHERE k = 1",
                "system.floor(t, 1mo, '2016-01-31 16:05:00+0000') / 1475251500000",
            ),
            (
                "SELECT floor(t, 1h, '2017-09-27 16:05:00+0000') FROM f WHERE k = 1",
                "INVALID: The floor function starting time is greater than the provided time",
            ),
            (
                "SELECT floor(d, 1h) FROM f WHERE k = 1",
                "INVALID: The floor on date values cannot be computed for the 1h duration as precision is below 1 day",
            ),
            (
                "SELECT floor(d, 2d) FROM f WHERE k = 1",
                "system.floor(d, 2d) / Date(2147500718)",
            ),
            (
                "SELECT floor(d, 1mo) FROM f WHERE k = 1",
                "system.floor(d, 1mo) / Date(2147500693)",
            ),
            (
                "SELECT floor(d, 3d, '2016-09-01') FROM f WHERE k = 1",
                "system.floor(d, 3d, '2016-09-01') / Date(2147500717)",
            ),
            (
                "SELECT floor(d, 3d, '2017-09-01') FROM f WHERE k = 1",
                "INVALID: The floor function starting time is greater than the provided time",
            ),
            (
                "SELECT floor(d, 25h) FROM f WHERE k = 1",
                "INVALID: The floor on date values cannot be computed for the 25h duration as precision is below 1 day",
            ),
            (
                "SELECT floor(d, 24h) FROM f WHERE k = 1",
                "INVALID: The floor on date values cannot be computed for the 24h duration as precision is below 1 day",
            ),
            (
                "SELECT floor(d, 1d) FROM f WHERE k = 2",
                "INVALID: The floor function starting time is greater than the provided time",
            ),
            (
                "SELECT floor(ti, 1h) FROM f WHERE k = 1",
                "system.floor(ti, 1h) / 57600000000000",
            ),
            (
                "SELECT floor(ti, 1ns) FROM f WHERE k = 1",
                "system.floor(ti, 1ns) / 58354567000000",
            ),
            (
                "SELECT floor(ti, 0ns) FROM f WHERE k = 1",
                "system.floor(ti, 0ns) / 58354567000000",
            ),
            (
                "SELECT floor(ti, 1d) FROM f WHERE k = 1",
                "INVALID: For time values, the floor can only be computed for durations smaller that a day",
            ),
            (
                "SELECT floor(ti, 24h) FROM f WHERE k = 1",
                "system.floor(ti, 24h) / 0",
            ),
            (
                "SELECT floor(ti, 25h) FROM f WHERE k = 1",
                "INVALID: For time values, the floor can only be computed for durations smaller that a day",
            ),
            (
                "SELECT floor(ti, -1h) FROM f WHERE k = 1",
                "INVALID: Negative durations are not supported by the floor function",
            ),
            (
                "SELECT floor(tu, 1h) FROM f WHERE k = 1",
                "system.floor(tu, 1h) / 1474988400000",
            ),
            (
                "SELECT floor(tu, 1h, '2016-09-27 16:05:00+0000') FROM f WHERE k = 1",
                "INVALID: The floor function starting time is greater than the provided time",
            ),
            (
                "SELECT floor(t, null) FROM f WHERE k = 1",
                "system.floor(t, NULL) / null",
            ),
        ],
    );
}

#[test]
fn steps_of_months_and_days_are_counted_together() {
    let mut node = node();
    node.all(&[
        "CREATE TABLE f (k int PRIMARY KEY, t timestamp)",
        "INSERT INTO f (k, t) VALUES (1, '9999-01-01 00:00:00+0000')",
        "INSERT INTO f (k, t) VALUES (2, '1970-02-02 00:00:00+0000')",
    ]);
    expect(
        &mut node,
        &[
            // A month and a day from 1970-01-01 on: 1970-02-02.
            (
                "SELECT floor(t, 1mo1d) FROM f WHERE k = 2",
                "system.floor(t, 1mo1d) / 2764800000",
            ),
            // However far behind the start, the step is found at once.
            (
                "SELECT floor(t, 1mo1000000d) FROM f WHERE k = 1",
                "system.floor(t, 1mo1000000d) / 172805097600000",
            ),
        ],
    );
}

#[test]
fn groups_are_told_apart_by_the_floor_of_a_clustering_column() {
    let mut node = node();
    node.all(&[
        "CREATE TABLE ts (k int, t timestamp, v int, PRIMARY KEY (k, t))",
        "INSERT INTO ts (k, t, v) VALUES (1, '2016-09-27 16:10:00+0000', 1)",
        "INSERT INTO ts (k, t, v) VALUES (1, '2016-09-27 16:12:00+0000', 2)",
        "INSERT INTO ts (k, t, v) VALUES (1, '2016-09-27 16:30:00+0000', 3)",
        "INSERT INTO ts (k, t, v) VALUES (2, '2016-09-27 16:10:00+0000', 4)",
    ]);
    expect(
        &mut node,
        &[
            (
                "SELECT k, floor(t, 1h) AS t, count(*), min(v), max(v) FROM ts GROUP BY k, floor(t, 1h)",
                "k|t|count|system.min(v)|system.max(v) / 1|1474992000000|3|1|3 / 2|1474992000000|1|4|4",
            ),
            (
                "SELECT k, floor(t, 5m) AS t, min(v), max(v) FROM ts GROUP BY k, floor(t, 5m)",
                "k|t|system.min(v)|system.max(v) / 1|1474992600000|1|2 / 1|1474993800000|3|3 / 2|1474992600000|4|4",
            ),
            (
                "SELECT k, min(v) FROM ts WHERE k = 1 GROUP BY floor(t, 5m)",
                "k|system.min(v) / 1|1 / 1|3",
            ),
            (
                "SELECT k, min(v) FROM ts GROUP BY k, floor(t, 5m), t",
                "INVALID: Functions are only supported on the last element of the GROUP BY clause",
            ),
            (
                "SELECT k, min(v) FROM ts GROUP BY k, floor(v, 5m)",
                "INVALID: Group by functions are only supported on clustering columns, got v",
            ),
        ],
    );
}
