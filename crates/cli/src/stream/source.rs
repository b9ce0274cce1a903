//! Streams that follow their scripts.

use std::collections::VecDeque;
use std::error::Error;
use std::future::{Future, pending};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use runstate_stream::{FinishReason, Opening, SourceError, StreamEvent};
use tokio::time::{Sleep, sleep};

use super::scenario::{Attempt, Failing, Source, Step};

/// The factory of a scripted stream, attempt by attempt.
pub(super) fn factory(
    source: Source,
) -> impl FnMut(Opening) -> Pin<Box<dyn Future<Output = Result<Scripted, SourceError>> + Send>> + Send + 'static
{
    move |opening| {
        let number = usize::try_from(opening.attempt.number()).unwrap_or(usize::MAX);
        let attempts = &source.attempts;
        let Attempt { open, script } =
            attempts.get(number - 1).or(attempts.last()).cloned().unwrap_or_default();
        if let Some(message) = open.panic {
            quiet_panic(message);
        }
        Box::pin(async move {
            if open.after_ms > 0 {
                sleep(Duration::from_millis(open.after_ms)).await;
            }
            if open.hang {
                pending::<()>().await;
            }
            match open.fail {
                Some(failing) => Err(failing.into()),
                None => {
                    Ok(Scripted { steps: script.into(), ready: VecDeque::new(), repeats: None, timer: None })
                }
            }
        })
    }
}

/// A panic that the session catches; the output of a panic hook would disturb the output of the scenario.
fn quiet_panic(message: String) -> ! {
    std::panic::resume_unwind(Box::new(message))
}

/// A stream that follows a script.
pub(super) struct Scripted {
    steps: VecDeque<Step>,
    /// The remaining tokens of one step.
    ready: VecDeque<String>,
    repeats: Option<(String, u32)>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Stream for Scripted {
    type Item = Result<StreamEvent, SourceError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(timer) = &mut self.timer {
                ready!(timer.as_mut().poll(cx));
                self.timer = None;
            }
            if let Some(token) = self.ready.pop_front() {
                return Poll::Ready(Some(Ok(StreamEvent::Token(token))));
            }
            if let Some((token, left)) = &mut self.repeats
                && *left > 0
            {
                *left -= 1;
                return Poll::Ready(Some(Ok(StreamEvent::token(token.as_str()))));
            }
            if matches!(self.steps.front(), Some(Step::Silence)) {
                return Poll::Pending;
            }
            let item = match self.steps.pop_front() {
                None | Some(Step::Cut) => {
                    self.steps.clear();
                    return Poll::Ready(None);
                }
                Some(Step::Token(text)) => Ok(StreamEvent::Token(text)),
                Some(Step::Tokens(tokens)) => {
                    self.ready = tokens.into();
                    continue;
                }
                Some(Step::Repeat(repeated)) => {
                    self.repeats = Some((repeated.token, repeated.times));
                    continue;
                }
                Some(Step::Wait(ms)) => {
                    self.timer = Some(Box::pin(sleep(Duration::from_millis(ms))));
                    continue;
                }
                Some(Step::Throw(failing)) => Err(failing.into()),
                Some(Step::Error(failing)) => Ok(StreamEvent::Error(failing.into())),
                Some(Step::Tool(tool)) => Ok(StreamEvent::tool_call(tool.id, tool.name, tool.args)),
                Some(Step::Reasoning(text)) => Ok(StreamEvent::Reasoning(text)),
                Some(Step::Alive) => Ok(StreamEvent::Alive),
                Some(Step::Finish(reason)) => Ok(StreamEvent::Finish(finish(&reason))),
                Some(Step::Message(said)) => Ok(StreamEvent::message(said.role, said.content)),
                Some(Step::Data(data)) => Ok(StreamEvent::Data(data)),
                Some(Step::Progress(progress)) => Ok(StreamEvent::Progress(progress)),
                Some(Step::Panic(message)) => quiet_panic(message),
                Some(Step::Complete) => Ok(StreamEvent::Complete),
                Some(Step::Silence) => continue,
            };
            return Poll::Ready(Some(item));
        }
    }
}

/// The reason of that word.
pub(super) fn finish(word: &str) -> FinishReason {
    use FinishReason::{ContentFilter, Length, Other, Stop, ToolCalls, Unknown};
    let known = [Stop, ToolCalls, Length, ContentFilter, Unknown];
    let known = known.into_iter().find(|known| known.to_string() == word);
    known.unwrap_or_else(|| Other(word.to_owned()))
}

impl From<Failing> for SourceError {
    fn from(failing: Failing) -> SourceError {
        let message = failing.message.unwrap_or_else(|| format!("scripted: {}", failing.kind));
        let mut error = SourceError::new(failing.kind, message);
        if let Some(ms) = failing.retry_after_ms {
            error = error.with_retry_after(Duration::from_millis(ms));
        }
        let chain =
            failing.causes.into_iter().rev().fold(None, |by, said| Some(Box::new(Because { said, by })));
        match chain {
            Some(because) => error.caused_by(because as Box<dyn Error + Send + Sync>),
            None => error,
        }
    }
}

/// A scripted cause.
#[derive(Debug, thiserror::Error)]
#[error("{said}")]
struct Because {
    said: String,
    #[source]
    by: Option<Box<Because>>,
}
