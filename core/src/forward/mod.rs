//! Forwarding messages undecoded, for proxies: from a server's connection to a client's and back, between
//! versions too.
//!
//! Envelopes are framed and compressed anew by the connection they leave on; here it is about their bodies. Where
//! both versions write a body alike, it goes on as it came, whatever is in it: unknown opcodes, codes and flags,
//! payload, warnings and bytes behind the message survive. Where they don't, it is decoded and written anew, and
//! bytes behind the message go with it. What the other version can't say is left out or refused:
//!
//! | on the way to | what | becomes |
//! |---|---|---|
//! | v3, v4 | a statement's own keyspace or time | refused: it would mean something else |
//! | v3 | an unset value | refused: null would delete |
//! | v4, v5, from v3 | a null whose length is below -1 | a null whose length is -1 |
//! | v3, v4 | flags of a statement above the seven that fit | left out |
//! | v5 | EXECUTE | names the result metadata that the proxy says its client knows; with none, rows come described |
//! | v3, v4 | EXECUTE's id of the result metadata | left out |
//! | v3, v4 | rows whose metadata changed | rows with the new description, which those versions take as it is |
//! | v5 | PREPARE's answer | the statement's own id stands for that of its result metadata |
//! | v3 | PREPARE's answer | says nothing of the partition key |
//! | v4, from v3 | PREPARE's answer | knows no index of the partition key |
//! | v3, v4 | types that came later, in a description | custom types with their class names |
//! | v4, v5 | custom types that stand for one of the version's own | that type |
//! | v3 | warnings, custom payload | left out, in requests too |
//! | v4, v5, from v3 | flags of warnings and payload | cleared: v3 has neither |
//! | v3, v4 | errors that came later | what [`ErrorResponse::encode`](crate::ErrorResponse::encode) steps down to |
//! | v5, from v4 | the number of failures | a map of none, as v5 has no number |
//! | v3 | changes of functions and aggregates | an update of their keyspace |
//!
//! ```
//! use std::borrow::Cow;
//! use helenus_core::forward::{Message, request};
//! use helenus_core::{Flags, Opcode, ProtocolVersion};
//!
//! // QUERY "USE k" at ONE, from a v4 client to a v5 server: the flags of a statement have other widths.
//! let message = Message {
//!     opcode: Opcode::QUERY,
//!     flags: Flags::NONE,
//!     body: Cow::Borrowed(b"\0\0\0\x05USE k\0\x01\0"),
//! };
//! let same = request(message.clone(), ProtocolVersion::V4, ProtocolVersion::V3, None)?;
//! assert!(matches!(same.body, Cow::Borrowed(_)));
//! let other = request(message, ProtocolVersion::V4, ProtocolVersion::V5, None)?;
//! assert_eq!(&*other.body, b"\0\0\0\x05USE k\0\x01\0\0\0\0");
//! # Ok::<(), helenus_core::forward::ForwardError>(())
//! ```

mod request;
mod response;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::codes::{Opcode, ProtocolVersion};
use crate::envelope::Flags;
use crate::message::ErrorResponse;
use crate::wire::DecodeError;

pub use request::request;
pub use response::response;

/// A message without the envelope that it travels in: no version, stream or length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'a> {
    /// The opcode, known or not.
    pub opcode: Opcode,
    /// The flags. The connection that it leaves on has its own mind about compression and beta versions.
    pub flags: Flags,
    /// The body, uncompressed.
    pub body: Cow<'a, [u8]>,
}

/// Why a message can't be forwarded to another version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForwardError {
    /// It would have to be written anew, and doesn't decode.
    #[error("{0}")]
    Decode(#[from] DecodeError),
    /// The other version can't say it, and leaving it out would change what it means.
    #[error("The request can't be made in {0:?} of the protocol, which the server behind speaks")]
    NotInVersion(ProtocolVersion),
}

impl ForwardError {
    /// The ERROR that answers the request.
    #[must_use]
    pub fn response(&self) -> ErrorResponse {
        match self {
            Self::Decode(_) => ErrorResponse::protocol_error(self.to_string()),
            Self::NotInVersion(_) => ErrorResponse::invalid(self.to_string()),
        }
    }
}
