//! Graphs as JSON, and JSON that is none.

use runstate::diagram::{StateGraph, parse};

#[test]
fn a_graph_survives_json() {
    let source = "stateDiagram-v2\n[*] --> A\nA --> B : go\nA --> B extra\nB : text\nB --> [*]";
    let graph = StateGraph::from_diagram(&parse(source).unwrap(), "job").unwrap();
    let text = serde_json::to_string_pretty(&graph.to_json()).unwrap();
    super::snapshot("json", &text);
    let again = StateGraph::from_json(&text).unwrap();
    assert_eq!(again.bare(), graph.bare());
    assert_eq!((again.edges, again.states, again.warnings), (graph.edges, graph.states, graph.warnings));
}

#[test]
fn wrong_json_is_refused_with_its_place() {
    let wrong = [
        "",
        "[]",
        "{\"name\": \"x\", \"states\": [}",
        r#"{"states": []}"#,
        r#"{"name": 1}"#,
        r#"{"name": "x", "states": {}}"#,
        r#"{"name": "x", "states": [1], "edges": []}"#,
        r#"{"name": "x", "states": [""], "edges": []}"#,
        r#"{"name": "x", "states": ["A", {"name": "A"}], "edges": []}"#,
        r#"{"name": "x", "states": [{"name": "A", "line": -1}], "edges": []}"#,
        r#"{"name": "x", "states": ["A"], "edges": [{"from": "A"}]}"#,
        r#"{"name": "x", "states": ["A"], "edges": [{"from": "A", "to": "A", "label": 1}]}"#,
        r#"{"name": "x", "states": ["A"], "edges": [], "initial": ["B"]}"#,
        r#"{"name": "x", "states": ["A"], "edges": [], "terminal": [null]}"#,
        r#"{"name": "x", "states": ["A"], "edges": [], "warnings": [7]}"#,
    ];
    let errors = wrong.map(|text| StateGraph::from_json(text).unwrap_err().to_string());
    super::snapshot("json_errors", &errors.join("\n"));
}
