use serde_json::Value;

use crate::session::{ROOT, Session, assert_shown};

const SHOP: &str = "\
# Shop

```mermaid
flowchart LR
a --> b
```

## Check-out

```mermaid
stateDiagram-v2
    [*] --> Cart
    Cart --> Paid : pay; later
    Cart --> [*]
    Paid --> [*]
```

## Delivery

~~~mermaid
stateDiagram-v2
    [*] --> Packed
    Packed --> c : scan
    state c <<choice>>
    c --> Sent : ok
    c --> Packed : unreadable
    Sent --> [*]
~~~
";

#[test]
fn a_fingerprint_is_that_of_the_code() {
    let session = Session::new();
    let all = session.run(&["diagram", "--fingerprint"]);
    let lines: Vec<&str> = all.stdout.lines().collect();
    let of = |graph: &runstate::kernel::Graph| format!("{} {}", graph.fingerprint(), graph.name);
    assert_eq!(lines, runstate::lifecycles().iter().map(|graph| of(graph)).collect::<Vec<_>>());

    session.write("shop.md", SHOP);
    let one = session.run(&["diagram", "shop.md#Check-out", "--fingerprint"]);
    assert!(one.stdout.trim_end().parse::<runstate::kernel::Fingerprint>().is_ok(), "{}", one.shown());
    // Two ways to show one diagram contradict each other.
    assert_eq!(session.run(&["diagram", "run", "--fingerprint", "--format", "dot"]).code, Some(2));
}

#[test]
fn built_in_diagrams_are_those_of_the_documentation() {
    let session = Session::new();
    assert_shown("diagram_tool_call", &session.run(&["diagram", "tool_call"]).shown());
    assert_shown("diagram_run_dot", &session.run(&["diagram", "run", "--format", "dot"]).shown());
    let all = session.run(&["diagram", "--format", "json"]);
    let graphs: Value = serde_json::from_str(&all.stdout).unwrap();
    for graph in runstate::lifecycles() {
        let shown = graphs.as_array().unwrap().iter().find(|shown| shown["name"] == graph.name).unwrap();
        assert_eq!(shown["states"].as_array().unwrap().len(), graph.states.len(), "{}", graph.name);
        let edges: Vec<String> = shown["edges"]
            .as_array()
            .unwrap()
            .iter()
            .map(|edge| format!("{}>{}", edge["from"].as_str().unwrap(), edge["to"].as_str().unwrap()))
            .collect();
        let declared: Vec<String> =
            graph.edges.iter().map(|edge| format!("{}>{}", edge.from, edge.to)).collect();
        assert_eq!(edges, declared, "{}", graph.name);
    }
    // All of them together are a Markdown document, of which each can be read again.
    session.write("all.md", session.run(&["diagram"]).stdout);
    for graph in runstate::lifecycles() {
        let (one, again) = (
            session.run(&["diagram", graph.name]),
            session.run(&["diagram", &format!("all.md#{}", graph.name)]),
        );
        assert_eq!(one.stdout, again.stdout);
    }
}

#[test]
fn a_diagram_of_a_file_is_read_by_heading_or_number() {
    let session = Session::new();
    session
        .write("shop.md", SHOP)
        .write("one.mmd", "stateDiagram-v2\n[*] --> A\n")
        .write("a#b.mmd", "stateDiagram-v2\nx --> y\n");
    let mut shown = String::new();
    for args in [
        &["diagram", "shop.md#check-out"] as &[&str],
        &["diagram", "shop.md#Delivery", "--format", "json"],
        &["diagram", "shop.md#3", "--format", "dot"],
        &["diagram", "one.mmd", "--format", "json"],
        &["diagram", "a#b.mmd"],
    ] {
        let said = session.run(args);
        assert_eq!(said.code, Some(0), "{}", said.shown());
        shown.push_str(&said.shown());
        shown.push('\n');
    }
    assert_shown("diagram_file", &shown);
    let piped = session.run_with(&["diagram", "-", "--format", "dot"], "stateDiagram-v2\nA --> B\n");
    assert!(piped.stdout.contains("\"A\" -> \"B\""), "{}", piped.shown());
}

#[test]
fn unreadable_diagram_is_refused_with_its_location() {
    let session = Session::new();
    session
        .write("shop.md", SHOP)
        .write("none.md", "# Nothing\n")
        .write("forked.mmd", "stateDiagram-v2\nstate f <<fork>>\nA --> f\nf --> B\nf --> C\n");
    session
        .write("empty.mmd", "")
        .write("binary.mmd", b"stateDiagram-v2\n\xff\n")
        .write("arrow.mmd", "stateDiagram-v2\n    A -> B\n");
    session
        .write("cut.mmd", "stateDiagram-v2\nstate A {\n  B --> C\n")
        .write("flow.mmd", "flowchart LR\nA --> B\n");
    session.write("deep.mmd", format!("stateDiagram-v2\n{}", "state A {\n".repeat(100_000)));
    session.write("huge.mmd", format!("stateDiagram-v2\nA --> B : {}\nA -> B\n", "x".repeat(2 << 20)));
    let mut shown = String::new();
    for spec in [
        "door",
        "shop.md",
        "shop.md#returns",
        "shop.md#1",
        "shop.md#9",
        "none.md",
        "forked.mmd",
        "empty.mmd",
        "binary.mmd",
        "arrow.mmd",
        "cut.mmd",
        "flow.mmd",
        "deep.mmd",
        "huge.mmd",
        ".",
    ] {
        let said = session.run(&["diagram", spec, "--format", "json"]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.shown());
        assert!(said.stderr.len() < 1_500, "{spec}: {} bytes", said.stderr.len());
        shown.push_str(&said.shown());
        shown.push('\n');
    }
    assert_shown("diagram_errors", &shown);
}

#[test]
fn the_files_of_the_documentation_are_the_built_in_ones() {
    let session = Session::new();
    for document in runstate::documents() {
        let file = format!("{ROOT}/{}", document.path);
        let same = session.run(&["diff", document.graph.name, &file]);
        assert_eq!(same.code, Some(0), "{}", same.shown());
        assert!(!same.stdout.contains("review") && !same.stdout.contains("breaking"), "{}", same.shown());
    }
}
