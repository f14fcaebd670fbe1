//! A service written with `async`: each request waits for a timer of the runtime, and those that
//! came after it are answered meanwhile.

use helenus_core::{ErrorResponse, Request, RequestBody, Response};
use helenus_server::{AsyncService, Options, PeerInfo};
use std::time::Duration;

struct Patient;

impl AsyncService for Patient {
    /// How many requests the connection has sent.
    type Session = u32;

    fn open(&self, _peer: &PeerInfo) -> u32 {
        0
    }

    fn call(
        &self,
        session: &mut u32,
        request: Request<'_>,
    ) -> impl Future<Output = Response> + Send + 'static {
        *session += 1;
        let number = *session;
        // What is needed of the request is taken out: the future outlives it.
        let answer = match request.parse() {
            Ok(RequestBody::Query(_)) => Ok(format!("request{number}").into()),
            Ok(_) => Err(ErrorResponse::invalid("Only QUERY is answered here")),
            Err(error) => Err(error.response()),
        };
        async move {
            match answer {
                Ok(keyspace) => {
                    smol::Timer::after(Duration::from_millis(100)).await;
                    Response::SetKeyspace(keyspace)
                }
                // Ready at once: costs no task.
                Err(error) => Response::Error(error),
            }
        }
    }
}

fn main() -> std::io::Result<()> {
    let address = ([127, 0, 0, 1], 9042).into();
    helenus_smol::Server::bind_async(address, Patient, Options::default())?.run()
}
