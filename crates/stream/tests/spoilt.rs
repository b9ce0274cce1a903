//! No text that failed a rule is gone on from, or is part of a success.

use std::num::NonZeroU32;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use runstate::stream_session::ErrorCode;
use runstate_guardrails::drift::{DriftDetector, DriftKind};
use runstate_guardrails::{Custom, OutputFacts, PatternKind, Patterns, Rules, Severity, Violation};
use runstate_stream::{ErrorKind, EventKind, FinishReason, OnFinish, RetryPolicy};
use tokio_util::sync::CancellationToken;

use super::script::{Seen, Step, scripted, then, tokens};
use super::sessions::{every, no, on, policy, session};
use super::told::drive;

/// The opening of a refusal was saved before the refusal was seen.
#[tokio::test(start_paused = true)]
async fn the_beginning_of_a_refusal_is_not_gone_on_from() {
    let refusal = || vec![Step::Token("I'm sorry, but ".into()), Step::Token("I can't help.".into())];
    let good = || tokens("A good answer.");
    for fallback in [false, true] {
        let seen = Seen::default();
        let attempts = if fallback { vec![refusal()] } else { vec![refusal(), good()] };
        let strict = Patterns::builtin().severity(PatternKind::Refusal, Severity::Error);
        let mut session = on(&seen, attempts).guardrail(strict).continuation(every(1));
        if fallback {
            let none = RetryPolicy { model_retries: 0, ..policy() };
            session = session.retry(none).fallback(scripted(&seen, vec![good()]));
        }
        let whole = drive(session).await;
        assert_eq!((whole.text.as_str(), whole.result.unwrap().resumed_from), ("A good answer.", None));
        assert_eq!(seen.openings.lock().unwrap()[1].checkpoint, None);
    }
}

/// The rules see all text before its beginning is saved or offered, however rarely they are asked.
#[tokio::test(start_paused = true)]
async fn unjudged_text_is_judged_before_it_is_offered() {
    let strict = || Rules::new().every(NonZeroU32::new(50).unwrap()).with(no("bad"));
    let made = |script: Vec<Step>| session(vec![script]).guardrails(strict()).retry(RetryPolicy::none());
    let cut = |text: &str| then(tokens(text), &[Step::Throw(ErrorKind::Network)]);
    for (text, kept) in [("this is bad text", None), ("this is good text ", Some("this is good text "))] {
        let error = drive(made(cut(text)).continuation(every(1))).await.result.unwrap_err();
        assert_eq!(error.checkpoint(), kept, "saved after each token: {error}");
    }
    // The text after the checkpoint makes the checkpoint the beginning of a bad output.
    let error = drive(made(cut("so far so bad")).continuation(every(3))).await.result.unwrap_err();
    assert_eq!((error.failure.kind, error.checkpoint()), (ErrorKind::Network, None), "{error}");
    let seen = Seen::default();
    let retried = on(&seen, vec![cut("so far so bad"), tokens("a good answer")]);
    let whole = drive(retried.guardrails(strict()).continuation(every(3))).await;
    assert_eq!((whole.text.as_str(), &seen.openings.lock().unwrap()[1].checkpoint), ("a good answer", &None));
    // A continuation of an answer that was cut.
    let stops = then(tokens("this is bad"), &[Step::Finish(FinishReason::Length), Step::Complete]);
    let goes_on = made(stops).on_finish(FinishReason::Length, OnFinish::Continue);
    let error = drive(goes_on).await.result.unwrap_err();
    assert_eq!((error.failure.kind, error.checkpoint()), (ErrorKind::Guardrail, None), "{error}");
    // An abort in the middle.
    let token = CancellationToken::new();
    let script = then(tokens("so far so bad"), &[Step::Silence]);
    let mut aborted = made(script).continuation(every(3)).cancelled_by(token.clone()).build();
    let (error, ()) = tokio::join!(aborted.run(), async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        token.cancel();
    });
    let error = error.unwrap_err();
    assert_eq!((error.code(), error.checkpoint()), (ErrorCode::StreamAborted, None), "{error}");
}

/// Drift is checked before its text is saved or offered, however rarely the detector is asked.
#[tokio::test(start_paused = true)]
async fn unjudged_drift_is_judged_before_it_is_offered() {
    let strict = || DriftDetector::new().severity(DriftKind::Repetition, Severity::Error);
    let script = then(tokens(&"and then we ".repeat(60)), &[Step::Throw(ErrorKind::Network)]);
    let made = session(vec![script]).drift(strict()).drift_every(NonZeroU32::new(500).unwrap());
    let error = drive(made.continuation(every(1)).retry(RetryPolicy::none())).await.result.unwrap_err();
    assert_eq!((error.failure.kind, error.checkpoint()), (ErrorKind::Drift, None), "{error}");
}

/// It is not offered to the caller either, for a session of its own.
#[tokio::test(start_paused = true)]
async fn the_error_of_a_session_has_no_checkpoint_that_failed_a_rule() {
    for (rest, kept) in [("I can't help.", None), ("", Some("I'm sorry, but "))] {
        let strict = Patterns::builtin().severity(PatternKind::Refusal, Severity::Error);
        let script =
            then(tokens("I'm sorry, but "), &[Step::Token(rest.into()), Step::Throw(ErrorKind::Network)]);
        let none = RetryPolicy::none();
        let whole = drive(session(vec![script]).guardrail(strict).continuation(every(1)).retry(none)).await;
        let error = whole.result.unwrap_err();
        assert_eq!(error.checkpoint(), kept, "{error}");
    }
}

/// No way leads to text that a rule, drift or a filter stopped, behind the end of the session.
#[tokio::test(start_paused = true)]
async fn a_halted_session_offers_no_spoilt_checkpoint() {
    let refusal = || tokens("I'm sorry, but I can't help.");
    let filtered = || then(tokens("the beginning of it"), &[Step::Finish(FinishReason::ContentFilter)]);
    let cut = || then(tokens("a good beginning"), &[Step::Throw(ErrorKind::Network)]);
    for (what, script, is_kept) in
        [("a rule", refusal(), false), ("a filter", filtered(), false), ("a cut", cut(), true)]
    {
        let strict = Patterns::builtin().severity(PatternKind::Refusal, Severity::Error);
        let made = session(vec![script]).guardrail(strict).continuation(every(1)).retry(RetryPolicy::none());
        let mut made = made.build();
        let error = made.run().await.unwrap_err();
        assert_eq!(error.checkpoint().is_some(), is_kept, "{what}: of the error");
        assert_eq!(error.state.checkpoint.is_some(), is_kept, "{what}: of the state");
        assert_eq!(made.checkpoint().is_some(), is_kept, "{what}: of the session");
    }
}

/// Aborts in the callback for the result of a rule.
struct AbortAtRules(CancellationToken);

impl runstate_stream::Callbacks for AbortAtRules {
    fn on_event(&mut self, event: &runstate_stream::Event) {
        if matches!(event.kind, EventKind::GuardrailRuleResult(_) | EventKind::DriftDetected { .. }) {
            self.0.cancel();
        }
    }
}

/// Also where an abort comes before the attempt is told to have failed.
#[tokio::test(start_paused = true)]
async fn an_abort_behind_a_broken_rule_leaves_no_checkpoint() {
    let strict = || Patterns::builtin().severity(PatternKind::Refusal, Severity::Error);
    let token = CancellationToken::new();
    let script = || tokens("I'm sorry, but I can't help.");
    let made = session(vec![script()]).guardrail(strict()).continuation(every(1)).cancelled_by(token.clone());
    let error = made.callbacks(AbortAtRules(token)).build().run().await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::StreamAborted);
    assert_eq!((error.checkpoint(), error.state.checkpoint), (None, None), "{error}");
    // A later attempt has one of its own.
    let token = CancellationToken::new();
    let scripts = vec![script(), then(tokens("A good "), &[Step::Silence])];
    let made = session(scripts).guardrail(strict()).continuation(every(1)).cancelled_by(token.clone());
    let mut made = made.build();
    let (error, ()) = tokio::join!(made.run(), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    });
    assert_eq!(error.unwrap_err().checkpoint(), Some("A good "));
}

/// Neither is the text that an earlier attempt saved, if the whole failed a rule; and the budget is not spent on it.
#[tokio::test(start_paused = true)]
async fn output_that_failed_at_its_end_is_not_continued() {
    let ends = || {
        Custom::new("ends").at_end(|text, _| {
            let is_bad = text.starts_with("bad");
            is_bad.then(|| Violation::error("ends", "it begins badly")).into_iter().collect()
        })
    };
    let script = vec![
        then(tokens("bad be"), &[Step::Throw(ErrorKind::Network)]),
        tokens("ginning"),
        tokens("a better one"),
    ];
    let whole = drive(session(script).guardrail(ends()).continuation(every(1))).await;
    assert_eq!(whole.text, "a better one");
    let state = whole.result.unwrap();
    assert_eq!((state.attempts, state.model_retries), (3, 1));
    let rejected = whole.events.iter().filter_map(|event| match &event.kind {
        EventKind::CheckpointRejected { reason, .. } => Some(reason.as_str()),
        _ => None,
    });
    let why = "it is the beginning of an output that failed: ends: it begins badly";
    assert_eq!(rejected.collect::<Vec<_>>(), [why]);
}

#[derive(Debug, Clone)]
struct Case {
    streams: Vec<Vec<Vec<Step>>>,
    every: Option<u32>,
    rules: Vec<usize>,
    rules_every: u32,
    model_retries: u32,
}

/// Rules over words, of each way in which a rule can look: at the last piece, at all of the text, at its end alone.
fn rules(picked: &[usize], at: u32) -> Rules {
    let mut rules = Rules::new().every(NonZeroU32::new(at).unwrap());
    for picked in picked {
        rules = match picked {
            0 => rules.with(no("ba")),
            1 => rules.with(Patterns::new().category("pair", Severity::Error, ["a b", "c a"])),
            2 => rules.with(Custom::new("begins").while_streaming(|_, text| {
                text.starts_with("b c").then(|| Violation::error("begins", "with b c"))
            })),
            3 => rules.with(Custom::new("ends").at_end(|text, _| {
                text.ends_with('c').then(|| Violation::error("ends", "with c")).into_iter().collect()
            })),
            _ => rules.with(Custom::new("long").at_end(|text, _| {
                (text.len() > 12).then(|| Violation::error("long", "too long")).into_iter().collect()
            })),
        };
    }
    rules
}

fn case() -> impl Strategy<Value = Case> {
    let piece = prop::sample::select(vec!["a", "b", "c", "a ", " b", "c ", " ", "ab"]);
    let stops =
        prop::sample::select(vec![FinishReason::Length, FinishReason::ContentFilter, FinishReason::Stop]);
    let stops = prop::option::weighted(0.3, stops);
    let ends = prop::sample::select(vec![
        None,
        None,
        Some(ErrorKind::Network),
        Some(ErrorKind::Model),
        Some(ErrorKind::Timeout),
    ]);
    let attempt = (prop::collection::vec(piece, 1..7), stops, ends).prop_map(|(pieces, stop, end)| {
        let mut steps: Vec<_> = pieces.into_iter().map(|piece| Step::Token(piece.to_owned())).collect();
        steps.extend(stop.map(Step::Finish));
        steps.extend(end.map(Step::Throw));
        steps
    });
    let streams = prop::collection::vec(prop::collection::vec(attempt, 1..5), 1..3);
    let picked = prop::sample::subsequence(vec![0, 1, 2, 3, 4], 0..5);
    (streams, prop::option::of(1..4_u32), picked, 1..4_u32, 0..4_u32).prop_map(
        |(streams, every, rules, rules_every, model_retries)| Case {
            streams,
            every,
            rules,
            rules_every,
            model_retries,
        },
    )
}

/// Checks a text from its start, in pieces of several lengths, and at its end if it is whole.
fn assert_passes(case: &Case, text: &str, is_whole: bool) {
    for piece in 1..=3 {
        let mut fresh = rules(&case.rules, 1);
        let (mut so_far, mut found) = (String::new(), Vec::new());
        for chars in text.chars().collect::<Vec<_>>().chunks(piece) {
            let delta: String = chars.iter().collect();
            so_far.push_str(&delta);
            found.extend(fresh.streaming(&delta, &so_far));
        }
        if is_whole {
            let results = fresh.complete(&so_far, &OutputFacts::TEXT);
            found.extend(results.into_iter().flat_map(|result| result.violations));
        }
        assert!(found.iter().all(|found| found.severity < Severity::Error), "{case:?}: {text:?}: {found:?}");
    }
}

/// Returns whether the session succeeds.
async fn check(case: Case) -> bool {
    let seen = Seen::default();
    let mut streams = case.streams.iter().cloned();
    let mut session = on(&seen, streams.next().unwrap())
        .guardrails(rules(&case.rules, case.rules_every))
        .on_finish(FinishReason::Length, OnFinish::Continue)
        .retry(RetryPolicy { model_retries: case.model_retries, ..policy() });
    if let Some(tokens) = case.every {
        session = session.continuation(every(tokens));
    }
    for attempts in streams {
        session = session.fallback(scripted(&seen, attempts));
    }
    let whole = drive(session).await;
    let result = match &whole.result {
        Ok(state) => {
            assert_passes(&case, &state.content, true);
            true
        }
        Err(error) => {
            let mark = error.state.checkpoint.map(|mark| &error.state.content[..mark.content_length]);
            for offered in [error.checkpoint(), mark].into_iter().flatten() {
                assert_passes(&case, offered, false);
            }
            false
        }
    };
    // A consumer may store each saved checkpoint.
    let mut text = String::new();
    for event in &whole.events {
        match &event.kind {
            EventKind::Token { text: token } => text.push_str(token),
            EventKind::ContentReset { content_length, .. } => text.truncate(*content_length),
            EventKind::CheckpointSaved { .. } => assert_passes(&case, &text, false),
            _ => {}
        }
    }
    // What an attempt went on from was never part of an output that failed a rule.
    let mut failed = false;
    for event in &whole.events {
        match &event.kind {
            EventKind::Error(error) => failed = error.error.kind == ErrorKind::Guardrail,
            EventKind::ResumeStart { .. } => assert!(!failed, "{case:?}"),
            _ => {}
        }
    }
    result
}

#[test]
fn the_content_of_a_success_passes_all_its_rules() {
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let successes = std::cell::Cell::new(0);
    let checked = runner.run(&case(), |case| {
        successes.set(successes.get() + u32::from(runtime.block_on(check(case))));
        Ok(())
    });
    checked.unwrap();
    assert!(successes.get() > 40, "{}", successes.get());
}

/// The filter of a provider stops an answer, and the connection ends before the answer does.
#[tokio::test(start_paused = true)]
async fn text_before_a_filter_and_a_cut_is_not_gone_on_from() {
    let filtered = || {
        then(
            tokens("bad text "),
            &[Step::Finish(FinishReason::ContentFilter), Step::Throw(ErrorKind::Network)],
        )
    };
    for fallback in [false, true] {
        let seen = Seen::default();
        let attempts = if fallback { vec![filtered()] } else { vec![filtered(), tokens("a good answer")] };
        let mut session = on(&seen, attempts).continuation(every(1));
        if fallback {
            session =
                session.retry(RetryPolicy::none()).fallback(scripted(&seen, vec![tokens("a good answer")]));
        }
        let whole = drive(session).await;
        assert_eq!((whole.text.as_str(), whole.result.unwrap().resumed_from), ("a good answer", None));
    }
    let session = session(vec![filtered(), tokens("goes on")])
        .on_finish(FinishReason::ContentFilter, OnFinish::Continue)
        .continuation(every(1));
    assert_eq!(drive(session).await.text, "bad text goes on", "the policy permits it");
}
