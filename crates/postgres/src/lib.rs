//! Durable runs in PostgreSQL (the design's "Durability"): for workers on several machines.
//!
//! [`PostgresStore`] is a [`RunStore`](runstate::store::RunStore). [`PostgresOptions`] says where the server is and how it is
//! spoken to:
//!
//! ```no_run
//! use std::time::Duration;
//! use runstate::store::{Claim, NewRun, RunData, RunQueue};
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
//! What cannot work is said before anything is sent:
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
//! # What it asks of the server
//! PostgreSQL 12 or later, a database in UTF-8, and the right to make a schema in it, or one that is there and empty. The
//! tables are made by whoever connects first. `fsync` must be on; `synchronous_commit` is turned on for each session, unless the
//! server waits for more than that. A connection of its own listens for news.
//!
//! A standby that takes over has all acknowledged commits only if the server waits for it: set `synchronous_standby_names`. With asynchronous
//! replication the last commits and decisions are lost with the server that had them, though each was acknowledged.
//!
//! Connect past poolers that take a connection away between transactions: neither what a session is set to nor what it listens for
//! is kept there, so that commits may be less durable than is said here, and news come when patience ends.
//!
//! Tables of an older version are brought up to date by the first process that connects. Let workers of the older version end
//! before: those that are still connected may be refused, and while the tables are written anew nobody renews a lease.
//!
//! # Time
//! Leases, put-offs and the time for which questions are open are told by the server's clock: a question is open for as long as its
//! client asked for, also where that client's clock is wrong. Where the server is promoted from a standby, keep the clocks of the two together.
//!
//! # What a commit costs
//! One statement, one round trip, one sync of the server's log.
//!
//! Times, fences and numbers above 2^63 - 1 are kept as that number.

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
