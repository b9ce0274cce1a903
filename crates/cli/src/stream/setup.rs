//! Session settings from a scenario.

use std::num::NonZeroU32;
use std::time::Duration;

use runstate_agent::SchemaCheck;
use runstate_guardrails::drift::DriftDetector;
use runstate_guardrails::structured::Structured;
use runstate_schema::JsonSchemas;
use runstate_stream::{
    Backoff, Continuation, Curve, Jitter, OnFinish, Recourse, RetryPolicy, Session, SessionBuilder, Timeouts,
};
use serde_json::Value;

use super::clock::Shows;
use super::rules::{self, rules};
use super::scenario::{self, Accept, Continue, Drift, HookName, Limit, Retry, Scenario};
use super::source::{factory, finish};

/// Makes the session of a checked scenario.
///
/// # Errors
/// An invalid regular expression, or an unusable schema.
pub(super) fn session(scenario: &Scenario) -> Result<SessionBuilder, String> {
    let id = scenario.stream_id.as_deref().unwrap_or("stream_1");
    let mut streams = scenario.streams.iter().cloned().map(factory);
    // A scenario without streams is refused before.
    let Some(primary) = streams.next() else { unreachable!("a checked scenario has a stream") };
    let mut builder = streams.fold(Session::builder(id, primary), SessionBuilder::fallback);
    builder = retry(builder, scenario)
        .meta(scenario.meta.clone())
        .timeouts(timeouts(&scenario.timeouts))
        .guardrails(rules(scenario)?);
    if let Some(drift) = &scenario.drift {
        builder = watch(builder, drift);
    }
    if !scenario.zero_output_fails {
        builder = builder.allow_zero_output();
    }
    for (reason, then) in &scenario.finishes {
        let then = match then {
            scenario::Finish::Accept => OnFinish::Accept,
            scenario::Finish::Fail => OnFinish::Fail,
            scenario::Finish::Continue => OnFinish::Continue,
        };
        builder = builder.on_finish(finish(reason), then);
    }
    if scenario.require_complete {
        builder = builder.require_complete();
    }
    if let Some(accept) = &scenario.accept {
        builder = accepting(builder, accept)?;
    }
    if !scenario.clock_ms.is_empty() {
        builder = builder.clock(Shows::new(scenario.clock_ms.clone()));
    }
    Ok(match &scenario.continuation {
        Some(resumes) => builder.continuation(continuation(resumes, &scenario.panicking_hooks)),
        None => builder,
    })
}

/// Checks the output against a schema.
fn accepting(builder: SessionBuilder, accept: &Accept) -> Result<SessionBuilder, String> {
    let (schemas, schema, only) = (JsonSchemas::new(), accept.schema.clone(), accept.only);
    if let Some(schema) = &schema {
        schemas.accepts(schema).map_err(|error| format!("accept.schema: {error}"))?;
    }
    Ok(builder.accept(move |read: &Structured<Value>| {
        if only {
            read.only().map_err(|several| several.to_string())?;
        }
        schema.as_ref().map_or(Ok(()), |schema| schemas.check(schema, &read.value))
    }))
}

/// A hook that panics; the output of the panic hook would disturb the output of the scenario.
fn panic_if(panics: bool) {
    if panics {
        std::panic::resume_unwind(Box::new("scripted"));
    }
}

fn policy(retry: &Retry) -> RetryPolicy {
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
    policy
}

fn retry(mut builder: SessionBuilder, scenario: &Scenario) -> SessionBuilder {
    let retry = &scenario.retry;
    let panics = |hook: HookName| scenario.panicking_hooks.contains(&hook);
    builder = builder.retry(policy(retry));
    if let Some(seed) = retry.seed {
        builder = builder.seed(seed);
    }
    let Retry { veto_attempts, veto_kinds, veto_with, delays_ms, .. } = retry.clone();
    let broken = panics(HookName::ShouldRetry);
    if broken || !veto_attempts.is_empty() || !veto_kinds.is_empty() || veto_with.is_some() {
        builder = builder.should_retry(move |asked| {
            panic_if(broken);
            let holds = veto_with.as_ref().is_some_and(|text| asked.content.contains(text));
            !holds && !veto_attempts.contains(&asked.attempt) && !veto_kinds.contains(&asked.error.kind)
        });
    }
    let broken = panics(HookName::CalculateDelay);
    if broken || !delays_ms.is_empty() {
        builder = builder.calculate_delay(move |context| {
            panic_if(broken);
            let at = usize::try_from(context.attempt).unwrap_or(usize::MAX);
            Duration::from_millis(delays_ms.get(at).or(delays_ms.last()).copied().unwrap_or_default())
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
    for (kind, severity) in &drift.severity {
        detector = detector.severity(*kind, rules::severity(*severity));
    }
    if let Some(confidence) = drift.confidence {
        detector = detector.from_confidence(confidence);
    }
    let builder = builder.drift(detector);
    match drift.every.and_then(NonZeroU32::new) {
        Some(tokens) => builder.drift_every(tokens),
        None => builder,
    }
}

fn continuation(resumes: &Continue, broken: &[HookName]) -> Continuation {
    let mut continuation = Continuation::every(NonZeroU32::new(resumes.every).unwrap_or(NonZeroU32::MIN));
    if let Some(characters) = resumes.overlap_from {
        continuation = continuation.overlap_from(characters);
    }
    if !resumes.remove_overlap {
        continuation = continuation.keep_overlap();
    }
    let (prompt, refused) = (resumes.prompt.clone(), resumes.refuse_with.clone());
    let panics = broken.contains(&HookName::Prompt);
    if panics || prompt.is_some() {
        continuation = continuation.prompt(move |checkpoint| {
            panic_if(panics);
            prompt.as_deref().unwrap_or_default().replace("{checkpoint}", checkpoint)
        });
    }
    let panics = broken.contains(&HookName::Validate);
    if panics || refused.is_some() {
        continuation = continuation.validate(move |checkpoint, _| {
            panic_if(panics);
            !refused.as_ref().is_some_and(|refused| checkpoint.contains(refused))
        });
    }
    continuation
}
