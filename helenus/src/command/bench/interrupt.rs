//! Ends a load on a signal without leaving behind what it made.

use std::io;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::error::BenchError;

/// How long dropping what was made may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether the load is to end.
#[derive(Debug, Clone)]
pub(super) struct Interrupt(Arc<AtomicI32>);

impl Interrupt {
    /// From now on the first SIGINT or SIGTERM only asks the load to end. The second ends the process, and so does the
    /// first after ten seconds.
    ///
    /// # Errors
    /// When the system refuses the handler or the thread.
    pub(super) fn listen() -> io::Result<Self> {
        let interrupt = Self(Arc::default());
        let asked = interrupt.clone();
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for signal in signals.forever() {
                    if asked.0.swap(signal, Ordering::Relaxed) != 0 {
                        process::exit(128 + signal);
                    }
                    say_so();
                    thread::spawn(move || {
                        thread::sleep(PATIENCE);
                        process::exit(128 + signal);
                    });
                }
            })?;
        Ok(interrupt)
    }

    /// # Errors
    /// [`BenchError::Interrupted`] once there was a signal.
    pub(super) fn check(&self) -> Result<(), BenchError> {
        match self.0.load(Ordering::Relaxed) {
            0 => Ok(()),
            signal => Err(BenchError::Interrupted(signal)),
        }
    }
}

#[expect(
    clippy::print_stderr,
    reason = "who pressed the keys is to know what they wait for"
)]
fn say_so() {
    eprintln!("helenus: dropping what was made; a second signal doesn't wait for it");
}
