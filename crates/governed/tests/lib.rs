//! Governed runs, driven: on a simulated disk, by a virtual clock, with scripted parts.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "tests")]

mod abandoned;
mod checked_logs;
mod cost;
mod crashes;
mod damaged;
mod foreign;
mod full;
mod halted;
mod hostile;
mod judge;
mod keyed;
mod ledger;
mod limits;
mod observed;
mod parts;
mod plans;
mod random;
mod rows;
mod set_back;
mod undrivable;
mod world;
