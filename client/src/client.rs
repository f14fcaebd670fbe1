//! [`Client`]: statements on one connection, asynchronously on whatever runtime pumps it.

use crate::batch::Batch;
use crate::call::{Call, Room};
use crate::error::Error;
use crate::events::Events;
use crate::outgoing::{Content, Outgoing};
use crate::pages::Pages;
use crate::prepared::{Known, Prepared};
use crate::result::QueryResult;
use crate::shared::{Shared, Stage};
use crate::statement::{Statement, StatementOptions};
use bytes::{Bytes, BytesMut};
#[cfg(doc)]
use helenus_core::connection::ClientLimits;
use helenus_core::connection::SendRefused;
use helenus_core::message::{
    self, BindValues, ErrorDetail, EventType, Execute, Prepare, Query, QueryFlags, Register, Rows,
    Supported, Undecoded, ValueList, Values,
};
use helenus_core::wire::{Reader, WireWrite};
use helenus_core::{Flags, Opcode, ProtocolVersion, RequestBody, Response};
use std::sync::Arc;

/// A client on one connection. Clones share the connection, from as many tasks and threads as there
/// are: their requests are pipelined and leave in few writes. When the last clone is gone, what is in flight
/// is answered and the connection closes.
///
/// **Cancellation.** Each method sends when its future is polled first. A future that is dropped before
/// its answer is there cancels the call: what wasn't sent yet never is; of what was sent, the stream id
/// stays taken until the late answer comes, and nobody sees that. The server isn't told, and may have
/// run the statement.
///
/// **Backpressure.** A call waits for room, in the order of their coming, while
/// [`max_in_flight`](ClientLimits::max_in_flight) calls are under way or
/// [`max_unsent`](ClientLimits::max_unsent) bytes wait to be sent.
///
/// **Retries.** None, but for one: a statement that the server has forgotten is prepared again, once, and
/// run. Every [`Error`] says [whether the call may be made again](Error::may_retry).
#[derive(Debug, Clone)]
pub struct Client {
    handle: Arc<Handle>,
}

/// Closes the connection when the last client is gone.
#[derive(Debug)]
struct Handle {
    shared: Arc<Shared>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl Client {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Client {
            handle: Arc::new(Handle { shared }),
        }
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.handle.shared
    }

    /// The protocol version that was agreed on.
    #[must_use]
    pub fn version(&self) -> ProtocolVersion {
        self.shared().version
    }

    /// Whether the connection takes calls still; false once it is over.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !matches!(self.shared().lock().stage, Stage::Ended(_))
    }

    /// Runs a statement given as text. Its values go with it, each as the type that its Rust type
    /// means by itself; [`Client::prepare`] knows better.
    ///
    /// # Errors
    /// [`Error::Bind`] if a value can't be bound; [`Error::Server`] if the server refuses; the errors
    /// of the connection.
    pub async fn query<'a>(
        &self,
        statement: impl Into<Statement<'a>>,
        values: impl BindValues,
    ) -> Result<QueryResult, Error> {
        let statement = statement.into();
        let mut list = ValueList::new();
        list.bind(&values, None)?;
        let (options, values) = (&statement.options, list.as_values());
        let room = self.room();
        self.run_text(statement.text, options, values, room).await
    }

    /// Prepares a statement. Its options become those of the prepared statement.
    ///
    /// # Errors
    /// [`Error::Server`] if the server refuses; the errors of the connection.
    pub async fn prepare<'a>(
        &self,
        statement: impl Into<Statement<'a>>,
    ) -> Result<Prepared, Error> {
        let Statement { text, options } = statement.into();
        let keyspace = options.keyspace.as_deref();
        let answer = self.prepare_text(text, keyspace, &options).await?;
        Ok(Prepared::new(text, options, answer))
    }

    /// Runs a prepared statement. From v5 on, the columns of its rows aren't described again; earlier
    /// versions have no way to tell that they have changed.
    ///
    /// # Errors
    /// [`Error::Bind`] if a value doesn't fit its variable; [`Error::StatementChanged`] if the statement had
    /// to be prepared again and takes other variables now; otherwise as [`Client::query`].
    pub async fn execute(
        &self,
        statement: &Prepared,
        values: impl BindValues,
    ) -> Result<QueryResult, Error> {
        let known = statement.known();
        let list = known.bind(&values)?;
        let (options, values) = (&statement.options, list.as_values());
        let room = self.room();
        self.run_prepared(statement, &known, options, values, room)
            .await
    }

    /// Runs the statements of a batch.
    ///
    /// # Errors
    /// [`Error::Server`] if the server refuses; the errors of the connection.
    pub async fn batch(&self, batch: &Batch) -> Result<QueryResult, Error> {
        self.run_batch(batch, self.room()).await
    }

    /// The rows of a statement given as text, page by page; [`Pages`] says when they are asked for.
    ///
    /// # Errors
    /// [`Error::Bind`] if a value can't be bound; the stream has the others.
    pub fn query_pages<'a>(
        &self,
        statement: impl Into<Statement<'a>>,
        values: impl BindValues,
    ) -> Result<Pages, Error> {
        let Statement { text, options } = statement.into();
        let mut list = ValueList::new();
        list.bind(&values, None)?;
        Ok(Pages::of_text(self.clone(), text, options, list))
    }

    /// The rows of a prepared statement, page by page; [`Pages`] says when they are asked for.
    ///
    /// # Errors
    /// [`Error::Bind`] if a value doesn't fit its variable; the stream has the others.
    pub fn execute_pages(
        &self,
        statement: &Prepared,
        values: impl BindValues,
    ) -> Result<Pages, Error> {
        let list = statement.known().bind(&values)?;
        Ok(Pages::of_prepared(self.clone(), statement.clone(), list))
    }

    /// Makes `keyspace` the one that unqualified names mean, for every user of the connection: the name as
    /// it is, upper case and all. Statements that are in flight meanwhile may see either.
    ///
    /// # Errors
    /// [`Error::Server`] if there is no such keyspace; the errors of the connection.
    pub async fn use_keyspace(&self, keyspace: &str) -> Result<(), Error> {
        let text = format!("USE \"{}\"", keyspace.replace('"', "\"\""));
        let answer = self.query(&text, ()).await?;
        match answer.response {
            Response::SetKeyspace(_) => Ok(()),
            other => Err(Error::Unexpected(other.opcode())),
        }
    }

    /// Asks what the server supports.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn options(&self) -> Result<Supported, Error> {
        let timeout = self.shared().request_timeout;
        let request = Outgoing::new(Content::Request(RequestBody::Options), timeout);
        match self.call(&request).await?.response {
            Response::Supported(supported) => Ok(supported),
            other => Err(Error::Unexpected(other.opcode())),
        }
    }

    /// Registers for events of these types. The stream has every such event that comes after the
    /// registration, other streams' registrations notwithstanding.
    ///
    /// # Errors
    /// [`Error::Server`] if the server knows no such type; the errors of the connection.
    pub async fn events(&self, types: &[EventType]) -> Result<Events, Error> {
        // Listens before it registers: an event may overtake the answer.
        let events = Events::new(self.clone(), types);
        let names: Vec<&str> = types.iter().map(|event| event.name()).collect();
        let mut list = BytesMut::new();
        list.put_string_list(&names);
        let names = Reader::new(&list).string_list()?;
        let body = RequestBody::Register(Register::new(names));
        let request = Outgoing::new(Content::Request(body), self.shared().request_timeout);
        match self.call(&request).await?.response {
            Response::Ready => Ok(events),
            other => Err(Error::Unexpected(other.opcode())),
        }
    }

    /// Passes a request on undecoded, and its answer back, an ERROR too: for proxies. Its body begins with what the
    /// flags announce, and is in this connection's [version](Self::version): `helenus_core::forward` brings it there.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn forward(
        &self,
        opcode: Opcode,
        flags: Flags,
        body: &[u8],
    ) -> Result<Undecoded, Error> {
        let content = Content::Undecoded {
            opcode,
            flags,
            body,
        };
        let request = Outgoing::new(content, self.shared().request_timeout);
        match self.call(&request).await?.response {
            Response::Undecoded(undecoded) => Ok(undecoded),
            other => Err(Error::Unexpected(other.opcode())),
        }
    }

    pub(crate) async fn run_text(
        &self,
        text: &str,
        options: &StatementOptions,
        values: Values<'_>,
        room: Room,
    ) -> Result<QueryResult, Error> {
        let body = RequestBody::Query(Query {
            query: text,
            params: options.params(values),
        });
        let request = self.statement(body, options);
        self.call_with(room, &request).await
    }

    /// Runs a prepared statement with values that were bound to the variables of `known`.
    pub(crate) async fn run_prepared(
        &self,
        statement: &Prepared,
        known: &Arc<Known>,
        options: &StatementOptions,
        values: Values<'_>,
        room: Room,
    ) -> Result<QueryResult, Error> {
        let outcome = self.execute_known(statement, known, options, values, room);
        let error = match outcome.await {
            Err(error) => error,
            answer => return answer,
        };
        if forgotten_id(&error) != Some(&known.id) {
            return Err(error);
        }
        let renewed = self.renew(statement).await?;
        if renewed.variables != known.variables {
            return Err(Error::StatementChanged);
        }
        let room = self.room();
        self.execute_known(statement, &renewed, options, values, room)
            .await
    }

    async fn execute_known(
        &self,
        statement: &Prepared,
        known: &Arc<Known>,
        options: &StatementOptions,
        values: Values<'_>,
        room: Room,
    ) -> Result<QueryResult, Error> {
        let mut params = options.params(values);
        // Before v5 nothing tells that the columns have changed since the statement was prepared.
        let described = known
            .result
            .as_ref()
            .filter(|result| self.version() >= ProtocolVersion::V5 && !result.columns().is_empty());
        params.flags = params
            .flags
            .set(QueryFlags::SKIP_METADATA, described.is_some());
        let result_metadata_id = known.result.as_ref().and_then(|result| result.id());
        let body = RequestBody::Execute(Execute {
            id: &known.id,
            result_metadata_id: result_metadata_id.map(|id| &id[..]),
            params,
        });
        let mut request = self.statement(body, options);
        request.metadata = described;
        let answer = self.call_with(room, &request).await?;
        if let Some(Rows {
            metadata_changed: true,
            metadata,
            ..
        }) = answer.rows()
        {
            statement.describe(known, metadata);
        }
        Ok(answer)
    }

    pub(crate) async fn run_batch(&self, batch: &Batch, room: Room) -> Result<QueryResult, Error> {
        let options = &batch.options;
        let body = RequestBody::Batch(message::Batch {
            kind: batch.kind,
            statements: batch.list.as_statements(),
            consistency: options.consistency,
            flags: QueryFlags::default(),
            serial_consistency: options.serial_consistency,
            timestamp: options.timestamp,
            keyspace: options.keyspace.as_deref(),
            now_in_seconds: options.now_in_seconds,
        });
        let request = self.statement(body, options);
        let (mut renewed, mut room) = (Vec::new(), room);
        loop {
            let error = match self.call_with(room, &request).await {
                Err(error) => error,
                answer => return answer,
            };
            let forgotten = |id: &Bytes| batch.prepared.iter().find(|other| other.id() == *id);
            let Some((id, statement)) = forgotten_id(&error)
                .filter(|id| !renewed.contains(*id))
                .and_then(|id| Some((id, forgotten(id)?)))
            else {
                return Err(error);
            };
            if self.renew(statement).await?.id != id {
                return Err(Error::StatementChanged);
            }
            renewed.push(id.clone());
            room = self.room();
        }
    }

    /// Prepares a statement again.
    async fn renew(&self, statement: &Prepared) -> Result<Arc<Known>, Error> {
        let (text, keyspace) = (statement.text(), statement.keyspace());
        let answer = self
            .prepare_text(text, keyspace, &statement.options)
            .await?;
        Ok(statement.renew(answer))
    }

    async fn prepare_text(
        &self,
        text: &str,
        keyspace: Option<&str>,
        options: &StatementOptions,
    ) -> Result<message::Prepared, Error> {
        let body = RequestBody::Prepare(Prepare {
            query: text,
            keyspace,
        });
        let request = self.statement(body, options);
        match self.call(&request).await?.response {
            Response::Prepared(prepared) => Ok(*prepared),
            other => Err(Error::Unexpected(other.opcode())),
        }
    }

    fn statement<'a>(&self, body: RequestBody<'a>, options: &'a StatementOptions) -> Outgoing<'a> {
        Outgoing {
            content: Content::Request(body),
            timeout: options.timeout.or(self.shared().request_timeout),
            tracing: options.tracing,
            payload: options.payload.as_ref(),
            metadata: None,
        }
    }

    async fn call(&self, request: &Outgoing<'_>) -> Result<QueryResult, Error> {
        self.call_with(self.room(), request).await
    }

    /// Makes a call in room that was taken, or asked for, before.
    async fn call_with(&self, room: Room, request: &Outgoing<'_>) -> Result<QueryResult, Error> {
        if !request.content.fits(self.version()) {
            return Err(Error::Refused(SendRefused::NotInVersion(self.version())));
        }
        Call::new(room, request).await
    }

    /// Room for a call, not asked for yet.
    pub(crate) fn room(&self) -> Room {
        Room::new(Arc::clone(&self.handle.shared))
    }
}

/// The id of the prepared statement that the server has forgotten.
fn forgotten_id(error: &Error) -> Option<&Bytes> {
    let Error::Server(error) = error else {
        return None;
    };
    match &error.detail {
        ErrorDetail::Unprepared { id } => Some(id),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
