//! [`Session`]: rustls's connection at either end, its states turned into bytes that go up and down.

use crate::error::Error;
use crate::negotiated::Negotiated;
use crate::outgoing::Outgoing;
use bytes::BytesMut;
use rustls::CommonState;
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncryptError, UnbufferedStatus, WriteTraffic,
};
use std::fmt;
use std::ops::Deref;

/// The most plaintext in one record.
const RECORD: usize = 16 * 1024;

/// More than a record's header, nonce and tag take, in any cipher suite.
const OVERHEAD: usize = 64;

/// A TLS connection.
pub(crate) enum Session {
    Client(UnbufferedClientConnection),
    Server(UnbufferedServerConnection),
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("is_server", &self.is_server())
            .field("is_handshaking", &self.is_handshaking())
            .finish_non_exhaustive()
    }
}

/// What to do once the connection has nothing else to do.
#[derive(Debug, Clone, Copy)]
enum Order<'a> {
    Nothing,
    /// Encrypt these bytes.
    Seal(&'a [u8]),
    /// Say that nothing more comes.
    Close,
}

/// What came of a call.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// How many bytes were used up, from the front.
    pub(crate) used: usize,
    /// Whether the peer said that nothing more comes from it.
    pub(crate) has_ended: bool,
    /// An alert for the peer is in the output.
    pub(crate) error: Option<Error>,
}

impl Session {
    /// Handles the records in `incoming`: what they say goes to `plain`, what is to be answered to `outgoing`.
    pub(crate) fn receive(
        &mut self,
        incoming: &mut [u8],
        plain: &mut BytesMut,
        outgoing: &mut Outgoing,
    ) -> Outcome {
        self.advance(incoming, plain, outgoing, Order::Nothing)
    }

    /// Encrypts `data`. `incoming` is what [`Session::receive`] has left.
    pub(crate) fn seal(
        &mut self,
        incoming: &mut [u8],
        data: &[u8],
        outgoing: &mut Outgoing,
    ) -> Outcome {
        self.advance(incoming, &mut BytesMut::new(), outgoing, Order::Seal(data))
    }

    /// Says that nothing more comes. `incoming` is what [`Session::receive`] has left.
    pub(crate) fn close(&mut self, incoming: &mut [u8], outgoing: &mut Outgoing) -> Outcome {
        self.advance(incoming, &mut BytesMut::new(), outgoing, Order::Close)
    }

    /// Whether the handshake goes on.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.state().is_handshaking()
    }

    /// What the handshake came to.
    pub(crate) fn negotiated(&self) -> Negotiated {
        Negotiated::of(self.state())
    }

    pub(crate) fn is_server(&self) -> bool {
        matches!(self, Session::Server(_))
    }

    fn state(&self) -> &CommonState {
        match self {
            Session::Client(connection) => connection,
            Session::Server(connection) => connection,
        }
    }

    fn advance(
        &mut self,
        incoming: &mut [u8],
        plain: &mut BytesMut,
        outgoing: &mut Outgoing,
        order: Order<'_>,
    ) -> Outcome {
        match self {
            Session::Client(connection) => advance(connection, incoming, plain, outgoing, order),
            Session::Server(connection) => advance(connection, incoming, plain, outgoing, order),
        }
    }
}

/// What both ends of rustls have, each for itself.
trait Records: Deref<Target: Deref<Target = CommonState>> {
    type Data;

    fn records<'c, 'i>(
        &'c mut self,
        incoming: &'i mut [u8],
    ) -> UnbufferedStatus<'c, 'i, Self::Data>;
}

impl Records for UnbufferedClientConnection {
    type Data = ClientConnectionData;

    fn records<'c, 'i>(
        &'c mut self,
        incoming: &'i mut [u8],
    ) -> UnbufferedStatus<'c, 'i, Self::Data> {
        self.process_tls_records(incoming)
    }
}

impl Records for UnbufferedServerConnection {
    type Data = ServerConnectionData;

    fn records<'c, 'i>(
        &'c mut self,
        incoming: &'i mut [u8],
    ) -> UnbufferedStatus<'c, 'i, Self::Data> {
        self.process_tls_records(incoming)
    }
}

fn advance(
    connection: &mut impl Records,
    incoming: &mut [u8],
    plain: &mut BytesMut,
    outgoing: &mut Outgoing,
    order: Order<'_>,
) -> Outcome {
    let mut outcome = Outcome::default();
    loop {
        // A connection that failed has an alert to send, but must not see more input.
        let left = match outcome.error {
            None => incoming.get_mut(outcome.used..).unwrap_or_default(),
            Some(_) if connection.wants_write() => &mut [],
            Some(_) => return outcome,
        };
        let UnbufferedStatus { discard, state } = connection.records(left);
        outcome.used += discard;
        match state {
            Err(error) => outcome.error = Some(error.into()),
            Ok(ConnectionState::EncodeTlsData(mut message)) => {
                outgoing.write(0, |room| match message.encode(room) {
                    Err(EncodeError::InsufficientSize(needed)) => Err(needed.required_size),
                    // There is one call for each.
                    Err(EncodeError::AlreadyEncoded) => Ok(0),
                    Ok(written) => Ok(written),
                });
            }
            Ok(ConnectionState::TransmitTlsData(sent)) => sent.done(),
            Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                while let Some(Ok(record)) = traffic.next_record() {
                    outcome.used += record.discard;
                    plain.extend_from_slice(record.payload);
                }
            }
            Ok(ConnectionState::PeerClosed) => outcome.has_ended = true,
            Ok(ConnectionState::WriteTraffic(traffic)) => {
                obey(traffic, outgoing, order, &mut outcome);
                return outcome;
            }
            // Blocked, or closed on both sides; data before a handshake is never asked for.
            Ok(_) => return outcome,
        }
    }
}

/// Does what was ordered, now that nothing is in its way.
fn obey<D>(
    mut traffic: WriteTraffic<'_, D>,
    outgoing: &mut Outgoing,
    order: Order<'_>,
    outcome: &mut Outcome,
) {
    let mut sized = |written| match written {
        Ok(written) => Ok(written),
        Err(EncryptError::InsufficientSize(needed)) => Err(needed.required_size),
        Err(EncryptError::EncryptExhausted) => {
            outcome.error = Some(rustls::Error::EncryptError.into());
            Ok(0)
        }
    };
    match order {
        Order::Nothing => {}
        Order::Seal(data) => {
            let records = data.len() / RECORD + 1;
            let room = data.len() + records * OVERHEAD;
            outgoing.write(room, |room| sized(traffic.encrypt(data, room)));
        }
        Order::Close => outgoing.write(OVERHEAD, |room| sized(traffic.queue_close_notify(room))),
    }
}
