//! No text makes the parser of state diagrams panic, and what it says of a text is true of it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use runstate::diagram::{Document, Span, StateGraph, diff, parse};

fuzz_target!(|data: &[u8]| {
    let Ok(source) = std::str::from_utf8(data) else { return };
    in_markdown(source);
    let diagram = match parse(source) {
        Ok(diagram) => diagram,
        Err(error) => {
            inside(error.span(), source);
            assert!(error.render("fuzz.mmd", source).contains("-->"));
            return;
        }
    };
    for warning in &diagram.warnings {
        inside(warning.span(), source);
        assert!(warning.position().line > 0);
    }
    diagram.warnings.iter().take(3).for_each(|warning| drop(warning.render("fuzz.mmd", source)));
    for transition in &diagram.transitions {
        inside(transition.span, source);
        inside(transition.from_span, source);
        inside(transition.to_span, source);
        transition.label.iter().for_each(|label| inside(label.span, source));
    }
    diagram.states.iter().for_each(|state| inside(state.span, source));
    diagram.comments.iter().for_each(|comment| inside(comment.span, source));
    diagram.notes.iter().for_each(|note| inside(note.text.span, source));
    match StateGraph::from_diagram(&diagram, "fuzz") {
        Ok(graph) => {
            let text = graph.to_mermaid();
            let again = parse(&text).unwrap_or_else(|error| panic!("{}", error.render("rendered", &text)));
            let again = StateGraph::from_diagram(&again, "fuzz").expect("a flat graph stays flat");
            assert_eq!(graph.bare(), again.bare(), "{text}");
            assert!(diff(&graph, &again).is_empty());
            assert!(!graph.to_dot().is_empty());
        }
        Err(error) => inside(error.span(), source),
    }
});

fn inside(span: Span, source: &str) {
    assert!(span.of(source).is_some(), "{span:?} is no part of the source");
}

/// A diagram in a Markdown file reads as it does by itself, if nothing in it closes the fence.
fn in_markdown(source: &str) {
    let document = Document::read("fuzz.md", source);
    for block in document.blocks() {
        inside(block.span(), source);
        drop(document.parse(block));
    }
}
