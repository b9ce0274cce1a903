//! Processes that are killed and stopped while they drive runs.
#![allow(clippy::unwrap_used, reason = "tests")]

mod kills;
mod paused;
mod services;
