//! Every scenario: the same bytes for every contender, and the same number to be found in them.

mod framing;
mod requests;
mod rows;

use crate::contender::Scenario;

/// Every scenario, in the order of the table.
#[must_use]
pub fn all() -> Vec<Scenario> {
    [rows::ALL, requests::ALL, framing::ALL].concat()
}

/// Something that lives as long as the program.
fn kept<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}
