//! The driver of stream sessions.

mod aborts;
mod backoffs;
mod flows;
mod hooks;
mod random;
mod records;
mod rows;
mod script;
mod told;
