//! What a session tells: its events and callbacks as one text, and what must hold of every session.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use runstate::snapshot::Snapshot;
use runstate::stream_session::{AnyStreamSession, ErrorCode};
use runstate::trace::{Recorder, Rulebook, Verdict, check, to_text};
use runstate_guardrails::Violation;
use runstate_guardrails::drift::DriftKind;
use runstate_stream::{
    Callbacks, Compare, ConsumerText, Event, EventKind, Failure, Recording, Session, SessionBuilder,
    SessionError, State, Strategy, TimeoutType,
};
use serde_json::Value;

/// Writes down all thirteen callbacks.
#[derive(Clone, Default)]
pub struct Notes(pub Arc<Mutex<Vec<String>>>);

impl Notes {
    fn note(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Callbacks for Notes {
    fn on_start(&mut self, attempt: u32, is_retry: bool, is_fallback: bool) {
        self.note(format!("  on_start({attempt}, {is_retry}, {is_fallback})"));
    }
    fn on_complete(&mut self, state: &State) {
        self.note(format!("  on_complete({:?})", state.content));
    }
    fn on_error(&mut self, error: &Failure, will_retry: bool, will_fallback: bool) {
        self.note(format!("  on_error({error}, {will_retry}, {will_fallback})"));
    }
    fn on_event(&mut self, event: &Event) {
        self.note(line(event));
    }
    fn on_violation(&mut self, violation: &Violation) {
        self.note(format!("  on_violation({violation})"));
    }
    fn on_retry(&mut self, attempt: u32, reason: &str) {
        self.note(format!("  on_retry({attempt}, {reason})"));
    }
    fn on_fallback(&mut self, index: u32, reason: &str) {
        self.note(format!("  on_fallback({index}, {reason})"));
    }
    fn on_resume(&mut self, checkpoint: &str, token_count: u64) {
        self.note(format!("  on_resume({checkpoint:?}, {token_count})"));
    }
    fn on_checkpoint(&mut self, checkpoint: &str, token_count: u64) {
        self.note(format!("  on_checkpoint({checkpoint:?}, {token_count})"));
    }
    fn on_timeout(&mut self, timeout_type: TimeoutType, elapsed_ms: u64) {
        self.note(format!("  on_timeout({}, {elapsed_ms})", timeout_type.name()));
    }
    fn on_abort(&mut self, token_count: u64, content_length: usize) {
        self.note(format!("  on_abort({token_count}, {content_length})"));
    }
    fn on_drift(&mut self, types: &[DriftKind], confidence: f64) {
        self.note(format!("  on_drift({types:?}, {confidence:.2})"));
    }
    fn on_tool_call(&mut self, tool_name: &str, id: &str, args: &Value) {
        self.note(format!("  on_tool_call({tool_name}, {id}, {args})"));
    }
}

/// An event in one line: when, what, with which fields.
pub fn line(event: &Event) -> String {
    let mut json = serde_json::to_value(event).unwrap();
    let fields = json.as_object_mut().unwrap();
    for same in ["seq", "atMs", "streamId", "meta", "type"] {
        fields.remove(same).unwrap();
    }
    let mut line = format!("{:>2} {:>5} ms {}", event.seq, event.at_ms, event.name());
    for (name, value) in fields {
        match name.as_str() {
            "state" => write!(line, " state={}", short(value)).unwrap(),
            "error" => {
                write!(line, " error={}:{}", value["code"].as_str().unwrap(), value["message"]).unwrap()
            }
            _ => write!(line, " {name}={value}").unwrap(),
        }
    }
    line
}

/// Of a state what is not in the events before.
fn short(state: &Value) -> String {
    let count = |list: &str| state[list].as_array().unwrap().len();
    format!(
        "{{content {}, tokens {}, stream {}, attempt {} of {}, retries {}/{}, resumed {}, violations {}, failures {}, {} ms}}",
        state["content"],
        state["tokenCount"],
        state["stream"],
        state["attempt"],
        state["attempts"],
        state["modelRetries"],
        state["totalRetries"],
        state["resumedFrom"]["tokenCount"],
        count("violations"),
        count("failures"),
        state["durationMs"]
    )
}

/// A session that is over, and all that was seen of it.
pub struct Whole {
    pub notes: Vec<String>,
    pub events: Vec<Event>,
    pub text: String,
    pub result: Result<Arc<State>, SessionError>,
    pub recording: Recording,
    pub trace: String,
}

/// Drives a session as a consumer of its stream does; what must hold of every session is checked.
pub async fn drive(builder: SessionBuilder) -> Whole {
    drive_with(builder, async |_: &Session<Notes>, _: &Event| {}).await
}

/// The same; `each` is shown each event.
pub async fn drive_with(
    builder: SessionBuilder,
    mut each: impl AsyncFnMut(&Session<Notes>, &Event),
) -> Whole {
    let notes = Notes::default();
    let recorder = Recorder::new("r1");
    let mut session = builder.callbacks(notes.clone()).observed(recorder.observer("stream_1")).build();
    let mut text = ConsumerText::new();
    let mut events = Vec::new();
    while let Some(event) = session.next().await {
        text.apply(&event);
        each(&session, &event).await;
        events.push(event);
    }
    assert!(session.next().await.is_none(), "what is over stays over");
    assert_eq!(session.callback_panics(), 0);
    let result = session.result().expect("the session is over").cloned_both();
    let whole = Whole {
        notes: notes.take(),
        events,
        text: text.into_string(),
        result,
        recording: session.recording().unwrap(),
        trace: to_text(&recorder.events()),
    };
    invariants(&whole);
    conforms(&recorder);
    replays(&whole, session.ended().unwrap(), &recorder);
    whole
}

trait ClonedBoth {
    fn cloned_both(self) -> Result<Arc<State>, SessionError>;
}

impl ClonedBoth for Result<&Arc<State>, &SessionError> {
    fn cloned_both(self) -> Result<Arc<State>, SessionError> {
        self.map(Arc::clone).map_err(Clone::clone)
    }
}

impl Whole {
    /// All that a snapshot shows.
    pub fn shown(&self) -> String {
        let mut shown = self.notes.join("\n");
        write!(shown, "\n== consumer\n{:?}\n== end\n", self.text).unwrap();
        match &self.result {
            Ok(state) => writeln!(shown, "complete: {} tokens", state.token_count).unwrap(),
            Err(error) => {
                let state = &error.state;
                writeln!(shown, "{error}\n  {} tokens, {:?}", state.token_count, state.content).unwrap();
                writeln!(shown, "  checkpoint {:?}", error.checkpoint()).unwrap();
                for failure in &state.failures {
                    writeln!(shown, "  stream {} attempt {}: {failure}", failure.stream, failure.attempt)
                        .unwrap();
                }
                for cause in &error.failure.causes {
                    writeln!(shown, "  caused by {cause}").unwrap();
                }
            }
        }
        write!(shown, "== trace\n{}", self.trace).unwrap();
        shown
    }

    pub fn names(&self) -> Vec<&'static str> {
        self.events.iter().map(Event::name).collect()
    }

    pub fn code(&self) -> Option<ErrorCode> {
        self.result.as_ref().err().map(SessionError::code)
    }
}

/// What the proof asks of every session.
fn invariants(whole: &Whole) {
    let Whole { events, text, result, .. } = whole;
    let starts = events.iter().filter(|event| event.name() == "SESSION_START").count();
    assert_eq!((starts, events[0].name()), (1, "SESSION_START"), "once and first");
    let ends: Vec<usize> = (0..events.len()).filter(|&at| events[at].kind.is_terminal()).collect();
    assert_eq!(ends, [events.len() - 1], "one terminal event, the last");
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event.seq, at as u64 + 1);
        assert_eq!(event.stream_id(), "stream_1");
    }
    assert!(events.is_sorted_by_key(|event| event.at_ms), "time does not go back");

    let (mut stream, mut attempt) = (0, 0);
    for event in events {
        match &event.kind {
            EventKind::SessionStart { attempt: said, is_retry, is_fallback } => {
                assert_eq!((*said, *is_retry, *is_fallback), (1, false, false));
                attempt = 1;
            }
            EventKind::AttemptStart { attempt: said, is_retry, is_fallback } => {
                attempt += 1;
                assert_eq!((*said, *is_retry, *is_fallback), (attempt, true, stream > 0));
            }
            EventKind::RetryAttempt { attempt: said, .. } => assert_eq!(*said, attempt),
            EventKind::FallbackStart { from_index, to_index, .. } => {
                assert_eq!((*from_index, *to_index), (stream, stream + 1));
                (stream, attempt) = (stream + 1, 1);
            }
            EventKind::Error(error) => {
                assert_eq!((error.error.stream, error.error.attempt), (stream, attempt));
            }
            _ => {}
        }
    }
    let content = match result {
        Ok(state) => &state.content,
        Err(error) => &error.state.content,
    };
    assert_eq!(text, content, "the consumer has what the session has");
    match (&events[events.len() - 1].kind, result) {
        (EventKind::Complete { state }, Ok(result)) => assert_eq!(state, result),
        (EventKind::Error(last), Err(error)) => {
            assert_eq!((last.recovery_strategy, &last.error), (Strategy::Halt, &error.failure));
        }
        (EventKind::AbortCompleted { token_count, .. }, Err(error)) => {
            assert_eq!((error.code(), *token_count), (ErrorCode::StreamAborted, error.state.token_count));
        }
        (last, result) => panic!("{last:?} and {result:?}"),
    }
}

fn conforms(recorder: &Recorder) {
    let book = Rulebook::of(runstate::lifecycles().iter().copied());
    let report = check(&recorder.events(), &book);
    assert_eq!(report.verdict, Verdict::Conforms, "{report}");
}

/// A stored record, read again and replayed, gives what the session gave.
fn replays(whole: &Whole, ended: &AnyStreamSession, recorder: &Recorder) {
    let stored = serde_json::to_string(&whole.recording).unwrap();
    let read: Recording = serde_json::from_str(&stored).unwrap();
    assert_eq!(read.first_difference(&whole.recording, Compare::All), None);
    let (notes, again) = (Notes::default(), Recorder::new("r1"));
    let replayed = read.replay_observed(notes.clone(), again.observer("stream_1")).unwrap();
    assert_eq!(notes.take(), whole.notes);
    assert_eq!(replayed.events, whole.events);
    assert_eq!(replayed.result, Some(whole.result.clone()));
    assert_eq!(to_text(&again.events()), to_text(&recorder.events()));
    let sealed = |session: &AnyStreamSession| Snapshot::of(session).unwrap().to_json();
    assert_eq!(sealed(&replayed.session), sealed(ended));
}

/// Compares with a snapshot in the one folder for them.
pub fn assert_shown(name: &str, shown: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(format!("stream__{name}"), shown));
}
