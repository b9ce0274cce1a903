//! The external effects of calls, by the ledger, are the permitted ones; and the outcomes of calls are the outcomes of their
//! tools.

use std::collections::HashSet;

use runstate::decision::{Decision, DecisionAction};
use runstate::tool_call::AnyToolCall;

use super::book::{Began, LedgerIndex};
use super::run::Seen;
use super::{IN_DOUBT, Violation};
use crate::script::{Asks, Call, ToolName};

pub(super) fn judge(seen: &Seen, book: &LedgerIndex<'_>, wrong: &mut Vec<Violation>) {
    let Some(state) = &seen.state else { return };
    let mut say = |what: String| wrong.push(Violation::new("calls", &*seen.id, what));
    let mut count = 0;
    for (name, call) in state.calls() {
        count += 1;
        let key = call.record().key();
        let step = seen.script.steps.get((key.step as usize).saturating_sub(1));
        let Some(asked) = step.and_then(|step| step.calls.get(key.ordinal as usize)) else {
            say(format!("the model asked for no call {key}"));
            continue;
        };
        if serde_json::to_value(asked).ok().as_ref() != Some(call.record().arguments()) {
            say(format!("{name} has other arguments than the model gave it"));
        }
        if let Err(what) = executions(seen, book, name, asked) {
            say(what);
        }
        let of_call = |it: &&Decision| it.call == name;
        let decisions: Vec<&Decision> = seen.taken.iter().filter(of_call).collect();
        if let Err(what) = outcome(seen, book, name, call, asked, &decisions) {
            say(what);
        }
    }
    let all: usize = seen.script.steps.iter().map(|step| step.calls.len()).sum();
    if seen.ended_as("natural_end") && count != all {
        say(format!("it has {count} calls, and the model asked for {all}"));
    }
    if seen.is_over() && !seen.ended_as("natural_end") && !book.was_cancelled(&seen.id) {
        say(format!("it ended as {:?}, for no reason that there was", seen.loaded.info.reason));
    }
}

/// The reason of a call that a message has superseded.
const SUPERSEDED: &str = "superseded by a new message";

/// A tool executes as often as permitted: once, or never before a person is asked; and once more for each acknowledged
/// resumption. A repeatable tool may repeat each of these, under its key.
fn executions(seen: &Seen, book: &LedgerIndex<'_>, name: &str, asked: &Call) -> Result<(), String> {
    let allowed = |before: Option<&Began<'_>>| {
        let resumes = book.resumes(&seen.id, name, before);
        match asked.asks {
            Asks::GateForResult => 0,
            Asks::Gate => resumes,
            Asks::TwoPeople => resumes.saturating_sub(1),
            Asks::Nobody | Asks::Tool => 1 + resumes,
        }
    };
    let began = book.began(&seen.id, name);
    let keys: Vec<&str> = began.iter().map(|began| began.key).collect();
    let distinct: HashSet<&str> = keys.iter().copied().collect();
    if distinct.len() > allowed(None) {
        return Err(format!("{name} executed as {keys:?}, and was allowed to {} times", allowed(None)));
    }
    if asked.tool == ToolName::Again {
        return Ok(());
    }
    for (before, it) in began.iter().enumerate() {
        // The permission was sent before the execution begins.
        if before >= allowed(Some(it)) {
            let times = allowed(Some(it));
            return Err(format!("{name} must not run twice: of {keys:?} {times} were allowed at the time"));
        }
    }
    // Durable before a tool executes: the start of its call, or its resume.
    let is_start = |event: &&runstate::trace::Event<'_>| {
        event.lifecycle == "tool_call"
            && event.instance == name
            && (event.to == "Resuming"
                || (event.to == "Running" && event.from.as_deref() != Some("Resuming")))
    };
    let started = seen.trace.iter().filter(is_start).count();
    if began.len() > started {
        return Err(format!("{name} began {} times, and {started} starts of it are durable", began.len()));
    }
    Ok(())
}

fn outcome(
    seen: &Seen,
    book: &LedgerIndex<'_>,
    name: &str,
    call: &AnyToolCall,
    asked: &Call,
    decisions: &[&Decision],
) -> Result<(), String> {
    let declined = decisions.iter().any(|decision| decision.action == DecisionAction::Cancel);
    let run_was_cancelled = book.was_cancelled(&seen.id);
    let acted = |key: &str| {
        let mut began = book.began(&seen.id, name).iter();
        if !began.any(|began| began.key == key) || !book.has_ended(key) {
            return Err(format!(
                "{name} says that it acted as {key}, and no effect with that key was observed"
            ));
        }
        Ok(())
    };
    match call {
        _ if declined && !matches!(call, AnyToolCall::Cancelled(_)) => {
            Err(format!("{name} was declined, or expired, and is {}", call.status()))
        }
        AnyToolCall::Succeeded(call) if asked.asks == Asks::GateForResult => {
            match decisions.iter().any(|decision| decision.result == *call.output()) {
                true => Ok(()),
                false => Err(format!("{name} has the result {}, which no decision gave", call.output())),
            }
        }
        // A person supplied the result of an execution in doubt.
        AnyToolCall::Succeeded(call)
            if decisions.iter().any(|it| {
                it.suspension_id.ends_with(IN_DOUBT) && !it.result.is_null() && it.result == *call.output()
            }) =>
        {
            Ok(())
        }
        AnyToolCall::Succeeded(_) if asked.fails => Err(format!("{name} fails, and has succeeded")),
        AnyToolCall::Succeeded(call) => acted(call.output()["acted_as"].as_str().unwrap_or("nothing")),
        AnyToolCall::Failed(call) => match call.error().strip_prefix("failed as ") {
            Some(key) if asked.fails => acted(key),
            _ => Err(format!("{name} failed, and not as it does: {}", call.error())),
        },
        AnyToolCall::Cancelled(_) if declined || run_was_cancelled => Ok(()),
        // The message may exist although its acknowledgement was lost.
        AnyToolCall::Cancelled(call) if call.reason().starts_with(SUPERSEDED) && seen.is_messaged(book) => {
            Ok(())
        }
        // A call that never started is unchanged.
        AnyToolCall::New(_) if seen.is_messaged(book) => Ok(()),
        AnyToolCall::Cancelled(_) => Err(format!("{name} is cancelled, and no cancellation was requested")),
        _ if seen.ended_as("natural_end") => Err(format!("the run is over, and {name} is {}", call.status())),
        _ => Ok(()),
    }
}
