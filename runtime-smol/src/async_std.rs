//! The same server and client on async-std's executor. Both speak through one reactor, so that the pump is the
//! same; only who polls it differs.

use crate::accept::serve;
use crate::runtime::Runtime;
use async_global_executor::GlobalExecutorConfig;
use helenus_server::{Hub, Service, Spawn, Task, Worker};
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::task::Context;

/// A client on async-std.
pub type Client = crate::ClientOn<AsyncStdSpawn>;

/// A CQL server on async-std, bound to its address.
pub type Server<S> = crate::ServerOn<S, AsyncStdSpawn>;

/// async-std: spawns on its executor.
#[derive(Debug, Clone, Copy, Default)]
pub struct AsyncStdSpawn;

impl Spawn for AsyncStdSpawn {
    fn spawn(&self, task: Task) {
        async_std::task::spawn(task);
    }
}

impl Runtime for AsyncStdSpawn {
    fn yield_now(self, cx: &Context<'_>) {
        cx.waker().wake_by_ref();
    }

    fn run<S: Service>(listener: TcpListener, hub: Arc<Hub<S>>, workers: usize) -> io::Result<()> {
        let config = GlobalExecutorConfig::default()
            .with_env_var("ASYNC_STD_THREAD_COUNT")
            .with_min_threads(workers)
            .with_max_threads(workers)
            .with_thread_name_fn(|| "helenus-async-std".to_owned());
        async_global_executor::init_with_config(config);
        async_std::task::block_on(serve(listener, hub, AsyncStdSpawn, Worker::First))
    }
}
