//! Fuzzing of transitions: a system against its state diagram.
//!
//! A [`Sut`] is a system under test: a state machine in Rust, a lifecycle of `runstate` ([`Lifecycle`]), or any
//! [`Program`] that speaks a protocol of JSON lines. [`Fuzz`] sends it events, legal and illegal, and compares each reply
//! with the diagram. A difference is a [`Finding`] with the shortest sequence that shows it.
//!
//! The command `runstate fuzz` does the same for a program.

mod bytes;
mod config;
pub mod conformance;
mod engine;
mod finding;
mod fuzz;
mod judge;
mod map;
mod mutants;
mod payload;
mod phases;
mod pipes;
mod program;
mod quiet;
mod regression;
mod sequence;
mod shrink;
#[cfg(feature = "proptest-state-machine")]
pub mod state_machine;
mod subject;
mod sut;

pub use bytes::drive_bytes;
pub use config::{Config, ConfigError};
pub use finding::{Exchange, Finding, Kind, Report};
pub use fuzz::{Fuzz, Unusable};
pub use map::{Map, MapError};
pub use mutants::{Survivors, detects_mutants};
pub use payload::{FloatRange, Generator, IntRange, Length, ListOf};
pub use program::Program;
pub use regression::{Regression, RegressionError};
pub use subject::Lifecycle;
pub use sut::{Broken, Reply, Sut};

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
