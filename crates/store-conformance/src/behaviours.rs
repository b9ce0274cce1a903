//! The list of the suite's behaviours.

use super::{
    Behaviour, Part, cancels, claims, commits, creates, crowds, decides, drives, events, leases, lists,
    loads, moments, owners, places, posts, random, refusals, removes, reopened, texts, threads, timers,
    traces, unknown,
};

/// Lists all behaviours once, for the table and for the macro of the tests.
macro_rules! behaviours {
    ($($part:ident { $($module:ident: $($name:ident),+;)+ })+) => {
        /// All behaviours, by part.
        pub const BEHAVIOURS: &[Behaviour] = &[$($($(Behaviour {
            name: stringify!($name),
            part: Part::$part,
            run: |bench| Box::pin($module::$name(bench)),
        }),+),+),+];

        behaviours!(@tests ($) $([$($($name)+)+])+);
    };
    (@tests ($d:tt) [$($data:ident)+] [$($lists:ident)+] [$($queue:ident)+]) => {
        /// Creates a test for each behaviour of this crate, in the current module. The expression is a future of an
        /// empty [`Bench`](crate::Bench). It is evaluated again in each test.
        ///
        /// `store_conformance!(data: ...)` creates the tests of one [part](crate::Part) alone, as do
        /// `lists: ...` and `queue: ...`. The first two also accept a bench [without a
        /// queue](crate::WithoutQueue).
        #[macro_export]
        macro_rules! store_conformance {
            (data: $d bench:expr) => {
                $d crate::store_conformance!(@ $d bench; $($data)+);
            };
            (lists: $d bench:expr) => {
                $d crate::store_conformance!(@ $d bench; $($lists)+);
            };
            (queue: $d bench:expr) => {
                $d crate::store_conformance!(@ $d bench; $($queue)+);
            };
            (@ $d bench:expr; $d ($d name:ident)+) => {
                $d (
                    #[test]
                    fn $d name() {
                        $d crate::check_one(stringify!($d name), $d bench);
                    }
                )+
            };
            ($d bench:expr) => {
                $d crate::store_conformance!(data: $d bench);
                $d crate::store_conformance!(lists: $d bench);
                $d crate::store_conformance!(queue: $d bench);
            };
        }
    };
}

behaviours! {
    Data {
        creates:
            a_run_is_created_once,
            a_new_run_has_nothing_but_what_it_was_created_with,
            a_spec_comes_back_as_it_was,
            concurrent_creations_of_a_run_create_it_once;
        commits:
            commits_follow_each_other_by_number,
            commit_and_lists_have_the_same_run_info,
            a_commit_that_is_given_again_is_there_once,
            a_commit_that_is_given_again_may_hold_more,
            a_commit_that_was_not_made_may_be_given_as_again,
            a_commit_of_another_lease_is_not_given_again,
            an_earlier_commit_is_not_given_again,
            holder_of_an_unclaimed_run_commits_after_its_lease;
        refusals:
            a_refused_commit_leaves_all_as_it_was,
            a_fenced_commit_leaves_all_as_it_was,
            a_commit_with_another_decision_than_the_first_is_refused,
            commit_may_take_a_decision_that_was_not_posted;
        loads:
            a_run_comes_back_after_each_commit,
            messages_come_back_in_order,
            calls_take_the_place_of_their_rows,
            values_are_set_and_removed,
            values_of_run_and_thread_are_apart,
            a_run_on_a_thread_has_what_the_thread_had,
            decisions_come_back_once_they_are_taken,
            runs_have_nothing_of_each_other;
        threads:
            a_run_begins_with_the_messages_of_its_thread,
            a_thread_goes_on_from_its_last_run,
            the_id_of_a_first_message_is_given_once,
            a_message_takes_the_place_of_decisions,
            a_commit_given_again_keeps_the_message,
            a_message_is_for_a_run_that_waits,
            concurrent_successors_of_a_run_create_one;
        traces:
            a_trace_is_read_in_pages,
            a_trace_conforms,
            events_that_are_given_again_are_there_once;
        events:
            events_have_no_gap,
            events_are_read_in_pages,
            events_of_a_repeated_commit_replace_the_first;
        posts:
            the_first_decision_is_accepted,
            the_same_decision_again_is_a_duplicate,
            another_decision_is_a_conflict,
            a_decision_id_is_for_one_suspension,
            a_decision_on_a_suspension_of_another_call_is_not_accepted,
            pending_decisions_keep_their_order,
            commit_removes_taken_decisions_from_pending_signals,
            decisions_come_back_as_they_were;
        cancels:
            a_wish_to_cancel_is_noted_once,
            a_wish_to_cancel_is_over_with_the_run,
            a_run_that_is_over_is_not_cancelled;
        places:
            ids_that_differ_in_case_are_two;
        unknown:
            unknown_runs_are_told;
        texts:
            json_may_hold_any_character,
            long_values_come_back_whole;
        owners:
            paused_holder_continues_an_unclaimed_run,
            fenced_holder_cannot_repeat_an_older_commit;
        crowds:
            concurrent_commits_of_one_number_commit_once;
        reopened:
            an_operation_that_was_dropped_was_made_whole_or_not_at_all;
        drives:
            a_run_that_was_dropped_goes_on_from_its_last_commit;
    }
    Lists {
        threads:
            a_thread_is_removed_from_its_end,
            questions_superseded_by_a_message_do_not_expire;
        posts:
            a_decision_on_what_does_not_wait_is_not_accepted;
        moments:
            each_row_of_the_table_is_the_reply_around_each_commit;
        random:
            random_decisions_follow_the_table;
        decides:
            a_name_that_two_calls_have_is_refused,
            a_decision_is_for_the_question_that_was_shown,
            a_decision_in_the_name_of_the_runtime_is_refused,
            an_actor_that_cannot_be_told_apart_is_refused,
            a_result_that_does_not_fit_is_refused,
            each_row_of_the_table_is_the_reply,
            decider_gets_the_reply_to_the_decision,
            a_decision_is_found_by_call_or_suspension,
            an_id_that_the_model_gave_again_names_no_question,
            shared_id_of_two_waiting_calls_is_ambiguous,
            a_decision_that_came_too_late_is_expired,
            taken_decision_still_gives_its_replies;
        timers:
            suspensions_expire_in_order,
            suspensions_expire_exactly_at_their_time,
            decision_before_the_expiry_stays,
            suspension_expires_whatever_ids_decisions_had;
        lists:
            approval_has_the_call_and_the_question,
            runs_are_listed_newest_first_in_pages,
            runs_are_listed_by_status,
            runs_are_listed_by_their_last_change,
            runs_are_listed_by_their_holder,
            approvals_are_listed_in_pages,
            approvals_are_listed_by_run_call_and_suspension,
            a_decided_call_waits_no_more,
            lists_of_nothing_are_empty;
        places:
            ids_are_ordered_by_their_bytes;
        removes:
            a_run_that_was_never_driven_keeps_its_id_too;
        unknown:
            unknown_runs_are_in_no_list;
        texts:
            odd_ids_are_kept_apart,
            names_from_a_model_may_hold_any_character;
        crowds:
            one_of_many_decisions_on_a_call_is_accepted;
    }
    Queue {
        claims:
            a_run_is_claimed_by_name_whatever_its_status,
            fencing_tokens_grow_with_each_lease,
            held_run_is_not_claimed,
            a_lease_is_over_at_its_very_end,
            longest_waiting_run_is_claimed_first,
            deferred_run_is_claimed_after_its_delay_or_by_name,
            a_waiting_run_is_claimed_once_a_decision_is_there,
            a_waiting_run_is_claimed_once_it_is_to_be_cancelled,
            a_run_that_is_over_is_claimed_by_name_alone,
            nothing_to_claim_is_no_error;
        leases:
            last_commit_gives_the_run_back,
            an_older_lease_gives_nothing_back,
            a_lease_is_renewed,
            a_lease_renewed_for_no_time_is_over,
            a_lease_without_a_term_has_no_end,
            expired_lease_of_an_unclaimed_run_is_renewed,
            a_lease_that_was_taken_is_not_renewed,
            a_run_is_given_back_with_its_problem,
            claims_that_were_lost_are_counted,
            fencing_tokens_grow_after_a_release;
        threads:
            a_run_with_a_message_is_claimed;
        events:
            changes_name_committed_runs_once,
            current_cursor_is_after_all_commits,
            a_commit_wakes_each_reader_of_changes;
        timers:
            decided_suspension_does_not_expire,
            expired_question_stays_expired;
        cancels:
            a_cancelled_run_is_claimed_until_it_is_over;
        removes:
            a_run_is_removed_with_all_that_belongs_to_it,
            held_run_is_not_removed,
            the_id_of_a_removed_run_is_not_given_again;
        unknown:
            wait_for_changes_ends_after_its_timeout,
            change_wakes_every_waiter,
            refused_input_wakes_no_waiter,
            unknown_runs_have_no_lease;
        texts:
            odd_texts_come_back_as_they_were;
        owners:
            paused_holder_is_fenced_after_another_claim,
            two_handles_see_each_others_commits;
        crowds:
            concurrent_claims_claim_each_run_once,
            commits_and_decisions_do_not_undo_each_other;
        reopened:
            acknowledged_data_is_there_after_reopening;
        drives:
            a_run_is_driven_parked_decided_and_finished,
            a_run_ends_cancelled;
    }
}
