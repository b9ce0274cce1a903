//! Stores of runs.

mod file;
mod memory;
mod taped;
