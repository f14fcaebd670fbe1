//! What a node does as a replica: it answers what the coordinators of the cluster ask, itself among them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use helenus_coordinator::{FailureReason, NodeId, Reply, Request};
use helenus_engine::readers::{ReadCommand, ReadProgress};
use helenus_engine::replica::{DataBuilder, Hash};
use helenus_engine::schema::TableId;
use helenus_engine::storage::Mutation;

use super::Member;
use super::coordination::News;
use super::interconnect::Door;
use super::message::{self, Message};
use super::model::EngineModel;
use super::requests::WRITE;
use crate::embedded::Node;

/// Fragments that are read under one lock of a shard.
const SLICE: usize = 1024;

/// Fragments that are read where a request came in; the rest of a longer read takes turns with what else is put off.
const AT_ONCE: usize = 4 * SLICE;

/// What a replica says to a request.
pub(super) type Said = Result<Reply<EngineModel>, FailureReason>;

impl Door for Node {
    fn receive(self: Arc<Self>, from: NodeId, bytes: Bytes) {
        let Some(member) = &self.member else { return };
        let message = match message::read(&self.schema(), &bytes) {
            Ok(message) => message,
            Err(unreadable) => {
                if let Some(call) = unreadable.asked {
                    member.send(from, message::failed(call, unreadable.reason));
                }
                return;
            }
        };
        match message {
            Message::Ask(call, Request::CounterWrite { .. }) if member.has_heard(from, call) => {}
            Message::Ask(call, request) => self.serve(member, request, move |_, member, said| {
                let answer = match &said {
                    Ok(reply) => message::answer(call, reply),
                    Err(reason) => Some(message::failed(call, *reason)),
                };
                let unknown = || message::failed(call, FailureReason::UNKNOWN);
                member.send(from, answer.unwrap_or_else(unknown));
            }),
            Message::Answer(call, reply) => {
                let news = News::Answer(from, call.call, reply);
                self.tell(member, call.coordination, news);
            }
            Message::Data(call, bytes) => {
                self.tell(
                    member,
                    call.coordination,
                    News::Data(from, call.call, bytes),
                );
            }
            Message::Failed(call, reason) => {
                let news = News::Failed(from, call.call, reason);
                self.tell(member, call.coordination, news);
            }
            Message::Define(change) => self.order(member, from, change),
            Message::Needless(random) => self.settle(member, random, false),
            Message::Changes(changes) => self.learn(member, changes),
            Message::Version(version) => self.hear_version(member, from, version),
        }
    }
}

impl Node {
    /// Does what a coordinator asks, and hands over what is said to it: at once, or when a long read is done.
    pub(super) fn serve(
        self: &Arc<Self>,
        member: &Member,
        request: Request<EngineModel>,
        say: impl FnOnce(&Arc<Self>, &Member, Said) + Send + 'static,
    ) {
        let said = match request {
            Request::Read { command, digest } => {
                let builder = match digest {
                    true => Building::Digest(DataBuilder::digest(&command)),
                    false => Building::Data(DataBuilder::data(&command)),
                };
                return self.read_slices(member, ReplicaRead { command, builder }, say);
            }
            Request::Write { mutation } | Request::Repair { mutation } => {
                let now_seconds = self.clock.now_seconds();
                self.apply(std::slice::from_ref::<Mutation>(&mutation), now_seconds);
                Ok(Reply::Done)
            }
            Request::CounterWrite {
                mutation,
                consistency,
                timeout,
            } => {
                let deadline = Instant::now() + timeout.min(WRITE);
                return self.lead(member, mutation, consistency, deadline, say);
            }
            Request::Truncate { table } => {
                match self.schema().table_with_id(TableId::from_u128(table)) {
                    Some(table) => {
                        self.empty(table);
                        Ok(Reply::Done)
                    }
                    None => Err(FailureReason::INCOMPATIBLE_SCHEMA),
                }
            }
            Request::Prepare { partition, ballot } => {
                let answer = member
                    .acceptors
                    .with(&partition, |acceptor| acceptor.prepare(ballot));
                Ok(Reply::Promise(answer.reply))
            }
            Request::Propose {
                partition,
                proposal,
            } => {
                let answer = member
                    .acceptors
                    .with(&partition, |acceptor| acceptor.propose(proposal));
                let unknown = FailureReason::UNKNOWN;
                answer.reply.map(Reply::Accepted).ok_or(unknown)
            }
            Request::Commit {
                partition,
                proposal,
            } => {
                let answer = member
                    .acceptors
                    .with(&partition, |acceptor| acceptor.commit(proposal));
                if let Some(mutation) = answer.reply {
                    let now_seconds = self.clock.now_seconds();
                    self.apply(std::slice::from_ref::<Mutation>(&mutation), now_seconds);
                }
                Ok(Reply::Done)
            }
            Request::StoreBatch { id, mutations } => {
                self.keep_batch(member, id, mutations);
                Ok(Reply::Done)
            }
            Request::RemoveBatch { id } => {
                member.acceptors.batches.lock().remove(id);
                Ok(Reply::Done)
            }
            _ => Err(FailureReason::UNKNOWN),
        };
        say(self, member, said);
    }

    fn read_slices(
        self: &Arc<Self>,
        member: &Member,
        mut read: ReplicaRead,
        say: impl FnOnce(&Arc<Self>, &Member, Said) + Send + 'static,
    ) {
        for _ in 0..AT_ONCE / SLICE {
            if read.step(self) {
                return say(self, member, Ok(read.finish()));
            }
        }
        Member::later(
            &self.delays,
            Duration::ZERO,
            Arc::downgrade(self),
            move |node| {
                if let Some(member) = &node.member {
                    node.read_slices(member, read, say);
                }
            },
        );
    }
}

/// A read under way.
struct ReplicaRead {
    command: Arc<ReadCommand>,
    builder: Building,
}

#[expect(
    clippy::large_enum_variant,
    reason = "one lives in each read; a box would cost every read an allocation"
)]
enum Building {
    Data(DataBuilder),
    Digest(DataBuilder<Hash>),
}

impl ReplicaRead {
    /// Reads some more; says whether that was the rest.
    fn step(&mut self, node: &Node) -> bool {
        let progress = match &mut self.builder {
            Building::Data(builder) => node.shards.read_data(&self.command, SLICE, builder),
            Building::Digest(builder) => node.shards.read_data(&self.command, SLICE, builder),
        };
        match progress {
            ReadProgress::Yielded(position) => {
                Arc::make_mut(&mut self.command).resume = Some(position);
                false
            }
            ReadProgress::Finished | ReadProgress::Stopped(_) => true,
        }
    }

    fn finish(self) -> Reply<EngineModel> {
        match self.builder {
            Building::Data(builder) => Reply::Data(builder.finish()),
            Building::Digest(builder) => Reply::Digest(builder.finish()),
        }
    }
}
