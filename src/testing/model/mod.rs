//! Machines side by side: all states they can get into together, and the shortest way into a forbidden one.

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
