//! For tests without sockets: both ends of a connection joined in memory ([`Pair`]), a network that cuts,
//! delays and damages bytes ([`Link`], [`Cuts`]), and a clock that stands still ([`VirtualClock`]).
//!
//! Who writes a service tests it against a real client like this, whatever the network does and whatever
//! order its answers come in:
//!
//! ```
//! use std::time::{Duration, Instant};
//!
//! use helenus_core::testing::{Cuts, Desk, Link, Pair, PairEvent, Path};
//! use helenus_core::connection::{ClientConfig, ServerConfig};
//! use helenus_core::message::{Query, QueryParams};
//! use helenus_core::{
//!     CallOptions, Consistency, Request, RequestBody, Responder, Response,
//! };
//!
//! // The service under test: a statement that says "slow" is answered a second later.
//! fn service(request: Request<'_>, responder: Responder<'_>, desk: &mut Desk) {
//!     match request.parse() {
//!         Ok(RequestBody::Query(query)) if query.query.contains("slow") => {
//!             desk.later(Duration::from_secs(1), responder.defer(), Response::Void);
//!         }
//!         Ok(_) => responder.send(Response::Void),
//!         Err(error) => responder.error(error.response()),
//!     }
//! }
//!
//! let query = |text| RequestBody::Query(Query { query: text, params: QueryParams::new(Consistency::ONE) });
//! let options = CallOptions::default();
//! let path = Path::default().with_latency(Duration::from_millis(5)).with_cuts(Cuts::BYTES);
//! let link = Link { to_server: path.clone(), to_client: path };
//! let start = Instant::now();
//!
//! let mut pair = Pair::new(ClientConfig::default(), ServerConfig::default(), start, service).over(link);
//! pair.run();
//! assert_eq!(pair.events(), [PairEvent::Ready]);
//!
//! // The second answer overtakes the first.
//! let slow = pair.send(&query("SELECT slow"), &options)?;
//! let fast = pair.send(&query("SELECT fast"), &options)?;
//! pair.run();
//! let answered: Vec<_> = pair.events().into_iter().map(|event| match event {
//!     PairEvent::Answer(call, answer) if answer.response() == Some(&Response::Void) => call,
//!     other => panic!("{other:?}"),
//! }).collect();
//! assert_eq!(answered, [fast, slow]);
//!
//! // Two round trips of handshake, one of requests, and the second that "slow" took. No test waited.
//! assert_eq!(pair.now() - start, Duration::from_millis(3 * 2 * 5 + 1000));
//! # Ok::<(), helenus_core::connection::SendRefused>(())
//! ```

mod clock;
mod cuts;
mod desk;
mod event;
mod link;
mod pair;
mod random;

pub use clock::VirtualClock;
pub use cuts::{Cuts, Pieces};
pub use desk::Desk;
pub use event::{Answered, PairEvent};
pub use link::{Link, Path};
pub use pair::{Pair, PairService};
