//! Aborts (C5, C15): from a handle, a token, a callback, a hook, or by dropping the session.

use std::sync::atomic::Ordering;
use std::time::Duration;

use runstate::stream_session::{ErrorCode, StreamSessionStatus};
use runstate_stream::{ErrorKind, RetryPolicy, Timeouts};
use tokio_util::sync::CancellationToken;

use super::rows::documented;
use super::script::{Seen, Step, scripted, then, tokens};
use super::sessions::{every, no, on, policy};
use super::told::{drive, drive_with};

#[tokio::test(start_paused = true)]
async fn c5_an_abort_in_a_back_off_is_noticed_at_once() {
    let seen = Seen::default();
    let policy = policy();
    let session = on(&seen, vec![then(tokens("one "), &[Step::Throw(ErrorKind::Network)])])
        .retry(policy)
        .fallback(scripted(&seen, vec![tokens("unused")]));
    let whole = drive_with(session, async |session, event| {
        if event.name() == "RETRY_ATTEMPT" {
            let handle = session.abort_handle();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(30)).await;
                handle.abort();
            });
        }
    })
    .await;
    assert_eq!(documented(&whole), ["SESSION_START", "ERROR", "RETRY_ATTEMPT", "ABORT_COMPLETED"]);
    assert_eq!((whole.events.last().unwrap().at_ms, seen.opened()), (30, 1));
    assert!(
        whole
            .trace
            .ends_with("RETRYING --> STREAMING : open\n   5  stream_session#1  STREAMING --> ERROR : fail\n")
    );
    assert_eq!(whole.text, "one ", "what was received is not lost");
}

#[tokio::test(start_paused = true)]
async fn c5_an_abort_before_the_first_token_and_while_opening() {
    for first in [Step::SlowToOpen(1_000), Step::Silence] {
        let seen = Seen::default();
        let token = CancellationToken::new();
        let cancel = token.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(30)).await;
            cancel.cancel();
        });
        let whole = drive(on(&seen, vec![vec![first]]).cancelled_by(token)).await;
        assert_eq!(documented(&whole), ["SESSION_START", "ABORT_COMPLETED"]);
        assert_eq!((whole.events.last().unwrap().at_ms, seen.opened()), (30, 1));
        assert_eq!(seen.open.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn c5_a_session_that_was_aborted_before_it_began_opens_nothing() {
    let seen = Seen::default();
    let token = CancellationToken::new();
    token.cancel();
    let whole = drive(on(&seen, vec![tokens("unused")]).cancelled_by(token)).await;
    assert_eq!((documented(&whole), seen.opened()), (vec!["SESSION_START", "ABORT_COMPLETED"], 0));
    assert_eq!(whole.code(), Some(ErrorCode::StreamAborted));
}

/// Aborts by the handle of its session at the first event of that name.
struct AbortAt(&'static str, CancellationToken, Vec<&'static str>);

impl runstate_stream::Callbacks for AbortAt {
    fn on_event(&mut self, event: &runstate_stream::Event) {
        self.2.push(event.name());
        if event.name() == self.0 {
            self.1.cancel();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn c5_abort_in_a_callback_opens_nothing_and_promises_no_retry() {
    let script = || {
        vec![
            then(tokens("one two "), &[Step::Throw(ErrorKind::Network)]),
            then(tokens("never"), &[]),
            vec![Step::Silence],
            vec![Step::Throw(ErrorKind::Internal)],
        ]
    };
    let make = |seen: &Seen| {
        on(seen, script())
            .fallback(scripted(seen, vec![then(tokens("never"), &[])]))
            .fallback(scripted(seen, vec![tokens("three")]))
            .guardrail(no("never"))
            .timeouts(Timeouts { initial: Some(Duration::from_millis(9)), inter: None })
            .continuation(every(2))
            .retry(RetryPolicy { model_retries: 1, ..policy() })
    };
    let names = drive(make(&Seen::default())).await.names();
    let mut different = names.clone();
    different.sort_unstable();
    different.dedup();
    assert!(different.len() >= 17, "the session goes through nearly everything: {different:?}");
    for name in different {
        let seen = Seen::default();
        let token = CancellationToken::new();
        let callbacks = AbortAt(name, token.clone(), Vec::new());
        let mut session = make(&seen).cancelled_by(token).callbacks(callbacks).build();
        let result = session.run().await;
        let told = &session.callbacks().2;
        let at = told.iter().position(|told| *told == name).unwrap();
        if name == "COMPLETE" {
            assert!(result.is_ok(), "too late");
            continue;
        }
        assert_eq!(result.unwrap_err().code(), ErrorCode::StreamAborted, "{name}: {told:?}");
        assert_eq!(told.last(), Some(&"ABORT_COMPLETED"), "{name}");
        let after = &told[at + 1..];
        for wrong in ["ERROR", "RETRY_ATTEMPT", "ATTEMPT_START", "FALLBACK_START", "COMPLETE"] {
            assert!(!after.contains(&wrong), "{name} is followed by {after:?}");
        }
        let begun =
            told.iter().filter(|told| ["SESSION_START", "ATTEMPT_START", "FALLBACK_START"].contains(told));
        let before_opening = [
            "SESSION_START",
            "ATTEMPT_START",
            "FALLBACK_START",
            "RESUME_START",
            "CONTINUATION_START",
            "CONTENT_RESET",
        ];
        let opening = before_opening.contains(&name) || name == "TIMEOUT_START";
        assert_eq!(seen.opened(), begun.count() - usize::from(opening), "{name}");
        assert_eq!(seen.open.load(Ordering::SeqCst), 0, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn c5_hooks_can_abort() {
    let seen = Seen::default();
    let token = CancellationToken::new();
    let cancel = token.clone();
    let session =
        on(&seen, vec![vec![Step::Throw(ErrorKind::Network)]]).cancelled_by(token).should_retry(move |_| {
            cancel.cancel();
            true
        });
    assert_eq!(documented(&drive(session).await), ["SESSION_START", "ABORT_COMPLETED"]);
}

#[tokio::test(start_paused = true)]
async fn c5_a_dropped_session_is_aborted() {
    let seen = Seen::default();
    let notes = super::told::Notes::default();
    let recorder = runstate::trace::Recorder::new("r1");
    let session = on(&seen, vec![then(tokens("one "), &[Step::Silence])]);
    let mut session = session.callbacks(notes.clone()).observed(recorder.observer("stream_1")).build();
    let waited = tokio::time::timeout(Duration::from_millis(10), session.run()).await;
    assert!(waited.is_err(), "the run is dropped half way, the session goes on");
    assert_eq!((session.status(), session.content()), (StreamSessionStatus::Streaming, "one "));
    assert_eq!(seen.open.load(Ordering::SeqCst), 1);
    drop(session);
    assert_eq!(seen.open.load(Ordering::SeqCst), 0);
    assert_eq!(notes.take().last().unwrap(), "  on_abort(1, 4)");
    assert_eq!(recorder.events().last().unwrap().to_string(), "STREAMING --> ERROR : fail");

    let never_polled = on(&seen, vec![tokens("x")]).callbacks(notes.clone()).build();
    drop(never_polled);
    assert_eq!(notes.take(), [""; 0], "what never began is not aborted");
}
