"""The stages that need only Rust: format, lints, documentation, tests, features, packages."""

import json
import os
import pathlib
import re
import shutil

from . import paths, process

RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.M)

# Every feature by itself, and none: (package, what is passed to cargo).
FEATURES = [
    ("helenus-core", ["--no-default-features"]),
    ("helenus-core", ["--no-default-features", "--features", "lz4"]),
    ("helenus-core", ["--no-default-features", "--features", "snappy"]),
    ("helenus-core", ["--no-default-features", "--features", "testing"]),
    ("helenus-core", ["--no-default-features", "--features", "bigdecimal"]),
    ("helenus-core", ["--no-default-features", "--features", "chrono"]),
    ("helenus-core", ["--no-default-features", "--features", "serde"]),
    ("helenus-core", ["--no-default-features", "--features", "time"]),
    ("helenus-client", ["--no-default-features"]),
    ("helenus-client", ["--no-default-features", "--features", "tower"]),
    ("helenus-tokio", ["--no-default-features"]),
    ("helenus-tokio", ["--no-default-features", "--features", "tower"]),
    ("helenus-smol", ["--no-default-features"]),
    ("helenus-smol", ["--no-default-features", "--features", "async-std"]),
]

# Crates that are published, each after those that it needs.
PUBLISHED = [
    "helenus-core",
    "helenus-tls",
    "helenus-server",
    "helenus-client",
    "helenus-engine",
    "helenus-coordinator",
    "helenus-std",
    "helenus-tokio",
    "helenus-smol",
    "helenus",
]


def fmt(run):
    outcome = process.run(["cargo", "fmt", "--all", "--check"], "fmt", 120, run.report)
    run.report.outcome("cargo fmt --all --check", outcome)


def clippy(run):
    command = ["cargo", "clippy", "--workspace", "--all-targets", "--all-features", "--locked"]
    outcome = process.run(command + ["--", "-D", "warnings"], "clippy", 1200, run.report)
    run.report.outcome("cargo clippy -D warnings", outcome)


def doc(run):
    command = ["cargo", "doc", "--workspace", "--no-deps", "--all-features", "--locked"]
    outcome = process.run(
        command, "doc", 900, run.report, env={"RUSTDOCFLAGS": "-D warnings"}
    )
    run.report.outcome("cargo doc without warnings", outcome)


def test(run):
    command = ["cargo", "test", "--workspace", "--locked", "--no-fail-fast"]
    outcome = process.run(command, "test", 1500, run.report)
    passed = failed = ignored = 0
    for match in RESULT.finditer(outcome.output):
        passed += int(match.group(1))
        failed += int(match.group(2))
        ignored += int(match.group(3))
    if passed:
        run.report.ok("cargo test: %d tests (%.1f s)" % (passed, outcome.seconds), passed)
    for line in outcome.output.splitlines():
        if re.match(r"^test .+ \.\.\. FAILED$", line):
            run.report.fail("cargo test", line)
    if not outcome.ok and not failed:
        run.report.fail("cargo test", outcome.reason(), outcome.tail())
    elif failed:
        run.report.progress("see %s" % process.relative(outcome.log))
    elif not passed:
        run.report.fail("cargo test", "ran no test", outcome.tail())
    if ignored:
        run.report.note("cargo test: %d tests are marked #[ignore] and did not run" % ignored)


def features(run):
    for package, arguments in FEATURES:
        name = "%s %s" % (package, " ".join(arguments))
        command = ["cargo", "clippy", "--locked", "-p", package] + arguments + ["--", "-D", "warnings"]
        outcome = process.run(command, "features", 600, run.report)
        run.report.outcome(name, outcome)


def forget_packed():
    """Cargo unpacks what it packs into a folder named after this checkout, and takes what it finds there for
    the same version as still the same."""
    home = pathlib.Path(os.environ.get("CARGO_HOME") or pathlib.Path.home() / ".cargo")
    for name in PUBLISHED:
        # Sources of a registry that is a folder: those of a real one are named after its host.
        for unpacked in (home / "registry" / "src").glob("-*/%s-[0-9]*" % name):
            shutil.rmtree(unpacked, ignore_errors=True)


def package(run):
    forget_packed()
    packages = [argument for name in PUBLISHED for argument in ("-p", name)]
    command = ["cargo", "package", "--locked", "--allow-dirty"] + packages
    # As in the workspace's profile, which packed crates don't have: what they depend on is built already.
    env = {"CARGO_PROFILE_DEV_DEBUG": "line-tables-only"}
    outcome = process.run(command, "package", 900, run.report, env=env)
    run.report.outcome("cargo package of %d crates" % len(PUBLISHED), outcome)
    for name in PUBLISHED:
        command = ["cargo", "package", "--locked", "--allow-dirty", "--list", "-p", name]
        outcome = process.run(command, "package-list", 60, run.report)
        files = outcome.output.split()
        wanted = ["Cargo.toml", "README.md", "src/lib.rs"]
        missing = [file for file in wanted if file not in files]
        run.report.check(
            "%s holds %s" % (name, ", ".join(wanted)),
            outcome.ok and not missing,
            "missing: %s" % ", ".join(missing or ["(cargo package --list failed)"]),
        )


def build(run):
    outcome = process.run(["cargo", "build", "--release", "--locked"], "build", 1500, run.report)
    run.report.outcome("cargo build --release", outcome)


def build_aborting(run):
    """The command and the fuzz targets in a build that a panic ends. One at a time, what they share would have other
    features, and be built twice."""
    command = ["cargo", "build", "--profile", "fuzz", "--locked", "-q", "-p", "helenus", "-p", "helenus-fuzz"]
    outcome = process.run(command, "fuzz-build", 1200, run.report)
    return run.report.outcome("cargo build --profile fuzz", outcome)


def fuzz(run):
    """Seeds and bounded mutation of every fuzz target, in a build that a panic ends."""
    if not build_aborting(run):
        return
    outcome = process.run([paths.ABORTING / "helenus-fuzz", "--json"], "fuzz", 1200, run.report)
    targets = [json.loads(line) for line in outcome.output.splitlines() if line.startswith("{")]
    for target in targets:
        run.report.ok("%(target)s: %(seeds)d seeds, %(mutations)d mutations" % target)
    run.report.outcome("fuzz targets without a finding", outcome)


def codec_bench(run):
    """It stands outside the workspace; nothing is measured here."""
    command = ["cargo", "check", "--locked"]
    directory = paths.ROOT / "tests" / "codec-bench"
    outcome = process.run(command, "codec-bench", 600, run.report, cwd=directory)
    run.report.outcome("cargo check of tests/codec-bench", outcome)
