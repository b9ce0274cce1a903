//! What every run promises, whatever came from outside.

use std::collections::{BTreeMap, BTreeSet};

use runstate::agent::{Effect, Reply, StoredRun};
use runstate::decision::DecisionAction;
use runstate::run::RunStatus;
use runstate::tool_call::ToolCallStatus;
use runstate::trace::Coverage;
use serde_json::Value;

use super::super::parts::statuses;
use super::case::Case;
use super::process::Finished;

type Judged = Result<(), String>;

macro_rules! ensure {
    ($promise:expr, $($why:tt)+) => {
        if !$promise {
            return Err(format!($($why)+));
        }
    };
}

pub(super) fn judge(run: &Finished, case: &Case) -> Judged {
    trace_conforms(run)?;
    is_over(run)?;
    executes_no_more_than_it_may(run)?;
    keeps_decisions(run)?;
    ensure!(run.state.steps() <= case.max_steps, "{} steps of at most {}", run.state.steps(), case.max_steps);
    Ok(())
}

/// The trace conforms, or is incomplete for machines that were cut off.
fn trace_conforms(run: &Finished) -> Judged {
    let report = run.report();
    ensure!(report.violation.is_none(), "{}", report.summary());
    for lifecycle in report.coverage.iter() {
        let graph = runstate::lifecycles().iter().find(|graph| graph.name == lifecycle.lifecycle).unwrap();
        for state in &lifecycle.states {
            if graph.state(&state.state).unwrap().terminal || state.current == 0 {
                continue;
            }
            let left = state.current as usize;
            let most = match (lifecycle.lifecycle.as_str(), state.state.as_str()) {
                // A call that never started, whatever the run came to.
                ("tool_call", "New") => usize::MAX,
                // An execution that was ready when its round was left: for a call that asked, or a cancelled run.
                ("tool_execution", "ExecuteTool") => usize::MAX,
                ("tool_execution", _) => run.crashes,
                ("run_flow", _) => run.crashes,
                // A decision that could not be made durable is not replayed.
                ("resume_tool_call", "PersistResumeDecision") => run.crashes + run.failed_commits,
                ("resume_tool_call", _) => run.crashes,
                _ => 0,
            };
            ensure!(
                left <= most,
                "{left} of {} left in {}: {}",
                lifecycle.lifecycle,
                state.state,
                report.summary()
            );
        }
    }
    let may_abandon = run.cancelled
        || run.crashes > 0
        || run.failed_commits > 0
        || report.coverage.lifecycle("tool_execution").is_some_and(|it| {
            it.edges.iter().any(|edge| edge.from == "ExecuteTool" && edge.to == "Suspended" && edge.taken > 0)
        });
    let executions = report.coverage.lifecycle("tool_execution").map_or(0, |it| it.unfinished);
    ensure!(may_abandon || executions == 0, "executions are left for no reason: {}", report.summary());
    Ok(())
}

/// The run is done, durably, and so are its calls but those that never started.
fn is_over(run: &Finished) -> Judged {
    for (name, call) in run.state.calls() {
        let status = call.status();
        ensure!(status.is_terminal() || status == ToolCallStatus::New, "{name} is {status} at the end");
    }
    let stored = StoredRun::from_json(run.stored.as_bytes()).map_err(|error| error.to_string())?;
    let restored = stored.restore().map_err(|error| error.to_string())?;
    ensure!(restored.run().status() == RunStatus::Done, "the end is not durable");
    ensure!(statuses(&restored) == statuses(&run.state), "{:?} is stored", statuses(&restored));
    if run.reason == "natural_end" {
        let left: Vec<_> = statuses(&run.state).into_iter().filter(|it| it.ends_with(" New")).collect();
        let superseded = run.state.messages().len() as u32 > run.state.steps() + 1;
        ensure!(left.is_empty() || superseded, "{left:?} were never started");
    }
    Ok(())
}

/// Nothing is executed twice in silence, and nothing that was not allowed.
fn executes_no_more_than_it_may(run: &Finished) -> Judged {
    let accepted = decisions(run)?;
    let resumed = |call: &str| {
        let of_it = run.doubts.iter().filter(|(_, doubted)| doubted == call);
        of_it
            .filter(|(suspension, _)| accepted.get(suspension).is_some_and(|(_, action)| action == "resume"))
            .count()
    };
    let mut keys: BTreeMap<&str, usize> = BTreeMap::new();
    for execution in &run.ledger {
        ensure!(
            !["blocked", "fixed", "revoked"].contains(&execution.tool),
            "{} was executed",
            execution.tool
        );
        *keys.entry(&execution.key).or_default() += 1;
    }
    for execution in run.ledger.iter().filter(|execution| execution.effect == Effect::Once) {
        let (times, doubts) = (keys[&*execution.key], resumed(&execution.call));
        ensure!(
            times <= 1 + doubts,
            "{} was executed {times} times, {doubts} of them in doubt",
            execution.key
        );
        if ["note", "write", "write_twice"].contains(&execution.tool) {
            // These never ask while they execute, so that one execution is all that there is to a call.
            let all = run.ledger.iter().filter(|other| other.call == execution.call).count();
            ensure!(all <= 1 + doubts, "{} was executed {all} times, {doubts} in doubt", execution.call);
        }
        if ["write", "write_twice"].contains(&execution.tool) {
            let on_it = |(call, action): &(String, String)| *call == execution.call && action == "resume";
            ensure!(accepted.values().any(on_it), "{} was executed without approval", execution.call);
        }
    }
    Ok(())
}

/// The decisions in storage: by suspension, the call and the action.
fn decisions(run: &Finished) -> Result<BTreeMap<String, (String, String)>, String> {
    let stored: Value = serde_json::from_str(&run.stored).map_err(|error| error.to_string())?;
    let decisions = stored["__resume_decisions"].as_object().ok_or("no decisions")?;
    let given = |id: &str| run.given(id);
    Ok(decisions
        .iter()
        .map(|(suspension, decision)| {
            let call = given(decision["decision_id"].as_str().unwrap_or_default()).unwrap_or_default();
            (suspension.clone(), (call, decision["action"].as_str().unwrap_or_default().to_owned()))
        })
        .collect())
}

/// No decision counts twice, and none that was told accepted is lost.
fn keeps_decisions(run: &Finished) -> Judged {
    let mut accepted = BTreeSet::new();
    for (incoming, reply, executions) in &run.replies {
        if *reply != Reply::Accepted {
            continue;
        }
        let id = &incoming.decision_id;
        ensure!(accepted.insert(id), "{id} was accepted twice");
        let stored = format!("\"decision_id\": {}", Value::from(id.as_str()));
        ensure!(run.stored.contains(&stored), "{id} was accepted, and is lost");
        if incoming.action == DecisionAction::Cancel {
            let later = run.ledger[*executions..].iter().any(|execution| execution.call == incoming.call);
            ensure!(!later, "{} was denied, and executed", incoming.call);
            let denied = format!("{} Cancelled", incoming.call);
            ensure!(
                statuses(&run.state).contains(&denied),
                "{} was denied, and is not cancelled",
                incoming.call
            );
        }
    }
    Ok(())
}

/// Edges of the lifecycles of a run that random runs do not take.
const NEVER: [(&str, &str, &str, &str); 5] = [
    ("run_flow", "CommitAssistant", "Terminate", "the driver has no plugins that could ask for it"),
    ("run_flow", "RunStart", "Error", "the driver does nothing there that can fail"),
    ("run_flow", "StepPrepare", "Error", "the driver does nothing there that can fail"),
    ("run_flow", "AfterInference", "Error", "the driver does nothing there that can fail"),
    (
        "run_flow",
        "ResumeToolCall",
        "Error",
        "nothing waits before a step, so that no decision is committed there",
    ),
];

/// Every edge is taken by some run, but those that no driven run can take; and those are not.
pub(super) fn assert_covered(coverage: &Coverage) {
    let edge = |lifecycle: &str, from: &str, to: &str| format!("{lifecycle}/{from}:{to}");
    let never = coverage.iter().flat_map(|it| it.never().map(|e| edge(&it.lifecycle, &e.from, &e.to)));
    let never: BTreeSet<_> = never.collect();
    let known: BTreeSet<_> = NEVER.iter().map(|(lifecycle, from, to, _)| edge(lifecycle, from, to)).collect();
    assert_eq!(never, known, "left: what no run took; right: what none can\n{coverage}");
    let driven = ["resume_tool_call", "run", "run_flow", "tool_call", "tool_execution"];
    let mut seen: Vec<_> = coverage.iter().map(|it| it.lifecycle.as_str()).collect();
    seen.sort_unstable();
    assert_eq!(seen, driven);
}
