//! EXECUTE and QUERY, in v4.

use std::borrow::Cow;

use scylla_cql::Consistency;
use scylla_cql::frame::SerializedRequest;
use scylla_cql::frame::protocol_features::ProtocolFeatures;
use scylla_cql::frame::request::DeserializableRequest;
use scylla_cql::frame::request::execute::ExecuteV2;
use scylla_cql::frame::request::query::{PagingState, Query, QueryParameters};
use scylla_cql::frame::response::result::{ColumnSpec, ColumnType, NativeType, TableSpec};
use scylla_cql::serialize::row::{RowSerializationContext, SerializedValues};

use crate::data::{KEYSPACE, TABLE};

/// The variables of the statement, as PREPARE described them.
#[must_use]
pub fn variables() -> Vec<ColumnSpec<'static>> {
    let column = |name, ty| {
        ColumnSpec::borrowed(
            name,
            ColumnType::Native(ty),
            TableSpec::borrowed(KEYSPACE, TABLE),
        )
    };
    vec![
        column("id", NativeType::Int),
        column("name", NativeType::Text),
        column("count", NativeType::BigInt),
    ]
}

fn parameters(values: Cow<'_, SerializedValues>, page_size: Option<i32>) -> QueryParameters<'_> {
    QueryParameters {
        consistency: Consistency::LocalQuorum,
        serial_consistency: None,
        timestamp: None,
        page_size,
        paging_state: PagingState::start(),
        skip_metadata: false,
        values,
    }
}

/// Writes an EXECUTE with three values and a page size.
pub fn encode_execute(
    id: &[u8],
    variables: &[ColumnSpec<'_>],
    values: (i32, &str, i64),
    page_size: i32,
) -> Option<SerializedRequest> {
    let context = RowSerializationContext::from_specs(variables);
    let values = SerializedValues::from_serializable(&context, &values).ok()?;
    let execute = ExecuteV2 {
        id: id.into(),
        result_metadata_id: None,
        parameters: parameters(Cow::Owned(values), Some(page_size)),
        tablet_version_block: None,
    };
    let mut request = SerializedRequest::make(&execute, None, false).ok()?;
    request.set_stream(1);
    Some(request)
}

/// Reads an EXECUTE's body: id, values and page size.
pub fn decode_execute(mut body: &[u8], features: &ProtocolFeatures) -> Option<u64> {
    let execute = ExecuteV2::deserialize_with_features(&mut body, features).ok()?;
    let parameters = &execute.parameters;
    let mut values = 0;
    for value in parameters.values.iter() {
        values += value.as_value()?.len() as u64;
    }
    Some(
        execute.id.as_ref().len() as u64
            + u64::from(parameters.consistency as u16)
            + values
            + parameters.page_size? as u64,
    )
}

/// Writes a QUERY without values.
pub fn encode_query(query: &str) -> Option<SerializedRequest> {
    let query = Query {
        contents: Cow::Borrowed(query),
        parameters: parameters(Cow::Borrowed(SerializedValues::EMPTY), None),
    };
    let mut request = SerializedRequest::make(&query, None, false).ok()?;
    request.set_stream(1);
    Some(request)
}

/// Reads a QUERY's body: its statement and its consistency.
pub fn decode_query(mut body: &[u8], features: &ProtocolFeatures) -> Option<u64> {
    let query = Query::deserialize_with_features(&mut body, features).ok()?;
    let consistency = query.parameters.consistency as u16;
    Some(query.contents.len() as u64 + u64::from(consistency))
}
