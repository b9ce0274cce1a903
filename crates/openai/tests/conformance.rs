//! The conformance suite of model adapters.

use std::time::Duration;

use futures_util::StreamExt;
use runstate_agent::InferenceRequest;
use runstate_agent::answer::Usage;
use runstate_agent_stream::conformance::{
    Answer, BEHAVIOURS, Connection, Part, Source, Wire, boxed, check_one,
};
use runstate_openai::{OpenAi, OpenAiModel, usage};
use runstate_stream::{SourceError, StreamEvent};
use serde_json::{Value, json};

struct Completions;

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    format!("data: {}\n\n", json!({ "id": "a1", "choices": [choice] }))
}

fn block(text: &str, signature: &str) -> Value {
    json!({ "type": "thinking", "thinking": text, "signature": signature })
}

impl Wire for Completions {
    fn events(&self, answer: &Answer) -> Vec<String> {
        let mut events = Vec::new();
        let mut index = 0;
        for part in &answer.parts {
            match part {
                Part::Text(pieces) => {
                    events.extend(pieces.iter().map(|piece| chunk(&json!({ "content": piece }), None)));
                }
                Part::Reasoning { text, signature } => {
                    events.push(chunk(&json!({ "thinking_blocks": [block(text, signature)] }), None));
                }
                Part::Call { id, tool, arguments } => {
                    let call = |call: Value| chunk(&json!({ "tool_calls": [call] }), None);
                    let id = if id.is_empty() { Value::Null } else { json!(id) };
                    events.push(call(json!({ "index": index, "id": id, "function": { "name": tool } })));
                    events.extend(
                        arguments
                            .iter()
                            .map(|piece| call(json!({ "index": index, "function": { "arguments": piece } }))),
                    );
                    index += 1;
                }
                _ => unreachable!("a part that the suite does not have yet"),
            }
        }
        if let Some(finish) = &answer.finish {
            events.push(chunk(&json!({}), Some(&finish.to_string())));
            let Usage { input_tokens, output_tokens } = answer.tokens();
            let usage = json!({ "prompt_tokens": input_tokens, "completion_tokens": output_tokens });
            events.push(format!("data: {}\n\n", json!({ "choices": [], "usage": usage })));
            events.push("data: [DONE]\n\n".to_owned());
        }
        events
    }

    fn error_event(&self, message: &str) -> String {
        format!("data: {}\n\n", json!({ "error": { "message": message, "type": "server_error" } }))
    }

    fn error_body(&self, _: u16, message: &str) -> String {
        json!({ "error": { "message": message } }).to_string()
    }

    fn source(&self, connection: &Connection, request: &InferenceRequest) -> Source {
        let server = OpenAi::new(&format!("{}/v1", connection.address)).unwrap();
        let server = server.with_key(connection.key).unwrap();
        let server = server.within(connection.silence, Duration::from_secs(3600));
        let mut request = request.clone();
        request.set_parameter("max_tokens", connection.output);
        boxed(OpenAiModel::new(server, "m").source(&request))
    }

    fn usage(&self, progress: &Value) -> Option<Usage> {
        usage(progress)
    }

    fn kept(&self, answer: &Answer) -> Vec<Value> {
        let blocks = answer.parts.iter().filter_map(|part| match part {
            Part::Reasoning { text, signature } => Some(block(text, signature)),
            _ => None,
        });
        vec![blocks.collect()]
    }
}

/// A wire with an adapter that ends each answer without a word.
struct Mute;

impl Wire for Mute {
    fn events(&self, answer: &Answer) -> Vec<String> {
        Completions.events(answer)
    }

    fn error_event(&self, message: &str) -> String {
        Completions.error_event(message)
    }

    fn error_body(&self, status: u16, message: &str) -> String {
        Completions.error_body(status, message)
    }

    fn source(&self, connection: &Connection, request: &InferenceRequest) -> Source {
        let mut open = Completions.source(connection, request);
        boxed(move |opening| {
            let opened = open(opening);
            async move {
                if let Ok(mut stream) = opened.await {
                    while stream.next().await.is_some() {}
                }
                Ok(futures_util::stream::iter([Ok::<_, SourceError>(StreamEvent::Complete)]))
            }
        })
    }

    fn usage(&self, progress: &Value) -> Option<Usage> {
        Completions.usage(progress)
    }

    fn kept(&self, answer: &Answer) -> Vec<Value> {
        Completions.kept(answer)
    }
}

#[test]
fn each_behaviour_finds_a_mute_adapter() {
    for behaviour in BEHAVIOURS {
        let found = std::panic::catch_unwind(|| check_one(behaviour.name, &Mute, &[])).is_err();
        assert!(found, "{behaviour:?} finds nothing");
    }
}

#[test]
#[should_panic(expected = "the adapter has the behaviour answer_is_read_whole now: remove it from `fails`")]
fn mended_behaviour_is_noticed() {
    check_one("answer_is_read_whole", &Completions, &["answer_is_read_whole"]);
}

#[test]
#[should_panic(expected = "there is no behaviour \"answer_is_green\"")]
fn behaviour_that_fails_must_exist() {
    check_one("answer_is_read_whole", &Completions, &["answer_is_green"]);
}

runstate_agent_stream::model_conformance!(Completions);
