//! What the system says of the process, under the names that Prometheus' clients have agreed upon.

use std::fs;

/// What the system says of the process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Process {
    /// Seconds of processor time used.
    pub(super) cpu_seconds: f64,
    /// Bytes of memory in use.
    pub(super) resident_bytes: u64,
    /// Open file descriptors.
    pub(super) open_fds: u64,
    /// The most file descriptors it may have open; `None` for no limit.
    pub(super) max_fds: Option<u64>,
}

impl Process {
    /// As it is now; `None` where the system doesn't have `/proc`.
    pub(super) fn now() -> Option<Self> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        let statm = fs::read_to_string("/proc/self/statm").ok()?;
        let open_fds = fs::read_dir("/proc/self/fd").ok()?.count();
        let limits = rustix::process::getrlimit(rustix::process::Resource::Nofile);
        Some(Self {
            cpu_seconds: ticks(&stat)? as f64 / rustix::param::clock_ticks_per_second() as f64,
            resident_bytes: resident_pages(&statm)? * rustix::param::page_size() as u64,
            // The folder itself was open too.
            open_fds: open_fds.saturating_sub(1) as u64,
            max_fds: limits.current,
        })
    }
}

/// Clock ticks in user and system mode, of a line of `/proc/self/stat`. The name of the program, in parentheses, may hold
/// anything.
fn ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let (user, system) = (fields.next()?, fields.next()?);
    Some(user.parse::<u64>().ok()? + system.parse::<u64>().ok()?)
}

/// The second number of `/proc/self/statm`.
fn resident_pages(statm: &str) -> Option<u64> {
    statm.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_found_behind_any_name() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 1 0 0 0 25 17 0 0 20 0 3 0 9 8 7";
        assert_eq!(ticks(stat), Some(42));
        assert_eq!(ticks("7 (a) S 1"), None);
        assert_eq!(resident_pages("900 21 8 1 0 4 0\n"), Some(21));
    }
}
