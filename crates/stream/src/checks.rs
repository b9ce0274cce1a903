//! Checks of an attempt's output.

use std::num::NonZeroU32;

use runstate::stream_session::{Checkpoint, ErrorCode};
use runstate_guardrails::drift::{Drift, DriftDetector};
use runstate_guardrails::{OutputFacts, RuleResult, Rules, Severity, Violation, is_visible};

use super::callbacks::Callbacks;
use super::dispatch::Dispatcher;
use super::event::{EventKind, Phase, RuleResultEvent};
use super::fit::{Fit, RULE};
use super::panics::guarded;
use super::{Category, ErrorKind, Failure};

/// A failed attempt, before the decision on the next step.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) failure: Failure,
    /// Whether another attempt on the same stream may succeed.
    pub(super) recoverable: bool,
    /// Whether later attempts must not continue from the text so far.
    pub(super) spoils: bool,
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        let spoils = failure.kind.category() == Category::Content;
        Failed { failure, recoverable: true, spoils }
    }
}

/// The checks: rules, drift, a value, and whether there is any output.
pub(super) struct Checks {
    rules: Rules,
    drift: Option<DriftWatch>,
    zero_output: bool,
    /// The value that a whole output must be.
    pub(super) fit: Option<Box<dyn Fit>>,
}

struct DriftWatch {
    detector: DriftDetector,
    every: Option<NonZeroU32>,
    /// Tokens since the last call of the detector.
    unasked: u32,
    /// Bytes of the text that the detector has seen.
    seen: usize,
}

impl Checks {
    pub(super) fn new(
        rules: Rules,
        drift: Option<DriftDetector>,
        drift_every: Option<NonZeroU32>,
        zero_output: bool,
        fit: Option<Box<dyn Fit>>,
    ) -> Self {
        let drift = drift.map(|detector| DriftWatch { detector, every: drift_every, unasked: 0, seen: 0 });
        Checks { rules, drift, zero_output, fit }
    }

    /// Returns whether no check needs the tokens.
    #[inline]
    pub(super) fn are_idle(&self) -> bool {
        self.rules.is_empty() && self.drift.is_none()
    }

    /// Starts an attempt without text. Fails if a rule panics.
    pub(super) fn reset(&mut self) -> Result<(), Failed> {
        guarded(|| {
            self.rules.reset();
            if let Some(drift) = &mut self.drift {
                drift.detector.reset();
                (drift.unasked, drift.seen) = (0, 0);
            }
            if let Some(fit) = &mut self.fit {
                fit.forget();
            }
        })
        .map_err(panicked)
    }

    /// Shows a checkpoint to the rules and the detector before an attempt continues from it. Returns the reason
    /// if one of them refuses it.
    pub(super) fn resume(&mut self, checkpoint: Checkpoint<'_>) -> Option<String> {
        let text = checkpoint.content;
        let looked = guarded(|| {
            let worst = self.rules.resume(text).into_iter().find(|found| found.severity >= Severity::Error);
            let drift = self.drift.as_mut().and_then(|drift| {
                (drift.unasked, drift.seen) = (0, text.len());
                drift.detector.resume(text).filter(|found| drift.detector.fails(found))
            });
            (worst, drift)
        });
        match looked {
            Ok((None, None)) => None,
            Ok((Some(violation), _)) => Some(violation.to_string()),
            Ok((None, Some(drift))) => Some(drift.to_string()),
            Err(panic) => Some(format!("a rule panicked: {panic}")),
        }
    }

    /// Checks a token of `delta` bytes at the end of `content`.
    pub(super) fn token<C: Callbacks>(
        &mut self,
        delta: usize,
        content: &str,
        dispatch: &mut Dispatcher<C>,
    ) -> Option<Failed> {
        let token = content.get(content.len() - delta..).unwrap_or_default();
        if !self.rules.is_empty() {
            let found = match guarded(|| self.rules.streaming(token, content)) {
                Ok(found) => found,
                Err(panic) => return Some(panicked(panic)),
            };
            if !found.is_empty() {
                let failed = self.tell_streaming(found, content, dispatch);
                if failed.is_some() {
                    return failed;
                }
            }
        }
        let drift = self.drift.as_mut()?;
        let looked = guarded(|| drift.token(token, content));
        self.tell_drift(looked, content, dispatch)
    }

    /// Checks the text that the rules and the detector have not seen yet. No text is saved or offered for a
    /// continuation before.
    pub(super) fn catch_up<C: Callbacks>(
        &mut self,
        content: &str,
        dispatch: &mut Dispatcher<C>,
    ) -> Option<Failed> {
        let found = match guarded(|| self.rules.catch_up(content)) {
            Ok(found) => found,
            Err(panic) => return Some(panicked(panic)),
        };
        if !found.is_empty()
            && let Some(failed) = self.tell_streaming(found, content, dispatch)
        {
            return Some(failed);
        }
        let drift = self.drift.as_mut()?;
        let looked = guarded(|| drift.rest(content));
        self.tell_drift(looked, content, dispatch)
    }

    fn tell_drift<C: Callbacks>(
        &mut self,
        looked: Result<Option<Drift>, String>,
        content: &str,
        dispatch: &mut Dispatcher<C>,
    ) -> Option<Failed> {
        let drift = match looked {
            Ok(drift) => drift?,
            Err(panic) => return Some(panicked(panic)),
        };
        let fails = self.drift.as_ref().is_none_or(|watch| watch.detector.fails(&drift));
        if !fails {
            return self.tell_streaming(
                vec![Violation::warning("drift", drift.to_string())],
                content,
                dispatch,
            );
        }
        let failure = Failure::new(ErrorCode::DriftDetected, ErrorKind::Drift, drift.to_string());
        let Drift { kinds, confidence, .. } = drift;
        dispatch.emit(EventKind::DriftDetected { types: kinds, confidence }, content);
        Some(failure.into())
    }

    fn tell_streaming<C: Callbacks>(
        &mut self,
        found: Vec<Violation>,
        content: &str,
        dispatch: &mut Dispatcher<C>,
    ) -> Option<Failed> {
        let phase = Phase::Streaming;
        dispatch.emit(EventKind::GuardrailPhaseStart { phase, rules: self.rules.len() }, content);
        for violation in &found {
            let result = RuleResultEvent {
                rule: violation.rule.clone(),
                phase,
                passed: violation.severity < Severity::Error,
                violations: vec![violation.clone()],
                told_before: 0,
            };
            dispatch.emit(EventKind::GuardrailRuleResult(Box::new(result)), content);
        }
        let failed = worst(&found);
        dispatch.emit(EventKind::GuardrailPhaseEnd { phase, passed: failed.is_none() }, content);
        failed
    }

    /// Checks the whole output of an attempt.
    pub(super) fn complete<C: Callbacks>(
        &mut self,
        content: &str,
        dispatch: &mut Dispatcher<C>,
    ) -> Option<Failed> {
        let facts = dispatch.ledger.facts();
        let zero = self.zero_output && !facts.is_more_than_text() && !content.chars().any(is_visible);
        let mut failed = None;
        if !self.rules.is_empty() || self.fit.is_some() {
            match guarded(|| self.results(content, &facts)) {
                Ok(results) => failed = tell_complete(results, content, dispatch),
                Err(panic) => failed = Some(panicked(panic)),
            }
        }
        let fatal = failed.as_ref().is_some_and(|failed| !failed.failure.code.is_recoverable());
        if zero && !fatal {
            let message = "the stream ended without any output: no visible text, no tool call, no data";
            return Some(Failure::new(ErrorCode::ZeroOutput, ErrorKind::ZeroOutput, message).into());
        }
        if failed.is_some() {
            return failed;
        }
        let drift = self.drift.as_mut()?;
        let looked = guarded(|| drift.rest(content));
        self.tell_drift(looked, content, dispatch)
    }

    /// Returns the result of each rule for the whole output, and last the result of the required value.
    fn results(&mut self, content: &str, facts: &OutputFacts) -> Vec<RuleResult> {
        let mut results = self.rules.complete(content, facts);
        if let Some(fit) = &mut self.fit {
            results.push(RuleResult::at_end(RULE, fit.check(content).into_iter().collect()));
        }
        results
    }
}

impl DriftWatch {
    fn token(&mut self, token: &str, content: &str) -> Option<Drift> {
        let Some(every) = self.every else { return self.detector.token(token) };
        self.unasked += 1;
        if self.unasked < every.get() { None } else { self.rest(content) }
    }

    /// Passes the unseen text to the detector.
    fn rest(&mut self, content: &str) -> Option<Drift> {
        self.every?;
        let unseen = content.get(self.seen..).unwrap_or_default();
        (self.unasked, self.seen) = (0, content.len());
        self.detector.token(unseen)
    }
}

fn panicked(panic: String) -> Failed {
    let message = format!("a rule panicked: {panic}");
    Failed::from(Failure::new(ErrorCode::InvalidStream, ErrorKind::Internal, message))
}

fn tell_complete<C: Callbacks>(
    results: Vec<RuleResult>,
    content: &str,
    dispatch: &mut Dispatcher<C>,
) -> Option<Failed> {
    let phase = Phase::Complete;
    dispatch.emit(EventKind::GuardrailPhaseStart { phase, rules: results.len() }, content);
    let mut all = Vec::new();
    for result in results {
        let told_before = result.violations.len() - result.fresh().len();
        let passed = result.passed();
        all.extend(result.violations.iter().cloned());
        let RuleResult { rule, violations, .. } = result;
        let event = RuleResultEvent { rule, phase, passed, violations, told_before };
        dispatch.emit(EventKind::GuardrailRuleResult(Box::new(event)), content);
    }
    let failed = worst(&all);
    dispatch.emit(EventKind::GuardrailPhaseEnd { phase, passed: failed.is_none() }, content);
    failed
}

/// Returns the failure of an attempt with these violations, unless all are warnings. The first violation of the
/// worst severity gives the message.
fn worst(found: &[Violation]) -> Option<Failed> {
    let severity = found.iter().map(|violation| violation.severity).max()?;
    let code = match severity {
        Severity::Warning => return None,
        Severity::Error => ErrorCode::GuardrailViolation,
        Severity::Fatal => ErrorCode::FatalGuardrailViolation,
    };
    let first = found.iter().find(|violation| violation.severity == severity)?;
    let failure = Failure::new(code, ErrorKind::Guardrail, first.to_string());
    let errors = found.iter().filter(|violation| violation.severity >= Severity::Error);
    let recoverable = errors.into_iter().all(|violation| violation.recoverable);
    Some(Failed { recoverable, ..Failed::from(failure) })
}
