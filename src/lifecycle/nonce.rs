//! Numbers that tell apart values that look alike: two flows of runs of one id, two executions of one call.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that no other value of this process has. It is never stored: a value from storage gets a new one.
///
/// It is no part of a record's value, so two nonces are equal to `==`; [`number`](Nonce::number) tells them apart.
#[derive(Clone, Copy)]
pub(super) struct Nonce(u64);

impl Nonce {
    /// The number, from 1; 0 for none.
    pub(super) fn number(self) -> u64 {
        self.0
    }

    /// The nonce of no value.
    pub(super) fn none() -> Self {
        Nonce(0)
    }

    /// The nonce of another value, to belong to it.
    pub(super) fn of(number: u64) -> Self {
        Nonce(number)
    }
}

impl Default for Nonce {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Nonce(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The same for each, as it is no part of a value.
impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonce")
    }
}

impl PartialEq for Nonce {
    fn eq(&self, _: &Nonce) -> bool {
        true
    }
}

impl Eq for Nonce {}
