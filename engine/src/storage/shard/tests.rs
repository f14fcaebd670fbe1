mod arbitrary;
mod counters;
mod model;
mod rules;
mod support;
