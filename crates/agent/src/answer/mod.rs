//! The stream of a model's answer, and the turn that it adds up to.
//!
//! A model answers with a stream of [`ModelEvent`]s. A [`TurnBuilder`] takes the events in order and returns the
//! [`Answer`], or an [`AnswerError`] with the reason why no answer exists. The boundaries between pieces of text or
//! arguments do not affect the result.
//!
//! ```
//! use runstate_agent::answer::{AnswerError, FinishReason, ModelEvent, TurnBuilder, Usage};
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
//! // A stream that ends early is an error, whatever text it gave before.
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

pub use builder::{Answer, TurnBuilder};
pub use error::AnswerError;
pub use model_event::ModelEvent;
pub use runstate::turn::FinishReason;
pub use usage::Usage;
