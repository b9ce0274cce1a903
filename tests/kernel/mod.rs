//! The kernel: what a machine does once it compiles. What must not compile is in `compile_fail`.

mod awaiting;
pub(crate) mod door;
mod example;
mod guard;
mod observe;
mod snapshot;
mod status;
mod unstored;
mod witness;
