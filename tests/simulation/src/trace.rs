//! What happened in a run, a line an event. The same seed gives the same lines, byte for byte.

use std::fmt::{self, Write};
use std::time::Duration;

/// The lines of a run: always their digest, and the text if it is asked for.
#[derive(Debug)]
pub(crate) struct Trace {
    line: String,
    kept: Option<String>,
    digest: u64,
}

impl Trace {
    /// A trace that keeps its text or only digests it.
    #[must_use]
    pub(crate) fn new(keep: bool) -> Self {
        Self {
            line: String::new(),
            kept: keep.then(String::new),
            digest: 0xCBF2_9CE4_8422_2325,
        }
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, now: Duration, what: fmt::Arguments<'_>) {
        self.line.clear();
        // Writing to a string can't fail.
        let _ = writeln!(self.line, "{:>10} {what}", now.as_micros());
        for byte in self.line.bytes() {
            self.digest = (self.digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
        if let Some(kept) = &mut self.kept {
            kept.push_str(&self.line);
        }
    }

    /// FNV-1a of all lines.
    #[must_use]
    pub(crate) fn digest(&self) -> u64 {
        self.digest
    }

    /// The text, if it was kept.
    #[must_use]
    pub(crate) fn into_text(self) -> Option<String> {
        self.kept
    }
}
