//! The pure crates do no I/O, read no clock, make no randomness, start no thread, take no lock and log nothing.
//! `clippy.toml` refuses the same by type, where it can; this reads the sources, whatever their features.

use crate::source::Code;
use crate::workspace::{named, packages, root, shown};

const PURE: &[&str] = &["helenus-core", "helenus-engine", "helenus-coordinator"];

/// What may not occur in the code of a pure crate, and what to do instead.
const FORBIDDEN: &[(&str, &str)] = &[
    ("Instant::now", "the caller passes the time"),
    ("SystemTime", "the caller passes the time"),
    ("std::thread", "the caller owns the threads"),
    ("thread::spawn", "the caller owns the threads"),
    (
        "thread_local!",
        "state belongs to a value that the caller owns",
    ),
    ("Mutex", "ownership by &mut self"),
    ("RwLock", "ownership by &mut self"),
    ("Condvar", "nothing waits"),
    ("TcpStream", "bytes in, bytes out"),
    ("TcpListener", "bytes in, bytes out"),
    ("UdpSocket", "bytes in, bytes out"),
    ("UnixStream", "bytes in, bytes out"),
    ("ToSocketAddrs", "names are resolved elsewhere"),
    ("std::io", "bytes in, bytes out"),
    ("std::fs", "bytes in, bytes out"),
    ("std::env", "configuration is passed"),
    ("std::process", "nothing is started or ended here"),
    (
        "RandomState::new",
        "hashing with a seed of its own is randomness; the default of a map is allowed",
    ),
    ("new_v4", "the caller passes the randomness"),
    ("now_v1", "the caller passes the time"),
    ("now_v7", "the caller passes the time"),
    ("println!", "nothing is printed"),
    ("eprintln!", "nothing is printed"),
    ("tracing::", "what happened is a value"),
    ("log::", "what happened is a value"),
    (".await", "progress is a return value"),
    ("async fn", "progress is a return value"),
];

/// What occurs for a reason: the one loop in which a caller's own future waits for readers and consumers.
const ALLOWED: &[(&str, &str)] = &[
    ("engine/src/readers/waiting.rs", ".await"),
    ("engine/src/readers/waiting.rs", "async fn"),
];

#[test]
fn pure_sources_touch_nothing_outside() {
    let mut wrong = Vec::new();
    for package in packages()
        .iter()
        .filter(|package| PURE.contains(&package.name.as_str()))
    {
        for file in package.sources() {
            let code = Code::read(&file);
            let shown_file = shown(&file);
            let is_allowed = |text: &str| ALLOWED.contains(&(shown_file.as_str(), text));
            for (text, instead) in FORBIDDEN.iter().filter(|(text, _)| !is_allowed(text)) {
                if let Some(line) = code.find_outside_tests(text) {
                    wrong.push(format!("{shown_file}:{line}: {text} ({instead})"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_client_crate_reads_no_clock_and_starts_nothing() {
    let mut wrong = Vec::new();
    // Its `testing` is compiled for its own tests alone.
    let sources = named("helenus-client").sources().into_iter();
    for file in sources.filter(|file| !file.ends_with("testing.rs")) {
        let code = Code::read(&file);
        for text in [
            "Instant::now",
            "SystemTime",
            "thread::spawn",
            "TcpStream",
            "std::fs",
        ] {
            if let Some(line) = code.find_outside_tests(text) {
                wrong.push(format!("{}:{line}: {text}", shown(&file)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn pure_crates_refuse_the_same_by_clippy() {
    for package in packages()
        .iter()
        .filter(|package| PURE.contains(&package.name.as_str()))
    {
        let file = package.folder.join("clippy.toml");
        let text = std::fs::read_to_string(&file).unwrap_or_else(|_| panic!("no {}", shown(&file)));
        for needed in [
            "std::time::Instant::now",
            "std::time::SystemTime::now",
            "std::thread::spawn",
            "std::sync::Mutex",
        ] {
            assert!(
                text.contains(needed),
                "{} doesn't refuse {needed}",
                shown(&file)
            );
        }
    }
}

#[test]
fn every_crate_forbids_unsafe_code_and_wants_documentation() {
    let workspace =
        std::fs::read_to_string(root().join("Cargo.toml")).expect("the manifest of the workspace");
    assert!(workspace.contains("unsafe_code = \"forbid\""));
    assert!(workspace.contains("missing_docs = \"deny\""));
    for package in packages().iter().filter(|package| package.published()) {
        let manifest =
            std::fs::read_to_string(package.folder.join("Cargo.toml")).expect("a manifest");
        assert!(
            manifest.contains("[lints]\nworkspace = true"),
            "{} has lints of its own",
            package.name
        );
    }
}

#[test]
fn no_lint_of_the_workspace_is_lifted() {
    for package in packages() {
        for file in package.sources() {
            let code = Code::read(&file);
            for lint in [
                "allow(missing_docs",
                "expect(missing_docs",
                "allow(unsafe_code",
                "expect(unsafe_code",
            ] {
                assert!(
                    code.find_outside_tests(lint).is_none(),
                    "{}: {lint}",
                    shown(&file)
                );
            }
        }
    }
}
