//! What needs the runtime that was chosen at run time, besides listening: connecting, and tasks.

use std::net::SocketAddr;
use std::thread;

use helenus_client::{Client, Config, Error};
use helenus_server::{Spawn, Task};

use crate::Runtime;

impl Runtime {
    /// Connects a client that this runtime pumps. On tokio this must be called within it, as by a service that it serves.
    /// Who knows the runtime when compiling uses its crate's own `Client`.
    ///
    /// # Errors
    /// [`Error::Lost`] if there is no connection, or the handshake fails; [`Error::Server`] if there is no such keyspace as
    /// the configuration names.
    pub async fn connect(self, address: SocketAddr, config: Config) -> Result<Client, Error> {
        match self {
            Self::Tokio => helenus_tokio::Client::connect(address, config)
                .await
                .map(Client::from),
            Self::Smol => helenus_smol::Client::connect(address, config)
                .await
                .map(Client::from),
            Self::AsyncStd => helenus_smol::async_std::Client::connect(address, config)
                .await
                .map(Client::from),
            Self::Threads => connect_on_a_thread(address, config).await,
        }
    }
}

/// Connecting blocks on threads: futures that run beside this one must not wait for it.
async fn connect_on_a_thread(address: SocketAddr, config: Config) -> Result<Client, Error> {
    let (sender, receiver) = async_channel::bounded(1);
    let connect = move || {
        let client = helenus_std::Client::connect(address, config);
        // Nobody waits any more if the connection that wanted it is gone.
        let _ = sender.send_blocking(client.map(|client| client.asynchronous().clone()));
    };
    thread::Builder::new()
        .name("helenus-connect".to_owned())
        .spawn(connect)
        .map_err(Error::socket)?;
    receiver
        .recv()
        .await
        .unwrap_or_else(|_| Err(Error::socket(std::io::ErrorKind::NotConnected.into())))
}

/// How a [`Runtime`] runs the tasks of asynchronous services.
#[derive(Debug, Clone)]
pub struct RuntimeSpawn(Tasks);

#[derive(Debug, Clone)]
enum Tasks {
    Tokio(helenus_tokio::TokioSpawn),
    Smol(helenus_smol::SmolSpawn),
    AsyncStd(helenus_smol::async_std::AsyncStdSpawn),
    Threads(helenus_std::ThreadSpawn),
}

impl From<Runtime> for RuntimeSpawn {
    fn from(runtime: Runtime) -> Self {
        Self(match runtime {
            Runtime::Tokio => Tasks::Tokio(Default::default()),
            Runtime::Smol => Tasks::Smol(Default::default()),
            Runtime::AsyncStd => Tasks::AsyncStd(Default::default()),
            Runtime::Threads => Tasks::Threads(Default::default()),
        })
    }
}

impl Spawn for RuntimeSpawn {
    fn spawn(&self, task: Task) {
        match &self.0 {
            Tasks::Tokio(tasks) => tasks.spawn(task),
            Tasks::Smol(tasks) => tasks.spawn(task),
            Tasks::AsyncStd(tasks) => tasks.spawn(task),
            Tasks::Threads(tasks) => tasks.spawn(task),
        }
    }
}
