//! What both the benchmarks and the counted programs measure: the same small machine, by the macro and by hand.

pub mod agent_by_hand;
pub mod allocations;
pub mod by_hand;
pub mod call_by_hand;
pub mod parcel;
pub mod replay;
pub mod traces;
