//! Prints the parsed form of diagrams, one JSON line each, for the comparison with Mermaid itself.
//!
//! Standard input holds the diagrams, each followed by a NUL. See `tests/oracle/run.sh`.

use std::io::{self, Read, Write};

use runstate::diagram::{self, Diagram, Endpoint, NoteSide, Scope, ScopeId, StateKind, WarningKind};
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let mut input = String::new();
    io::stdin().read_to_string(&mut input)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    for source in input.strip_suffix('\0').unwrap_or(&input).split('\0') {
        let view = match diagram::parse(source) {
            Ok(diagram) => accepted(&diagram),
            Err(error) => json!({ "ok": false, "error": error.to_string() }),
        };
        writeln!(out, "{view}")?;
    }
    out.flush()
}

fn accepted(diagram: &Diagram) -> Value {
    let ends = diagram.transitions.iter().flat_map(|edge| [edge.from, edge.to]);
    let mut points = vec!["root_start".to_owned(), "root_end".to_owned()];
    points.extend(ends.filter(|end| !matches!(end, Endpoint::State(_))).map(|end| endpoint(diagram, end)));
    let edges: Vec<Value> = diagram
        .transitions
        .iter()
        .map(|edge| {
            let label = edge.label.as_ref().map_or("", |label| &label.text);
            json!([endpoint(diagram, edge.from), endpoint(diagram, edge.to), label])
        })
        .collect();
    let states: Vec<Value> = diagram
        .states
        .iter()
        // Mermaid draws none of these.
        .filter(|state| !matches!(state.id.as_str(), "" | "root" | "[*]") && !points.contains(&state.id))
        .map(|state| {
            let kind = match state.kind {
                StateKind::Choice | StateKind::Fork | StateKind::Join if kind_lost(diagram, &state.id) => {
                    "plain"
                }
                StateKind::Simple => "plain",
                StateKind::Choice => "choice",
                StateKind::Fork => "fork",
                StateKind::Join => "join",
                StateKind::Composite => "group",
            };
            json!([state.id, kind, scope(diagram, state.scope)])
        })
        .collect();
    let descriptions: Vec<Value> = diagram
        .states
        .iter()
        .filter(|state| {
            !state.descriptions.is_empty()
                && !matches!(state.id.as_str(), "" | "[*]")
                && !points.contains(&state.id)
        })
        .map(|state| {
            let texts: Vec<&str> = state.descriptions.iter().map(|text| text.text.as_str()).collect();
            json!([state.id, texts])
        })
        .collect();
    let notes: Vec<Value> = diagram
        .notes
        .iter()
        .filter_map(|note| {
            let side = match note.side? {
                NoteSide::Left => "left",
                NoteSide::Right => "right",
            };
            let target = endpoint(diagram, note.target?);
            Some(json!([target, side, note.text.text]))
        })
        .collect();
    let directions: Vec<Value> = diagram
        .scopes
        .iter()
        .enumerate()
        .filter_map(|(at, scope): (usize, &Scope)| {
            Some(json!([name(diagram, at), scope.direction?.0.as_str()]))
        })
        .collect();
    let names = |rules: &[diagram::StyleRule]| -> Vec<Value> {
        rules
            .iter()
            .map(|rule| {
                let names: Vec<&str> = rule.names.iter().map(|name| name.text.as_str()).collect();
                json!([names.join(","), rule.value.text])
            })
            .collect()
    };
    let clicks: Vec<Value> = diagram
        .clicks
        .iter()
        .map(|click| json!([click.url.text, click.tooltip.as_ref().map_or("", |tip| &tip.text)]))
        .collect();
    json!({
        "ok": true,
        "edges": edges,
        "states": states,
        "descriptions": descriptions,
        "notes": notes,
        "directions": directions,
        "classDefs": names(&diagram.class_defs),
        "classes": names(&diagram.class_rules),
        "styles": names(&diagram.style_rules),
        "clicks": clicks,
        "accTitle": diagram.acc_title.as_ref().map_or("", |text| &text.text),
        "accDescr": diagram.acc_description.as_ref().map_or("", |text| &text.text),
    })
}

fn kind_lost(diagram: &Diagram, id: &str) -> bool {
    diagram.warnings.iter().any(|warning| {
        warning.kind() == WarningKind::KindLost && warning.message().starts_with(&format!("`{id}` "))
    })
}

fn endpoint(diagram: &Diagram, end: Endpoint) -> String {
    match end {
        Endpoint::State(id) => diagram[id].id.clone(),
        Endpoint::Start(id) => format!("{}_start", scope(diagram, id)),
        Endpoint::End(id) => format!("{}_end", scope(diagram, id)),
    }
}

fn scope(diagram: &Diagram, id: ScopeId) -> String {
    name(diagram, id.index())
}

/// The name of a scope in the oracle script: its state, with the suffix `#n` for the nth region of a divided state.
fn name(diagram: &Diagram, at: usize) -> String {
    let Some(owner) = diagram.scopes[at].owner else { return "root".to_owned() };
    let owner = match diagram[owner].id.as_str() {
        "[*]" => format!("{}_start", scope(diagram, diagram[owner].scope)),
        id => id.to_owned(),
    };
    match diagram.scopes[at].region {
        Some(nth) => format!("{owner}#{nth}"),
        None => owner,
    }
}
