//! Questions to an adapter, and its outcomes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use runstate::tool_call::CallKey;
use runstate::turn::{CallRequest, Extra, Turn};
use runstate_agent::answer::FinishReason;
use runstate_agent::{CallResult, InferenceRequest, Message, ResultContent};
use runstate_stream::{
    Backoff, BoxSource, Continuation, ErrorKind, Opening, RetryPolicy, Session, SourceError, StreamEvent,
};
use serde_json::Value;

use super::server::{Request, Server, Step, head, send};
use super::{Answer, Connection, Wire};

/// The key of all behaviours. It is long, so that no text has it by chance.
pub(super) const KEY: &str = "sk-conformance-7c1d0a";
/// The limit of silence where a behaviour has none.
pub(super) const PATIENT: Duration = Duration::from_secs(30);
/// The limit of silence of an answer that must reach it.
pub(super) const IMPATIENT: Duration = Duration::from_secs(1);

/// The events of one answer, and the failure that ended it.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) events: Vec<StreamEvent>,
    pub(super) failure: Option<SourceError>,
    pub(super) requests: Vec<Request>,
}

pub(super) fn asked(text: &str) -> InferenceRequest {
    InferenceRequest::of_message("r1", text)
}

pub(super) fn connection(server: &Server, silence: Duration) -> Connection {
    Connection { address: server.address.clone(), key: KEY, silence, output: 321 }
}

/// The attempt of a new answer.
pub(super) async fn opening() -> Opening {
    of_session(None).await
}

/// The attempt that continues from a checkpoint.
pub(super) async fn continuing(checkpoint: &'static str) -> Opening {
    of_session(Some(checkpoint)).await
}

/// Takes the last opening of a session whose streams fail.
async fn of_session(checkpoint: Option<&'static str>) -> Opening {
    let seen: Arc<Mutex<Option<Opening>>> = Arc::default();
    let slot = Arc::clone(&seen);
    let mut session = Session::builder("opening", move |opening: Opening| {
        let first = opening.checkpoint.is_none();
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(opening);
        let token = checkpoint.filter(|_| first).map(|text| Ok(StreamEvent::token(text)));
        let kind = if token.is_some() { ErrorKind::Network } else { ErrorKind::Fatal };
        let events = token.into_iter().chain([Err(SourceError::new(kind, "as planned"))]);
        async move { Ok::<_, SourceError>(futures_util::stream::iter(events)) }
    })
    .retry(RetryPolicy { backoff: Backoff::fixed(Duration::from_millis(1)), ..RetryPolicy::default() })
    .continuation(Continuation::every(std::num::NonZeroU32::MIN))
    .build();
    let _planned = session.run().await;
    let opening = seen.lock().unwrap_or_else(PoisonError::into_inner).take();
    opening.unwrap_or_else(|| panic!("a session opens its stream"))
}

/// Opens a stream.
pub(super) async fn open(
    wire: &dyn Wire,
    connection: &Connection,
    request: &InferenceRequest,
    opening: Opening,
) -> Result<BoxSource, SourceError> {
    (wire.source(connection, request))(opening).await
}

/// Reads a stream to its end.
pub(super) async fn read(opened: Result<BoxSource, SourceError>) -> (Vec<StreamEvent>, Option<SourceError>) {
    let mut events = Vec::new();
    let mut stream = match opened {
        Ok(stream) => stream,
        Err(error) => return (events, Some(error)),
    };
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => {
                assert!(stream.next().await.is_none(), "expected no event after a failure");
                return (events, Some(error));
            }
        }
    }
    (events, None)
}

/// Asks a server that plays this script.
pub(super) async fn ask(
    wire: &dyn Wire,
    script: Vec<Step>,
    request: &InferenceRequest,
    silence: Duration,
) -> Outcome {
    let server = Server::start(vec![script]).await;
    let opened = open(wire, &connection(&server, silence), request, opening().await).await;
    let (events, failure) = read(opened).await;
    Outcome { events, failure, requests: server.requests().await }
}

/// Asks a server that streams these events.
pub(super) async fn stream_of(wire: &dyn Wire, events: Vec<String>) -> Outcome {
    ask(wire, [head()].into_iter().chain(events.into_iter().map(send)).collect(), &asked("hello"), PATIENT)
        .await
}

/// Asks for an answer.
pub(super) async fn answer_of(wire: &dyn Wire, answer: &Answer) -> Outcome {
    stream_of(wire, wire.events(answer)).await
}

/// The bytes of a stream.
pub(super) fn bytes_of(wire: &dyn Wire, answer: &Answer) -> String {
    wire.events(answer).concat()
}

impl Outcome {
    pub(super) fn text(&self) -> String {
        text_of(&self.events)
    }

    /// Checks that the answer is whole, and returns its reason.
    pub(super) fn whole(&self) -> FinishReason {
        assert_eq!(self.failure, None, "expected a whole answer, after {:?}", self.events);
        assert_eq!(self.events.last(), Some(&StreamEvent::Complete), "the last event");
        let reasons = self.events.iter().filter_map(|event| match event {
            StreamEvent::Finish(reason) => Some(reason.clone()),
            _ => None,
        });
        let reasons: Vec<FinishReason> = reasons.collect();
        assert_eq!(reasons.len(), 1, "the reasons of the end: {reasons:?}");
        reasons[0].clone()
    }

    /// Checks that the answer failed with this kind, and returns the failure.
    pub(super) fn failed(&self, kind: ErrorKind) -> &SourceError {
        let Some(failure) = &self.failure else {
            panic!("expected a failure of the kind {kind}, got the events {:?}", self.events)
        };
        assert_eq!(failure.kind(), kind, "{failure}, after {:?}", self.events);
        failure
    }

    pub(super) fn calls(&self) -> Vec<CallRequest> {
        let calls = self.events.iter().filter_map(|event| match event {
            StreamEvent::ToolCall(call) => Some(CallRequest {
                unreadable: call.unreadable.clone(),
                extra: call.extra.clone(),
                ..CallRequest::new(call.id.as_str(), call.name.as_str(), call.arguments.clone())
            }),
            _ => None,
        });
        calls.collect()
    }

    /// The answer as a run stores it, read back from its stored form.
    pub(super) fn turn(&self) -> Turn {
        self.whole();
        let mut extra = Extra::default();
        for event in &self.events {
            if let StreamEvent::Extra(more) = event {
                extra.add(more.clone());
            }
        }
        let turn = Turn { text: self.text(), calls: self.calls(), extra };
        let stored = serde_json::to_string(&turn).unwrap_or_else(|error| panic!("{error}"));
        serde_json::from_str(&stored).unwrap_or_else(|error| panic!("{error}"))
    }
}

pub(super) fn text_of(events: &[StreamEvent]) -> String {
    let text = |event: &StreamEvent| match event {
        StreamEvent::Token(text) => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

/// The request after an answer, with a result for each of its calls.
pub(super) fn after(turn: &Turn, results: &[&str]) -> InferenceRequest {
    let mut request = asked("hello");
    let messages = request.history.edit();
    messages.push(Message::Assistant(Arc::new(turn.clone())));
    for (ordinal, (call, result)) in (0..).zip(turn.calls.iter().zip(results)) {
        messages.push(Message::Result(Arc::new(CallResult {
            key: CallKey { step: 1, ordinal },
            id: call.id.clone(),
            content: ResultContent::Output { value: Value::from(*result), warning: None },
        })));
    }
    request
}

/// Returns whether a value is anywhere within another one.
pub(super) fn contains(within: &Value, value: &Value) -> bool {
    let is_in = |inner: &Value| contains(inner, value);
    within == value
        || match within {
            Value::Array(items) => items.iter().any(is_in),
            Value::Object(fields) => fields.values().any(is_in),
            _ => false,
        }
}
