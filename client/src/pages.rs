//! [`Pages`]: the rows of a statement, page by page.

use crate::client::Client;
use crate::error::Error;
use crate::prepared::Prepared;
use crate::result::QueryResult;
use crate::statement::StatementOptions;
use bytes::Bytes;
use futures_core::Stream;
use helenus_core::message::ValueList;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

type Asked = Pin<Box<dyn Future<Output = Result<QueryResult, Error>> + Send>>;

/// The answers to a statement, page by page: a [`Stream`], with a [`next`](Pages::next) of its own.
///
/// Lazy: the first page is asked for when the stream is polled first, and each further one when the page
/// before it is handed out, so that one page at most is held ahead. A stream that is dropped asks
/// for no more. An error ends it.
pub struct Pages {
    client: Client,
    paged: Arc<Paged>,
    asked: Option<Asked>,
    /// What the next page is asked for with; `None` after the last one.
    next: Option<StatementOptions>,
}

/// A statement and its values.
#[derive(Debug)]
enum Paged {
    Text(String, ValueList),
    Prepared(Prepared, ValueList),
}

impl Pages {
    pub(crate) fn of_text(
        client: Client,
        text: &str,
        options: StatementOptions,
        values: ValueList,
    ) -> Self {
        Pages::new(client, Paged::Text(text.to_owned(), values), options)
    }

    pub(crate) fn of_prepared(client: Client, statement: Prepared, values: ValueList) -> Self {
        let options = statement.options.clone();
        Pages::new(client, Paged::Prepared(statement, values), options)
    }

    fn new(client: Client, paged: Paged, mut options: StatementOptions) -> Self {
        let page_size = client.shared().page_size;
        options.page_size.get_or_insert(page_size);
        Pages {
            client,
            paged: Arc::new(paged),
            asked: None,
            next: Some(options),
        }
    }

    /// The next page; `None` after the last one, or after an error. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<QueryResult, Error>> {
        poll_fn(|cx| self.poll_page(cx)).await
    }

    fn poll_page(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<QueryResult, Error>>> {
        if self.asked.is_none() {
            self.ask();
        }
        let Some(asked) = &mut self.asked else {
            return Poll::Ready(None);
        };
        let page = ready!(asked.as_mut().poll(cx));
        self.asked = None;
        match page.as_ref().ok().and_then(QueryResult::paging_state) {
            Some(state) => self.ask_ahead(state.clone(), cx),
            None => self.next = None,
        }
        Poll::Ready(Some(page))
    }

    /// Asks for the page behind the one that is handed out.
    fn ask_ahead(&mut self, paging_state: Bytes, cx: &mut Context<'_>) {
        let Some(options) = &mut self.next else {
            return;
        };
        options.paging_state = Some(paging_state);
        self.ask();
        if let Some(asked) = &mut self.asked
            && let Poll::Ready(page) = asked.as_mut().poll(cx)
        {
            // It failed at once: to be told in its turn.
            self.asked = Some(Box::pin(std::future::ready(page)));
        }
    }

    fn ask(&mut self) {
        let Some(options) = self.next.clone() else {
            return;
        };
        let (client, paged) = (self.client.clone(), Arc::clone(&self.paged));
        self.asked = Some(Box::pin(async move {
            let room = client.room();
            match &*paged {
                Paged::Text(text, values) => {
                    let values = values.as_values();
                    client.run_text(text, &options, values, room).await
                }
                Paged::Prepared(statement, values) => {
                    let (known, values) = (statement.known(), values.as_values());
                    client
                        .run_prepared(statement, &known, &options, values, room)
                        .await
                }
            }
        }));
    }
}

impl Stream for Pages {
    type Item = Result<QueryResult, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_page(cx)
    }
}

impl std::fmt::Debug for Pages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pages")
            .field("paged", &self.paged)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}
