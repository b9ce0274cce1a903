//! The trace: without a gap, along the diagrams, and ending in the states of the run and its calls.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use runstate::run::RunStatus;
use runstate::trace::{Checker, Report, Rulebook, Unfinished, Verdict, check};

use super::Violation;
use super::book::LedgerIndex;
use super::run::Seen;

static RULES: LazyLock<Rulebook> = LazyLock::new(|| {
    Rulebook::of(runstate::lifecycles().iter().copied())
        .restarting("run_flow", ["resume_tool_call", "tool_execution"])
});

/// The rules of `runstate check`.
static OF_THE_COMMAND: LazyLock<Rulebook> = LazyLock::new(runstate::rulebook);

pub(super) fn judge(seen: &Seen, book: &LedgerIndex<'_>, wrong: &mut Vec<Violation>) {
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
        // A run that is cancelled during a wait has no flow with that end.
        if !is_complete(&report, seen.ended_as("cancelled"), seen.is_messaged(book)) {
            say(format!("it is over, and its trace is not complete: {}", report.summary()));
        }
        let report = check(&seen.trace, &OF_THE_COMMAND);
        if report.verdict != Verdict::Conforms {
            say(format!("it is over, and `check --complete` refuses its trace: {}", report.summary()));
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

/// Has each instance ended that ends in such a run? A cancelled run starts no new call, and abandons the executions of its
/// round and of its replay, with the pass that waits for it. A run that continues with a message starts no earlier call.
fn is_complete(report: &Report, cancelled: bool, superseded: bool) -> bool {
    let stays = |it: &Unfinished| {
        let state = (&*it.lifecycle, &*it.state);
        matches!(
            state,
            ("tool_call", "New") | ("resume_tool_call", "ExecuteReplayedTool") | ("tool_execution", _)
        )
    };
    let is_new = |it: &Unfinished| (&*it.lifecycle, &*it.state) == ("tool_call", "New");
    report.unfinished_instances == 0
        || cancelled && report.unfinished.iter().all(stays)
        || superseded && report.unfinished.iter().all(is_new)
}

#[cfg(test)]
mod tests {
    use runstate::trace::{Event, check};

    use super::{RULES, is_complete};

    /// Is a trace complete in which one instance took these states?
    fn complete(lifecycle: &str, steps: &[(&str, &str)], cancelled: bool) -> bool {
        let mut from = "null".to_owned();
        let mut lines = Vec::new();
        for (seq, (event, to)) in (1..).zip(steps) {
            lines.push(format!(
                r#"{{"seq":{seq},"at_ms":0,"run":"r1","lifecycle":"{lifecycle}","instance":"i","event":"{event}","from":{from},"to":"{to}"}}"#
            ));
            from = format!("\"{to}\"");
        }
        let events: Vec<Event<'_>> = lines.iter().map(|line| Event::from_json(line).unwrap()).collect();
        let report = check(&events, &RULES);
        assert_eq!(report.violation, None);
        is_complete(&report, cancelled, false)
    }

    #[test]
    fn a_cancelled_run_leaves_new_calls_and_executions() {
        let new: &[(&str, &str)] = &[("create", "New")];
        let executes = [("create", "BeforeToolExecute"), ("allow", "ExecuteTool")];
        let running = [("create", "New"), ("start", "Running")];
        assert!(complete("tool_call", new, true) && !complete("tool_call", new, false));
        assert!(complete("tool_execution", &executes, true) && !complete("tool_execution", &executes, false));
        let replays = [
            ("create", "DrainDecisionChannel"),
            ("match_call", "ResolveDecision"),
            ("resolve", "PersistResumeDecision"),
            ("persist", "Replay"),
            ("approve", "ReplayResume"),
            ("execute", "ExecuteReplayedTool"),
        ];
        assert!(
            complete("resume_tool_call", &replays, true) && !complete("resume_tool_call", &replays, false)
        );
        assert!(!complete("resume_tool_call", &replays[..4], true));
        assert!(!complete("tool_call", &running, true));
        assert!(!complete("run", &[("create", "Running")], true));
    }
}
