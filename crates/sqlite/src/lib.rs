//! Durable runs of [`runstate`] in one SQLite file, which several processes of one machine may share.
//!
//! [`SqliteStore`] is a [`RunStore`](runstate_store::RunStore). An acknowledged operation is durable; concurrent
//! commits share one sync. The standard `sqlite3` tool reads the file: the README of the crate has its tables, and
//! queries.
//!
//! With the feature `service` it is a `ServiceStore` of the package `runstate-service` too: one file has the runs of agents
//! and service runs.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod connect;
mod error;
mod holder;
mod news;
mod number;
mod options;
mod read;
mod readers;
mod schema;
#[cfg(feature = "service")]
mod service;
mod store;
#[cfg(test)]
mod tests;
mod time;
mod write;
mod writer;

pub use options::Options;
pub use store::SqliteStore;

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
