//! [`Stats`]: plain counters of a connection. Nothing is shared: whoever drives the connection adds the
//! differences to what it publishes.

use crate::codes::{ErrorCode, Opcode};
use crate::error::ErrorKind;

/// What a connection has seen since it was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Well-formed requests, those of the handshake included.
    pub requests: u64,
    /// Answers written.
    pub responses: u64,
    /// Answers written, by the opcode of the request.
    pub answered: OpcodeCounts,
    /// Events written.
    pub events: u64,
    /// Bytes of output that were sent.
    pub bytes_sent: u64,
    /// Bytes of envelopes that were refused on their header, being too long, unknown or one too many: they
    /// were thrown away as they came. As they were after decompression, in v5.
    pub bytes_discarded: u64,
    /// Answers that were ERRORs, whoever wrote them.
    pub errors: u64,
    /// The same by their code.
    pub error_codes: ErrorCodeCounts,
    /// Fatal errors: zero or one.
    pub fatal: u64,
    /// What broke the protocol or a limit, by its kind. Each of them was answered with an ERROR or was
    /// fatal, so that these stand still where [`Stats::errors`] and [`Stats::fatal`] do.
    pub faults: ErrorCounts,
}

/// A counter for each [`ErrorKind`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErrorCounts([u64; ErrorKind::ALL.len()]);

impl ErrorCounts {
    /// How many of this kind.
    #[must_use]
    pub fn get(&self, kind: ErrorKind) -> u64 {
        self.0.get(kind as usize).copied().unwrap_or_default()
    }

    /// Counts one.
    pub(crate) fn count(&mut self, kind: ErrorKind) {
        self.add(kind, 1);
    }

    /// Counts `more` of this kind.
    pub fn add(&mut self, kind: ErrorKind, more: u64) {
        if let Some(count) = self.0.get_mut(kind as usize) {
            *count = count.saturating_add(more);
        }
    }

    /// How many of any kind.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Every kind that was counted, with its number.
    pub fn iter(&self) -> impl Iterator<Item = (ErrorKind, u64)> {
        let kinds = ErrorKind::ALL.iter().copied().zip(self.0);
        kinds.filter(|(_, count)| *count > 0)
    }
}

impl std::ops::Sub for ErrorCounts {
    type Output = ErrorCounts;

    /// What was counted since `earlier`.
    fn sub(self, earlier: ErrorCounts) -> ErrorCounts {
        let mut more = ErrorCounts::default();
        for ((more, now), before) in more.0.iter_mut().zip(self.0).zip(earlier.0) {
            *more = now.saturating_sub(before);
        }
        more
    }
}

/// A counter for each opcode of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpcodeCounts([u64; OpcodeCounts::OPCODES.len()]);

impl OpcodeCounts {
    /// The opcodes of requests, in the order of their counters.
    pub const OPCODES: [Opcode; 8] = [
        Opcode::STARTUP,
        Opcode::OPTIONS,
        Opcode::QUERY,
        Opcode::PREPARE,
        Opcode::EXECUTE,
        Opcode::REGISTER,
        Opcode::BATCH,
        Opcode::AUTH_RESPONSE,
    ];

    /// The place of each opcode among the counters: that of none is beyond their end.
    const PLACES: [u8; 16] = {
        let mut places = [u8::MAX; 16];
        let mut place = 0;
        while place < Self::OPCODES.len() {
            places[Self::OPCODES[place].0 as usize] = place as u8;
            place += 1;
        }
        places
    };

    /// The place of an opcode in [`OpcodeCounts::OPCODES`]; `None` if it is no request's.
    #[inline]
    #[must_use]
    pub fn place(opcode: Opcode) -> Option<usize> {
        let place = usize::from(*Self::PLACES.get(usize::from(opcode.0))?);
        (place < Self::OPCODES.len()).then_some(place)
    }

    /// How many with this opcode.
    #[must_use]
    pub fn get(&self, opcode: Opcode) -> u64 {
        let count = Self::place(opcode).and_then(|place| self.0.get(place));
        count.copied().unwrap_or_default()
    }

    /// Counts one.
    #[inline]
    pub(crate) fn count(&mut self, opcode: Opcode) {
        if let Some(count) = Self::place(opcode).and_then(|place| self.0.get_mut(place)) {
            *count += 1;
        }
    }

    /// The counts, in the order of [`OpcodeCounts::OPCODES`].
    #[inline]
    #[must_use]
    pub const fn as_array(&self) -> &[u64; Self::OPCODES.len()] {
        &self.0
    }
}

/// A counter for each [`ErrorCode`] of the protocol, and one for all others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErrorCodeCounts([u64; ErrorCode::KNOWN.len() + 1]);

impl ErrorCodeCounts {
    /// Where a code is counted.
    fn place(code: ErrorCode) -> usize {
        let known = ErrorCode::KNOWN.iter().position(|known| *known == code);
        known.unwrap_or(ErrorCode::KNOWN.len())
    }

    /// How many with this code; for a code without a name, with any such.
    #[must_use]
    pub fn get(&self, code: ErrorCode) -> u64 {
        self.0.get(Self::place(code)).copied().unwrap_or_default()
    }

    /// Counts one; `None` is a code that isn't known.
    pub(crate) fn count(&mut self, code: Option<ErrorCode>) {
        self.add(code, 1);
    }

    /// Counts `more` with this code; `None` is a code that isn't known.
    pub fn add(&mut self, code: Option<ErrorCode>, more: u64) {
        let place = code.map_or(ErrorCode::KNOWN.len(), Self::place);
        if let Some(count) = self.0.get_mut(place) {
            *count = count.saturating_add(more);
        }
    }

    /// The counts in the order of [`ErrorCode::KNOWN`], that of all other codes last.
    #[must_use]
    pub const fn as_array(&self) -> &[u64; ErrorCode::KNOWN.len() + 1] {
        &self.0
    }
}

impl std::ops::Sub for ErrorCodeCounts {
    type Output = ErrorCodeCounts;

    /// What was counted since `earlier`.
    fn sub(self, earlier: ErrorCodeCounts) -> ErrorCodeCounts {
        let mut more = self;
        for (more, before) in more.0.iter_mut().zip(earlier.0) {
            *more = more.saturating_sub(before);
        }
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_opcode_of_a_request_has_a_counter_of_its_own() {
        let mut counts = OpcodeCounts::default();
        for opcode in (0..=u8::MAX).map(Opcode) {
            assert_eq!(OpcodeCounts::place(opcode).is_some(), opcode.is_request());
            counts.count(opcode);
        }
        assert_eq!(counts.as_array(), &[1; 8]);
        counts.count(Opcode::EXECUTE);
        assert_eq!(counts.get(Opcode::EXECUTE), 2);
        assert_eq!(counts.get(Opcode::RESULT), 0);
    }

    #[test]
    fn codes_without_a_name_are_counted_together() {
        let mut counts = ErrorCodeCounts::default();
        counts.count(Some(ErrorCode::OVERLOADED));
        counts.count(Some(ErrorCode(0x7777)));
        counts.count(None);
        assert_eq!(counts.get(ErrorCode::OVERLOADED), 1);
        assert_eq!(counts.get(ErrorCode(0x8888)), 2);
        assert_eq!(counts.as_array().iter().sum::<u64>(), 3);
    }
}
