//! Any trace against any diagram.
use proptest::prelude::*;
use runstate::diagram::{Document, GraphEdge, GraphState, Mark, StateGraph, parse};
use runstate::kernel::Persist;
use runstate::trace::{Event, Report, Rulebook, Rules, Verdict, ViolationKind, check, to_mermaid};

use super::parcel::AnyParcel;
use super::{event, journey};

fn rules(source: &str) -> Rules {
    let graph = StateGraph::from_diagram(&parse(source).unwrap(), "parcel").unwrap();
    Rules::of_diagram("parcel", &graph, "parcel.mmd")
}

fn held(events: &[Event<'_>], source: &str) -> Report {
    check(events, &Rulebook::for_all(rules(source)))
}

fn kind(report: Report) -> ViolationKind {
    report.violation.expect("a violation").kind
}

const DRAWN: &str = include_str!("parcel.md");

fn document() -> StateGraph {
    let diagram = Document::read("tests/trace/parcel.md", DRAWN).diagram(None).unwrap();
    StateGraph::from_diagram(&diagram, "parcel").unwrap()
}

#[test]
fn a_diagram_gives_the_rules_of_the_graph_that_it_documents() {
    let drawn = Rules::of_diagram("parcel", &document(), "tests/trace/parcel.md");
    assert!(drawn.checks_events());
    let book = Rulebook::new().with(drawn);
    let (drawn, declared) = (check(&journey(), &book), check(&journey(), &super::book()));
    assert_eq!(drawn.verdict, declared.verdict);
    let edges = |report: &Report| report.coverage.lifecycle("parcel").unwrap().edges.clone();
    assert_eq!(edges(&drawn), edges(&declared));
}

#[test]
fn violations_point_into_the_diagram() {
    let rules =
        Rules::of_graph(<AnyParcel as Persist>::GRAPH).documented(&document(), "tests/trace/parcel.md");
    let events =
        [event(1, "a", "create", None, "Packed"), event(2, "a", "bounce", Some("Packed"), "Returned")];
    let from_graph = check(&events, &Rulebook::new().with(rules)).violation.unwrap();
    insta::assert_snapshot!(from_graph, @"
    line 2: parcel a of run r: no edge leads from Packed to Returned
      got    Packed --> Returned : bounce
      legal  Packed --> Sent : send  (tests/trace/parcel.md:6)
      see    tests/trace/parcel.md:5
    ");
    let drawn = Rules::of_diagram("parcel", &document(), "tests/trace/parcel.md");
    assert_eq!(check(&events, &Rulebook::new().with(drawn)).violation.unwrap(), from_graph);
}

#[test]
fn labels_that_are_event_names_count() {
    let source = "stateDiagram-v2\n[*] --> A\nA --> B : go\nA --> C : time-out\nB --> C\nC --> [*]";
    assert!(rules(source).checks_events());
    let created = event(1, "a", "create", None, "A");
    let to = |name: &str, from: &str, to: &str| event(2, "a", name, Some(from), to);
    assert_eq!(held(&[created.clone(), to("go", "A", "B")], source).violations, 0);
    assert_eq!(kind(held(&[created.clone(), to("stop", "A", "B")], source)), ViolationKind::WrongEvent);
    // An edge without a label takes any event.
    let mut last = to("whatever", "B", "C");
    last.seq = 3;
    assert_eq!(held(&[created, to("go", "A", "B"), last], source).verdict, Verdict::Conforms);
}

#[test]
fn labels_that_are_remarks_do_not_count() {
    for source in [
        "stateDiagram-v2\n[*] --> A\nA --> B : when it is ready\nB --> [*]",
        "stateDiagram-v2\n[*] --> A\nA --> B : go\nA --> B : on a timer\nB --> [*]",
        "stateDiagram-v2\n[*] --> A\nA --> B\nB --> [*]",
    ] {
        assert!(!rules(source).checks_events(), "{source}");
        let events = [event(1, "a", "born", None, "A"), event(2, "a", "anything", Some("A"), "B")];
        let report = held(&events, source);
        assert_eq!(report.verdict, Verdict::Conforms, "{report}");
        assert_eq!(report.coverage.percent(), 100.0, "edges between the same states are one");
    }
}

#[test]
fn the_caller_may_let_event_names_pass() {
    let source = "stateDiagram-v2\n[*] --> A\nA --> B : go\nB --> [*]";
    let events = [event(1, "a", "create", None, "A"), event(2, "a", "went", Some("A"), "B")];
    assert_eq!(kind(held(&events, source)), ViolationKind::WrongEvent);
    let book = Rulebook::for_all(rules(source).by_states_alone());
    assert_eq!(check(&events, &book).verdict, Verdict::Conforms);
}

#[test]
fn a_diagram_without_marks_lets_instances_begin_and_stop_anywhere() {
    let source = "stateDiagram-v2\nA --> B\nB --> A";
    let events = [event(1, "a", "create", None, "B"), event(2, "a", "back", Some("B"), "A")];
    assert_eq!(held(&events, source).verdict, Verdict::Conforms);
    let marked = "stateDiagram-v2\n[*] --> A\nA --> B\nB --> A";
    assert_eq!(kind(held(&events, marked)), ViolationKind::NotInitial);
}

#[test]
fn an_end_that_has_a_way_out_may_be_left() {
    let source = "stateDiagram-v2\n[*] --> A\nA --> B\nB --> A\nB --> [*]";
    let events = [
        event(1, "a", "create", None, "A"),
        event(2, "a", "x", Some("A"), "B"),
        event(3, "a", "y", Some("B"), "A"),
    ];
    assert_eq!(held(&events[..2], source).verdict, Verdict::Conforms);
    assert_eq!(held(&events, source).verdict, Verdict::Incomplete);
}

#[test]
fn one_diagram_for_all_events_whatever_lifecycle_they_name() {
    let mut events = journey();
    for event in &mut events {
        event.lifecycle = "box".into();
    }
    assert_eq!(
        held(&events, DRAWN.split("```mermaid").nth(1).unwrap().split("```").next().unwrap()).violations,
        0
    );
}

#[test]
fn every_built_in_lifecycle_is_documented_line_by_line() {
    for document in runstate::documents() {
        let diagram = Document::read(document.path, document.text).diagram(None).unwrap();
        let drawn = StateGraph::from_diagram(&diagram, document.graph.name).unwrap();
        let rules = Rules::of_graph(document.graph).documented(&drawn, document.path);
        for edge in rules.edges() {
            let line = document.text.lines().nth(edge.line.unwrap() as usize - 1).unwrap();
            assert!(line.contains(edge.from) && line.contains(edge.to), "{}: {edge}: {line}", document.path);
        }
    }
}

#[test]
fn a_state_without_a_name_is_drawn() {
    let source = "stateDiagram-v2\n[*] --> A\nA --> [*]";
    let diagram = to_mermaid(&rules(source), Some(&held(&[event(1, "a", "create", None, "")], source)));
    assert!(diagram.contains("state \"_\" as illegal_1"), "{diagram}");
    assert_eq!(parse(&diagram).unwrap().states.len(), 2);
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[A-Za-z_]{1,6}",
        2 => prop::sample::select(vec!["state", "end", "direction LR", "note", "state_0", "illegal_1", "a b", "x;y", "root"])
            .prop_map(str::to_owned),
        1 => ".{0,8}",
    ]
}

proptest! {
    /// The drawing is read by our own parser, which agrees with Mermaid.
    #[test]
    fn whatever_the_names_the_drawing_is_a_diagram_of_as_many_states_and_edges(
        names in prop::collection::btree_set(name(), 1..6),
        edges in prop::collection::vec((any::<prop::sample::Index>(), prop::option::of(name()), any::<prop::sample::Index>()), 0..8),
        walk in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        stranger in prop::option::of(name()),
    ) {
        let names: Vec<String> = names.into_iter().collect();
        let mark = |state: &String| Mark { state: state.clone(), line: None };
        let graph = StateGraph {
            states: names.iter().map(|name| GraphState { name: name.clone(), ..GraphState::default() }).collect(),
            edges: edges
                .iter()
                .map(|(from, label, to)| GraphEdge {
                    from: from.get(&names).clone(),
                    to: to.get(&names).clone(),
                    label: label.clone(),
                    line: None,
                })
                .collect(),
            initial: vec![mark(&names[0])],
            terminal: names.last().map(mark).into_iter().collect(),
            ..StateGraph::default()
        };
        let rules = Rules::of_diagram("job", &graph, "job.mmd");
        let mut events = vec![event(1, "a", "create", None, &names[0])];
        for (seq, way) in (2..).zip(&walk) {
            let from = events.last().unwrap().to.to_string();
            let out: Vec<_> = graph.edges.iter().filter(|edge| edge.from == from).collect();
            if let Some(edge) = (!out.is_empty()).then(|| way.get(&out)) {
                events.push(event(seq, "a", edge.label.as_deref().unwrap_or("x"), Some(&from), &edge.to));
            }
        }
        if let Some(stranger) = &stranger {
            events.push(event(99, "a", "x", Some(&events.last().unwrap().to), stranger));
        }
        let edges = rules.edges().count();
        let report = check(&events, &Rulebook::for_all(rules.clone()));
        let diagram = to_mermaid(&rules, Some(&report));
        let read = parse(&diagram).map_err(|error| TestCaseError::fail(format!("{error}\n{diagram}")))?;
        let extra = report.violation.as_ref().map_or(0, |_| 1);
        let unknown = report
            .violation
            .as_ref()
            .map_or(0, |violation| usize::from(!names.contains(&violation.to)));
        prop_assert_eq!(read.states.len(), names.len() + unknown, "{}", diagram);
        // Those of the rules, one to begin, one to end, and that of the violation.
        prop_assert_eq!(read.transitions.len(), edges + 2 + extra, "{}", diagram);
        prop_assert!(read.warnings.is_empty(), "{:?}\n{}", read.warnings, diagram);
    }
}
