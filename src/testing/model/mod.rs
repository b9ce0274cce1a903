//! Concurrent machines: all combined states that they can reach, and the shortest path to a forbidden one.

mod dense;
mod explore;
mod outcome;
mod product;
#[cfg(feature = "lifecycles")]
mod run_and_calls;

pub use explore::explore;
pub use outcome::{Counterexample, Explored, Unproven};
pub use product::{Product, ProductState, ProductStep};
#[cfg(feature = "lifecycles")]
pub use run_and_calls::{run_and_calls, run_invariant, run_rule};
