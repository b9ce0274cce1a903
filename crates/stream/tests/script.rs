//! Sources that follow a script, one for each stream and attempt, and what they saw.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use runstate_stream::{ErrorKind, FinishReason, Opening, SourceError, StreamEvent};
use serde_json::{Value, json};
use tokio::time::{Sleep, sleep};

/// What a source does next.
#[derive(Debug, Clone)]
pub enum Step {
    Token(String),
    /// Milliseconds.
    Wait(u64),
    /// An `Err` of that kind.
    Throw(ErrorKind),
    ThrowAfter(ErrorKind, u64),
    /// An error as one of the stream's events.
    Report(ErrorKind),
    /// Never anything again.
    Silence,
    Tool(&'static str),
    Message(&'static str),
    Data(Value),
    Progress(Value),
    Reasoning(&'static str),
    Alive,
    Finish(FinishReason),
    Complete,
    Panic,
    /// The open fails with that kind; only as a script's first step.
    RefuseToOpen(ErrorKind),
    /// The factory panics; only as a script's first step.
    PanicToOpen,
    /// The open takes so long, in milliseconds; only as a script's first step.
    SlowToOpen(u64),
}

/// Words as tokens.
pub fn tokens(text: &str) -> Vec<Step> {
    text.split_inclusive(' ').map(|token| Step::Token(token.to_owned())).collect()
}

/// Some steps after others.
pub fn then(mut steps: Vec<Step>, more: &[Step]) -> Vec<Step> {
    steps.extend_from_slice(more);
    steps
}

/// What factories were asked, and how many streams are open.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    pub openings: Arc<Mutex<Vec<Opening>>>,
    pub open: Arc<AtomicU32>,
    pub most_open: Arc<AtomicU32>,
}

impl Seen {
    pub fn opened(&self) -> usize {
        self.openings.lock().unwrap().len()
    }
}

/// A factory of sources: one script for each attempt, the last of them for all further ones.
pub fn scripted(
    seen: &Seen,
    attempts: Vec<Vec<Step>>,
) -> impl FnMut(Opening) -> Pin<Box<dyn Future<Output = Result<Scripted, SourceError>> + Send>> + Send + 'static
{
    let seen = seen.clone();
    move |opening| {
        let number = opening.attempt.number() as usize;
        seen.openings.lock().unwrap().push(opening);
        let script = attempts.get(number - 1).or(attempts.last()).cloned().unwrap_or_default();
        let mut steps = VecDeque::from(script);
        let seen = seen.clone();
        let (mut slow, mut refused) = (0, None);
        match steps.front() {
            Some(Step::PanicToOpen) => panic!("the factory is broken"),
            Some(&Step::SlowToOpen(ms)) => slow = ms,
            Some(&Step::RefuseToOpen(kind)) => refused = Some(kind),
            _ => {}
        }
        if slow > 0 || refused.is_some() {
            steps.pop_front();
        }
        Box::pin(async move {
            if slow > 0 {
                sleep(Duration::from_millis(slow)).await;
            }
            if let Some(kind) = refused {
                return Err(SourceError::new(kind, format!("refused: {kind}")));
            }
            let open = seen.open.fetch_add(1, Ordering::SeqCst) + 1;
            seen.most_open.fetch_max(open, Ordering::SeqCst);
            Ok(Scripted { steps, timer: None, seen })
        })
    }
}

pub struct Scripted {
    steps: VecDeque<Step>,
    timer: Option<Pin<Box<Sleep>>>,
    seen: Seen,
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.seen.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Stream for Scripted {
    type Item = Result<StreamEvent, SourceError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(timer) = &mut self.timer {
                if timer.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                self.timer = None;
            }
            if matches!(self.steps.front(), Some(Step::Silence)) {
                return Poll::Pending;
            }
            let Some(step) = self.steps.pop_front() else { return Poll::Ready(None) };
            let item = match step {
                Step::Token(text) => Ok(StreamEvent::Token(text)),
                Step::Wait(ms) => {
                    self.timer = Some(Box::pin(sleep(Duration::from_millis(ms))));
                    continue;
                }
                Step::Throw(kind) => Err(SourceError::new(kind, format!("thrown: {kind}"))),
                Step::ThrowAfter(kind, ms) => Err(SourceError::new(kind, format!("thrown: {kind}"))
                    .with_retry_after(Duration::from_millis(ms))),
                Step::Report(kind) => {
                    Ok(StreamEvent::Error(SourceError::new(kind, format!("reported: {kind}"))))
                }
                Step::Tool(name) => Ok(StreamEvent::tool_call("call_1", name, json!({"of": name}))),
                Step::Message(text) => Ok(StreamEvent::message("assistant", text)),
                Step::Data(value) => Ok(StreamEvent::Data(value)),
                Step::Progress(value) => Ok(StreamEvent::Progress(value)),
                Step::Reasoning(text) => Ok(StreamEvent::Reasoning(text.to_owned())),
                Step::Finish(reason) => Ok(StreamEvent::Finish(reason)),
                Step::Alive => Ok(StreamEvent::Alive),
                Step::Complete => Ok(StreamEvent::Complete),
                Step::Panic => panic!("the source is broken"),
                Step::Silence | Step::RefuseToOpen(_) | Step::PanicToOpen | Step::SlowToOpen(_) => continue,
            };
            return Poll::Ready(Some(item));
        }
    }
}
