//! Concurrent machines: all combined states that they can reach, and the shortest path to a forbidden one.

mod composition;
mod dense;
mod explore;
mod outcome;
#[cfg(feature = "lifecycles")]
mod run_and_calls;

pub use composition::{Composition, CompositionState, CompositionStep};
pub use explore::explore;
pub use outcome::{Counterexample, Explored, Unproven};
#[cfg(feature = "lifecycles")]
pub use run_and_calls::{run_and_calls, run_invariant, run_rule};
