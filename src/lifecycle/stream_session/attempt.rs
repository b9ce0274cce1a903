//! The number of an attempt, and its stream.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// One attempt on one stream of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    stream: u32,
    number: NonZeroU32,
}

impl Attempt {
    /// The first attempt on the primary stream.
    pub(super) const FIRST: Attempt = Attempt { stream: 0, number: NonZeroU32::MIN };

    /// The next attempt on this stream.
    pub(super) fn again(self) -> Self {
        Attempt { stream: self.stream, number: self.number.saturating_add(1) }
    }

    /// The first attempt on the next stream.
    pub(super) fn on_next_stream(self) -> Self {
        Attempt { stream: self.stream.saturating_add(1), number: NonZeroU32::MIN }
    }

    /// The index of the stream: 0 is the primary stream, 1 the first fallback. The `fromIndex` and `toIndex` of a
    /// FALLBACK_START.
    pub fn stream(self) -> u32 {
        self.stream
    }

    /// The attempt's number on its stream, from 1. Every attempt counts, for any cause.
    ///
    /// It is the `attempt` of `onStart`.
    pub fn number(self) -> u32 {
        self.number.get()
    }

    /// The fallback's index, from 0; none on the primary stream. It is the `index` of `onFallback`.
    pub fn fallback_index(self) -> Option<u32> {
        self.stream.checked_sub(1)
    }

    /// Returns whether the stream was tried before. It is the `isRetry` of `onStart`.
    pub fn is_retry(self) -> bool {
        self.number > NonZeroU32::MIN
    }

    /// Returns whether this is a fallback stream. It is the `isFallback` of `onStart`.
    pub fn is_fallback(self) -> bool {
        self.stream > 0
    }
}
