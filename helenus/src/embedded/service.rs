//! Requests in, executions run, responses out.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use helenus_core::message::{
    Batch, BatchStatementKind, ErrorResponse, Execute, Extras, Prepare, Prepared, Query,
    QueryParams, RequestBody, Response,
};
use helenus_core::{ProtocolVersion, Request, Responder};
use helenus_engine::execution::{Completed, Execution, Outcome, not_logged_in};
use helenus_engine::schema::Schema;
use helenus_engine::statement::{Statement, prepare};
use helenus_server::{Authenticator, Identity, PeerInfo, ServerHandle, Service};

use super::access::{User, authenticator};
use super::errand::Errand;
use super::faults::Strike;
use super::run::{INLINE, Run};
use super::tracing::Trace;
use super::{EmbeddedService, Node};

/// What the service remembers of a connection.
#[derive(Debug)]
pub struct Session {
    /// What `USE` chose.
    pub(super) keyspace: Option<Arc<str>>,
    /// Who logged in.
    pub(super) user: Option<User>,
    peer: PeerInfo,
}

impl Service for EmbeddedService {
    type Session = Session;

    fn start(&self, server: ServerHandle) {
        // One server a node: the first one's clients would miss the schema events.
        let before = self.node.served_by(server);
        if before.is_some_and(|before| !before.is_shutdown()) {
            tracing::warn!(
                "a node is served twice; schema events reach the second server's clients only"
            );
        }
    }

    fn open(&self, peer: &PeerInfo) -> Session {
        Session {
            keyspace: None,
            user: None,
            peer: peer.clone(),
        }
    }

    fn authenticator(&self) -> Option<Arc<dyn Authenticator>> {
        authenticator(&self.node)
    }

    fn authenticated(&self, session: &mut Session, identity: Identity) {
        session.user = Some(User::new(identity.name));
    }

    fn call(
        &self,
        now: Instant,
        session: &mut Session,
        request: Request<'_>,
        responder: Responder<'_>,
    ) {
        let version = request.version();
        let body = match request.parse() {
            Ok(body) => body,
            Err(error) => return responder.reject(&error),
        };
        let trace = request.is_traced().then(|| {
            let context = self.node.clock.context(version);
            let (client, coordinator) = (session.peer.address.ip(), session.peer.local);
            Trace::begin(now, context, client, coordinator, &body, &self.node)
        });
        let mut responder = responder;
        let begun = match body {
            RequestBody::Execute(execute) => match self.node.statement(execute.id) {
                Ok(statement) => {
                    if trace.is_none() {
                        let tried = self
                            .node
                            .answer_at_once(&execute, &statement, session, responder);
                        let Some(again) = tried else { return };
                        responder = again;
                    }
                    self.node.execute(statement, &execute, session, version)
                }
                Err(error) => Err(error),
            },
            RequestBody::Query(query) => self.node.query(&query, session, version),
            RequestBody::Batch(batch) => self.node.batch(&batch, session, version),
            RequestBody::Prepare(prepare) => match self.node.prepare(&prepare, session) {
                Ok(response) => return self.node.send(response.into(), trace, responder),
                Err(error) => Err(error),
            },
            _ => Err(ErrorResponse::server_error(
                "A request that no service answers",
            )),
        };
        match begun {
            Ok(execution) => match self.node.strike(&execution) {
                None => self.answer(execution, session, trace, responder),
                Some(strike) => self.answer_struck(strike, execution, session, trace, responder),
            },
            Err(error) => {
                let response = Response::Error(error);
                self.node.send(response.into(), trace, responder);
            }
        }
    }
}

impl EmbeddedService {
    /// Answers a request that meets a fault. What waits does so nowhere: no thread is kept for it.
    #[cold]
    fn answer_struck(
        &self,
        strike: Strike,
        mut execution: Execution,
        session: &mut Session,
        trace: Option<Trace>,
        responder: Responder<'_>,
    ) {
        let Strike {
            delay,
            mut error,
            applied,
        } = strike;
        if !applied && let Some(error) = error.take() {
            execution.resume(Outcome::Failed(error));
        }
        if delay.is_zero() && error.is_none() {
            return self.answer(execution, session, trace, responder);
        }
        let reply = responder.defer();
        let errand = Errand {
            node: Arc::clone(&self.node),
            execution,
            user: session.user.as_ref().map(User::name).cloned(),
            trace,
            error,
        };
        self.node.delays.after(delay, move || errand.put_off(reply));
    }

    /// Runs an execution and answers with what it gives: here if it is short, else on the pool for long work.
    // Inlined, as an execution is some hundred bytes that would be moved.
    #[inline(always)]
    fn answer(
        &self,
        mut execution: Execution,
        session: &mut Session,
        trace: Option<Trace>,
        responder: Responder<'_>,
    ) {
        let user = session.user.as_ref().map(User::name);
        match self.node.run(&mut execution, INLINE, user) {
            Run::Completed(completed) => {
                if let Response::SetKeyspace(keyspace) = &completed.response {
                    let keyspace: Arc<str> = Arc::from(&**keyspace);
                    if let Some(server) = self.node.server() {
                        let shown = Some(Arc::clone(&keyspace));
                        server.set_keyspace(session.peer.connection, shown);
                    }
                    session.keyspace = Some(keyspace);
                }
                self.node.send(*completed, trace, responder);
            }
            run => {
                let errand = Errand {
                    node: Arc::clone(&self.node),
                    execution,
                    user: user.cloned(),
                    trace,
                    error: None,
                };
                errand.follow(run, responder.defer());
            }
        }
    }
}

impl Node {
    /// The fault that an execution meets, if it meets any.
    fn strike(&self, execution: &Execution) -> Option<Strike> {
        self.faults.strike(execution, || self.schema().node.address)
    }

    /// Answers. The answer to a schema change takes the way that its events took, so that it comes behind them, as with
    /// Cassandra.
    fn send(&self, completed: Completed, trace: Option<Trace>, responder: Responder<'_>) {
        let extras = self.extras(completed.warnings, trace);
        match completed.response {
            change @ Response::SchemaChange(_) => responder.defer().send_with(change, extras),
            response if extras.is_empty() => responder.send(response),
            response => responder.send_with(response, &extras),
        }
    }

    /// What goes with an answer; a trace is written before its id is given away.
    pub(super) fn extras(&self, warnings: Vec<String>, trace: Option<Trace>) -> Extras {
        let tracing_id = trace.map(|trace| {
            let id = trace.id;
            trace.finish(self, Instant::now());
            id
        });
        Extras {
            tracing_id,
            warnings,
            ..Extras::default()
        }
    }

    fn prepare(&self, request: &Prepare<'_>, session: &Session) -> Result<Response, ErrorResponse> {
        let keyspace = request.keyspace.or(session.keyspace.as_deref());
        // Held until the statement is kept: a change of the schema waits for it and then forgets what it made stale.
        let schema = self.schema.read().unwrap_or_else(PoisonError::into_inner);
        let statement = prepare(&schema, keyspace, request.query)?;
        let response = Prepared::from(&*statement);
        self.statements.insert(statement.id, statement);
        Ok(Response::Prepared(Box::new(response)))
    }

    fn query(
        &self,
        request: &Query<'_>,
        session: &mut Session,
        version: ProtocolVersion,
    ) -> Result<Execution, ErrorResponse> {
        let schema = self.schema();
        let keyspace = request.params.keyspace.or(session.keyspace.as_deref());
        let statement = prepare(&schema, keyspace, request.query)?;
        self.begin(schema, statement, &request.params, None, session, version)
    }

    fn execute(
        &self,
        statement: Arc<Statement>,
        request: &Execute<'_>,
        session: &mut Session,
        version: ProtocolVersion,
    ) -> Result<Execution, ErrorResponse> {
        let metadata = request.result_metadata_id;
        let schema = self.schema();
        self.begin(
            schema,
            statement,
            &request.params,
            metadata,
            session,
            version,
        )
    }

    /// Begins a statement of its own, if the session's user may run it.
    // Inlined, as an execution is some hundred bytes that would be moved.
    #[inline(always)]
    fn begin(
        &self,
        schema: Arc<Schema>,
        statement: Arc<Statement>,
        params: &QueryParams<'_>,
        result_metadata_id: Option<&[u8]>,
        session: &mut Session,
        version: ProtocolVersion,
    ) -> Result<Execution, ErrorResponse> {
        self.authorize(
            &mut session.user,
            session.keyspace.as_deref(),
            &schema,
            &statement,
        )?;
        let context = self.clock.context(version);
        let keyspace = session.keyspace.clone();
        if !self.is_allowed(session, &schema, [&statement]) {
            let guardrails = self.guardrails(session.user.as_ref());
            return Execution::asking(
                schema,
                statement,
                params,
                result_metadata_id,
                keyspace,
                context,
                guardrails,
            );
        }
        Execution::new(
            schema,
            statement,
            params,
            result_metadata_id,
            keyspace,
            context,
            self.guardrails(session.user.as_ref()),
        )
    }

    fn batch(
        &self,
        request: &Batch<'_>,
        session: &mut Session,
        version: ProtocolVersion,
    ) -> Result<Execution, ErrorResponse> {
        let schema = self.schema();
        let keyspace = request.keyspace.or(session.keyspace.as_deref());
        let mut statements = Vec::with_capacity(request.statements.len());
        for part in request.statements.iter() {
            let statement = match part.kind {
                BatchStatementKind::Query(text) => prepare(&schema, keyspace, text)?,
                BatchStatementKind::Prepared(id) => self.statement(id)?,
            };
            self.authorize(
                &mut session.user,
                session.keyspace.as_deref(),
                &schema,
                &statement,
            )?;
            statements.push((statement, part.values));
        }
        let keyspace = session.keyspace.clone();
        let context = self.clock.context(version);
        let guardrails = self.guardrails(session.user.as_ref());
        let parts = statements.iter().map(|(statement, _)| statement);
        let begin = match self.is_allowed(session, &schema, parts) {
            true => Execution::batch,
            false => Execution::asking_batch,
        };
        begin(schema, statements, request, keyspace, context, guardrails)
    }

    /// Whether an authorizer of the program's own, if there is one, is known to allow statements.
    pub(super) fn is_allowed<'s>(
        &self,
        session: &Session,
        schema: &Schema,
        statements: impl IntoIterator<Item = &'s Arc<Statement>>,
    ) -> bool {
        let Some(authorization) = &self.authorization else {
            return true;
        };
        let user = session.user.as_ref().map(User::name);
        let keyspace = session.keyspace.as_deref();
        let asked = statements.into_iter();
        let asked = asked.flat_map(|statement| statement.permissions(schema, keyspace));
        authorization.is_known(user, asked)
    }

    /// Refuses what the session's user may not do.
    pub(super) fn authorize(
        &self,
        user: &mut Option<User>,
        keyspace: Option<&str>,
        schema: &Schema,
        statement: &Statement,
    ) -> Result<(), ErrorResponse> {
        let Some(access) = &self.access else {
            return Ok(());
        };
        let Some(user) = user else {
            return Err(not_logged_in());
        };
        let rights = user.rights(self, access);
        statement.authorize(schema, keyspace, &rights)
    }

    /// A prepared statement by its id.
    fn statement(&self, id: &[u8]) -> Result<Arc<Statement>, ErrorResponse> {
        self.statements
            .get(id)
            .ok_or_else(|| ErrorResponse::unprepared(id))
    }
}
