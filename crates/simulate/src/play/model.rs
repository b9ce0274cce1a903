//! A model that gives the answers of the case.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use runstate_agent::answer::{FinishReason, ModelEvent, Usage};
use runstate_agent::{InferenceRequest, Message, Model, ModelError, ModelStream};
use serde_json::{Map, Value};

use super::log::What;
use super::world::World;
use crate::case::{Answer, Call, Fault};

pub(super) struct Scripted(pub(super) Arc<World>);

impl Model for Scripted {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        let kept = self.0.durable();
        let stored = request.history.iter().filter(|message| !matches!(message, Message::Open(_))).count();
        let durable = !kept.kept || stored <= kept.messages;
        self.0.note(What::Asked { step: request.step, history: request.history.clone(), durable });
        let answer = self.0.case.answers.get(request.step as usize - 1);
        let pieces = pieces(request.step, answer);
        let delay = Duration::from_millis(answer.map_or(1, |answer| answer.delay_ms));
        Box::pin(stream::iter(pieces).enumerate().then(move |(place, piece)| async move {
            if place < 2 {
                tokio::time::sleep(delay).await;
            }
            match piece {
                Some(piece) => piece,
                None => std::panic::resume_unwind(Box::new("the model fell over".to_owned())),
            }
        }))
    }
}

/// The pieces of the answer; `None` for a panic.
fn pieces(step: u32, answer: Option<&Answer>) -> Vec<Option<ModelEvent>> {
    let mut pieces = vec![Some(ModelEvent::Text(format!("step {step}")))];
    let Some(answer) = answer else {
        pieces.push(Some(ModelEvent::Finish(FinishReason::Stop)));
        return pieces;
    };
    for (index, call) in (0..).zip(&answer.calls) {
        let (id, tool) = (call.id.clone(), call.tool.name().to_owned());
        pieces.push(Some(ModelEvent::CallStart { index, id, tool }));
        pieces.push(Some(ModelEvent::Arguments { index, delta: arguments(step, index, call) }));
    }
    let tokens = Usage { input_tokens: answer.tokens / 2, output_tokens: answer.tokens - answer.tokens / 2 };
    pieces.push(Some(ModelEvent::Usage(tokens)));
    pieces.extend(match answer.fault {
        None => Some(Some(ModelEvent::Finish(FinishReason::ToolCalls))),
        Some(Fault::Error) => Some(Some(ModelEvent::Error(ModelError::new("no capacity")))),
        Some(Fault::Unfinished) => None,
        Some(Fault::Panic) => Some(None),
    });
    pieces
}

fn arguments(step: u32, ordinal: u32, call: &Call) -> String {
    match model_says(step, ordinal, call) {
        Ok(arguments) => Value::Object(arguments).to_string(),
        Err(garbled) => garbled,
    }
}

/// The arguments of a call as the model sends them; an error for text that is no JSON.
pub fn model_says(step: u32, ordinal: u32, call: &Call) -> Result<Map<String, Value>, String> {
    if call.garbled {
        return Err("{\"n\":".to_owned());
    }
    // Calls of `read` repeat, so that the detection of loops finds some.
    let n = if call.tool.is_repeatable() { 1 } else { step * 10 + ordinal };
    let field = if call.unfit { "m" } else { "n" };
    Ok(Map::from_iter([(field.to_owned(), n.into())]))
}
