//! Lifecycle traces for reviewers.
//!
//! A [`ReviewBuilder`] takes the events of a trace and checks them against a
//! [`Rulebook`](runstate::trace::Rulebook). Its [`Review`] has the instances as lanes, their stays in states with real
//! times, the illegal events with their lines in the diagram, and further facts such as arguments and decisions. The
//! renderers show a review:
//!
//! | function | output |
//! |---|---|
//! | [`html`] | one HTML file without scripts and outside references |
//! | [`perfetto`] | a Chrome trace, for Perfetto and speedscope |
//! | [`Timeline`] | a table for a terminal of any width |
//! | [`gantt`] | a Mermaid Gantt chart |
//! | [`markdown`], [`Summary`] | verdicts, violations and coverage, for the summary of a CI job |
//! | [`mermaid`] | the author's diagram with counts, colours and a legend |
//! | [`assert_trace_snapshot!`] | a snapshot test of a trace, in one line |
//! | [`diff`] | two traces, aligned |
//!
//! Names and values of a trace may come from a model or a user. Each renderer escapes them for its format, makes
//! invisible characters visible, and shortens long ones.
//!
//! # Example
//! ```
//! use runstate::trace::Event;
//! use runstate_review::{ReviewBuilder, html};
//!
//! let lines = [
//!     r#"{"seq":1,"at_ms":0,"run":"r","lifecycle":"tool_call","instance":"c","event":"create","from":null,"to":"New"}"#,
//!     r#"{"seq":2,"at_ms":9,"run":"r","lifecycle":"tool_call","instance":"c","event":"succeed","from":"New","to":"Succeeded"}"#,
//! ];
//! let book = runstate::rulebook();
//! let mut builder = ReviewBuilder::new("a call", &book);
//! for (number, line) in (1..).zip(lines) {
//!     builder.event(number, &Event::from_json(line).unwrap());
//! }
//! let review = builder.finish();
//! assert!(review.steps()[1].is_illegal, "a call starts before it succeeds");
//! assert_eq!(review.breaches()[0].reason, "no edge leads from New to Succeeded");
//! assert!(html(&review).contains("no edge leads from New to Succeeded"));
//! ```

mod bounded;
mod breach;
mod build;
mod covered;
mod diff;
mod gantt;
mod html;
mod interruption;
mod markdown;
mod marks;
mod mermaid;
mod model;
mod names;
mod notes;
mod pause;
mod perfetto;
mod redacted;
mod snapshot;
mod span;
mod summary;
mod text;
mod timeline;

pub use breach::{Breach, Legal};
pub use build::ReviewBuilder;
pub use diff::{Change, ChangeKind, Numbered, Side, TraceDiff, diff};
pub use gantt::gantt;
pub use html::html;
pub use interruption::Interruption;
pub use markdown::markdown;
pub use marks::Marks;
pub use mermaid::mermaid;
pub use model::{Fact, Lane, Review, Stay, StayKind, Step};
pub use perfetto::perfetto;
pub use snapshot::TraceText;
pub use summary::{Entry, Summary};
pub use timeline::Timeline;

/// The example of the README, compiled and run as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
