//! A bounded queue of lines and the thread that writes them. Whoever logs only queues: a reader that stops reading and a
//! disk that is full cost lines, which are counted, and no thread waits.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

/// Lines that may wait to be written.
const QUEUE: usize = 1024;

/// How long the end of the process waits for lines to be written.
const PATIENCE: Duration = Duration::from_secs(1);

/// The way to the thread that writes.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    queue: SyncSender<Item>,
    lost: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Item {
    Line(Box<[u8]>),
    /// All lines before it are written: say so.
    Flush(SyncSender<()>),
}

impl Lines {
    /// Writes to `out` what is logged, on a thread of its own.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(super) fn start(out: impl Write + Send + 'static) -> io::Result<Self> {
        let (queue, items) = sync_channel(QUEUE);
        let lost = Arc::new(AtomicU64::new(0));
        let losses = Arc::clone(&lost);
        thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || write(out, &items, &losses))?;
        Ok(Self { queue, lost })
    }

    /// Waits until what was queued before is written, but not for long.
    pub(super) fn flush(&self) {
        let (written, told) = sync_channel(1);
        if self.queue.try_send(Item::Flush(written)).is_ok() {
            // Late or never, there is nothing else to do about it.
            let _ = told.recv_timeout(PATIENCE);
        }
    }
}

fn write(mut out: impl Write, items: &Receiver<Item>, lost: &AtomicU64) {
    for item in items {
        match item {
            Item::Line(line) => {
                let missing = lost.swap(0, Ordering::Relaxed);
                if out.write_all(&line).is_err() {
                    lost.fetch_add(missing + 1, Ordering::Relaxed);
                } else if missing > 0 {
                    let note = format!("({missing} lines could not be logged)\n");
                    if out.write_all(note.as_bytes()).is_err() {
                        lost.fetch_add(missing, Ordering::Relaxed);
                    }
                }
            }
            Item::Flush(written) => {
                let _ = out.flush();
                let _ = written.try_send(());
            }
        }
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(self)
    }
}

/// Takes a line, which the subscriber writes as a whole.
#[derive(Debug)]
pub(super) struct Line<'a>(&'a Lines);

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if !line.is_empty()
            && let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) =
                self.0.queue.try_send(Item::Line(line.into()))
        {
            self.0.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::Sender;

    use super::*;

    /// Fails while it is full, and otherwise keeps what is written.
    #[derive(Clone, Default)]
    struct Disk(Arc<Mutex<(bool, String)>>);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut disk = self.0.lock().unwrap();
            if disk.0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            disk.1.push_str(str::from_utf8(bytes).unwrap());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn log(lines: &Lines, text: &str) {
        lines.make_writer().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn a_full_disk_costs_lines_which_are_counted_once_there_is_room() {
        let disk = Disk::default();
        let lines = Lines::start(disk.clone()).unwrap();
        log(&lines, "one\n");
        lines.flush();
        disk.0.lock().unwrap().0 = true;
        log(&lines, "two\n");
        log(&lines, "three\n");
        lines.flush();
        disk.0.lock().unwrap().0 = false;
        log(&lines, "four\n");
        lines.flush();
        let written = "one\nfour\n(2 lines could not be logged)\n";
        assert_eq!(disk.0.lock().unwrap().1, written);
    }

    /// Blocks until it is told to go on, at each write.
    struct Stalled(Receiver<()>, Sender<usize>);

    impl Write for Stalled {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            let _ = self.1.send(bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nobody_waits_for_a_reader_that_stopped_reading() {
        let (go_on, stop) = std::sync::mpsc::channel();
        let (wrote, written) = std::sync::mpsc::channel();
        let lines = Lines::start(Stalled(stop, wrote)).unwrap();
        for _ in 0..2 * QUEUE {
            log(&lines, "line\n");
        }
        // One may be with the thread, and the queue is full.
        let lost = lines.lost.load(Ordering::Relaxed) as usize;
        assert!((QUEUE - 1..=QUEUE).contains(&lost), "{lost}");
        drop(go_on);
        assert_eq!(written.iter().next(), Some(5));
    }
}
