//! `tower` on both ends: a client as a service, and a service that answers a server's requests.

pub use helenus_client::tower::{ClientService, Request as Call};

use bytes::Bytes;
use helenus_core::wire::Reader;
use helenus_core::{
    Error, ErrorResponse, Flags, Header, ProtocolVersion, Request, RequestBody, Response,
};
use helenus_server::{AsyncService, PeerInfo};
use std::fmt::Display;
use std::future::poll_fn;
use tower_service::Service;

/// A QUERY, PREPARE, EXECUTE or BATCH, its body undecoded: what a `tower` service behind a server is called with.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerRequest {
    /// Whose request it is.
    pub peer: PeerInfo,
    /// The header as it arrived.
    pub header: Header,
    /// The protocol version.
    pub version: ProtocolVersion,
    /// The body, a custom payload at its front if the header's flags say so.
    pub body: Bytes,
}

impl ServerRequest {
    fn new(peer: &PeerInfo, request: Request<'_>) -> Self {
        ServerRequest {
            peer: peer.clone(),
            header: *request.header(),
            version: request.version(),
            body: request.into_bytes(),
        }
    }

    /// Decodes the body.
    ///
    /// # Errors
    /// What is wrong with it; answer [`Error::response`].
    pub fn parse(&self) -> Result<RequestBody<'_>, Error> {
        let mut reader = Reader::new(&self.body);
        if self.header.flags.contains(Flags::CUSTOM_PAYLOAD) {
            reader.bytes_map()?;
        }
        let body = RequestBody::decode(self.header.opcode, self.version, &mut reader)?;
        Ok(body)
    }
}

/// Lets a `tower` service answer the requests of a server: give it to
/// [`Server::bind_async`](crate::Server::bind_async).
///
/// Each connection has a clone of the service, and each request a clone of that, which is called once it is
/// ready. An error of the service answers SERVER_ERROR with its text; what is to be answered otherwise is a response.
#[derive(Debug, Clone)]
pub struct TowerService<S>(S);

impl<S> TowerService<S> {
    /// Answers with `service`.
    #[must_use]
    pub fn new(service: S) -> Self {
        TowerService(service)
    }
}

impl<S> AsyncService for TowerService<S>
where
    S: Service<ServerRequest, Response = Response> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    S::Error: Display + Send,
{
    type Session = (PeerInfo, S);

    fn open(&self, peer: &PeerInfo) -> Self::Session {
        (peer.clone(), self.0.clone())
    }

    fn call(
        &self,
        (peer, service): &mut Self::Session,
        request: Request<'_>,
    ) -> impl Future<Output = Response> + Send + 'static {
        let request = ServerRequest::new(peer, request);
        let mut service = service.clone();
        async move {
            let answered = match poll_fn(|cx| service.poll_ready(cx)).await {
                Ok(()) => service.call(request).await,
                Err(error) => Err(error),
            };
            answered.unwrap_or_else(|error| {
                Response::Error(ErrorResponse::server_error(error.to_string()))
            })
        }
    }
}
