//! The result of a call comes from its tool, its gate or its decision.

use std::collections::BTreeMap;

use runstate::decision::{DecisionAction, IN_DOUBT, ResumeMode};
use runstate::tool_call::CallKey;
use runstate_agent::Verdict;
use runstate_agent::event::{CallOutcome, EventKind};
use serde_json::{Value, json};

use super::calls::{REPLACED, is_unfit, is_withheld};
use super::given::Given;
use super::{Findings, Judge, ObservedRun, Step, given_up};
use crate::case::{Case, ComesTo};
use crate::play::{OUTPUT, Seen, What};

/// Part of the reason of a call that a crash may have interrupted, and that is given up.
const UNKNOWN: &str = "may have been executing";

/// The origin of a call's result.
#[derive(Debug, Clone, PartialEq)]
enum Source {
    Output(Value, Option<&'static str>),
    /// A part of its error.
    Error(String),
    /// It asks.
    Nothing,
}

pub(super) struct Outcomes<'s> {
    case: &'s Case,
    sources: BTreeMap<String, Source>,
    keys: BTreeMap<String, CallKey>,
    given: Given,
    /// The action of each decided suspension.
    decided: BTreeMap<String, DecisionAction>,
    gate: BTreeMap<String, Verdict>,
}

impl<'s> Outcomes<'s> {
    pub(super) fn new(seen: &'s Seen) -> Self {
        Outcomes {
            case: &seen.case,
            sources: BTreeMap::new(),
            keys: BTreeMap::new(),
            given: Given::default(),
            decided: BTreeMap::new(),
            gate: BTreeMap::new(),
        }
    }

    fn planned(&self, key: CallKey, nth: usize) -> Source {
        let call = self.case.call(key.step, key.ordinal);
        let Some(execution) = call.and_then(|call| call.executions.get(nth).or(call.executions.last()))
        else {
            return Source::Nothing;
        };
        let output = || json!({ "call": key.to_string(), OUTPUT: nth });
        match execution.comes_to {
            ComesTo::Success => Source::Output(output(), None),
            ComesTo::Warning => Source::Output(output(), Some("nearly")),
            ComesTo::Error => Source::Error("failed".to_owned()),
            ComesTo::Panic => Source::Error("fell over".to_owned()),
            ComesTo::Pending(_) => Source::Nothing,
        }
    }
}

impl Judge for Outcomes<'_> {
    fn step(&mut self, step: Step<'_>, now: &ObservedRun, book: &mut Findings) {
        let Step::Entry(entry) = step else { return };
        match &entry.what {
            What::Sent { incoming, .. } => self.given.sent(incoming),
            What::Gate { call, key, plugin, verdict, .. } => {
                self.keys.insert(call.clone(), *key);
                let before = self.gate.remove(call).filter(|_| *plugin == 1);
                let verdict = before.map_or(verdict.clone(), |before| before.and(verdict.clone()));
                let source = match &verdict {
                    Verdict::SetResult(value) => Source::Output(value.clone(), None),
                    Verdict::Block(why) | Verdict::BlockRun(why) => Source::Error(why.clone()),
                    _ => Source::Nothing,
                };
                self.sources.insert(call.clone(), source);
                self.gate.insert(call.clone(), verdict);
            }
            What::Began { call, key, .. } => {
                self.keys.insert(call.clone(), *key);
                self.sources.insert(call.clone(), Source::Nothing);
            }
            What::Answered { call, nth } => {
                let key = self.keys.get(call).copied().unwrap_or_default();
                let source = self.planned(key, *nth);
                self.sources.insert(call.clone(), source);
            }
            What::Event(event) => match &event.kind {
                EventKind::ToolCallResumed { call, suspension_id, decision_id, action, .. } => {
                    self.given.told(&event.kind);
                    self.decided.insert(suspension_id.clone(), *action);
                    let asked = now.asked.get(suspension_id);
                    // A doubt may be answered with the result of the call.
                    let is_result = asked.is_some_and(|asked| {
                        asked.resume_mode == ResumeMode::UseDecisionAsToolResult
                            || asked.action == IN_DOUBT && !self.given.result(decision_id).is_null()
                    });
                    if *action == DecisionAction::Resume && is_result {
                        let result = self.given.result(decision_id);
                        self.sources.insert(call.clone(), Source::Output(result, None));
                    }
                }
                EventKind::ToolCallDone { call, outcome } => {
                    if let Some(reason) = given_up(outcome)
                        && self.is_doubted(call, now)
                        && !reason.contains(UNKNOWN)
                    {
                        book.wrong("outcomes", format!("{call} may have executed, and reads {reason:?}"));
                    }
                    let key = now.calls.get(call).map(|call| call.key);
                    self.done(call, key, outcome, now.cuts > 0, book);
                }
                _ => {}
            },
            _ => {}
        }
    }
}

impl Outcomes<'_> {
    /// Is the call in doubt, and was a repetition refused?
    fn is_doubted(&self, call: &str, now: &ObservedRun) -> bool {
        let Some(last) = now.calls.get(call).and_then(|call| call.last_asked.as_ref()) else { return false };
        now.asked.get(last).is_some_and(|asked| asked.action == IN_DOUBT)
            && self.decided.get(last) != Some(&DecisionAction::Resume)
    }

    /// Must people approve the call at that place?
    fn is_gated(&self, key: Option<CallKey>) -> bool {
        let tool = key.and_then(|key| self.case.call(key.step, key.ordinal)).map(|call| call.tool);
        self.case.approvals.iter().any(|needs| Some(needs.tool) == tool)
    }

    fn done(&self, call: &str, key: Option<CallKey>, outcome: &CallOutcome, cut: bool, book: &mut Findings) {
        let source = self.sources.get(call);
        let fits = match (outcome, source) {
            _ if given_up(outcome).is_some() => true,
            (CallOutcome::Cancelled { .. }, _) => false,
            (CallOutcome::Failed { error }, _) if error.contains(REPLACED) => self.is_gated(key),
            (CallOutcome::Succeeded { output, warning }, Some(Source::Output(expected, warned))) => {
                output == expected && warning.as_deref() == *warned
            }
            // A decision is supplied again if a death interrupted its replay, without a second resume event.
            (CallOutcome::Succeeded { output, .. }, _) => cut && self.given.has_result(output),
            (CallOutcome::Failed { error }, Some(Source::Error(words))) => error.contains(words.as_str()),
            (CallOutcome::Failed { error }, _) => {
                // The place of a call may be unknown before a plugin runs for it; a withheld call has none.
                let withheld = key.is_none_or(|key| key.step == 0 || is_withheld(self.case, key));
                let before = error.contains("do not fit") || withheld && error.contains("is not offered");
                let unfit = key.and_then(|key| is_unfit(self.case, key));
                before
                    || unfit.is_some()
                    || self.case.answers.iter().any(|_| {
                        ["same id", "cannot be read", "there is no tool"]
                            .iter()
                            .any(|words| error.contains(words))
                    })
            }
        };
        if !fits {
            book.wrong("outcomes", format!("{call} came to {outcome:?}, and its source is {source:?}"));
        }
    }
}
