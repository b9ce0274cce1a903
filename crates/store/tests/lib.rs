//! Stores of runs.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "tests")]

mod broken;
mod conform_parts;
mod feed;
mod file;
mod keyed;
mod keyed_fields;
mod lapses;
mod memory;
mod parts;
mod recording;
mod threads;
mod times;
mod worker;
