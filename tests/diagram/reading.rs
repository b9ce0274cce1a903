//! What the parser makes of each construct.

use runstate::diagram::{Direction, Endpoint, NoteSide, ScopeId, StateKind, parse};

fn read(body: &str) -> runstate::diagram::Diagram {
    parse(&format!("stateDiagram-v2\n{body}\n")).unwrap_or_else(|error| panic!("{body}: {error}"))
}

fn ids(diagram: &runstate::diagram::Diagram) -> Vec<&str> {
    diagram.states.iter().map(|state| state.id.as_str()).collect()
}

#[test]
fn transitions_keep_source_order_labels_and_places() {
    let source = "stateDiagram-v2\n  [*] --> A\n  A --> B : go: now\n  B --> [*]\n";
    let diagram = parse(source).unwrap();
    assert_eq!(ids(&diagram), ["A", "B"]);
    let edge = &diagram.transitions[1];
    assert_eq!(edge.label.as_ref().unwrap().text, "go: now");
    assert_eq!(edge.span.of(source), Some("A --> B : go: now"));
    assert_eq!(edge.to_span.of(source), Some("B"));
    assert_eq!(diagram.transitions[0].from, Endpoint::Start(ScopeId::ROOT));
    assert_eq!(diagram.transitions[2].to, Endpoint::End(ScopeId::ROOT));
}

#[test]
fn spans_survive_crlf_comments_directives_and_front_matter() {
    let source = "---\r\ntitle: Runs\r\n---\r\n%%{init: {\"theme\": \"dark\"}}%%\r\n%% a remark\r\nstateDiagram-v2\r\n\
                  A --> B: é\r\n%% another\r\nB --> C: last %% here\r\n";
    let diagram = parse(source).unwrap();
    assert_eq!(diagram.title.as_ref().unwrap().text, "Runs");
    assert_eq!(diagram.title.as_ref().unwrap().span.of(source), Some("Runs"));
    assert_eq!(diagram.directives[0].span.of(source), Some("%%{init: {\"theme\": \"dark\"}}%%"));
    assert_eq!(diagram.comments.len(), 2);
    assert_eq!(diagram.transitions[0].label.as_ref().unwrap().span.of(source), Some("é"));
    assert_eq!(diagram.transitions[1].span.of(source), Some("B --> C: last %% here"));
    assert_eq!(diagram.header.1.of(source), Some("stateDiagram-v2"));
}

#[test]
fn composite_states_have_regions_and_directions() {
    let diagram =
        read("state \"Busy now\" as Busy {\n direction LR\n [*] --> A\n --\n B --> [*]\n}\nBusy --> Idle");
    let busy = diagram.state("Busy").unwrap();
    assert_eq!(busy.kind, StateKind::Composite);
    assert_eq!(busy.descriptions[0].text, "Busy now");
    assert_eq!(busy.regions.len(), 2);
    assert_eq!(diagram[busy.regions[0]].direction.unwrap().0, Direction::LeftToRight);
    assert_eq!(diagram.state("B").unwrap().scope, busy.regions[1]);
    assert_eq!(diagram.transitions[0].from, Endpoint::Start(busy.regions[0]));
}

#[test]
fn pseudo_states_notes_and_the_rest_are_read() {
    let diagram = read(
        "state c <<choice>>\nstate f <<fork>>\nstate j [[join]]\nA : first\nA : second\nnote left of A : short\n\
         note right of c\n  long\n  text\nend note\nclassDef hot fill:#f96;\nclass A,c hot\nstyle A fill:#fff\n\
         scale 350 width\nhide empty description\naccTitle: T\naccDescr {\n D\n}\nclick A href \"u\"\nB:::hot --> A",
    );
    let kinds: Vec<StateKind> = diagram.states.iter().map(|state| state.kind).collect();
    use StateKind::{Choice, Fork, Join, Simple};
    assert_eq!(kinds, [Choice, Fork, Join, Simple, Simple]);
    assert_eq!(diagram.state("A").unwrap().descriptions.len(), 2);
    assert_eq!(diagram.notes[0].side, Some(NoteSide::Left));
    assert_eq!(diagram.notes[1].text.text, "long\n  text");
    assert_eq!(diagram.class_defs[0].value.text, "fill:#f96");
    assert_eq!(diagram.class_rules[0].names.len(), 2);
    assert_eq!(diagram.state("c").unwrap().classes[0].text, "hot");
    assert_eq!(diagram.state("B").unwrap().classes[0].text, "hot");
    assert_eq!(diagram.scale.as_ref().unwrap().text, "350");
    assert!(diagram.hide_empty_description.is_some());
    assert_eq!(diagram.acc_title.as_ref().unwrap().text, "T");
    assert_eq!(diagram.acc_description.as_ref().unwrap().text, "D");
    assert_eq!(diagram.clicks[0].url.text, "u");
    assert_eq!(diagram.warnings, []);
}
