//! A model that follows a script.

use std::panic::resume_unwind;
use std::time::Duration;

use futures_util::stream::unfold;
use runstate_agent::answer::{FinishReason, ModelEvent};
use runstate_agent::{InferenceRequest, Model, ModelError, ModelStream};
use tokio::time::sleep;

use super::Cast;
use crate::file::{Ending, Turn};

/// Gives turn after turn: the step's number selects the turn, so that a resumed run continues at its place.
pub(super) struct Script {
    turns: Vec<Turn>,
    cast: Cast,
}

/// A piece of an answer, and the silence before it.
struct Piece {
    after_ms: u64,
    said: Said,
}

enum Said {
    Event(ModelEvent),
    Panic(String),
    Never,
}

impl Script {
    pub(super) fn new(turns: Vec<Turn>, cast: Cast) -> Self {
        Script { turns, cast }
    }

    fn pieces(&self, step: u32) -> Vec<Piece> {
        match self.turns.get((step as usize).wrapping_sub(1)) {
            Some(turn) => pieces(turn),
            None => {
                let have = self.turns.len();
                let why = format!("its script has {have} turns, and turn {step} was asked for");
                vec![Piece { after_ms: 0, said: Said::Event(ModelEvent::Error(ModelError::new(why))) }]
            }
        }
    }
}

impl Model for Script {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        if self.cast.gone.is() {
            return Box::pin(futures_util::stream::pending());
        }
        self.cast.requests.note(&request, self.cast.clock.now_ms());
        let pieces = self.pieces(request.step).into_iter();
        Box::pin(unfold(pieces, |mut pieces| async {
            let Piece { after_ms, said } = pieces.next()?;
            if after_ms > 0 {
                sleep(Duration::from_millis(after_ms)).await;
            }
            match said {
                Said::Event(event) => Some((event, pieces)),
                // Without the panic hook: a scripted panic must not appear on standard error.
                Said::Panic(message) => resume_unwind(Box::new(message)),
                Said::Never => std::future::pending().await,
            }
        }))
    }
}

fn pieces(turn: &Turn) -> Vec<Piece> {
    let mut said: Vec<Said> = Vec::new();
    let event = |event| Said::Event(event);
    for text in turn.text.iter().flat_map(|text| cut(text, turn.piece)) {
        said.push(event(ModelEvent::Text(text)));
    }
    for (index, call) in (0..).zip(&turn.calls) {
        said.push(event(ModelEvent::CallStart { index, id: call.id.clone(), tool: call.tool.clone() }));
        for delta in cut(&call.argument_text(), turn.piece) {
            said.push(event(ModelEvent::Arguments { index, delta }));
        }
    }
    said.extend(turn.usage.map(|usage| event(ModelEvent::Usage(usage))));
    match &turn.ends {
        Ending::Finish => {
            let by_calls = if turn.calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
            said.push(event(ModelEvent::Finish(turn.finish.clone().unwrap_or(by_calls))));
        }
        Ending::Cut => {}
        Ending::Error(why) => said.push(event(ModelEvent::Error(ModelError::new(why.clone())))),
        Ending::Panic(message) => said.push(Said::Panic(message.clone())),
        Ending::Never => said.push(Said::Never),
    }
    let pauses = turn.pauses_ms.iter().copied().chain(std::iter::repeat(0));
    let between = pauses.map(|pause_ms| turn.every_ms.saturating_add(pause_ms));
    let delays = std::iter::once(turn.after_ms).chain(between);
    delays.zip(said).map(|(after_ms, said)| Piece { after_ms, said }).collect()
}

/// The text in pieces of that many characters.
fn cut(text: &str, piece: Option<usize>) -> Vec<String> {
    let Some(piece) = piece else { return vec![text.to_owned()] };
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(piece.max(1)).map(|piece| piece.iter().collect()).collect()
}
