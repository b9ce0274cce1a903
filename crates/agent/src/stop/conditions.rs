//! Validated stop conditions.

use std::fmt;

use runstate::termination::StoppedReason;
use runstate::turn::Turn;

use super::counters::StopCounters;
use super::error::StopConfigError;
use super::patterns::{Matcher, Patterns};
use super::spec::StopConditionSpec;

/// The largest window in which calls are compared.
pub(crate) const MOST_WINDOW: u32 = 1_000;

/// The stop conditions of a run, in the order of their evaluation. Several conditions of one kind are allowed.
///
/// Default: none.
#[derive(Clone, Default)]
pub struct StopConditions {
    conditions: Vec<Condition>,
    /// The number of calls to remember.
    pub(super) window: u32,
}

#[derive(Clone)]
struct Condition {
    spec: StopConditionSpec,
    /// The matcher of a pattern.
    matches: Option<Matcher>,
}

impl StopConditions {
    /// Validates the conditions. With the feature `regex`, patterns are regular expressions. Without it, patterns are
    /// refused.
    ///
    /// # Errors
    /// [`StopConfigError`] for the first condition that can never hold, always holds, or cannot be read.
    pub fn new(specs: Vec<StopConditionSpec>) -> Result<Self, StopConfigError> {
        #[cfg(feature = "regex")]
        return Self::with_patterns(specs, &super::regular::RegularExpressions);
        #[cfg(not(feature = "regex"))]
        return Self::without_patterns(specs);
    }

    /// Validates the conditions, and refuses patterns. [`new`](StopConditions::new) does this without the feature
    /// `regex`.
    ///
    /// # Errors
    /// See [`new`](StopConditions::new).
    pub fn without_patterns(specs: Vec<StopConditionSpec>) -> Result<Self, StopConfigError> {
        Self::checked(specs, None)
    }

    /// Validates the conditions, with this pattern language.
    ///
    /// # Errors
    /// See [`new`](StopConditions::new).
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

    /// The configured conditions.
    pub fn specs(&self) -> impl Iterator<Item = &StopConditionSpec> {
        self.conditions.iter().map(|condition| &condition.spec)
    }

    /// Evaluates the conditions at the end of a step. `last_turn` is the answer of the step. `ends_anyway` is true if
    /// the run ends naturally with it. The first condition that holds gives the reason. If the run ends anyway, only
    /// [`ContentMatch`](StopConditionSpec::ContentMatch) is evaluated, because all other conditions stop runs that
    /// would continue.
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
    /// The measured value, if the condition holds.
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
        // A single call cannot be a repetition.
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
