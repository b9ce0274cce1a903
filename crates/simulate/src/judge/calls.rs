//! An allowed call executes once, with its approved arguments; any other call never executes.

use std::collections::{BTreeMap, BTreeSet};

use runstate::decision::{Decision, DecisionAction, IN_DOUBT, ResumeMode, Suspension};
use runstate::termination::TerminationReason;
use runstate::tool_call::{CallKey, ToolCallStatus};
use runstate_agent::event::{CallOutcome, EventKind};
use runstate_agent::{Incoming, Verdict};
use serde_json::Value;

use super::looks::Looks;
use super::people::APPROVE;
use super::{Findings, Judge, ObservedRun, Step};
use crate::case::{Act, ActPhase, Case, Does, ToolName};
use crate::play::{Seen, What};

/// Part of the error of a call that people must approve, after a decision on another question replaced its arguments.
pub(super) const REPLACED: &str = "a decision replaced its arguments";

/// The reason for an execution: the model's own request, or a decision.
type Ground = Option<String>;

#[derive(Default)]
struct OfCall {
    /// The verdicts of the plugins that ran at the last gate.
    verdict: Option<Verdict>,
    /// Is the gate open, without an execution since?
    open: bool,
    /// The number of executions for each reason, with the key.
    executed: BTreeMap<Ground, (u32, String)>,
    arguments: Option<Value>,
    /// The number of cuts at the last start of its tool.
    cuts: u32,
    /// The key of its execution that has no answer.
    unanswered: Option<String>,
}

pub(super) struct Calls<'s> {
    case: &'s Case,
    calls: BTreeMap<String, OfCall>,
    /// The decisions given under each id.
    sent: BTreeMap<String, Vec<Incoming>>,
    /// The list of the run at the time of each decision.
    looks: Looks,
    keys: BTreeSet<String>,
}

impl<'s> Calls<'s> {
    pub(super) fn new(seen: &'s Seen) -> Self {
        Calls {
            case: &seen.case,
            calls: BTreeMap::new(),
            sent: BTreeMap::new(),
            looks: Looks::default(),
            keys: BTreeSet::new(),
        }
    }
}

/// Why the requested call can never execute.
pub(super) fn is_unfit(case: &Case, key: CallKey) -> Option<&'static str> {
    let call = case.call(key.step, key.ordinal)?;
    let turn = &case.answers.get(key.step as usize - 1)?.calls;
    if turn[..key.ordinal as usize].iter().any(|earlier| earlier.id == call.id) {
        return Some("same id");
    }
    if call.garbled {
        return Some("cannot be read");
    }
    match call.tool {
        ToolName::Missing => Some("there is no tool"),
        ToolName::Strict if call.unfit => Some("do not fit"),
        _ => None,
    }
}

/// Did a plugin offer other tools in the step that asked for the call?
pub(super) fn is_withheld(case: &Case, key: CallKey) -> bool {
    let offers_read =
        |act: &Act| (act.phase, act.step, act.does) == (ActPhase::BeforeInference, key.step, Does::OfferRead);
    case.acts.iter().any(offers_read)
        && case.call(key.step, key.ordinal).is_some_and(|call| call.tool != ToolName::Read)
}

/// Block run, block, suspend, set the result, allow; the first of equals. An independent implementation.
fn stronger(first: Option<Verdict>, second: &Verdict) -> Verdict {
    let rank = |verdict: &Verdict| match verdict {
        Verdict::BlockRun(_) => 0,
        Verdict::Block(_) => 1,
        Verdict::Suspend(_) => 2,
        Verdict::SetResult(_) => 3,
        _ => 4,
    };
    match first {
        Some(first) if rank(&first) <= rank(second) => first,
        _ => second.clone(),
    }
}

impl Judge for Calls<'_> {
    fn step(&mut self, step: Step<'_>, now: &ObservedRun, book: &mut Findings) {
        let Step::Entry(entry) = step else { return };
        match &entry.what {
            What::Sent { incoming, shown, .. } => {
                self.looks.given(&incoming.decision_id, shown);
                self.sent.entry(incoming.decision_id.clone()).or_default().push(incoming.clone());
            }
            What::Event(event) => match &event.kind {
                EventKind::ToolCallReady { call, arguments, .. } => {
                    self.calls.entry(call.clone()).or_default().arguments = Some(arguments.clone());
                }
                // The library's own gate is not recorded: events report its questions and its blocks.
                EventKind::ToolCallSuspended { interrupt } if interrupt.suspension.action == APPROVE => {
                    self.calls.entry(interrupt.call.clone()).or_default().open = false;
                }
                EventKind::ToolCallDone { call, outcome: CallOutcome::Failed { error } }
                    if error.contains(REPLACED) =>
                {
                    self.calls.entry(call.clone()).or_default().open = false;
                }
                _ => {}
            },
            What::Gate { call, key, plugin, verdict, .. } => {
                let of_call = self.calls.entry(call.clone()).or_default();
                if let Some(why) = is_unfit(self.case, *key) {
                    book.wrong("calls", format!("plugins are asked about {call}, of which {why:?} holds"));
                }
                if *plugin == 0 {
                    (of_call.verdict, of_call.open) = (Some(verdict.clone()), false);
                } else {
                    let verdict = stronger(of_call.verdict.take(), verdict);
                    of_call.open = verdict == Verdict::Allow;
                }
            }
            What::Began { .. } => self.began(&entry.what, now, book),
            What::Answered { call, .. } => {
                self.calls.entry(call.clone()).or_default().unanswered = None;
            }
            _ => {}
        }
    }

    fn end(&mut self, seen: &Seen, now: &ObservedRun, book: &mut Findings) {
        let Some(end) = &seen.end else { return };
        let goes_on = matches!(
            end.reason,
            Some(
                TerminationReason::NaturalEnd
                    | TerminationReason::Stopped(_)
                    | TerminationReason::BehaviorRequested
            )
        );
        for call in &end.calls {
            let of_call = self.calls.get(&call.name);
            let opened = of_call.is_some_and(|of_call| of_call.open);
            if goes_on
                && now.cuts == 0
                && opened
                && call.status.is_terminal()
                && call.status != ToolCallStatus::Cancelled
            {
                book.wrong("calls", format!("{} was allowed and never executed", call.name));
            }
            let ran = of_call.is_some_and(|of_call| !of_call.executed.is_empty());
            if is_unfit(self.case, call.key).is_some() {
                let fails = matches!(call.status, ToolCallStatus::Failed | ToolCallStatus::New);
                if ran || !fails {
                    book.wrong("calls", format!("{} cannot be executed, and is {}", call.name, call.status));
                }
            }
        }
    }
}

impl Calls<'_> {
    fn began(&mut self, began: &What, now: &ObservedRun, book: &mut Findings) {
        let What::Began { call, key, idempotency, arguments, decision, durable, .. } = began else { return };
        let tool = self.case.call(key.step, key.ordinal).map(|call| call.tool);
        let repeatable = tool.is_some_and(ToolName::is_repeatable);
        if is_withheld(self.case, *key) {
            book.wrong("calls", format!("{call} executes, and its tool is not offered in this step"));
        }
        let of_call = self.calls.entry(call.clone()).or_default();
        let again = repeatable && now.cuts > of_call.cuts;
        if !std::mem::take(&mut of_call.open) && !again {
            book.wrong("calls", format!("the tool of {call} executes, and its gate was not open"));
        }
        of_call.cuts = now.cuts;
        let ground: Ground = decision.as_ref().map(|decision| decision.decision_id.clone());
        let fresh = !of_call.executed.contains_key(&ground);
        let (times, name) =
            of_call.executed.entry(ground.clone()).or_insert_with(|| (0, idempotency.clone()));
        *times += 1;
        if *times > 1 && !again {
            book.wrong("calls", format!("the tool of {call} executes {times} times on {ground:?}"));
        }
        if *name != *idempotency {
            book.wrong("calls", format!("{call} executes again as {idempotency}, and was {name} before"));
        }
        // A repeated execution in doubt has the key of the interrupted one.
        let doubted = decision
            .as_ref()
            .and_then(|decision| now.asked.get(&decision.suspension_id))
            .is_some_and(|asked| asked.action == IN_DOUBT);
        let cut_off = of_call.unanswered.replace(idempotency.clone());
        if doubted && cut_off.as_ref().is_some_and(|cut_off| cut_off != idempotency) {
            book.wrong("calls", format!("{call}, cut off as {cut_off:?}, executes again as {idempotency}"));
        }
        if fresh && !self.keys.insert(idempotency.clone()) && !repeatable && !doubted {
            book.wrong("calls", format!("two executions of {call} have the key {idempotency}"));
        }
        if let Some(durable) = durable.as_ref().filter(|_| !repeatable) {
            let status = durable.calls.get(call).map(String::as_str);
            if decision.is_none() && status != Some("Running") {
                book.wrong("calls", format!("{call} executes while the store has it as {status:?}"));
            }
        }
        match decision {
            None => {
                if of_call.arguments.as_ref() != Some(arguments) {
                    book.wrong("calls", format!("{call} executes with {arguments}"));
                }
            }
            Some(decision) => {
                let original = of_call.arguments.clone();
                self.replayed(call, arguments, decision, original, now, book);
                if let Some(durable) = durable
                    && !durable.decisions.contains(&decision.decision_id)
                {
                    book.wrong("calls", format!("{call} executes and its decision is not durable"));
                }
            }
        }
    }

    fn replayed(
        &self,
        call: &str,
        arguments: &Value,
        decision: &Decision,
        original: Option<Value>,
        now: &ObservedRun,
        book: &mut Findings,
    ) {
        let id = &decision.decision_id;
        if decision.action != DecisionAction::Resume {
            book.wrong("calls", format!("{call} executes on the decision {id}, which denies it"));
        }
        let known = now.durable.contains(id) || now.accepted.values().any(|accepted| accepted == id);
        if !known {
            book.wrong("calls", format!("{call} executes on {id}, which was not accepted"));
        }
        let is_for_it = |sent: &Incoming| sent.call == call && sent.action == DecisionAction::Resume;
        if !self.sent.get(id).is_some_and(|sent| sent.iter().any(is_for_it)) {
            book.wrong("calls", format!("{call} executes on {id}, which was not sent for it"));
        }
        let Some(asked) = now.asked.get(&decision.suspension_id) else {
            book.wrong(
                "calls",
                format!("{call} executes on an answer to {:?}, which was not asked", decision.suspension_id),
            );
            return;
        };
        let expected = match asked.resume_mode {
            _ if asked.action == IN_DOUBT => Some(asked.parameters["arguments"].clone()),
            ResumeMode::ReplayToolCall => original,
            ResumeMode::PassDecisionToTool => Some(decision.result.clone()),
            ResumeMode::UseDecisionAsToolResult => {
                book.wrong("calls", format!("{call} executes where the decision is its result"));
                return;
            }
        };
        if expected.as_ref() != Some(arguments) {
            book.wrong("calls", format!("{call} is replayed with {arguments}, and not with {expected:?}"));
        }
        self.as_shown(call, arguments, decision, asked, book);
    }

    /// Checks that an execution has the arguments of the shown question, unless the decision itself has arguments.
    fn as_shown(
        &self,
        call: &str,
        arguments: &Value,
        decision: &Decision,
        asked: &Suspension,
        book: &mut Findings,
    ) {
        let id = &decision.decision_id;
        // Without a shown question, another promise covers the decision.
        let Some(look) = self.looks.of(id, &decision.suspension_id) else { return };
        if decision.digest.as_ref() != Some(&look.digest) {
            book.wrong(
                "calls",
                format!("{call} executes on {id}, which is for {:?}; {look:?} was shown", decision.digest),
            );
        }
        let brings_its_own = asked.resume_mode == ResumeMode::PassDecisionToTool && asked.action != IN_DOUBT;
        if !brings_its_own && look.arguments != *arguments {
            book.wrong("calls", format!("{call} executes with {arguments}, and {look:?} was shown"));
        }
    }
}
