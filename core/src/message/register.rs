//! REGISTER. Answers to native protocol v5, section 4.1.8.

use bytes::{BufMut, BytesMut};

use super::event::EventType;
use crate::codes::ProtocolVersion;
use crate::wire::{DecodeError, DecodeErrorKind, Reader, StringList};

/// REGISTER: subscribes to events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register<'a> {
    names: StringList<'a>,
}

impl<'a> Register<'a> {
    /// A subscription to the types of these names; unknown ones are sent and left out of
    /// [`event_types`](Self::event_types).
    #[must_use]
    pub const fn new(names: StringList<'a>) -> Self {
        Self { names }
    }

    /// The names as the client wrote them.
    #[must_use]
    pub const fn names(&self) -> StringList<'a> {
        self.names
    }

    /// The types of events in order, doubles included.
    pub fn event_types(&self) -> impl Iterator<Item = EventType> + use<'a> {
        self.names.iter().filter_map(EventType::from_name)
    }

    pub(crate) fn decode(
        reader: &mut Reader<'a>,
        version: ProtocolVersion,
    ) -> Result<Self, DecodeError> {
        let mut names = reader.clone();
        for _ in 0..names.short()? {
            let position = names.position();
            match EventType::from_name(names.string()?) {
                Some(event) if event.since() <= version => {}
                Some(_) => {
                    return Err(
                        names.error_at(DecodeErrorKind::EventNotInVersion(version), position)
                    );
                }
                None => return Err(names.error_at(DecodeErrorKind::UnknownEventType, position)),
            }
        }
        Ok(Self {
            names: reader.string_list()?,
        })
    }

    pub(crate) fn encode(&self, out: &mut BytesMut) {
        out.put_u16(self.names.len() as u16);
        out.put_slice(self.names.as_bytes());
    }
}
