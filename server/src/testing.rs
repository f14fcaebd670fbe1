//! Shared pieces of this crate's own tests.

use crate::driver::Driver;
use crate::hub::Hub;
use crate::options::Options;
use crate::service::Service;
use bytes::{Buf, BytesMut};
use helenus_core::Pumped;
use helenus_tls::MaybeTls;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Wake, Waker};
use std::time::Instant;

/// Counts how often it was woken.
#[derive(Debug, Default)]
pub(crate) struct CountingWaker(AtomicUsize);

impl CountingWaker {
    pub(crate) fn pair() -> (Arc<Self>, Waker) {
        let count = Arc::new(CountingWaker::default());
        (Arc::clone(&count), Waker::from(count))
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for CountingWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A v4 STARTUP.
pub(crate) fn startup() -> Vec<u8> {
    let mut body = vec![0, 1, 0, 11];
    body.extend_from_slice(b"CQL_VERSION\x00\x053.0.0");
    envelope(0, 0x01, &body)
}

/// The same, asking for OVERLOADED.
pub(crate) fn throwing_startup() -> Vec<u8> {
    let mut body = vec![0, 2, 0, 11];
    body.extend_from_slice(b"CQL_VERSION\x00\x053.0.0\x00\x11THROW_ON_OVERLOAD\x00\x011");
    envelope(0, 0x01, &body)
}

/// A v4 QUERY of consistency ONE.
pub(crate) fn query(stream: i16, text: &str) -> Vec<u8> {
    let mut body = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
    body.extend_from_slice(text.as_bytes());
    body.extend_from_slice(&[0, 1, 0]);
    envelope(stream, 0x07, &body)
}

fn envelope(stream: i16, opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![4, 0];
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.push(opcode);
    bytes.extend_from_slice(&u32::try_from(body.len()).unwrap().to_be_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// The stream and opcode of each v4 envelope in `bytes`.
pub(crate) fn answers(mut bytes: &[u8]) -> Vec<(i16, u8)> {
    let mut answers = Vec::new();
    while let [4 | 0x84, _, high, low, opcode, a, b, c, d, rest @ ..] = bytes {
        answers.push((i16::from_be_bytes([*high, *low]), *opcode));
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        bytes = &rest[length..];
    }
    assert_eq!(bytes, b"", "a cut envelope");
    answers
}

/// Gives `bytes` to `driver` as one read.
pub(crate) fn feed<S: Service>(driver: &mut Driver<S>, now: Instant, bytes: &[u8]) {
    let read = |buffer: &mut BytesMut| {
        buffer.extend_from_slice(bytes);
        Poll::Ready(Ok::<_, Infallible>(bytes.len()))
    };
    assert_eq!(driver.read(now, read), Poll::Ready(Ok(bytes.len())));
}

/// All that `driver` has to write.
pub(crate) fn output<S: Service>(driver: &mut Driver<S>) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some(mut transmit) = driver.poll_transmit() {
        bytes.extend_from_slice(transmit.chunk());
        transmit.advance(transmit.chunk().len());
    }
    bytes
}

/// The first connection of a server, after the handshake.
pub(crate) fn connect<S: Service>(
    service: S,
    options: Options,
    now: Instant,
) -> MaybeTls<Driver<S>> {
    join(&Hub::new(Arc::new(service), options), &startup(), now)
}

/// A further connection of it, after a handshake that begins with `startup`.
pub(crate) fn join<S: Service>(
    hub: &Arc<Hub<S>>,
    startup: &[u8],
    now: Instant,
) -> MaybeTls<Driver<S>> {
    let address = SocketAddr::from(([127, 0, 0, 1], 9042));
    let mut driver = hub.connect(address, address, now).unwrap();
    driver.turn(now);
    feed(&mut driver, now, startup);
    assert_eq!(answers(&output(&mut driver)), [(0, READY)]);
    driver.turn(now);
    driver
}

pub(crate) const ERROR: u8 = 0x00;
pub(crate) const READY: u8 = 0x02;
pub(crate) const RESULT: u8 = 0x08;
