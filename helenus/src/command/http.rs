//! HTTP for operators: one thread, few connections at a time, each for one request and a short time, so that nobody who
//! asks slowly, or not at all, can hurt the server.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// Connections at a time; one more waits until one of them ends.
const CONNECTIONS: usize = 16;

/// How long a connection may take in all, from its first byte to the last of the answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest head of a request.
const LONGEST_HEAD: usize = 16 * 1024;

/// What answers a request.
type Answer = dyn Fn(&Method, &Uri) -> Response<String> + Send + Sync;

/// Answers requests on `address`, on a thread of this name that lasts as long as the process; returns the address with
/// the port that was taken.
///
/// # Errors
/// When the address can't be listened on or the system gives no thread.
pub(super) fn serve(
    address: SocketAddr,
    name: &'static str,
    answer: impl Fn(&Method, &Uri) -> Response<String> + Send + Sync + 'static,
) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    let address = listener.local_addr()?;
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            if let Err(error) = runtime.block_on(accept(listener, Arc::new(answer))) {
                tracing::error!(%error, name, "nobody is answered any more");
            }
        })?;
    Ok(address)
}

/// Answers whom `listener` accepts, for ever.
async fn accept(listener: TcpListener, answer: Arc<Answer>) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
            return Ok(());
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let answer = Arc::clone(&answer);
                tokio::spawn(async move {
                    converse(stream, &*answer).await;
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept who asks by HTTP; trying again");
                sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

/// Answers one request.
async fn converse(stream: TcpStream, answer: &Answer) {
    let answer = service_fn(|request: Request<Incoming>| {
        let response = answer(request.method(), request.uri());
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
        Ok(Err(error)) => tracing::debug!(%error, "a request by HTTP failed"),
        Err(_) => tracing::debug!("a request by HTTP took too long"),
    }
}
