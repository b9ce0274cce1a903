//! Checks of a stream scenario beyond its shape.

use runstate::turn::FinishReason;

use super::scenario::{Attempt, Finish, Rule, Scenario, Step};
use super::source::finish;
use super::told::{EVENT_TYPES, is_event_type};
use crate::meant::did_you_mean;

/// The maximum time in a scenario: about a year. Timers do not count much further.
const LONGEST_MS: u64 = 365 * 24 * 60 * 60 * 1_000;

/// The maximum of tokens of one repetition, and of all repetitions of a scenario.
const MOST: u32 = 1_000_000;

/// The maximum size of all repetitions of a scenario, in bytes. A session keeps its answer in memory, and so do its events.
const MOST_BYTES: u64 = 16 << 20;

/// Checks everything that can be known before a session.
///
/// # Errors
/// The error and its place in the scenario.
pub(super) fn check(scenario: &Scenario) -> Result<(), String> {
    if scenario.streams.is_empty() {
        return Err("streams: expected at least one stream, got none".to_owned());
    }
    for (s, stream) in scenario.streams.iter().enumerate() {
        if stream.attempts.is_empty() {
            return Err(format!("streams[{s}].attempts: expected at least one attempt, got none"));
        }
        for (a, attempt) in stream.attempts.iter().enumerate() {
            self::attempt(attempt).map_err(|fault| format!("streams[{s}].attempts[{a}].{fault}"))?;
        }
    }
    repetitions(scenario)?;
    let counts = [
        ("guardrails_every", scenario.guardrails_every),
        ("drift.every", scenario.drift.as_ref().and_then(|drift| drift.every)),
        ("continuation.every", scenario.continuation.as_ref().map(|resumes| resumes.every)),
    ];
    if let Some((field, _)) = counts.iter().find(|(_, count)| *count == Some(0)) {
        return Err(format!("{field}: expected a number of tokens of at least 1, got 0"));
    }
    let confidence = scenario.drift.as_ref().and_then(|drift| drift.confidence);
    if let Some(confidence) = confidence
        && !(0.0..=1.0).contains(&confidence)
    {
        return Err(format!("drift.confidence: expected a number from 0 to 1, got {confidence}"));
    }
    rules(scenario)?;
    finishes(scenario)?;
    abort(scenario)
}

/// Limits repetitions: a few bytes may expand to gigabytes.
fn repetitions(scenario: &Scenario) -> Result<(), String> {
    let (mut tokens, mut bytes) = (0_u64, 0_u64);
    for (s, stream) in scenario.streams.iter().enumerate() {
        for (a, attempt) in stream.attempts.iter().enumerate() {
            for (at, step) in attempt.script.iter().enumerate() {
                let Step::Repeat(repeated) = step else { continue };
                let times = u64::from(repeated.times);
                tokens += times;
                bytes = bytes.saturating_add(times.saturating_mul(repeated.token.len() as u64));
                if tokens > u64::from(MOST) || bytes > MOST_BYTES {
                    return Err(format!(
                        "streams[{s}].attempts[{a}].script[{at}].repeat: expected at most {MOST} tokens and {MOST_BYTES} bytes of all \
                         repetitions of a scenario, got {tokens} tokens and {bytes} bytes up to here"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// A rule without a target is a typing mistake, and would never be broken.
fn rules(scenario: &Scenario) -> Result<(), String> {
    if scenario.drift.as_ref().and_then(|drift| drift.kinds.as_ref()).is_some_and(Vec::is_empty) {
        return Err("drift.kinds: expected a non-empty value, got an empty value".to_owned());
    }
    for (at, rule) in scenario.guardrails.iter().enumerate() {
        let empty = match rule {
            Rule::Patterns(patterns) => patterns.kinds.is_empty().then_some("patterns.kinds"),
            Rule::Phrases(category) => {
                let is_empty = category.phrases.is_empty()
                    || category.phrases.iter().any(|phrase| phrase.trim().is_empty());
                is_empty.then_some("phrases.phrases")
            }
            Rule::Forbid(rule) => rule.text.is_empty().then_some("forbid.text"),
            Rule::ForbidRegex(rule) => rule.regex.is_empty().then_some("forbid_regex.regex"),
            Rule::Require(rule) => rule.text.is_empty().then_some("require.text"),
            Rule::PanicAt(text) => text.is_empty().then_some("panic_at"),
            _ => None,
        };
        if let Some(field) = empty {
            return Err(format!("guardrails[{at}].{field}: expected a non-empty value, got an empty value"));
        }
    }
    Ok(())
}

/// A finish reason that no model gives is a typing mistake.
fn finishes(scenario: &Scenario) -> Result<(), String> {
    let steps =
        || scenario.streams.iter().flat_map(|stream| &stream.attempts).flat_map(|attempt| &attempt.script);
    for (reason, then) in &scenario.finishes {
        let is_given = || steps().any(|step| matches!(step, Step::Finish(given) if given == reason));
        if matches!(finish(reason), FinishReason::Other(_)) && !is_given() {
            const REASONS: [&str; 5] = ["stop", "length", "tool_calls", "content_filter", "unknown"];
            let near = did_you_mean(reason, REASONS);
            return Err(format!(
                "finishes: there is no reason {reason:?}: expected {}, or a word that a step `finish` gives{near}",
                REASONS.join(", ")
            ));
        }
        if matches!(then, Finish::Continue) && scenario.continuation.is_none() {
            return Err(format!(
                "finishes.{reason}: `continue` begins from a checkpoint: expected the field `continuation`"
            ));
        }
    }
    Ok(())
}

fn attempt(attempt: &Attempt) -> Result<(), String> {
    let open = &attempt.open;
    within("open.after_ms", open.after_ms)?;
    let ends = [open.fail.is_some(), open.panic.is_some(), open.hang];
    if ends.iter().filter(|end| **end).count() > 1 {
        return Err("open: expected at most one of fail, panic and hang".to_owned());
    }
    for (at, step) in attempt.script.iter().enumerate() {
        let here = |fault: String| format!("script[{at}].{fault}");
        match step {
            Step::Wait(ms) => within("wait", *ms).map_err(here)?,
            Step::Repeat(repeated) if !(1..=MOST).contains(&repeated.times) => {
                let times = repeated.times;
                return Err(here(format!("repeat.times: expected a number from 1 to {MOST}, got {times}")));
            }
            Step::Finish(reason) if reason.is_empty() || reason.trim() != reason => {
                let got = format!("finish: expected a word without white space around it, got {reason:?}");
                return Err(here(got));
            }
            Step::Throw(_) | Step::Error(_) | Step::Panic(_) | Step::Silence | Step::Complete | Step::Cut
                if at + 1 < attempt.script.len() =>
            {
                return Err(format!(
                    "script[{}]: the step before ends the stream: expected no further step",
                    at + 1
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

fn within(field: &str, ms: u64) -> Result<(), String> {
    if ms <= LONGEST_MS {
        return Ok(());
    }
    Err(format!("{field}: expected a time up to {LONGEST_MS} milliseconds, about a year, got {ms}"))
}

fn abort(scenario: &Scenario) -> Result<(), String> {
    let Some(abort) = &scenario.abort else { return Ok(()) };
    if abort.at_ms.is_none() == abort.on.is_none() {
        return Err("abort: expected one of at_ms and on".to_owned());
    }
    if let Some(ms) = abort.at_ms {
        within("abort.at_ms", ms)?;
    }
    let Some(on) = &abort.on else { return Ok(()) };
    if !is_event_type(&on.event) {
        return Err(format!(
            "abort.on.event: there is no event {:?}: expected one of {}{}",
            on.event,
            EVENT_TYPES.join(", "),
            did_you_mean(&on.event, EVENT_TYPES.iter().copied())
        ));
    }
    if on.nth == 0 {
        return Err("abort.on.nth: expected a number of at least 1, got 0".to_owned());
    }
    if on.in_callback && abort.by == super::scenario::By::Drop {
        return Err("abort.by: a callback cannot drop the session that calls it".to_owned());
    }
    Ok(())
}
