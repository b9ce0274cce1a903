//! The clock of the stores of a test, which is set by hand, and wishes that are given at a time of it.

use std::time::Duration;

use runstate_runtime::clock::{Clock, SetClock};
use runstate_store::{Claim, left};

thread_local! {
    static CLOCK: SetClock = SetClock::default();
}

/// That of all stores of this thread.
pub fn clock() -> SetClock {
    CLOCK.with(Clone::clone)
}

/// It is `now` from now on.
pub fn at(now: u64) {
    clock().set(now);
}

/// How long it is until then.
pub fn span(until: u64) -> Duration {
    left(clock().now_ms(), until)
}

/// A wish for that run, given at `now`, for a lease until then.
pub fn of(run: impl Into<String>, holder: impl Into<String>, now: u64, until: u64) -> Claim {
    at(now);
    Claim::of(run, holder, span(until))
}

/// A wish for any run that can go on, given at `now`, for a lease until then.
pub fn any(holder: impl Into<String>, now: u64, until: u64) -> Claim {
    at(now);
    Claim::any(holder, span(until))
}
