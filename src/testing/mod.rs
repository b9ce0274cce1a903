//! Tools for the tests of lifecycles, your own and the documented ones.
//!
//! A [`Subject`] makes machines and payloads. These tools use it, or the [`Graph`](crate::kernel::Graph) alone:
//!
//! | tool | answered question |
//! |---|---|
//! | [`exhaustive`] | does every state react to every event as the graph declares? |
//! | [`legal_paths`], [`mixed_paths`] | does a property hold on every path through the lifecycle? (proptest strategies) |
//! | [`event_sequences`] | which event sequences, up to a length, are legal? |
//! | [`minimal_transition_cover`] | which minimal set of paths takes every transition? |
//! | [`EdgeCounter`], [`assert_covers!`], [`coverage_diagram`] | which transitions did the tests take, and which never? |
//! | [`assert_conforms!`] | is the recorded trace legal? |
//! | [`Composition`], [`explore`] | can concurrent machines reach a forbidden state, and by which shortest path? |
//!
//! `runstate-store-conformance` has the contract of stores, and the table of replies to decisions.

mod assertions;
mod cover;
mod coverage;
mod event_sequences;
pub mod example;
mod exhaustive;
mod flow;
mod matrix;
mod model;
mod paths;
mod step;
mod subject;

pub use crate::{assert_conforms, assert_covers};
pub use assertions::{NotConforming, ToRulebook, Uncovered, conforms, covers};
pub use cover::{minimal_diagram_cover, minimal_transition_cover};
pub use coverage::{EdgeCounter, coverage_diagram};
pub use event_sequences::{EventSequence, EventSequences, event_sequences};
pub use exhaustive::exhaustive;
pub use matrix::{Matrix, Mismatch};
pub use model::{
    Composition, CompositionState, CompositionStep, Counterexample, Explored, Unproven, explore,
};
#[cfg(feature = "lifecycles")]
pub use model::{run_and_calls, run_invariant, run_rule};
pub use paths::{EventPath, EventPaths, legal_paths, mixed_paths, path_along};
/// The version of proptest that the strategies use.
pub use proptest;
pub use step::{Fault, Step, Verdict};
pub use subject::{EventOf, RecordOf, Subject};
