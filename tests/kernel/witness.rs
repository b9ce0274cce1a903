//! The two readers of Mermaid agree: what the compile-time witness held against the graph, the parser reads as that
//! graph.

use std::collections::BTreeSet;
use std::panic::catch_unwind;

use proptest::prelude::*;
use runstate::approval::AnyApproval;
use runstate::diagram::{Diagram, Endpoint, StateKind, parse};
use runstate::governed_run::AnyGovernedRun;
use runstate::kernel::{Graph, Stateful, Witness, witness};
use runstate::resume_tool_call::AnyResumeToolCall;
use runstate::run::AnyRun;
use runstate::run_flow::AnyRunFlow;
use runstate::service_pass::AnyServicePass;
use runstate::service_run::AnyServiceRun;
use runstate::stream_session::AnyStreamSession;
use runstate::tool_call::AnyToolCall;
use runstate::tool_execution::AnyToolExecution;

use super::door::AnyDoor;

const GRAPHS: [&Graph; 10] = [
    AnyApproval::GRAPH,
    AnyGovernedRun::GRAPH,
    AnyResumeToolCall::GRAPH,
    AnyRun::GRAPH,
    AnyRunFlow::GRAPH,
    AnyServiceRun::GRAPH,
    AnyServicePass::GRAPH,
    AnyStreamSession::GRAPH,
    AnyToolCall::GRAPH,
    AnyToolExecution::GRAPH,
];

/// The text of the one block in the file.
fn block(markdown: &str) -> String {
    let mut lines = markdown.lines().skip_while(|line| !line.trim().starts_with("```mermaid")).skip(1);
    lines.by_ref().take_while(|line| !line.trim().starts_with("```")).flat_map(|line| [line, "\n"]).collect()
}

/// `from --> to : label` for each transition, `[*]` for a mark.
fn drawn(diagram: &Diagram) -> Vec<String> {
    let name = |endpoint: &Endpoint| match endpoint {
        Endpoint::State(id) => diagram.states[id.index()].id.clone(),
        other => {
            assert!(matches!(other, Endpoint::Start(_) | Endpoint::End(_)), "{other:?}");
            "[*]".to_owned()
        }
    };
    let label = |text: &Option<runstate::diagram::Text>| text.as_ref().map(|t| format!(" : {}", t.text));
    let edges = diagram.transitions.iter();
    edges
        .map(|t| format!("{} --> {}{}", name(&t.from), name(&t.to), label(&t.label).unwrap_or_default()))
        .collect()
}

/// The same of a graph.
fn declared(graph: &Graph) -> Vec<String> {
    let begins = graph.states.iter().filter(|s| s.initial).map(|s| format!("[*] --> {}", s.name));
    let ends = graph.states.iter().filter(|s| s.terminal).map(|s| format!("{} --> [*]", s.name));
    begins.chain(graph.edges.iter().map(ToString::to_string)).chain(ends).collect()
}

#[test]
fn each_documented_diagram_parses_as_its_declared_graph() {
    let mut files = BTreeSet::new();
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/lifecycles")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().replace('-', "_");
        let Some(graph) = GRAPHS.iter().find(|graph| graph.name == name) else {
            panic!("{} documents no lifecycle", path.display());
        };
        let diagram = parse(&block(&std::fs::read_to_string(&path).unwrap())).unwrap();
        assert!(diagram.warnings.is_empty(), "{name}: {:?}", diagram.warnings);
        let mut drawn = drawn(&diagram);
        let mut declared = declared(graph);
        drawn.sort();
        declared.sort();
        assert_eq!(drawn, declared, "{name}");
        let states: BTreeSet<_> = diagram.states.iter().map(|state| state.id.as_str()).collect();
        assert!(diagram.states.iter().all(|state| state.kind == StateKind::Simple), "{name}");
        assert_eq!(states, graph.states.iter().map(|state| state.name).collect(), "{name}");
        files.insert(name);
    }
    assert_eq!(files.len(), GRAPHS.len(), "{files:?}");
}

/// Does the witness hold the text to be the door's diagram?
fn witnessed(text: &str) -> bool {
    catch_unwind(|| witness::diagram(AnyDoor::GRAPH, text, "door.md", &[])).is_ok()
}

/// What the parser reads in the block; none if it refuses it.
fn parsed(text: &str) -> Option<Vec<String>> {
    let mut drawn = drawn(&parse(&block(text)).ok()?);
    drawn.sort();
    Some(drawn)
}

fn door() -> Vec<String> {
    let mut declared = declared(AnyDoor::GRAPH);
    declared.sort();
    declared
}

const DOOR: &str = include_str!("door.md");

#[test]
fn the_witness_says_at_run_time_what_it_says_while_compiling() {
    assert!(witnessed(DOOR));
    assert_eq!(parsed(DOOR), Some(door()));
    assert!(!witnessed(&DOOR.replace(": push", ": shove")));
}

/// What a slip of the hand or another tool may put into a diagram.
const PIECES: [&str; 42] = [
    "---\ntitle: Door\n---\n",
    "\n---\n",
    "%%{init: {\"theme\": \"dark\"}}%%\n",
    "\n%%{init: {}}%%\n",
    "}%%",
    "\nnote left of Open : cold\n",
    "\nnote right of Open\ncold --> warm\nend note\n",
    "\nend note\n",
    "\nEnd Note\n",
    "\n: x\n",
    "direction ",
    "<!--\n",
    "-->\n",
    "```x\n",
    "<<fork>>",
    "\nstate \"open wide\" as Open\n",
    "\nOpen : a person can walk through\n",
    "stateDiagram\n",
    " ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\u{a0}",
    "\u{feff}",
    "%% Open --> Removed",
    "%%",
    "%",
    ";",
    ":",
    "--",
    "-->",
    "\n direction LR\n",
    "\n direction TB",
    "[*]",
    "state ",
    "note",
    "{",
    "}",
    "\"",
    "```",
    "<<choice>>",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// The witness reads less than Mermaid does, but what it reads means the same there.
    #[test]
    fn parser_reads_each_diagram_that_the_witness_accepts(
        edits in proptest::collection::vec((any::<proptest::sample::Index>(), 0..3usize, 0..PIECES.len()), 1..3),
    ) {
        let mut text: Vec<char> = DOOR.chars().collect();
        for (at, cut, piece) in edits {
            let at = at.index(text.len());
            let end = (at + cut).min(text.len());
            text.splice(at..end, PIECES[piece].chars());
        }
        let text = String::from_iter(text);
        if witnessed(&text) {
            prop_assert_eq!(parsed(&text), Some(door()), "{}", text);
        }
    }
}

/// A graph of one step, from a state and by an event of these names.
fn step(state: &'static str, event: &'static str) -> Graph {
    use runstate::kernel::build;
    static OWN: Witness = Witness::at("here");
    let states = [build::state(state, "", 0, 0, &[1]), build::state("Over", "", 1, 0, &[1])];
    let edges = [build::edge(&OWN, "step", (state, 0), event, ("Over", 1))];
    let names = build::Names { name: "step", package: None, identity: &[] };
    build::graph(
        &OWN,
        &names,
        "",
        1,
        Vec::leak(states.into()),
        Vec::leak(vec![event]),
        Vec::leak(edges.into()),
    )
}

/// Words that mean something to Mermaid's lexer somewhere.
const WORDS: [&str; 38] = [
    "state",
    "note",
    "end",
    "as",
    "direction",
    "direction_LR",
    "class",
    "classDef",
    "style",
    "click",
    "href",
    "default",
    "fork",
    "join",
    "choice",
    "left",
    "right",
    "of",
    "over",
    "scale",
    "width",
    "hide",
    "empty",
    "description",
    "title",
    "accTitle",
    "accDescr",
    "stateDiagram",
    "statement",
    "notes",
    "TB",
    "LR",
    "end_note",
    "__proto__",
    "constructor",
    "root_start",
    "divider",
    "state1",
];

#[test]
fn mermaid_keyword_as_a_name_is_refused_or_kept_literal() {
    let mut refused = Vec::new();
    for word in WORDS {
        for word in [word.to_owned(), word.to_uppercase(), word[..1].to_uppercase() + &word[1..]] {
            let word: &'static str = word.leak();
            for (state, event) in [(word, "go"), ("Here", word)] {
                let graph = step(state, event);
                let text = format!(
                    "```mermaid\nstateDiagram-v2\n[*] --> {state}\n{state} --> Over : {event}\nOver --> [*]\n```\n"
                );
                if catch_unwind(|| witness::diagram(&graph, &text, "step.md", &[])).is_err() {
                    refused.push(state);
                    continue;
                }
                let mut declared = declared(&graph);
                declared.sort();
                assert_eq!(parsed(&text), Some(declared), "{text}");
            }
        }
    }
    refused.retain(|word| word.starts_with(|c: char| c.is_lowercase()));
    let keywords = [
        "state",
        "note",
        "direction",
        "class",
        "classDef",
        "style",
        "click",
        "href",
        "default",
        "scale",
        "stateDiagram",
    ];
    assert_eq!(refused, keywords, "no event is refused, and no other state");
}

/// The door's diagram with all that the witness reads.
const FURNISHED: &str = "\u{feff}# A door

~~~text
stateDiagram-v2
~~~

```mermaid
---
title: A door
---
stateDiagram
    direction LR
    %% The states.
    state \"open wide\" as Open
    Shut : the door is in its frame
BODY
    note left of Open : mind the draught
    note right of Shut
        a person --> cannot pass
    end note
```
";

#[test]
fn notes_descriptions_and_front_matter_are_read() {
    let body = block(DOOR);
    let body = body.trim_start().strip_prefix("stateDiagram-v2").unwrap();
    let text = FURNISHED.replace("BODY", body);
    assert!(witnessed(&text), "{}", said(&text));
    for (state, line) in [("Opn", "state \"x\" as Opn"), ("Elsewhere", "note left of Elsewhere : x")] {
        let said = said(&text.replace("    %% The states.", line));
        assert!(said.contains(&format!("the diagram has a state the code lacks: {state}")), "{said}");
    }
    for (line, expected) in [
        ("note over Open : x", "expected 'note left of STATE'"),
        ("state \"x\" as", "expected 'state \"DESCRIPTION\" as STATE'"),
        ("Open : a; b", "leave the character out"),
        ("note left of Open", "the note has no end 'end note'"),
        ("%%{init: {}}%%", "unsupported Mermaid: '%%{init: {}}%%'"),
        ("---", "unsupported Mermaid: '---'"),
        ("%% a comment %%{init: {\"a\": 1}", "unsupported Mermaid"),
        ("note right of Open\n: text", "no line of it begins with a colon"),
        ("note right of Open\nEnd Note", "a note ends with 'end note'"),
        ("Open : the direction LR", "Mermaid reads 'direction' in a text as a statement"),
        ("state \"a <<fork>> b\" as Open", "leave the character out"),
        ("```x", "the block ends with a line of backticks alone"),
        ("Open --> direction", "the name of a state is a keyword of Mermaid"),
    ] {
        let text = text.replace("    %% The states.", line).replace("    end note", "");
        let said = said(&text);
        assert!(said.contains(expected), "{line}: {said}");
    }
}

/// The message of the witness about a text.
fn said(text: &str) -> String {
    let text = text.to_owned();
    match catch_unwind(move || witness::diagram(AnyDoor::GRAPH, &text, "door.md", &[])) {
        Ok(()) => String::new(),
        Err(panic) => match panic.downcast::<String>() {
            Ok(text) => *text,
            Err(panic) => (*panic.downcast::<&str>().unwrap()).to_owned(),
        },
    }
}

#[test]
fn diagram_in_an_html_comment_is_none() {
    let hidden = format!("<!--\n{DOOR}\n-->\n");
    assert!(said(&hidden).contains("no ```mermaid block"), "{}", said(&hidden));
    assert!(witnessed(&format!("<!-- a remark -->\n{DOOR}\n{hidden}")));
}

#[test]
fn differences_are_told_together_with_lines_and_similar_names() {
    let text = DOOR.replace("push", "shove").replace("Open", "open");
    let said = said(&text);
    assert!(said.lines().count() > 2, "{said}");
    assert!(said.contains("the diagram has a state the code lacks: open (did you mean Open?)"), "{said}");
    assert!(said.lines().all(|line| line.starts_with("door.md:")), "{said}");

    let many: String = (0..30).map(|n| format!("    S{n} --> T{n} : go\n")).collect();
    let said = self::said(&DOOR.replace("stateDiagram-v2\n", &format!("stateDiagram-v2\n{many}")));
    assert_eq!(said.lines().count(), 21, "{said}");
    assert!(said.ends_with("and 40 more"), "{said}");
}
