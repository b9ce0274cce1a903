//! The trace: without a gap, along the diagrams, and ending in the states of the run and its calls.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use runstate::run::RunStatus;
use runstate::trace::{Checker, Event, Report, Rulebook, Unfinished, Verdict, check};

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
        if !is_complete(&report, &seen.trace, seen.ended_as("cancelled"), seen.is_messaged(book)) {
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
/// In sequential mode all gates of a round come before its first tool. A tool that asks leaves the calls behind it
/// `New`, and their next executions begin with a gate of their own.
fn is_complete(report: &Report, trace: &[Event<'_>], cancelled: bool, superseded: bool) -> bool {
    let stays = |it: &Unfinished| {
        let state = (&*it.lifecycle, &*it.state);
        matches!(
            state,
            ("tool_call", "New") | ("resume_tool_call", "ExecuteReplayedTool") | ("tool_execution", _)
        )
    };
    let is_new = |it: &Unfinished| (&*it.lifecycle, &*it.state) == ("tool_call", "New");
    let is_gated_again = |it: &Unfinished| {
        (&*it.lifecycle, &*it.state) == ("tool_execution", "BeforeToolExecute")
            && trace
                .iter()
                .any(|event| event.lifecycle == it.lifecycle && is_later(&event.instance, &it.instance))
    };
    report
        .unfinished
        .iter()
        .all(|it| is_gated_again(it) || cancelled && stays(it) || superseded && is_new(it))
}

/// Is the first execution a later one of the same call?
fn is_later(execution: &str, than: &str) -> bool {
    let parts = |name: &str| {
        name.rsplit_once('.').and_then(|(call, n)| Some((call.to_owned(), n.parse::<u32>().ok()?)))
    };
    let (Some((call, number)), Some((of, than))) = (parts(execution), parts(than)) else { return false };
    call == of && number > than
}

#[cfg(test)]
mod tests {
    use runstate::trace::check;

    use super::{Event, RULES, is_complete, is_later};

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
        is_complete(&report, &events, cancelled, false)
    }

    #[test]
    fn an_execution_behind_a_tool_that_asked_is_followed_by_another_one() {
        let line = |seq: u32, execution: &str, event: &str, from: &str, to: &str| {
            format!(
                r#"{{"seq":{seq},"at_ms":0,"run":"r1","lifecycle":"tool_execution","instance":"{execution}","event":"{event}","from":{from},"to":"{to}"}}"#
            )
        };
        let complete = |executions: [&str; 2]| {
            let [first, second] = executions;
            let before = r#""BeforeToolExecute""#;
            let lines = [
                line(1, first, "create", "null", "BeforeToolExecute"),
                line(2, second, "create", "null", "BeforeToolExecute"),
                line(3, second, "block", before, "Blocked"),
                line(4, second, "conclude", r#""Blocked""#, "AfterToolExecute"),
            ];
            let events: Vec<Event<'_>> = lines.iter().map(|line| Event::from_json(line).unwrap()).collect();
            let report = check(&events, &RULES);
            assert_eq!(report.violation, None);
            is_complete(&report, &events, false, false)
        };
        assert!(complete(["s2c2.1", "s2c2.2"]));
        assert!(!complete(["s2c2.2", "s2c2.1"]) && !complete(["s2c1.1", "s2c2.2"]));
        assert!(is_later("c.10", "c.9") && !is_later("c.9", "c.9") && !is_later("c", "c.1"));
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
