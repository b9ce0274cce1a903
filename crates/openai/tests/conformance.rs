//! The conformance suite of model adapters.

use std::time::Duration;

use runstate_agent::InferenceRequest;
use runstate_agent::answer::{FinishReason, Usage};
use runstate_agent_stream::conformance::{Answer, Connection, Part, Source, Wire, boxed};
use runstate_openai::{OpenAi, OpenAiModel, usage};
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

#[test]
fn finish_reasons_are_those_of_the_wire() {
    let all =
        [FinishReason::Stop, FinishReason::ToolCalls, FinishReason::Length, FinishReason::ContentFilter];
    let words = all.map(|reason| reason.to_string());
    assert_eq!(words, ["stop", "tool_calls", "length", "content_filter"]);
}

runstate_agent_stream::model_conformance!(Completions);
