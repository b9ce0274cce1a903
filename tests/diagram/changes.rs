//! What a changed diagram means for persisted runs.

use runstate::diagram::{Change, Severity, StateGraph, diff, parse};

fn graph(body: &str) -> StateGraph {
    StateGraph::from_diagram(&parse(&format!("stateDiagram-v2\n{body}")).unwrap(), "run").unwrap()
}

fn changes(old: &str, new: &str) -> Vec<String> {
    diff(&graph(old), &graph(new)).iter().map(ToString::to_string).collect()
}

#[test]
fn every_kind_of_change_has_a_line() {
    let old = "[*] --> A\nA --> B : go\nA --> C\nB --> C\nB : text\nC --> [*]\nC --> A : again\nD --> A";
    let new = "[*] --> B\nA --> C\nA --> B : run\nB : another\nB --> [*]\nC --> A : again\nA --> E\nB --> C";
    super::snapshot("changes", &changes(old, new).join("\n"));
}

#[test]
fn removed_state_breaks_new_edge_needs_review_label_informs() {
    let severity =
        |old: &str, new: &str| diff(&graph(old), &graph(new)).first().map(|change| change.severity());
    assert_eq!(severity("A\nB", "A"), Some(Severity::Breaking));
    assert_eq!(severity("A\nB", "A\nB\nA --> B"), Some(Severity::Review));
    assert_eq!(severity("A --> B : x y", "A --> B : y x"), Some(Severity::Informational));
    assert_eq!(severity("A --> B : x [y]", "A --> B : x [z]"), Some(Severity::Informational));
    // An event that has another name is in no trace that was recorded.
    assert_eq!(severity("A --> B : x", "A --> B : y"), Some(Severity::Review));
    assert_eq!(severity("A --> B : x y", "A --> B : y"), Some(Severity::Review));
    assert_eq!(severity("A --> B : x", "A --> B : x"), None);
}

/// What the fingerprint of a graph covers, and nothing else.
#[test]
fn a_parked_run_needs_a_migration_for_what_changes_the_shape() {
    let base = "[*] --> A\nA --> B : go\nB --> C : end\nB : text\nC --> [*]";
    for (new, needs_migration) in [
        ("[*] --> A\nA --> B : go\nB : text\nB --> [*]", true),
        ("[*] --> A\nA --> B : go\nB --> C : end\nB : text\nC --> [*]\nC --> D", true),
        ("[*] --> A\nA --> B : go\nB --> C : end\nA --> C\nB : text\nC --> [*]", true),
        ("[*] --> A\n[*] --> B\nA --> B : go\nB --> C : end\nB : text\nC --> [*]", true),
        ("[*] --> A\nA --> B : go\nB --> C : end\nB : text\nC --> [*]\nB --> [*]", true),
        ("[*] --> A\nA --> B : run\nB --> C : end\nB : text\nC --> [*]", false),
        ("[*] --> A\nA --> B : go\nB --> C : end\nB : another\nC --> [*]", false),
        ("C --> [*]\nB --> C : end\nB : text\nA --> B : go\n[*] --> A", false),
        (base, false),
    ] {
        for (old, new) in [(base, new), (new, base)] {
            let changes = diff(&graph(old), &graph(new));
            let needs = changes.iter().any(|change| change.needs_migration());
            assert_eq!(needs, needs_migration, "{old}\n\n{new}");
        }
    }
    let mut renamed = graph(base);
    renamed.name = "another".to_owned();
    assert!(diff(&graph(base), &renamed)[0].needs_migration());
}

#[test]
fn marks_on_states_that_come_or_go_are_not_said_twice() {
    assert_eq!(
        changes("A --> B\nB --> [*]", "A"),
        ["breaking: state removed: B (line 2)", "breaking: transition removed: A --> B (line 2)"]
    );
}

/// Of transitions between the same states those with the same event belong together.
#[test]
fn guards_that_change_places_rename_no_event() {
    let swapped = diff(
        &graph("A --> B : ship [a]\nA --> B : send [b]"),
        &graph("A --> B : send [a]\nA --> B : ship [b]"),
    );
    assert_eq!(swapped.iter().filter(|change| change.renames_event()).count(), 0, "{swapped:?}");
    let renames = |old: &str, new: &str| {
        let (old, new) = (format!("A --> B{old}"), format!("A --> B{new}"));
        diff(&graph(&old), &graph(&new)).iter().any(Change::renames_event)
    };
    assert!(renames(" : ship", " : send") && renames("", " : send") && renames(" : by post", " : send"));
    assert!(
        !renames(" : ship", "") && !renames(" : ship", " : by post") && !renames(" : ship", " : ship [paid]")
    );
    let started = changes("[*] --> A : open", "[*] --> A : begin");
    assert_eq!(started, ["review: label changed: [*] --> A : open is now begin (line 2)"]);
}

#[test]
fn several_edges_between_the_same_states_are_told_apart() {
    let old = "A --> B : x\nA --> B : y";
    assert_eq!(changes(old, "A --> B : y"), ["breaking: transition removed: A --> B : x (line 2)"]);
    assert_eq!(
        changes(old, "A --> B : y\nA --> B : z"),
        [
            "review: label changed: A --> B : x is now z (line 3)",
            "informational: the transitions stand in another order"
        ]
    );
}
