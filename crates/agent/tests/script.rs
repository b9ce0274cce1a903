//! A model that answers as its script says, piece by piece.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream;
use runstate::turn::{CallRequest, Turn};
use runstate_agent::answer::{FinishReason, ModelEvent, Usage};
use runstate_agent::{History, InferenceRequest, Message, Model, ModelError, ModelStream, ResultContent};
use serde_json::{Map, Value, json};

/// A piece of an answer, or what happens instead of one.
#[derive(Debug, Clone)]
pub enum Bit {
    Text(String),
    Call(u32, String, String),
    Arguments(u32, String),
    Usage(u64),
    Finish,
    Fail(&'static str),
    Panic(&'static str),
    /// Nothing for so many milliseconds.
    Sleep(u64),
    /// Nothing ever again.
    Hang,
}

/// The pieces of an answer: each text and each call's arguments in two.
pub fn bits(turn: &Turn) -> Vec<Bit> {
    let mut bits = Vec::new();
    if !turn.text.is_empty() {
        let (one, two) = turn.text.split_at(turn.text.len() / 2);
        bits.extend([Bit::Text(one.into()), Bit::Text(two.into())]);
    }
    for (index, call) in (0..).zip(&turn.calls) {
        let text = call.arguments.to_string();
        let (one, two) = text.split_at(1);
        bits.push(Bit::Call(index, call.id.clone(), call.tool.clone()));
        bits.extend([Bit::Arguments(index, one.into()), Bit::Arguments(index, two.into())]);
    }
    bits.push(Bit::Finish);
    bits
}

/// What a request had beside the history.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub step: u32,
    pub system: Option<String>,
    pub tools: Vec<String>,
    pub parameters: Map<String, Value>,
}

#[derive(Default)]
struct Inner {
    answers: Vec<Vec<Bit>>,
    /// What it read, step by step.
    seen: Vec<Vec<String>>,
    asked: Vec<Asked>,
    kept: Option<Vec<History>>,
}

/// Answers step by step; `done` once the script is over. What it reads is checked each time.
#[derive(Clone, Default)]
pub struct Script(Arc<Mutex<Inner>>);

impl Script {
    pub fn new(answers: Vec<Vec<Bit>>) -> Self {
        Script(Arc::new(Mutex::new(Inner { answers, ..Inner::default() })))
    }

    pub fn seen(&self) -> Vec<Vec<String>> {
        self.0.lock().unwrap().seen.clone()
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.0.lock().unwrap().asked.clone()
    }

    /// From now on the histories of requests are kept.
    pub fn keep(&self) {
        self.0.lock().unwrap().kept = Some(Vec::new());
    }

    pub fn kept(&self) -> Vec<History> {
        self.0.lock().unwrap().kept.clone().unwrap_or_default()
    }
}

impl Model for Script {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        assert_ready_for_the_model(&request.history);
        let mut inner = self.0.lock().unwrap();
        inner.seen.push(request.history.iter().map(written).collect());
        inner.asked.push(Asked {
            step: request.step,
            system: request.system.as_deref().map(str::to_owned),
            tools: request.tools.iter().map(|tool| tool.name().to_owned()).collect(),
            parameters: (*request.parameters).clone(),
        });
        if let Some(kept) = &mut inner.kept {
            kept.push(request.history);
        }
        let answer = inner.answers.get(request.step as usize - 1).cloned();
        let answer = answer.unwrap_or_else(|| vec![Bit::Finish]);
        drop(inner);
        Box::pin(stream::unfold(answer.into_iter(), |mut bits| async move {
            loop {
                let event = match bits.next()? {
                    Bit::Text(text) => ModelEvent::Text(text),
                    Bit::Call(index, id, tool) => ModelEvent::CallStart { index, id, tool },
                    Bit::Arguments(index, delta) => ModelEvent::Arguments { index, delta },
                    Bit::Usage(tokens) => ModelEvent::Usage(Usage { input_tokens: tokens, output_tokens: 0 }),
                    Bit::Finish => ModelEvent::Finish(FinishReason::Stop),
                    Bit::Fail(why) => ModelEvent::Error(ModelError::new(why)),
                    Bit::Panic(what) => std::panic::resume_unwind(Box::new(what)),
                    Bit::Sleep(ms) => {
                        tokio::time::sleep(Duration::from_millis(ms)).await;
                        continue;
                    }
                    Bit::Hang => std::future::pending().await,
                };
                return Some((event, bits));
            }
        }))
    }
}

/// Exactly one result, or a placeholder for one, behind each answer for each of its calls, in their order.
pub fn assert_ready_for_the_model(history: &History) {
    let mut owed = std::collections::VecDeque::new();
    for message in history.iter() {
        match message {
            Message::User(_) => assert_eq!(owed, [""; 0], "results are missing before the user's message"),
            Message::Assistant(turn) => {
                assert_eq!(owed, [""; 0], "results are missing before the next answer");
                owed.extend(turn.calls.iter().map(|call| call.id.as_str()));
            }
            Message::Result(result) => {
                assert_eq!(owed.pop_front(), Some(&*result.id), "a result that no call asked for");
            }
            Message::Open(open) => {
                assert_eq!(owed.pop_front(), Some(open.id()), "a placeholder that no call asked for");
            }
        }
    }
    assert_eq!(owed, [""; 0], "results are missing at the end");
}

/// A message in a few words.
pub fn written(message: &Message) -> String {
    match message {
        Message::User(text) => format!("user: {text}"),
        Message::Assistant(turn) => {
            let calls: Vec<_> = turn.calls.iter().map(|call| format!("{} {}", call.tool, call.id)).collect();
            format!("assistant: {}[{}]", turn.text, calls.join(", "))
        }
        Message::Result(result) => match &result.content {
            ResultContent::Output { value, warning: None } => format!("{}: {value}", result.id),
            ResultContent::Output { value, warning: Some(warning) } => {
                format!("{}: {value} ({warning})", result.id)
            }
            ResultContent::Error(error) => format!("{}: error: {error}", result.id),
        },
        Message::Open(open) => format!("{}: open: {}", open.id(), open.why()),
    }
}

/// An answer that asks for these calls, each an id and a tool.
pub fn turn(calls: &[(&str, &str)]) -> Turn {
    asks(calls.iter().map(|(id, tool)| CallRequest::new(*id, *tool, json!({ "for": id }))))
}

/// An answer that asks for these calls.
pub fn asks(calls: impl IntoIterator<Item = CallRequest>) -> Turn {
    Turn { text: String::new(), calls: calls.into_iter().collect(), ..Turn::default() }
}
