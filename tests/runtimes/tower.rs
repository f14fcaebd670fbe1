//! `tower` on both ends of a connection, on tokio.

use crate::calling::text;
use crate::server::{Running, Runtime, said};
use helenus_client::{Config, Error};
use helenus_core::{ErrorCode, RequestBody, Response};
use helenus_server::Options;
use helenus_tokio::tower::{Call, ClientService, ServerRequest, TowerService};
use helenus_tokio::{Client, Server};
use std::future::{Ready, poll_fn, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use tower_service::Service;

#[tokio::test]
async fn a_clients_service_is_ready_when_its_connection_has_room() {
    let server = Running::start(Runtime::Tokio, Options::default());
    let mut config = Config::default();
    config.connection.limits.max_in_flight = 1;
    let client = Client::connect(server.address, config).await.unwrap();
    let mut first = ClientService::new(client);
    let mut second = first.clone();
    let mut cx = Context::from_waker(Waker::noop());
    let call = |text| Call::query(text, ()).unwrap();
    assert!(first.poll_ready(&mut cx).is_ready());
    // Room is kept until the call is made, and until that is answered.
    assert!(second.poll_ready(&mut cx).is_pending());
    let kept = tokio::spawn(first.call(call("keep")));
    while server.service.calls.load(Ordering::SeqCst) < 1 {
        tokio::task::yield_now().await;
    }
    assert!(second.poll_ready(&mut cx).is_pending());
    server.service.release();
    assert_eq!(text(kept.await.unwrap()), "released");
    poll_fn(|cx| second.poll_ready(cx)).await.unwrap();
    assert_eq!(text(second.call(call("echo second")).await), "second");
    // A service that is dropped gives its room up.
    poll_fn(|cx| second.poll_ready(cx)).await.unwrap();
    drop(second);
    assert_eq!(text(first.call(call("echo first")).await), "first");
}

/// Says what queries say, each clone once it was asked twice whether it is ready.
#[derive(Clone, Default)]
struct Echo {
    asked: bool,
    calls: Arc<AtomicUsize>,
}

impl Service<ServerRequest> for Echo {
    type Response = Response;
    type Error = &'static str;
    type Future = Ready<Result<Response, &'static str>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
        if std::mem::replace(&mut self.asked, true) {
            return Poll::Ready(Ok(()));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn call(&mut self, request: ServerRequest) -> Self::Future {
        assert!(self.asked, "it wasn't ready");
        self.calls.fetch_add(1, Ordering::SeqCst);
        ready(match request.parse() {
            Ok(RequestBody::Query(query)) if query.query != "fail" => Ok(said(query.query)),
            Ok(_) => Err("as told to"),
            Err(error) => Ok(Response::Error(error.response())),
        })
    }
}

#[tokio::test]
async fn a_service_behind_a_server_is_called_when_it_is_ready() {
    let echo = Echo::default();
    let calls = Arc::clone(&echo.calls);
    let anywhere = ([127, 0, 0, 1], 0).into();
    let server = Server::bind_async(anywhere, TowerService::new(echo), Options::default()).unwrap();
    let (address, shutdown) = (server.local_addr(), server.handle());
    let served = tokio::spawn(server.serve());
    let client = Client::connect(address, Config::default()).await.unwrap();
    assert_eq!(text(client.query("hello", ()).await), "hello");
    let error = client.query("fail", ()).await.unwrap_err();
    let Error::Server(error) = error else {
        panic!("{error}");
    };
    assert_eq!(
        (error.code, &*error.message),
        (ErrorCode::SERVER_ERROR, "as told to")
    );
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    drop(client);
    shutdown.shutdown();
    served.await.unwrap().unwrap();
}
