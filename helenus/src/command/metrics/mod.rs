//! `--metrics`: what the server counts as Prometheus text on `/metrics`, and whether it takes clients on `/healthz`.

mod exposition;
mod http;
mod process;
#[cfg(test)]
mod tests;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;

pub(super) use exposition::Exposition;

/// Serves `exposition` over HTTP on `address`, on a thread of its own that lasts as long as the process, and returns the
/// address with the port that was taken.
///
/// # Errors
/// When the address can't be listened on, which the error names, or the system gives no thread.
pub(super) fn serve(address: SocketAddr, exposition: Exposition) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address).map_err(|error| {
        let text = format!("cannot publish metrics on {address}: {error}");
        io::Error::new(error.kind(), text)
    })?;
    let address = listener.local_addr()?;
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    thread::Builder::new()
        .name("metrics".to_owned())
        .spawn(move || {
            let served = runtime.block_on(http::serve(listener, Arc::new(exposition)));
            if let Err(error) = served {
                tracing::error!(%error, "metrics are published no more");
            }
        })?;
    Ok(address)
}
