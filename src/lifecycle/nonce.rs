//! Numbers that distinguish equal-looking values: two flows of runs with one id, two executions of one call.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that is unique in this process. It is never stored: a restored value gets a new one.
///
/// It is no part of a record's value, so `==` treats all nonces as equal. [`number`](Nonce::number) distinguishes
/// them.
#[derive(Clone, Copy)]
pub(super) struct Nonce(u64);

impl Nonce {
    /// The number, from 1; 0 for none.
    pub(super) fn number(self) -> u64 {
        self.0
    }

    /// The nonce without a value.
    pub(super) fn none() -> Self {
        Nonce(0)
    }

    /// The nonce with this number, for a part of another value.
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

/// A constant text, because the nonce is no part of a value.
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
