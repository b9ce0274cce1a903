//! Coverage as a diagram.

use core::fmt::Write;

use crate::kernel::Graph;
use crate::trace::Coverage;

const TAKEN: &str = "stroke:#2e7d32";
const NEVER: &str = "stroke:#c62828,stroke-width:3px,stroke-dasharray:6 4";

/// Draws the transitions of a graph with their coverage, as a Mermaid 11 flowchart.
///
/// Taken transitions are green and have their counts. Transitions that were never taken are red and dashed. States
/// that were never entered are red too. The drawing is a flowchart, because Mermaid cannot colour a transition of a
/// state diagram.
///
/// ```
/// use runstate::kernel::Stateful;
/// use runstate::testing::example::{AnyDoor, Doors};
/// use runstate::testing::{EdgeCounter, coverage_diagram, path_along};
///
/// let counter = EdgeCounter::of([AnyDoor::GRAPH]);
/// let remove = AnyDoor::GRAPH.edge("Open", "remove").unwrap();
/// let mut path = path_along(&Doors, &[remove])?;
/// path.observe(counter.observer());
/// path.drive(|_, _| ());
///
/// let diagram = coverage_diagram(&counter.coverage(), AnyDoor::GRAPH);
/// assert!(diagram.starts_with("flowchart LR\n"));
/// assert!(diagram.contains(r#"s0 -- "remove (1)" --> s3"#));
/// assert!(diagram.contains(r#"s0 -- "close (never)" --> s1"#));
/// # Ok::<(), Box<runstate::testing::Fault>>(())
/// ```
pub fn coverage_diagram(coverage: &Coverage, graph: &Graph) -> String {
    let covered = coverage.lifecycle(graph.name);
    let mut lines = vec!["flowchart LR".to_owned()];
    let (mut entered, mut missed) = (Vec::new(), Vec::new());
    for (place, state) in graph.states.iter().enumerate() {
        let (open, close) = if state.terminal { ("([", "])") } else { ("(", ")") };
        lines.push(format!("    s{place}{open}\"{}\"{close}", shown(state.name)));
        let count = covered.and_then(|c| c.states.iter().find(|count| count.state == state.name));
        let is_entered = count.is_some_and(|count| count.entered > 0);
        if is_entered { &mut entered } else { &mut missed }.push(format!("s{place}"));
    }
    let (mut taken, mut never) = (Vec::new(), Vec::new());
    for (place, edge) in graph.edges.iter().enumerate() {
        let count = covered.and_then(|c| {
            c.edges.iter().find(|e| (&*e.from, &*e.event, &*e.to) == (edge.from, edge.event, edge.to))
        });
        let label = match count.map_or(0, |count| count.taken) {
            0 => "never".to_owned(),
            count => count.to_string(),
        };
        if label == "never" { &mut never } else { &mut taken }.push(place.to_string());
        let event = shown(edge.event);
        lines.push(format!("    s{} -- \"{event} ({label})\" --> s{}", edge.from_index, edge.to_index));
    }
    lines.push("    classDef entered fill:#e8f5e9,stroke:#2e7d32,color:#1b1b1b".to_owned());
    lines.push(
        "    classDef missed fill:#ffebee,stroke:#c62828,color:#1b1b1b,stroke-dasharray:6 4".to_owned(),
    );
    let mut paint = |what: &str, which: &[String], how: &str| {
        if !which.is_empty() {
            lines.push(format!("    {what} {} {how}", which.join(",")));
        }
    };
    paint("class", &entered, "entered");
    paint("class", &missed, "missed");
    paint("linkStyle", &taken, TAKEN);
    paint("linkStyle", &never, NEVER);
    lines.iter().fold(String::new(), |mut text, line| {
        // A write to a string does not fail.
        writeln!(text, "{line}").unwrap_or_default();
        text
    })
}

/// Escapes a name for quotes in Mermaid: characters that would end or escape the text become entities.
fn shown(name: &str) -> String {
    name.chars().fold(String::new(), |mut text, c| {
        match c {
            '"' | '#' | '<' | '>' | '&' | '`' | ';' => text.push_str(&format!("#{};", u32::from(c))),
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
        text
    })
}
