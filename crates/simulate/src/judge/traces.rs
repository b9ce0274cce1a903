//! The transitions conform to the diagrams, and end as they should.

use std::sync::LazyLock;

use runstate::trace::{Checker, Coverage, Event, Rulebook};
use runstate_agent::{ExecutionMode, Verdict};

use super::Findings;
use crate::play::{Ended, Seen, What};

static RULES: LazyLock<Rulebook> = LazyLock::new(|| Rulebook::of(runstate::lifecycles().iter().copied()));

/// Stored machines survive a death; others do not.
fn is_stored(event: &Event<'_>) -> bool {
    matches!(&*event.lifecycle, "run" | "tool_call")
}

/// Checks the trace as one, without the transitions that a death undid; returns the taken transitions.
pub(super) fn check(seen: &Seen, book: &mut Findings) -> Coverage {
    let mut deaths = Vec::new();
    for entry in &seen.entries {
        if let What::Died { keep, .. } = entry.what {
            deaths.push((keep, entry.trace));
        }
    }
    let mut checker = Checker::new(&RULES);
    for (number, event) in (1..).zip(&seen.trace) {
        let life = deaths.iter().filter(|(_, died)| number > *died).count();
        let undone = deaths.iter().any(|(keep, died)| number > *keep && number <= *died);
        let mut event = event.clone();
        if is_stored(&event) {
            if undone {
                continue;
            }
        } else if life > 0 {
            event.instance = format!("{}@{life}", event.instance).into();
        }
        checker.event(number, &event);
    }
    let report = checker.finish();
    if let Some(violation) = &report.violation {
        book.wrong("traces", violation);
    }
    let over = seen.end.as_ref().is_some_and(|end| end.reason.is_some());
    let cut = seen
        .entries
        .iter()
        .any(|entry| matches!(entry.what, What::LoopEnded(Ended::Dropped { .. }) | What::Wrong(_)));
    // A cancelled or failed round leaves its executions unfinished.
    let gated_and_left = seen.case.mode == ExecutionMode::Sequential
        || seen
            .entries
            .iter()
            .any(|entry| matches!(entry.what, What::Gate { verdict: Verdict::BlockRun(_), .. }));
    let abandons = seen
        .trace
        .iter()
        .any(|event| event.lifecycle == "run_flow" && matches!(&*event.to, "Error" | "Cancelled"));
    for unfinished in report.unfinished {
        let fine = match unfinished.lifecycle.as_str() {
            "run" => !over,
            "tool_call" => unfinished.state == "New" || !over,
            "run_flow" => cut,
            // All gates come first: a call that does not start afterwards is gated again, by another execution.
            "tool_execution" if unfinished.state == "BeforeToolExecute" => cut || abandons || gated_and_left,
            _ => cut || abandons,
        };
        if !fine {
            book.wrong("traces", format!("unfinished: {unfinished}"));
        }
    }
    report.coverage
}
