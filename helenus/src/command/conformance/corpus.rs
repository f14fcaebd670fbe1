//! The probes: those that the command carries, or a file of others; and which of them are asked for.

use std::fs;
use std::io;
use std::path::Path;

use super::ConformanceError;
use super::probe::Probe;

/// The probes as the build script packed them.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/probes.lz4"));

/// The text of the probes in `file`, or of those that the command carries.
pub(super) fn text(file: Option<&Path>) -> io::Result<String> {
    match file {
        Some(file) => fs::read_to_string(file),
        None => {
            let unpacked = lz4_flex::block::decompress_size_prepended(PACKED);
            String::from_utf8(unpacked.map_err(io::Error::other)?).map_err(io::Error::other)
        }
    }
}

/// Reads probes, one a line.
pub(super) fn parse(text: &str) -> Result<Vec<Probe>, ConformanceError> {
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            serde_json::from_str(line).map_err(|error| ConformanceError::Probe(index + 1, error))
        })
        .collect()
}

/// Which probes are played.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// Of these groups; of all if there is none.
    pub(super) groups: Vec<String>,
    /// Of this protocol version.
    pub(super) version: Option<u8>,
    /// With this text in their names.
    pub(super) only: Option<String>,
    /// Not those of Cassandra's defects.
    pub(super) without_quirks: bool,
}

impl Selection {
    /// Whether a probe is asked for.
    pub(super) fn includes(&self, probe: &Probe) -> bool {
        (self.groups.is_empty() || self.groups.contains(&probe.group))
            && self.version.is_none_or(|version| version == probe.version)
            && self
                .only
                .as_ref()
                .is_none_or(|text| probe.id.contains(text))
            && !(self.without_quirks && probe.quirk.is_some())
    }
}
