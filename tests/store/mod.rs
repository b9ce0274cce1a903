//! Stores of runs.

mod broken;
mod file;
mod lapses;
mod memory;
mod taped;
