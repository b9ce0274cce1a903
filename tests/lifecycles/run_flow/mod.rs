//! An activation of a run: its states by legal steps, the data each owns, and what must be proven before it goes on.
mod ends;
mod gates;
mod owed;
mod reach;
mod states;

pub(crate) use reach::{at, event, ready};
