//! Inputs kept in the repository: one a line in hex, behind `#` why it is there.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::seeds::seeds;

/// The inputs of one target that are kept in `corpus/`; none if it has no file.
///
/// # Panics
/// If a line isn't hex.
pub(crate) fn kept(target: &str) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(file(target)).unwrap_or_default();
    let inputs = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim());
    inputs
        .filter(|line| !line.is_empty())
        .map(|line| {
            from_hex(line).unwrap_or_else(|| panic!("corpus/{target}.hex: not hex: {line}"))
        })
        .collect()
}

fn file(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("corpus/{target}.hex"))
}

/// Writes the seeds of a target into a directory of its name, a file each.
///
/// # Errors
/// As writing files.
pub fn export(target: &str, directory: &Path) -> io::Result<()> {
    let directory = directory.join(target);
    std::fs::create_dir_all(&directory)?;
    for (number, seed) in seeds(target).iter().enumerate() {
        std::fs::write(directory.join(format!("{number:06}")), seed)?;
    }
    Ok(())
}

/// Adds the files in the directory of a target's name to what is kept of it, but for what is a seed already.
///
/// # Errors
/// As reading and writing files.
pub fn import(target: &str, directory: &Path) -> io::Result<()> {
    let known: BTreeSet<_> = seeds(target).into_iter().collect();
    let mut lines: BTreeSet<_> = kept(target).iter().map(|input| to_hex(input)).collect();
    for entry in std::fs::read_dir(directory.join(target))? {
        let input = std::fs::read(entry?.path())?;
        if !known.contains(&input) {
            lines.insert(to_hex(&input));
        }
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(file(target), text)
}

/// The bytes of hex text.
#[must_use]
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok())
        .collect()
}

/// Bytes as hex text.
#[must_use]
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
