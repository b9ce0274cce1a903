//! The driver of stream sessions.

mod aborts;
mod backoffs;
mod collect;
pub mod flows;
mod hooks;
mod random;
mod records;
mod rows;
pub mod script;
mod spoilt;
pub mod told;
