//! The loop of an agent as one writes it by hand: strings, a map of statuses, no types, nothing durable.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::future::FutureExt;
use futures_util::stream::FuturesUnordered;
use runstate_agent::answer::ModelEvent;
use runstate_agent::{CancellationToken, ModelStream};
use serde_json::Value;

/// A message of the history.
#[derive(Debug, Clone)]
pub enum Message {
    /// What the user wrote.
    User(String),
    /// What the model answered.
    Assistant {
        /// Its text.
        text: String,
        /// Its calls.
        calls: Vec<Call>,
    },
    /// The result of a call.
    Tool {
        /// Its id.
        id: String,
        /// What came of it.
        output: Value,
    },
}

/// A call.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments.
    pub arguments: Value,
}

/// How a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It was seen.
    New,
    /// It executes.
    Running,
    /// It has a result.
    Succeeded,
}

/// Answers.
pub trait Model: Send + Sync {
    /// The answer of a step.
    fn infer(&self, step: u32, history: Arc<Vec<Message>>) -> ModelStream<'_>;
}

/// Can be called.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Executes.
    async fn call(&self, id: &str, arguments: &Value) -> Value;
}

/// Runs until an answer has no calls; gives the steps.
pub async fn run(
    model: &dyn Model,
    tools: &HashMap<String, Arc<dyn Tool>>,
    cancelled: &CancellationToken,
    all_at_once: bool,
) -> u32 {
    let mut history = Arc::new(vec![Message::User("go".to_owned())]);
    let mut statuses: HashMap<String, Status> = HashMap::new();
    let mut step = 0;
    loop {
        step += 1;
        let mut text = String::new();
        let mut calls: Vec<(u32, String, String, String)> = Vec::new();
        let mut finished = false;
        {
            let mut stream = model.infer(step, Arc::clone(&history));
            while let Some(event) = tokio::select! {
                biased;
                () = cancelled.cancelled() => return step,
                event = stream.next() => event,
            } {
                match event {
                    ModelEvent::Text(delta) => text.push_str(&delta),
                    ModelEvent::CallStart { index, id, tool } => calls.push((index, id, tool, String::new())),
                    ModelEvent::Arguments { index, delta } => {
                        if let Some(call) = calls.iter_mut().find(|call| call.0 == index) {
                            call.3.push_str(&delta);
                        }
                    }
                    ModelEvent::Finish(_) => finished = true,
                    _ => {}
                }
            }
        }
        assert!(finished);
        let calls: Vec<Call> = calls
            .into_iter()
            .map(|(_, id, name, arguments)| Call {
                id,
                name,
                arguments: serde_json::from_str(&arguments).unwrap_or_default(),
            })
            .collect();
        Arc::make_mut(&mut history).push(Message::Assistant { text, calls: calls.clone() });
        if calls.is_empty() {
            return step;
        }
        for call in &calls {
            statuses.insert(call.id.clone(), Status::New);
        }
        let mut results: Vec<Option<Value>> = vec![None; calls.len()];
        let start = |ordinal: usize, call: &Call| {
            let tool = Arc::clone(&tools[&call.name]);
            let (id, arguments) = (call.id.clone(), call.arguments.clone());
            let called = async move {
                let value = std::panic::AssertUnwindSafe(tool.call(&id, &arguments)).catch_unwind().await;
                (ordinal, value.unwrap_or_default())
            };
            called.boxed()
        };
        let mut executing = FuturesUnordered::new();
        let mut next = 0;
        let at_once = if all_at_once { calls.len() } else { 1 };
        loop {
            while next < calls.len() && executing.len() < at_once {
                if let Some(status) = statuses.get_mut(&calls[next].id) {
                    *status = Status::Running;
                }
                executing.push(start(next, &calls[next]));
                next += 1;
            }
            let done = tokio::select! {
                biased;
                () = cancelled.cancelled() => return step,
                done = executing.next() => done,
            };
            let Some((ordinal, value)) = done else { break };
            if let Some(status) = statuses.get_mut(&calls[ordinal].id) {
                *status = Status::Succeeded;
            }
            results[ordinal] = Some(value);
        }
        for (call, result) in calls.into_iter().zip(results) {
            let output = result.unwrap_or_default();
            Arc::make_mut(&mut history).push(Message::Tool { id: call.id, output });
        }
    }
}
