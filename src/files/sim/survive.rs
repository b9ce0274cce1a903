//! What of the things that were not synced is there after a crash.

use super::state::Change;

/// What of the things that were not synced is there after a crash. A real machine may do any of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Survives {
    /// Nothing.
    Nothing,
    /// All of it: the process ended and the machine did not.
    Everything,
    /// Names, but no content: a file that was renamed before it was synced is there and empty.
    Names,
    /// Content, but no names.
    Content,
    /// Each change by a coin that the seed decides: writes whole, in part or not at all, names in any combination. So a
    /// later rename may be there without an earlier one.
    Some(
        /// The seed.
        u64,
    ),
}

impl Survives {
    /// The four plain cases, and as many seeds.
    pub fn cases(seeds: u64) -> impl Iterator<Item = Survives> {
        let plain = [Survives::Nothing, Survives::Everything, Survives::Names, Survives::Content];
        plain.into_iter().chain((0..seeds).map(Survives::Some))
    }
}

pub(super) struct Coin {
    survives: Survives,
    random: u64,
}

impl Coin {
    pub(super) fn new(survives: Survives) -> Self {
        let seed = if let Survives::Some(seed) = survives { seed } else { 0 };
        Coin { survives, random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03 }
    }

    /// The next number of a plain xorshift: even and short is all that it needs to be.
    fn draw(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 11
    }

    pub(super) fn name(&mut self) -> bool {
        match self.survives {
            Survives::Everything | Survives::Names => true,
            Survives::Nothing | Survives::Content => false,
            Survives::Some(_) => self.draw().is_multiple_of(2),
        }
    }

    /// What of a change is there.
    pub(super) fn content(&mut self, change: Change) -> Option<Change> {
        match self.survives {
            Survives::Everything | Survives::Content => Some(change),
            Survives::Nothing | Survives::Names => None,
            Survives::Some(_) => match (self.draw() % 3, change) {
                (0, _) => None,
                (1, Change::Write { at, mut bytes }) => {
                    let kept = usize::try_from(self.draw()).unwrap_or(0) % (bytes.len() + 1);
                    bytes.truncate(kept);
                    Some(Change::Write { at, bytes })
                }
                (_, change) => Some(change),
            },
        }
    }
}
