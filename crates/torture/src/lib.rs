//! Processes that drive durable runs are killed at random, and a judge checks the stored results.

pub mod drive;
pub mod fault;
pub mod judge;
pub mod kill;
pub mod ledger;
pub mod open;
pub mod script;
pub mod service;
