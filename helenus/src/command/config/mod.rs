//! The settings of `helenus serve`: flags and variables over `--set` over a TOML file over defaults.
//!
//! Every section of the file is a struct in a file of its own, declared with [`section!`](section::section) as a table of
//! keys, each with its type, its default and one line that documents it. Parsing, messages and the listing of
//! `--help-config` come from that table.

mod auth;
mod cluster;
mod error;
mod faults;
mod general;
mod guardrails;
mod limits;
mod metrics;
mod raw;
mod section;
#[cfg(test)]
mod tests;
mod tls;
mod toml_file;
mod units;
mod value;

use std::fmt::Write;

use super::arguments::Serve;

pub(super) use auth::Method;
pub(super) use error::ConfigError;
use error::{Origin, Problem};
pub(super) use general::{LogLevel, Workers};
use raw::Raw;
pub(super) use section::Reload;
use section::{KeyRow, Section};
pub(super) use value::flag;

/// The settings in force.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Config {
    /// What stands outside of any table.
    pub(super) general: general::General,
    /// What clients may use up.
    pub(super) limits: limits::Limits,
    /// Who may log in, and how.
    pub(super) auth: auth::Auth,
    /// What statements may ask for.
    pub(super) guardrails: guardrails::Guardrails,
    /// What requests meet on purpose.
    pub(super) faults: faults::Faults,
    /// What is published of the server.
    pub(super) metrics: metrics::Metrics,
    /// Several nodes in one process.
    pub(super) cluster: cluster::Cluster,
    /// The server's certificate, and what it asks of its clients.
    pub(super) tls: tls::Tls,
}

impl Config {
    /// The settings that flags, variables, the file they name and the defaults give together.
    pub(super) fn resolve(flags: &Serve) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        if let Some(path) = &flags.config {
            for assignment in toml_file::read(path)? {
                config.assign(assignment)?;
            }
        }
        for text in &flags.set {
            config.assign(Assignment::from_flag(text)?)?;
        }
        config.general.override_with(flags);
        config.auth.override_with(flags);
        config.metrics.override_with(flags);
        config.tls.override_with(flags);
        config.cluster.override_with(flags);
        config.general.check()?;
        config.cluster.check(config.metrics.listen)?;
        config.tls.check()?;
        Ok(config)
    }

    /// Every section, the one without a table first.
    fn sections(&self) -> [&dyn Section; 8] {
        [
            &self.general,
            &self.limits,
            &self.guardrails,
            &self.faults,
            &self.auth,
            &self.metrics,
            &self.cluster,
            &self.tls,
        ]
    }

    fn sections_mut(&mut self) -> [&mut dyn Section; 8] {
        [
            &mut self.general,
            &mut self.limits,
            &mut self.guardrails,
            &mut self.faults,
            &mut self.auth,
            &mut self.metrics,
            &mut self.cluster,
            &mut self.tls,
        ]
    }

    /// Every key with its value in these settings.
    pub(super) fn rows(&self) -> Vec<KeyRow> {
        self.sections()
            .into_iter()
            .flat_map(|section| section.rows())
            .collect()
    }

    /// The rows whose values differ in `new`, as they are there.
    pub(super) fn changes(&self, new: &Self) -> Vec<KeyRow> {
        let before = self.rows();
        let mut after = new.rows();
        let mut old = before.iter();
        after.retain(|row| old.next() != Some(row));
        after
    }

    /// Every key with its documentation and its default, as a configuration file; SIGHUP has a running server take over
    /// what doesn't take a restart.
    pub(super) fn reference() -> String {
        let mut text = String::new();
        for section in Self::default().sections() {
            if !text.is_empty() {
                text.push('\n');
            }
            let _ = writeln!(text, "# {}", section.doc());
            if !section.name().is_empty() {
                let _ = writeln!(text, "[{}]", section.name());
            }
            for row in section.rows() {
                let restart = match row.reload {
                    Reload::Live => "",
                    Reload::Restart => " Takes a restart.",
                };
                let KeyRow {
                    doc, key, value, ..
                } = row;
                let _ = writeln!(text, "\n# {doc}{restart}\n{key} = {value}");
            }
        }
        text
    }

    fn assign(&mut self, assignment: Assignment) -> Result<(), ConfigError> {
        let Assignment {
            origin,
            section,
            key,
            raw,
        } = assignment;
        let known = self
            .sections_mut()
            .into_iter()
            .find(|known| known.name() == section)
            .and_then(|known| match key.as_str() {
                "" => Some(Ok(())),
                key => known.set(key, &raw),
            });
        match known {
            Some(Ok(())) => Ok(()),
            Some(Err(reason)) => Err(ConfigError::new(
                origin,
                Problem::Value {
                    key: full_name(&section, &key),
                    reason,
                },
            )),
            None if section == "guardrails"
                && let Some(reason) = guardrails::meaningless(&key) =>
            {
                Err(ConfigError::new(
                    origin,
                    Problem::Value {
                        key: full_name(&section, &key),
                        reason: reason.to_owned(),
                    },
                ))
            }
            None => Err(ConfigError::new(
                origin,
                Problem::UnknownKey {
                    nearest: nearest(&section, &key),
                    key: full_name(&section, &key),
                },
            )),
        }
    }
}

/// One key that a source sets.
#[derive(Debug, PartialEq)]
struct Assignment {
    origin: Origin,
    /// Empty for what stands outside of any table.
    section: String,
    /// Empty for a table without keys.
    key: String,
    raw: Raw,
}

impl Assignment {
    /// From `section.key=value`.
    fn from_flag(text: &str) -> Result<Self, ConfigError> {
        let origin = Origin::Flag(text.to_owned());
        let Some((name, value)) = text.split_once('=') else {
            return Err(ConfigError::new(origin, Problem::NoAssignment));
        };
        let (section, key) = name.trim().rsplit_once('.').unwrap_or(("", name.trim()));
        Ok(Assignment {
            origin,
            section: section.to_owned(),
            key: key.to_owned(),
            raw: Raw::Word(value.trim().to_owned()),
        })
    }
}

/// A key's name in messages.
fn full_name(section: &str, key: &str) -> String {
    match (section, key) {
        ("", key) => key.to_owned(),
        (section, "") => section.to_owned(),
        (section, key) => format!("{section}.{key}"),
    }
}

/// The key that looks most like this one: the name as a whole, or its last part for who left the table out.
fn nearest(section: &str, key: &str) -> String {
    let written = full_name(section, key);
    let likeness = |row: &KeyRow| {
        let whole = strsim::jaro_winkler(&row.name(), &written);
        if section == row.section || section.is_empty() {
            whole.max(strsim::jaro_winkler(row.key, key))
        } else {
            whole
        }
    };
    Config::default()
        .rows()
        .iter()
        .max_by(|left, right| likeness(left).total_cmp(&likeness(right)))
        .map(KeyRow::name)
        .unwrap_or_default()
}
