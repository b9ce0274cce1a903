//! Durable runs in PostgreSQL, for workers on several machines.
//!
//! [`PostgresStore`] is a [`RunStore`](runstate_store::RunStore). [`PostgresOptions`] has the address of the server
//! and the settings of its connections:
//!
//! ```no_run
//! use std::time::Duration;
//! use runstate_store::{Claim, NewRun, RunData, RunQueue};
//! use runstate_postgres::{PostgresOptions, PostgresStore};
//!
//! # async fn start() -> Result<(), Box<dyn std::error::Error>> {
//! let options: PostgresOptions = "postgres://worker@db.example/runs?sslmode=verify-full&sslrootcert=/etc/ca.pem".parse()?;
//! let store = PostgresStore::connect(options.schema("runs_of_mine")?).await?;
//! store.create(&NewRun::new("r1", serde_json::json!({"goal": "tidy up"}), 0)).await?;
//! let lease = store.claim(&Claim::any("host-1", Duration::from_secs(30))).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Options that cannot work are refused before anything is sent:
//!
//! ```
//! use runstate_postgres::PostgresOptions;
//!
//! let refused = "postgres://db.example/runs?sslmode=verify-fully".parse::<PostgresOptions>().unwrap_err();
//! assert_eq!(
//!     refused.to_string(),
//!     "sslmode is unknown; expected disable, prefer, require, verify-ca or verify-full",
//! );
//! ```
//!
//! With the feature `service` the store is a `ServiceStore` of the package `runstate-service` too: one schema has the runs
//! of agents and service runs.
//!
//! # Requirements of the server
//! PostgreSQL 12 or later, a database in UTF-8, and the right to create a schema in it, or an existing empty schema.
//! The first process that connects creates the tables. `fsync` must be on. The store turns `synchronous_commit` on
//! for each session, unless the server's setting waits for more than that. A separate connection listens for
//! notifications.
//!
//! After a failover, a standby has all acknowledged commits only if the server waits for it: set
//! `synchronous_standby_names`. With asynchronous replication the last commits and decisions are lost with the old
//! server, although they were acknowledged.
//!
//! Do not connect through a pooler that changes connections between transactions. It keeps neither the settings of a
//! session nor its subscriptions. Commits may then be less durable than described here, and notifications arrive only
//! at the timeout.
//!
//! The first process that connects migrates tables of an older version. Stop workers of the older version before: the
//! server may refuse those that are still connected, and no lease can be renewed while the tables are rewritten.
//!
//! # Time
//! Leases, retry delays and the times of open questions are measured by the server's clock. So a question is open for
//! the requested duration even if the client's clock is wrong. If a standby can be promoted, keep the clocks of both
//! servers in agreement.
//!
//! # Cost of a commit
//! One statement, one round trip, one sync of the server's log. A change of a service run reads its row first: two round
//! trips, one sync. These changes commit one after the other, so that a cursor misses none.
//!
//! Times, fencing tokens and numbers above 2^63 - 1 are stored as 2^63 - 1.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
mod listen;
mod options;
mod params;
mod pool;
mod row;
mod schema;
mod store;
mod text;
mod time;
mod tls;

pub use options::{OptionsError, PostgresOptions, SslMode};
pub use store::PostgresStore;

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
