//! What the bare loop knows of a connection's protocol: where envelopes begin, and whether they come in segments.

use helenus_core::segment::{SegmentFormat, SegmentHeader, TRAILER};
use helenus_core::{Header, Opcode, ProtocolVersion};

use super::output::Output;
use super::replies::Replies;

/// From so many bytes to send on, they go before more requests are answered.
const ENOUGH: usize = 1 << 20;

/// The canned replies of all versions.
#[derive(Debug)]
pub(super) struct AllReplies([Replies; 3]);

impl Default for AllReplies {
    fn default() -> Self {
        let versions = [
            ProtocolVersion::V3,
            ProtocolVersion::V4,
            ProtocolVersion::V5,
        ];
        Self(versions.map(Replies::new))
    }
}

impl AllReplies {
    /// Those of a version, if it is spoken.
    pub(super) fn of(&self, version: u8) -> Option<&Replies> {
        self.0.get(usize::from(version).checked_sub(3)?)
    }
}

/// Bytes that the null server can't make anything of: it closes the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Garbled;

/// The protocol's state of one connection.
#[derive(Debug, Default)]
pub(super) struct Connection {
    is_segmented: bool,
}

impl Connection {
    /// Answers the whole requests at the front of `bytes`; how many bytes they were, and whether it stopped before the
    /// last because there is enough to send.
    pub(super) fn answer(
        &mut self,
        bytes: &[u8],
        replies: &AllReplies,
        out: &mut Output,
    ) -> Result<(usize, bool), Garbled> {
        let mut taken = 0;
        loop {
            let rest = bytes.get(taken..).unwrap_or_default();
            if out.len() > ENOUGH {
                return Ok((taken, true));
            }
            let next = if self.is_segmented {
                self.segment(rest, replies, out)?
            } else {
                self.envelope(rest, replies, out)?
            };
            match next {
                Some(length) => taken += length,
                None => return Ok((taken, false)),
            }
        }
    }

    /// Answers the envelopes in the segment at the front, unless it isn't whole. Its checksum is left alone.
    fn segment(
        &mut self,
        bytes: &[u8],
        replies: &AllReplies,
        out: &mut Output,
    ) -> Result<Option<usize>, Garbled> {
        let format = SegmentFormat::Plain;
        let header = match SegmentHeader::decode(format, bytes) {
            None => return Ok(None),
            Some(Ok(header)) if header.self_contained => header,
            Some(_) => return Err(Garbled),
        };
        let start = format.header_len();
        let end = start + header.payload as usize;
        if bytes.len() < end + TRAILER {
            return Ok(None);
        }
        let mut payload = bytes.get(start..end).unwrap_or_default();
        while !payload.is_empty() {
            let length = self.envelope(payload, replies, out)?.ok_or(Garbled)?;
            payload = payload.get(length..).unwrap_or_default();
        }
        Ok(Some(end + TRAILER))
    }

    /// Answers the envelope at the front, unless it isn't whole.
    fn envelope(
        &mut self,
        bytes: &[u8],
        replies: &AllReplies,
        out: &mut Output,
    ) -> Result<Option<usize>, Garbled> {
        let Some(first) = bytes.first_chunk() else {
            return Ok(None);
        };
        let header = Header::decode(first);
        let end = Header::SIZE + header.length as usize;
        let Some(body) = bytes.get(Header::SIZE..end) else {
            return Ok(None);
        };
        let replies = replies.of(header.version).ok_or(Garbled)?;
        let reply = replies.answer(header.opcode, body).envelope();
        let stream = header.stream.0.to_be_bytes();
        if self.is_segmented {
            out.put_in_segment(reply, stream);
        } else {
            out.put(reply, stream);
            // The answer to STARTUP is the last that comes bare.
            self.is_segmented =
                header.version == ProtocolVersion::V5.as_u8() && header.opcode == Opcode::STARTUP;
        }
        Ok(Some(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: [u8; 9] = [4, 0, 1, 2, 5, 0, 0, 0, 0];

    #[test]
    fn whole_requests_are_answered_on_their_streams_and_the_rest_is_left() {
        let (replies, mut out) = (AllReplies::default(), Output::default());
        let bytes = [&OPTIONS[..], &[4, 0, 3, 4, 5, 0, 0, 0, 0], &OPTIONS[..8]].concat();
        let answered = Connection::default().answer(&bytes, &replies, &mut out);
        assert_eq!(answered, Ok((18, false)));
        let supported = replies
            .of(4)
            .unwrap()
            .answer(Opcode::OPTIONS, &[])
            .envelope();
        let sent = out.finish();
        assert_eq!(sent.len(), 2 * supported.len());
        assert_eq!(sent[..5], [0x84, 0, 1, 2, 6]);
        assert_eq!(sent[supported.len()..][..5], [0x84, 0, 3, 4, 6]);
    }

    #[test]
    fn segments_begin_behind_the_answer_to_startup_of_v5() {
        let (replies, mut out) = (AllReplies::default(), Output::default());
        let mut connection = Connection::default();
        let mut bytes = vec![5, 0, 0, 0, 1, 0, 0, 0, 0];
        let mut segment = Output::default();
        segment.put_in_segment(&[5, 0, 0, 0, 5, 0, 0, 0, 0], [0, 1]);
        bytes.extend_from_slice(segment.finish());
        let length = bytes.len();
        assert_eq!(
            connection.answer(&bytes, &replies, &mut out),
            Ok((length, false))
        );
        let sent = out.finish();
        assert_eq!(sent[..9], [0x85, 0, 0, 0, 2, 0, 0, 0, 0]);
        let header = SegmentHeader::decode(SegmentFormat::Plain, &sent[9..])
            .unwrap()
            .unwrap();
        assert!(header.self_contained);
        assert_eq!(sent[15..20], [0x85, 0, 0, 1, 6]);
    }

    #[test]
    fn what_isnt_spoken_is_garbled() {
        let (replies, mut out) = (AllReplies::default(), Output::default());
        let mut answer = |bytes: &[u8]| Connection::default().answer(bytes, &replies, &mut out);
        assert_eq!(answer(&[2, 0, 0, 0, 5, 0, 0, 0, 0]), Err(Garbled));
        assert_eq!(answer(b"GET / HTTP/1.1\r\n\r\n"), Ok((0, false)));
    }
}
