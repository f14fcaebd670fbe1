//! The controls of a cluster by HTTP: `GET /nodes` says what each node is doing, `POST /stop/2` and the like change it.

use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use helenus::{Cluster, ClusterError};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Response, StatusCode};
use serde_json::json;

use super::Control;
use crate::command::http;

/// Serves the controls on `address`, on a thread of its own that lasts as long as the process, and returns the address
/// with the port that was taken.
///
/// # Errors
/// When the address can't be listened on, which the error names, or the system gives no thread.
pub(in crate::command) fn serve(
    address: SocketAddr,
    cluster: &Arc<Cluster>,
) -> io::Result<SocketAddr> {
    let cluster = Arc::clone(cluster);
    let answer = move |method: &Method, uri: &hyper::Uri| respond(method, uri.path(), &cluster);
    http::serve(address, "admin", answer).map_err(|error| {
        let text = format!("cannot serve the controls of the cluster on {address}: {error}");
        io::Error::new(error.kind(), text)
    })
}

fn respond(method: &Method, path: &str, cluster: &Cluster) -> Response<String> {
    let outcome = match *method {
        Method::GET if path == "/nodes" => Ok(()),
        Method::POST => match Control::from_path(path) {
            Ok(control) => control.apply(cluster).map_err(|error| match error {
                ClusterError::NoSuchNode(..) => (StatusCode::NOT_FOUND, error.to_string()),
                ClusterError::WrongState { .. } => (StatusCode::CONFLICT, error.to_string()),
                error => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
            }),
            Err(reason) => Err((StatusCode::BAD_REQUEST, reason)),
        },
        _ => Err((
            StatusCode::NOT_FOUND,
            "there are GET /nodes and POST /stop, /start, /pause, /resume, /partition, /heal, /delay and /drop".to_owned(),
        )),
    };
    let (status, body) = match outcome {
        Ok(()) => (StatusCode::OK, nodes(cluster)),
        Err((status, reason)) => (status, json!({ "error": reason }).to_string()),
    };
    let mut response = Response::new(body + "\n");
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// What each node is doing.
fn nodes(cluster: &Cluster) -> String {
    let addresses = cluster.addresses();
    let nodes = addresses.iter().zip(1..).map(|(address, node)| {
        json!({
            "node": node,
            "address": address.to_string(),
            "data_centre": cluster.data_centre(node),
            "state": cluster.state(node).map(|state| state.name()),
        })
    });
    let mut text = String::new();
    let nodes: Vec<_> = nodes.collect();
    let _ = write!(text, "{}", json!({ "nodes": nodes }));
    text
}
