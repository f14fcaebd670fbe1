mod arbitrary;
mod encoding;
mod limits;
mod reconciling;
mod support;
