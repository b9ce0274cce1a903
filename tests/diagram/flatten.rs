//! Nested diagrams as flat graphs.

use runstate::diagram::{StateGraph, parse};

fn graph(body: &str) -> StateGraph {
    let diagram = parse(&format!("stateDiagram-v2\n{body}")).unwrap();
    StateGraph::from_diagram(&diagram, "x").unwrap_or_else(|error| panic!("{body}: {error}"))
}

fn edges(graph: &StateGraph) -> Vec<String> {
    graph.edges.iter().map(ToString::to_string).collect()
}

fn refused(body: &str) -> String {
    let diagram = parse(&format!("stateDiagram-v2\n{body}")).unwrap();
    StateGraph::from_diagram(&diagram, "x").unwrap_err().to_string()
}

fn marks(marks: &[runstate::diagram::Mark]) -> Vec<&str> {
    marks.iter().map(|mark| mark.state.as_str()).collect()
}

#[test]
fn a_plain_diagram_stays_as_it_is() {
    let graph = graph("[*] --> A\nA --> B : go\nA : first\nA : second\nB --> [*]");
    assert_eq!(edges(&graph), ["A --> B : go"]);
    assert_eq!(graph.edges[0].line, Some(3));
    assert_eq!(graph.state("A").unwrap().description.as_deref(), Some("first\nsecond"));
    assert_eq!((marks(&graph.initial), marks(&graph.terminal)), (vec!["A"], vec!["B"]));
    assert_eq!((graph.initial[0].line, graph.terminal[0].line), (Some(2), Some(6)));
}

#[test]
fn completion_leaves_from_inner_ends_and_labels_from_all_states() {
    let body =
        "[*] --> C\nstate C {\n[*] --> A\nA --> B\nB --> [*] : ok\n}\nC --> D\nC --> E : stop\nE --> [*]";
    let graph = graph(body);
    assert_eq!(edges(&graph), ["A --> B", "B --> D : ok", "A --> E : stop", "B --> E : stop"]);
    assert_eq!(marks(&graph.initial), ["A"]);
    assert_eq!(marks(&graph.terminal), ["E"]);
}

#[test]
fn completions_climb_out_of_nested_states() {
    let body = "state Outer {\n[*] --> Inner\nstate Inner {\n[*] --> A\nA --> [*]\n}\nInner --> [*]\n}\nOuter --> B\nOuter --> [*]";
    let graph = graph(body);
    assert_eq!(edges(&graph), ["A --> B"]);
    assert_eq!(marks(&graph.terminal), ["A"]);
    assert_eq!(graph.warnings, Vec::<String>::new());
}

#[test]
fn an_inner_end_without_a_completion_is_said() {
    let graph = graph("state C {\n[*] --> A\nA --> [*]\n}\nC --> B : stop");
    assert_eq!(edges(&graph), ["A --> B : stop"]);
    assert_eq!(
        graph.warnings,
        ["line 4: this end leads nowhere: no state around it has a transition without a label"]
    );
}

#[test]
fn choices_join_their_labels() {
    let body = "state c <<choice>>\nstate d <<choice>>\n[*] --> c\nA --> c : x\nc --> d : y\nc --> B\nd --> [*] : z\nd --> A";
    let graph = graph(body);
    assert_eq!(edges(&graph), ["A --> A : x [y]", "A --> B : x"]);
    assert_eq!(marks(&graph.initial), ["A", "B"]);
    assert_eq!(marks(&graph.terminal), ["A"]);
}

#[test]
fn an_empty_composite_state_is_a_plain_one() {
    let graph = graph("[*] --> C\nstate C {\n}\nC --> D");
    assert_eq!(edges(&graph), ["C --> D"]);
}

#[test]
fn a_composite_state_that_is_entered_without_a_start_is_a_state() {
    let graph = graph(
        "[*] --> B\nB --> X : go\nstate X {\n  A --> Y : on\n  state Y {\n    C\n  }\n}\nX --> B : stop\nX --> D",
    );
    assert_eq!(
        edges(&graph),
        [
            "B --> X : go",
            "A --> Y : on",
            "X --> B : stop",
            "A --> B : stop",
            "Y --> B : stop",
            "C --> B : stop",
            "X --> D",
            "A --> D",
            "Y --> D",
            "C --> D",
        ]
    );
    assert_eq!(
        graph.warnings,
        [
            "line 3: `X` is entered and has no `[*] -->` inside: it is a state of its own, and the states inside are entered by their own transitions alone",
            "line 5: `Y` is entered and has no `[*] -->` inside: it is a state of its own, and the states inside are entered by their own transitions alone",
        ]
    );
    let drawn = graph.drawn.unwrap();
    let arrows: Vec<String> =
        drawn.arrows.iter().map(|it| format!("{} {} {:?}", it.from, it.to, it.line)).collect();
    assert_eq!(arrows, ["B X Some(3)", "A Y Some(5)", "X B Some(10)", "X D Some(11)"]);
    assert_eq!(
        drawn.edges,
        [vec![0], vec![1], vec![2], vec![2], vec![2], vec![2], vec![3], vec![3], vec![3], vec![3]]
    );
    let composites: Vec<_> = drawn.composites.iter().map(|it| (it.name.as_str(), it.inside)).collect();
    assert_eq!(composites, [("X", None), ("Y", Some(0))]);
    let states: Vec<_> = graph.states.iter().map(|state| state.name.as_str()).zip(drawn.states).collect();
    assert_eq!(
        states,
        [("B", None), ("X", Some(0)), ("A", Some(0)), ("Y", Some(1)), ("C", Some(1)), ("D", None)]
    );
}

#[test]
fn a_composite_state_that_only_frames_others_is_none() {
    let graph = graph("[*] --> A\nstate X {\n  A --> B\n}\nX --> C : stop");
    assert_eq!(edges(&graph), ["A --> B", "A --> C : stop", "B --> C : stop"]);
    assert!(graph.state("X").is_none());
}

#[test]
fn diagram_without_a_flat_graph_is_refused_with_its_line() {
    let refusals = [
        "A --> B\nstate f <<fork>>",
        "state j [[join]]",
        "state X {\n  A\n  --\n  B\n}",
        "state c <<choice>>\nA --> c",
        "state c <<choice>>\nstate d <<choice>>\nA --> c\nc --> d\nd --> c",
        "state X {\n  state Y {\n    X\n  }\n}",
        "state X {\n  X --> A\n}",
        "A#49; --> A1",
    ];
    super::snapshot("flatten_errors", &refusals.map(refused).join("\n"));
}

#[test]
fn a_small_diagram_cannot_ask_for_a_huge_graph() {
    let mut body = String::from("A --> c0\n");
    for at in 0..64 {
        body.push_str(&format!("state c{at} <<choice>>\nc{at} --> c{0} : x\nc{at} --> c{0} : y\n", at + 1));
    }
    body.push_str("c64 --> B");
    assert!(
        refused(&body.replacen("A --> c0\n", "", 1).replace("c64 --> B", "c64 --> B\nA --> c0"))
            .contains("too many")
    );
}

/// 100 states go to a choice, and each way out of it is a transition of each of them.
#[test]
fn a_diagram_has_some_300_000_steps_and_no_more() {
    let body = |ways: usize| {
        let to: String = (0..100).map(|at| format!("A{at} --> c\n")).collect();
        let out: String = (0..ways).map(|at| format!("c --> B{at} : x\n")).collect();
        format!("state c <<choice>>\n{to}{out}")
    };
    assert_eq!(graph(&body(758)).edges.len(), 75_800);
    assert!(refused(&body(759)).contains("too many transitions"));
}

#[test]
fn a_graph_is_rendered_for_people_and_programs() {
    let graph = graph("[*] --> A\nA --> B : say #quot;hi#quot;\nB : a text\nB --> [*]");
    super::snapshot("render", &format!("{}\n{}", graph.to_mermaid(), graph.to_dot()));
}
