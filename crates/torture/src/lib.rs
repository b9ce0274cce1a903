//! Processes that drive durable runs are killed at random, and what is left is judged (the design's "Durability").

pub mod drive;
pub mod fault;
pub mod judge;
pub mod kill;
pub mod ledger;
pub mod open;
pub mod script;
