//! Accepting, the service's timers, the graceful end.

use crate::pump::pump;
use crate::runtime::Runtime;
use helenus_server::{Hub, Seat, Service, Worker};
use smol::future::{FutureExt, or};
use smol::{Async, Timer};
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

/// How long connections that were told to close at once may take to hear it.
const ABORT: Duration = Duration::from_secs(1);

/// Serves what `listener` accepts, until the server is shut down.
pub(crate) async fn serve<S: Service>(
    listener: TcpListener,
    hub: Arc<Hub<S>>,
    runtime: impl Runtime,
    worker: Worker,
) -> io::Result<()> {
    let listener = Async::new(listener)?;
    let serving = async {
        accept(listener, &hub, runtime).await;
        hub.drain();
        if !emptied(&hub, hub.options().drain_timeout).await {
            hub.abort();
            emptied(&hub, ABORT).await;
        }
    };
    match worker {
        Worker::First => or(serving, run_timers(&hub)).await,
        Worker::Other => serving.await,
    }
    Ok(())
}

/// Accepts until a shutdown is asked for.
async fn accept<S: Service>(
    listener: Async<TcpListener>,
    hub: &Arc<Hub<S>>,
    runtime: impl Runtime,
) {
    let (mut backoff, seat) = (hub.accept_backoff(), Seat::default());
    let shutdown = || poll_fn(|cx| hub.poll_shutdown(&seat, cx.waker()));
    loop {
        let accepted = or(async { Some(listener.accept().await) }, async {
            shutdown().await;
            None
        });
        match accepted.await {
            None => return,
            Some(_) if hub.shutdown_handle().is_shutdown() => return,
            Some(Ok((stream, peer))) => {
                backoff.succeeded();
                start(hub, stream, peer, runtime);
            }
            Some(Err(error)) => {
                let pause = backoff.failed(&error);
                if !pause.is_zero() {
                    or(shutdown(), sleep(pause)).await;
                }
            }
        }
    }
}

fn start<S: Service>(
    hub: &Arc<Hub<S>>,
    stream: Async<TcpStream>,
    peer: SocketAddr,
    runtime: impl Runtime,
) {
    let socket = stream.get_ref();
    let connected = socket.set_nodelay(true).and_then(|()| socket.local_addr());
    match connected.map(|local| hub.connect(peer, local, Instant::now())) {
        Ok(Ok(mut driver)) => {
            let pumped = async move {
                if let Err(error) = pump(stream, &mut driver, runtime).await {
                    tracing::debug!(%error, "a connection broke");
                }
            };
            runtime.spawn(pumped.boxed());
        }
        Ok(Err(refusal)) => tracing::warn!(%peer, %refusal, "refused a connection"),
        Err(error) => tracing::debug!(%peer, %error, "a connection broke"),
    }
}

/// Waits until no connection is open, `limit` at most. True if so.
async fn emptied<S: Service>(hub: &Hub<S>, limit: Duration) -> bool {
    let seat = Seat::default();
    let empty = async {
        poll_fn(|cx| hub.poll_empty(&seat, cx.waker())).await;
        true
    };
    let late = async {
        sleep(limit).await;
        false
    };
    or(empty, late).await
}

async fn sleep(pause: Duration) {
    Timer::after(pause).await;
}

/// Runs the service's own timers; pending for ever while it has none.
async fn run_timers<S: Service>(hub: &Hub<S>) {
    let mut alarm = Timer::never();
    poll_fn(|cx| {
        while let Some(deadline) = hub.poll_service_timer(Instant::now(), cx.waker()) {
            alarm.set_at(deadline);
            if Pin::new(&mut alarm).poll(cx).is_pending() {
                break;
            }
        }
        Poll::Pending
    })
    .await
}
