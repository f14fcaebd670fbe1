//! The answers of several replicas to one command as one, and what each replica lacks.

use std::collections::BTreeMap;

use helenus_coordinator::{Model, NodeId, Reconciled, TokenRange};

use crate::model::{Change, Command, Data, Key, Mutation, Position, Row};

/// The model of the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rows;

impl Model for Rows {
    type Command = Command;
    type Mutation = Mutation;
    type Partition = Key;
    type Data = Data;
    type Digest = u64;

    fn digest(data: &Data) -> u64 {
        digest(data)
    }

    fn reconcile(command: &Command, answers: &[(NodeId, Data)]) -> Reconciled<Self> {
        let end = answers.iter().filter_map(|(_, answer)| answer.next).min();
        let mut data = Data {
            rows: merged(answers, end),
            next: end,
        };
        data.cut(command.limit);
        let live = Self::rows(&data);
        let short = match end {
            Some(from) if live < command.limit => {
                let further = Command {
                    from,
                    limit: command.limit - live,
                    ..*command
                };
                let cut_there = answers.iter().filter(|(_, answer)| answer.next == end);
                cut_there.map(|(node, _)| (*node, further)).collect()
            }
            _ => Vec::new(),
        };
        let repairs = answers.iter().flat_map(|(node, answer)| {
            let missing = missing(&data, answer);
            missing.into_iter().map(|mutation| (*node, mutation))
        });
        Reconciled {
            repairs: repairs.collect(),
            data,
            short,
        }
    }

    fn narrow(command: &Command, range: TokenRange, rows: u32) -> Command {
        let from = command.from.max((Key::from_token(range.first), 0));
        let limit = command.limit.min(rows);
        match Key::up_to_token(range.last) {
            Some(last) => Command {
                from,
                to: command.to.min(last),
                limit,
            },
            // The range ends before the first key.
            None => Command {
                from: (Key(u8::MAX), 0),
                to: Key(0),
                limit,
            },
        }
    }

    fn rows(data: &Data) -> u32 {
        data.live().count() as u32
    }

    fn append(data: &mut Data, next: Data) {
        data.rows.extend(next.rows);
        data.next = next.next;
    }
}

/// FNV-1a of everything in an answer.
fn digest(data: &Data) -> u64 {
    struct Fnv(u64);
    impl std::hash::Hasher for Fnv {
        fn finish(&self) -> u64 {
            self.0
        }
        fn write(&mut self, bytes: &[u8]) {
            for byte in bytes {
                self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
            }
        }
    }
    let mut hasher = Fnv(0xCBF2_9CE4_8422_2325);
    std::hash::Hash::hash(data, &mut hasher);
    std::hash::Hasher::finish(&hasher)
}

fn merged(answers: &[(NodeId, Data)], end: Option<Position>) -> Vec<(Position, Row)> {
    let mut rows: BTreeMap<Position, Row> = BTreeMap::new();
    let known = |at: &Position| end.is_none_or(|end| *at < end);
    for (at, row) in answers.iter().flat_map(|(_, answer)| &answer.rows) {
        if known(at) {
            rows.entry(*at)
                .and_modify(|merged| merged.merge(row))
                .or_insert_with(|| row.clone());
        }
    }
    rows.into_iter().collect()
}

/// What an answer lacks of the merged one, a mutation a partition.
fn missing(merged: &Data, answer: &Data) -> Vec<Mutation> {
    let mut mutations: Vec<Mutation> = Vec::new();
    for ((key, clustering), row) in &merged.rows {
        if answer.row((*key, *clustering)) == Some(row) {
            continue;
        }
        let change = (*clustering, Change::Merge(row.clone()));
        match mutations.last_mut() {
            Some(last) if last.key == *key => last.changes.push(change),
            _ => mutations.push(Mutation {
                key: *key,
                changes: vec![change],
            }),
        }
    }
    mutations
}

#[cfg(test)]
mod tests {
    use helenus_coordinator::{Model, NodeId};

    use super::Rows;
    use crate::model::{Cell, Change, Command, Content, Data, Key, Mutation, Position, Row};

    const ALL: Command = Command {
        from: (Key(0), 0),
        to: Key(9),
        limit: 2,
    };

    fn row(clustering: u8, at: i64, content: Content) -> (Position, Row) {
        ((Key(1), clustering), Row::Cell(Cell { at, content }))
    }

    fn answer(rows: &[(Position, Row)], next: Option<u8>) -> Data {
        Data {
            rows: rows.to_vec(),
            next: next.map(|clustering| (Key(1), clustering)),
        }
    }

    #[test]
    fn the_newest_cell_wins_and_who_lacks_it_is_repaired() {
        let old = row(1, 10, Content::Value(1));
        let new = row(1, 20, Content::Value(2));
        let answers = [
            (NodeId(0), answer(&[old], None)),
            (NodeId(1), answer(std::slice::from_ref(&new), None)),
            (NodeId(2), answer(&[], None)),
        ];
        let reconciled = Rows::reconcile(&ALL, &answers);
        assert_eq!(reconciled.data, answer(std::slice::from_ref(&new), None));
        let repair = Mutation {
            key: Key(1),
            changes: vec![(1, Change::Merge(new.1))],
        };
        let expected = vec![(NodeId(0), repair.clone()), (NodeId(2), repair)];
        assert_eq!(reconciled.repairs, expected);
        assert!(reconciled.short.is_empty());
    }

    #[test]
    fn a_replica_whose_rows_were_deleted_elsewhere_is_asked_further() {
        let values = [row(1, 1, Content::Value(1)), row(2, 1, Content::Value(2))];
        let dead = [row(1, 2, Content::Tombstone), row(2, 2, Content::Tombstone)];
        let third = row(3, 1, Content::Value(3));
        let mut answers = vec![
            (NodeId(0), answer(&values, Some(3))),
            (NodeId(1), answer(&dead, None)),
        ];
        let reconciled = Rows::reconcile(&ALL, &answers);
        let further = Command {
            from: (Key(1), 3),
            ..ALL
        };
        assert_eq!(reconciled.short, [(NodeId(0), further)]);

        Rows::append(
            &mut answers[0].1,
            answer(std::slice::from_ref(&third), None),
        );
        let reconciled = Rows::reconcile(&ALL, &answers);
        assert!(reconciled.short.is_empty());
        let live: Vec<_> = reconciled.data.live().cloned().collect();
        assert_eq!(live, [third]);
    }

    #[test]
    fn what_lies_behind_the_limit_is_neither_answered_nor_repaired() {
        let rows = [
            row(1, 1, Content::Value(1)),
            row(2, 1, Content::Value(2)),
            row(3, 1, Content::Value(3)),
        ];
        let answers = [
            (NodeId(0), answer(&rows[..2], Some(3))),
            (
                NodeId(1),
                answer(&[rows[0].clone(), rows[2].clone()], Some(4)),
            ),
        ];
        let reconciled = Rows::reconcile(&ALL, &answers);
        assert_eq!(reconciled.data, answer(&rows[..2], Some(3)));
        assert_eq!(reconciled.repairs.len(), 1);
        assert_eq!(reconciled.repairs[0].0, NodeId(1));
    }
}
