//! The replication map of a keyspace: Cassandra's `ReplicationParams` and the rules of its strategies.

use std::collections::BTreeMap;
use std::sync::Arc;

use helenus_core::message::ErrorResponse;

use super::{OptionMap, is_replicated_system};

const PACKAGE: &str = "org.apache.cassandra.locator.";
const REPLICATION_FACTOR: &str = "replication_factor";
/// Cassandra's `default_keyspace_rf`.
const DEFAULT_REPLICATION_FACTOR: &str = "1";

/// How a keyspace is replicated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replication {
    options: OptionMap,
    /// Counted once: each request asks for it.
    replicas: i32,
}

impl Replication {
    pub(crate) fn new(options: OptionMap) -> Self {
        let replicas = count(&options);
        Self { options, replicas }
    }

    /// The replication map, `class` among its keys (a fully qualified class name).
    pub fn options(&self) -> &OptionMap {
        &self.options
    }

    /// How many replicas it wants in all, whether or not there are nodes for them.
    pub fn replicas(&self) -> i32 {
        self.replicas
    }
}

fn count(options: &OptionMap) -> i32 {
    let class = options.get("class").map_or("", |class| class);
    if class.ends_with("LocalStrategy") || class.ends_with("EverywhereStrategy") {
        return 1;
    }
    options
        .iter()
        .filter(|(name, _)| &***name != "class")
        // `3/1` is three replicas of which one is transient.
        .filter_map(|(_, factor)| factor.split('/').next()?.parse::<i32>().ok())
        .fold(0, i32::saturating_add)
}

/// What a keyspace gets from the map written, `previous` being what it has.
///
/// # Errors
/// A configuration error for a missing or unknown class, options the strategy doesn't know, and replication factors
/// that are no numbers; invalid for the strategy of local keyspaces.
pub(super) fn parse(
    keyspace: &str,
    written: &OptionMap,
    previous: Option<&Replication>,
    datacenters: &BTreeMap<Arc<str>, usize>,
) -> Result<Replication, ErrorResponse> {
    let previous = previous.map(Replication::options);
    let class = written
        .get("class")
        .ok_or_else(|| ErrorResponse::config("Missing replication strategy class"))?;
    let class = if class.contains('.') {
        class.to_string()
    } else {
        format!("{PACKAGE}{class}")
    };
    let mut options = written.clone();
    options.remove("class");
    match class.strip_prefix(PACKAGE) {
        Some("SimpleStrategy") => simple(keyspace, &mut options, previous)?,
        Some("NetworkTopologyStrategy") => {
            by_datacenter(keyspace, &mut options, previous, datacenters)?
        }
        Some("LocalStrategy") => {
            return Err(ErrorResponse::invalid(
                "Unable to use given strategy class: LocalStrategy is reserved for internal use.",
            ));
        }
        Some("OldNetworkTopologyStrategy") => {
            return Err(ErrorResponse::config(
                "The support for the OldNetworkTopologyStrategy has been removed in C* version 4.0. The keyspace \
                 strategy should be switch to NetworkTopologyStrategy",
            ));
        }
        _ => {
            return Err(ErrorResponse::config(format!(
                "Unable to find replication strategy class '{class}'"
            )));
        }
    }
    options.insert("class".into(), class.into());
    Ok(Replication::new(options))
}

fn simple(
    keyspace: &str,
    options: &mut OptionMap,
    previous: Option<&OptionMap>,
) -> Result<(), ErrorResponse> {
    if !options.contains_key(REPLICATION_FACTOR) {
        let kept = previous
            .and_then(|previous| previous.get(REPLICATION_FACTOR))
            .cloned();
        let factor = kept.unwrap_or_else(|| DEFAULT_REPLICATION_FACTOR.into());
        options.insert(REPLICATION_FACTOR.into(), factor);
    }
    if let Some(unknown) = options.keys().find(|name| &***name != REPLICATION_FACTOR) {
        return Err(unrecognized(unknown, "SimpleStrategy", keyspace));
    }
    options
        .values()
        .try_for_each(|factor| replication_factor(factor).map(drop))
}

fn by_datacenter(
    keyspace: &str,
    options: &mut OptionMap,
    previous: Option<&OptionMap>,
    datacenters: &BTreeMap<Arc<str>, usize>,
) -> Result<(), ErrorResponse> {
    let mut factor = options.remove(REPLICATION_FACTOR);
    if factor.is_none() && options.is_empty() {
        let kept = previous
            .and_then(|previous| previous.get(REPLICATION_FACTOR))
            .cloned();
        factor = Some(kept.unwrap_or_else(|| DEFAULT_REPLICATION_FACTOR.into()));
    }
    if let Some(factor) = factor.filter(|factor| replication_factor(factor).is_ok()) {
        // Datacenters that have a factor keep it.
        for (name, kept) in previous.into_iter().flatten() {
            if !matches!(&**name, "class" | REPLICATION_FACTOR) {
                options
                    .entry(Arc::clone(name))
                    .or_insert_with(|| Arc::clone(kept));
            }
        }
        for datacenter in datacenters.keys() {
            options
                .entry(Arc::clone(datacenter))
                .or_insert_with(|| Arc::clone(&factor));
        }
    }
    options.retain(|_, factor| &**factor != "0");
    if options.is_empty() {
        return Err(ErrorResponse::config(
            "Configuration for at least one datacenter must be present",
        ));
    }
    if let Some(unknown) = options.keys().find(|name| !datacenters.contains_key(*name)) {
        return Err(unrecognized(unknown, "NetworkTopologyStrategy", keyspace));
    }
    options
        .values()
        .try_for_each(|factor| replication_factor(factor).map(drop))
}

fn unrecognized(option: &str, strategy: &str, keyspace: &str) -> ErrorResponse {
    ErrorResponse::config(format!(
        "Unrecognized strategy option {{{option}}} passed to {strategy} for keyspace {keyspace}"
    ))
}

fn replication_factor(text: &str) -> Result<i32, ErrorResponse> {
    let number = |text: &str| {
        text.parse::<i32>()
            .map_err(|_| ErrorResponse::config(format!("For input string: \"{text}\"")))
    };
    match text.split('/').count() {
        1 => match number(text)? {
            factor @ 0.. => Ok(factor),
            factor => Err(ErrorResponse::config(format!(
                "Replication factor must be non-negative, found {factor}"
            ))),
        },
        2 => Err(ErrorResponse::config(
            "Transient replication is not enabled on this node",
        )),
        _ => Err(ErrorResponse::config(
            "Replication factor format is <replicas> or <replicas>/<transient>",
        )),
    }
}

/// What Cassandra warns of: more replicas than nodes, and more replicas than before. Its own keyspaces are made for more
/// nodes than one and give no warning.
pub(super) fn warnings(
    keyspace: &str,
    new: &Replication,
    previous: Option<&Replication>,
    datacenters: &BTreeMap<Arc<str>, usize>,
) -> Vec<String> {
    let factors = |replication: &Replication| -> BTreeMap<Arc<str>, i32> {
        let numbers = replication
            .options
            .iter()
            .filter_map(|(name, text)| Some((Arc::clone(name), text.parse().ok()?)));
        numbers.collect()
    };
    let mut warnings = Vec::new();
    if is_replicated_system(keyspace) {
        return warnings;
    }
    for (name, factor) in factors(new) {
        let (nodes, place) = match datacenters.get(&name) {
            Some(nodes) => (*nodes, format!(" for datacenter {name}")),
            None => (datacenters.values().sum(), String::new()),
        };
        if usize::try_from(factor).is_ok_and(|factor| factor > nodes) {
            warnings.push(format!(
                "Your replication factor {factor} for keyspace {keyspace} is higher than the number of nodes \
                 {nodes}{place}"
            ));
        }
    }
    if let Some(previous) = previous {
        let total = |replication: &Replication| {
            factors(replication)
                .values()
                .map(|factor| i64::from(*factor))
                .sum::<i64>()
        };
        if total(new) > total(previous) {
            warnings.push(
                "When increasing replication factor you need to run a full (-full) repair to distribute the data."
                    .to_owned(),
            );
        }
    }
    warnings
}
