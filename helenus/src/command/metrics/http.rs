//! The HTTP side: one thread, few connections at a time, each for one request and a short time, so that nobody who scrapes
//! slowly, or not at all, can hurt the server.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::Exposition;

/// Connections at a time; one more waits until one of them ends.
const CONNECTIONS: usize = 16;

/// How long a connection may take in all, from its first byte to the last of the answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest head of a request.
const LONGEST_HEAD: usize = 16 * 1024;

/// The media type of what [`Exposition::text`] gives.
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// The media type of everything else.
const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// Answers whom `listener` accepts, for ever.
pub(super) async fn serve(listener: TcpListener, exposition: Arc<Exposition>) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
            return Ok(());
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let exposition = Arc::clone(&exposition);
                tokio::spawn(async move {
                    converse(stream, &exposition).await;
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept who asks for metrics; trying again");
                sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

/// Answers one request.
async fn converse(stream: TcpStream, exposition: &Arc<Exposition>) {
    let answer = service_fn(|request: Request<Incoming>| {
        let response = respond(request.method(), request.uri().path(), exposition);
        async { Ok::<_, Infallible>(response) }
    });
    let conversation = http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(LONGEST_HEAD)
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .serve_connection(TokioIo::new(stream), answer);
    match timeout(PATIENCE, conversation).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a request for metrics failed"),
        Err(_) => tracing::debug!("a request for metrics took too long"),
    }
}

fn respond(method: &Method, path: &str, exposition: &Exposition) -> Response<String> {
    let (status, media_type, body) = match (method, path) {
        (&(Method::GET | Method::HEAD), "/metrics") => match exposition.text() {
            Ok(text) => (StatusCode::OK, OPEN_METRICS, text),
            Err(error) => (
                StatusCode::INTERNAL_SERVER_ERROR,
                PLAIN,
                format!("{error}\n"),
            ),
        },
        (&(Method::GET | Method::HEAD), "/healthz") => match exposition.is_draining() {
            false => (StatusCode::OK, PLAIN, "serving\n".to_owned()),
            true => (
                StatusCode::SERVICE_UNAVAILABLE,
                PLAIN,
                "draining\n".to_owned(),
            ),
        },
        (_, "/metrics" | "/healthz") => (
            StatusCode::METHOD_NOT_ALLOWED,
            PLAIN,
            "only GET and HEAD\n".to_owned(),
        ),
        _ => (
            StatusCode::NOT_FOUND,
            PLAIN,
            "there are /metrics and /healthz\n".to_owned(),
        ),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}
