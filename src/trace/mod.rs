//! Traces: recorded transitions in an open format, and their check against documented lifecycles.
//!
//! A [`Recorder`] receives transitions from the kernel's hook, the only code that can write to it, and returns them
//! as [`Event`]s. [`JsonlWriter`] and [`JsonlReader`] write and read files with one JSON object per line:
//!
//! ```json
//! {"seq":7,"at_ms":12,"run":"r1","lifecycle":"tool_call","instance":"call_1","event":"suspend","from":"Running","to":"Suspended"}
//! ```
//!
//! [`check`] and [`check_jsonl`] check a trace against a [`Rulebook`]. Its [`Rules`] come from graphs or from any
//! diagram. The result is a [`Report`]: the [`Verdict`], the first [`Violation`] with its line and the legal
//! alternatives, and the [`Coverage`] of the transitions. [`Checker`] checks a run in progress.
//!
//! [`to_text`] shows a trace as text for snapshots, and [`to_mermaid`] as a diagram. A report has a text form, a JSON
//! form and a [`Junit`] form. [`first_difference`] compares two traces. The crate `runstate-review` has timelines, pages
//! and more for reviewers.
//!
//! # Example
//! A file of two lines; the second line is illegal:
//!
//! ```
//! # #[cfg(feature = "lifecycles")] {
//! use runstate::trace::{JsonlReader, Rulebook, Verdict, check_jsonl};
//!
//! let file = concat!(
//!     r#"{"seq":1,"at_ms":0,"run":"r1","lifecycle":"run","instance":"r1","event":"create","from":null,"to":"Running"}"#,
//!     "\n",
//!     r#"{"seq":2,"at_ms":5,"run":"r1","lifecycle":"run","instance":"r1","event":"create","from":null,"to":"Running"}"#,
//!     "\n",
//! );
//! let book = Rulebook::of(runstate::lifecycles().iter().copied());
//! let report = check_jsonl(JsonlReader::new(file.as_bytes()), &book).unwrap();
//! assert_eq!(report.verdict, Verdict::Violates);
//! let violation = report.violation.unwrap();
//! assert_eq!((violation.line, violation.legal.len()), (2, 2));
//! assert_eq!(violation.reason(), "it was created on line 1 and is still in Running");
//! # }
//! ```

mod check;
mod checker;
mod closest;
mod coverage;
mod diff;
mod drawn;
mod event;
mod explain;
mod extra;
mod jsonl;
mod junit;
mod line;
mod mermaid;
mod read_error;
mod recorder;
mod report;
mod requirement;
mod rulebook;
mod rules;
mod sources;
mod step;
mod tape;
mod text;
mod violation;

pub use check::{check, check_jsonl};
pub use checker::Checker;
pub use closest::closest;
pub use coverage::{Coverage, EdgeCount, LifecycleCoverage, StateCount};
pub use diff::{DiffError, Difference, Side, first_difference};
pub use event::{CREATE, Event};
pub use extra::Extra;
pub use jsonl::{JsonlReader, JsonlWriter, LONGEST_LINE};
pub use junit::Junit;
pub use mermaid::{mark_mermaid, to_mermaid};
pub use read_error::{Problem, ReadError};
pub use recorder::{Recorder, RecorderBuilder};
pub use report::{Backwards, Report, Unfinished, Verdict};
pub use requirement::{NoWantedEdge, UnmetRequirement, WantedEdge};
pub use rulebook::Rulebook;
pub use rules::{RuleEdge, Rules};
pub use text::{Ordinals, to_text};
pub use violation::{Legal, Violation, ViolationKind};
