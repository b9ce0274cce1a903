//! The kernel.
mod guard;
