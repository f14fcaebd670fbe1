//! The short way of what most requests are: a row by its primary key goes from its shard straight into the output, and
//! a modification that needs no read straight into its shard.
//!
//! Both know the plain case only, and give the responder back in every other: an [`Execution`] answers those.
//!
//! [`Execution`]: helenus_engine::execution::Execution

use std::sync::Arc;

use helenus_core::message::Execute;
use helenus_core::{Responder, Response};
use helenus_engine::Context;
use helenus_engine::execution::{Lookup, LookupOutcome, plain_mutations};
use helenus_engine::guardrails::Guardrails;
use helenus_engine::schema::Schema;
use helenus_engine::statement::Statement;

use super::Node;
use super::service::Session;

impl Node {
    /// Answers a statement at once, if it is plain and there is nothing but its row, or its being done, to answer with.
    pub(super) fn answer_at_once<'r>(
        &self,
        execute: &Execute<'_>,
        statement: &Arc<Statement>,
        session: &mut Session,
        responder: Responder<'r>,
    ) -> Option<Responder<'r>> {
        // Nothing is done here that an execution would do again, unless the statement is of the kinds that get by without.
        let is_plain = statement.is_lookup() || statement.is_plain_change();
        // The other nodes of a cluster have a part in each statement.
        if !is_plain || self.member.is_some() || self.faults.are_set() {
            return Some(responder);
        }
        let context = self.clock.context(responder.version());
        let circumstances = Circumstances {
            context: &context,
            guardrails: self.guardrails(session.user.as_ref()),
            schema: self.schema(),
        };
        let (user, keyspace) = (&mut session.user, session.keyspace.as_deref());
        let authorized = self.authorize(user, keyspace, &circumstances.schema, statement);
        let is_authorized =
            authorized.is_ok() && self.is_allowed(session, &circumstances.schema, [statement]);
        match is_authorized {
            true if statement.is_lookup() => {
                self.look_up(execute, statement, circumstances, responder)
            }
            true => self.write_at_once(execute, statement, circumstances, responder),
            false => Some(responder),
        }
    }

    fn look_up<'r>(
        &self,
        execute: &Execute<'_>,
        statement: &Statement,
        around: Circumstances<'_>,
        responder: Responder<'r>,
    ) -> Option<Responder<'r>> {
        let lookup = Lookup::bind(
            &around.schema,
            statement,
            &execute.params,
            execute.result_metadata_id,
            around.context,
            &around.guardrails,
        );
        let Some(lookup) = lookup else {
            return Some(responder);
        };
        self.shards
            .with_owner(lookup.table(), lookup.token(), |shard| {
                match lookup.find(shard) {
                    LookupOutcome::Row(row) => responder.rows(lookup.header(), |writer| {
                        row.write(writer);
                        Ok(())
                    }),
                    LookupOutcome::Nothing => responder.rows(lookup.header(), |_| Ok(())),
                    LookupOutcome::Unclear => return Some(responder),
                }
                None
            })
    }

    fn write_at_once<'r>(
        &self,
        execute: &Execute<'_>,
        statement: &Statement,
        around: Circumstances<'_>,
        responder: Responder<'r>,
    ) -> Option<Responder<'r>> {
        let mutations = plain_mutations(
            &around.schema,
            statement,
            &execute.params,
            around.context,
            &around.guardrails,
        );
        let Some(mutations) = mutations else {
            return Some(responder);
        };
        self.apply(&mutations, around.context.now_seconds);
        responder.send(Response::Void);
        None
    }
}

/// What a statement is bound with besides its values.
struct Circumstances<'c> {
    context: &'c Context,
    guardrails: Arc<Guardrails>,
    schema: Arc<Schema>,
}
