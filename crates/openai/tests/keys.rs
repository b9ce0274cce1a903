//! Keys that a server repeats in pieces.

use runstate_openai::Chat;
use serde_json::{Value, json};

use crate::server::{Server, answer_to, chunk, events_head, finish, send};

const KEY: &str = "sk-abc/7c1d0a99";
/// The pieces of the key. The slash has an escape.
const PIECES: [&str; 2] = ["a sk-abc\\/7c", "1d0a99!"];

/// The events and the failure of an answer with these deltas, as a text.
async fn shown(deltas: &[String]) -> String {
    let mut acts = vec![events_head()];
    acts.extend(deltas.iter().map(|delta| send(chunk(&format!("{{\"index\":0,\"delta\":{delta}}}")))));
    acts.push(send(finish("stop")));
    let server = Server::start(vec![acts]).await;
    let client = server.client().with_key(KEY).unwrap();
    let chat = Chat::new("m").user("hello").keep("thinking_blocks").keep("reasoning_content");
    let (events, failure) = answer_to(&client, chat).await;
    format!("{events:?} {failure:?}")
}

fn deltas(of: impl Fn(&str) -> String) -> Vec<String> {
    PIECES.map(of).into()
}

#[tokio::test]
async fn key_in_joined_texts_is_withheld() {
    let block =
        |piece: &str| format!(r#"{{"thinking_blocks":[{{"type":"thinking","thinking":"{piece}"}}]}}"#);
    for deltas in [
        deltas(block),
        deltas(|piece| format!(r#"{{"reasoning_content":"{piece}"}}"#)),
        deltas(|piece| format!(r#"{{"refusal":"{piece}"}}"#)),
        deltas(|piece| format!(r#"{{"content":"{piece}"}}"#)),
    ] {
        let shown = shown(&deltas).await;
        assert!(shown.contains("[key]!"), "{shown}");
        assert!(!shown.contains("1d0a99"), "{shown}");
    }
}

#[tokio::test]
async fn key_in_signed_thinking_fails_the_answer() {
    let mut signed =
        deltas(|piece| format!(r#"{{"thinking_blocks":[{{"type":"thinking","thinking":"{piece}"}}]}}"#));
    let signature: Value = json!({ "thinking_blocks": [{ "type": "thinking", "signature": "EqoB" }] });
    signed.push(signature.to_string());
    let shown = shown(&signed).await;
    assert!(shown.contains("in signed data"), "{shown}");
    assert!(!shown.contains("1d0a99") && !shown.contains("Complete"), "{shown}");
}
