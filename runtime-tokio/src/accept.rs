//! Accepting, the service's timers, the graceful end.

use crate::pump::pump;
use helenus_server::{Hub, Seat, Service, Worker};
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::time::{sleep, sleep_until, timeout};

/// How long connections that were told to close at once may take to hear it.
const ABORT: Duration = Duration::from_secs(1);

/// Serves what `listener` accepts, until the server is shut down.
pub(crate) async fn serve<S: Service>(
    listener: TcpListener,
    hub: Arc<Hub<S>>,
    worker: Worker,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let timers = (worker == Worker::First).then(|| tokio::spawn(run_timers(Arc::clone(&hub))));
    let (mut backoff, seat) = (hub.accept_backoff(), Seat::default());
    loop {
        tokio::select! {
            biased;
            () = poll_fn(|cx| hub.poll_shutdown(&seat, cx.waker())) => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    backoff.succeeded();
                    start(&hub, stream, peer);
                }
                Err(error) => rest(&hub, &seat, backoff.failed(&error)).await,
            },
        }
    }
    drop(listener);
    hub.drain();
    let empty = || poll_fn(|cx| hub.poll_empty(&seat, cx.waker()));
    if timeout(hub.options().drain_timeout, empty()).await.is_err() {
        hub.abort();
        let _ = timeout(ABORT, empty()).await;
    }
    if let Some(timers) = timers {
        timers.abort();
    }
    Ok(())
}

fn start<S: Service>(hub: &Arc<Hub<S>>, stream: tokio::net::TcpStream, peer: SocketAddr) {
    let connected = stream.set_nodelay(true).and_then(|()| stream.local_addr());
    match connected.map(|local| hub.connect(peer, local, Instant::now())) {
        Ok(Ok(mut driver)) => drop(tokio::spawn(async move {
            if let Err(error) = pump(stream, &mut driver).await {
                tracing::debug!(%error, "a connection broke");
            }
        })),
        Ok(Err(refusal)) => tracing::warn!(%peer, %refusal, "refused a connection"),
        Err(error) => tracing::debug!(%peer, %error, "a connection broke"),
    }
}

async fn rest<S: Service>(hub: &Hub<S>, seat: &Seat, pause: Duration) {
    if pause.is_zero() {
        return;
    }
    tokio::select! {
        () = poll_fn(|cx| hub.poll_shutdown(seat, cx.waker())) => {}
        () = sleep(pause) => {}
    }
}

/// Runs the service's own timers; pending for ever while it has none.
async fn run_timers<S: Service>(hub: Arc<Hub<S>>) {
    let mut alarm = pin!(sleep(Duration::ZERO));
    poll_fn(|cx| {
        while let Some(deadline) = hub.poll_service_timer(Instant::now(), cx.waker()) {
            alarm.set(sleep_until(deadline.into()));
            if alarm.as_mut().poll(cx).is_pending() {
                break;
            }
        }
        Poll::<()>::Pending
    })
    .await;
}
