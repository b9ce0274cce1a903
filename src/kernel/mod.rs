//! The kernel: states, transitions and graphs as types. It depends on no run, no tool and no time.
//!
//! [`lifecycle!`](crate::lifecycle) is the entry point. It implements most traits of this module; its author
//! implements the rest.

#[doc(hidden)]
pub mod check;
mod define;
mod define_mistakes;
mod define_parts;
mod fingerprint;
mod graph;
mod machine;
mod message;
mod observer;
#[doc(hidden)]
pub mod place;
mod proof;
mod refused;
mod retired;
mod slot;
mod status_name;
#[doc(hidden)]
pub mod witness;

pub use fingerprint::{Fingerprint, NoFingerprint};
#[doc(hidden)]
pub use graph::build;
pub use graph::{Edge, Graph, StateInfo};
pub use machine::{
    Accepts, Begin, Enter, Event, Guard, Machine, Persist, ReadRecord, Record, Restore, State, Stateful,
    Status,
};
pub use observer::{Observe, Observer};
#[cfg(feature = "snapshot")]
pub(crate) use proof::proven_witness;
pub use proof::{Mark, Proof, accepted_edge};
#[doc(hidden)]
pub use proof::{Rehydration, Witness};
pub use refused::{Refusal, Refused, Rejected};
pub use retired::{Retired, Reusable};
#[doc(hidden)]
pub use serde;
pub use slot::{Lost, Slot};
pub use status_name::UnknownStatus;
#[doc(hidden)]
pub use status_name::{deserialize_status, status_from_name};
