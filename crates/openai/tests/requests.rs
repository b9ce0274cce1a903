//! What servers are asked.

use futures_util::StreamExt;
use runstate_openai::{Chat, ConfigError, OpenAi};
use serde_json::{Value, json};

use crate::server::{Act, Server, events_head, finish, send, text};

#[tokio::test]
async fn the_request_is_what_the_chat_says() {
    let server = Server::start(vec![vec![events_head(), send(finish("stop"))]]).await;
    let client = server.client().with_key("sk-1").unwrap();
    let chat = Chat::new("m")
        .system("Be brief.")
        .user("Hi")
        .tool("list", "Lists", json!({ "type": "object" }))
        .with("temperature", 0)
        .go_on_from("Hel");
    let _events: Vec<_> = client.stream(&chat).await.unwrap().collect().await;
    let request = server.requests().await.remove(0);
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("authorization: Bearer sk-1"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["messages"][0], json!({ "role": "system", "content": "Be brief." }));
    assert_eq!(body["messages"][2], json!({ "role": "assistant", "content": "Hel" }));
    assert_eq!(body["tools"][0]["function"]["name"], "list");
    assert_eq!(
        (&body["stream"], &body["temperature"], &body["model"]),
        (&json!(true), &json!(0), &json!("m"))
    );
}

#[tokio::test]
async fn a_stream_that_is_dropped_closes_its_connection() {
    let server = Server::start(vec![vec![events_head(), send(text("a")), Act::Hang]]).await;
    let mut stream = server.client().stream(&Chat::new("m")).await.unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    drop(stream);
    // The script ends when the client has gone.
    server.requests().await;
}

#[test]
fn an_address_or_a_key_that_is_none_is_refused() {
    for address in ["", "localhost:8080", "ftp://a/v1", "/v1", "http://", "http://a b/"] {
        assert!(matches!(OpenAi::new(address), Err(ConfigError::Address { .. })), "{address}");
    }
    let key = OpenAi::new("http://127.0.0.1/v1/").unwrap().with_key("sk-1\n").unwrap_err();
    assert!(key.to_string().contains("line break") && !key.to_string().contains("sk-1"));
    let client = OpenAi::new("http://127.0.0.1/v1/").unwrap().with_key("sk-1").unwrap();
    assert!(!format!("{client:?}").contains("sk-1"));
}
