//! The rules for a stream's output, drift, and values read from an output.
//!
//! Each check that works token by token is held against one that is written for these tests alone, is as plain as can be, and
//! looks at the whole text after every token.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "tests")]

mod corpus;
mod cutting;
mod drift;
mod flat;
mod forbidden;
mod json;
mod latex;
mod markdown;
mod patterns;
mod repetition;
mod rules;
mod structured;
mod words;
mod zero_output;
