//! Which attempt on which stream.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// One attempt on one stream of a session (C2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    stream: u32,
    number: NonZeroU32,
}

impl Attempt {
    /// The first attempt on the primary stream.
    pub(super) const FIRST: Attempt = Attempt { stream: 0, number: NonZeroU32::MIN };

    /// The next attempt on the same stream.
    pub(super) fn again(self) -> Self {
        Attempt { stream: self.stream, number: self.number.saturating_add(1) }
    }

    /// The first attempt on the next stream.
    pub(super) fn on_next_stream(self) -> Self {
        Attempt { stream: self.stream.saturating_add(1), number: NonZeroU32::MIN }
    }

    /// The stream: 0 is the primary one, 1 the first fallback. The `fromIndex` and `toIndex` of a FALLBACK_START.
    pub fn stream(self) -> u32 {
        self.stream
    }

    /// The attempt's number on its stream, from 1; every attempt counts, whatever made it necessary.
    ///
    /// It is the `attempt` of `onStart` (document 002, "Parameter Indexing").
    pub fn number(self) -> u32 {
        self.number.get()
    }

    /// The fallback's index, from 0; none on the primary stream. It is the `index` of `onFallback`.
    pub fn fallback_index(self) -> Option<u32> {
        self.stream.checked_sub(1)
    }

    /// Was the stream tried before? The `isRetry` of `onStart`.
    pub fn is_retry(self) -> bool {
        self.number > NonZeroU32::MIN
    }

    /// Is this a fallback stream? The `isFallback` of `onStart`.
    pub fn is_fallback(self) -> bool {
        self.stream > 0
    }
}
