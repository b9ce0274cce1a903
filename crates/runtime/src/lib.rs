//! Clocks and durable files for runtimes, each with a simulated counterpart for tests.
//!
//! [`clock`] is the time of a driver: the clock of the machine, the timers of tokio, or a clock that a test sets.
//! [`files`] are the file operations that durability needs, on the disk of the machine or on a simulated one that
//! loses unsynced data at a crash (feature `testing`). The crate knows no lifecycle.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod clock;
pub mod files;

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
