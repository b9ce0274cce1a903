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
fn drawn_arrows_and_composites_survive_json() {
    let source = "stateDiagram-v2\n[*] --> A\nA --> c : go\nstate c <<choice>>\nc --> P : [yes]\nc --> A\nstate P {\n[*] --> B\n}\nP --> A : back";
    let graph = StateGraph::from_diagram(&parse(source).unwrap(), "job").unwrap();
    assert_eq!(graph.drawn.as_ref().unwrap().edges, [vec![0, 1], vec![0, 2], vec![3]]);
    let text = graph.to_json().to_string();
    assert_eq!(StateGraph::from_json(&text).unwrap().drawn, graph.drawn);
    let wrong = [
        (r#""edges":[[0,1],[0,2],[3]]"#, r#""edges":[[0,1],[0,2]]"#),
        (r#""edges":[[0,1],[0,2],[3]]"#, r#""edges":[[0,1],[0,4],[3]]"#),
        (r#""edges":[[0,1],[0,2],[3]]"#, r#""edges":[[0,1],[],[3]]"#),
        (r#""line":7,"name":"P""#, r#""inside":0,"name":"P""#),
        (r#""states":[null,0]"#, r#""states":[null,1]"#),
        (r#""arrows":["#, r#""arrows":[{"from":"A"},"#),
    ];
    let errors = wrong.map(|(from, to)| {
        assert!(text.contains(from), "{from} in {text}");
        StateGraph::from_json(&text.replace(from, to)).unwrap_err().to_string()
    });
    insta::assert_snapshot!(errors.join("\n"), @"
    drawn.edges: expected an entry for each of the 3 edges, got 2
    drawn.edges[1]: expected a place from 0, below 4, got 4
    drawn.edges[1]: expected an arrow at least, got an empty list
    drawn.composites[0].inside: expected another one, got `P`, which is inside of itself
    drawn.states[1]: expected a place from 0, below 1, got 1
    drawn.arrows[0].to: expected a string, got nothing
    ");
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
