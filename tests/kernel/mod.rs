//! The kernel.
mod example;
mod guard;
