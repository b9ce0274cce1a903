//! Definitions that are no lifecycle: one edit of the code each, and of the diagram where that would differ too.

use super::edit::In::{Code, Diagram};
use super::edit::{assert_compiles, edits};

edits! { "definition":
    a_dead_end: [(Code, "    Bricked --> [*];\n", ""), (Diagram, "    Bricked --> [*]\n", "")];
    a_terminal_state_with_a_way_out: [
        (Code, "    Bricked --> [*];\n", "    Bricked --> [*];\n    Locked --> [*];\n"),
        (Diagram, "    Bricked --> [*]\n", "    Bricked --> [*]\n    Locked --> [*]\n"),
    ];
    an_unreachable_state: [
        (Code, "Shut    --> Locked  : lock(Lock) else WrongKey", "Locked  --> Locked  : lock(Lock)"),
        (Diagram, "Shut    --> Locked ", "Locked  --> Locked "),
        (Code, "impl Enter<Shut, Lock> for Locked {\n    fn enter(_: Shut", "impl<S> Enter<S, Lock> for Locked {\n    fn enter(_: S"),
    ];
    two_ways_out_by_one_event: [
        (Code, "Shut    --> Bricked : brick_up(BrickUp)", "Shut    --> Bricked : push(Push)"),
        (Diagram, "brick_up", "push"),
    ];
    an_event_on_no_edge: [(Code, "Unlock, BrickUp }", "Unlock, BrickUp, Kick }")];
    an_event_that_is_not_listed: [(Code, "Unlock, BrickUp }", "Unlock }")];
    a_method_that_is_not_its_event_in_snake_case: [
        (Code, "close(Close)", "shut(Close)"),
        (Diagram, ": close", ": shut"),
    ];
    a_method_that_is_only_the_start_of_its_event: [
        (Code, "brick_up(BrickUp)", "brick(BrickUp)"),
        (Diagram, ": brick_up", ": brick"),
    ];
    two_states_of_one_name: [(Code, "Locked { .. }, Bricked }", "Locked { .. }, Bricked = \"Open\" }")];
    a_state_and_an_event_of_one_name: [
        (Code, "close(Close)", "shut(Shut)"),
        (Code, "{ Close, Push", "{ Shut, Push"),
        (Diagram, ": close", ": shut"),
    ];
    an_edge_without_an_entry: [
        (Code, "Open    --> Shut    : close(Close);", "Open    --> Shut    : close(Close);\n    Open --> Locked : unlock(Unlock);"),
        (Diagram, "Open    --> Shut    : close", "Open    --> Shut    : close\n    Open --> Locked : unlock"),
    ];
    an_edge_without_its_guard: [
        (Code, "impl Guard<Shut, Lock> for Locked {\n    type Error = WrongKey;", "impl Locked {"),
        (Code, "    fn check(", "    pub fn check("),
    ];
    a_guard_that_is_never_asked: [(Code, " else WrongKey", "")];
    a_guard_with_another_error: [(Code, "else WrongKey", "else House")];
    an_initial_state_without_a_beginning: [
        (Code, "{ Open, Shut", "{ Open { .. }, Shut"),
        (Code, "#[derive(Debug)]\npub struct Lock {", "#[derive(Debug, Serialize, Deserialize)]\npub struct Open;\n#[derive(Debug)]\npub struct Lock {"),
        (Code, "impl Door<Locked> {", "impl Enter<Shut, Push> for Open {\n    fn enter(_: Shut, _: Push, _: &mut House) -> Self {\n        Open\n    }\n}\nimpl Door<Locked> {"),
    ];
    a_derive_on_the_machine: [(Code, "    /// A door.\n", "    /// A door.\n    #[derive(Clone)]\n")];
    a_derive_on_a_state: [(Code, "{ Open, Shut", "{ #[derive(Default)] Open, Shut")];
    a_diagram_that_is_not_there: [(Code, "diagram \"door.md\"", "diagram \"gate.md\"")];
    a_semicolon_left_out: [(Code, "unlock(Unlock);", "unlock(Unlock)")];
    an_identity_of_another_package: [(Code, "version 1;", "version 1;\n    identity \"runstate/tool_call\";")];
    an_empty_identity: [(Code, "version 1;", "version 1;\n    identity \"\";")];
    an_edge_without_its_event: [(Code, "    Locked  --> Shut    : unlock(Unlock);", "    Locked  --> Shut;")];
}

#[test]
fn a_guard_is_optional() {
    assert_compiles(
        "definition/unguarded",
        &[
            (Code, " else WrongKey", ""),
            (Code, "impl Guard<Shut, Lock> for Locked {\n    type Error = WrongKey;", "impl Locked {"),
            (Code, "    fn check(", "    pub fn check("),
            (Code, "use runstate::kernel::{Enter, Guard, Record};", "use runstate::kernel::{Enter, Record};"),
        ],
    );
}

#[test]
fn an_identity_of_ones_own_compiles() {
    assert_compiles(
        "definition/identity",
        &[(Code, "version 1;", "version 1;\n    identity \"shop/door\";")],
    );
}

#[test]
fn an_initial_state_with_data_and_a_beginning_compiles() {
    assert_compiles(
        "definition/begin",
        &[
            (Code, "{ Open, Shut", "{ Open { .. }, Shut"),
            (
                Code,
                "#[derive(Debug)]\npub struct Lock {",
                "#[derive(Debug, Serialize, Deserialize)]\npub struct Open;\n#[derive(Debug)]\npub struct Lock {",
            ),
            (
                Code,
                "impl Door<Locked> {",
                "impl Enter<Shut, Push> for Open {\n    fn enter(_: Shut, _: Push, _: &mut House) -> Self {\n        \
                 Open\n    }\n}\nimpl runstate::kernel::Begin for Open {\n    fn begin(_: &mut House) -> Self {\n        \
                 Open\n    }\n}\nimpl Door<Locked> {",
            ),
        ],
    );
}
