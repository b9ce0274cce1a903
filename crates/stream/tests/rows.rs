//! What was decided where the document is silent: C1 to C16, each by what is told.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use runstate::stream_session::ErrorCode;
use runstate_guardrails::drift::DriftDetector;
use runstate_guardrails::{Custom, Severity, Violation};
use runstate_stream::{ErrorKind, EventKind, RetryPolicy, Session, Timeouts};

use super::script::{Seen, Step, scripted, then, tokens};
use super::sessions::{every, no, on, policy, session};
use super::told::{Whole, drive, drive_with};

/// The names of the document's events, in order.
pub fn documented(whole: &Whole) -> Vec<&'static str> {
    const FINER: [&str; 15] = [
        "GUARDRAIL_PHASE_START",
        "GUARDRAIL_PHASE_END",
        "DRIFT_DETECTED",
        "TIMEOUT_START",
        "TIMEOUT_RESET",
        "RETRY_GIVE_UP",
        "FALLBACK_END",
        "CHECKPOINT_REJECTED",
        "CONTINUATION_START",
        "TOOL_REQUESTED",
        "CONTENT_RESET",
        "TOKEN",
        "MESSAGE",
        "DATA",
        "PROGRESS",
    ];
    whole.names().into_iter().filter(|name| !FINER.contains(name)).collect()
}

#[tokio::test(start_paused = true)]
async fn c1_every_failed_attempt_tells_an_error() {
    let rule = drive(session(vec![tokens("never"), tokens("fine")]).guardrail(no("never"))).await;
    assert_eq!(
        documented(&rule),
        [
            "SESSION_START",
            "GUARDRAIL_RULE_RESULT",
            "ERROR",
            "RETRY_ATTEMPT",
            "ATTEMPT_START",
            "GUARDRAIL_RULE_RESULT",
            "COMPLETE"
        ]
    );
    let empty = drive(session(vec![tokens(" \u{200B}"), tokens("fine")])).await;
    let retried = ["SESSION_START", "ERROR", "RETRY_ATTEMPT", "ATTEMPT_START", "COMPLETE"];
    assert_eq!(documented(&empty), retried);
    let network = drive(session(vec![vec![Step::Throw(ErrorKind::Network)], tokens("fine")])).await;
    assert_eq!(documented(&network), retried);
}

#[tokio::test(start_paused = true)]
async fn c2_numbers_count_every_attempt_on_the_stream() {
    // The harness counts along at every session; here the numbers as the callbacks get them.
    let first = vec![
        vec![Step::Throw(ErrorKind::Network)],
        vec![Step::Throw(ErrorKind::Model)],
        vec![Step::Throw(ErrorKind::Internal)],
    ];
    let next = vec![vec![Step::Throw(ErrorKind::Timeout)], tokens("done")];
    let whole = drive(session(first).fallback(scripted(&Seen::default(), next))).await;
    let numbered: Vec<_> = whole
        .notes
        .iter()
        .filter(|note| ["on_start", "on_retry", "on_fallback"].iter().any(|name| note.contains(name)))
        .map(|note| note.trim())
        .collect();
    assert_eq!(
        numbered,
        [
            "on_start(1, false, false)",
            "on_retry(1, network)",
            "on_start(2, true, false)",
            "on_retry(2, model)",
            "on_start(3, true, false)",
            "on_fallback(0, internal)",
            "on_start(1, false, true)",
            "on_retry(1, timeout)",
            "on_start(2, true, true)",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn c2_hooks_count_from_0() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (vetoes, delays) = (Arc::clone(&asked), Arc::clone(&asked));
    let whole = drive(
        session(vec![vec![Step::Throw(ErrorKind::Network)]])
            .should_retry(move |question| {
                vetoes.lock().unwrap().push(format!("should_retry {}", question.attempt));
                question.attempt < 2
            })
            .calculate_delay(move |context| {
                let (attempt, total) = (context.attempt, context.total_retries);
                delays
                    .lock()
                    .unwrap()
                    .push(format!("delay {attempt} after {total}, {:?}", context.default_delay));
                Duration::from_millis(7)
            }),
    )
    .await;
    assert_eq!(
        *asked.lock().unwrap(),
        [
            "should_retry 0",
            "delay 0 after 0, 100ms",
            "should_retry 1",
            "delay 1 after 1, 100ms",
            "should_retry 2",
        ]
    );
    assert_eq!(whole.code(), Some(ErrorCode::NetworkError), "there is no fallback, so the veto ends it");
    assert_eq!(whole.events.last().unwrap().at_ms, 14);
    assert!(whole.notes.iter().any(|note| note.contains("RETRY_GIVE_UP because=\"veto\"")));
}

#[tokio::test(start_paused = true)]
async fn c3_a_violation_falls_back_when_its_retries_are_spent() {
    let seen = Seen::default();
    let policy = RetryPolicy { model_retries: 1, ..policy() };
    let session = on(&seen, vec![tokens("never")]).guardrail(no("never")).retry(policy);
    let whole = drive(session.fallback(scripted(&seen, vec![tokens("fine")]))).await;
    assert_eq!((whole.text.as_str(), seen.opened()), ("fine", 3));
}

#[tokio::test(start_paused = true)]
async fn c4_fallback_calls_on_fallback_then_on_start_then_on_resume() {
    let seen = Seen::default();
    let session = on(&seen, vec![then(tokens("one two "), &[Step::Throw(ErrorKind::Internal)])])
        .fallback(scripted(&seen, vec![tokens("three")]))
        .continuation(every(2));
    let whole = drive(session).await;
    let calls: Vec<_> = whole.notes.iter().filter(|note| note.starts_with("  ")).collect();
    let at = calls.iter().position(|note| note.contains("on_fallback")).unwrap();
    assert!(calls[at + 1].contains("on_start(1, false, true)"), "{calls:?}");
    assert!(calls[at + 2].contains("on_resume(\"one two \", 2)"), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn c6_a_silent_source_does_not_hang_the_session() {
    // With nothing set at all.
    let silent = scripted(&Seen::default(), vec![vec![Step::Silence]]);
    let whole = drive(Session::builder("stream_1", silent).retry(RetryPolicy::none())).await;
    assert_eq!(
        (whole.code(), whole.events.last().unwrap().at_ms),
        (Some(ErrorCode::InitialTokenTimeout), 60_000)
    );
    let silent = scripted(&Seen::default(), vec![then(tokens("one "), &[Step::Silence])]);
    let whole = drive(Session::builder("stream_1", silent).retry(RetryPolicy::none())).await;
    assert_eq!(
        (whole.code(), whole.events.last().unwrap().at_ms),
        (Some(ErrorCode::InterTokenTimeout), 30_000)
    );
}

#[tokio::test(start_paused = true)]
async fn c6_progress_is_no_output_and_data_is() {
    let limits =
        Timeouts { initial: Some(Duration::from_millis(10)), inter: Some(Duration::from_millis(10)) };
    let progress = Step::Progress(serde_json::json!({"percent": 1}));
    let script = vec![Step::Wait(6), progress, Step::Wait(6), Step::Token("late".into())];
    let whole = drive(session(vec![script]).timeouts(limits).retry(RetryPolicy::none())).await;
    assert_eq!(
        (whole.code(), whole.events.last().unwrap().at_ms),
        (Some(ErrorCode::InitialTokenTimeout), 10)
    );
    for output in [Step::Data(serde_json::json!(1)), Step::Message("wait"), Step::Tool("search")] {
        let script = vec![Step::Wait(6), output, Step::Wait(6), Step::Token("in time".into())];
        assert_eq!(drive(session(vec![script]).timeouts(limits)).await.text, "in time");
    }
}

#[tokio::test(start_paused = true)]
async fn c6_a_slow_consumer_uses_up_no_timeout() {
    let limits =
        Timeouts { initial: Some(Duration::from_millis(10)), inter: Some(Duration::from_millis(10)) };
    let script = vec![
        Step::Wait(5),
        Step::Token("a ".into()),
        Step::Wait(5),
        Step::Token("b ".into()),
        Step::Wait(5),
        Step::Token("c".into()),
    ];
    let whole = drive_with(session(vec![script]).timeouts(limits), async |_, _| {
        tokio::time::sleep(Duration::from_secs(1)).await;
    })
    .await;
    assert_eq!(whole.text, "a b c");
}

#[tokio::test(start_paused = true)]
async fn c7_and_c8_hold_of_every_session() {
    // `invariants` in the harness: one terminal event, the last; one order; time that does not go back. A clock that does:
    struct Back(AtomicU32);
    impl runstate_runtime::clock::Clock for Back {
        fn now_ms(&self) -> u64 {
            [50, 70, 10, 90][self.0.fetch_add(1, Ordering::Relaxed) as usize % 4]
        }
    }
    let whole = drive(session(vec![tokens("a b c d")]).clock(Back(AtomicU32::new(0)))).await;
    let times: Vec<u64> = whole.events.iter().map(|event| event.at_ms).collect();
    assert_eq!(times, [50, 70, 70, 90, 90, 90]);
}

#[tokio::test(start_paused = true)]
async fn c9_the_marker_says_what_is_void() {
    let script = vec![then(tokens("one two three "), &[Step::Throw(ErrorKind::Network)]), tokens("four")];
    let whole = drive(session(script).continuation(every(2))).await;
    let reset = whole.events.iter().find(|event| event.name() == "CONTENT_RESET").unwrap();
    assert_eq!(reset.kind, EventKind::ContentReset { token_count: 2, content_length: 8 });
    assert_eq!(whole.text, "one two four");
}

#[tokio::test(start_paused = true)]
async fn c10_retry_budgets_count_by_kind_and_stream() {
    let opened = async |kind: ErrorKind, model_retries: u32, total_retries: u32| {
        let (primary, fallback) = (Seen::default(), Seen::default());
        let session = on(&primary, vec![vec![Step::Throw(kind)]])
            .fallback(scripted(&fallback, vec![vec![Step::Throw(kind)]]))
            .retry(RetryPolicy { model_retries, total_retries, ..policy() });
        drive(session).await;
        (primary.opened(), fallback.opened())
    };
    assert_eq!(opened(ErrorKind::Model, 2, 6).await, (3, 3), "a fallback has a fresh budget");
    assert_eq!(opened(ErrorKind::Model, 2, 3).await, (3, 2), "within the one total");
    assert_eq!(opened(ErrorKind::Network, 2, 5).await, (6, 1), "the network uses the total alone");
    assert_eq!(opened(ErrorKind::RateLimit, 0, 2).await, (3, 1));
    assert_eq!(opened(ErrorKind::Model, 5, 0).await, (1, 1));
}

#[tokio::test(start_paused = true)]
async fn c11_errors_are_told_apart_by_kind() {
    // The text says "network"; the kind does not.
    let shown = async |kind: ErrorKind| {
        let whole = drive(session(vec![vec![Step::Throw(kind)]]).retry(RetryPolicy::none())).await;
        let error = whole.result.unwrap_err();
        (error.failure.code.name(), error.failure.category.name())
    };
    let expected = [
        (ErrorKind::Network, ("NETWORK_ERROR", "network")),
        (ErrorKind::Transient, ("NETWORK_ERROR", "transient")),
        (ErrorKind::RateLimit, ("NETWORK_ERROR", "transient")),
        (ErrorKind::ServerError, ("NETWORK_ERROR", "transient")),
        (ErrorKind::Timeout, ("INITIAL_TOKEN_TIMEOUT", "transient")),
        (ErrorKind::Model, ("INVALID_STREAM", "model")),
        (ErrorKind::Guardrail, ("GUARDRAIL_VIOLATION", "content")),
        (ErrorKind::Drift, ("DRIFT_DETECTED", "content")),
        (ErrorKind::ZeroOutput, ("ZERO_OUTPUT", "content")),
        (ErrorKind::Internal, ("INVALID_STREAM", "internal")),
        (ErrorKind::Fatal, ("INVALID_STREAM", "fatal")),
    ];
    assert_eq!(expected.map(|(kind, _)| kind), ErrorKind::ALL);
    for (kind, told) in expected {
        assert_eq!(shown(kind).await, told, "{kind}");
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        assert_eq!(serde_json::to_value(kind.category()).unwrap(), kind.category().name());
    }
}

#[tokio::test(start_paused = true)]
async fn c13_a_checkpoint_that_fails_validation_is_dropped() {
    let rejected = async |builder: runstate_stream::SessionBuilder| {
        let whole = drive(builder).await;
        let at = whole.names().iter().position(|name| *name == "CHECKPOINT_REJECTED").expect("it is told");
        let names = &whole.names()[at..at + 3];
        assert!(
            names == ["CHECKPOINT_REJECTED", "ATTEMPT_START", "CONTENT_RESET"],
            "no RESUME_START: {names:?}"
        );
        assert_eq!(whole.text, "afresh");
        let EventKind::CheckpointRejected { reason, .. } = &whole.events[at].kind else { panic!() };
        reason.clone()
    };
    let script = || vec![then(tokens("one two "), &[Step::Throw(ErrorKind::Network)]), tokens("afresh")];
    let seen = Seen::default();
    let refuses = every(2).validate(|text, tokens| !(text == "one two " && tokens == 2));
    assert_eq!(rejected(on(&seen, script()).continuation(refuses)).await, "the validation hook refused it");
    assert_eq!(seen.openings.lock().unwrap()[1].checkpoint, None);
    // A rule that judges the text of a checkpoint otherwise than its tokens.
    let whole = Custom::new("whole")
        .while_streaming(|token, _| (token == "one two ").then(|| Violation::error("whole", "two words")));
    let session = session(script()).guardrail(whole).continuation(every(2));
    assert_eq!(rejected(session).await, "whole: two words");
}

#[tokio::test(start_paused = true)]
async fn c14_order_within_a_failed_attempt() {
    let whole = drive(session(vec![tokens("never"), tokens("fine")]).guardrail(no("never"))).await;
    let calls: Vec<_> = whole
        .notes
        .iter()
        .filter_map(|note| note.strip_prefix("  on_"))
        .map(|note| note.split('(').next().unwrap())
        .collect();
    assert_eq!(calls, ["start", "violation", "error", "retry", "start", "complete"]);
    let at = |name: &str| whole.events.iter().rfind(|event| event.name() == name).unwrap().at_ms;
    assert_eq!(at("ATTEMPT_START") - at("RETRY_ATTEMPT"), 100, "the back-off is between the two");
}

#[tokio::test(start_paused = true)]
async fn c16_rules_report_at_the_end_and_violations_before() {
    let warns = Custom::new("warns")
        .while_streaming(|delta, _| (delta == "b ").then(|| Violation::warning("warns", "a b")));
    let whole = drive(session(vec![tokens("a b c")]).guardrail(no("never")).guardrail(warns)).await;
    let results: Vec<_> = whole
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::GuardrailRuleResult(result) => {
                let phase = serde_json::to_value(result.phase).unwrap();
                Some((
                    result.rule.as_str(),
                    phase,
                    result.passed,
                    result.violations.len(),
                    result.fresh().len(),
                ))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        results,
        [
            ("warns", "streaming".into(), true, 1, 1),
            ("no-word", "complete".into(), true, 0, 0),
            ("warns", "complete".into(), true, 1, 0),
        ]
    );
    assert_eq!(whole.notes.iter().filter(|note| note.contains("on_violation")).count(), 1, "told once");
}

#[tokio::test(start_paused = true)]
async fn drift_is_asked_as_often_as_it_is_told_to_be() {
    let noise: Vec<Step> = (0..600_u32)
        .map(|i| Step::Token(char::from_u32(0x100 + i.wrapping_mul(7919) % 3000).unwrap().to_string()))
        .collect();
    let calm: Vec<Step> = (0..80).map(|_| Step::Token("the same words again and again. ".into())).collect();
    let script = then(calm, &noise);
    let tokens_until = async |every: u32| {
        let detector = DriftDetector::new().each(Severity::Error);
        let session = session(vec![script.clone()]).drift(detector).drift_every(every.try_into().unwrap());
        let error = drive(session.retry(RetryPolicy::none())).await.result.unwrap_err();
        assert_eq!(error.code(), ErrorCode::DriftDetected);
        error.state.token_count
    };
    let (each, seldom) = (tokens_until(1).await, tokens_until(50).await);
    assert!(seldom >= each && seldom < each + 50 && seldom % 50 == 0, "{each} and {seldom}");
    assert_eq!(tokens_until(100_000).await, script.len() as u64, "at the end at the latest");
}
