//! Durable runs of [`runstate`] in one SQLite file, which several processes of one machine may share.
//!
//! [`SqliteStore`] is a [`RunStore`](runstate::store::RunStore). What it acknowledges is durable; the commits that come at the same
//! time share one sync. People read the file with the stock tool: the crate's README has its tables, and queries.

mod connect;
mod error;
mod holder;
mod news;
mod number;
mod options;
mod read;
mod readers;
mod schema;
mod store;
#[cfg(test)]
mod tests;
mod time;
mod write;
mod writer;

pub use options::Options;
pub use store::SqliteStore;
