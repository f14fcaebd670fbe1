//! Certificates in files, and two layers joined in memory, for this crate's own tests.

use crate::client::{ClientFiles, ClientTls};
use crate::error::Error;
use crate::maybe::{Driver, MaybeTls};
use crate::negotiated::Negotiated;
use crate::server::{ServerFiles, ServerTls};
use bytes::{Buf, BytesMut};
use helenus_core::{Pumped, Turn};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, SanType,
};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};
use time::OffsetDateTime;

pub(crate) const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

/// A folder of its own, gone with this.
pub(crate) struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("helenus-tls-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// `text` without the path of this folder.
    pub(crate) fn hide(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.0.display()), "")
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An authority, and what it has signed, in files: `ca.crt`, and `NAME.crt` and `NAME.key` of each.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    pub(crate) folder: Folder,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let folder = Folder::new();
        let name = folder.0.display().to_string();
        params.distinguished_name.push(DnType::CommonName, name);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        folder.write("ca.crt", &issuer.pem());
        Authority { issuer, folder }
    }

    /// Signs a certificate of `name`, good for `days` from now.
    pub(crate) fn sign(&self, name: &str, days: i64) {
        let mut params = CertificateParams::new(vec!["db.example.com".to_owned()]).unwrap();
        params.subject_alt_names.push(SanType::IpAddress(HERE));
        let uri = format!("spiffe://example.com/{name}");
        let uri = SanType::URI(uri.try_into().unwrap());
        params.subject_alt_names.push(uri);
        params.distinguished_name.remove(DnType::CommonName);
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        params.not_before = OffsetDateTime::now_utc() - time::Duration::days(10);
        params.not_after = OffsetDateTime::now_utc() + time::Duration::days(days);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        self.folder
            .write(&format!("{name}.crt"), &certificate.pem());
        self.folder
            .write(&format!("{name}.key"), &key.serialize_pem());
    }

    pub(crate) fn ca(&self) -> PathBuf {
        self.folder.path("ca.crt")
    }

    pub(crate) fn pair(&self, name: &str) -> (PathBuf, PathBuf) {
        let file = |kind: &str| self.folder.path(&format!("{name}.{kind}"));
        (file("crt"), file("key"))
    }

    pub(crate) fn server_files(&self, name: &str) -> ServerFiles {
        let (certificate, key) = self.pair(name);
        ServerFiles::new(certificate, key)
    }

    pub(crate) fn server(&self, name: &str) -> ServerTls {
        ServerTls::load(&self.server_files(name)).unwrap()
    }

    pub(crate) fn client_files(&self) -> ClientFiles {
        ClientFiles::trusting(self.ca())
    }

    pub(crate) fn client(&self) -> ClientTls {
        ClientTls::load(&self.client_files()).unwrap()
    }
}

/// An authority with a server's certificate `server`.
pub(crate) fn authority() -> Authority {
    let authority = Authority::new();
    authority.sign("server", 10);
    authority
}

/// A driver that keeps what it hears.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    /// What is to be sent, in pieces.
    pub(crate) output: VecDeque<BytesMut>,
    pub(crate) input: BytesMut,
    pub(crate) reads: usize,
    pub(crate) has_ended: bool,
    pub(crate) handshake: Option<Option<Negotiated>>,
    pub(crate) failure: Option<Error>,
    pub(crate) unsent: usize,
    /// What the next turns say.
    pub(crate) turns: VecDeque<Turn>,
    pub(crate) refuses_reads: bool,
}

impl Probe {
    pub(crate) fn say(&mut self, bytes: &[u8]) {
        self.output.push_back(BytesMut::from(bytes));
    }
}

impl Pumped for Probe {
    fn turn(&mut self, _now: Instant) -> Turn {
        self.turns.pop_front().unwrap_or(Turn::Wait)
    }

    fn read<E>(
        &mut self,
        _now: Instant,
        read: impl FnOnce(&mut BytesMut) -> Poll<Result<usize, E>>,
    ) -> Poll<Result<usize, E>> {
        let outcome = read(&mut self.input);
        if let Poll::Ready(Ok(bytes)) = outcome {
            self.reads += 1;
            self.has_ended |= bytes == 0;
        }
        outcome
    }

    fn read_slice<E>(
        &mut self,
        now: Instant,
        read: impl FnOnce(&mut [u8]) -> Poll<Result<usize, E>>,
    ) -> Poll<Result<usize, E>> {
        self.read(now, |buffer| {
            let mut room = vec![0; 65_536];
            let outcome = read(&mut room);
            if let Poll::Ready(Ok(bytes)) = outcome {
                buffer.extend_from_slice(&room[..bytes]);
            }
            outcome
        })
    }

    fn poll_transmit(&mut self) -> Option<impl Buf> {
        while self.output.front().is_some_and(BytesMut::is_empty) {
            self.output.pop_front();
        }
        self.output.front_mut()
    }

    fn wants_read(&mut self) -> bool {
        !self.has_ended && !self.refuses_reads
    }

    fn park(&mut self, _waker: &Waker) -> bool {
        self.turns.is_empty()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

impl Driver for Probe {
    fn handle_handshake(&mut self, _now: Instant, negotiated: Option<Negotiated>) {
        assert!(self.handshake.replace(negotiated).is_none());
    }

    fn handle_failure(&mut self, error: &Error) {
        assert!(self.failure.replace(error.clone()).is_none());
    }

    fn handle_unsent(&mut self, bytes: usize) {
        self.unsent = bytes;
    }
}

/// One end, and what its socket has received.
pub(crate) struct End {
    pub(crate) tls: MaybeTls<Probe>,
    pub(crate) inbox: Vec<u8>,
    /// The other side has shut down its write side.
    pub(crate) is_cut: bool,
    has_read_end: bool,
    pub(crate) last: Turn,
}

impl End {
    pub(crate) fn new(tls: MaybeTls<Probe>) -> Self {
        End {
            tls,
            inbox: Vec::new(),
            is_cut: false,
            has_read_end: false,
            last: Turn::Wait,
        }
    }

    /// One round of a pump whose socket gives and takes `chunk` bytes at most; `peer` gets what is written. Whether anything
    /// moved.
    pub(crate) fn round(&mut self, now: Instant, chunk: usize, peer: &mut Vec<u8>) -> Moved {
        if self.last == Turn::Close {
            return Moved::Nothing;
        }
        self.last = self.tls.turn(now);
        match self.last {
            Turn::Close => return Moved::Shut,
            Turn::ShutdownWrite => return Moved::Shut,
            Turn::Wait | Turn::Yield => {}
        }
        let mut moved = Moved::Nothing;
        if self.tls.wants_read() && (!self.inbox.is_empty() || self.is_cut && !self.has_read_end) {
            let came: Vec<u8> = self.inbox.drain(..chunk.min(self.inbox.len())).collect();
            self.has_read_end = came.is_empty();
            let read = if came.len().is_multiple_of(2) {
                self.tls.read(now, |buffer| {
                    buffer.extend_from_slice(&came);
                    Poll::Ready(Ok::<_, Infallible>(came.len()))
                })
            } else {
                self.tls.read_slice(now, |room| {
                    room[..came.len()].copy_from_slice(&came);
                    Poll::Ready(Ok::<_, Infallible>(came.len()))
                })
            };
            assert_eq!(read, Poll::Ready(Ok(came.len())));
            moved = Moved::Bytes;
        }
        if let Some(mut transmit) = self.tls.poll_transmit() {
            let taken = transmit.chunk().len().min(chunk);
            peer.extend_from_slice(&transmit.chunk()[..taken]);
            transmit.advance(taken);
            moved = Moved::Bytes;
        }
        if moved == Moved::Nothing && !self.tls.park(Waker::noop()) {
            moved = Moved::Bytes;
        }
        moved
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moved {
    Nothing,
    Bytes,
    /// The write side is shut down.
    Shut,
}

/// A client and a server.
pub(crate) struct Pair {
    pub(crate) client: End,
    pub(crate) server: End,
    pub(crate) now: Instant,
    pub(crate) chunk: usize,
}

impl Pair {
    pub(crate) fn new(client: &ClientTls, server: &ServerTls) -> Self {
        let now = Instant::now();
        Pair {
            client: End::new(client.connect(Probe::default(), HERE, now, Some(TIMEOUT))),
            server: End::new(server.accept(Probe::default(), now, Some(TIMEOUT))),
            now,
            chunk: usize::MAX,
        }
    }

    /// Moves bytes until nothing moves.
    pub(crate) fn run(&mut self) {
        loop {
            let from_client = self
                .client
                .round(self.now, self.chunk, &mut self.server.inbox);
            self.server.is_cut |= from_client == Moved::Shut;
            let from_server = self
                .server
                .round(self.now, self.chunk, &mut self.client.inbox);
            self.client.is_cut |= from_server == Moved::Shut;
            if (from_client, from_server) == (Moved::Nothing, Moved::Nothing) {
                return;
            }
        }
    }
}

/// Bytes that don't repeat soon.
pub(crate) fn bulk(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}
