//! Tests of internals: future versions, and the query plans of SQLite.

mod claims;
mod lists;
mod migrations;
mod plans;
