//! What errors as values cost where there is no error: the same connection, its errors thrown instead.
//!
//! Each variant is core's own source with a patch, built in a workspace of its own in `target/ablation` and
//! driven by the same scenarios as `core v4` and its like:
//!
//! * *values*: as it is. Every reader returns a `Result`, and its caller looks at it.
//! * *boxed* (`boxed.patch`): as many programs have it, an error is a `Box<dyn Error>`, so that results are
//!   smaller but an error allocates.
//! * *unwinding* (`unwinding.patch`): an error is thrown by `resume_unwind` where it is made, and caught by
//!   `catch_unwind` where the connection would have looked at a value: around each `parse`, and around each
//!   step of the framing. The type of the error has no value, so that `Result`s of it are as wide as their
//!   `Ok`, and the compiler leaves out every look at them: that is what the plumbing costs.
//! * *uncaught* (`uncaught.patch` on top): the same without the `catch_unwind`s, as if catching were free
//!   and nobody had to. An error ends the program; no server could be built so. It is the least that any way
//!   to report errors can cost.
//!
//! What the connection does for an error is the same in all of them but the last.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::callgrind;

/// The variants, and the patches that make them of core.
const VARIANTS: &[(&str, &[&str])] = &[
    ("values", &[]),
    ("boxed", &["boxed.patch"]),
    ("unwinding", &["unwinding.patch"]),
    ("uncaught", &["unwinding.patch", "uncaught.patch"]),
];

/// Scenarios without an error, and with one a request.
const GOOD: &[&str] = &["execute v4", "execute v5", "query v4", "batch v4"];
const BAD: &[&str] = &["malformed execute v4", "malformed batch v4"];

/// What values may cost on the good path, compared with unwinding.
const LIMIT: f64 = 1.003;

/// Builds the variants, and prints what a request costs in each.
///
/// # Errors
/// What didn't build or run; or that values cost more than they may.
pub fn table() -> Result<(), String> {
    let mut programs = Vec::new();
    for (name, patches) in VARIANTS {
        programs.push(build(name, patches)?);
    }
    print!("{:<24}", "instructions a request");
    for (name, _) in VARIANTS {
        print!(" {name:>10}");
    }
    println!(" {:>16}", "values/unwinding");
    let mut over = Vec::new();
    for scenario in GOOD.iter().chain(BAD) {
        print!("{scenario:<24}");
        let mut costs = Vec::new();
        for (program, (name, _)) in programs.iter().zip(VARIANTS) {
            // Where an error ends the program there is nothing to measure.
            if *name == "uncaught" && BAD.contains(scenario) {
                print!(" {:>10}", "-");
                continue;
            }
            let cost = callgrind::per_request(program, &[scenario], 3200)?;
            print!(" {cost:>10.1}");
            costs.push(cost);
        }
        let ratio = match costs[..] {
            [values, _, unwinding, ..] => values / unwinding,
            _ => f64::NAN,
        };
        println!(" {ratio:>16.4}");
        if ratio > LIMIT {
            over.push(*scenario);
        }
    }
    if over.is_empty() {
        return Ok(());
    }
    Err(format!("values cost too much: {}", over.join("; ")))
}

/// Builds a variant in a folder of its own; its program.
fn build(name: &str, patches: &[&str]) -> Result<PathBuf, String> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = bench.join("../..");
    let target = root.join("target/ablation");
    let folder = target.join(name);
    let made = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(made)?;
    }
    copy(&root.join("core/src"), &folder.join("core/src")).map_err(made)?;
    let sources = folder.join("bench/src");
    fs::create_dir_all(&sources).map_err(made)?;
    for file in ["src/client.rs", "src/core.rs", "ablation/main.rs"] {
        let from = bench.join(file);
        fs::copy(&from, sources.join(from.file_name().unwrap_or_default())).map_err(made)?;
    }
    for file in ["Cargo.lock", "rust-toolchain.toml"] {
        fs::copy(root.join(file), folder.join(file)).map_err(made)?;
    }
    // The same dependencies and profiles, for two members that need no others for tests.
    let workspace = fs::read_to_string(root.join("Cargo.toml")).map_err(made)?;
    let workspace: Vec<&str> = workspace
        .lines()
        .map(|line| match line.split(' ').next() {
            Some("members") => "members = [\"core\", \"bench\"]",
            Some("default-members") => "",
            _ => line,
        })
        .collect();
    fs::write(folder.join("Cargo.toml"), workspace.join("\n")).map_err(made)?;
    let core = fs::read_to_string(root.join("core/Cargo.toml")).map_err(made)?;
    let core = core
        .split("[dev-dependencies]")
        .next()
        .unwrap_or_default()
        .replace("[lints]\nworkspace = true\n", "");
    fs::write(folder.join("core/Cargo.toml"), core).map_err(made)?;
    let manifest = format!(
        "[package]\nname = \"ablation-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [dependencies]\nbytes.workspace = true\nhelenus-core.workspace = true\nlz4_flex.workspace = true\n"
    );
    fs::write(folder.join("bench/Cargo.toml"), manifest).map_err(made)?;
    for patch in patches {
        let patch = bench.join("ablation").join(patch);
        run(Command::new("patch")
            .args(["--strip=0", "--silent", "--input"])
            .arg(&patch)
            .current_dir(folder.join("core")))?;
    }
    // One unit, so that what is inlined depends on nothing but the source.
    run(Command::new("cargo")
        .args(["build", "--release", "--quiet", "--package"])
        .arg(format!("ablation-{name}"))
        .env("CARGO_TARGET_DIR", target.join("target"))
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
        .env("RUSTFLAGS", "--cap-lints=allow")
        .current_dir(&folder))?;
    Ok(target.join(format!("target/release/ablation-{name}")))
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!("{command:?}:\n{}", String::from_utf8_lossy(&said)))
}
