//! Conditional writes and serial reads of each partition are linearizable: stateright's tester finds an order of them that a
//! single register would have answered likewise, and that contradicts no clock on the wall.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};

use super::Violation;
use crate::history::{Answer, Operation, Record, value_of};
use crate::model::Key;

/// The one row of a partition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Register(Option<u64>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Ask {
    Read,
    Compare { expected: Option<u64>, value: u64 },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Told {
    Value(Option<u64>),
    Set,
}

impl SequentialSpec for Register {
    type Op = Ask;
    type Ret = Told;

    fn invoke(&mut self, ask: &Ask) -> Told {
        match ask {
            Ask::Compare { expected, value } if self.0 == *expected => {
                self.0 = Some(*value);
                Told::Set
            }
            Ask::Compare { .. } | Ask::Read => Told::Value(self.0),
        }
    }
}

/// A request as the tester sees it. Each is a thread of its own order: by when it was asked and answered alone.
struct Call {
    ask: Ask,
    asked: Duration,
    told: Option<(Duration, Told)>,
}

pub(super) fn check(history: &[Record]) -> Vec<Violation> {
    let mut partitions: BTreeMap<Key, Vec<Call>> = BTreeMap::new();
    for record in history {
        if let Some((key, call)) = call(record) {
            partitions.entry(key).or_default().push(call);
        }
    }
    let broken = partitions
        .into_iter()
        .filter_map(|(key, calls)| Some((key, judge(without_traceless(calls))?)));
    broken
        .map(|(key, seen)| Violation {
            rule: "conditional writes are linearizable",
            seen: format!("{key}: {seen}"),
        })
        .collect()
}

fn call(record: &Record) -> Option<(Key, Call)> {
    let (key, ask) = match record.operation {
        Operation::SerialRead(key) => (key, Ask::Read),
        Operation::Compare {
            key,
            expected,
            value,
        } => (key, Ask::Compare { expected, value }),
        _ => return None,
    };
    let told = match &record.answered {
        Some((_, Answer::Refused)) => return None,
        Some((at, Answer::Data(data))) => Some((*at, Told::Value(value_of(data)))),
        Some((at, Answer::Compared(Ok(())))) => Some((*at, Told::Set)),
        Some((at, Answer::Compared(Err(value)))) => Some((*at, Told::Value(*value))),
        _ => None,
    };
    if told.is_none() && ask == Ask::Read {
        return None;
    }
    let asked = record.asked;
    Some((key, Call { ask, asked, told }))
}

/// Leaves out writes of unknown outcome whose value nobody saw nor built upon: if they had an effect it was the last of
/// all, so they decide nothing; and the tester's search doubles with each.
fn without_traceless(mut calls: Vec<Call>) -> Vec<Call> {
    let mut traces = BTreeSet::new();
    for call in &calls {
        if let Some((_, Told::Value(Some(value)))) = call.told {
            traces.insert(value);
        }
        if let Ask::Compare {
            expected: Some(value),
            ..
        } = call.ask
        {
            traces.insert(value);
        }
    }
    calls.retain(|call| match call.ask {
        Ask::Compare { value, .. } => call.told.is_some() || traces.contains(&value),
        Ask::Read => true,
    });
    calls
}

/// What contradicts itself, if no order explains the calls.
fn judge(calls: Vec<Call>) -> Option<String> {
    // Questions before answers where both are at the same time: that orders less.
    let mut events: Vec<(Duration, bool, usize)> = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        events.push((call.asked, false, index));
        if let Some((at, _)) = call.told {
            events.push((at, true, index));
        }
    }
    events.sort_unstable();
    let mut tester = LinearizabilityTester::new(Register::default());
    // A thread is free again when its request was answered: few threads keep the search short.
    let mut threads: Vec<Option<usize>> = Vec::new();
    for (_, answers, index) in events {
        let call = &calls[index];
        let outcome = if !answers {
            let free = threads.iter().position(Option::is_none);
            let thread = free.unwrap_or_else(|| {
                threads.push(None);
                threads.len() - 1
            });
            threads[thread] = Some(index);
            tester.on_invoke(thread, call.ask.clone()).map(|_| ())
        } else {
            let thread = threads.iter().position(|running| *running == Some(index))?;
            threads[thread] = None;
            let (_, told) = call.told.clone()?;
            tester.on_return(thread, told).map(|_| ())
        };
        if let Err(error) = outcome {
            return Some(error);
        }
    }
    if tester.serialized_history().is_some() {
        return None;
    }
    let lines = calls.iter().map(|call| {
        let told = call.told.as_ref();
        let told = told.map_or("nothing".to_owned(), |(at, told)| {
            format!("{told:?} at {at:?}")
        });
        format!("\n    {:?} at {:?}: {told}", call.ask, call.asked)
    });
    Some(format!("no order explains{}", lines.collect::<String>()))
}
