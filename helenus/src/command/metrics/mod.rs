//! `--metrics`: what the server counts as Prometheus text on `/metrics`, and whether it takes clients on `/healthz`.

mod exposition;
mod process;
#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;

use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Response, StatusCode};

use super::http;

pub(super) use exposition::Exposition;

/// Serves `exposition` over HTTP on `address`, on a thread of its own that lasts as long as the process, and returns the
/// address with the port that was taken.
///
/// # Errors
/// When the address can't be listened on, which the error names, or the system gives no thread.
pub(super) fn serve(address: SocketAddr, exposition: Exposition) -> io::Result<SocketAddr> {
    let answer = move |method: &Method, uri: &hyper::Uri| respond(method, uri.path(), &exposition);
    http::serve(address, "metrics", answer).map_err(|error| {
        let text = format!("cannot publish metrics on {address}: {error}");
        io::Error::new(error.kind(), text)
    })
}

/// The media type of what [`Exposition::text`] gives.
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// The media type of everything else.
const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

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
