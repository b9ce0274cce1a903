//! What cannot be seen from outside: versions that are not there yet, and how SQLite reads.

mod claims;
mod lists;
mod migrations;
mod plans;
