//! Thinking that servers give in parts: LiteLLM in blocks beside the content, Mistral within it.

use runstate_agent::answer::Usage;

use runstate::turn::Turn;
use runstate_agent::{
    Agent, Input, PhaseContext, Plugin, PluginError, RunHandles, RunState, StoredRun, async_trait, run_loop,
};
use runstate_agent_stream::SessionModel;
use runstate_openai::{Chat, OpenAiModel};
use runstate_stream::{Session, StreamEvent};
use serde_json::{Value, json};

use crate::server::{Act, Server, answer, answer_to, chunk, events_head, finish, send, text};

fn delta(delta: &Value) -> Act {
    send(chunk(&json!({ "index": 0, "delta": delta }).to_string()))
}

fn block(text: &str, signature: &Value) -> Act {
    let block = json!({ "type": "thinking", "thinking": text, "signature": signature });
    delta(&json!({ "content": "", "reasoning_content": text, "thinking_blocks": [block] }))
}

fn call() -> Act {
    let function = json!({ "name": "read", "arguments": "{}" });
    delta(&json!({ "tool_calls": [{ "index": 0, "id": "c", "function": function }] }))
}

/// An answer that is not streamed.
fn whole(message: &Value) -> Vec<Act> {
    let body = json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "tool_calls" }] });
    let body = body.to_string();
    let length = body.len();
    vec![send(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    ))]
}

fn done() -> Vec<Act> {
    vec![events_head(), send(text("done")), send(finish("stop"))]
}

/// The blocks of an answer with a thought, an encrypted one and another thought.
fn blocks() -> Value {
    json!([
        { "type": "thinking", "thinking": "I must read. Then I see.", "signature": "EqoBCkg=" },
        { "type": "redacted_thinking", "data": "EmwKAhgB" },
        { "type": "thinking", "thinking": "Read it is.", "signature": "EpgBCkg=" },
    ])
}

/// The same as LiteLLM streams it: text, then a signature without text, then the next block.
fn streamed_blocks() -> Vec<Act> {
    let redacted = json!([{ "type": "redacted_thinking", "data": "EmwKAhgB" }]);
    vec![
        events_head(),
        block("I must read. ", &Value::Null),
        block("Then I see.", &json!("")),
        block("", &json!("EqoBCkg=")),
        delta(&json!({ "thinking_blocks": redacted, "reasoning_content": "" })),
        block("Read ", &Value::Null),
        block("it is.", &Value::Null),
        block("", &json!("EpgBCkg=")),
        delta(&json!({ "content": "I read." })),
        call(),
        send(finish("tool_calls")),
    ]
}

/// The parts of Mistral's content.
fn parts() -> Value {
    json!([
        { "type": "thinking", "thinking": [{ "type": "text", "text": "I must read. Then I see." }], "closed": true },
        { "type": "text", "text": "I read." },
    ])
}

/// The same as Mistral streams it: lists while it thinks, and texts behind them.
fn streamed_parts() -> Vec<Act> {
    let thought = |text: &str, more: &Value| {
        let mut part = json!({ "type": "thinking", "thinking": [{ "type": "text", "text": text }] });
        if !more.is_null() {
            part["closed"] = more.clone();
        }
        delta(&json!({ "content": [part] }))
    };
    vec![
        events_head(),
        delta(&json!({ "role": "assistant", "content": "" })),
        thought("I must read. ", &Value::Null),
        thought("Then I see.", &json!(true)),
        delta(&json!({ "content": [{ "type": "text", "text": "I " }] })),
        delta(&json!({ "content": "read." })),
        call(),
        send(finish("tool_calls")),
    ]
}

fn thoughts(events: &[StreamEvent]) -> String {
    let thoughts = events.iter().filter_map(|event| match event {
        StreamEvent::Reasoning(text) => Some(text.as_str()),
        _ => None,
    });
    thoughts.collect()
}

fn output(events: &[StreamEvent]) -> String {
    let tokens = events.iter().filter_map(|event| match event {
        StreamEvent::Token(text) => Some(text.as_str()),
        _ => None,
    });
    tokens.collect()
}

fn kept(events: &[StreamEvent], field: &str) -> Vec<Value> {
    let extra = events.iter().filter_map(|event| match event {
        StreamEvent::Extra(extra) => extra.fields().get(field).cloned(),
        _ => None,
    });
    extra.collect()
}

async fn events_of(script: Vec<Act>) -> Vec<StreamEvent> {
    let server = Server::start(vec![script]).await;
    let chat = Chat::new("m").user("go").keep("thinking_blocks").keep("content");
    answer(answer_to(&server.client(), chat).await)
}

/// The assistant's message in the second request of a run.
fn assistant(requests: Vec<String>) -> Value {
    let body: Value = serde_json::from_str(requests[1].split_once("\r\n\r\n").unwrap().1).unwrap();
    body["messages"][1].clone()
}

async fn sent_back(script: Vec<Act>, in_session: bool) -> (Value, RunState) {
    let server = Server::start(vec![script, done()]).await;
    let asked = OpenAiModel::new(server.client(), "m");
    let mut state = RunState::new("r1");
    let builder = if in_session {
        Agent::builder(SessionModel::new(move |request| Session::builder("stream_1", asked.source(request))))
    } else {
        Agent::builder(asked)
    };
    run_loop(&builder.build().unwrap(), &mut state, Input::message("go"), RunHandles::new()).await.unwrap();
    (assistant(server.requests().await), state)
}

#[tokio::test]
async fn blocks_of_thinking_are_reasoning_told_once() {
    let message = json!({
        "content": "I read.", "reasoning_content": "I must read. Then I see.Read it is.", "thinking_blocks": blocks()
    });
    for (name, script) in [("streamed", streamed_blocks()), ("whole", whole(&message))] {
        let events = events_of(script).await;
        assert_eq!(thoughts(&events), "I must read. Then I see.Read it is.", "{name}");
        assert_eq!(output(&events), "I read.", "{name}");
        assert_eq!(kept(&events, "thinking_blocks"), [blocks()], "{name}");
        assert_eq!(kept(&events, "content"), Vec::<Value>::new(), "{name}");
    }
}

/// Some servers give the blocks alone, and some give all of them again at the end.
#[tokio::test]
async fn blocks_are_reasoning_without_a_field_of_its_own() {
    let events = events_of(whole(&json!({ "content": "I read.", "thinking_blocks": blocks() }))).await;
    assert_eq!(thoughts(&events), "I must read. Then I see.Read it is.");
    let field = delta(&json!({ "reasoning_content": "I must read. Then I see.Read it is." }));
    let late = delta(&json!({ "thinking_blocks": blocks() }));
    let events =
        events_of(vec![events_head(), field, late, send(text("I read.")), send(finish("stop"))]).await;
    assert_eq!(thoughts(&events), "I must read. Then I see.Read it is.");
    assert_eq!(kept(&events, "thinking_blocks"), [blocks()]);
}

/// A signature may come behind the text, and one without text is a block of its own.
#[tokio::test]
async fn a_signature_belongs_to_its_block() {
    let script = vec![
        events_head(),
        block("first", &Value::Null),
        send(text("between")),
        block("", &json!("S1")),
        block("", &json!("S2")),
        block("unsigned", &Value::Null),
        send(text("between")),
        block("last", &json!("S3")),
        send(finish("stop")),
    ];
    let of = |text: &str, signature: Value| json!({ "type": "thinking", "thinking": text, "signature": signature });
    let expected = json!([
        of("first", json!("S1")),
        of("", json!("S2")),
        of("unsigned", Value::Null),
        of("last", json!("S3"))
    ]);
    assert_eq!(kept(&events_of(script).await, "thinking_blocks"), [expected]);
}

#[tokio::test]
async fn blocks_of_thinking_are_sent_back_as_they_came() {
    let message = json!({
        "content": "I read.", "reasoning_content": "…", "thinking_blocks": blocks(),
        "tool_calls": [{ "id": "c", "type": "function", "function": { "name": "read", "arguments": "{}" } }]
    });
    for script in [streamed_blocks(), whole(&message)] {
        for in_session in [false, true] {
            let (sent, state) = sent_back(script.clone(), in_session).await;
            assert_eq!(sent["thinking_blocks"], blocks());
            assert_eq!((&sent["content"], sent.get("reasoning_content")), (&json!("I read."), None));
            // Storage keeps them.
            let stored = StoredRun::of(&state).unwrap().to_json();
            let restored = StoredRun::from_json(stored.as_bytes()).unwrap().restore().unwrap();
            let Some(runstate_agent::Message::Assistant(turn)) = restored.history().get(1) else { panic!() };
            assert_eq!(turn.extra.fields()["thinking_blocks"], blocks());
        }
    }
}

#[tokio::test]
async fn thinking_parts_are_reasoning_and_text_parts_are_output() {
    for (name, script) in [("streamed", streamed_parts()), ("whole", whole(&json!({ "content": parts() })))] {
        let events = events_of(script).await;
        assert_eq!(thoughts(&events), "I must read. Then I see.", "{name}");
        assert_eq!(output(&events), "I read.", "{name}");
        assert_eq!(kept(&events, "content"), [parts()], "{name}");
    }
    // Texts alone are a text.
    let texts = json!({ "content": [{ "type": "text", "text": "I " }, { "type": "text", "text": "read." }] });
    let events = events_of(whole(&texts)).await;
    assert_eq!((output(&events).as_str(), kept(&events, "content").len()), ("I read.", 0));
}

#[tokio::test]
async fn a_content_of_parts_is_sent_back_as_it_came() {
    let message = json!({
        "content": parts(),
        "tool_calls": [{ "id": "c", "type": "function", "function": { "name": "read", "arguments": "{}" } }]
    });
    for script in [streamed_parts(), whole(&message)] {
        for in_session in [false, true] {
            let (sent, state) = sent_back(script.clone(), in_session).await;
            assert_eq!((&sent["content"], &sent["tool_calls"][0]["id"]), (&parts(), &json!("c")));
            let Some(runstate_agent::Message::Assistant(turn)) = state.history().get(1) else { panic!() };
            assert_eq!(turn.text, "I read.", "the thinking is no output");
        }
    }
}

/// Says less than the model did.
struct Shorter;

#[async_trait]
impl Plugin for Shorter {
    fn name(&self) -> &'static str {
        "shorter"
    }

    async fn after_inference(
        &self,
        _: &mut PhaseContext<'_>,
        turn: &mut Turn,
        _: &Usage,
    ) -> Result<(), PluginError> {
        turn.text.truncate(1);
        Ok(())
    }
}

#[tokio::test]
async fn a_text_that_was_changed_stands_behind_the_thinking() {
    let server = Server::start(vec![streamed_parts(), done()]).await;
    let agent = Agent::builder(OpenAiModel::new(server.client(), "m")).plugin(Shorter).build().unwrap();
    let mut state = RunState::new("r1");
    run_loop(&agent, &mut state, Input::message("go"), RunHandles::new()).await.unwrap();
    let sent = assistant(server.requests().await);
    assert_eq!(sent["content"], json!([parts()[0], { "type": "text", "text": "I" }]));
}

#[tokio::test]
async fn blocks_without_an_end_are_given_up() {
    let piece = block(&"9".repeat(64 << 10), &Value::Null);
    let chat = || Chat::new("m").user("go").keep("thinking_blocks");
    // A signature of its own for each block, so that no text is counted.
    let signed = block("", &json!("9".repeat(64 << 10)));
    for (name, piece) in [("text", piece), ("signatures", signed)] {
        let script = [vec![events_head()], vec![piece; 130], vec![send(finish("stop"))]].concat();
        let server = Server::start(vec![script]).await;
        let (_, failure) = answer_to(&server.client(), chat()).await;
        assert!(failure.unwrap().message().contains("longer than 8388608 bytes"), "{name}");
    }
}
