//! Every message of the protocol, decoded and encoded, one file an opcode. Requests borrow from the bytes
//! they were read from; responses own what they carry. Answers to native protocol v5, section 4.
//!
//! ```
//! use bytes::BytesMut;
//! use helenus_core::message::{Query, QueryParams, RequestBody};
//! use helenus_core::wire::Reader;
//! use helenus_core::{Consistency, Opcode, ProtocolVersion};
//!
//! let params = QueryParams { page_size: Some(100), ..QueryParams::new(Consistency::ONE) };
//! let query = RequestBody::Query(Query { query: "SELECT * FROM ks.t", params });
//! let mut body = BytesMut::new();
//! query.encode(ProtocolVersion::V5, &mut body);
//!
//! let decoded = RequestBody::decode(Opcode::QUERY, ProtocolVersion::V5, &mut Reader::new(&body))?;
//! let RequestBody::Query(decoded) = decoded else { unreachable!() };
//! assert_eq!(decoded.query, "SELECT * FROM ks.t");
//! assert_eq!(decoded.params.page_size, Some(100));
//! # Ok::<(), helenus_core::DecodeError>(())
//! ```

mod auth;
mod batch;
mod bind;
mod error;
mod event;
mod execute;
mod extras;
mod prepare;
mod query;
mod register;
mod request;
mod response;
mod result;
mod schema_change;
mod startup;
mod supported;
#[cfg(test)]
mod tests;
mod values;

pub use auth::{AuthResponse, Authenticate};
pub use batch::{
    Batch, BatchStatement, BatchStatementKind, BatchStatementList, BatchStatements,
    BatchStatementsIter, BatchType,
};
pub(crate) use bind::Unset;
pub use bind::{BindError, BindValues, Binder, InvalidValue, Named};
pub use error::{ErrorDetail, ErrorResponse, FailureReasons, WriteType};
pub use event::{EventType, ServerEvent, StatusChange, TopologyChange};
pub use execute::Execute;
pub use extras::Extras;
pub use prepare::Prepare;
pub use query::{Query, QueryFlags, QueryParams};
pub use register::Register;
pub use request::RequestBody;
pub use response::{Response, Undecoded};
pub(crate) use result::kind as result_kind;
pub use result::{
    ColumnSpec, ColumnsView, NO_COLUMNS_ID, Name, Prepared, ResultMetadata, Rows, RowsHeader,
    RowsView,
};
pub use schema_change::{ChangeType, SchemaChange, SchemaTarget};
pub use startup::Startup;
pub use supported::Supported;
pub use values::{TooMany, ValueList, Values, ValuesIter};
