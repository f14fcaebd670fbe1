//! [`ClientService`]: a client as a `tower` service, for middleware that limits, times or balances calls.

use crate::batch::Batch;
use crate::call::Room;
use crate::client::Client;
use crate::error::Error;
use crate::prepared::Prepared;
use crate::result::QueryResult;
use crate::statement::{Statement, StatementOptions};
use helenus_core::message::{BindValues, ValueList};
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_service::Service;

/// A call for a [`ClientService`] to make. Clones can be made again, as retrying middleware wants.
#[derive(Debug, Clone)]
pub struct Request(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Query(String, StatementOptions, ValueList),
    Execute(Prepared, ValueList),
    Batch(Batch),
}

impl Request {
    /// [`Client::query`].
    ///
    /// # Errors
    /// [`Error::Bind`] if a value can't be bound.
    pub fn query<'a>(
        statement: impl Into<Statement<'a>>,
        values: impl BindValues,
    ) -> Result<Self, Error> {
        let Statement { text, options } = statement.into();
        let mut list = ValueList::new();
        list.bind(&values, None)?;
        Ok(Request(Kind::Query(text.to_owned(), options, list)))
    }

    /// [`Client::execute`].
    ///
    /// # Errors
    /// [`Error::Bind`] if a value doesn't fit its variable.
    pub fn execute(statement: &Prepared, values: impl BindValues) -> Result<Self, Error> {
        let list = statement.known().bind(&values)?;
        Ok(Request(Kind::Execute(statement.clone(), list)))
    }

    /// [`Client::batch`].
    #[must_use]
    pub fn batch(batch: Batch) -> Self {
        Request(Kind::Batch(batch))
    }
}

/// A client as a service. It is ready when the connection has room for one more call, and keeps that
/// room until the call is made or the service is dropped; each clone keeps its own.
#[derive(Debug)]
pub struct ClientService {
    client: Client,
    room: Option<Room>,
}

impl ClientService {
    /// The service of a client.
    #[must_use]
    pub fn new(client: impl Into<Client>) -> Self {
        ClientService {
            client: client.into(),
            room: None,
        }
    }
}

impl Clone for ClientService {
    fn clone(&self) -> Self {
        ClientService::new(self.client.clone())
    }
}

impl Service<Request> for ClientService {
    type Response = QueryResult;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<QueryResult, Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let client = &self.client;
        let room = self.room.get_or_insert_with(|| client.room());
        room.poll(client.shared().request_timeout, cx)
    }

    /// Makes the call in the room that is kept, or in line for some if the service wasn't asked whether it is ready.
    fn call(&mut self, Request(request): Request) -> Self::Future {
        let client = self.client.clone();
        let room = self.room.take().unwrap_or_else(|| client.room());
        Box::pin(async move {
            match request {
                Kind::Query(text, options, values) => {
                    let values = values.as_values();
                    client.run_text(&text, &options, values, room).await
                }
                Kind::Execute(statement, values) => {
                    let (known, values) = (statement.known(), values.as_values());
                    let options = &statement.options;
                    client
                        .run_prepared(&statement, &known, options, values, room)
                        .await
                }
                Kind::Batch(batch) => client.run_batch(&batch, room).await,
            }
        })
    }
}
