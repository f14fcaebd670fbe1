//! Arrows between crates point one way, and what is published is fit to be.

use crate::workspace::{Package, list, named, packages, text};

/// Which crates of the workspace a crate may know. Who isn't here isn't published.
const ARROWS: &[(&str, &[&str])] = &[
    ("helenus-core", &[]),
    ("helenus-engine", &["helenus-core"]),
    ("helenus-coordinator", &["helenus-core"]),
    ("helenus-tls", &["helenus-core"]),
    ("helenus-server", &["helenus-core", "helenus-tls"]),
    ("helenus-client", &["helenus-core", "helenus-tls"]),
    (
        "helenus-std",
        &["helenus-core", "helenus-server", "helenus-client"],
    ),
    (
        "helenus-tokio",
        &["helenus-core", "helenus-server", "helenus-client"],
    ),
    (
        "helenus-smol",
        &["helenus-core", "helenus-server", "helenus-client"],
    ),
    (
        "helenus",
        &[
            "helenus-core",
            "helenus-engine",
            "helenus-coordinator",
            "helenus-tls",
            "helenus-server",
            "helenus-client",
            "helenus-std",
            "helenus-tokio",
            "helenus-smol",
        ],
    ),
];

/// Crates that do I/O, keep time, make randomness or log: nothing for a crate that promises to do none of it.
const IMPURE: &[&str] = &[
    "async-channel",
    "async-io",
    "async-std",
    "chrono",
    "crossbeam",
    "fastrand",
    "futures-lite",
    "getrandom",
    "libc",
    "log",
    "mio",
    "parking_lot",
    "polling",
    "rand",
    "rayon",
    "rustix",
    "signal-hook",
    "smol",
    "socket2",
    "time",
    "tokio",
    "tracing",
];

/// Crates whose types a feature may bring; their clocks are features that nobody asks for.
const TYPES_OF_TIME: &[&str] = &["chrono", "time"];

/// Runtimes and sockets: each adapter's own, and nobody else's business.
const RUNTIMES: &[&str] = &[
    "async-io",
    "async-std",
    "mio",
    "polling",
    "rustix",
    "smol",
    "socket2",
    "tokio",
];

#[test]
fn crates_know_only_those_below_them() {
    let mut wrong = Vec::new();
    for package in packages().iter().filter(|package| package.published()) {
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == package.name) else {
            wrong.push(format!("{} is published but has no arrows", package.name));
            continue;
        };
        for dependency in package
            .dependencies
            .iter()
            .filter(|name| name.starts_with("helenus"))
        {
            if !allowed.contains(&dependency.as_str()) {
                wrong.push(format!("{} may not know {dependency}", package.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn pure_crates_need_no_impure_crate() {
    for name in ["helenus-core", "helenus-engine", "helenus-coordinator"] {
        let package = named(name);
        let is_optional = |d: &str| {
            let mut dependencies = list(&package.manifest["dependencies"]).iter();
            dependencies.any(|found| found["name"] == d && found["optional"] == true)
        };
        let found: Vec<_> = package
            .dependencies
            .iter()
            .filter(|d| IMPURE.contains(&d.as_str()))
            .filter(|d| !(TYPES_OF_TIME.contains(&d.as_str()) && is_optional(d)))
            .collect();
        assert!(found.is_empty(), "{name} needs {found:?}");
    }
}

#[test]
fn what_runtimes_share_knows_no_runtime_and_no_socket() {
    for name in ["helenus-tls", "helenus-server", "helenus-client"] {
        let found: Vec<_> = named(name)
            .dependencies
            .into_iter()
            .filter(|d| RUNTIMES.contains(&d.as_str()))
            .collect();
        assert!(found.is_empty(), "{name} needs {found:?}");
    }
}

#[test]
fn an_adapter_knows_only_its_own_runtime() {
    for (name, own) in [
        ("helenus-std", &["rustix", "socket2", "polling"][..]),
        ("helenus-tokio", &["tokio", "socket2"]),
        (
            "helenus-smol",
            &["smol", "async-std", "async-io", "socket2"],
        ),
    ] {
        let foreign: Vec<_> = named(name)
            .dependencies
            .into_iter()
            .filter(|d| RUNTIMES.contains(&d.as_str()) && !own.contains(&d.as_str()))
            .collect();
        assert!(foreign.is_empty(), "{name} needs {foreign:?}");
    }
}

#[test]
fn published_crates_say_what_the_registry_asks_for() {
    for package in packages().iter().filter(|package| package.published()) {
        let Package { name, manifest, .. } = package;
        for key in [
            "description",
            "license",
            "repository",
            "readme",
            "rust_version",
        ] {
            assert!(!text(&manifest[key]).is_empty(), "{name} has no {key}");
        }
        let keywords = list(&manifest["keywords"]).len();
        assert!(
            (1..=5).contains(&keywords),
            "{name} has {keywords} keywords"
        );
        assert!(
            !list(&manifest["categories"]).is_empty(),
            "{name} has no categories"
        );
        assert!(
            manifest["metadata"]["docs"]["rs"]["all-features"] == true,
            "{name} has no docs.rs metadata"
        );
        assert!(
            package.folder.join("README.md").is_file(),
            "{name} has no README.md"
        );
    }
}
