//! Durable runs of [`runstate`] in one SQLite file.

mod connect;
mod error;
mod news;
mod number;
mod options;
mod read;
mod readers;
mod schema;
mod store;
mod write;
mod writer;

pub use options::Options;
pub use store::SqliteStore;
