//! Stores of runs.

mod broken;
mod file;
mod keyed;
mod lapses;
mod memory;
mod taped;
