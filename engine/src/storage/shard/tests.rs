pub(crate) mod arbitrary;
mod counters;
mod model;
mod rules;
pub(crate) mod support;
