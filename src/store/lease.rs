//! Leases: their holder and their duration.

use std::time::Duration;

/// A wish to take a run in hand.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// This run; none for any that can go on.
    pub run: Option<String>,
    /// Who wants it: a name for people, such as host and process.
    pub holder: String,
    /// How long the lease is, by the store's clock. One of [`Duration::MAX`] has no end: its fence holds it until the run is given back,
    /// or until it is [renewed](super::RunQueue::renew) for less.
    pub term: Duration,
}

impl Claim {
    /// Any run that can go on.
    pub fn any(holder: impl Into<String>, term: Duration) -> Self {
        Claim { run: None, holder: holder.into(), term }
    }

    /// This run.
    pub fn of(run: impl Into<String>, holder: impl Into<String>, term: Duration) -> Self {
        Claim { run: Some(run.into()), ..Claim::any(holder, term) }
    }
}

/// The right to drive a run, until somebody takes it over. A run without its renewal may be taken once its time is over.
///
/// Two leases are the same where run and fence are.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Lease {
    /// The run.
    pub run: String,
    /// It grows from lease to lease.
    pub fence: u64,
    /// The [lost claims](super::RunInfo::lost) of the run, so that they are known before it is loaded: loading may end a
    /// process. Zero where the store does not tell them with a claim by name.
    pub lost: u32,
}

impl Lease {
    /// As a store gives it, of a run without lost claims.
    pub fn new(run: impl Into<String>, fence: u64) -> Self {
        Lease { run: run.into(), fence, lost: 0 }
    }

    /// The same, of a run with so many lost claims.
    #[must_use]
    pub fn of_lost(mut self, lost: u32) -> Self {
        self.lost = lost;
        self
    }
}

impl PartialEq for Lease {
    fn eq(&self, other: &Self) -> bool {
        (&self.run, self.fence) == (&other.run, other.fence)
    }
}

impl Eq for Lease {}

/// How a run is given back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Release {
    /// It is not claimed for so long, but by name.
    pub not_before: Option<Duration>,
    /// Why it did not go on, for people.
    pub problem: Option<String>,
    /// Its [lost claims](super::RunInfo::lost) are forgotten: it was driven to its end or to a wait, or a person gives it back.
    pub pardons: bool,
}

impl Release {
    /// Anybody may go on with it.
    pub fn clean() -> Self {
        Release::default()
    }

    /// It did not go on, and is tried again after that time.
    pub fn retry_after(time: Duration, problem: impl Into<String>) -> Self {
        Release { not_before: Some(time), problem: Some(problem.into()), pardons: false }
    }

    /// It did not go on, and is not tried again until a person gives it back: [`RunInfo::is_set_aside`](super::RunInfo::is_set_aside).
    pub fn set_aside(problem: impl Into<String>) -> Self {
        Release::retry_after(Duration::MAX, problem)
    }

    /// The same, which forgets its lost claims.
    #[must_use]
    pub fn pardoned(mut self) -> Self {
        self.pardons = true;
        self
    }
}

/// The lost claims of a run once a claim is over: one more where its holder did not give it back, and none behind a step that ended.
/// A step has ended when the next one began, and so not with the first.
pub(super) fn lost_claims(before: u32, is_given_back: bool, ended_a_step: bool) -> u32 {
    match (ended_a_step, is_given_back) {
        (true, _) => 0,
        (false, true) => before,
        (false, false) => before.saturating_add(1),
    }
}
