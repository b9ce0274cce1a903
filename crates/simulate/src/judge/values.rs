//! Values written by calls exist at the end, once; values of failed calls do not.

use std::collections::BTreeMap;

use runstate::termination::TerminationReason;
use serde_json::json;

use super::{Findings, Judge, ObservedRun, Step};
use crate::case::{Case, ComesTo, Execution, Writes};
use crate::play::{Seen, What};

pub(super) struct Values<'s> {
    case: &'s Case,
    own: BTreeMap<String, Vec<serde_json::Value>>,
    step: Option<u32>,
    conflicts: bool,
    /// The last value of a plugin.
    acted: Option<u32>,
}

impl<'s> Values<'s> {
    pub(super) fn new(seen: &'s Seen) -> Self {
        Values { case: &seen.case, own: BTreeMap::new(), step: None, conflicts: false, acted: None }
    }
}

fn keeps(execution: &Execution) -> bool {
    !matches!(execution.comes_to, ComesTo::Error | ComesTo::Panic)
}

impl Judge for Values<'_> {
    fn step(&mut self, step: Step<'_>, now: &ObservedRun, _book: &mut Findings) {
        let Step::Entry(entry) = step else { return };
        if let What::Wrote { step } = &entry.what {
            self.acted = Some(*step);
        }
        if let What::Answered { call, nth } = &entry.what {
            let key = now.calls.get(call).map(|call| call.key).unwrap_or_default();
            let planned = self.case.call(key.step, key.ordinal);
            let execution = planned.and_then(|call| call.executions.get(*nth).or(call.executions.last()));
            let Some(execution) = execution.filter(|execution| keeps(execution)) else { return };
            match execution.writes {
                Writes::Nothing => {}
                Writes::Own => {
                    self.own.entry(format!("own/{key}")).or_default().push(json!(nth + 1));
                }
                Writes::Step => self.step = self.step.max(Some(key.step)),
                Writes::Contradiction => self.conflicts = true,
            }
        }
    }

    fn end(&mut self, seen: &Seen, now: &ObservedRun, book: &mut Findings) {
        let Some(end) = &seen.end else { return };
        let whole = matches!(
            end.reason,
            Some(
                TerminationReason::NaturalEnd
                    | TerminationReason::Stopped(_)
                    | TerminationReason::BehaviorRequested
                    | TerminationReason::Blocked(_)
            )
        );
        for (name, value) in end.values.iter().filter(|(name, _)| name.starts_with("own/")) {
            // A death may have come before the last value was stored.
            let written = self.own.get(name);
            let fits =
                written.is_some_and(|all| all.last() == Some(value) || now.cuts > 0 && all.contains(value));
            if !fits {
                book.wrong("values", format!("{name} is {value}; written was {:?}", self.own.get(name)));
            }
        }
        if whole && now.cuts == 0 {
            for (name, written) in &self.own {
                let got = end.values.get(name);
                if got != written.last() {
                    book.wrong("values", format!("{name} is {got:?}; written was {written:?}"));
                }
            }
            let acted = end.values.get("acted").and_then(serde_json::Value::as_u64);
            if acted != self.acted.map(u64::from) {
                book.wrong("values", format!("a plugin wrote {:?}, and {acted:?} is kept", self.acted));
            }
            let all = seen.case.policy == runstate_agent::SuspensionPolicy::WaitForAll;
            let step = end.values.get("step").and_then(serde_json::Value::as_u64);
            if all && !self.conflicts && step != self.step.map(u64::from) {
                book.wrong("values", format!("the key of the step is {step:?}; written was {:?}", self.step));
            }
        }
    }
}
