//! [`Heartbeat`]: whether the server is alive, and when to ask it.

use std::time::{Duration, Instant};

use crate::timers::Deadline;

/// When the server was last heard of, and whether it was asked since.
#[derive(Debug)]
pub(super) struct Heartbeat {
    /// When it is to be asked, counted from its last byte.
    silence: Deadline,
    /// When it is given up, counted from the question or its last byte, whichever came later.
    patience: Deadline,
    /// Whether a question is unanswered.
    asked: bool,
}

/// What is to be done about a silent server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pulse {
    Alive,
    Ask,
    Dead,
}

impl Heartbeat {
    pub(super) const fn new(
        now: Instant,
        interval: Option<Duration>,
        timeout: Duration,
    ) -> Heartbeat {
        Heartbeat {
            silence: Deadline::new(now, interval),
            patience: Deadline::new(now, Some(timeout)),
            asked: false,
        }
    }

    /// Bytes came.
    #[inline]
    pub(super) fn heard(&mut self, now: Instant) {
        self.silence.restart(now);
        self.patience.restart(now);
    }

    /// The question is written.
    pub(super) fn asked(&mut self, now: Instant) {
        self.asked = true;
        self.patience.restart(now);
    }

    /// Its answer came; whether there was a question.
    pub(super) fn answered(&mut self) -> bool {
        std::mem::take(&mut self.asked)
    }

    /// When to look again.
    pub(super) fn at(&self) -> Option<Instant> {
        if self.asked {
            // Whoever sends while a question waits is alive: it is silent for an interval first.
            return Some(self.patience.at()?.max(self.silence.at()?));
        }
        self.silence.at()
    }

    pub(super) fn pulse(&self, now: Instant) -> Pulse {
        match self.at() {
            Some(at) if at > now => Pulse::Alive,
            None => Pulse::Alive,
            Some(_) if self.asked => Pulse::Dead,
            Some(_) => Pulse::Ask,
        }
    }
}
