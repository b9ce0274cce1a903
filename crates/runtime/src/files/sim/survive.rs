//! Survival of unsynced changes after a crash.

use super::state::Change;

/// The unsynced changes that survive a crash. On a real machine, each of these cases is possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Survives {
    /// No unsynced change survives.
    Nothing,
    /// All changes survive: the process ended, and the machine did not.
    Everything,
    /// Names survive, content does not. A file that was renamed before its sync exists and is empty.
    Names,
    /// Content survives, names do not.
    Content,
    /// A random selection survives: writes in full, in part or not at all, and names in any combination. A later
    /// rename may survive without an earlier one.
    Some(
        /// The seed.
        u64,
    ),
}

impl Survives {
    /// The four fixed cases, followed by `seeds` random ones.
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

    /// The next number of a plain xorshift generator. It only needs to be uniform and short.
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

    /// The surviving part of a change.
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
