//! Logging to standard error: one line an event, so many a second of a kind at most if they are warnings or errors, and
//! never a thread of the server's that waits for whoever reads them.

mod limit;
mod lines;

use std::io;

use tracing_subscriber::Registry;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::reload;
use tracing_subscriber::util::SubscriberInitExt;

use limit::Limited;
use lines::Lines;

/// The log of the process.
#[derive(Debug)]
pub(super) struct Log {
    level: reload::Handle<LevelFilter, Registry>,
    lines: Lines,
}

impl Log {
    /// Logs what is of this level or graver to standard error from now on.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(super) fn start(level: LevelFilter) -> io::Result<Self> {
        let lines = Lines::start(io::stderr())?;
        let (filter, handle) = reload::Layer::new(level);
        let format = tracing_subscriber::fmt::layer()
            .with_ansi(io::IsTerminal::is_terminal(&io::stderr()))
            .event_format(Limited::default())
            .with_writer(lines.clone());
        tracing_subscriber::registry()
            .with(filter)
            .with(format)
            .init();
        Ok(Self {
            level: handle,
            lines,
        })
    }

    /// Logs from now on what is of this level or graver.
    pub(super) fn set_level(&self, level: LevelFilter) {
        // It fails only if the subscriber is gone, and nobody logs any more.
        let _ = self.level.modify(|current| *current = level);
    }

    /// Waits until what was logged is written, a second at most: whoever reads it may have stopped to.
    pub(super) fn finish(&self) {
        self.lines.flush();
    }
}
