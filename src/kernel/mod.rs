//! The kernel: states, transitions and graphs as types. It knows no run, no tool, no time.
//!
//! [`lifecycle!`](crate::lifecycle) is the way in; the traits here are what it implements and what its author does.

#[doc(hidden)]
pub mod check;
mod define;
mod define_parts;
mod graph;
mod machine;
mod message;
mod observer;
mod refused;
mod slot;
mod status_name;
#[doc(hidden)]
pub mod witness;

#[doc(hidden)]
pub use graph::build;
#[cfg(feature = "lifecycles")]
pub(crate) use graph::identity;
pub use graph::{Edge, Graph, StateInfo};
#[doc(hidden)]
pub use machine::Rehydration;
pub use machine::{Accepts, Begin, Enter, Event, Guard, Machine, Persist, Record, State, Status};
pub use observer::{Observe, Observer};
pub use refused::{Refused, Rejected};
#[doc(hidden)]
pub use serde;
pub use slot::Slot;
pub use status_name::UnknownStatus;
#[doc(hidden)]
pub use status_name::{deserialize_status, status_from_name};
