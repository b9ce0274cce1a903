//! Assembly of an answer from its events.

use runstate::turn::{CallRequest, Extra, FinishReason, Turn};

use super::super::depth::is_too_deep;
use super::arguments::read;
use super::error::AnswerError;
use super::model_event::ModelEvent;
use super::usage::Usage;

/// The answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The text and the calls. The calls are in the order of their indexes.
    pub turn: Turn,
    /// The tokens that the answer used.
    pub usage: Usage,
    /// The reason why the model stopped.
    pub finish: FinishReason,
}

/// Assembler of the events of one answer. See the [module](super) for an example.
#[derive(Debug, Default)]
pub struct TurnBuilder {
    text: String,
    /// Sorted by index. The next event nearly always belongs to the last call.
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
    /// Creates a builder for an answer without any events yet.
    pub fn new() -> Self {
        TurnBuilder::default()
    }

    /// Adds the next event.
    ///
    /// # Errors
    /// [`AnswerError`], for an error of the model and for an event that is not allowed at this point. The answer is
    /// lost then: every later call, [`finish`](TurnBuilder::finish) included, returns [`AnswerError::Failed`].
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

    /// The usage up to now. An answer that never completes has used tokens as well.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns the answer, once the stream has ended.
    ///
    /// Unreadable arguments do not fail the answer. Arguments are unreadable if they are not JSON or nest deeper than
    /// 96 levels. The [`CallRequest`] then has the reason in `unreadable` and the raw text as its arguments. An empty
    /// argument text is read as `{}`.
    ///
    /// # Errors
    /// [`AnswerError::Unfinished`] without a [`ModelEvent::Finish`]; [`AnswerError::Failed`] after an error.
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

/// Appends a piece. The first piece becomes the buffer, without a copy.
fn append(buffer: &mut String, piece: String) {
    if buffer.is_empty() {
        *buffer = piece;
    } else {
        buffer.push_str(&piece);
    }
}
