//! The store, held against its contract.

mod drive;
mod runs;
