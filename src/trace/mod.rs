//! Traces: what happened, as data that any tool can read.
//!
//! A [`Recorder`] is told of transitions by the kernel's hook and gives them back as [`Event`]s, which
//! [`JsonlWriter`] and [`JsonlReader`] carry to and from a file, one JSON object a line:
//!
//! ```json
//! {"seq":7,"at_ms":12,"run":"r1","lifecycle":"tool_call","instance":"call_1","event":"suspend","from":"Running","to":"Suspended"}
//! ```

mod check;
mod checker;
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
mod rulebook;
mod rules;
mod sources;
mod step;
mod tape;
mod text;
mod timeline;
mod violation;

pub use check::{check, check_jsonl};
pub use checker::Checker;
pub use coverage::{Coverage, EdgeCount, LifecycleCoverage, NoWantedEdge, StateCount, Unmet, WantedEdge};
pub use diff::{DiffError, Difference, Side, first_difference};
pub use event::{CREATE, Event};
pub use extra::Extra;
pub use jsonl::{JsonlReader, JsonlWriter, LONGEST_LINE};
pub use junit::Junit;
pub use mermaid::to_mermaid;
pub use read_error::{Problem, ReadError};
pub use recorder::{Recorder, RecorderBuilder};
pub use report::{Report, Unfinished, Verdict};
pub use rulebook::Rulebook;
pub use rules::{RuleEdge, Rules};
pub use text::{Ordinals, to_text};
pub use timeline::Timeline;
pub use violation::{Legal, Violation, ViolationKind};
