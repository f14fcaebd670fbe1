mod rules;
mod support;
