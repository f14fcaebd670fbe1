//! `tower` on both ends: one piece of middleware, which tells how long calls take, around a client's calls
//! and around a server's service. `cargo run -p helenus-tokio --features tower --example tower`

#![expect(clippy::print_stdout, reason = "it tells what it does")]

use helenus_client::Config;
use helenus_core::{ErrorResponse, RequestBody, Response};
use helenus_server::Options;
use helenus_tokio::tower::{Call, ClientService, ServerRequest, TowerService};
use helenus_tokio::{Client, Server};
use std::convert::Infallible;
use std::error::Error;
use std::future::{Ready, poll_fn, ready};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;
use tower_service::Service;

/// Any service, timed.
#[derive(Clone)]
struct Timed<S>(&'static str, S);

impl<R, S: Service<R>> Service<R> for Timed<S>
where
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.1.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let (name, begin) = (self.0, Instant::now());
        let answer = self.1.call(request);
        Box::pin(async move {
            let answer = answer.await;
            println!("{name} took {:?}", begin.elapsed());
            answer
        })
    }
}

/// Grants `USE name`.
#[derive(Clone)]
struct Granting;

impl Service<ServerRequest> for Granting {
    type Response = Response;
    type Error = Infallible;
    type Future = Ready<Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: ServerRequest) -> Self::Future {
        let granted = match request.parse() {
            Ok(RequestBody::Query(query)) => query.query.strip_prefix("USE ").map(str::to_owned),
            _ => None,
        };
        ready(Ok(match granted {
            Some(keyspace) => Response::SetKeyspace(keyspace.into()),
            None => Response::Error(ErrorResponse::invalid("Only USE is granted here")),
        }))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let service = TowerService::new(Timed("the service", Granting));
    let anywhere = ([127, 0, 0, 1], 0).into();
    let server = Server::bind_async(anywhere, service, Options::default())?;
    let (address, shutdown) = (server.local_addr(), server.handle());
    let serving = tokio::spawn(server.serve());

    let client = Client::connect(address, Config::default()).await?;
    let mut client = Timed("the client", ClientService::new(client));
    poll_fn(|cx| client.poll_ready(cx)).await?;
    let result = client.call(Call::query("USE somewhere", ())?).await?;
    println!("{:?}", result.response);

    drop(client);
    shutdown.shutdown();
    serving.await??;
    Ok(())
}
