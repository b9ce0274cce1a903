//! Conditions that were checked.

use std::fmt;

use super::counters::StopCounters;
use super::error::StopConfigError;
use super::patterns::{Matcher, Patterns};
use super::spec::StopConditionSpec;
use crate::termination::StoppedReason;
use crate::turn::Turn;

/// The largest window in which calls are compared.
pub(in crate::agent) const MOST_WINDOW: u32 = 1_000;

/// The stop conditions of a run, in the order in which they are asked. There may be several of one kind.
///
/// The default has none.
#[derive(Clone, Default)]
pub struct StopConditions {
    conditions: Vec<Condition>,
    /// Calls that must be remembered.
    pub(super) window: u32,
}

#[derive(Clone)]
struct Condition {
    spec: StopConditionSpec,
    /// Of a pattern.
    matches: Option<Matcher>,
}

impl StopConditions {
    /// Checks the conditions. Patterns are regular expressions where the feature `regex` is on, and refused where it is off.
    ///
    /// # Errors
    /// [`StopConfigError`] for the first condition that could never hold, would always hold or cannot be read.
    pub fn new(specs: Vec<StopConditionSpec>) -> Result<Self, StopConfigError> {
        #[cfg(feature = "regex")]
        return Self::with_patterns(specs, &super::regular::RegularExpressions);
        #[cfg(not(feature = "regex"))]
        return Self::without_patterns(specs);
    }

    /// Checks the conditions, where a pattern is refused: what [`new`](StopConditions::new) does without the feature `regex`.
    ///
    /// # Errors
    /// As [`new`](StopConditions::new).
    pub fn without_patterns(specs: Vec<StopConditionSpec>) -> Result<Self, StopConfigError> {
        Self::checked(specs, None)
    }

    /// Checks the conditions, whose patterns are of that language.
    ///
    /// # Errors
    /// As [`new`](StopConditions::new).
    pub fn with_patterns(
        specs: Vec<StopConditionSpec>,
        patterns: &dyn Patterns,
    ) -> Result<Self, StopConfigError> {
        Self::checked(specs, Some(patterns))
    }

    fn checked(
        specs: Vec<StopConditionSpec>,
        patterns: Option<&dyn Patterns>,
    ) -> Result<Self, StopConfigError> {
        let mut checked = StopConditions { conditions: Vec::with_capacity(specs.len()), window: 0 };
        for (place, spec) in (1..).zip(specs) {
            let matches = check_spec(place, &spec, patterns)?;
            if let StopConditionSpec::LoopDetection { window } = spec {
                checked.window = checked.window.max(window);
            }
            checked.conditions.push(Condition { spec, matches });
        }
        Ok(checked)
    }

    /// The conditions as they were configured.
    pub fn specs(&self) -> impl Iterator<Item = &StopConditionSpec> {
        self.conditions.iter().map(|condition| &condition.spec)
    }

    /// Asks the conditions at the end of a step: `last_turn` is its answer, `ends_anyway` says that the run ends with it
    /// naturally. The first condition that holds gives the reason; where the run ends anyway, only a
    /// [`ContentMatch`](StopConditionSpec::ContentMatch) is asked, since all others would stop what goes on.
    pub fn check(
        &self,
        counters: &StopCounters,
        now_ms: u64,
        last_turn: &Turn,
        ends_anyway: bool,
    ) -> Option<StoppedReason> {
        let asked = self.conditions.iter().filter(|condition| !ends_anyway || condition.matches.is_some());
        let (code, detail) = asked
            .filter_map(|condition| {
                Some((condition.spec.code(), condition.holds(counters, now_ms, last_turn)?))
            })
            .next()?;
        let reason = StoppedReason::new(code, Some(&detail));
        Some(reason.unwrap_or_else(|_| unreachable!("the codes are letters and '_'")))
    }
}

impl Condition {
    /// What was measured, if it holds.
    fn holds(&self, counters: &StopCounters, now_ms: u64, turn: &Turn) -> Option<String> {
        match &self.spec {
            StopConditionSpec::MaxRounds { rounds } => {
                let got = counters.rounds();
                (got >= *rounds).then(|| format!("{got} of {rounds} rounds"))
            }
            StopConditionSpec::Timeout { seconds } => {
                let gone_ms = now_ms.saturating_sub(counters.started_at_ms());
                let (gone, ms) = (gone_ms / 1_000, gone_ms % 1_000);
                (gone >= *seconds).then(|| format!("{gone}.{ms:03} of {seconds} seconds"))
            }
            StopConditionSpec::TokenBudget { max_total } => {
                let usage = counters.usage();
                let (got, input, output) = (usage.total(), usage.input_tokens, usage.output_tokens);
                (got >= *max_total)
                    .then(|| format!("{got} of {max_total} tokens: {input} read, {output} written"))
            }
            StopConditionSpec::ConsecutiveErrors { max } => {
                let got = counters.failed_in_a_row();
                (got >= *max).then(|| {
                    format!("{got} of {max} calls in a row failed, the last of {:?}", counters.last_failed())
                })
            }
            StopConditionSpec::StopOnTool { tool_name } => {
                let call = turn.calls.iter().find(|call| call.tool == *tool_name)?;
                Some(format!("{tool_name:?} was called by {:?}", call.id))
            }
            StopConditionSpec::ContentMatch { pattern } => {
                let matches = self.matches.as_ref()?;
                matches(&turn.text).then(|| format!("the answer matches {pattern:?}"))
            }
            StopConditionSpec::LoopDetection { window } => {
                let (tool, within) = counters.repeated_within(*window)?;
                Some(format!(
                    "{tool:?} was called twice with the same arguments in {within} calls; the window is {window}"
                ))
            }
        }
    }
}

fn check_spec(
    place: usize,
    spec: &StopConditionSpec,
    patterns: Option<&dyn Patterns>,
) -> Result<Option<Matcher>, StopConfigError> {
    let code = spec.code();
    let at_least = |field, got: u64, least: u64| {
        if got < least { Err(StopConfigError::TooSmall { place, code, field, got, least }) } else { Ok(None) }
    };
    match spec {
        StopConditionSpec::MaxRounds { rounds } => at_least("rounds", u64::from(*rounds), 1),
        StopConditionSpec::Timeout { seconds } => at_least("seconds", *seconds, 1),
        StopConditionSpec::TokenBudget { max_total } => at_least("max_total", *max_total, 1),
        StopConditionSpec::ConsecutiveErrors { max } => at_least("max", u64::from(*max), 1),
        // One call repeats nothing.
        StopConditionSpec::LoopDetection { window } if *window <= MOST_WINDOW => {
            at_least("window", u64::from(*window), 2)
        }
        StopConditionSpec::LoopDetection { window } => {
            let (got, most) = (u64::from(*window), u64::from(MOST_WINDOW));
            Err(StopConfigError::TooLarge { place, code, field: "window", got, most })
        }
        StopConditionSpec::StopOnTool { tool_name } if tool_name.is_empty() => {
            Err(StopConfigError::Empty { place, code, field: "tool_name" })
        }
        StopConditionSpec::StopOnTool { .. } => Ok(None),
        StopConditionSpec::ContentMatch { pattern } if pattern.is_empty() => {
            Err(StopConfigError::Empty { place, code, field: "pattern" })
        }
        StopConditionSpec::ContentMatch { pattern } => {
            let patterns = patterns.ok_or(StopConfigError::NoPatterns { place })?;
            let compiled = patterns.compile(pattern);
            let pattern = || pattern.clone();
            compiled.map(Some).map_err(|error| StopConfigError::Pattern { place, pattern: pattern(), error })
        }
    }
}

impl fmt::Debug for StopConditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.specs()).finish()
    }
}
