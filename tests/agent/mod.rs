//! The driver of runs.

mod approvals;
mod cancels;
mod decisions;
mod depth;
mod doctored;
mod doubt;
mod failures;
mod ids;
mod leftovers;
mod messages;
mod modes;
mod outcomes;
mod parts;
mod random;
mod stored;
mod tools;
