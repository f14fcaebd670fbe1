//! Everything that is published, in one place. Counters that are plain numbers come from [`Totals::counters`], so that
//! whoever adds one there is done.
//!
//! [`Totals::counters`]: helenus_server::Totals::counters

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use helenus::Runtime;
use helenus_core::ErrorCode;
use helenus_core::error::ErrorKind;
use helenus_server::{Histogram, OffloadLoad, ServerHandle};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, MetricEncoder, NoLabelSet, text,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use super::process::Process;

/// What a server publishes.
#[derive(Debug)]
pub(in crate::command) struct Exposition {
    server: ServerHandle,
    registry: Registry,
}

impl Exposition {
    /// Of a server that was started just now.
    pub(in crate::command) fn new(server: ServerHandle, runtime: Runtime, workers: usize) -> Self {
        let started = SystemTime::now().duration_since(UNIX_EPOCH);
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Published {
            server: server.clone(),
            runtime,
            workers,
            started: started.map_or(0.0, |since| since.as_secs_f64()),
        }));
        Self { server, registry }
    }

    /// Whether the server takes no more clients.
    pub(super) fn is_draining(&self) -> bool {
        self.server.is_shutdown()
    }

    /// All of it as OpenMetrics text.
    pub(super) fn text(&self) -> Result<String, fmt::Error> {
        let mut out = String::new();
        text::encode(&mut out, &self.registry)?;
        Ok(out)
    }
}

/// What is asked when somebody scrapes.
#[derive(Debug)]
struct Published {
    server: ServerHandle,
    runtime: Runtime,
    workers: usize,
    /// Seconds from 1970.
    started: f64,
}

impl Collector for Published {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut families = Families(encoder);
        self.server_itself(&mut families)?;
        self.requests(&mut families)?;
        self.errors(&mut families)?;
        self.offload(&mut families)?;
        match Process::now() {
            Some(process) => self.process(&mut families, &process),
            None => Ok(()),
        }
    }
}

impl Published {
    fn server_itself(&self, families: &mut Families<'_>) -> fmt::Result {
        let help = "The version of helenus and the runtime that drives its connections.";
        let labels = [
            ("version", env!("CARGO_PKG_VERSION")),
            ("runtime", self.runtime.name()),
        ];
        let mut build = families.open("helenus_build", help, MetricType::Info)?;
        build.encode_info(&labels)?;
        families.gauge("helenus_workers", "Event loops.", self.workers)?;
        let draining = u64::from(self.server.is_shutdown());
        families.gauge(
            "helenus_draining",
            "1 while the server shuts down.",
            draining,
        )?;
        let open = self.server.connections();
        families.gauge("helenus_connections", "Open connections.", open)?;
        let held = self.server.held();
        let help = "Requests that were taken and whose answers aren't sent.";
        families.gauge("helenus_cql_requests_in_flight", help, held.requests)?;
        let help = "Bytes of requests arriving or in flight, and of unsent answers.";
        families.gauge("helenus_bytes_held", help, held.bytes)?;
        for (name, help, count) in self.server.totals().counters() {
            families.counter(&format!("helenus_{name}"), help, count)?;
        }
        Ok(())
    }

    fn requests(&self, families: &mut Families<'_>) -> fmt::Result {
        let latencies = self.server.latencies();
        let counts = latencies.iter().map(|(opcode, histogram)| {
            let name = opcode.name().unwrap_or_default();
            (name.to_ascii_lowercase(), histogram.count())
        });
        let help = "Requests that were answered, by opcode.";
        families.counters("helenus_cql_requests", help, "opcode", counts)?;

        let name = "helenus_cql_request_duration_seconds";
        let help = "Time from a request's arrival to its answer, by opcode.";
        let mut family = families.open(name, help, MetricType::Histogram)?;
        for (opcode, histogram) in &latencies {
            let opcode = opcode.name().unwrap_or_default().to_ascii_lowercase();
            let labels = [("opcode", opcode.as_str())];
            let buckets: Vec<_> = histogram.buckets.iter().enumerate().map(bound).collect();
            let sum = histogram.sum.as_secs_f64();
            let mut one = family.encode_family(&labels)?;
            one.encode_histogram::<NoLabelSet>(sum, histogram.count(), &buckets, None)?;
        }
        Ok(())
    }

    fn errors(&self, families: &mut Families<'_>) -> fmt::Result {
        let totals = self.server.totals();
        let names = ErrorCode::KNOWN
            .iter()
            .map(|code| code.name().unwrap_or_default());
        let names = names.chain(["OTHER"]).map(str::to_ascii_lowercase);
        let counts = names.zip(totals.error_codes.as_array().iter().copied());
        let help = "Answers that were ERRORs, by the name of their code.";
        families.counters("helenus_cql_errors", help, "type", counts)?;

        let kinds = ErrorKind::ALL.iter();
        let counts = kinds.map(|kind| (kind.name().to_owned(), totals.faults.get(*kind)));
        let help = "What broke the protocol or a limit, by kind.";
        families.counters("helenus_cql_faults", help, "kind", counts)
    }

    fn offload(&self, families: &mut Families<'_>) -> fmt::Result {
        let loads = [
            ("work", self.server.offload().load()),
            ("logins", self.server.logins().load()),
            ("hooks", self.server.hooks().load()),
        ];
        type Gauge = (&'static str, &'static str, fn(&OffloadLoad) -> usize);
        let gauges: [Gauge; 4] = [
            (
                "helenus_offload_queued",
                "Jobs that wait for a thread.",
                |load| load.queued,
            ),
            (
                "helenus_offload_running",
                "Jobs that are being worked on.",
                |load| load.running,
            ),
            ("helenus_offload_threads", "Threads of the pool.", |load| {
                load.threads
            }),
            (
                "helenus_offload_stuck",
                "Given-up threads still in their job.",
                |load| load.stuck,
            ),
        ];
        for (name, help, value) in gauges {
            let mut family = families.open(name, help, MetricType::Gauge)?;
            for (pool, load) in &loads {
                family
                    .encode_family(&[("pool", *pool)])?
                    .encode_gauge(&value(load))?;
            }
        }
        type Counter = (&'static str, &'static str, fn(&OffloadLoad) -> u64);
        let counters: [Counter; 4] = [
            ("helenus_offload_jobs", "Jobs that were begun.", |load| {
                load.jobs
            }),
            (
                "helenus_offload_refused",
                "Jobs that found the queue full.",
                |load| load.refused,
            ),
            (
                "helenus_offload_timed_out",
                "Jobs that were given up.",
                |load| load.timed_out,
            ),
            (
                "helenus_offload_expired",
                "Jobs that waited too long to be begun.",
                |load| load.expired,
            ),
        ];
        for (name, help, value) in counters {
            let counts = loads
                .iter()
                .map(|(pool, load)| ((*pool).to_owned(), value(load)));
            families.counters(name, help, "pool", counts)?;
        }
        Ok(())
    }

    fn process(&self, families: &mut Families<'_>, process: &Process) -> fmt::Result {
        let help = "When the process started, in seconds from 1970.";
        families.gauge("process_start_time_seconds", help, self.started)?;
        let help = "Processor time used.";
        families.counter("process_cpu_seconds", help, process.cpu_seconds)?;
        let help = "Memory in use.";
        families.gauge(
            "process_resident_memory_bytes",
            help,
            process.resident_bytes,
        )?;
        let help = "Open file descriptors.";
        families.gauge("process_open_fds", help, process.open_fds)?;
        match process.max_fds {
            Some(most) => families.gauge("process_max_fds", "The most of them.", most),
            None => Ok(()),
        }
    }
}

/// A bucket as the encoder takes it: its bound in seconds, and how many are in it alone.
fn bound((bucket, count): (usize, &u64)) -> (f64, u64) {
    let bound = Histogram::bound(bucket);
    (
        bound.map_or(f64::INFINITY, |bound| bound.as_secs_f64()),
        *count,
    )
}

/// Writes one family after the other.
struct Families<'e>(DescriptorEncoder<'e>);

impl Families<'_> {
    fn open<'s>(
        &'s mut self,
        name: &'s str,
        help: &str,
        metric_type: MetricType,
    ) -> Result<MetricEncoder<'s>, fmt::Error> {
        self.0.encode_descriptor(name, help, None, metric_type)
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl EncodeGaugeValue) -> fmt::Result {
        self.open(name, help, MetricType::Gauge)?
            .encode_gauge(&value)
    }

    /// `name` is without `_total`.
    fn counter(&mut self, name: &str, help: &str, value: impl EncodeCounterValue) -> fmt::Result {
        let mut family = self.open(name, help, MetricType::Counter)?;
        family.encode_counter::<NoLabelSet, _, u64>(&value, None)
    }

    /// The same with a label that tells several counts apart.
    fn counters(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        counts: impl Iterator<Item = (String, u64)>,
    ) -> fmt::Result {
        let mut family = self.open(name, help, MetricType::Counter)?;
        for (value, count) in counts {
            let labels = [(label, value.as_str())];
            let mut one = family.encode_family(&labels)?;
            one.encode_counter::<NoLabelSet, _, u64>(&count, None)?;
        }
        Ok(())
    }
}
