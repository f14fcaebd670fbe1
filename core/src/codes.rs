//! The protocol's numbered codes: versions, opcodes, consistency levels and error codes.
//! All but [`ProtocolVersion`] are open: a number without a known name survives decoding and encoding.
//! Answers to native protocol v5, sections 2.1, 2.4, 3 and 9.

use std::fmt;

/// A version of the native protocol that this crate speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ProtocolVersion {
    /// Version 3: Cassandra 2.1 and later.
    V3 = 3,
    /// Version 4: adds warnings, payloads, unset values and more types.
    V4 = 4,
    /// Version 5: adds segments, result metadata ids and per-request keyspaces.
    V5 = 5,
}

impl ProtocolVersion {
    /// Every supported version, ascending.
    pub const ALL: [Self; 3] = [Self::V3, Self::V4, Self::V5];
    /// The highest supported version.
    pub const LATEST: Self = Self::V5;

    /// The version of this number, without the direction bit; `None` if this crate doesn't speak it.
    #[inline]
    #[must_use]
    pub const fn from_u8(version: u8) -> Option<Self> {
        match version {
            3 => Some(Self::V3),
            4 => Some(Self::V4),
            5 => Some(Self::V5),
            _ => None,
        }
    }

    /// The version's number.
    #[inline]
    #[must_use]
    pub const fn as_u8(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.as_u8())
    }
}

/// Declares an open newtype over a wire number with its known names.
macro_rules! wire_codes {
    (
        $(#[$meta:meta])*
        $name:ident($repr:ty), $width:literal {
            $($(#[$code_meta:meta])* $code:ident = $value:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $repr);

        impl $name {
            $($(#[$code_meta])* pub const $code: Self = Self($value);)+

            /// Every number that the protocol gives a name, ascending.
            pub const KNOWN: &'static [Self] = &[$(Self::$code,)+];

            /// The name the protocol gives this number, if it gives one.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some(stringify!($code)),)+
                    _ => None,
                }
            }

            /// Whether the protocol gives this number a name.
            #[inline]
            #[must_use]
            pub const fn is_known(self) -> bool {
                self.name().is_some()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, concat!("0x{:0", $width, "X}"), self.0),
                }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

wire_codes! {
    /// What kind of message an envelope carries.
    Opcode(u8), 2 {
        /// A request was refused.
        ERROR = 0x00,
        /// Opens a connection.
        STARTUP = 0x01,
        /// The connection takes requests.
        READY = 0x02,
        /// The server wants authentication.
        AUTHENTICATE = 0x03,
        /// Asks what the server supports.
        OPTIONS = 0x05,
        /// Says what the server supports.
        SUPPORTED = 0x06,
        /// Runs a statement given as text.
        QUERY = 0x07,
        /// The result of a statement.
        RESULT = 0x08,
        /// Prepares a statement.
        PREPARE = 0x09,
        /// Runs a prepared statement.
        EXECUTE = 0x0A,
        /// Subscribes to events.
        REGISTER = 0x0B,
        /// An event, on stream -1.
        EVENT = 0x0C,
        /// Runs several statements.
        BATCH = 0x0D,
        /// The server goes on with authentication.
        AUTH_CHALLENGE = 0x0E,
        /// The client's part of authentication.
        AUTH_RESPONSE = 0x0F,
        /// Authentication succeeded.
        AUTH_SUCCESS = 0x10,
    }
}

impl Opcode {
    /// Whether a client may send this opcode.
    #[inline]
    #[must_use]
    pub const fn is_request(self) -> bool {
        matches!(
            self,
            Self::STARTUP
                | Self::OPTIONS
                | Self::QUERY
                | Self::PREPARE
                | Self::EXECUTE
                | Self::REGISTER
                | Self::BATCH
                | Self::AUTH_RESPONSE
        )
    }

    /// Whether a server may send this opcode.
    #[inline]
    #[must_use]
    pub const fn is_response(self) -> bool {
        self.is_known() && !self.is_request()
    }
}

wire_codes! {
    /// How many replicas must take part in a request.
    Consistency(u16), 4 {
        /// Any node, even a coordinator that only keeps a hint; writes only.
        ANY = 0x0000,
        /// One replica.
        ONE = 0x0001,
        /// Two replicas.
        TWO = 0x0002,
        /// Three replicas.
        THREE = 0x0003,
        /// A majority of all replicas.
        QUORUM = 0x0004,
        /// All replicas.
        ALL = 0x0005,
        /// A majority of the replicas in the coordinator's datacenter.
        LOCAL_QUORUM = 0x0006,
        /// A majority of the replicas in each datacenter.
        EACH_QUORUM = 0x0007,
        /// Linearizable, over all datacenters.
        SERIAL = 0x0008,
        /// Linearizable, within the coordinator's datacenter.
        LOCAL_SERIAL = 0x0009,
        /// One replica in the coordinator's datacenter.
        LOCAL_ONE = 0x000A,
        /// The coordinator itself; for debugging a node, not part of the specification.
        NODE_LOCAL = 0x000B,
    }
}

impl Consistency {
    /// Whether this is `SERIAL` or `LOCAL_SERIAL`.
    #[inline]
    #[must_use]
    pub const fn is_serial(self) -> bool {
        matches!(self, Self::SERIAL | Self::LOCAL_SERIAL)
    }

    /// Whether only replicas of the coordinator's datacenter count.
    #[inline]
    #[must_use]
    pub const fn is_datacenter_local(self) -> bool {
        matches!(
            self,
            Self::LOCAL_ONE | Self::LOCAL_QUORUM | Self::LOCAL_SERIAL
        )
    }
}

wire_codes! {
    /// Why a request was refused.
    ErrorCode(u32), 4 {
        /// The server failed in a way it didn't foresee.
        SERVER_ERROR = 0x0000,
        /// The request breaks the protocol.
        PROTOCOL_ERROR = 0x000A,
        /// Authentication failed.
        BAD_CREDENTIALS = 0x0100,
        /// Too few replicas are alive for the consistency level.
        UNAVAILABLE = 0x1000,
        /// The server takes no more work at the moment.
        OVERLOADED = 0x1001,
        /// The coordinator is starting and can't serve yet.
        IS_BOOTSTRAPPING = 0x1002,
        /// TRUNCATE failed.
        TRUNCATE_ERROR = 0x1003,
        /// Too few replicas confirmed a write in time.
        WRITE_TIMEOUT = 0x1100,
        /// Too few replicas answered a read in time.
        READ_TIMEOUT = 0x1200,
        /// A replica failed while reading.
        READ_FAILURE = 0x1300,
        /// A user-defined function failed.
        FUNCTION_FAILURE = 0x1400,
        /// A replica failed while writing.
        WRITE_FAILURE = 0x1500,
        /// The space for change data is used up.
        CDC_WRITE_FAILURE = 0x1600,
        /// It isn't known whether a conditional write was applied.
        CAS_WRITE_UNKNOWN = 0x1700,
        /// The statement doesn't parse.
        SYNTAX_ERROR = 0x2000,
        /// The user may not do this.
        UNAUTHORIZED = 0x2100,
        /// The statement parses but can't be run.
        INVALID = 0x2200,
        /// The statement isn't possible in this server's configuration.
        CONFIG_ERROR = 0x2300,
        /// The keyspace or table exists already.
        ALREADY_EXISTS = 0x2400,
        /// The prepared statement isn't known here.
        UNPREPARED = 0x2500,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_codes_survive_and_show_their_number() {
        assert_eq!(Opcode(0x7F).to_string(), "0x7F");
        assert_eq!(Consistency(12).to_string(), "0x000C");
        assert_eq!(ErrorCode(0x2600).to_string(), "0x2600");
        assert!(!Consistency(12).is_known());
        assert!(Consistency::NODE_LOCAL.is_known());
    }

    #[test]
    fn every_known_opcode_has_one_direction() {
        for opcode in (0..=u8::MAX).map(Opcode) {
            assert_eq!(
                opcode.is_known(),
                opcode.is_request() || opcode.is_response()
            );
            assert!(!(opcode.is_request() && opcode.is_response()));
        }
    }

    #[test]
    fn only_versions_three_to_five_are_spoken() {
        let spoken: Vec<u8> = (0..=u8::MAX)
            .filter(|v| ProtocolVersion::from_u8(*v).is_some())
            .collect();
        assert_eq!(spoken, [3, 4, 5]);
    }
}
