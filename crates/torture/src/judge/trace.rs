//! The trace: without a gap, along the diagrams, and where it ends the run and its calls stand.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use runstate::run::RunStatus;
use runstate::trace::{Checker, Rulebook};

use super::Violation;
use super::run::Seen;

static RULES: LazyLock<Rulebook> = LazyLock::new(|| {
    Rulebook::of(runstate::lifecycles().iter().copied())
        .restarting("run_flow", ["resume_tool_call", "tool_execution"])
});

pub(super) fn judge(seen: &Seen, wrong: &mut Vec<Violation>) {
    let mut say = |what: String| wrong.push(Violation::new("trace", &*seen.id, what));
    for ((seq, _), expected) in seen.rows.iter().zip(1..) {
        if *seq != expected {
            say(format!("event {seq} stands where event {expected} is the next"));
            break;
        }
    }
    let mut checker = Checker::new(&RULES);
    for (number, event) in (1..).zip(&seen.trace) {
        checker.event(number, event);
    }
    if let Some(violation) = checker.violation() {
        say(violation.to_string());
    }
    if seen.loaded.info.status == RunStatus::Done {
        let report = checker.finish();
        if report.unfinished_instances > 0 {
            say(format!("it is over, and its trace is not complete: {}", report.summary()));
        }
    }
    let Some(state) = &seen.state else { return };
    let last = |lifecycle: &str| -> BTreeMap<&str, &str> {
        let of_it = seen.trace.iter().filter(|event| event.lifecycle == lifecycle);
        of_it.map(|event| (&*event.instance, &*event.to)).collect()
    };
    let run = last("run").get(&*seen.id).copied();
    let info = &seen.loaded.info;
    if run != Some(info.status.name()) || state.run().status() != info.status {
        say(format!(
            "the run is {} in lists, {} as a machine, {run:?} in its trace",
            info.status,
            state.run().status()
        ));
    }
    let calls: BTreeMap<&str, &str> =
        state.calls().map(|(name, call)| (name, call.status().name())).collect();
    let traced = last("tool_call");
    if calls != traced {
        say(format!("its calls are {calls:?}, and {traced:?} in its trace"));
    }
}
