//! What a load took.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::{Failure, Options};

/// The figures of one connection or of all.
#[derive(Debug)]
pub(crate) struct Report {
    /// Requests answered within the measured time.
    pub(crate) answered: u64,
    /// Answers that were ERROR.
    pub(crate) errors: u64,
    /// From writing a request to reading its answer, nanoseconds.
    pub(crate) latency: Histogram<u64>,
    seconds: f64,
    cpu_micros: Option<f64>,
}

impl Default for Report {
    fn default() -> Self {
        Self {
            answered: 0,
            errors: 0,
            latency: Histogram::new(3).expect("three digits are within the histogram's bounds"),
            seconds: 0.0,
            cpu_micros: None,
        }
    }
}

impl Report {
    /// Adds another connection's figures.
    pub(crate) fn add(&mut self, other: &Self) {
        self.answered += other.answered;
        self.errors += other.errors;
        self.latency
            .add(&other.latency)
            .expect("both histograms resize themselves");
    }

    /// Sets what the whole run took; `cpu` is the server's CPU time before and after.
    pub(crate) fn finish(&mut self, measured: Duration, cpu: Option<(Duration, Duration)>) {
        self.seconds = measured.as_secs_f64();
        self.cpu_micros = cpu.map(|(before, after)| {
            after.saturating_sub(before).as_secs_f64() * 1e6 / self.answered.max(1) as f64
        });
    }

    /// Prints the figures.
    pub(crate) fn print(&self, options: &Options) {
        let rate = self.answered as f64 / self.seconds;
        let micros = |quantile| self.latency.value_at_quantile(quantile) as f64 / 1e3;
        let (p50, p99, p999) = (micros(0.5), micros(0.99), micros(0.999));
        let workload = format!("{:?}", options.workload).to_lowercase();
        if options.json {
            let cpu = self
                .cpu_micros
                .map_or("null".to_owned(), |cpu| format!("{cpu:.3}"));
            println!(
                "{{\"workload\":\"{workload}\",\"connections\":{},\"depth\":{},\"seconds\":{:.1},\"answered\":{},\
                 \"errors\":{},\"per_second\":{rate:.0},\"server_cpu_us\":{cpu},\"latency_us\":{{\"p50\":{p50:.1},\
                 \"p99\":{p99:.1},\"p999\":{p999:.1}}}}}",
                options.connections, options.depth, self.seconds, self.answered, self.errors,
            );
        } else {
            let cpu = self.cpu_micros.map_or(String::new(), |cpu| {
                format!(", server CPU {cpu:.2} µs a request")
            });
            println!(
                "{workload} {}×{}: {rate:.0}/s, errors {}, p50 {p50:.0} µs, p99 {p99:.0} µs, p99.9 {p999:.0} µs{cpu}",
                options.connections, options.depth, self.errors,
            );
        }
    }
}

/// User and system time that a process has used, by Linux's clock ticks of 10 ms.
pub(crate) fn server_cpu(pid: u32) -> Result<Duration, Failure> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields = stat.rsplit_once(')').ok_or("no process state")?.1;
    let mut times = fields.split_whitespace().skip(11).map(str::parse::<u64>);
    let user = times.next().ok_or("no user time")??;
    let system = times.next().ok_or("no system time")??;
    Ok(Duration::from_millis(10 * (user + system)))
}
