//! The conformance suite of model adapters: the rules of a session's source as behaviours that any adapter runs in its
//! own tests.
//!
//! A [`Wire`] renders an [`Answer`] in the format of its provider, and makes the adapter's source for a server on the
//! loopback address. [`model_conformance!`](crate::model_conformance) creates a test for each behaviour. A behaviour in
//! `fails` is one that the adapter does not have. Its test asserts the failure, so that a mend is noticed:
//!
//! ```
//! # use runstate_agent_stream::conformance::{Answer, Connection, Source, Wire};
//! # use runstate_agent::{InferenceRequest, answer::Usage};
//! # use serde_json::Value;
//! struct MyWire;
//!
//! impl Wire for MyWire {
//!     // …
//! #   fn events(&self, _: &Answer) -> Vec<String> { vec![] }
//! #   fn error_event(&self, _: &str) -> String { String::new() }
//! #   fn error_body(&self, _: u16, _: &str) -> String { String::new() }
//! #   fn source(&self, _: &Connection, _: &InferenceRequest) -> Source { unimplemented!() }
//! #   fn usage(&self, _: &Value) -> Option<Usage> { None }
//! #   fn kept(&self, _: &Answer) -> Vec<Value> { vec![] }
//! }
//!
//! mod conformance {
//!     # use super::*;
//!     runstate_agent_stream::model_conformance!(MyWire, fails: [piece_of_a_long_event_is_alive]);
//! }
//! ```
//!
//! A failed behaviour panics with the actual and the expected result. Each needs a few seconds at most,
//! and a loopback address.

mod answers;
mod behaviours;
mod calls;
mod failures;
mod limits;
mod requests;
mod server;
mod strict;
mod world;

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use futures_util::future::{BoxFuture, LocalBoxFuture};
use futures_util::{Stream, TryStreamExt};
use runstate_agent::InferenceRequest;
use runstate_agent::answer::{FinishReason, Usage};
use runstate_stream::{BoxSource, Opening, SourceError, StreamEvent};
use serde_json::Value;

pub use behaviours::BEHAVIOURS;

/// The wire format of a provider, with the adapter under test.
pub trait Wire: Send + Sync {
    /// Renders an answer as the events of a stream, each with its blank line. Without a reason of its end, the events
    /// of the end are left out.
    fn events(&self, answer: &Answer) -> Vec<String>;

    /// Renders the event of an overloaded server within an answer, with this message.
    fn error_event(&self, message: &str) -> String;

    /// Renders the body of a response with this status.
    fn error_body(&self, status: u16, message: &str) -> String;

    /// Renders the event by which the server keeps a connection open. Default: a comment.
    fn heartbeat(&self) -> String {
        ": ping\n\n".to_owned()
    }

    /// Makes the source of a request at a server.
    fn source(&self, connection: &Connection, request: &InferenceRequest) -> Source;

    /// Reads the tokens of a [`StreamEvent::Progress`].
    fn usage(&self, progress: &Value) -> Option<Usage>;

    /// Returns the JSON values that each later request must have unchanged: the blocks of thinking, the items of
    /// reasoning, the calls with their signatures.
    fn kept(&self, answer: &Answer) -> Vec<Value>;
}

/// The factory of a stream, as `source` of an adapter returns it.
pub type Source = Box<dyn FnMut(Opening) -> BoxFuture<'static, Result<BoxSource, SourceError>> + Send>;

/// Boxes the factory of an adapter.
pub fn boxed<S, E, Opened>(mut open: impl FnMut(Opening) -> Opened + Send + 'static) -> Source
where
    S: Stream<Item = Result<StreamEvent, E>> + Send + 'static,
    E: Into<SourceError> + 'static,
    Opened: Future<Output = Result<S, SourceError>> + Send + 'static,
{
    Box::new(move |opening| {
        let opened = open(opening);
        Box::pin(async move { Ok(Box::pin(opened.await?.map_err(Into::into)) as BoxSource) })
    })
}

/// The server of a behaviour, and the settings of the adapter's client.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Connection {
    /// The address, such as `http://127.0.0.1:4010`, without a path.
    pub address: String,
    /// The key.
    pub key: &'static str,
    /// The limit on the time without a piece of the answer.
    pub silence: Duration,
    /// The most tokens of an answer.
    pub output: u32,
}

/// An answer of a model, independent of its wire format.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Answer {
    /// The parts, in order.
    pub parts: Vec<Part>,
    /// The reason of the end. None: the answer has no end.
    pub finish: Option<FinishReason>,
    /// The tokens. None: the server does not count them.
    pub usage: Option<Usage>,
}

/// A part of an answer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Part {
    /// Text, in pieces.
    Text(Vec<String>),
    /// Reasoning.
    Reasoning {
        /// The text.
        text: String,
        /// The signature, or the encrypted form. A wire without signed thinking puts it at the next call.
        signature: String,
    },
    /// A call of a tool.
    Call {
        /// The id. An empty one is left out by a wire that can.
        id: String,
        /// The name of the tool.
        tool: String,
        /// The JSON text of the arguments, in pieces. A text that is no JSON is sent as it is, or as a JSON string.
        arguments: Vec<String>,
    },
}

impl Answer {
    /// Returns the tokens, or 12 read and 3 written.
    pub fn tokens(&self) -> Usage {
        self.usage.unwrap_or(Usage { input_tokens: 12, output_tokens: 3 })
    }

    pub(crate) fn new(finish: FinishReason) -> Self {
        Answer { finish: Some(finish), ..Answer::default() }
    }

    pub(crate) fn text(mut self, pieces: &[&str]) -> Self {
        self.parts.push(Part::Text(pieces.iter().map(|&piece| piece.to_owned()).collect()));
        self
    }

    pub(crate) fn reasoning(mut self, text: &str, signature: &str) -> Self {
        self.parts.push(Part::Reasoning { text: text.to_owned(), signature: signature.to_owned() });
        self
    }

    pub(crate) fn call(mut self, id: &str, tool: &str, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&piece| piece.to_owned()).collect();
        self.parts.push(Part::Call { id: id.to_owned(), tool: tool.to_owned(), arguments });
        self
    }

    pub(crate) fn unfinished(mut self) -> Self {
        self.finish = None;
        self
    }
}

/// One behaviour of an adapter.
#[derive(Clone, Copy)]
pub struct Behaviour {
    /// The name of the behaviour and of its test.
    pub name: &'static str,
    run: for<'w> fn(&'w dyn Wire) -> LocalBoxFuture<'w, ()>,
}

impl Behaviour {
    /// Checks the behaviour.
    ///
    /// # Panics
    /// If the adapter does not have the behaviour, or needs more than 60 seconds.
    ///
    /// # Cancel safety
    /// Dropping the future closes the server.
    pub async fn check(&self, wire: &dyn Wire) {
        let checked = tokio::time::timeout(Duration::from_secs(60), (self.run)(wire)).await;
        assert!(checked.is_ok(), "expected an end within 60 seconds");
    }
}

impl fmt::Debug for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Behaviour({})", self.name)
    }
}

/// Checks the behaviour with that name, on a new runtime. The tests of
/// [`model_conformance!`](crate::model_conformance) call this function.
///
/// # Panics
/// If the adapter does not have the behaviour and `fails` does not name it, if the adapter has it and `fails` names it,
/// and if no behaviour has a name.
pub fn check_one(name: &str, wire: &dyn Wire, fails: &[&str]) {
    for known in fails.iter().copied().chain([name]) {
        assert!(
            BEHAVIOURS.iter().any(|behaviour| behaviour.name == known),
            "there is no behaviour {known:?}; `BEHAVIOURS` has those there are"
        );
    }
    let behaviour = BEHAVIOURS.iter().find(|behaviour| behaviour.name == name);
    let check = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.unwrap_or_else(|error| panic!("no runtime could be made: {error}"));
        if let Some(behaviour) = behaviour {
            runtime.block_on(behaviour.check(wire));
        }
    };
    if fails.contains(&name) {
        let failed = catch_unwind(AssertUnwindSafe(check)).is_err();
        assert!(failed, "the adapter has the behaviour {name} now: remove it from `fails`");
    } else {
        check();
    }
}
