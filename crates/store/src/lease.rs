//! Leases: their holder and their duration.

use std::time::Duration;

/// A request for a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// The run; none for any run that can continue.
    pub run: Option<String>,
    /// The name of the holder for display, such as host and process.
    pub holder: String,
    /// The duration of the lease, by the store's clock. A lease of [`Duration::MAX`] does not expire: it lasts until
    /// the run is given back, or until it is [renewed](super::RunQueue::renew) with a shorter term.
    pub term: Duration,
}

impl Claim {
    /// Creates a claim on any run that can continue.
    pub fn any(holder: impl Into<String>, term: Duration) -> Self {
        Claim { run: None, holder: holder.into(), term }
    }

    /// Creates a claim on one run.
    pub fn of(run: impl Into<String>, holder: impl Into<String>, term: Duration) -> Self {
        Claim { run: Some(run.into()), ..Claim::any(holder, term) }
    }
}

/// The exclusive right to drive a run. Another worker may claim the run once the lease expires without a renewal.
///
/// Two leases are equal if their runs and fencing tokens are.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Lease {
    /// The run.
    pub run: String,
    /// The fencing token. It grows with each lease of the run.
    pub fence: u64,
    /// The [lost claims](super::RunInfo::lost) of the run. They are known before the run is loaded, since loading may
    /// end a process. Zero if the store does not report them for a claim by name.
    pub lost: u32,
}

impl Lease {
    /// Creates a lease, for stores. The run has no lost claims.
    pub fn new(run: impl Into<String>, fence: u64) -> Self {
        Lease { run: run.into(), fence, lost: 0 }
    }

    /// Sets the number of lost claims.
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

/// The conditions under which a run is given back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Release {
    /// The retry delay: until it is over, the run is claimed only by name.
    pub not_before: Option<Duration>,
    /// The reason for which the run did not continue, for display.
    pub problem: Option<String>,
    /// Resets the [lost claims](super::RunInfo::lost): the run reached its end or a wait, or an operator gives it
    /// back.
    pub resets_lost_claims: bool,
}

impl Release {
    /// Creates a release after which any worker may continue the run.
    pub fn clean() -> Self {
        Release::default()
    }

    /// Creates a release of a run that did not continue. It is retried after that time.
    pub fn retry_after(time: Duration, problem: impl Into<String>) -> Self {
        Release { not_before: Some(time), problem: Some(problem.into()), resets_lost_claims: false }
    }

    /// Creates a release of a run that did not continue. It is not retried until an operator gives it back:
    /// [`RunInfo::is_set_aside`](super::RunInfo::is_set_aside).
    pub fn set_aside(problem: impl Into<String>) -> Self {
        Release::retry_after(Duration::MAX, problem)
    }

    /// Resets the lost claims.
    #[must_use]
    pub fn with_lost_claims_reset(mut self) -> Self {
        self.resets_lost_claims = true;
        self
    }
}

/// Returns the lost claims of a run after the end of a claim. A claim without a release adds one. A completed step
/// resets them. A step is complete when the next one begins, so the first step alone does not count.
pub(super) fn lost_claims(before: u32, is_given_back: bool, ended_a_step: bool) -> u32 {
    match (ended_a_step, is_given_back) {
        (true, _) => 0,
        (false, true) => before,
        (false, false) => before.saturating_add(1),
    }
}
