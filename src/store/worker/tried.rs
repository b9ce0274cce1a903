//! The runs that a worker has tried and put off, where it tries each once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::super::lease::Release;

/// The runs that were put off, with the release of each. A store gives a run again once its time is over, which may be at once.
#[derive(Debug, Default)]
pub(super) struct Tried(Mutex<HashMap<String, Release>>);

impl Tried {
    /// Notes a run that was given back, if it was put off.
    pub(super) fn note(&self, run: String, release: Release) {
        if release.not_before.is_some() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(run, release);
        }
    }

    /// The release of a run that was put off before: it is not driven again. Its time doubles each time and is at least `least`, so
    /// that the store comes to the other runs, and then to none.
    pub(super) fn again(&self, run: &str, least: Duration) -> Option<Release> {
        let mut tried = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let release = tried.get_mut(run)?;
        let time = release.not_before.unwrap_or_default();
        release.not_before = Some(time.saturating_mul(2).max(least).max(Duration::from_millis(1)));
        Some(release.clone())
    }
}
