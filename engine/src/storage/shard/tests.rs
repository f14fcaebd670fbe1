mod arbitrary;
mod model;
mod rules;
mod support;
