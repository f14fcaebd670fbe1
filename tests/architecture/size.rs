//! Files stay short enough to be read whole.

use std::path::{Path, PathBuf};

use crate::source::Code;
use crate::workspace::{packages, root, rust_files, shown};

/// No file is longer, tests included; what a program has generated says so in its first lines.
const LONGEST: usize = 600;
/// Half of the sources, tests aside, are at most this long.
const MEDIAN: usize = 200;
/// The loop that moves bytes between a socket and a connection.
const PUMP: usize = 250;
/// An adapter with both sides and its wrappers for other libraries, tests aside.
const ADAPTER: usize = 1000;

const ADAPTERS: &[&str] = &["helenus-std", "helenus-tokio", "helenus-smol"];

fn is_generated(file: &Path) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().take(5).any(|line| line.contains("@generated"))
}

fn is_test(file: &Path) -> bool {
    file.components()
        .any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
}

#[test]
fn no_file_is_too_long() {
    let mut long = Vec::new();
    for file in rust_files(&root()) {
        let lines = std::fs::read_to_string(&file)
            .expect("a readable file")
            .lines()
            .count();
        if lines > LONGEST && !is_generated(&file) {
            long.push(format!("{}: {lines} lines", shown(&file)));
        }
    }
    assert!(long.is_empty(), "longer than {LONGEST}: {long:#?}");
}

#[test]
fn half_of_the_files_are_short() {
    let files = packages()
        .into_iter()
        .filter(|package| package.published())
        .flat_map(|package| package.sources());
    let relative = |file: &PathBuf| file.strip_prefix(root()).unwrap_or(file).to_owned();
    let mut lengths: Vec<usize> = files
        .filter(|file| !is_test(&relative(file)) && !is_generated(file))
        .map(|file| Code::read(&file).lines_outside_tests())
        .collect();
    lengths.sort_unstable();
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
    assert!(median <= MEDIAN, "median {median} lines");
}

#[test]
fn a_pump_and_an_adapter_stay_thin() {
    let mut wrong = Vec::new();
    for package in packages()
        .iter()
        .filter(|package| ADAPTERS.contains(&package.name.as_str()))
    {
        let mut whole = 0;
        for file in package
            .sources()
            .iter()
            .filter(|file| !is_test(file.strip_prefix(root()).unwrap_or(file)))
        {
            let lines = Code::read(file).lines_outside_tests();
            whole += lines;
            if file.file_name().is_some_and(|name| name == "pump.rs") && lines > PUMP {
                wrong.push(format!("{}: {lines} lines, {PUMP} at most", shown(file)));
            }
        }
        if whole > ADAPTER {
            wrong.push(format!(
                "{}: {whole} lines, {ADAPTER} at most",
                package.name
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_source_says_first_what_it_is() {
    let mut silent = Vec::new();
    for package in packages() {
        for file in package
            .sources()
            .iter()
            .filter(|file| !is_test(file.strip_prefix(root()).unwrap_or(file)))
        {
            let text = std::fs::read_to_string(file).expect("a readable file");
            if !text.trim_start().starts_with("//!") {
                silent.push(shown(file));
            }
        }
    }
    assert!(silent.is_empty(), "no //! at the top: {silent:#?}");
}
