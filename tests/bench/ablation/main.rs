//! One variant of the ablation: `NAME REQUESTS` handles so many requests.

#[path = "client.rs"]
mod client;
#[path = "core.rs"]
mod core;

use crate::core::{Asked, Pipeline, Traffic};

/// Something that handles requests, over and over.
pub trait Scenario {
    /// Handles a batch of requests; how many.
    fn turn(&mut self) -> u64;
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, name, requests] = &arguments[..] else {
        panic!("two arguments");
    };
    let traffic = match &**name {
        "execute v4" => Traffic::new(4, Asked::Execute),
        "execute v5" => Traffic::new(5, Asked::Execute),
        "query v4" => Traffic::new(4, Asked::Query),
        "batch v4" => Traffic::new(4, Asked::Batch),
        "malformed execute v4" => Traffic::new(4, Asked::Execute).cut(),
        "malformed batch v4" => Traffic::new(4, Asked::Batch).cut(),
        other => panic!("no scenario {other:?}"),
    };
    let mut pipeline = Pipeline::new(traffic);
    let (mut done, requests) = (0, requests.parse::<u64>().expect("a number"));
    while done < requests {
        done += pipeline.turn();
    }
}
