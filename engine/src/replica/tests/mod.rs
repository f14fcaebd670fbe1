mod arbitrary;
mod counting;
mod encoding;
mod limits;
mod reconciling;
mod support;
