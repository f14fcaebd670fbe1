//! What replicas tell each other: mutations, commands and answers, decoded, used and encoded again.

use std::ops::ControlFlow;

use bytes::{Bytes, BytesMut};
use helenus_engine::readers::{
    Fragment, PartitionRange, ReadCommand, ReadLimit, ReadProgress, Slices,
};
use helenus_engine::replica::{DataBuilder, ReadData, reconcile};
use helenus_engine::storage::{Mutation, Shard};

use super::cql::{Node, START};
use crate::input::Input;

/// What a read may take before it counts as one that doesn't end.
const STEPS: usize = 100_000;

thread_local! {
    static NODE: Node = Node::new();
}

/// A byte for the kind of message, and the message.
pub(super) fn replica(data: &[u8]) {
    let mut input = Input::new(data);
    NODE.with(|node| match input.byte() % 3 {
        0 => mutation(node, input.rest()),
        1 => command(node, input.rest()),
        _ => answer(node, input),
    });
}

/// Messages as the nodes of a small cluster would send them.
pub(crate) fn messages() -> Vec<Vec<u8>> {
    let node = Node::new();
    let shard = node.shard();
    let mut seeds = Vec::new();
    let mut add = |kind: &[u8], encode: &dyn Fn(&mut BytesMut)| {
        let mut out = BytesMut::from(kind);
        encode(&mut out);
        seeds.push(out.to_vec());
    };
    for written in node.rows() {
        add(&[0], &|out| written.encode(out));
        let mut leader = node.shard();
        let counted = leader.apply_counter(written, 7, START);
        add(&[0], &|out| counted.encode(out));
    }
    for table in 0..TABLES.len() as u8 {
        for (reversed, limit) in [(false, ReadLimit::NONE), (true, limited())] {
            let command = ReadCommand {
                reversed,
                limit,
                ..all(&node, table)
            };
            add(&[1], &|out| command.encode(out));
            let answer = read(&shard, &command);
            add(&[2, table, u8::from(reversed)], &|out| answer.encode(out));
        }
    }
    seeds
}

const TABLES: [&str; 3] = ["t", "n", "w"];

fn limited() -> ReadLimit {
    ReadLimit {
        rows: 1,
        per_partition: 1,
        bytes: 100,
    }
}

/// A command for all of one of the tables.
fn all(node: &Node, table: u8) -> ReadCommand {
    let name = TABLES[usize::from(table) % TABLES.len()];
    ReadCommand {
        table: node.schema().table("k", name).expect("the table").clone(),
        range: PartitionRange::ALL,
        slices: Slices::All,
        reversed: false,
        now_seconds: START,
        resume: None,
        limit: ReadLimit::NONE,
    }
}

fn encoded(encode: impl Fn(&mut BytesMut)) -> Bytes {
    let mut out = BytesMut::new();
    encode(&mut out);
    out.freeze()
}

fn read(shard: &Shard, command: &ReadCommand) -> ReadData {
    let mut builder = DataBuilder::data(command);
    let mut command = command.clone();
    for _ in 0..STEPS {
        match shard.read_data(&command, 3, &mut builder) {
            ReadProgress::Yielded(position) => command.resume = Some(position),
            _ => return builder.finish(),
        }
    }
    panic!("a read without end");
}

/// An answer is what it was before it travelled, and consuming it ends.
fn travels(data: &ReadData, command: &ReadCommand) {
    let bytes = encoded(|out| data.encode(out));
    let again = ReadData::decode(command, &bytes).expect("an answer that was encoded");
    assert_eq!(encoded(|out| again.encode(out)), bytes);
    assert_eq!(again.digest(), data.digest());
    let mut rows = 0;
    let _ = data.consume(command, usize::MAX, &mut |fragment: Fragment<'_>| {
        rows += usize::from(matches!(fragment, Fragment::Row(..)));
        ControlFlow::Continue(())
    });
    assert!(rows <= bytes.len());
}

fn mutation(node: &Node, bytes: &[u8]) {
    let Ok(mutation) = Mutation::decode(node.schema(), bytes) else {
        return;
    };
    let once = encoded(|out| mutation.encode(out));
    let again = Mutation::decode(node.schema(), &once).expect("a mutation that was encoded");
    assert_eq!(encoded(|out| again.encode(out)), once);
    let (mut one, mut other) = (node.shard(), node.shard());
    one.apply(&mutation, START);
    let counted = other.apply_counter(&mutation, 7, START);
    assert!(!counted.is_counter_delta());
    let command = ReadCommand {
        table: mutation.table.clone(),
        ..all(node, 0)
    };
    let answers = [one, other].map(|shard| read(&shard, &command));
    answers.iter().for_each(|data| travels(data, &command));
    let answers = answers.map(|data| ((), data));
    travels(&reconcile(&command, &answers).data, &command);
}

fn command(node: &Node, bytes: &[u8]) {
    let Ok(command) = ReadCommand::decode(node.schema(), bytes) else {
        return;
    };
    let once = encoded(|out| command.encode(out));
    let again = ReadCommand::decode(node.schema(), &once).expect("a command that was encoded");
    assert_eq!(encoded(|out| again.encode(out)), once);
    let data = read(&node.shard(), &command);
    travels(&data, &command);
}

fn answer(node: &Node, mut input: Input<'_>) {
    let table = input.byte();
    let command = ReadCommand {
        reversed: input.byte() % 2 == 1,
        ..all(node, table)
    };
    let bytes = Bytes::copy_from_slice(input.rest());
    let Ok(data) = ReadData::decode(&command, &bytes) else {
        return;
    };
    travels(&data, &command);
    let mut shard = node.shard();
    let answers = [(false, data), (true, read(&shard, &command))];
    let reconciled = reconcile(&command, &answers);
    travels(&reconciled.data, &command);
    for (is_own, repair) in reconciled.repairs {
        let bytes = encoded(|out| repair.encode(out));
        let repair = Mutation::decode(node.schema(), &bytes).expect("a repair");
        if is_own {
            shard.apply(&repair, START);
        }
    }
    travels(&read(&shard, &command), &command);
}
