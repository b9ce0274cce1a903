//! Restoration of a stored run, and the consistency of its parts.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use runstate::decision::Suspension;
use runstate::kernel::Slot;
use runstate::run::{AnyRun, RunStatus};
use runstate::tool_call::{AnyToolCall, CallKey, ToolCallStatus};
use runstate::turn::{CallRequest, Turn};

use super::super::event::PendingEvents;
use super::super::history::{CallResult, History, Message, OpenCall};
use super::super::keys::{Changed, KeyState};
use super::super::thread::Thread;
use super::moves::{NOT_EXECUTED, WAITING, content_of};
use super::round::Round;
use super::stored::StoredRun;
use super::{Call, Calls, Decided, RunState};

/// An inconsistency: its path and its description.
pub(super) struct Inconsistency {
    pub(super) path: String,
    pub(super) what: String,
}

fn contradiction<T>(path: impl Into<String>, what: impl Into<String>) -> Result<T, Inconsistency> {
    Err(Inconsistency { path: path.into(), what: what.into() })
}

/// Checks that the counters have enough room left. Counters only grow.
fn countable(stored: &StoredRun) -> Result<(), Inconsistency> {
    const SMALL: u64 = 1 << 31;
    const LARGE: u64 = 1 << 62;
    let executions = stored.calls.values().map(|call| call.executions).max().unwrap_or(0);
    let counters = [
        ("steps", stored.steps.into(), SMALL),
        ("flows", stored.flows.into(), SMALL),
        ("__tool_call_states", executions.into(), SMALL),
        ("events", stored.events, LARGE),
        ("version", stored.version, LARGE),
    ];
    match counters.into_iter().find(|(_, count, most)| count > most) {
        Some((path, count, most)) => {
            contradiction(path, format!("it counts {count}, and no run counts more than {most}"))
        }
        None => Ok(()),
    }
}

impl RunState {
    /// Restores a run. `calls` are in the order of their keys.
    pub(super) fn restored(stored: &StoredRun, run: AnyRun, calls: Vec<Call>) -> Result<Self, Inconsistency> {
        countable(stored)?;
        let (history, places) = history(stored, &calls)?;
        let mut all = Calls::default();
        for mut call in calls {
            match places.get(&call.record().key()) {
                Some(place) => call.place = *place,
                None => {
                    let what = format!("no answer asks for call {}", call.record().key());
                    return contradiction("__tool_call_states", what);
                }
            }
            all.insert(call);
        }
        let mut decided = Decided::default();
        for (id, decision) in &stored.decisions {
            if *id != decision.suspension_id {
                let what = format!("the decision under {id:?} is on {:?}", decision.suspension_id);
                return contradiction("__resume_decisions", what);
            }
            decided.restore(decision.clone());
        }
        let KeyState { run: values, thread: thread_values } = stored.values.clone();
        Ok(RunState {
            id: run.record().id().into(),
            calls: all,
            base: stored.base,
            thread: Thread { id: stored.thread.as_str().into(), history, values: thread_values },
            values,
            decided,
            counters: stored.counters.clone(),
            steps: stored.steps,
            offer: stored.offer.clone(),
            flows: stored.flows,
            events: stored.events,
            following: 0,
            pending_events: PendingEvents::default(),
            untold: Vec::new(),
            commits: stored.version,
            unread: is_unread(stored.messages.get(stored.base..).unwrap_or_default()),
            interrupted: run.status() == RunStatus::Running && stored.flows > 0,
            run: Slot::new(run),
            saved: None,
            run_changed: false,
            unsaved: Vec::new(),
            changed_values: Changed::default(),
            round: Round::default(),
        })
    }
}

/// Returns whether a result follows the last answer. Results are stored in order of arrival.
fn is_unread(messages: &[Message]) -> bool {
    let last = messages.iter().rev().find(|message| !matches!(message, Message::User(_)));
    matches!(last, Some(Message::Result(_)))
}

/// The messages as the model reads them, and the positions of the results of this run's calls.
fn history(stored: &StoredRun, calls: &[Call]) -> Result<(History, HashMap<CallKey, usize>), Inconsistency> {
    let Some((earlier, own)) = stored.messages.split_at_checked(stored.base) else {
        let what = format!("{} where there are {} messages", stored.base, stored.messages.len());
        return contradiction("base", what);
    };
    let mut history = History::default();
    for message in earlier {
        history.push(message.clone());
    }
    let places = arrange(&mut history, own)?;
    for call in calls {
        let open = places.get(&call.record().key()).copied().filter(|place| history.is_open(*place));
        if let (Some(place), ToolCallStatus::Suspended) = (open, call.status())
            && let Some(Message::Open(open)) = history.get(place).cloned()
        {
            history.set(place, Message::Open(OpenCall { why: WAITING, ..open }));
        }
    }
    Ok((history, places))
}

/// Adds the messages of a run in the model's order. They are stored in order of arrival, and a result may arrive long
/// after its call. Returns the positions of the results.
pub(super) fn arrange(
    history: &mut History,
    own: &[Message],
) -> Result<HashMap<CallKey, usize>, Inconsistency> {
    let mut places = HashMap::new();
    let mut step = 0;
    let mut results: Vec<&Arc<CallResult>> = Vec::new();
    for message in own {
        match message {
            Message::Assistant(turn) => {
                step += 1;
                history.push(message.clone());
                for ordinal in 0..u32::try_from(turn.calls.len()).unwrap_or(u32::MAX) {
                    let open = OpenCall::new(Arc::clone(turn), ordinal, NOT_EXECUTED);
                    places.insert(CallKey { step, ordinal }, history.push(Message::Open(open)));
                }
            }
            Message::Result(result) => results.push(result),
            Message::User(_) | Message::Open(_) => {
                history.push(message.clone());
            }
        }
    }
    for result in results {
        let place = places.get(&result.key).copied();
        match place.filter(|place| history.is_open(*place)) {
            Some(place) => history.set(place, Message::Result(Arc::clone(result))),
            None => {
                let what = format!("the result of call {} is one too many", result.key);
                return contradiction("messages", what);
            }
        }
    }
    Ok(places)
}

/// The waiting calls with their suspensions. They are stored beside the calls as an index.
pub(super) fn suspended(state: &RunState) -> BTreeMap<String, Suspension> {
    state.pending().iter().map(|pending| (pending.call.to_owned(), pending.suspension.clone())).collect()
}

/// Checks that the restored run is consistent, and that it matches the data stored beside it.
pub(super) fn check(state: &RunState, stored: &StoredRun) -> Result<(), Inconsistency> {
    // The suspension of a call from another version was written in that version's form.
    let is_current = |(call, _): &(&String, &Suspension)| !stored.is_migrated(call);
    if !stored.suspended.iter().filter(is_current).eq(suspended(state).iter().filter(is_current)) {
        return contradiction(
            "__suspended_tool_calls",
            "it does not list exactly the calls that are Suspended, with their suspensions",
        );
    }
    decisions(state)?;
    calls(state)?;
    results(state)?;
    run(state)
}

fn decisions(state: &RunState) -> Result<(), Inconsistency> {
    for call in state.calls.iter() {
        if let AnyToolCall::Resuming(machine) = call.machine.get() {
            let decision = machine.decision();
            if state.decided.on(&decision.suspension_id) != Some(decision) {
                let what =
                    format!("decision {:?}, by which it resumes, was not accepted", decision.decision_id);
                return contradiction(path_of(call), what);
            }
        }
    }
    Ok(())
}

/// Checks that each requested call exists once, and matches its request.
fn calls(state: &RunState) -> Result<(), Inconsistency> {
    let answers: Vec<&Arc<Turn>> =
        state.thread.history[state.base..].iter().filter_map(Message::answer).collect();
    if u32::try_from(answers.len()) != Ok(state.steps) {
        return contradiction("steps", format!("{} where there are {} answers", state.steps, answers.len()));
    }
    let mut calls = state.calls.iter();
    for (step, answer) in (1..).zip(answers) {
        for (ordinal, request) in (0..).zip(&answer.calls) {
            let key = CallKey { step, ordinal };
            match calls.next().filter(|call| call.record().key() == key) {
                Some(call) => is_as_asked_for(call, request)?,
                None => {
                    let what = format!("call {key} ({}) is missing", request.id);
                    return contradiction("__tool_call_states", what);
                }
            }
        }
    }
    match calls.next() {
        Some(call) => {
            contradiction(path_of(call), format!("it stands for call {} a second time", call.record().key()))
        }
        None => Ok(()),
    }
}

fn is_as_asked_for(call: &Call, request: &CallRequest) -> Result<(), Inconsistency> {
    let record = call.record();
    let is_life = |life: &str| !life.is_empty() && life.bytes().all(|digit| digit.is_ascii_digit());
    let rest = call.name.strip_prefix(&request.id);
    if !rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('#').is_some_and(is_life)) {
        return contradiction(path_of(call), format!("it is no name of a call with the id {:?}", request.id));
    }
    let parts = [
        ("another id", record.id() == request.id),
        ("another tool", record.tool() == request.tool),
        ("other arguments", *record.arguments() == request.arguments),
    ];
    match parts.iter().find(|(_, same)| !same) {
        Some((other, _)) => {
            contradiction(path_of(call), format!("the answers ask for {other} in call {}", record.key()))
        }
        None => Ok(()),
    }
}

/// Checks that each ended call has its result among the messages. No other call has one, except calls that can never
/// start any more.
fn results(state: &RunState) -> Result<(), Inconsistency> {
    for call in state.calls.iter() {
        let expected = content_of(call.machine.get());
        let got = match state.thread.history.get(call.place) {
            Some(Message::Result(result)) => Some(result),
            _ => None,
        };
        let agrees = match (&expected, got) {
            (Some(expected), Some(result)) => *expected == result.content && result.id == call.record().id(),
            (None, Some(_)) => call.status() == ToolCallStatus::New,
            (None, None) => true,
            (Some(_), None) => false,
        };
        if !agrees {
            let what = format!("call {} is {}, and its message is not that", call.name, call.status());
            return contradiction("messages", what);
        }
    }
    Ok(())
}

/// Checks that the status of the run fits the states of its calls.
fn run(state: &RunState) -> Result<(), Inconsistency> {
    let mut open = state.calls.open().iter().map(|call| &state.calls[*call]);
    match state.run.get() {
        AnyRun::Running(_) => Ok(()),
        AnyRun::Waiting(run) => {
            if let Some(call) = open.find(|call| call.status() != ToolCallStatus::Suspended) {
                let what = format!("it is Waiting while {} is {}", call.name, call.status());
                return contradiction("__run", what);
            }
            let waiting = state.waiting();
            if *run.calls() != waiting {
                let what = format!("it waits for {:?}, and the waiting calls are {waiting:?}", run.calls());
                return contradiction("__run", what);
            }
            Ok(())
        }
        AnyRun::Done(_) => match open.next() {
            Some(call) => {
                contradiction("__run", format!("it is Done while {} is {}", call.name, call.status()))
            }
            None => Ok(()),
        },
    }
}

fn path_of(call: &Call) -> String {
    format!("__tool_call_states.{}", call.name)
}
