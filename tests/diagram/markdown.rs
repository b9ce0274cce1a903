//! Diagrams in Markdown files, found with the file's own lines.

use runstate::diagram::{Document, DocumentError};

const FILE: &str = "---\ntitle: lifecycles\n---\n# Tool call\n\nWords.\n\n```mermaid\nstateDiagram-v2\n    [*] --> New\n```\n\n\
Runs\n----\n\n1. A list:\n\n    ~~~~ Mermaid {.wide}\n    stateDiagram-v2\n        ~~~\n    ~~~~\n\n\
## Not one of ours ##\n\n```mermaid\nflowchart LR\n```\n\n<!--\n```mermaid\nstateDiagram-v2\n```\n-->\n\n\
\x20   ```mermaid\n    stateDiagram-v2\n    ```\n\n`````text\n```mermaid\n```\n`````\n\n### Twice\n\n```mermaid\n\
stateDiagram-v2\nA\n```\n\n```mermaid\n%% note\nstateDiagram-v2\nB -->\n";

#[test]
fn blocks_have_headings_numbers_and_lines() {
    let document = Document::read("docs/lifecycles.md", FILE);
    let blocks: Vec<String> = document.blocks().iter().map(ToString::to_string).collect();
    assert_eq!(
        blocks,
        [
            "#1 line 9 under \"Tool call\": stateDiagram-v2",
            "#2 line 19 under \"Runs\": stateDiagram-v2",
            "#3 line 26 under \"Not one of ours\": flowchart",
            "#4 line 47 under \"Twice\": stateDiagram-v2",
            "#5 line 52 under \"Twice\": stateDiagram-v2",
        ]
    );
}

#[test]
fn windows_line_breaks_change_nothing_but_the_offsets() {
    let text = FILE.replace('\n', "\r\n");
    let document = Document::read("lifecycles.md", text.clone());
    let lines: Vec<usize> = document.blocks().iter().map(|block| block.line()).collect();
    assert_eq!(lines, [9, 19, 26, 47, 52]);
    let diagram = document.diagram(Some("#1")).unwrap();
    assert_eq!(diagram.transitions[0].to_span.of(&text), Some("New"));
    assert_eq!(diagram.line(diagram.transitions[0].span), 10);
}

#[test]
fn a_block_is_chosen_by_heading_or_number() {
    let document = Document::read("lifecycles.md", FILE);
    assert_eq!(document.select(Some("tool-call")).unwrap().number(), 1);
    assert_eq!(document.select(Some("Tool Call")).unwrap().number(), 1);
    assert_eq!(document.select(Some("RUNS")).unwrap().number(), 2);
    assert_eq!(document.select(Some("#4")).unwrap().number(), 4);
    assert_eq!(document.select(Some("4")).unwrap().number(), 4);
    let errors = [None, Some("twice"), Some("nowhere"), Some("#9"), Some("#0"), Some("#3")]
        .map(|which| document.select(which).unwrap_err().to_string());
    let empty = Document::read("empty.md", "no diagram").select(None).unwrap_err().to_string();
    super::snapshot("select_errors", &format!("{}\n\n{empty}", errors.join("\n\n")));
}

#[test]
fn an_error_in_a_block_points_into_the_file() {
    let document = Document::read("lifecycles.md", FILE);
    let Err(DocumentError::Syntax { error, rendered }) = document.diagram(Some("#5")) else { panic!() };
    assert_eq!(error.position().line, 54);
    assert!(rendered.contains("lifecycles.md:54:6"), "{rendered}");
}

#[test]
fn any_other_file_is_a_diagram_itself() {
    let document = Document::read("run.mmd", "stateDiagram-v2\nA --> B");
    assert_eq!(document.diagram(None).unwrap().states.len(), 2);
    let error = Document::read("run.mmd", "pie\n").diagram(None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "run.mmd has no state diagram, which begins with `stateDiagram-v2`; it has:\n  #1 line 1: pie"
    );
    let error = Document::from_bytes("run.mmd", b"stateDiagram-v2\nA \xff".to_vec()).unwrap_err();
    assert_eq!(error.to_string(), "run.mmd:2:3: expected UTF-8, got another byte");
}

#[test]
fn a_diagram_in_a_block_quote_is_read_without_its_marks() {
    let text = "# Order\n\n> [!NOTE]\n> ```mermaid\n> stateDiagram-v2\n>   A --> B : > 3\n>\n>> C --> D\n> ```\n\n\
> > ~~~mermaid\n> > stateDiagram-v2\n>> A --> B\n> and this ends it\n\n```mermaid\nstateDiagram-v2\n> --> B\n```\n";
    let document = Document::read("quoted.md", text);
    let lines: Vec<usize> = document.blocks().iter().map(|block| block.line()).collect();
    assert_eq!(lines, [5, 12, 17]);
    let first = document.diagram(Some("#1")).unwrap();
    assert_eq!(first.line(first.transitions[0].span), 6);
    assert_eq!(first.transitions[0].label.as_ref().unwrap().text, "> 3");
    assert_eq!(first.transitions[0].to_span.of(text), Some("B"));
    // One mark was taken off; the other is a character of the diagram.
    assert_eq!(first.states[2].id, ">");
    let second = document.diagram(Some("#2")).unwrap();
    assert_eq!((second.transitions.len(), second.line(second.transitions[0].span)), (1, 13));
    assert_eq!(document.source(&document.blocks()[1]), "stateDiagram-v2\nA --> B\n");
    assert_eq!(document.diagram(Some("#3")).unwrap().states[0].id, ">");
}
