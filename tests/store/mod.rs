//! Stores of runs.

mod broken;
mod file;
mod memory;
mod taped;
