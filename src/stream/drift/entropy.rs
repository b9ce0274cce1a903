//! Text that turns into noise.

use std::sync::LazyLock;

/// How many bytes are looked at.
const WINDOW: usize = 512;
/// How many windows must have gone by before there is something to compare with.
const BLOCKS: u32 = 3;
/// Deviations are never taken to be smaller than this, in bits: prose varies by about as much.
const LEAST_DEVIATION: f64 = 0.15;
/// From so many deviations above the mean on it is suspect, and from so many on it is sure.
const SUSPECT: f64 = 2.0;
const SURE: f64 = 8.0;

/// The entropy of the last bytes, against that of the windows before.
///
/// With `n` bytes in the window, of which `c` are of one value, it is `log2(n) - sum(c * log2(c)) / n` bits. The sum is kept, in
/// whole numbers, so that it does not wear out.
#[derive(Debug, Clone)]
pub(super) struct Entropy {
    /// The last bytes, in a ring.
    last: [u8; WINDOW],
    /// How many there were, and the place of the next.
    bytes: usize,
    next: usize,
    counts: [u16; 256],
    weights: &'static [u64; WINDOW + 1],
    /// The sum of `c * log2(c)`, in units of 2^-20 bits.
    sum: u64,
    /// Bytes since the last block ended.
    in_block: usize,
    blocks: u32,
    mean: f64,
    squares: f64,
    /// From so many bits above the mean on it is suspect, and so many bits further it is sure.
    suspect: f64,
    span: f64,
}

impl Entropy {
    pub(super) fn new() -> Self {
        Entropy {
            last: [0; WINDOW],
            bytes: 0,
            next: 0,
            weights: &WEIGHTS,
            counts: [0; 256],
            sum: 0,
            in_block: 0,
            blocks: 0,
            mean: 0.0,
            squares: 0.0,
            suspect: 0.0,
            span: 1.0,
        }
    }

    /// One more byte. How sure it is that the text turned into noise.
    pub(super) fn byte(&mut self, byte: u8) -> f64 {
        let first = std::mem::replace(&mut self.last[self.next], byte);
        self.next = (self.next + 1) % WINDOW;
        if self.bytes < WINDOW {
            self.bytes += 1;
            self.count(byte, 1);
            if self.bytes < WINDOW {
                return 0.0;
            }
        } else if first != byte {
            self.count(first, -1);
            self.count(byte, 1);
        }
        self.in_block += 1;
        let learns = self.in_block == WINDOW || self.blocks == 0;
        if self.blocks < BLOCKS && !learns {
            return 0.0;
        }
        let entropy = self.entropy();
        let confidence = self.confidence(entropy);
        if learns {
            self.in_block = 0;
            self.learn(entropy);
        }
        confidence
    }

    fn count(&mut self, byte: u8, change: i16) {
        let weight = |count: u16| self.weights.get(usize::from(count)).copied().unwrap_or_default();
        let count = &mut self.counts[usize::from(byte)];
        let before = weight(*count);
        *count = count.saturating_add_signed(change);
        self.sum = self.sum - before + weight(*count);
    }

    fn entropy(&self) -> f64 {
        WINDOW_BITS - self.sum as f64 / UNIT / WINDOW as f64
    }

    fn confidence(&self, entropy: f64) -> f64 {
        if self.blocks < BLOCKS {
            return 0.0;
        }
        ((entropy - self.mean - self.suspect) / self.span).clamp(0.0, 1.0)
    }

    /// Mean and squares of deviations, by Welford's recurrence.
    fn learn(&mut self, entropy: f64) {
        self.blocks += 1;
        let before = entropy - self.mean;
        self.mean += before / f64::from(self.blocks);
        self.squares += before * (entropy - self.mean);
        let deviation = (self.squares / f64::from(self.blocks)).sqrt().max(LEAST_DEVIATION);
        self.suspect = SUSPECT * deviation;
        self.span = (SURE - SUSPECT) * deviation;
    }
}

const UNIT: f64 = 1_048_576.0;
/// `log2(WINDOW)`.
const WINDOW_BITS: f64 = 9.0;
const _: () = assert!(WINDOW == 1 << 9);

/// For each count `count * log2(count)` in units of 2^-20 bits.
static WEIGHTS: LazyLock<[u64; WINDOW + 1]> = LazyLock::new(|| {
    std::array::from_fn(|count| (count as f64 * (count.max(1) as f64).log2() * UNIT).round() as u64)
});
