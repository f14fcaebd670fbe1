//! The workspace as `cargo metadata` and the file system see it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The root folder of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ has a parent")
        .to_owned()
}

/// One crate of the workspace.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// Names of what it needs when it is built for use: neither for its tests nor for its build script.
    pub(crate) dependencies: Vec<String>,
    /// Its part of `cargo metadata`.
    pub(crate) manifest: Value,
}

impl Package {
    pub(crate) fn published(&self) -> bool {
        self.manifest["publish"].is_null()
    }

    /// Every Rust file below `src`, tests included.
    pub(crate) fn sources(&self) -> Vec<PathBuf> {
        rust_files(&self.folder.join("src"))
    }
}

/// Every crate of the workspace.
pub(crate) fn packages() -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo metadata runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    list(&metadata["packages"]).iter().map(package).collect()
}

/// The crate of this name.
pub(crate) fn named(name: &str) -> Package {
    packages()
        .into_iter()
        .find(|package| package.name == name)
        .unwrap_or_else(|| panic!("no crate {name}"))
}

fn package(manifest: &Value) -> Package {
    let dependencies = list(&manifest["dependencies"]);
    let dependencies = dependencies
        .iter()
        .filter(|dependency| dependency["kind"].is_null());
    Package {
        name: text(&manifest["name"]),
        folder: Path::new(&text(&manifest["manifest_path"]))
            .parent()
            .expect("a folder")
            .to_owned(),
        dependencies: dependencies
            .map(|dependency| text(&dependency["name"]))
            .collect(),
        manifest: manifest.clone(),
    }
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Every Rust file below a folder, in order.
pub(crate) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries {
            let path = entry.expect("a readable folder").path();
            let name = path.file_name().unwrap_or_default();
            if path.is_dir() && name != "target" && name != ".cache" {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A path as the reader of a failure knows it.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}
