//! Prints the checker's verdicts on traces, one JSON line per diagram, for the comparison with another checker.
//!
//! Standard input holds one JSON object per line: a diagram as `source`, and its `traces`, each a list of events as
//! `[name, from, to]`. See `tests/oracle/traces.mjs`.

use std::io::{self, BufRead, Write};

use runstate::diagram::{self, StateGraph};
use runstate::trace::{Coverage, Event, Rulebook, Rules, check};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Case {
    source: String,
    traces: Vec<Vec<(String, Option<String>, String)>>,
}

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let case: Case = serde_json::from_str(&line?)?;
        writeln!(out, "{}", verdicts(&case).unwrap_or_else(|why| json!({"refused": why})))?;
    }
    out.flush()
}

/// For each trace, the index of the first violating event; and the coverage of the traces without a violation.
fn verdicts(case: &Case) -> Result<Value, String> {
    let diagram = diagram::parse(&case.source).map_err(|error| error.to_string())?;
    let graph = StateGraph::from_diagram(&diagram, "x").map_err(|error| error.to_string())?;
    let rules = Rules::of_diagram("x", &graph, "x.mmd");
    let all = rules.arrows().map(|arrow| json!([arrow.from, arrow.event, arrow.to, 0])).collect::<Vec<_>>();
    let book = Rulebook::for_all(rules);
    let (mut coverage, mut first) = (Coverage::new(), Vec::new());
    for trace in &case.traces {
        let lines = trace.iter().zip(1..).map(|((name, from, to), seq)| {
            json!({
                "seq": seq, "at_ms": 0, "run": "r", "lifecycle": "x", "instance": "i",
                "event": name, "from": from, "to": to,
            })
            .to_string()
        });
        let lines: Vec<String> = lines.collect();
        let events = lines.iter().map(|line| Event::from_json(line).map_err(|error| error.to_string()));
        let report = check(&events.collect::<Result<Vec<_>, _>>()?, &book);
        match report.violation {
            Some(violation) => first.push(json!(violation.line - 1)),
            None => {
                first.push(Value::Null);
                coverage.merge(&report.coverage);
            }
        }
    }
    let covered = coverage.iter().flat_map(|covered| &covered.edges);
    let covered: Vec<Value> =
        covered.map(|edge| json!([edge.from, edge.event, edge.to, edge.taken])).collect();
    let states = coverage.iter().flat_map(|covered| &covered.states);
    let entered: Vec<Value> = states.map(|state| json!([state.state, state.entered])).collect();
    Ok(
        json!({"first": first, "coverage": if covered.is_empty() { all } else { covered }, "entered": entered}),
    )
}
