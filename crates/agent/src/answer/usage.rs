//! Token counts.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// Tokens used by a model. Sums saturate at the largest number.
///
/// ```
/// use runstate_agent::answer::Usage;
///
/// let mut usage = Usage { input_tokens: 100, output_tokens: 20 };
/// usage += Usage { input_tokens: 130, output_tokens: 5 };
/// assert_eq!(usage, Usage { input_tokens: 230, output_tokens: 25 });
/// assert_eq!(usage.total(), 255);
///
/// // Absurd numbers of a provider cause no panic and no overflow.
/// usage += Usage { input_tokens: u64::MAX, output_tokens: 0 };
/// assert_eq!(usage.total(), u64::MAX);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
}

impl Usage {
    /// Returns the sum of both counts, saturated at `u64::MAX`.
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl Add for Usage {
    type Output = Usage;

    fn add(self, more: Usage) -> Usage {
        Usage {
            input_tokens: self.input_tokens.saturating_add(more.input_tokens),
            output_tokens: self.output_tokens.saturating_add(more.output_tokens),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, more: Usage) {
        *self = *self + more;
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Usage>>(all: I) -> Usage {
        all.fold(Usage::default(), Add::add)
    }
}
