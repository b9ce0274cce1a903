//! Stores of runs.

mod memory;
