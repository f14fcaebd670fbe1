//! [`ErrorKind`]: the types of errors that connections count, a counter each.

use super::{Error, PeerMisbehaved};

/// Declares the kinds with their names.
macro_rules! kinds {
    ($($(#[$doc:meta])+ $kind:ident = $name:literal,)+) => {
        /// What type of error it was: few enough for a counter each, which [`ErrorCounts`] are.
        ///
        /// [`ErrorCounts`]: crate::connection::ErrorCounts
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[$doc])+ $kind,)+
        }

        impl ErrorKind {
            /// Every kind, in the order of their counters.
            pub const ALL: &'static [ErrorKind] = &[$(ErrorKind::$kind,)+];

            /// Its name as a label of metrics: lower case, words joined by underscores.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(ErrorKind::$kind => $name,)+
                }
            }
        }
    };
}

kinds! {
    /// A body doesn't decode.
    Decode = "decode",
    /// A version that isn't spoken, is in beta, or isn't the one agreed upon.
    Version = "version",
    /// An opcode that is unknown or the other end's, or a request with the response bit.
    Opcode = "opcode",
    /// A body length below zero.
    Length = "length",
    /// A message above the limit.
    TooLong = "too_long",
    /// A segment's header or payload is damaged.
    Checksum = "checksum",
    /// A body or a segment doesn't decompress.
    Compression = "compression",
    /// Segments that are not cut as the protocol has it.
    Segment = "segment",
    /// A second malformed envelope in one segment.
    Repeated = "repeated",
    /// A message that may not come in this state of the connection.
    State = "state",
    /// STARTUP asks for something that isn't there, or lacks what it must say.
    Startup = "startup",
    /// A custom payload in a version that has none.
    Payload = "payload",
    /// More requests or bytes in flight than allowed.
    Overloaded = "overloaded",
    /// The handshake took too long.
    HandshakeTimeout = "handshake_timeout",
    /// Nothing came for too long.
    IdleTimeout = "idle_timeout",
    /// Events it registered for were not read.
    EventsUnread = "events_unread",
    /// The caller's fault, not the peer's.
    Misuse = "misuse",
}

impl Error {
    /// What type of error it is.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Error::Decode(_) => ErrorKind::Decode,
            Error::Peer(error) => error.kind(),
            Error::Misuse(_) => ErrorKind::Misuse,
        }
    }
}

impl PeerMisbehaved {
    /// What type of error it is.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::UnsupportedVersion(_)
            | Self::BetaVersion(_)
            | Self::OldVersion { .. }
            | Self::VersionChanged { .. } => ErrorKind::Version,
            Self::WrongDirection(_)
            | Self::ResponseBit(_)
            | Self::RequestBit(_)
            | Self::UnknownOpcode(_) => ErrorKind::Opcode,
            Self::NegativeLength(_) => ErrorKind::Length,
            Self::EnvelopeTooLong { .. } | Self::MessageTooLong { .. } => ErrorKind::TooLong,
            Self::SegmentHeader(_) | Self::SegmentPayload(_) => ErrorKind::Checksum,
            Self::Compression(_) => ErrorKind::Compression,
            Self::CutSegment | Self::InterruptedMessage | Self::LongMessageBeforeLogin => {
                ErrorKind::Segment
            }
            Self::RepeatedErrors => ErrorKind::Repeated,
            Self::ExpectedStartup(_)
            | Self::ExpectedAuthResponse(_)
            | Self::AlreadyStarted(_)
            | Self::UnknownStream(_)
            | Self::Unexpected(_) => ErrorKind::State,
            Self::MissingCqlVersion
            | Self::InvalidCqlVersion(_)
            | Self::UnsupportedCqlVersion(_)
            | Self::UnknownCompression(_)
            | Self::SnappyInV5 => ErrorKind::Startup,
            Self::PayloadBeforeV4 => ErrorKind::Payload,
            Self::Overloaded => ErrorKind::Overloaded,
            Self::HandshakeTimeout => ErrorKind::HandshakeTimeout,
            Self::IdleTimeout => ErrorKind::IdleTimeout,
            Self::EventsUnread => ErrorKind::EventsUnread,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_numbered_in_the_order_of_all() {
        for (index, kind) in ErrorKind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, index, "{}", kind.name());
        }
    }
}
