//! From events to a turn.

use super::super::depth::is_too_deep;
use super::arguments::read;
use super::error::AnswerError;
use super::model_event::ModelEvent;
use super::usage::Usage;
use crate::turn::{CallRequest, Extra, FinishReason, Turn};

/// What a model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Text and calls, the calls in the order of their numbers.
    pub turn: Turn,
    /// The tokens it took.
    pub usage: Usage,
    /// Why the model stopped.
    pub finish: FinishReason,
}

/// Adds up the events of one answer. See the [module](super) for an example.
#[derive(Debug, Default)]
pub struct TurnBuilder {
    text: String,
    /// By index: the next one is nearly always the last.
    calls: Vec<OpenCall>,
    extra: Extra,
    usage: Usage,
    stage: Stage,
}

#[derive(Debug, Default)]
enum Stage {
    #[default]
    Streaming,
    Finished(FinishReason),
    Failed,
}

#[derive(Debug)]
struct OpenCall {
    index: u32,
    id: String,
    tool: String,
    arguments: String,
    extra: Extra,
}

impl TurnBuilder {
    /// Nothing was said yet.
    pub fn new() -> Self {
        TurnBuilder::default()
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// [`AnswerError`], for the model's own error and for an event that cannot come here. There is no answer then: all that
    /// follows, [`finish`](TurnBuilder::finish) too, gives [`AnswerError::Failed`].
    pub fn push(&mut self, event: ModelEvent) -> Result<(), AnswerError> {
        let taken = self.take(event);
        if taken.is_err() {
            self.stage = Stage::Failed;
        }
        taken
    }

    fn take(&mut self, event: ModelEvent) -> Result<(), AnswerError> {
        match (&self.stage, event) {
            (Stage::Failed, _) => return Err(AnswerError::Failed),
            (Stage::Streaming | Stage::Finished(_), ModelEvent::Error(error)) => {
                return Err(AnswerError::Model(error));
            }
            (Stage::Streaming | Stage::Finished(_), ModelEvent::Usage(usage)) => self.usage += usage,
            (Stage::Finished(_), event) => return Err(AnswerError::AfterFinish { got: event.name() }),
            (Stage::Streaming, ModelEvent::Finish(reason)) => self.stage = Stage::Finished(reason),
            (Stage::Streaming, ModelEvent::Text(piece)) => append(&mut self.text, piece),
            (Stage::Streaming, ModelEvent::CallStart { index, id, tool }) => match self.place(index) {
                Ok(_) => return Err(AnswerError::CallTwice { index }),
                Err(place) => {
                    self.calls.insert(
                        place,
                        OpenCall { index, id, tool, arguments: String::new(), extra: Extra::default() },
                    );
                }
            },
            (Stage::Streaming, ModelEvent::Arguments { index, delta }) => match self.place(index) {
                Ok(place) => append(&mut self.calls[place].arguments, delta),
                Err(_) => return Err(AnswerError::NoSuchCall { index, calls: self.calls.len() }),
            },
            (Stage::Streaming, ModelEvent::Extra { index, extra }) => {
                if let Some((field, _)) = extra.fields().iter().find(|(_, value)| is_too_deep(value)) {
                    return Err(AnswerError::ExtraTooDeep { field: field.clone() });
                }
                match index.map(|index| (index, self.place(index))) {
                    None => self.extra.add(extra),
                    Some((_, Ok(place))) => self.calls[place].extra.add(extra),
                    Some((index, Err(_))) => {
                        return Err(AnswerError::NoSuchCall { index, calls: self.calls.len() });
                    }
                }
            }
        }
        Ok(())
    }

    fn place(&self, index: u32) -> Result<usize, usize> {
        self.calls.binary_search_by_key(&index, |call| call.index)
    }

    /// What was used so far, for an answer that does not come to its end: it was paid for too.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The answer, once the stream has ended.
    ///
    /// Arguments that cannot be read, because they are no JSON or nest deeper than 96 levels, do not fail the answer: the
    /// [`CallRequest`] says why in `unreadable` and has the raw text for arguments. No text at all is `{}`.
    ///
    /// # Errors
    /// [`AnswerError::Unfinished`] when there was no [`ModelEvent::Finish`]; [`AnswerError::Failed`] after an error.
    pub fn finish(self) -> Result<Answer, AnswerError> {
        let finish = match self.stage {
            Stage::Finished(reason) => reason,
            Stage::Failed => return Err(AnswerError::Failed),
            Stage::Streaming => {
                return Err(AnswerError::Unfinished { text_bytes: self.text.len(), calls: self.calls.len() });
            }
        };
        let calls = self.calls.into_iter().map(|call| {
            let (arguments, unreadable) = read(call.arguments);
            CallRequest { id: call.id, tool: call.tool, arguments, unreadable, extra: call.extra }
        });
        let turn = Turn { text: self.text, calls: calls.collect(), extra: self.extra };
        Ok(Answer { turn, usage: self.usage, finish })
    }
}

/// The first piece is the buffer of the rest.
fn append(buffer: &mut String, piece: String) {
    if buffer.is_empty() {
        *buffer = piece;
    } else {
        buffer.push_str(&piece);
    }
}
