//! The read buffer of a thread. Connections borrow it for the length of one read and the requests
//! in it, so that an idle connection owns no buffer at all.

use bytes::BytesMut;
use std::cell::Cell;
use std::task::Poll;

/// How much one read takes at most.
pub(crate) const SCRATCH: usize = 64 * 1024;

/// How much the first read of a thread takes into initialised bytes.
const FIRST_SLICE: usize = 1024;

thread_local! {
    static BUFFER: Cell<BytesMut> = Cell::new(BytesMut::new());
    static SLICE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Runs `f` on this thread's buffer, empty and with room for so many bytes at least. A nested use gets
/// a buffer of its own.
pub(crate) fn with_scratch<R>(room: usize, f: impl FnOnce(&mut BytesMut) -> R) -> R {
    let mut buffer = BUFFER.take();
    buffer.clear();
    // Takes the room back when nobody holds a piece of it, and allocates anew otherwise.
    buffer.reserve(room);
    let result = f(&mut buffer);
    BUFFER.set(buffer);
    result
}

/// Runs `f`, which reads, on bytes of this thread that are set to something: for sockets that read
/// into nothing less. They are few at first, for a thread may have one connection that says little,
/// and twice as many after each read that filled them, up to [`SCRATCH`].
pub(crate) fn with_slice<E>(
    f: impl FnOnce(&mut [u8]) -> Poll<Result<usize, E>>,
) -> Poll<Result<usize, E>> {
    let mut slice = SLICE.take();
    if slice.is_empty() {
        slice = vec![0; FIRST_SLICE];
    }
    let result = f(&mut slice);
    if matches!(result, Poll::Ready(Ok(bytes)) if bytes == slice.len()) && slice.len() < SCRATCH {
        slice = vec![0; slice.len() * 2];
    }
    SLICE.set(slice);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_reuses_its_buffer_unless_a_piece_of_it_was_kept() {
        let first = with_scratch(SCRATCH, |buffer| buffer.as_ptr());
        assert_eq!(with_scratch(SCRATCH, |buffer| buffer.as_ptr()), first);
        let kept = with_scratch(SCRATCH, |buffer| {
            buffer.extend_from_slice(b"kept");
            buffer.split_to(4).freeze()
        });
        with_scratch(SCRATCH, |buffer| buffer.extend_from_slice(&[0xff; SCRATCH]));
        assert_eq!(&kept[..], b"kept");
    }

    #[test]
    fn a_slice_grows_with_the_reads_that_fill_it() {
        let read =
            |most: usize| with_slice(|slice| Poll::Ready(Ok::<_, ()>(slice.len().min(most))));
        let all = usize::MAX;
        let reads = [all, 100, 2048, 1, all, all, all, all, all, 9, all];
        let sizes: Vec<_> = reads.into_iter().map(read).collect();
        let sizes_in_order = [
            1024, 100, 2048, 1, 4096, 8192, 16_384, 32_768, 65_536, 9, 65_536,
        ];
        assert_eq!(sizes, sizes_in_order.map(|size| Poll::Ready(Ok(size))));
    }

    #[test]
    fn a_nested_use_gets_another_buffer() {
        with_scratch(SCRATCH, |outer| {
            outer.extend_from_slice(b"outer");
            with_scratch(SCRATCH, |inner| assert!(inner.is_empty()));
            assert_eq!(&outer[..], b"outer");
        });
    }
}
