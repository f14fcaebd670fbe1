//! The library's own clients, on any of the runtimes.

use crate::server::Runtime;
use helenus_client::{Client, Config, Error};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::mpsc::channel;
use std::task::Poll;
use std::thread::{self, JoinHandle};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

pub(crate) use smol::block_on as wait;

/// A client, and what pumps its connection.
pub(crate) struct Connected {
    /// Goes first.
    pub(crate) client: Client,
    pub(crate) pump: Pump,
}

#[expect(dead_code, reason = "they are kept to be dropped")]
pub(crate) enum Pump {
    /// A thread of the connection, or of the process.
    Own,
    CurrentThread(Driven),
    WorkStealing(tokio::runtime::Runtime),
}

/// A thread that runs a current-thread loop, until it is dropped.
pub(crate) struct Driven {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Driven {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Deref for Connected {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// Connects with the defaults.
pub(crate) fn connect(runtime: Runtime, address: SocketAddr) -> Connected {
    connect_with(runtime, address, |_| {})
}

/// Connects with the defaults, changed.
pub(crate) fn connect_with(
    runtime: Runtime,
    address: SocketAddr,
    change: impl FnOnce(&mut Config),
) -> Connected {
    let mut config = Config::default();
    change(&mut config);
    try_connect(runtime, address, config).unwrap()
}

pub(crate) fn try_connect(
    runtime: Runtime,
    address: SocketAddr,
    config: Config,
) -> Result<Connected, Error> {
    let (client, pump) = match runtime {
        Runtime::Threads => {
            let client = helenus_std::Client::connect(address, config)?;
            (client.asynchronous().clone(), Pump::Own)
        }
        Runtime::Tokio => drive(address, config)?,
        Runtime::TokioWorkStealing => {
            let mut builder = Builder::new_multi_thread();
            let runtime = builder.worker_threads(2).enable_all().build().unwrap();
            let client = runtime.block_on(helenus_tokio::Client::connect(address, config))?;
            (client.into(), Pump::WorkStealing(runtime))
        }
        Runtime::Smol => {
            let client = wait(helenus_smol::Client::connect(address, config))?;
            (client.into(), Pump::Own)
        }
        Runtime::AsyncStd => {
            let client = wait(helenus_smol::async_std::Client::connect(address, config))?;
            (client.into(), Pump::Own)
        }
    };
    Ok(Connected { client, pump })
}

fn drive(address: SocketAddr, config: Config) -> Result<(Client, Pump), Error> {
    let (connected, client) = channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let thread = thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = helenus_tokio::Client::connect(address, config).await;
            connected.send(client.map(Client::from)).unwrap();
            let _ = stopped.await;
        });
    });
    let driven = Driven {
        stop: Some(stop),
        thread: Some(thread),
    };
    Ok((client.recv().unwrap()?, Pump::CurrentThread(driven)))
}

/// The outputs of all `futures`, which are polled together.
pub(crate) async fn all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = running.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (future, output) in running.iter_mut().zip(&mut outputs) {
            if output.is_none()
                && let Poll::Ready(value) = future.as_mut().poll(cx)
            {
                *output = Some(value);
            }
        }
        match outputs.iter().all(Option::is_some) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    outputs.into_iter().flatten().collect()
}
