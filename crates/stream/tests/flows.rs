//! The flows of document 002, "Event Ordering Specifications", each whole: events and callbacks in one order, what the
//! consumer has, how it ends, and the trace.

use std::time::Duration;

use runstate::stream_session::ErrorCode;
use runstate_guardrails::drift::DriftDetector;
use runstate_guardrails::{Custom, Severity, Violation};
use runstate_stream::{ErrorKind, FinishReason, OnFinish, RetryPolicy, Timeouts};
use serde_json::json;

use super::script::{Seen, Step, scripted, then, tokens};
use super::sessions::{every, no, on, policy, session};
use super::told::{assert_shown, drive, drive_with};

#[tokio::test(start_paused = true)]
async fn successful_session_matches_its_snapshot() {
    let script = then(tokens("Hello big world"), &[Step::Wait(5), Step::Tool("search"), Step::Complete]);
    let whole = drive(session(vec![script]).meta(json!({"user": 7}))).await;
    assert_eq!(whole.events[0].meta(), &json!({"user": 7}));
    assert!(whole.events.iter().all(|event| event.meta() == &json!({"user": 7})));
    assert_shown("normal", &whole.shown());
}

#[tokio::test(start_paused = true)]
async fn retried_session_matches_its_snapshot() {
    let script = vec![
        then(tokens("Hello wor"), &[Step::Throw(ErrorKind::Network)]),
        then(tokens("Hello "), &[Step::Report(ErrorKind::RateLimit)]),
        tokens("Hello world"),
    ];
    assert_shown("retry", &drive(session(script)).await.shown());
}

#[tokio::test(start_paused = true)]
async fn session_with_fallbacks_matches_its_snapshot() {
    let seen = Seen::default();
    let session = on(&seen, vec![vec![Step::RefuseToOpen(ErrorKind::ServerError)]])
        .fallback(scripted(&seen, vec![then(tokens("no "), &[Step::Throw(ErrorKind::Internal)])]))
        .fallback(scripted(&seen, vec![tokens("from the second fallback")]))
        .retry(RetryPolicy { total_retries: 1, ..policy() });
    assert_shown("fallback", &drive(session).await.shown());
}

#[tokio::test(start_paused = true)]
async fn failed_sessions_match_their_snapshots() {
    let fatal = then(tokens("half an ans"), &[Step::Throw(ErrorKind::Fatal)]);
    let whole =
        drive(session(vec![fatal]).fallback(scripted(&Seen::default(), vec![tokens("unused")]))).await;
    assert_shown("error_fatal", &whole.shown());

    let down = vec![vec![Step::Throw(ErrorKind::Network)]];
    let session = session(down.clone()).fallback(scripted(&Seen::default(), down));
    let whole = drive(session.retry(RetryPolicy { total_retries: 1, ..policy() })).await;
    assert_eq!(whole.code(), Some(ErrorCode::AllStreamsExhausted));
    assert_shown("error_exhausted", &whole.shown());
}

#[tokio::test(start_paused = true)]
async fn continued_session_matches_its_snapshot() {
    let seen = Seen::default();
    let script = vec![
        then(tokens("The quick brown fox jumps"), &[Step::Throw(ErrorKind::Network)]),
        tokens("brown fox jumps over the dog"),
    ];
    let resumes = every(2).prompt(|text| format!("go on from {text:?}"));
    let whole = drive(on(&seen, script).continuation(resumes)).await;
    let openings = seen.openings.lock().unwrap();
    assert_eq!(openings[0].checkpoint, None);
    assert_eq!(openings[1].checkpoint.as_deref(), Some("The quick brown fox "));
    assert_eq!(openings[1].prompt.as_deref(), Some("go on from \"The quick brown fox \""));
    assert_shown("continuation", &whole.shown());
}

#[tokio::test(start_paused = true)]
async fn continuation_on_a_fallback_matches_its_snapshot() {
    let seen = Seen::default();
    let session =
        on(&seen, vec![then(tokens("one two three four five"), &[Step::Throw(ErrorKind::Internal)])])
            .fallback(scripted(&seen, vec![tokens("five six")]))
            .continuation(every(2));
    assert_shown("continuation_on_a_fallback", &drive(session).await.shown());
}

#[tokio::test(start_paused = true)]
async fn aborted_session_matches_its_snapshot() {
    let seen = Seen::default();
    let session = on(&seen, vec![then(tokens("one two three four"), &[Step::Silence])]);
    let whole = drive_with(session, async |session, event| {
        if event.token() == Some("two ") {
            session.abort_handle().abort();
        }
    })
    .await;
    assert_eq!((seen.opened(), seen.open.load(std::sync::atomic::Ordering::SeqCst)), (1, 0));
    assert_shown("abort", &whole.shown());
}

#[tokio::test(start_paused = true)]
async fn timed_out_session_matches_its_snapshot() {
    let limits =
        Timeouts { initial: Some(Duration::from_millis(50)), inter: Some(Duration::from_millis(20)) };
    let script = vec![
        vec![Step::SlowToOpen(30), Step::Silence],
        vec![Step::Wait(50), Step::Token("one ".into()), Step::Wait(21), Step::Token("two ".into())],
        vec![Step::Wait(49), Step::Token("one ".into()), Step::Wait(20), Step::Token("two".into())],
    ];
    assert_shown("timeout", &drive(session(script).timeouts(limits)).await.shown());
}

#[tokio::test(start_paused = true)]
async fn guarded_session_matches_its_snapshot() {
    let script = vec![tokens("you must never say it"), tokens("you may say it")];
    let warns = Custom::new("short").at_end(|so_far, _| {
        let long = so_far.len() > 10;
        if long { vec![Violation::warning("short", "longer than ten bytes")] } else { vec![] }
    });
    let whole = drive(session(script).guardrail(no("never")).guardrail(warns)).await;
    assert_shown("guardrail", &whole.shown());
}

#[tokio::test(start_paused = true)]
async fn fatal_guardrail_violation_matches_its_snapshot() {
    // C3: text that violates a rule is never reported as success.
    let script = vec![tokens("never")];
    let policy = RetryPolicy { model_retries: 1, ..policy() };
    let whole = drive(session(script.clone()).guardrail(no("never")).retry(policy.clone())).await;
    assert_eq!(whole.code(), Some(ErrorCode::GuardrailViolation));
    assert_shown("guardrail_exhausted", &whole.shown());

    let session = session(script.clone()).guardrail(no("never")).retry(policy);
    let whole = drive(session.fallback(scripted(&Seen::default(), script.clone()))).await;
    assert_eq!(whole.code(), Some(ErrorCode::GuardrailViolation), "the last fallback's too");

    let secret = Custom::new("secret").at_end(|_, _| vec![Violation::fatal("secret", "a key")]);
    let session = super::sessions::session(script).guardrail(secret);
    let whole = drive(session.fallback(scripted(&Seen::default(), vec![tokens("unused")]))).await;
    assert_eq!(whole.code(), Some(ErrorCode::FatalGuardrailViolation));
    assert_shown("guardrail_fatal", &whole.shown());
}

#[tokio::test(start_paused = true)]
async fn drifting_attempt_is_retried() {
    let babble: Vec<Step> = (0..80).map(|_| Step::Token("the same words again and again. ".into())).collect();
    let noise: Vec<Step> = (0..400_u32)
        .map(|i| Step::Token(char::from_u32(0x100 + i.wrapping_mul(7919) % 3000).unwrap().to_string()))
        .collect();
    let script = vec![then(babble, &noise), tokens("a plain answer")];
    let whole = drive(session(script).drift(DriftDetector::new().each(Severity::Error))).await;
    let names = whole.names();
    let at = names.iter().position(|name| *name == "DRIFT_DETECTED").unwrap();
    assert_eq!(names[at..at + 3], ["DRIFT_DETECTED", "ERROR", "RETRY_ATTEMPT"]);
    assert_eq!(whole.text, "a plain answer");
    assert!(whole.notes.iter().any(|note| note.starts_with("  on_drift(")));
}

#[tokio::test(start_paused = true)]
async fn combined_failures_match_their_snapshot() {
    // Network, guardrail, timeout, fallback with a checkpoint, and a whole output in the end.
    let seen = Seen::default();
    let script = vec![
        then(tokens("a b c "), &[Step::Throw(ErrorKind::Network)]),
        tokens("d never "),
        then(tokens("d "), &[Step::Silence]),
    ];
    let limits = Timeouts { initial: None, inter: Some(Duration::from_millis(40)) };
    let session = on(&seen, script)
        .fallback(scripted(&seen, vec![then(tokens("d e f"), &[Step::Data(json!({"image": 1}))])]))
        .guardrail(no("never"))
        .timeouts(limits)
        .continuation(every(3))
        .retry(RetryPolicy { model_retries: 1, total_retries: 2, ..policy() });
    assert_shown("combined", &drive(session).await.shown());
}

#[tokio::test(start_paused = true)]
async fn events_have_the_times_of_their_occurrence() {
    let script = vec![
        vec![
            Step::Token("a ".into()),
            Step::Wait(7),
            Step::Token("b ".into()),
            Step::Wait(13),
            Step::Throw(ErrorKind::Network),
        ],
        vec![Step::Wait(3), Step::Token("c".into()), Step::Wait(2)],
    ];
    let whole = drive(session(script)).await;
    let times: Vec<_> = whole.events.iter().map(|event| (event.name(), event.at_ms)).collect();
    assert_eq!(
        times,
        [
            ("SESSION_START", 0),
            ("TOKEN", 0),
            ("TOKEN", 7),
            ("ERROR", 20),
            ("RETRY_ATTEMPT", 20),
            ("ATTEMPT_START", 120),
            ("CONTENT_RESET", 120),
            ("TOKEN", 123),
            ("COMPLETE", 125),
        ]
    );
    let state = whole.result.unwrap();
    assert_eq!(
        (state.started_at_ms, state.first_token_at_ms, state.last_token_at_ms),
        (0, Some(0), Some(123))
    );
    assert_eq!(state.duration_ms, 125);
}

/// A call of a minute, in pieces that come every twenty seconds, is no silence; and thoughts are no answer.
#[tokio::test(start_paused = true)]
async fn tool_call_pieces_reset_the_timeout_thoughts_are_no_output() {
    let pieces =
        [Step::Alive, Step::Wait(20_000), Step::Alive, Step::Wait(20_000), Step::Alive, Step::Wait(20_000)];
    let call =
        then(vec![Step::Wait(50_000)], &[&pieces[..], &[Step::Tool("write"), Step::Complete]].concat());
    let whole = drive(session(vec![call]).timeouts(Timeouts::default())).await;
    let state = whole.result.unwrap();
    assert_eq!((state.attempts, state.tool_calls.len()), (1, 1));

    let thoughts =
        vec![Step::Reasoning("first "), Step::Wait(20_000), Step::Reasoning("then"), Step::Complete];
    let whole = drive(session(vec![thoughts, tokens("an answer")]).timeouts(Timeouts::default())).await;
    let state = whole.result.unwrap();
    assert_eq!((&*state.content, state.attempts), ("an answer", 2));
    assert_eq!((state.failures[0].code, state.data_parts), (ErrorCode::ZeroOutput, 0));
    let thought = whole.events.iter().filter(|event| event.name() == "REASONING").count();
    assert_eq!(thought, 2);
}

/// Each reason to stop has a policy.
#[tokio::test(start_paused = true)]
async fn each_finish_reason_follows_its_policy() {
    use FinishReason::{ContentFilter, Length, Other, Stop, Unknown};
    let stops =
        |text: &str, reason: FinishReason| then(tokens(text), &[Step::Finish(reason), Step::Complete]);
    let answer = || stops("an answer", Stop);

    // What was cut is not asked for again on the stream that cut it.
    let whole = drive(session(vec![stops("cut", Length), answer()])).await;
    let error = whole.result.unwrap_err();
    assert_eq!(
        (error.failure.message.as_str(), error.state.attempts),
        ("the answer was cut at its limit on length", 1)
    );
    let fallback = scripted(&Seen::default(), vec![answer()]);
    assert_eq!(drive(session(vec![stops("cut", Length)]).fallback(fallback)).await.text, "an answer");

    let accepts = session(vec![stops("cut", Length)]).on_finish(Length, OnFinish::Accept);
    let state = drive(accepts).await.result.unwrap();
    assert_eq!((state.content.as_str(), state.finish.clone()), ("cut", Some(Length)));

    // It goes on from all that was said, also where no checkpoints are saved.
    let seen = Seen::default();
    let goes_on = on(&seen, vec![stops("one two ", Length), stops("three", Stop)])
        .on_finish(Length, OnFinish::Continue);
    let state = drive(goes_on).await.result.unwrap();
    assert_eq!(
        (state.content.as_str(), state.model_retries, state.finish.clone()),
        ("one two three", 1, Some(Stop))
    );
    assert_eq!(seen.openings.lock().unwrap()[1].checkpoint.as_deref(), Some("one two "));

    // Calls of an answer that was cut are asked for again, and none comes twice.
    let seen = Seen::default();
    let cut = then(tokens("one two "), &[Step::Tool("a"), Step::Finish(Length), Step::Complete]);
    let whole = then(tokens("all "), &[Step::Tool("a"), Step::Tool("b"), Step::Finish(Stop), Step::Complete]);
    let goes_on = on(&seen, vec![cut, whole]).on_finish(Length, OnFinish::Continue);
    let state = drive(goes_on).await.result.unwrap();
    assert_eq!((state.content.as_str(), state.tool_calls.len()), ("all ", 2));
    assert_eq!(seen.openings.lock().unwrap()[1].checkpoint, None);

    // What a filter stopped is asked for again, from its beginning.
    let seen = Seen::default();
    let filtered = on(&seen, vec![stops("half a ", ContentFilter), answer()]).continuation(every(1));
    assert_eq!(drive(filtered).await.text, "an answer");
    assert_eq!(seen.openings.lock().unwrap()[1].checkpoint, None);

    // Where it is to go on all the same, it does so from the last checkpoint, and begins anew where there is none.
    let filtered = |seen: &Seen| {
        on(seen, vec![stops("one two three ", ContentFilter), stops("four", Stop)])
            .on_finish(ContentFilter, OnFinish::Continue)
    };
    for (tokens, checkpoint, text) in [(Some(2), Some("one two "), "one two four"), (None, None, "four")] {
        let seen = Seen::default();
        let session = filtered(&seen);
        let session = match tokens {
            Some(tokens) => session.continuation(every(tokens)),
            None => session,
        };
        let state = drive(session).await.result.unwrap();
        assert_eq!((state.content.as_str(), state.model_retries), (text, 1));
        assert_eq!(seen.openings.lock().unwrap()[1].checkpoint.as_deref(), checkpoint);
    }

    // The policy for unknown finishes holds for each word that no policy names.
    let odd = |word: &str| stops("half ", Other(word.into()));
    for (then, word, text) in [
        (OnFinish::Fail, "odd", "an answer"),
        (OnFinish::Continue, "odd", "half an answer"),
        (OnFinish::Fail, "named", "half "),
    ] {
        let script = vec![odd(word), stops("an answer", Stop)];
        let made =
            session(script).on_finish(Unknown, then).on_finish(Other("named".into()), OnFinish::Accept);
        assert_eq!(drive(made).await.text, text, "{then:?} {word}");
    }

    // Each reason has each policy.
    for reason in [Stop, FinishReason::ToolCalls, Length, ContentFilter, Unknown, Other("odd".into())] {
        for then in [OnFinish::Accept, OnFinish::Fail, OnFinish::Continue] {
            let last = if reason == Stop { FinishReason::ToolCalls } else { Stop };
            let script = || vec![stops("half ", reason.clone()), stops("an answer", last.clone())];
            let fallback = scripted(&Seen::default(), vec![tokens("of the fallback")]);
            let said = drive(session(script()).on_finish(reason.clone(), then).fallback(fallback)).await.text;
            let expected = match (then, &reason) {
                (OnFinish::Accept, _) => "half ",
                (OnFinish::Fail, Length) => "of the fallback",
                (OnFinish::Continue, ContentFilter) | (OnFinish::Fail, _) => "an answer",
                (OnFinish::Continue, _) => "half an answer",
            };
            assert_eq!(said, expected, "{reason:?} {then:?}");
        }
    }

    // A reason that tells of a cut counts, whatever reason comes after it.
    for (reason, said) in [(Length, "of the fallback"), (ContentFilter, "an answer")] {
        let twice =
            then(tokens("half "), &[Step::Finish(reason.clone()), Step::Finish(Stop), Step::Complete]);
        let fallback = scripted(&Seen::default(), vec![tokens("of the fallback")]);
        let whole = drive(session(vec![twice, answer()]).fallback(fallback)).await;
        assert_eq!((whole.text.as_str(), whole.result.is_ok()), (said, true), "{reason:?}");
    }

    // A stream that gives no reason.
    for no_reason in [vec![Step::Complete], vec![], vec![Step::Finish(Unknown), Step::Complete]] {
        let cut = || vec![then(tokens("half "), &no_reason), answer()];
        assert_eq!(drive(session(cut())).await.text, "half ");
        let state = drive(session(cut()).on_finish(Unknown, OnFinish::Fail)).await.result.unwrap();
        assert_eq!((state.content.as_str(), state.model_retries), ("an answer", 1));
        assert_eq!(state.failures[0].message, "the stream gave no reason for its end");
        let goes_on = session(cut()).on_finish(Unknown, OnFinish::Continue);
        assert_eq!(drive(goes_on).await.result.unwrap().content, "half an answer");
    }

    // A word that is not known is an answer, unless it is said that it is none.
    let odd = || vec![stops("odd", Other("odd".into())), answer()];
    assert_eq!(drive(session(odd())).await.text, "odd");
    let fails = session(odd()).on_finish(Other("odd".into()), OnFinish::Fail);
    assert_eq!(drive(fails).await.text, "an answer");
}

/// A failure that no stream mends opens no other one, wherever in the stream it comes.
#[tokio::test(start_paused = true)]
async fn a_fatal_failure_opens_no_fallback() {
    let fatal = [
        vec![Step::RefuseToOpen(ErrorKind::Fatal)],
        vec![Step::Throw(ErrorKind::Fatal)],
        then(tokens("half "), &[Step::Throw(ErrorKind::Fatal)]),
        then(tokens("half "), &[Step::Report(ErrorKind::Fatal)]),
    ];
    for script in fatal {
        let seen = Seen::default();
        let fallback = scripted(&seen, vec![tokens("unused")]);
        let whole = drive(session(vec![script]).fallback(fallback)).await;
        assert_eq!(whole.result.unwrap_err().failure.kind, ErrorKind::Fatal);
        assert!(seen.openings.lock().unwrap().is_empty(), "the fallback is not opened");
    }
}
