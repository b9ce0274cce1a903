//! Typical mistakes of an author: one edit of the code each. The first error says in plain words what is wrong.

use super::edit::In::{Code, Diagram};
use super::edit::edits;
use super::pinned::{names, ui};

edits! { "mistakes":
    a_colon_in_the_header_left_out: [(Code, "mod door: Door(House)", "mod door Door(House)")];
    a_comma_for_the_semicolon: [(Code, "version 1;", "version 1,")];
    a_comma_between_states_left_out: [(Code, "{ Open, Shut,", "{ Open Shut,")];
    a_condition_for_the_guard: [(Code, "lock(Lock) else WrongKey", "lock(Lock) if fits")];
    a_definition_inside_a_function: [(Code, "lifecycle! {", "pub fn doors() {\nlifecycle! {"), (Code, "self.state().by\n    }\n}\n", "self.state().by\n    }\n}\n}\n")];
    a_diagram_without_quotes: [(Code, "diagram \"door.md\"", "diagram door.md")];
    a_doc_comment_on_a_transition: [(Code, "    Open    --> Shut ", "    /// It falls shut.\n    Open    --> Shut ")];
    a_fat_arrow: [(Code, "Open    --> Shut ", "Open    => Shut ")];
    a_guard_in_brackets: [(Code, "lock(Lock) else WrongKey", "lock(Lock) [key fits]")];
    a_guard_of_the_source_state: [(Code, "impl Guard<Shut, Lock> for Locked", "impl Guard<Locked, Lock> for Shut"), (Code, "fn check(_: &Shut", "fn check(_: &Locked")];
    a_guard_with_another_signature: [(Code, "fn check(_: &Shut, event: &Lock, house: &House)", "fn check(event: &Lock, house: &House)")];
    a_heading_that_is_not_there: [(Code, "diagram \"door.md\";", "diagram \"door.md\" heading \"Gate\";")];
    a_heading_without_its_diagram: [(Code, "diagram \"door.md\";", "heading \"A door\";")];
    a_keyword_as_a_method: [(Code, "push(Push)", "move(Move)"), (Code, "Close, Push,", "Close, Move,"), (Diagram, ": push", ": move")];
    a_keyword_as_the_module: [(Code, "pub mod door:", "pub mod enum:")];
    a_list_of_states_without_braces: [(Code, "status DoorStatus { Open, Shut, Locked { .. }, Bricked }", "status DoorStatus: Open, Shut, Locked { .. }, Bricked;")];
    a_mark_without_brackets: [(Code, "Bricked --> [*];", "Bricked --> *;")];
    a_misspelt_event: [(Code, "unlock(Unlock);", "unlock(Unlok);")];
    a_misspelt_initial_state: [(Code, "[*]     --> Open;", "[*]     --> Opne;")];
    a_misspelt_source_state: [(Code, "    Locked  --> Shut ", "    Lokced  --> Shut ")];
    a_misspelt_status: [(Code, "status DoorStatus", "state DoorStatus")];
    a_misspelt_target_state: [(Code, "Locked  --> Shut ", "Locked  --> Shutt ")];
    a_name_of_a_state_without_quotes: [(Code, "Bricked }\n    event", "Bricked = Walled }\n    event")];
    a_private_data_of_a_state: [(Code, "pub struct Locked {", "struct Locked {")];
    a_record_that_is_no_record: [(Code, "impl Record for House {}\n", "")];
    a_record_without_debug: [(Code, "#[derive(Debug, Serialize, Deserialize)]\npub struct House", "#[derive(Serialize, Deserialize)]\npub struct House")];
    a_record_without_its_struct: [(Code, "Door(House)", "Door(Hause)")];
    a_second_initial_mark: [(Code, "    [*]     --> Open;\n", "    [*]     --> Open;\n    [*]     --> Shut;\n")];
    a_state_listed_twice: [(Code, "{ Open, Shut, Locked", "{ Open, Shut, Shut, Locked")];
    a_state_with_a_tuple: [(Code, "Locked { .. }, Bricked", "Locked(u32), Bricked")];
    a_state_with_its_fields: [(Code, "Locked { .. }, Bricked", "Locked { by: u32 }, Bricked")];
    a_state_with_three_dots: [(Code, "Locked { .. }, Bricked", "Locked { ... }, Bricked")];
    a_state_without_debug: [(Code, "#[derive(Debug, Serialize, Deserialize)]\npub struct Locked", "#[derive(Serialize, Deserialize)]\npub struct Locked")];
    a_state_without_its_braces: [(Code, "Locked { .. }, Bricked", "Locked, Bricked")];
    a_state_without_its_stored_form: [(Code, "#[derive(Debug, Serialize, Deserialize)]\npub struct Locked", "#[derive(Debug)]\npub struct Locked")];
    a_state_without_its_struct: [(Code, "#[derive(Debug, Serialize, Deserialize)]\npub struct Locked {\n    by: u32,\n}\n", ""), (Code, "impl Guard<Shut, Lock> for Locked {\n    type Error = WrongKey;\n    fn check(_: &Shut, event: &Lock, house: &House) -> Result<(), WrongKey> {\n        if event.key == house.key { Ok(()) } else { Err(WrongKey) }\n    }\n}\nimpl Enter<Shut, Lock> for Locked {\n    fn enter(_: Shut, event: Lock, _: &mut House) -> Self {\n        Locked { by: event.key }\n    }\n}\nimpl Door<Locked> {\n    pub fn locked_by(&self) -> u32 {\n        self.state().by\n    }\n}\n", "")];
    a_terminal_mark_with_an_event: [(Code, "Bricked --> [*];", "Bricked --> [*] : crumble(Crumble);")];
    a_thin_arrow: [(Code, "Open    --> Shut ", "Open    -> Shut ")];
    a_transition_twice: [(Code, "    Locked  --> Shut    : unlock(Unlock);\n", "    Locked  --> Shut    : unlock(Unlock);\n    Locked  --> Shut    : unlock(Unlock);\n")];
    a_transition_without_its_arrow: [(Code, "Open    --> Shut ", "Open    Shut ")];
    a_transition_without_its_method: [(Code, "close(Close);", "Close;")];
    a_transition_without_its_target: [(Code, "Open    --> Shut    : close(Close);", "Open    --> : close(Close);")];
    a_transition_without_its_type: [(Code, "close(Close);", "close;")];
    a_version_in_quotes: [(Code, "version 1;", "version \"1\";")];
    a_version_of_zero: [(Code, "version 1;", "version 0;")];
    a_version_without_its_number: [(Code, "version 1;", "version;")];
    a_visibility_of_another_kind: [(Code, "pub mod door", "pub(self) mod door")];
    a_wrapper_left_out: [(Code, "Door(House), AnyDoor;", "Door(House);")];
    an_attribute_on_the_status: [(Code, "    status DoorStatus", "    #[derive(Default)]\n    status DoorStatus")];
    an_else_without_its_error: [(Code, "else WrongKey;", "else;")];
    an_enter_from_another_state: [(Code, "impl Enter<Shut, Lock> for Locked {\n    fn enter(_: Shut", "impl Enter<Open, Lock> for Locked {\n    fn enter(_: Open")];
    an_error_that_is_no_error: [(Code, "impl std::error::Error for WrongKey {}\n", "")];
    an_error_without_its_struct: [(Code, "else WrongKey;", "else BadKey;")];
    an_event_after_its_transitions: [(Code, "    event DoorEvent { Close, Push, Lock { .. }, Unlock, BrickUp }\n", ""), (Code, "    Bricked --> [*];\n", "    Bricked --> [*];\n    event DoorEvent { Close, Push, Lock { .. }, Unlock, BrickUp }\n")];
    an_event_listed_twice: [(Code, "{ Close, Push,", "{ Close, Push, Push,")];
    an_event_with_its_payload: [(Code, "lock(Lock) else", "lock(Lock { key: u32 }) else")];
    an_event_without_its_braces: [(Code, "Lock { .. }, Unlock", "Lock, Unlock")];
    an_event_without_its_list: [(Code, "    event DoorEvent { Close, Push, Lock { .. }, Unlock, BrickUp }\n", "")];
    an_event_without_its_struct: [(Code, "BrickUp }", "BrickUp { .. } }")];
    an_initial_mark_with_an_event: [(Code, "[*]     --> Open;", "[*]     --> Open : build(Build);")];
    no_initial_mark: [(Code, "    [*]     --> Open;\n", "")];
    no_list_of_states: [(Code, "    status DoorStatus { Open, Shut, Locked { .. }, Bricked }\n", "")];
    no_machine: [(Code, "pub mod door: Door(House), AnyDoor;", "pub mod door;")];
    no_record: [(Code, "Door(House), AnyDoor", "Door, AnyDoor")];
    no_states: [(Code, "status DoorStatus { Open, Shut, Locked { .. }, Bricked }", "status DoorStatus { }")];
    no_transition: [(Code, "    Open    --> Shut    : close(Close);\n    Shut    --> Open    : push(Push);\n    Shut    --> Locked  : lock(Lock) else WrongKey;\n    Locked  --> Shut    : unlock(Unlock);\n    Shut    --> Bricked : brick_up(BrickUp);\n    Bricked --> [*];\n", "")];
    the_diagram_before_the_version: [(Code, "    version 1;\n    diagram \"door.md\";\n", "    diagram \"door.md\";\n    version 1;\n")];
    the_events_before_the_states: [(Code, "    status DoorStatus { Open, Shut, Locked { .. }, Bricked }\n    event DoorEvent { Close, Push, Lock { .. }, Unlock, BrickUp }\n", "    event DoorEvent { Close, Push, Lock { .. }, Unlock, BrickUp }\n    status DoorStatus { Open, Shut, Locked { .. }, Bricked }\n")];
    the_last_semicolon_left_out: [(Code, "Bricked --> [*];\n}", "Bricked --> [*]\n}")];
    the_word_mod_left_out: [(Code, "pub mod door:", "pub door:")];
}

/// Names that are defined twice. The compiler compares each implementation of the two, and says so.
const MANY_ERRORS: [&str; 8] = [
    "definition/a_state_and_an_event_of_one_name",
    "definition/two_ways_out_by_one_event",
    "mistakes/a_definition_inside_a_function",
    "mistakes/a_state_listed_twice",
    "mistakes/a_state_without_its_braces",
    "mistakes/a_transition_twice",
    "mistakes/an_event_listed_twice",
    "mistakes/an_event_without_its_braces",
];

#[test]
fn a_mistake_has_at_most_three_errors() {
    let mut many = Vec::new();
    for folder in ["definition", "drift", "mistakes"] {
        for name in names(folder, "stderr") {
            let case = format!("{folder}/{name}");
            let text = std::fs::read_to_string(ui(&format!("{case}.stderr"))).unwrap();
            let errors = text.lines().filter(|line| line.starts_with("error")).count();
            // The last one counts the others.
            if errors > 4 {
                many.push(case);
            }
        }
    }
    assert_eq!(many, MANY_ERRORS);
}
