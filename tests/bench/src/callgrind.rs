//! Instructions, as callgrind counts them: no noise moves them.

use std::path::Path;
use std::process::Command;

/// The instructions a request of a program that takes these arguments and the number of requests: those of a
/// run of 2N `requests` less those of one of N, divided by N. What happens once counts for nothing.
///
/// # Errors
/// What valgrind says, if it counted nothing.
pub fn per_request(program: &Path, arguments: &[&str], requests: u64) -> Result<f64, String> {
    let twice = whole_run(program, arguments, 2 * requests)?;
    let more = twice.saturating_sub(whole_run(program, arguments, requests)?);
    Ok(more as f64 / requests as f64)
}

fn whole_run(program: &Path, arguments: &[&str], requests: u64) -> Result<u64, String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(arguments)
        .arg(requests.to_string())
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    let collected = report
        .lines()
        .find_map(|line| line.split("Collected :").nth(1)?.trim().parse().ok());
    collected.ok_or_else(|| format!("callgrind reports nothing:\n{report}"))
}
