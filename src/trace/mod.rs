//! Traces: what happened, as data that any tool can read.
//!
//! A [`Recorder`] is told of transitions by the kernel's hook and gives them back as [`Event`]s, which
//! [`JsonlWriter`] and [`JsonlReader`] carry to and from a file, one JSON object a line:
//!
//! ```json
//! {"seq":7,"at_ms":12,"run":"r1","lifecycle":"tool_call","instance":"call_1","event":"suspend","from":"Running","to":"Suspended"}
//! ```

mod event;
mod extra;
mod jsonl;
mod line;
mod read_error;
mod recorder;

pub use event::{CREATE, Event};
pub use extra::Extra;
pub use jsonl::{JsonlReader, JsonlWriter, LONGEST_LINE};
pub use read_error::{Problem, ReadError};
pub use recorder::{Recorder, RecorderBuilder};
