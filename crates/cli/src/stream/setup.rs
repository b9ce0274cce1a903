//! From a scenario to a session.

use std::num::NonZeroU32;
use std::time::Duration;

use runstate::stream::drift::DriftDetector;
use runstate::stream::guardrail::{
    self, Custom, Guardrail, Json, Latex, Markdown, PatternKind, Patterns, Repetition, Rules, Violation,
    ZeroOutput,
};
use runstate::stream::{
    Backoff, Continuation, Curve, Jitter, Recourse, RetryPolicy, Session, SessionBuilder, Timeouts,
};

use super::scenario::{
    self, Continue, Drift, Expression, Forbidden, Limit, Phrases, Retry, Rule, Scenario, When,
};
use super::source::factory;

/// The session that a checked scenario describes.
///
/// # Errors
/// A regular expression that is none.
pub(super) fn session(scenario: &Scenario) -> Result<SessionBuilder, String> {
    let id = scenario.stream_id.as_deref().unwrap_or("stream_1");
    let mut streams = scenario.streams.iter().cloned().map(factory);
    // A scenario without streams is refused before.
    let Some(primary) = streams.next() else { unreachable!("a checked scenario has a stream") };
    let mut builder = streams.fold(Session::builder(id, primary), SessionBuilder::fallback);
    builder = retry(builder, &scenario.retry)
        .meta(scenario.meta.clone())
        .timeouts(timeouts(&scenario.timeouts))
        .guardrails(rules(scenario)?);
    if let Some(drift) = &scenario.drift {
        builder = watch(builder, drift);
    }
    if !scenario.zero_output_fails {
        builder = builder.allow_zero_output();
    }
    if scenario.require_complete {
        builder = builder.require_complete();
    }
    Ok(match &scenario.continuation {
        Some(resumes) => builder.continuation(continuation(resumes)),
        None => builder,
    })
}

fn retry(mut builder: SessionBuilder, retry: &Retry) -> SessionBuilder {
    let mut policy = RetryPolicy::default();
    policy.model_retries = retry.model_retries.unwrap_or(policy.model_retries);
    policy.total_retries = retry.total_retries.unwrap_or(policy.total_retries);
    if let Some(backoff) = &retry.backoff {
        policy.backoff = Backoff {
            curve: match backoff.curve {
                scenario::Curve::Fixed => Curve::Fixed,
                scenario::Curve::Linear => Curve::Linear,
                scenario::Curve::Exponential => Curve::Exponential,
            },
            base: Duration::from_millis(backoff.base_ms),
            cap: Duration::from_millis(backoff.cap_ms.unwrap_or(10_000)),
            jitter: match backoff.jitter {
                scenario::Jitter::None => Jitter::None,
                scenario::Jitter::Fixed => Jitter::Fixed,
                scenario::Jitter::Full => Jitter::Full,
                scenario::Jitter::Decorrelated => Jitter::Decorrelated,
            },
        };
    }
    if let Some(ms) = retry.longest_retry_after_ms {
        policy.longest_retry_after = Duration::from_millis(ms);
    }
    for leads in &retry.on {
        let recourse = match leads.to {
            scenario::Way::Retry => Recourse::Retry,
            scenario::Way::Fallback => Recourse::FallBack,
            scenario::Way::Halt => Recourse::Halt,
        };
        policy = policy.on(leads.kind, recourse);
    }
    builder = builder.retry(policy);
    if let Some(seed) = retry.seed {
        builder = builder.seed(seed);
    }
    let (attempts, kinds) = (retry.veto_attempts.clone(), retry.veto_kinds.clone());
    if !attempts.is_empty() || !kinds.is_empty() {
        builder = builder.should_retry(move |asked| {
            !attempts.contains(&asked.attempt) && !kinds.contains(&asked.error.kind)
        });
    }
    let delays = retry.delays_ms.clone();
    if !delays.is_empty() {
        builder = builder.calculate_delay(move |context| {
            let at = usize::try_from(context.attempt).unwrap_or(usize::MAX);
            Duration::from_millis(delays.get(at).or(delays.last()).copied().unwrap_or_default())
        });
    }
    builder
}

fn timeouts(limits: &scenario::Limits) -> Timeouts {
    let limit = |given: Option<Limit>, default| match given {
        None => default,
        Some(Limit::Ms(ms)) => Some(Duration::from_millis(ms)),
        Some(Limit::Word(scenario::NoLimit::None)) => None,
    };
    let Timeouts { initial, inter } = Timeouts::default();
    Timeouts { initial: limit(limits.initial_ms, initial), inter: limit(limits.inter_ms, inter) }
}

fn watch(builder: SessionBuilder, drift: &Drift) -> SessionBuilder {
    let mut detector = match &drift.kinds {
        Some(kinds) => DriftDetector::of(kinds.iter().copied()),
        None => DriftDetector::new(),
    };
    if let Some(confidence) = drift.confidence {
        detector = detector.from_confidence(confidence);
    }
    let builder = builder.drift(detector);
    match drift.every.and_then(NonZeroU32::new) {
        Some(tokens) => builder.drift_every(tokens),
        None => builder,
    }
}

fn continuation(resumes: &Continue) -> Continuation {
    let mut continuation = Continuation::every(NonZeroU32::new(resumes.every).unwrap_or(NonZeroU32::MIN));
    if let Some(characters) = resumes.overlap_from {
        continuation = continuation.overlap_from(characters);
    }
    if !resumes.remove_overlap {
        continuation = continuation.keep_overlap();
    }
    if let Some(prompt) = resumes.prompt.clone() {
        continuation = continuation.prompt(move |checkpoint| prompt.replace("{checkpoint}", checkpoint));
    }
    if let Some(refused) = resumes.refuse_with.clone() {
        continuation = continuation.validate(move |checkpoint, _| !checkpoint.contains(&refused));
    }
    continuation
}

fn rules(scenario: &Scenario) -> Result<Rules, String> {
    let mut rules = Rules::new();
    for (at, rule) in scenario.guardrails.iter().enumerate() {
        rules.push(made(rule).map_err(|error| format!("guardrails[{at}].forbid_regex.regex: {error}"))?);
    }
    Ok(match scenario.guardrails_every.and_then(NonZeroU32::new) {
        Some(tokens) => rules.every(tokens),
        None => rules,
    })
}

fn regex(rule: &Expression) -> Result<guardrail::Forbidden, guardrail::ForbiddenError> {
    let name = rule.name.as_deref().unwrap_or("forbid_regex");
    let rule_of = match rule.within_bytes {
        Some(bytes) => guardrail::Forbidden::within(name, &rule.regex, bytes)?,
        None => guardrail::Forbidden::new(name, &rule.regex)?,
    };
    Ok(rule_of.severity(match rule.severity {
        scenario::Severity::Warning => guardrail::Severity::Warning,
        scenario::Severity::Error => guardrail::Severity::Error,
        scenario::Severity::Fatal => guardrail::Severity::Fatal,
    }))
}

fn made(rule: &Rule) -> Result<Box<dyn Guardrail>, guardrail::ForbiddenError> {
    Ok(match rule {
        Rule::ForbidRegex(expression) => Box::new(regex(expression)?),
        Rule::JsonBalanced => Box::new(Json::balanced()),
        Rule::JsonStrict => Box::new(Json::strict()),
        Rule::Markdown => Box::new(Markdown::new()),
        Rule::Latex => Box::new(Latex::new()),
        Rule::ZeroOutput => Box::new(ZeroOutput::new()),
        Rule::Repetition => Box::new(Repetition::new()),
        Rule::Patterns(kinds) => Box::new(Patterns::of(kinds.iter().map(|kind| match kind {
            Phrases::MetaCommentary => PatternKind::MetaCommentary,
            Phrases::Refusal => PatternKind::Refusal,
            Phrases::InstructionLeak => PatternKind::InstructionLeak,
            Phrases::Placeholder => PatternKind::Placeholder,
        }))),
        Rule::Forbid(forbidden) => Box::new(forbid(forbidden.clone())),
        Rule::Require(required) => Box::new(require(required.clone())),
        Rule::PanicAt(text) => {
            let text = text.clone();
            Box::new(Custom::new("panics").while_streaming(move |_, so_far| {
                if so_far.contains(&text) {
                    std::panic::resume_unwind(Box::new("scripted"));
                }
                None
            }))
        }
    })
}

fn violation(name: &str, rule: &Forbidden, message: String) -> Violation {
    let violation = match rule.severity {
        scenario::Severity::Warning => Violation::warning(name, message),
        scenario::Severity::Error => Violation::error(name, message),
        scenario::Severity::Fatal => Violation::fatal(name, message),
    };
    if rule.recoverable { violation } else { violation.unrecoverable() }
}

fn forbid(rule: Forbidden) -> Custom {
    let name = rule.name.clone().unwrap_or_else(|| "forbid".to_owned());
    let found = |name: &str, rule: &Forbidden, at: usize| {
        violation(name, rule, format!("{:?} is forbidden", rule.text)).at(at)
    };
    let custom = Custom::new(name.clone());
    if rule.at == When::Complete {
        return custom.at_end(move |so_far, _| {
            so_far.find(&rule.text).map(|at| found(&name, &rule, at)).into_iter().collect()
        });
    }
    custom.while_streaming(move |delta, so_far| {
        // An occurrence that ends in the new part, and is the first.
        let from = (so_far.len() - delta.len()).saturating_sub(rule.text.len().saturating_sub(1));
        let from = so_far.floor_char_boundary(from);
        let at = from + so_far.get(from..)?.find(&rule.text)?;
        let seen_before =
            so_far.get(..so_far.len() - delta.len()).is_some_and(|before| before.contains(&rule.text));
        (!seen_before).then(|| found(&name, &rule, at))
    })
}

fn require(rule: Forbidden) -> Custom {
    let name = rule.name.clone().unwrap_or_else(|| "require".to_owned());
    Custom::new(name.clone()).at_end(move |so_far, _| {
        if so_far.contains(&rule.text) {
            return Vec::new();
        }
        vec![violation(&name, &rule, format!("{:?} is missing", rule.text))]
    })
}
