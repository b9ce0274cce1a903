//! The store against PostgreSQL servers that the tests start and stop.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]
#![allow(unreachable_pub, reason = "the parts of one harness")]

mod changes;
mod cluster;
mod conformance;
mod creates;
mod crowds;
mod damaged;
mod faults;
mod full;
mod leases;
mod migrations;
mod news;
mod owners;
mod plans;
mod proxy;
mod rate;
mod refusals;
mod runs;
#[cfg(feature = "service")]
mod services;
mod threads;
mod tls;
