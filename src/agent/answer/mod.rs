//! The stream of a model's answer, and the turn that it adds up to (document 000, "LLM_CALL").
//!
//! A model answers in pieces: [`ModelEvent`]s. A [`TurnBuilder`] takes them in order and gives the [`Answer`], or the
//! [`AnswerError`] that says why there is none. How the text and the arguments were cut into pieces makes no difference.
//!
//! ```
//! use runstate::agent::answer::{AnswerError, FinishReason, ModelEvent, TurnBuilder, Usage};
//! use serde_json::json;
//!
//! let mut turn = TurnBuilder::new();
//! turn.push(ModelEvent::Text("let me ".into()))?;
//! turn.push(ModelEvent::Text("look".into()))?;
//! turn.push(ModelEvent::CallStart { index: 0, id: "call_1".into(), tool: "read_file".into() })?;
//! turn.push(ModelEvent::Arguments { index: 0, delta: r#"{"path":"#.into() })?;
//! turn.push(ModelEvent::Arguments { index: 0, delta: r#""notes.md"}"#.into() })?;
//! turn.push(ModelEvent::Finish(FinishReason::ToolCalls))?;
//! turn.push(ModelEvent::Usage(Usage { input_tokens: 12, output_tokens: 30 }))?;
//! let answer = turn.finish()?;
//! assert_eq!(answer.turn.text, "let me look");
//! assert_eq!(answer.turn.calls[0].arguments, json!({ "path": "notes.md" }));
//!
//! // A stream that breaks off is an error, whatever it said before.
//! let mut turn = TurnBuilder::new();
//! turn.push(ModelEvent::Text("let me".into()))?;
//! let error = turn.finish().unwrap_err();
//! assert!(matches!(error, AnswerError::Unfinished { text_bytes: 6, calls: 0 }));
//! # Ok::<(), AnswerError>(())
//! ```

mod arguments;
mod builder;
mod error;
mod model_event;
mod usage;

pub use crate::turn::FinishReason;
pub use builder::{Answer, TurnBuilder};
pub use error::AnswerError;
pub use model_event::ModelEvent;
pub use usage::Usage;
