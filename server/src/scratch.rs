//! The read buffer of a thread. Connections borrow it for the length of one read and the requests
//! in it, so that an idle connection owns no buffer at all.

use bytes::BytesMut;
use std::cell::Cell;

/// How much one read takes at most.
pub(crate) const SCRATCH: usize = 64 * 1024;

thread_local! {
    static BUFFER: Cell<BytesMut> = Cell::new(BytesMut::new());
    static SLICE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Runs `f` on this thread's buffer, empty and with room for [`SCRATCH`] bytes. A nested use gets
/// a buffer of its own.
pub(crate) fn with_scratch<R>(f: impl FnOnce(&mut BytesMut) -> R) -> R {
    let mut buffer = BUFFER.take();
    buffer.clear();
    // Takes the room back when nobody holds a piece of it, and allocates anew otherwise.
    buffer.reserve(SCRATCH);
    let result = f(&mut buffer);
    BUFFER.set(buffer);
    result
}

/// Runs `f` on [`SCRATCH`] bytes of this thread that are set to something: for sockets that read
/// into nothing less. They are cleared once in the thread's life, not for each read.
pub(crate) fn with_slice<R>(f: impl FnOnce(&mut [u8]) -> R) -> R {
    let mut slice = SLICE.take();
    if slice.is_empty() {
        // Cleared by the kernel, page by page as they are used.
        slice = vec![0; SCRATCH];
    }
    let result = f(&mut slice);
    SLICE.set(slice);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_reuses_its_buffer_unless_a_piece_of_it_was_kept() {
        let first = with_scratch(|buffer| buffer.as_ptr());
        assert_eq!(with_scratch(|buffer| buffer.as_ptr()), first);
        let kept = with_scratch(|buffer| {
            buffer.extend_from_slice(b"kept");
            buffer.split_to(4).freeze()
        });
        with_scratch(|buffer| buffer.extend_from_slice(&[0xff; SCRATCH]));
        assert_eq!(&kept[..], b"kept");
    }

    #[test]
    fn a_nested_use_gets_another_buffer() {
        with_scratch(|outer| {
            outer.extend_from_slice(b"outer");
            with_scratch(|inner| assert!(inner.is_empty()));
            assert_eq!(&outer[..], b"outer");
        });
    }
}
