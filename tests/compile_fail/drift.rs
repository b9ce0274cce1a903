//! Diagrams that are not their lifecycle's: one edit of the diagram each.

use super::edit::In::{Code, Diagram};
use super::edit::{Edit, assert_compiles, compile_edited, edits};

edits! { "drift":
    an_edge_the_code_lacks: [
        (Diagram, "    Locked  --> Shut", "    Open    --> Locked  : lock\n    Locked  --> Shut"),
    ];
    an_edge_the_code_has_the_other_way: [(Diagram, "Locked  --> Shut", "Locked  --> Open")];
    an_edge_the_diagram_lacks: [(Diagram, "    Shut    --> Bricked : brick_up\n", "")];
    an_edge_twice: [(Diagram, "    Shut    --> Open    : push\n", "    Shut --> Open : push\n    Shut --> Open : push\n")];
    a_state_the_code_lacks: [(Diagram, "    Shut    --> Bricked", "    Shut    --> Ajar    : push\n    Shut    --> Bricked")];
    a_state_the_diagram_lacks: [
        (Diagram, "    Shut    --> Bricked : brick_up\n", ""),
        (Diagram, "    Bricked --> [*]\n", ""),
    ];
    a_state_in_other_case: [(Diagram, "Shut    --> Bricked", "Shut    --> BRICKED")];
    a_label_of_another_event: [(Diagram, "Locked  --> Shut    : unlock", "Locked  --> Shut    : open_up")];
    a_label_left_out: [(Diagram, "Locked  --> Shut    : unlock", "Locked  --> Shut")];
    a_label_that_is_empty: [(Diagram, "Locked  --> Shut    : unlock", "Locked  --> Shut    :")];
    a_state_named_by_a_keyword: [
        (Code, "Locked { .. }, Bricked }", "Locked { .. }, Bricked = \"note\" }"),
        (Diagram, "Shut    --> Bricked : brick_up", "Shut    --> note : brick_up"),
        (Diagram, "Bricked --> [*]", "note --> [*]"),
    ];
    a_label_with_more_than_the_event: [(Diagram, ": unlock", ": unlock; Shut --> Open")];
    a_label_without_its_colon: [(Diagram, ": unlock", "unlock")];
    a_label_on_the_initial_mark: [(Diagram, "[*]     --> Open", "[*]     --> Open    : build")];
    the_initial_mark_left_out: [(Diagram, "    [*]     --> Open\n", "")];
    the_initial_mark_on_another_state: [(Diagram, "[*]     --> Open", "[*]     --> Shut")];
    the_initial_mark_twice: [(Diagram, "    [*]     --> Open\n", "    [*] --> Open\n    [*] --> Open\n")];
    a_second_initial_mark: [(Diagram, "    [*]     --> Open\n", "    [*] --> Open\n    [*] --> Shut\n")];
    a_terminal_mark_left_out: [(Diagram, "    Bricked --> [*]\n", "")];
    a_terminal_mark_too_many: [(Diagram, "    Bricked --> [*]\n", "    Bricked --> [*]\n    Locked  --> [*]\n")];
    a_terminal_mark_twice: [(Diagram, "    Bricked --> [*]\n", "    Bricked --> [*]\n    Bricked --> [*]\n")];
    from_mark_to_mark: [(Diagram, "[*]     --> Open", "[*]     --> [*]")];
    no_block: [(Diagram, "```mermaid", "```text")];
    a_block_without_an_end: [(Diagram, "    Bricked --> [*]\n```", "    Bricked --> [*]\n")];
    a_block_without_its_header: [(Diagram, "stateDiagram-v2\n", "")];
    a_block_of_another_kind: [(Diagram, "stateDiagram-v2", "flowchart LR")];
    a_second_block: [
        (Diagram, "    Bricked --> [*]\n```", "    Bricked --> [*]\n```\n\n```mermaid\nstateDiagram-v2\n```"),
    ];
    a_second_block_with_another_fence: [
        (Diagram, "    Bricked --> [*]\n```", "    Bricked --> [*]\n```\n\n~~~~ mermaid\nstateDiagram-v2\n~~~~"),
    ];
    a_block_with_another_fence: [(Diagram, "```mermaid", "``` mermaid")];
    an_empty_file: [
        (Diagram, "# A door\n\n```mermaid", ""),
        (Diagram, "stateDiagram-v2\n    %% what the cases under test change\n", ""),
        (Diagram, "    [*]     --> Open\n    Open    --> Shut    : close\n    Shut    --> Open    : push\n", ""),
        (Diagram, "    Shut    --> Locked  : lock\n    Locked  --> Shut    : unlock\n", ""),
        (Diagram, "    Shut    --> Bricked : brick_up\n    Bricked --> [*]\n```", ""),
    ];
    a_note_of_an_unknown_state: [(Diagram, "    Bricked --> [*]", "    note right of Opn : a door\n    Bricked --> [*]")];
    a_note_without_its_end: [(Diagram, "    Bricked --> [*]", "    note right of Open\n    Bricked --> [*]")];
    a_description_of_an_unknown_state: [(Diagram, "    Bricked --> [*]", "    state \"for good\" as Walled\n    Bricked --> [*]")];
    several_differences: [
        (Diagram, "Locked  --> Shut", "Lokced  --> Shut"),
        (Diagram, "    Bricked --> [*]", "    Bricked --> Open : demolish"),
    ];
    a_composite_state: [(Diagram, "    Bricked --> [*]", "    state Bricked {\n    }\n    Bricked --> [*]")];
    a_styled_state: [(Diagram, "    Bricked --> [*]", "    Bricked:::red --> [*]")];
    a_directive: [(Diagram, "    Bricked --> [*]", "    %%{init: {}}%%\n    Bricked --> [*]")];
    a_lone_state: [(Diagram, "    Bricked --> [*]", "    Bricked\n    Bricked --> [*]")];
    a_carriage_return_within_a_line: [(Diagram, "what the cases under test change", "not seen\r    Locked --> Open : push")];
    an_arrow_of_another_diagram: [(Diagram, "Locked  --> Shut", "Locked  ->> Shut")];
}

#[test]
fn a_diagram_with_windows_line_ends_compiles() {
    let crlf: &str = "```mermaid\r\nstateDiagram-v2\r\n";
    assert_compiles(
        "drift/crlf",
        &[
            (Diagram, "```mermaid\nstateDiagram-v2\n", crlf),
            (Diagram, ": push\n", ": push\r\n"),
            (Diagram, "Bricked --> [*]\n```\n", "Bricked --> [*]\r\n```\r\n"),
        ],
    );
}

#[test]
fn diagram_may_have_comments_direction_and_other_whitespace() {
    assert_compiles(
        "drift/plain",
        &[
            (
                Diagram,
                "    Shut    --> Open    : push\n",
                "\n\tdirection LR\n%% pushed\n\tShut-->Open:push\n",
            ),
            (Diagram, "# A door\n", "# A door\n\n```rust\nlet mermaid = ();\n```\n"),
        ],
    );
}

#[test]
fn a_state_is_drawn_under_the_name_that_the_code_gives_it() {
    assert_compiles(
        "drift/renamed",
        &[
            (Code, "Locked { .. }, Bricked }", "Locked { .. }, Bricked = \"BRICKED_UP\" }"),
            (Diagram, "Shut    --> Bricked : brick_up", "Shut    --> BRICKED_UP : brick_up"),
            (Diagram, "Bricked --> [*]", "BRICKED_UP --> [*]"),
        ],
    );
}

#[test]
fn a_heading_may_be_underlined() {
    let named: Edit<'_> = (Code, "diagram \"door.md\"", "diagram \"door.md\" heading \"A door\"");
    let second = "\n## Another\n\n```mermaid\nstateDiagram-v2\n    [*] --> Gone\n```\n";
    let end = "    Bricked --> [*]\n```\n";
    let both = format!("{end}{second}");
    for underlined in ["A door\n======\n", "Doors open.\n\nA door\n---\n"] {
        let edits = [named, (Diagram, "# A door\n", underlined), (Diagram, end, &both)];
        assert_compiles("drift/underlined", &edits);
    }
    // A line below a list or a block of code is no underline.
    for other in ["- A door\n---\n", "A door\n```text\n```\n---\n", "A door\n\n---\n"] {
        let said = compile_edited("drift/not_underlined", &[named, (Diagram, "# A door\n", other)], true);
        let said = said.expect_err("a line that is no heading is found");
        assert!(said.contains("door.md: no heading \"A door\""), "{said}");
    }
}

#[test]
fn a_document_of_200_kb_compiles_without_a_warning() {
    let text = "A line of text about a door, its frame and its lock.\n".repeat(2_000);
    let end = "    Bricked --> [*]\n```\n";
    let (before, after) = (format!("{text}\n# A door\n"), format!("{end}{text}"));
    assert_compiles("drift/long", &[(Diagram, "# A door\n", &before), (Diagram, end, &after)]);
}
