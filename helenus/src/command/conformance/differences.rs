//! The deliberate differences: where Cassandra's answer is a defect, and what may come instead. One table for the
//! command and the tests: `probes/differences.json`.

use std::collections::HashMap;

use serde::Deserialize;

/// The table as it stands in the file.
const TABLE: &str = include_str!("../../../probes/differences.json");

/// One row of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Deliberate {
    /// Whose difference it is: core's documentation lists those of the `protocol`.
    #[serde(rename = "layer")]
    _layer: Layer,
    /// What comes.
    pub(super) when: String,
    /// How Cassandra answers.
    pub(super) cassandra: String,
    /// How helenus does.
    pub(super) here: String,
    /// Why that is better.
    pub(super) why: String,
    /// What may come where the probe expects Cassandra's answer.
    pub(super) instead: Vec<String>,
    /// The probes of it.
    pub(super) probes: Vec<String>,
}

/// What a difference is about.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Layer {
    Protocol,
    Cql,
}

impl Deliberate {
    /// Whether this may come instead of what Cassandra answers.
    pub(super) fn allows(&self, got: &str) -> bool {
        self.instead.iter().any(|allowed| allowed == got)
    }
}

/// The table, by the names of probes.
#[derive(Debug)]
pub(super) struct Differences {
    rows: Vec<Deliberate>,
    by_probe: HashMap<String, usize>,
}

impl Differences {
    /// The table.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub(super) fn load() -> Result<Self, serde_json::Error> {
        let rows: Vec<Deliberate> = serde_json::from_str(TABLE)?;
        let numbered = rows.iter().enumerate();
        let by_probe = numbered
            .flat_map(|(index, row)| row.probes.iter().map(move |probe| (probe.clone(), index)))
            .collect();
        Ok(Self { rows, by_probe })
    }

    /// The row that a probe belongs to.
    pub(super) fn of(&self, probe: &str) -> Option<&Deliberate> {
        self.rows.get(*self.by_probe.get(probe)?)
    }

    /// The rows in order.
    pub(super) fn rows(&self) -> &[Deliberate] {
        &self.rows
    }
}
