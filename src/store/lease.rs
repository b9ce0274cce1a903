//! Who has a run in hand.

/// A wish to take a run in hand.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// This run; none for any that can go on.
    pub run: Option<String>,
    /// Who wants it: a name for people, such as host and process.
    pub holder: String,
    /// Now.
    pub now_ms: u64,
    /// How long the lease is.
    pub until_ms: u64,
}

impl Claim {
    /// Any run that can go on.
    pub fn any(holder: impl Into<String>, now_ms: u64, until_ms: u64) -> Self {
        Claim { run: None, holder: holder.into(), now_ms, until_ms }
    }

    /// This run.
    pub fn of(run: impl Into<String>, holder: impl Into<String>, now_ms: u64, until_ms: u64) -> Self {
        Claim { run: Some(run.into()), ..Claim::any(holder, now_ms, until_ms) }
    }
}

/// The right to drive a run, until somebody takes it over. A run without its renewal may be taken once its time is over.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease {
    /// The run.
    pub run: String,
    /// It grows from lease to lease.
    pub fence: u64,
}

impl Lease {
    /// As a store gives it.
    pub fn new(run: impl Into<String>, fence: u64) -> Self {
        Lease { run: run.into(), fence }
    }
}

/// How a run is given back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Release {
    /// It is not claimed before this time, but by name.
    pub not_before_ms: Option<u64>,
    /// Why it did not go on, for people.
    pub problem: Option<String>,
    /// Its [lost claims](super::RunInfo::lost) are forgotten: it was driven to its end or to a wait, or a person gives it back.
    pub pardons: bool,
}

/// The last moment of the year 9999, in milliseconds since the Unix epoch.
pub(super) const NEVER_MS: u64 = 253_402_300_799_999;

impl Release {
    /// Anybody may go on with it.
    pub fn clean() -> Self {
        Release::default()
    }

    /// It did not go on, and is tried again then.
    pub fn put_off(not_before_ms: u64, problem: impl Into<String>) -> Self {
        Release { not_before_ms: Some(not_before_ms), problem: Some(problem.into()), pardons: false }
    }

    /// It did not go on, and is not tried again until a person gives it back: [`RunInfo::is_set_aside`](super::RunInfo::is_set_aside).
    pub fn set_aside(problem: impl Into<String>) -> Self {
        Release::put_off(NEVER_MS, problem)
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
