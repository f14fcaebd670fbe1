//! The ciphertext buffers of a thread. Connections borrow one for the length of a read, so that an idle connection
//! owns no buffer at all.

use bytes::BytesMut;
use std::cell::Cell;

/// How much one read takes at most.
const READ: usize = 64 * 1024;

thread_local! {
    static BUFFER: Cell<BytesMut> = Cell::new(BytesMut::new());
    static SLICE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Runs `f` on a buffer of this thread that holds `begun` and has room for a read behind it.
pub(crate) fn with_buffer<R>(begun: &[u8], f: impl FnOnce(&mut BytesMut) -> R) -> R {
    let mut buffer = BUFFER.take();
    buffer.clear();
    buffer.reserve(begun.len() + READ);
    buffer.extend_from_slice(begun);
    let result = f(&mut buffer);
    BUFFER.set(buffer);
    result
}

/// Runs `f` on bytes of this thread that are set to something: `begun`, and room for a read behind it. They are cleared
/// once in the thread's life, not for each read.
pub(crate) fn with_slice<R>(begun: &[u8], f: impl FnOnce(&mut [u8]) -> R) -> R {
    let mut slice = SLICE.take();
    if slice.len() < begun.len() + READ {
        slice = vec![0; begun.len() + READ];
    }
    slice[..begun.len()].copy_from_slice(begun);
    let result = f(&mut slice);
    SLICE.set(slice);
    result
}
