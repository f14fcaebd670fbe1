//! The paging state: where the next page begins, and what is left of the limits. The same in every protocol version.

use bytes::Bytes;
use helenus_core::ErrorResponse;

use crate::readers::Position;

/// Tells this format from others, and from noise.
const FORMAT: u8 = 0x68;

/// What a page leaves to the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageState {
    /// Where the next page begins.
    pub(crate) position: Position,
    /// How many rows `LIMIT` leaves.
    pub(crate) remaining: u32,
    /// How many rows `PER PARTITION LIMIT` leaves in the partition.
    pub(crate) remaining_in_partition: u32,
}

impl PageState {
    /// The bytes a client gives back.
    pub(crate) fn encode(&self) -> Bytes {
        let mut out = Vec::with_capacity(64);
        out.push(FORMAT);
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&self.remaining.to_be_bytes());
        out.extend_from_slice(&self.remaining_in_partition.to_be_bytes());
        self.position.encode(&mut out);
        // The length tells a state that was cut or added to.
        let len = u32::try_from(out.len()).unwrap_or(u32::MAX).to_be_bytes();
        if let Some(place) = out.get_mut(1..5) {
            place.copy_from_slice(&len);
        }
        out.into()
    }

    /// Reads what a client gave back.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, ErrorResponse> {
        Self::read(bytes)
            .ok_or_else(|| ErrorResponse::protocol_error("Invalid value for the paging state"))
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (&format, rest) = bytes.split_first()?;
        let (len, rest) = rest.split_first_chunk::<4>()?;
        let (remaining, rest) = rest.split_first_chunk::<4>()?;
        let (in_partition, rest) = rest.split_first_chunk::<4>()?;
        if format != FORMAT || usize::try_from(u32::from_be_bytes(*len)).ok()? != bytes.len() {
            return None;
        }
        Some(Self {
            position: Position::decode(rest)?,
            remaining: u32::from_be_bytes(*remaining),
            remaining_in_partition: u32::from_be_bytes(*in_partition),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::DecoratedKey;

    fn state() -> PageState {
        PageState {
            position: Position::after_row(
                DecoratedKey::new(Bytes::from_static(b"key")),
                Bytes::from_static(b"row"),
                false,
            ),
            remaining: 7,
            remaining_in_partition: u32::MAX,
        }
    }

    #[test]
    fn a_paging_state_survives_its_encoding() {
        assert_eq!(PageState::decode(&state().encode()), Ok(state()));
    }

    #[test]
    fn a_paging_state_of_another_length_is_refused() {
        let mut bytes = state().encode().to_vec();
        bytes.push(0xFF);
        let refusal = ErrorResponse::protocol_error("Invalid value for the paging state");
        assert_eq!(PageState::decode(&bytes), Err(refusal.clone()));
        bytes.truncate(5);
        assert_eq!(PageState::decode(&bytes), Err(refusal.clone()));
        assert_eq!(PageState::decode(&[]), Err(refusal));
    }
}
