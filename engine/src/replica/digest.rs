//! Digests: 128 bits of an answer's encoding.

use std::fmt;

use crate::storage::murmur3::Hasher128;

/// A digest of an answer: replicas whose answers are equal give equal ones. Not cryptographic: it finds differences, not
/// forgeries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub u128);

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({:032x})", self.0)
    }
}

/// A digest under way: of the bytes as they come, however they are cut.
#[derive(Debug, Default)]
pub(super) struct Digester(Hasher128);

impl Digester {
    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(super) fn finish(self) -> Digest {
        Digest(self.0.finish())
    }
}
