//! Stores of runs.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]
#![allow(unreachable_pub, reason = "lifecycles make public items wherever they are defined")]

mod broken;
mod conform_parts;
mod feed;
mod file;
mod keyed;
mod keyed_fields;
mod lapses;
mod memory;
mod parts;
mod taped;
mod threads;
mod times;
mod worker;
