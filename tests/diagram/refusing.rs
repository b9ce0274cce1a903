//! What a person sees who made a mistake.

use std::fmt::Write;

use runstate::diagram::parse;

#[test]
fn errors_point_at_the_mistake() {
    let mistakes = [
        "stateDiagram-v2\n    A -->\n    B --> C",
        "stateDiagram-v2\n    A -> B",
        "stateDiagram-v2\n    A -- go --> B",
        "stateDiagram-v2\n    A --> B --> C",
        "stateDiagram-v2\n    A --> in-progress",
        "stateDiagram-v2\n    in-the-end --> A",
        "stateDiagram-v2\n    state Two Words {\n    }",
        "stateDiagram-v2\n    state X {\n        A --> B : go }\n    C --> D",
        "stateDiagram-v2\n    A --> B : std::mem",
        "stateDiagram-v2\n    default --> B",
        "stateDiagram-v2\n    classDef default fill:#fff",
        "stateDiagram-v2\n    note over A : text",
        "stateDiagram-v2\n    note left of A\n    text",
        "stateDiagram-v2\n    scale 350",
        "stateDiagram-v2\n    click A \"url\"\n",
        "stateDiagram-v2\n    state \"text\" L",
        "stateDiagram-v2\n    A\n    {\n    }",
        "stateDiagram-v2\n    state \"one\" as A {\n    }\n    A : two",
        "flowchart LR\n    A --> B",
        "---\ntitle: x\nstateDiagram-v2",
        "",
        "stateDiagram-v2\n    état --> ",
    ];
    let mut shown = String::new();
    for source in mistakes {
        let error = parse(source).unwrap_err();
        writeln!(shown, "{}", error.render("run.mmd", source)).unwrap();
    }
    super::snapshot("errors", &shown);
}

#[test]
fn a_long_line_and_control_characters_do_not_flood_the_terminal() {
    let source = format!("stateDiagram-v2\n{} -> \u{1b}[31mB{}", "A ".repeat(100_000), "x".repeat(100_000));
    let error = parse(&source).unwrap_err();
    let rendered = error.render("run.mmd", &source);
    assert!(rendered.len() < 1_000, "{}", rendered.len());
    assert!(!rendered.contains('\u{1b}'));
    assert!(rendered.contains(" -> ·[31mB"), "{rendered}");
}
