//! Any trace against any diagram.
use proptest::prelude::*;
use runstate::diagram::{Document, Drawn, GraphEdge, GraphState, Mark, StateGraph, parse};
use runstate::kernel::Stateful;
use runstate::trace::{
    Event, Report, Rulebook, Rules, Verdict, ViolationKind, check, mark_mermaid, to_mermaid,
};

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
    assert!(drawn.edges().all(|edge| edge.held));
    let book = Rulebook::new().with(drawn);
    let (drawn, declared) = (check(&journey(), &book), check(&journey(), &super::book()));
    assert_eq!(drawn.verdict, declared.verdict);
    let edges = |report: &Report| report.coverage.lifecycle("parcel").unwrap().edges.clone();
    assert_eq!(edges(&drawn), edges(&declared));
}

#[test]
fn violations_point_into_the_diagram() {
    let rules =
        Rules::of_graph(<AnyParcel as Stateful>::GRAPH).documented(&document(), "tests/trace/parcel.md");
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
    assert_eq!(rules(source).edges().map(|edge| edge.held).collect::<Vec<_>>(), [true, true, false]);
    let created = event(1, "a", "create", None, "A");
    let to = |name: &str, from: &str, to: &str| event(2, "a", name, Some(from), to);
    assert_eq!(held(&[created.clone(), to("go", "A", "B")], source).violations, 0);
    assert_eq!(
        kind(held(&[created.clone(), to("stop", "A", "B")], source)),
        ViolationKind::WrongEvent { closest: None }
    );
    // An edge without a label takes any event.
    let mut last = to("whatever", "B", "C");
    last.seq = 3;
    assert_eq!(held(&[created, to("go", "A", "B"), last], source).verdict, Verdict::Conforms);
}

#[test]
fn the_name_of_an_event_is_taken_out_of_its_label() {
    for (label, event) in [
        ("go", Some("go")),
        ("go()", Some("go")),
        ("go(a, f(b)) [is(c) && d[0]] / log(e)", Some("go")),
        ("go[ready]", Some("go")),
        ("go / log", Some("go")),
        ("order.paid", Some("order.paid")),
        ("user:click-2", Some("user:click-2")),
        ("überweisen", Some("überweisen")),
        ("go on", None),
        ("go (", None),
        ("go [ready", None),
        ("[ready]", None),
        ("/ log", None),
        ("2 days later", None),
        ("go, then stop", None),
        ("go(a) later", None),
    ] {
        let source = format!("stateDiagram-v2\n[*] --> A\nA --> B : {label}\nB --> [*]");
        assert_eq!(rules(&source).edges().next().unwrap().held, event.is_some(), "{label}");
        let created = event_of(1, "create", None, "A");
        let taken = |name: &str| held(&[created.clone(), event_of(2, name, Some("A"), "B")], &source);
        assert_eq!(taken(event.unwrap_or("anything")).violations, 0, "{label}");
        assert_eq!(taken("teleport").violations, u64::from(event.is_some()), "{label}");
    }
}

/// A way through a choice has the name of its first label, whatever its guard is.
#[test]
fn an_odd_bracket_of_a_guard_hides_no_name() {
    for guard in ["a ] b", "a [ b", "]a[", "[a] ]", "a [b]"] {
        let source = format!(
            "stateDiagram-v2\nstate c <<choice>>\n[*] --> A\nA --> c : check\nc --> B : {guard}\nB --> [*]"
        );
        let events = |name| [event_of(1, "create", None, "A"), event_of(2, name, Some("A"), "B")];
        assert_eq!(held(&events("check"), &source).violations, 0, "{guard}");
        assert_eq!(held(&events("teleport"), &source).violations, 1, "{guard}");
    }
}

/// The closest name is said where a slip is likely, and nothing where none is.
#[test]
fn a_slip_has_the_name_that_was_meant() {
    let source = "stateDiagram-v2\n[*] --> Cart : open\nCart --> Paid : pay\nCart --> Paid : credit\nPaid --> Lost : lose\nLost --> [*]";
    let reason = |event: Event<'_>| {
        let created = event_of(1, "create", None, "Cart");
        let events = if event.is_creation() { vec![event] } else { vec![created, event] };
        held(&events, source).violation.map(|violation| violation.reason()).unwrap_or_default()
    };
    for (event, told) in [
        (event_of(2, "pya", Some("Cart"), "Paid"), "did you mean pay?"),
        (event_of(2, "opne", None, "Cart"), "did you mean open?"),
        (event_of(2, "craete", None, "Cart"), "did you mean create?"),
        (event_of(2, "pay", Some("Cart"), "Piad"), "did you mean Paid?"),
        (
            event_of(2, "pay", Some("Cart"), "[*]"),
            "has no state [*]: a creation has null for `from`, and an instance ends",
        ),
    ] {
        let told_of = reason(event.clone());
        assert!(told_of.contains(told), "{event}: {told_of}");
    }
    for event in
        [event_of(2, "teleport", Some("Cart"), "Paid"), event_of(2, &"pay".repeat(99), Some("Cart"), "Paid")]
    {
        assert!(!reason(event.clone()).contains("did you mean"), "{}", reason(event));
    }
    let mut stray = event_of(1, "create", None, "Packed");
    stray.lifecycle = "parcle".into();
    let violation = check(&[stray], &super::book()).violation.unwrap();
    assert_eq!(violation.reason(), "there are no rules for a lifecycle parcle; did you mean parcel?");
}

fn event_of(seq: u64, name: &str, from: Option<&str>, to: &str) -> Event<'static> {
    event(seq, "a", name, from, to).into_owned()
}

#[test]
fn each_edge_is_held_by_itself() {
    // One remark does not let another edge take any event.
    let source =
        "stateDiagram-v2\n[*] --> A\nA --> B : ship\nA --> C : when it is lost\nB --> [*]\nC --> [*]";
    let created = event_of(1, "create", None, "A");
    let to = |name: &str, to: &str| held(&[created.clone(), event_of(2, name, Some("A"), to)], source);
    assert_eq!(to("ship", "B").verdict, Verdict::Conforms);
    assert_eq!(kind(to("teleport", "B")), ViolationKind::WrongEvent { closest: None });
    assert_eq!(to("teleport", "C").verdict, Verdict::Conforms);
}

#[test]
fn parallel_edges_are_counted_apart() {
    let source = "stateDiagram-v2\n[*] --> A\nA --> B : go\nA --> B : on a timer\nA --> B : user answers\nB --> A : back";
    let taken = |names: &[&str]| {
        let mut events = vec![event_of(1, "create", None, "A")];
        for (seq, name) in (1..).zip(names) {
            events.push(event_of(2 * seq, name, Some("A"), "B"));
            events.push(event_of(2 * seq + 1, "back", Some("B"), "A"));
        }
        let report = held(&events, source);
        assert_eq!(report.violations, 0, "{report}");
        let edges = report.coverage.lifecycle("parcel").unwrap().edges.clone();
        edges.iter().take(3).map(|edge| edge.taken).collect::<Vec<_>>()
    };
    assert_eq!(taken(&["go"]), [1, 0, 0]);
    assert_eq!(taken(&["user answers", "go"]), [1, 0, 1]);
    // An event of no edge's name is one of the edges that any event takes.
    assert_eq!(taken(&["whatever", "on a timer"]), [0, 2, 0]);
}

#[test]
fn guards_do_not_make_two_edges_of_one_event() {
    let source = "stateDiagram-v2\n[*] --> A\nA --> B : go [fast]\nA --> B : go [slow]\nB --> [*]";
    assert_eq!(rules(source).edges().count(), 1);
}

#[test]
fn each_creation_is_held_by_itself() {
    let born = [event_of(1, "born", None, "A")];
    // One remark, on another transition or on another start, lets no other event create.
    for source in [
        "[*] --> A\nA --> B : go",
        "[*] --> A\nA --> B : go\nB --> C : when it is lost",
        "[*] --> A : open\nA --> B : when it is lost",
        "[*] --> A : open\n[*] --> B : on a call",
        "[*] --> A : open\n[*] --> A",
        "[*] --> A : open",
        "A --> B : go",
    ] {
        let source = format!("stateDiagram-v2\n{source}\nB --> [*]");
        assert_eq!(kind(held(&born, &source)), ViolationKind::WrongEvent { closest: None }, "{source}");
        assert_eq!(held(&[event_of(1, "create", None, "A")], &source).violations, 0, "{source}");
    }
    // A remark at the start takes any event; so does a start without a label, where no label is a name.
    for source in [
        "[*] --> A : on a call\nA --> B : go",
        "[*] --> A : open\n[*] --> A : on a call",
        "[*] --> A\nA --> B : go on",
        "[*] --> A\nA --> B",
    ] {
        let source = format!("stateDiagram-v2\n{source}\nB --> [*]");
        assert_eq!(held(&born, &source).violations, 0, "{source}");
    }
}

#[test]
fn a_label_at_the_start_names_the_event_of_the_creation() {
    let source =
        |start: &str| format!("stateDiagram-v2\n[*] --> A : {start}\n[*] --> B\nA --> B : go\nB --> [*]");
    let created = |start: &str, by: &'static str, to: &'static str| {
        held(&[event(1, "a", by, None, to)], &source(start))
    };
    for (start, by, to) in [
        ("open", "open", "A"),
        ("open(order) / log", "open", "A"),
        ("open", "create", "A"),
        ("on a call", "rung", "A"),
        ("open", "create", "B"),
    ] {
        assert_eq!(created(start, by, to).violations, 0, "{start}: {by} {to}");
    }
    for (start, by, to) in [("open", "shut", "A"), ("open", "open", "B"), ("on a call", "rung", "B")] {
        let violation = created(start, by, to).violation.unwrap();
        assert_eq!(violation.kind, ViolationKind::WrongEvent { closest: None }, "{start}: {by} {to}");
        let legal: Vec<&str> = violation.legal.iter().map(|legal| &*legal.what).collect();
        assert_eq!(legal, [&*format!("[*] --> A : {start}"), "[*] --> B : create"]);
    }
    // As JSON, and as Mermaid, it is the same.
    let graph = StateGraph::from_diagram(&parse(&source("open")).unwrap(), "parcel").unwrap();
    let read = StateGraph::from_json(&graph.to_json().to_string()).unwrap();
    assert_eq!(read.bare(), graph.bare());
    let drawn = StateGraph::from_diagram(&parse(&graph.to_mermaid()).unwrap(), "parcel").unwrap();
    assert_eq!(drawn.bare(), graph.bare());
}

/// Some words have a slash.
#[test]
fn an_action_stands_behind_a_space() {
    let held: Vec<bool> = ["I/O error", "N/A", "w/o stock", "go /log", "go [x]/log", "go / log"]
        .map(|label| rules(&format!("stateDiagram-v2\nA --> B : {label}")).edges().next().unwrap().held)
        .to_vec();
    assert_eq!(held, [false, false, false, true, true, true]);
}

/// The fields of a graph are open.
#[test]
fn a_drawing_of_another_graph_is_left_out() {
    let source = "stateDiagram-v2\n[*] --> A\nA --> C : go\nstate C {\n[*] --> B\n}";
    let graph = StateGraph::from_diagram(&parse(source).unwrap(), "parcel").unwrap();
    let drawn = graph.drawn.clone().unwrap();
    let events = [event(1, "a", "create", None, "A"), event(2, "a", "go", Some("A"), "B")];
    let edits: [fn(&mut Drawn); 6] = [
        |drawn| drawn.edges[0] = vec![7],
        |drawn| drawn.edges.clear(),
        |drawn| drawn.states[0] = Some(7),
        |drawn| drawn.states.clear(),
        |drawn| drawn.composites[0].inside = Some(0),
        |drawn| drawn.composites[0].inside = Some(7),
    ];
    for edit in edits {
        let mut drawn = drawn.clone();
        edit(&mut drawn);
        let rules = Rules::of_diagram("parcel", &StateGraph { drawn: Some(drawn), ..graph.clone() }, "x.mmd");
        let report = check(&events, &Rulebook::for_all(rules));
        assert_eq!(report.violations, 0);
        assert_eq!(
            report.coverage.lifecycle("parcel").unwrap().edges[0].to,
            "B",
            "without the composite state"
        );
    }
}

#[test]
fn a_source_that_ends_inside_of_a_statement_is_drawn_anew() {
    let events = [event(1, "a", "create", None, "A")];
    for end in ["accTitle:", "accDescr:", "accDescr {", "%%{init:"] {
        let source = format!("stateDiagram-v2\n[*] --> A\nA --> B : go\n{end}");
        let Ok(diagram) = parse(&source) else { continue };
        let graph = StateGraph::from_diagram(&diagram, "parcel").unwrap();
        let rules = Rules::of_diagram("parcel", &graph, "x.mmd");
        let report = check(&events, &Rulebook::for_all(rules.clone()));
        let marked = parse(&mark_mermaid(&source, &diagram, &rules, &report)).unwrap();
        assert_eq!(marked.class_defs.len(), 3, "{end}");
        assert_ne!(marked.states[0].classes.len(), 0, "{end}");
    }
}

#[test]
fn diagram_without_marks_allows_any_start_and_end_state() {
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
fn instances_of_two_lifecycles_may_have_one_name() {
    let source = "stateDiagram-v2\n[*] --> A\nA --> B : go\nB --> [*]";
    let mut events = vec![event_of(1, "create", None, "A"), event_of(2, "create", None, "A")];
    events[1].lifecycle = "box".into();
    let report = held(&events, source);
    assert_eq!((report.violations, report.instances, report.unfinished_instances), (0, 2, 2), "{report}");
    let names: Vec<_> = report.unfinished.iter().map(|it| &*it.lifecycle).collect();
    assert_eq!(names, [&*events[0].lifecycle, "box"]);
}

#[test]
fn the_first_violation_of_each_instance_is_listed() {
    let wrong = |seq, instance: &'static str| event(seq, instance, "teleport", Some("Packed"), "Delivered");
    let created = |seq, instance: &'static str| event(seq, instance, "create", None, "Packed");
    let events =
        [created(1, "a"), created(2, "b"), wrong(3, "a"), wrong(4, "a"), wrong(5, "b"), wrong(6, "c")];
    let book = super::book();
    let listed = |most| {
        let mut checker = runstate::trace::Checker::new(&book).most_violations(most);
        (1..).zip(&events).for_each(|(line, event)| checker.event(line, event));
        let report = checker.finish();
        assert_eq!(report.violations, 4);
        let all = report.violation.iter().chain(&report.others);
        (all.map(|it| it.line).collect::<Vec<_>>(), report.summary().contains("more violation"))
    };
    // The second one of `a` follows from its first.
    assert_eq!(listed(10), (vec![3, 5, 6], true));
    assert_eq!(listed(2), (vec![3, 5], true));
    assert_eq!(listed(0), (vec![3], true));
}

#[test]
fn time_that_runs_backwards_is_noted() {
    let mut events = journey();
    assert_eq!(check(&events, &super::book()).backwards, None);
    events.iter_mut().for_each(|event| event.at_ms = 100 + event.seq);
    events[1].at_ms = 7;
    let report = check(&events, &super::book());
    assert_eq!(report.violations, 0, "{report}");
    assert!(report.summary().contains("note: time runs backwards on line 2: 7 ms after 101 ms"), "{report}");
    // Another run has a time of its own.
    events[1].run = "another".into();
    events[1].instance = "z".into();
    assert_eq!(check(&events[..2], &super::book()).backwards, None);
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
    fn any_names_draw_a_diagram_with_all_states_and_edges(
        names in prop::collection::btree_set(name(), 1..6),
        edges in prop::collection::vec((any::<prop::sample::Index>(), prop::option::of(name()), any::<prop::sample::Index>()), 0..8),
        walk in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        stranger in prop::option::of(name()),
    ) {
        let names: Vec<String> = names.into_iter().collect();
        let mark = |state: &String| Mark { state: state.clone(), ..Mark::default() };
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

#[test]
fn an_authors_diagram_is_marked_and_stays_the_same_diagram() {
    let source = "%%{init: {}}%%\nstateDiagram-v2\n[*] --> A\nA --> c : go\nstate c <<choice>>\nc --> état.2 : [ok]\nc --> A\n\
                  état.2 --> in_p : on\nstate \"in-progress\" as in_p\nstate P {\n[*] --> Q\n}\nin_p --> P\nclassDef hot fill:#f96\n\
                  note left of A : text\naccDescr: done";
    let diagram = parse(source).unwrap();
    let graph = StateGraph::from_diagram(&diagram, "x").unwrap();
    let book = Rulebook::for_all(Rules::of_diagram("x", &graph, "x.mmd"));
    let events = [
        event(1, "a", "create", None, "A"),
        event(2, "a", "go", Some("A"), "état.2"),
        event(3, "a", "on", Some("état.2"), "in_p"),
        event(4, "a", "x", Some("in_p"), "Nowhere\n```"),
    ];
    let marked = mark_mermaid(source, &diagram, book.rules("x").unwrap(), &check(&events, &book));
    let again = parse(&marked).unwrap();
    let same = |graph: StateGraph| graph.bare();
    let mut with_stranger = StateGraph::from_diagram(&again, "x").unwrap();
    assert_eq!(with_stranger.states.pop().unwrap().name, "trace_stranger_2");
    assert_eq!(same(with_stranger), same(graph));
    let classes: Vec<_> = again
        .states
        .iter()
        .flat_map(|state| state.classes.iter().map(move |class| (state.id.as_str(), class.text.as_str())))
        .collect();
    let expected = [
        ("A", "trace_visited"),
        ("état.2", "trace_visited"),
        ("in_p", "trace_visited"),
        ("in_p", "trace_illegal"),
        ("trace_stranger_2", "trace_illegal"),
    ];
    assert_eq!(classes, expected);
}
