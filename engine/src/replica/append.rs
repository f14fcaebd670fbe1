//! Joining an answer with what follows it.

use super::ReadData;
use super::builder::DataBuilder;
use super::feeding::Feeding;
use crate::readers::{Combined, MutationReader as _, Position, ReadCommand, ReadLimit, RunReader};
use crate::storage::Run;

impl ReadData {
    /// Adds what the same command gives beyond where this answer ends: the answer of the tokens that follow, or what the
    /// replica said when it was asked further, as [`Reconciliation::short`](super::Reconciliation::short) has it. Its
    /// last partition may go on, and so may one that it left at the limit of each.
    ///
    /// An answer that doesn't follow is left out: if this one ends early, at a limit of its own, it still does.
    pub fn append(&mut self, next: Self) {
        let resumed = next.command().resume.clone();
        let from = resumed.filter(|from| !is_begun_at(self.command(), from));
        match (from, self.end()) {
            (Some(from), _) if self.cut(&from.key) == Some(&from.bound) => {
                self.append_rest(&from, next)
            }
            (Some(from), Some(end)) if end.is_at(&from) => self.append_following(next),
            (None, None) => self.append_following(next),
            _ => {}
        }
    }

    /// Adds the rest of a partition.
    fn append_rest(&mut self, from: &Position, next: Self) {
        let next = next.into_content();
        let end = next.end.filter(|end| end.key == from.key);
        let bound = end.map(|end| end.bound);
        let content = self.content_mut();
        if let Ok(index) = content.cuts.binary_search_by(|(key, _)| key.cmp(&from.key)) {
            match bound.and_then(|bound| Some((content.cuts.get_mut(index)?, bound))) {
                Some(((_, place), bound)) => *place = bound,
                None => {
                    content.cuts.remove(index);
                }
            }
        }
        self.merge(next.run);
    }

    /// Adds what begins where this answer ends.
    fn append_following(&mut self, next: Self) {
        let next = next.into_content();
        let content = self.content_mut();
        content.end = next.end;
        content.cuts.extend(next.cuts);
        content.cuts.sort_by(|(a, _), (b, _)| a.cmp(b));
        let first = next.run.partitions().first().map(|(key, _)| key);
        let last = content.run.partitions().last().map(|(key, _)| key);
        if first.is_none_or(|first| last.is_none_or(|last| last < first)) {
            content.rows = content.rows.saturating_add(next.rows);
            content.run.append(next.run);
        } else {
            self.merge(next.run);
        }
    }

    /// Merges rows of partitions that it may have too.
    fn merge(&mut self, other: Run) {
        let command = ReadCommand {
            limit: ReadLimit {
                bytes: u32::MAX,
                ..ReadLimit::NONE
            },
            ..self.command().whole()
        };
        let mut builder = DataBuilder::data(&command);
        let readers = [&self.content().run, &other].map(|run| RunReader::new(&command, run));
        let mut feeding = Feeding::new(&mut builder, &command, usize::MAX);
        let _ = Combined::new(readers, &command).consume_pausable(&mut feeding);
        let merged = builder.finish().into_content();
        let content = self.content_mut();
        (content.run, content.rows) = (merged.run, merged.rows);
    }
}

/// Whether an answer to this command begins at a position anyway.
fn is_begun_at(command: &ReadCommand, position: &Position) -> bool {
    let resume = command.resume.as_ref();
    resume.is_some_and(|resume| resume.is_at(position))
}
