//! Tools for the tests of lifecycles, one's own as well as the documented ones.
//!
//! A [`Subject`] says how machines and payloads are made. On it, and on the [`Graph`](crate::kernel::Graph), stand:
//!
//! | tool | question it answers |
//! |---|---|
//! | [`exhaustive`] | does every state do with every event what the graph declares? |
//! | [`legal_walks`], [`mixed_walks`] | does a property hold on any way through the lifecycle? (proptest strategies) |
//! | [`words`] | which strings of events, up to a length, are legal? |
//! | [`fewest_walks`] | what is the least that must be run to see every edge? |
//! | [`EdgeCounter`], [`assert_covers!`], [`coverage_diagram`] | which edges did the tests take, and which never? |
//! | [`assert_conforms!`] | is what was recorded legal? |
//! | `replies` (feature `agent`) | does a door for decisions reply as the table says? |
//! | `store` (feature `store`) | does a store of runs do what its trait says? |
//! | [`Product`], [`explore`] | can machines that run side by side get into a forbidden state, and how soonest? |

mod assertions;
mod cover;
mod coverage;
pub mod example;
mod exhaustive;
mod flow;
mod matrix;
mod model;
#[cfg(feature = "agent")]
pub mod replies;
mod step;
#[cfg(feature = "store")]
pub mod store;
mod subject;
mod walks;
mod words;

pub use crate::{assert_conforms, assert_covers};
pub use assertions::{NotConforming, ToRulebook, Uncovered, conforms, covers};
pub use cover::fewest_walks;
pub use coverage::{EdgeCounter, coverage_diagram};
pub use exhaustive::exhaustive;
pub use matrix::{Matrix, Mismatch};
pub use model::{Counterexample, Explored, Product, ProductState, ProductStep, Unproven, explore};
#[cfg(feature = "lifecycles")]
pub use model::{run_and_calls, run_invariant, run_rule};
/// The version of proptest that the strategies are for.
pub use proptest;
pub use step::{Fault, Step, Verdict};
pub use subject::{EventOf, RecordOf, Subject};
pub use walks::{Walk, Walks, legal_walks, mixed_walks, walk_along};
pub use words::{Word, Words, words};
