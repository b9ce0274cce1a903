//! Big and deep input: an answer, without a deep stack.

use runstate::diagram::{StateGraph, parse};

#[test]
fn a_hundred_thousand_levels_are_read() {
    let depth = 100_000;
    let source = format!("stateDiagram-v2\n{}A\n{}", "state X {\n".repeat(depth), "}\n".repeat(depth));
    let diagram = parse(&source).unwrap();
    assert!(StateGraph::from_diagram(&diagram, "x").is_err());
    let mut source = String::from("stateDiagram-v2\n");
    for at in 0..depth {
        source.push_str(&format!("state S{at} {{\n[*] --> S{}\n", at + 1));
    }
    source.push_str("state S100000 {\n}\n");
    source.push_str(&"}\n".repeat(depth));
    let diagram = parse(&source).unwrap();
    assert_eq!(diagram.scopes.len(), depth + 2);
    let graph = StateGraph::from_diagram(&diagram, "x").unwrap();
    assert_eq!(graph.states.len(), 1);
    let open = source.trim_end_matches("}\n");
    assert!(parse(open).is_err());
}

#[test]
fn a_label_of_ten_megabytes_is_read() {
    let label = "x".repeat(10 << 20);
    let diagram = parse(&format!("stateDiagram-v2\nA --> B : {label}\n")).unwrap();
    let graph = StateGraph::from_diagram(&diagram, "x").unwrap();
    assert_eq!(graph.edges[0].label.as_deref(), Some(label.as_str()));
}

#[test]
fn big_input_is_read_whatever_it_holds() {
    // Without optimization a part of it has to do.
    let size = if cfg!(debug_assertions) { 256 << 10 } else { 10 << 20 };
    let many = |piece: &str| piece.repeat(size / piece.len());
    let label = format!("stateDiagram-v2\nA --> B : {}", many("x: "));
    assert_eq!(parse(&label).unwrap().transitions.len(), 1);
    let fine = [
        many("A --> B : x\n"),
        many("A "),
        many("direction L "),
        many("state a b c "),
        many("%%{ "),
        many("<a ="),
        many("#12"),
        many("\n"),
        many(" \n"),
        format!("note left of A\n{}\nend note", many("end not\n   ")),
        format!("A --> B : {}", many("%%{")),
    ];
    for body in fine {
        let source = format!("stateDiagram-v2\n{body}");
        let shown: String = body.chars().take(20).collect();
        let read = parse(&source);
        assert!(
            read.is_ok() || shown.starts_with("%%{") || shown.starts_with("direction"),
            "{shown}: {read:?}"
        );
    }
    for source in
        [many("---\n"), many("--- \n\n"), many("%%\n"), many("\u{0}"), many("{"), many("stateDiagram ")]
    {
        assert!(parse(&source).is_err());
    }
}

#[test]
fn a_truncated_diagram_is_read_or_refused() {
    let source = "---\ntitle: T\n---\n%%{init: {}}%%\nstateDiagram-v2\nstate \"é\" as A {\nnote left of B\nx\nend note\n\
                  [*] --> B : #35; y\n--\nC\n}\nclick A href \"u\"\nclassDef c fill:#fff;\naccDescr {\nx\n}\n";
    for end in 0..=source.len() {
        if let Some(part) = source.get(..end) {
            drop(parse(part));
        }
    }
    assert!(parse(source).is_ok());
}
