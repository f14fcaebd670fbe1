//! One suite, run on every runtime: a behaviour that differs is a defect.

#[macro_use]
mod server;

mod answering;
mod blocking;
mod calling;
mod certificates;
mod client;
mod closing;
mod library;
mod limiting;
mod pressure;
mod secured;
mod services;
mod statements;
mod tower;

macro_rules! on_every_runtime {
    ($($topic:ident::$test:ident,)+) => {
        on_every_runtime!(@ threads Threads $($topic::$test)+);
        on_every_runtime!(@ tokio Tokio $($topic::$test)+);
        on_every_runtime!(@ tokio_work_stealing TokioWorkStealing $($topic::$test)+);
        on_every_runtime!(@ smol Smol $($topic::$test)+);
        on_every_runtime!(@ async_std AsyncStd $($topic::$test)+);
    };
    (@ $module:ident $runtime:ident $($topic:ident::$test:ident)+) => {
        mod $module {
            $(#[test]
            fn $test() {
                crate::$topic::$test(crate::server::Runtime::$runtime);
            })+
        }
    };
}

on_every_runtime! {
    answering::a_request_is_answered_on_its_stream,
    answering::pipelined_requests_are_answered_in_order,
    answering::bytes_may_come_one_at_a_time,
    answering::a_large_request_comes_whole,
    answering::deferred_replies_come_from_other_threads,
    answering::an_offloaded_reply_comes,
    answering::a_dropped_reply_answers_server_error,
    answering::a_panic_answers_server_error_for_its_request_alone,
    answering::a_panic_in_the_pool_answers_server_error,
    answering::an_event_comes_before_the_reply_of_who_caused_it,
    answering::events_reach_those_who_registered_in_order,
    answering::connections_have_sessions_of_their_own,
    closing::a_half_closed_client_reads_its_answers,
    closing::a_fault_is_answered_before_the_close,
    closing::a_sender_of_a_hundred_megabytes_before_login_reads_its_error,
    closing::a_sender_of_garbage_reads_its_error,
    closing::a_shutdown_answers_what_is_in_flight,
    closing::a_shutdown_is_bounded,
    closing::a_shutdown_ends_idle_connections,
    closing::a_connection_over_the_limit_is_closed,
    closing::a_port_in_use_is_refused_with_its_address,
    closing::a_silent_handshake_is_closed_at_its_deadline,
    closing::a_connection_that_goes_away_is_forgotten,
    services::an_asynchronous_service_waits_without_keeping_others_waiting,
    services::a_timer_of_the_service_fires_once_each_time_it_is_set,
    services::timers_of_the_service_run_while_it_drains,
    services::a_client_is_let_in_when_it_knows_the_word,
    services::the_librarys_client_says_who_it_is,
    calling::calls_of_many_threads_share_a_connection,
    calling::answers_may_come_out_of_order,
    calling::a_dropped_call_keeps_its_stream_until_the_late_answer,
    calling::a_call_that_times_out_leaves_the_others_alone,
    calling::calls_wait_while_the_connection_is_full,
    calling::an_error_is_for_its_call_alone,
    calling::events_are_streamed_in_order,
    calling::a_slow_reader_of_events_is_told_that_it_lost_some,
    calling::the_last_client_to_go_closes_the_connection,
    calling::a_server_that_goes_away_fails_every_call,
    calling::nobody_at_the_address_is_an_error_of_the_socket,
    calling::a_server_that_never_answers_is_given_up,
    calling::a_refused_version_is_stepped_down_from,
    statements::statements_of_every_kind_in_every_dialect,
    statements::pages_and_large_results_in_every_dialect,
    statements::a_column_that_was_added_is_seen_by_a_statement_prepared_before,
    statements::a_traced_statement_has_an_id,
    pressure::a_slow_reader_stops_being_read_and_gets_every_answer,
    pressure::reading_goes_on_while_writing_blocks,
    pressure::a_busy_connection_lets_others_have_their_turn,
    pressure::many_connections_are_served,
    limiting::other_limits_reach_open_connections_and_those_to_come,
    limiting::who_asked_for_overloaded_gets_it_while_others_use_a_limit_up,
    limiting::requests_beyond_the_rate_are_answered_later,
    limiting::a_sender_of_single_bytes_holds_nobody_up_and_has_a_deadline,
    limiting::a_shutdown_in_a_flood_is_bounded,
    pressure::a_shared_budget_pauses_and_wakes_connections,
    secured::clients_speak_tls_and_resume_their_sessions,
    secured::bulk_goes_both_ways_over_tls,
    secured::a_slow_reader_over_tls_gets_every_answer,
    secured::a_certificate_says_who_the_client_is,
    secured::a_server_that_is_not_trusted_is_left,
    secured::who_speaks_without_tls_to_tls_is_told_and_the_reverse,
    secured::where_tls_is_optional_both_are_served,
    secured::half_a_tls_handshake_is_closed_at_its_deadline,
    secured::a_replaced_certificate_leaves_connections_open,
    secured::a_shutdown_ends_tls_with_a_last_word,
    secured::a_half_closed_client_reads_its_answers_over_tls,
    secured::a_client_whose_server_never_shakes_hands_gives_up,
}
