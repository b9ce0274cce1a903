//! What holds for any text and any graph.

use proptest::prelude::*;
use runstate::diagram::{Document, GraphEdge, GraphState, Mark, StateGraph, diff, parse};

const PIECES: [&str; 40] = [
    "stateDiagram-v2\n",
    "state ",
    "\"",
    " as ",
    "{",
    "}",
    "\n",
    " ",
    "A",
    "B:",
    ":",
    ":::",
    "-->",
    "--",
    "[*]",
    ";",
    "%%",
    "%%{",
    "}%%",
    "note left of ",
    "note \"",
    "end note",
    "direction LR",
    "<<choice>>",
    "classDef ",
    "class ",
    "style ",
    "click ",
    "href ",
    "scale ",
    "1",
    " width",
    "accDescr {",
    "accTitle:",
    "#35;",
    "#",
    "---\n",
    "\r\n",
    "é",
    "```mermaid\n",
];

fn pieces() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40).prop_map(|pieces| pieces.concat())
}

/// Text that is hostile to the syntax, never empty.
fn text() -> impl Strategy<Value = String> {
    let any = prop::collection::vec(any::<char>(), 1..8).prop_map(String::from_iter);
    let word = prop::sample::select(vec![
        "state",
        "note",
        "click",
        "Default",
        "class",
        "style",
        "scale",
        "href",
        "direction",
        "Direction LR",
        "a-b",
        "[*]",
        "x;y",
        "a::b",
        "end note",
        "--",
        "-->",
        "<<choice>>",
        "%% x",
        "#35;",
        "#x;",
        "{",
        "}",
        "\n",
        "two words",
        " x ",
        "root",
        "a\n\nb",
        "stateDiagram-v2",
        "accTitle: x",
        "hide empty description",
        "\"q\"",
        "<b a=\"c\">",
        "é",
        "\u{2028}",
        "as",
        "A\rB",
    ]);
    prop_oneof![any, word.prop_map(str::to_owned), "[A-Za-z][A-Za-z_]{0,6}"]
}

prop_compose! {
    fn graph()(names in prop::collection::btree_set(text(), 1..8), name in text())
        (
            edges in prop::collection::vec((0..names.len(), 0..names.len(), prop::option::of(text())), 0..12),
            descriptions in prop::collection::vec(prop::option::of(text()), names.len()),
            initial in prop::collection::btree_set(0..names.len(), 0..3),
            terminal in prop::collection::btree_set(0..names.len(), 0..3),
            names in Just(Vec::from_iter(names)).prop_shuffle(),
            name in Just(name),
        )
    -> StateGraph {
        let of = |at: usize| names[at].clone();
        let mark = |at: usize| Mark { state: of(at), ..Mark::default() };
        StateGraph {
            states: names.iter().zip(descriptions).map(|(name, description)| {
                GraphState { name: name.clone(), description, line: None }
            }).collect(),
            edges: edges.into_iter().map(|(from, to, label)| {
                GraphEdge { from: of(from), to: of(to), label, line: None }
            }).collect(),
            initial: initial.into_iter().map(mark).collect(),
            terminal: terminal.into_iter().map(mark).collect(),
            warnings: Vec::new(),
            drawn: None,
            name,
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_give_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let source = String::from_utf8_lossy(&bytes);
        drop(parse(&source));
        drop(parse(&format!("stateDiagram-v2\n{source}")));
        drop(Document::from_bytes("x.md", bytes));
    }

    #[test]
    fn any_words_give_an_answer_with_places_in_the_source(body in pieces()) {
        let source = format!("stateDiagram-v2\n{body}");
        match parse(&source) {
            Ok(diagram) => {
                for warning in &diagram.warnings {
                    prop_assert!(warning.span().of(&source).is_some());
                }
                for transition in &diagram.transitions {
                    prop_assert!(transition.span.of(&source).is_some_and(|text| text.contains("-->")));
                }
            }
            Err(error) => prop_assert!(error.span().of(&source).is_some()),
        }
        let document = Document::read("x.md", body);
        for block in document.blocks() {
            drop(document.parse(block));
        }
    }

    #[test]
    fn a_graph_reads_back_from_its_diagram_and_from_its_json(graph in graph()) {
        let text = graph.to_mermaid();
        let diagram = parse(&text).map_err(|error| TestCaseError::fail(error.render("rendered", &text)))?;
        let again = StateGraph::from_diagram(&diagram, "").unwrap();
        prop_assert_eq!(&again.bare(), &graph, "{}", text);
        prop_assert!(diagram.warnings.is_empty(), "{:?}", diagram.warnings);
        prop_assert_eq!(diff(&graph, &again), []);
        let json = graph.to_json().to_string();
        prop_assert_eq!(&StateGraph::from_json(&json).unwrap(), &graph);
    }
}
