//! Code that uses a lifecycle wrongly. Each file of `tests/ui/uses` holds both twins: with `--cfg illegal` it must fail
//! as pinned, without it must compile.

use super::pinned::{assert_pinned, names, ui};
use super::rustc::{Against, compile};

fn twins(name: &str) {
    let source = ui(&format!("uses/{name}.rs"));
    if let Err(said) = compile(&source, Against::Library, false) {
        panic!("the legal twin of {name} does not compile:\n{said}");
    }
    let said = compile(&source, Against::Library, true).expect_err("the illegal twin compiles");
    assert_pinned(&format!("uses/{name}"), &said);
}

macro_rules! uses {
    ($($name:ident)+) => {
        $(
            #[test]
            fn $name() {
                twins(stringify!($name));
            }
        )+

        #[test]
        fn every_use_has_its_test() {
            let tested = [$(stringify!($name)),+];
            assert_eq!(names("uses", "rs"), tested);
            assert_eq!(names("uses", "stderr"), tested);
        }
    };
}

uses! {
    a_checksum_computed_anew
    a_clone_of_a_machine
    a_field_of_a_machine_set_by_its_author
    a_fingerprint_typed_by_hand
    a_flow_of_ones_own_naming
    a_forged_permit
    a_forged_permit_call
    a_forged_state_by_its_author
    a_forged_state_from_below
    a_forged_state_from_outside
    a_machine_moved_twice
    a_machine_of_another_version
    a_move_that_the_graph_lacks
    a_move_that_the_graph_lacks_by_its_author
    a_new_machine_in_a_later_state
    a_permit_of_another_machine
    a_record_out_of_any_text
    a_record_that_begins_again
    a_state_of_an_any_machine
    an_edge_by_hand
    flow_a_commit_without_its_receipt
    flow_a_forged_proof_of_a_gate
    flow_a_gate_without_its_proof
    flow_a_receipt_by_hand
    flow_a_receipt_used_twice
    flow_a_start_by_hand
    flow_a_tool_without_an_open_gate
    flow_a_transition_written_by_hand
    flow_an_execution_that_is_not_on_record
    flow_an_input_of_ones_own
    flow_the_model_right_after_a_tool_commit
    governed_a_completed_run_that_goes_on
    governed_a_forged_pass_of_an_audit
    governed_a_halted_run_that_goes_on
    governed_a_plan_made_anew
    governed_a_rolled_back_run_that_goes_on
    governed_a_run_that_executes_unplanned
    governed_an_approval_that_skips_the_execution
    governed_an_approval_used_twice
    governed_execution_that_completes_unverified
    the_data_of_a_state_forged
    the_data_of_another_state
    the_parts_of_an_unfinished_machine
    the_proof_of_another_machine
    the_record_changed_from_outside
    the_witness_of_another_lifecycle
}
