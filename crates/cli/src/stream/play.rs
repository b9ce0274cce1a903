//! Driving a scenario's session on virtual time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use runstate::trace::{Recorder, Rulebook, check, to_text};
use runstate_stream::{ConsumerText, Event, Session, SessionBuilder, SessionError, State};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::Played;
use super::replay;
use super::scenario::{Abort, By, Scenario};
use super::setup;
use super::told::{AbortAt, Line, Teller, lock};

/// The end of a session.
#[derive(Debug)]
pub(super) enum Ended {
    /// The output is complete.
    Complete(Arc<State>),
    /// The session failed.
    Failed(SessionError),
    /// The session was dropped.
    Dropped,
    /// The session waited for a silent stream, without a limit, and was dropped.
    Hung,
}

impl Ended {
    pub(super) fn text(&self) -> Vec<String> {
        match self {
            Ended::Complete(state) => vec![format!(
                "COMPLETE: {} tokens, {} bytes, stream {}, attempt {} of {} in all, {} retries, {} ms",
                state.token_count,
                state.content.len(),
                state.stream,
                state.attempt,
                state.attempts,
                state.total_retries,
                state.duration_ms
            )],
            Ended::Failed(error) => {
                let state = &error.state;
                let mut lines = vec![
                    error.to_string(),
                    format!(
                        "category {}, {} tokens, {} attempts, {} retries, {} ms",
                        error.failure.category,
                        state.token_count,
                        state.attempts,
                        state.total_retries,
                        state.duration_ms
                    ),
                    format!("content {:?}", state.content),
                    format!("checkpoint {:?}", error.checkpoint()),
                ];
                for failure in &state.failures {
                    lines.push(format!("stream {} attempt {}: {failure}", failure.stream, failure.attempt));
                    lines.extend(failure.causes.iter().map(|cause| format!("  caused by: {cause}")));
                }
                lines
            }
            Ended::Dropped => vec!["the session was dropped".to_owned()],
            Ended::Hung => {
                vec![
                    "the session waited for ever and was dropped: its stream is silent and no timeout is set"
                        .to_owned(),
                ]
            }
        }
    }

    pub(super) fn json(&self) -> Value {
        match self {
            Ended::Complete(state) => json!({"status": "complete", "state": **state}),
            Ended::Failed(error) => json!({
                "status": "error",
                "code": error.code(),
                "error": error.failure,
                "checkpoint": error.checkpoint(),
                "state": *error.state,
            }),
            Ended::Dropped => json!({"status": "dropped"}),
            Ended::Hung => json!({"status": "hung"}),
        }
    }
}

/// Longer than any wait of a scenario.
const FOREVER: Duration = Duration::from_secs(500 * 24 * 60 * 60);

/// Plays a checked scenario.
///
/// # Errors
/// A runtime that cannot be made, or an invalid regular expression.
pub(super) fn play(scenario: &Scenario) -> Result<Played, String> {
    let builder = setup::session(scenario)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    Ok(runtime.map_err(|error| error.to_string())?.block_on(drive(scenario, builder)))
}

async fn drive(scenario: &Scenario, builder: SessionBuilder) -> Played {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let began = Instant::now();
    let elapsed = move || u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let recorder = Recorder::builder("run").clock(elapsed).build();
    let token = CancellationToken::new();
    let handle = Arc::new(Mutex::new(None));
    let teller = Teller::new(
        Arc::clone(&lines),
        scenario.panicking_callbacks.clone(),
        in_callback(scenario.abort.as_ref(), &token, &handle),
    );
    let builder = builder.observed(recorder.observer("stream"));
    let mut session = builder.cancelled_by(token.clone()).callbacks(teller).build();
    if scenario.abort.as_ref().is_some_and(|abort| abort.by == By::Handle) {
        *lock(&handle) = Some(session.abort_handle());
    }
    let mut outside = Outside::new(scenario.abort.as_ref(), token);
    let mut consumer = ConsumerText::new();
    let ended = loop {
        if outside.due(began.elapsed()) && outside.abort(&session) {
            break Ended::Dropped;
        }
        let next = tokio::select! {
            biased;
            next = session.next() => next,
            () = outside.wait(began) => continue,
            () = sleep_until(began + FOREVER) => break Ended::Hung,
        };
        let Some(event) = next else {
            break match session.result() {
                Some(Ok(state)) => Ended::Complete(Arc::clone(state)),
                Some(Err(error)) => Ended::Failed(error.clone()),
                None => Ended::Dropped,
            };
        };
        consumer.apply(&event);
        if outside.sees(&event) && outside.abort(&session) {
            break Ended::Dropped;
        }
        if scenario.consumer.delay_ms > 0 {
            sleep(Duration::from_millis(scenario.consumer.delay_ms)).await;
        }
    };
    let value = match (&scenario.accept, &ended) {
        // Its output is the value by now.
        (Some(_), Ended::Complete(_)) => session.value::<Value>().await.ok(),
        _ => None,
    };
    let record = session.recording();
    let told = session.result().map(|result| result.map(Arc::clone).map_err(Clone::clone));
    drop(session);
    let replay = replay::again(record, told, &consumer);
    let events = recorder.take();
    let report = check(&events, &Rulebook::of(runstate::lifecycles().iter().copied()));
    let lines: Vec<Line> = std::mem::take(&mut *lock(&lines));
    let title = match &scenario.about {
        Some(about) => format!("{}: {about}", scenario.name),
        None => scenario.name.clone(),
    };
    Played {
        title: crate::output::printable(&title),
        lines,
        consumer,
        ended,
        value,
        replay,
        trace: to_text(&events),
        events,
        verdict: report.verdict,
    }
}

fn in_callback(
    abort: Option<&Abort>,
    token: &CancellationToken,
    handle: &Arc<Mutex<Option<runstate_stream::AbortHandle>>>,
) -> Option<AbortAt> {
    let at = abort?.on.clone().filter(|on| on.in_callback)?;
    Some(AbortAt { at, seen: 0, token: token.clone(), handle: Arc::clone(handle) })
}

/// The external abort of the session: at a time, or when the consumer sees an event.
struct Outside<'a> {
    abort: Option<&'a Abort>,
    token: CancellationToken,
    seen: u32,
    done: bool,
}

impl<'a> Outside<'a> {
    fn new(abort: Option<&'a Abort>, token: CancellationToken) -> Self {
        Outside { abort, token, seen: 0, done: false }
    }

    fn at(&self) -> Option<Duration> {
        if self.done {
            return None;
        }
        self.abort.and_then(|abort| abort.at_ms).map(Duration::from_millis)
    }

    fn due(&self, elapsed: Duration) -> bool {
        self.at().is_some_and(|at| elapsed >= at)
    }

    /// Waits until its time; for ever without one.
    async fn wait(&self, began: Instant) {
        match self.at() {
            Some(at) => sleep_until(began + at).await,
            None => std::future::pending().await,
        }
    }

    fn sees(&mut self, event: &Event) -> bool {
        let Some(on) = self.abort.and_then(|abort| abort.on.as_ref()).filter(|on| !on.in_callback) else {
            return false;
        };
        self.seen += u32::from(event.name() == on.event);
        !self.done && event.name() == on.event && self.seen == on.nth
    }

    /// Aborts. Returns true if the session must be dropped.
    fn abort(&mut self, session: &Session<Teller>) -> bool {
        self.done = true;
        match self.abort.map(|abort| abort.by) {
            Some(By::Handle) => session.abort_handle().abort(),
            Some(By::Token) => self.token.cancel(),
            Some(By::Drop) => return true,
            None => {}
        }
        false
    }
}
