//! A clock with scripted times.

use std::sync::atomic::{AtomicUsize, Ordering};

use runstate_runtime::clock::Clock;

/// Returns these times, one after the other, cyclically.
#[derive(Debug)]
pub(super) struct Shows {
    times_ms: Vec<u64>,
    next: AtomicUsize,
}

impl Shows {
    pub(super) fn new(times_ms: Vec<u64>) -> Self {
        Shows { times_ms, next: AtomicUsize::new(0) }
    }
}

impl Clock for Shows {
    fn now_ms(&self) -> u64 {
        let at = self.next.fetch_add(1, Ordering::Relaxed).checked_rem(self.times_ms.len());
        at.and_then(|at| self.times_ms.get(at)).copied().unwrap_or_default()
    }
}
