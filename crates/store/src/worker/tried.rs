//! The runs that a worker has tried, where it tries each run once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::super::lease::Release;

/// The tried runs with a retry delay, each with its release. A store returns such a run once the delay is over, which
/// may be immediately.
#[derive(Debug, Default)]
pub(super) struct Tried(Mutex<HashMap<String, Release>>);

impl Tried {
    /// Notes a run that was given back with a retry delay.
    pub(super) fn note(&self, run: String, release: Release) {
        if release.not_before.is_some() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(run, release);
        }
    }

    /// Returns the release of a run that was tried before: it is not driven again. Its delay doubles each time and is
    /// at least `least`. So the store returns the other runs, and finally none.
    pub(super) fn again(&self, run: &str, least: Duration) -> Option<Release> {
        let mut tried = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let release = tried.get_mut(run)?;
        let time = release.not_before.unwrap_or_default();
        release.not_before = Some(time.saturating_mul(2).max(least).max(Duration::from_millis(1)));
        Some(release.clone())
    }
}
