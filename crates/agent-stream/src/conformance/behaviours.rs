//! The list of the suite's behaviours.

use super::{Behaviour, answers, calls, failures, limits, requests};

/// Lists all behaviours once, for the table and for the macro of the tests.
macro_rules! behaviours {
    ($($module:ident: $($name:ident),+;)+) => {
        /// All behaviours.
        pub const BEHAVIOURS: &[Behaviour] = &[$($(Behaviour {
            name: stringify!($name),
            run: |wire| Box::pin($module::$name(wire)),
        }),+),+];

        behaviours!(@tests ($) $($($name)+)+);
    };
    (@tests ($d:tt) $($all:ident)+) => {
        /// Creates a test for each behaviour of the suite, in the current module. The expression is a
        /// [`Wire`](crate::conformance::Wire). `fails` names the behaviours that the adapter does not have; their tests
        /// assert the failure.
        #[macro_export]
        macro_rules! model_conformance {
            ($d wire:expr) => {
                $d crate::model_conformance!($d wire, fails: []);
            };
            ($d wire:expr, fails: [$d ($d fails:ident),* $d (,)?]) => {
                const FAILS: &[&str] = &[$d (stringify!($d fails)),*];
                $d crate::model_conformance!(@ $d wire; $($all)+);
            };
            (@ $d wire:expr; $d ($d name:ident)+) => {
                $d (
                    #[test]
                    fn $d name() {
                        $d crate::conformance::check_one(stringify!($d name), &$d wire, FAILS);
                    }
                )+
            };
        }
    };
}

behaviours! {
    answers:
        answer_is_read_whole,
        answer_split_at_each_byte_is_read,
        answer_with_crlf_is_read,
        answer_with_crlf_split_at_each_byte_is_read,
        comments_are_no_part_of_an_answer,
        reasoning_is_not_text,
        tokens_are_counted,
        finish_reasons_are_typed;
    calls:
        calls_are_whole,
        calls_with_one_id_stay_two,
        calls_without_ids_get_distinct_ones,
        call_without_arguments_has_an_empty_object,
        call_with_unreadable_arguments_is_told,
        cut_call_is_no_call;
    failures:
        answer_without_an_end_is_a_network_failure,
        answer_cut_within_an_event_is_a_network_failure,
        reset_connection_is_a_network_failure,
        error_within_an_answer_ends_it,
        refused_requests_are_fatal,
        rate_limit_has_its_wait,
        failures_of_the_server_are_its_own,
        absent_server_is_a_network_failure,
        malformed_event_is_a_failure,
        text_that_is_not_utf8_is_a_failure,
        page_is_a_failure;
    limits:
        silent_server_is_a_timeout,
        silence_within_an_answer_is_a_timeout,
        heartbeats_do_not_extend_the_limit,
        heartbeat_is_alive,
        comment_is_alive,
        piece_of_a_long_event_is_alive,
        event_without_an_end_is_refused;
    requests:
        request_has_all_its_parts,
        results_go_back_with_their_calls,
        own_data_goes_back_unchanged,
        signature_goes_back,
        calls_of_a_request_have_distinct_ids,
        unreadable_call_goes_back,
        checkpoint_is_sent,
        key_is_sent_and_never_shown;
}
