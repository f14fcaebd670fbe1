//! What a connection of the null server is to send: envelopes, bare or in segments that many share.

use helenus_core::crc::crc32;
use helenus_core::segment::{MAX_PAYLOAD, SegmentFormat, SegmentHeader};

const HEADER: usize = SegmentFormat::Plain.header_len();

/// Where the stream stands in an envelope's header.
const STREAM: std::ops::Range<usize> = 2..4;

/// Bytes to send, collected over one read.
#[derive(Debug, Default)]
pub(super) struct Output {
    bytes: Vec<u8>,
    /// Where the open segment begins, whose header is still missing.
    open: Option<usize>,
}

impl Output {
    /// Appends an envelope as an answer on a stream.
    pub(super) fn put(&mut self, envelope: &[u8], stream: [u8; 2]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(envelope);
        if let Some(place) = self
            .bytes
            .get_mut(start..)
            .and_then(|bytes| bytes.get_mut(STREAM))
        {
            place.copy_from_slice(&stream);
        }
    }

    /// Appends it within a segment.
    pub(super) fn put_in_segment(&mut self, envelope: &[u8], stream: [u8; 2]) {
        if self.payload() + envelope.len() > MAX_PAYLOAD {
            self.seal(true);
        }
        if envelope.len() > MAX_PAYLOAD {
            self.put_in_parts(envelope, stream);
            return;
        }
        self.open();
        self.put(envelope, stream);
    }

    /// An envelope longer than a segment goes in several of its own.
    fn put_in_parts(&mut self, envelope: &[u8], stream: [u8; 2]) {
        let (first, rest) = envelope.split_at(MAX_PAYLOAD);
        self.open();
        self.put(first, stream);
        self.seal(false);
        for part in rest.chunks(MAX_PAYLOAD) {
            self.open();
            self.bytes.extend_from_slice(part);
            self.seal(false);
        }
    }

    /// What is to be sent so far; no segment stays open.
    pub(super) fn finish(&mut self) -> &[u8] {
        self.seal(true);
        &self.bytes
    }

    /// Bytes so far.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Forgets what was sent.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.open = None;
    }

    fn open(&mut self) {
        if self.open.is_none() {
            self.open = Some(self.bytes.len());
            self.bytes.extend_from_slice(&[0; HEADER]);
        }
    }

    /// Bytes in the open segment.
    fn payload(&self) -> usize {
        self.open.map_or(0, |open| self.bytes.len() - open - HEADER)
    }

    fn seal(&mut self, self_contained: bool) {
        let Some(open) = self.open.take() else {
            return;
        };
        let payload = self.bytes.get(open + HEADER..).unwrap_or_default();
        let checksum = crc32(payload).to_le_bytes();
        let header = SegmentHeader {
            payload: payload.len() as u32,
            uncompressed: 0,
            self_contained,
        };
        let header = header.encode(SegmentFormat::Plain);
        if let Some(place) = self.bytes.get_mut(open..open + HEADER) {
            place.copy_from_slice(&header[..HEADER]);
        }
        self.bytes.extend_from_slice(&checksum);
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use helenus_core::framing::EnvelopeReader;
    use helenus_core::{Direction, ProtocolVersion, StreamId};

    use super::*;

    /// A RESULT of v5 with a body of so many bytes.
    fn envelope(length: usize) -> Vec<u8> {
        let mut bytes = vec![0x85, 0, 0, 0, 8];
        bytes.extend_from_slice(&(length as u32).to_be_bytes());
        bytes.resize(9 + length, 7);
        bytes
    }

    fn read(bytes: &[u8]) -> Vec<(StreamId, usize)> {
        let mut reader = EnvelopeReader::new(Direction::Response, ProtocolVersion::V5, 1 << 30);
        reader.segmented(SegmentFormat::Plain);
        let (mut input, mut found) = (BytesMut::from(bytes), Vec::new());
        while let Some(envelope) = reader.next(&mut input).unwrap() {
            found.push((envelope.header().stream, envelope.body().len()));
        }
        assert!(input.is_empty());
        found
    }

    #[test]
    fn many_envelopes_share_a_segment_and_a_long_one_has_several() {
        let mut output = Output::default();
        for stream in 0..3 {
            output.put_in_segment(&envelope(4), [0, stream]);
        }
        assert_eq!(output.finish().len(), HEADER + 3 * 13 + 4);
        output.put_in_segment(&envelope(300_000), [1, 0]);
        output.put_in_segment(&envelope(MAX_PAYLOAD - 9), [1, 1]);
        output.put_in_segment(&envelope(0), [1, 2]);
        let wanted = [
            (StreamId(0), 4),
            (StreamId(1), 4),
            (StreamId(2), 4),
            (StreamId(256), 300_000),
            (StreamId(257), MAX_PAYLOAD - 9),
            (StreamId(258), 0),
        ];
        assert_eq!(read(output.finish()), wanted);
    }
}
