//! The floor: what the work costs at least. Written for these messages alone, on raw slices, with no check but for
//! bounds and for UTF-8 where a `&str` comes out.

pub mod framing;
pub mod requests;
pub mod rows;

/// The next bytes, as many as the array has.
#[inline(always)]
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(*head)
}

#[inline(always)]
fn short(rest: &mut &[u8]) -> Option<u16> {
    take(rest).map(u16::from_be_bytes)
}

#[inline(always)]
fn int(rest: &mut &[u8]) -> Option<i32> {
    take(rest).map(i32::from_be_bytes)
}

#[inline(always)]
fn slice<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    Some(head)
}

/// \[bytes\] that aren't null.
#[inline(always)]
fn bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = int(rest)?;
    slice(rest, usize::try_from(length).ok()?)
}

#[inline(always)]
fn string<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let length = short(rest)?;
    std::str::from_utf8(slice(rest, length.into())?).ok()
}

#[inline(always)]
fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as i32).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// Writes an array to the front of a buffer, which is what is left of it then.
#[inline(always)]
fn put<const N: usize>(rest: &mut &mut [u8], bytes: [u8; N]) -> Option<()> {
    let (place, tail) = std::mem::take(rest).split_first_chunk_mut()?;
    *place = bytes;
    *rest = tail;
    Some(())
}

#[inline(always)]
fn put_slice(rest: &mut &mut [u8], bytes: &[u8]) -> Option<()> {
    let (place, tail) = std::mem::take(rest).split_at_mut_checked(bytes.len())?;
    place.copy_from_slice(bytes);
    *rest = tail;
    Some(())
}
