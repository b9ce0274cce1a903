//! Text that Mermaid accepts and reads as something else.

use std::fmt::Write;

use runstate::diagram::{WarningKind, parse};

#[test]
fn every_trap_has_its_warning() {
    let traps: [(&str, WarningKind); 25] = [
        ("A --> B: x; y", WarningKind::LabelCut),
        ("A --> B;\nB --> C", WarningKind::PunctuationInId),
        ("A --> B\n}", WarningKind::PunctuationInId),
        ("A --> B; B --> C", WarningKind::SeveralStatements),
        ("A --> B extra", WarningKind::SeveralStatements),
        ("state A : text\nA --> B", WarningKind::SeveralStatements),
        ("A --> B : turn direction LR now", WarningKind::DirectionSwallows),
        ("direction LR\ndirection TB", WarningKind::DirectionRepeated),
        ("state X {\n  A\n  --\n}", WarningKind::DividerIgnored),
        ("A --> c\nstate c <<choice>>", WarningKind::KindLost),
        ("state c <<choice>>\nc : which", WarningKind::KindLost),
        ("c <<choice>>", WarningKind::MarkIsState),
        ("state X {\n  A\n}\nstate Y {\n  A\n}", WarningKind::StateMoved),
        ("state X {\n  A\n}\nstate X {\n  B\n}", WarningKind::CompositeReopened),
        ("note left of A:text", WarningKind::NoteCut),
        ("note \"text\" as N", WarningKind::NoteNotDrawn),
        ("accDescr {\nA --> B", WarningKind::NeverClosed),
        ("A --> B\n%%{init: {\nB --> C", WarningKind::NeverClosed),
        ("accTitle:\nA --> B", WarningKind::TakenFromNextLine),
        ("state \"text\" as\nA --> B", WarningKind::TakenFromNextLine),
        ("state \"text\" as A:::hot", WarningKind::PartDropped),
        ("state A:::hot {\n}", WarningKind::PartDropped),
        ("state lonely\nA --> B", WarningKind::DeclarationDropped),
        ("root --> A", WarningKind::ReservedId),
        ("state <<choice>>", WarningKind::EmptyId),
    ];
    let mut shown = String::new();
    for (body, kind) in traps {
        let source = format!("stateDiagram-v2\n{body}\n");
        let diagram = parse(&source).unwrap_or_else(|error| panic!("{body}: {error}"));
        let kinds: Vec<WarningKind> = diagram.warnings.iter().map(|warning| warning.kind()).collect();
        assert!(kinds.contains(&kind), "{body}: {kinds:?}");
        for warning in &diagram.warnings {
            writeln!(shown, "{}", warning.render("run.mmd", &source)).unwrap();
        }
    }
    super::snapshot("warnings", &shown);
}

#[test]
fn unambiguous_diagram_has_no_warning() {
    let fine = "[*] --> A\nA --> B : go: now, at 10:30 %% behind\nB --> A : #quot;x#quot;\nstate c <<choice>>\n\
                state A_B {\n  direction LR\n  X --> Y\n  --\n  Z\n}\nstate d\nd --> A\nA_B --> X\n\
                note right of A : text\nclass A,B hot\nB --> [*]";
    let diagram = parse(&format!("stateDiagram-v2\n{fine}")).unwrap();
    assert_eq!(diagram.warnings, []);
}
