//! Sessions over scripted attempts, with the settings that most tests share.

use std::num::NonZeroU32;
use std::time::Duration;

use runstate_guardrails::{Custom, Violation};
use runstate_stream::{Backoff, Continuation, RetryPolicy, Session, SessionBuilder, Timeouts};

use super::script::{Seen, Step, scripted};

/// A session without limits on time, whose retries wait 100 ms.
pub fn session(attempts: Vec<Vec<Step>>) -> SessionBuilder {
    on(&Seen::default(), attempts)
}

pub fn on(seen: &Seen, attempts: Vec<Vec<Step>>) -> SessionBuilder {
    Session::builder("stream_1", scripted(seen, attempts)).timeouts(Timeouts::NONE).retry(policy())
}

pub fn policy() -> RetryPolicy {
    RetryPolicy { backoff: Backoff::fixed(Duration::from_millis(100)), ..RetryPolicy::default() }
}

pub fn every(tokens: u32) -> Continuation {
    Continuation::every(NonZeroU32::new(tokens).unwrap())
}

/// Says that a word must not be said; another attempt may do better.
pub fn no(word: &'static str) -> Custom {
    Custom::new("no-word").while_streaming(move |delta, so_far| {
        let at = so_far.rfind(word)?;
        (at + word.len() > so_far.len() - delta.len())
            .then(|| Violation::error("no-word", "it was said").at(at))
    })
}
