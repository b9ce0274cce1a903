//! Reproducible random numbers.

/// SplitMix64 (Steele, Lea and Flood 2014). It serves only for the jitter of delays.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn seeded(seed: u64) -> Self {
        Random(seed)
    }

    /// Derives a seed from the stream's id, so that sessions that fail together do not retry together.
    pub(super) fn seed_of(stream_id: &str) -> u64 {
        // FNV-1a.
        stream_id.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from `low` to `high`, both included. Returns `low` if `high` is less.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        let Some(span) = high.checked_sub(low).and_then(|span| span.checked_add(1)) else { return low };
        low + self.next() % span
    }
}
