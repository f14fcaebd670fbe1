//! The kinds of fault that users report against implementations of the protocol, each with the tests that
//! hold it here: of this suite (`faults`) or of where the rule stands anyway. Both ends are meant wherever
//! both could have it.
//!
//! | kind | tests |
//! |---|---|
//! | discard state shared between connections | `faults::framing::discarding_on_one_connection_leaves_others_alone` |
//! | a prelude parsed again on each chunk | `faults::framing::a_prelude_is_taken_once_however_it_is_cut`, `client::joined::whatever_is_agreed_and_however_it_is_cut_the_client_is_told_the_same` |
//! | a frame of an exact multiple of the read size waits for more | `faults::framing::an_envelope_of_an_exact_multiple_of_the_read_size_waits_for_nothing` |
//! | bytes after warnings dropped | `faults::bodies::what_stands_behind_warnings_is_kept` |
//! | a bad envelope decoded twice, or its rest read as the next header | `faults::framing::the_rest_of_a_bad_body_is_no_header` |
//! | a refused body read as the next header | `faults::framing::a_refused_body_full_of_envelopes_is_none_of_them` |
//! | the order of trace id, warnings, payload | `client::rules::answers::tracing_id_warnings_and_payload_are_read_in_this_order`, `faults::bodies::tracing_id_warnings_and_payload_are_written_in_this_order` |
//! | errors hardwired to stream 0 | `faults::streams::an_error_comes_on_its_requests_stream` |
//! | the reply's version byte | `faults::streams::every_envelope_carries_the_version_of_its_connection` |
//! | close before the ERROR is flushed | `faults::streams::the_error_is_there_to_be_sent_before_the_connection_is_finished` |
//! | an unframed reply after the switch | `faults::framing::everything_behind_the_answer_to_startup_is_in_segments`, `client::rules::malformed::unframed_answers_after_the_switch_are_no_segments` |
//! | an empty segment sent, or refused | `faults::framing::empty_segments_are_taken_and_never_sent`, `framing::outbound::tests::an_abandoned_envelope_leaves_no_empty_segment` |
//! | only the first envelope of a segment handled | `faults::framing::every_envelope_of_a_segment_is_handled` |
//! | a short body reading into the next envelope of its segment | `faults::framing::a_short_body_does_not_read_into_its_neighbour` |
//! | responses above one segment | `faults::compression::what_does_not_fit_a_segment_takes_several`, `framing::outbound::tests::a_long_envelope_takes_segments_of_its_own` |
//! | incompressible data | `faults::compression::what_does_not_fit_a_segment_takes_several`, `compression::tests::bytes_that_do_not_shrink_are_not_compressed` |
//! | compressed-length confusions | `faults::compression::the_length_in_front_of_an_lz4_body_is_that_of_the_body`, `faults::compression::an_uncompressed_length_of_zero_means_stored` |
//! | the deprecated compression flag on v5 envelopes | `faults::compression::the_compression_flag_means_nothing_in_v5` |
//! | flags undefined in the version | `faults::bodies::flags_that_the_version_does_not_define_mean_nothing` |
//! | a stream id reused before its reply, or leaked on an error path | `client::interleaving::each_request_ends_once_with_its_own_answer`, `faults::streams::every_way_a_request_ends_frees_its_stream` |
//! | named values | `faults::values::named_values_keep_their_names` |
//! | column, list and vector counts not bounded by the bytes left | `faults::values::counts_are_bounded_by_the_bytes_left`, `client::rules::memory::a_promise_takes_no_memory` |
//! | dimension overflow | `faults::values::a_dimension_beyond_its_number_is_refused` |
//! | class-name grammar | `types::tests::class_names_name_every_type_and_parse_back`, `types::tests::class_names_that_do_not_parse_are_refused_with_their_offset` |
//! | nulls in tuples | `faults::values::a_tuple_may_hold_nulls_and_end_early` |
//! | zero-length numbers | `faults::values::a_number_of_no_bytes_is_neither_null_nor_zero` |
//! | error bodies of v3, v4 and v5 | `golden::responses::responses_decode_to_their_fields_and_encode_from_them`, `faults::bodies::each_version_has_error_bodies_of_its_own` |
//! | prepared ids across USE and ALTER | the statements' in `helenus-engine`; the client's part is `client::rules::answers::changed_metadata_comes_with_its_id` |
//! | half-null peers rows | `faults::values::a_row_that_is_half_null_is_read_cell_by_cell` |
//! | header and body in two writes | `faults::framing::header_and_body_leave_together` |

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests may read clocks and take locks"
)]
#![allow(
    dead_code,
    reason = "the ends are shared with suites that use all of them"
)]

mod bodies;
#[path = "../client/client.rs"]
mod client;
mod compression;
mod framing;
#[path = "../client/peer.rs"]
mod peer;
#[path = "../connection/client.rs"]
mod reader;
#[path = "../connection/server.rs"]
mod server;
mod streams;
mod table;
mod values;

use helenus_core::connection::ServerConfig;
use helenus_core::segment::SegmentFormat;
use helenus_core::testing::Cuts;
use helenus_core::{ErrorResponse, Request, Responder, Response};

use crate::reader::{Client as Reader, Got};
use crate::server::{Server, Service};

/// Answers void to what decodes.
fn service() -> Service {
    Box::new(
        |request: Request<'_>, responder: Responder<'_>| match request.parse() {
            Ok(_) => responder.send(Response::Void),
            Err(error) => responder.error(error.response()),
        },
    )
}

/// Refuses everything.
fn refusing() -> Service {
    Box::new(|_, responder| responder.error(ErrorResponse::invalid("no")))
}

/// A server after the handshake of this version, without compression.
fn ready_server(version: u8, service: Service) -> Server {
    configured_server(version, &[], ServerConfig::default(), service)
}

fn configured_server(
    version: u8,
    options: &[(&str, &str)],
    config: ServerConfig,
    service: Service,
) -> Server {
    let mut server = Server::new(config, service);
    server.receive(&reader::startup(version, options), Cuts::Whole);
    assert!(server.connection.is_ready());
    server.sent();
    server
}

/// What the server sent since it was last asked.
fn got(server: &mut Server) -> Vec<Got> {
    Reader::default().read(&server.sent())
}

/// Envelopes as they travel in this version.
fn framed(version: u8, envelopes: &[Vec<u8>]) -> Vec<u8> {
    match version {
        5 => peer::segment(SegmentFormat::Plain, true, &envelopes.concat()),
        _ => envelopes.concat(),
    }
}
