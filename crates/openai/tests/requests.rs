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

/// A deployment of Azure, an organisation, a router.
#[tokio::test]
async fn headers_and_a_query_of_the_base_are_sent() {
    let server = Server::start(vec![vec![events_head(), send(finish("stop"))]]).await;
    let base = server.base.replace("/v1", "/openai/deployments/gpt/?api-version=2024-10-21");
    let client = OpenAi::new(&base).unwrap().with_header("api-key", "s3").unwrap();
    let client = client.with_header("OpenAI-Organization", "org-1").unwrap();
    assert!(!format!("{client:?}").contains("s3"));
    let _events: Vec<_> = client.stream(&Chat::new("m")).await.unwrap().collect().await;
    let head = server.requests().await.remove(0);
    assert!(
        head.starts_with("POST /openai/deployments/gpt/chat/completions?api-version=2024-10-21 HTTP/1.1\r\n"),
        "{head}"
    );
    for header in ["api-key: s3\r\n", "openai-organization: org-1\r\n", "accept-encoding: identity\r\n"] {
        assert!(head.contains(header), "{head}");
    }
    let wrong = client.with_header("x", "line\nbreak").unwrap_err();
    assert!(
        matches!(wrong, ConfigError::Header { .. }) && !wrong.to_string().contains("line\nbreak"),
        "{wrong}"
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

/// Some servers take a key in the address.
#[tokio::test]
async fn no_failure_tells_a_key_of_the_address() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    drop(listener);
    let client = OpenAi::new(&format!("http://ada:pa55@{at}/v1?key=s3cret")).unwrap();
    let refused = OpenAi::new("ftp://ada:pa55@host/v1?key=s3cret").unwrap_err();
    let Err(failure) = client.stream(&Chat::new("m")).await else { panic!("nothing listens there") };
    assert!(
        failure
            .message()
            .contains(&format!("http://{at}/v1/chat/completions cannot be asked: Connection refused")),
        "{failure}"
    );
    let odd = ["ftp://ada:pa55/x@host", "ftp://ada:pa55?x@host", "ftp://host?key=s3cret@x"]
        .map(|address| OpenAi::new(address).unwrap_err().to_string());
    for said in [format!("{client:?} {failure} {failure:?}"), format!("{refused} {refused:?}"), odd.concat()]
    {
        assert!(!said.contains("s3cret") && !said.contains("pa55"), "{said}");
    }
}

#[test]
fn an_address_or_a_key_that_is_none_is_refused() {
    for address in ["", "localhost:8080", "ftp://a/v1", "http://a/v1#x", "/v1", "http://", "http://a b/"] {
        assert!(matches!(OpenAi::new(address), Err(ConfigError::Address { .. })), "{address}");
    }
    let key = OpenAi::new("http://127.0.0.1/v1/").unwrap().with_key("sk-1\n").unwrap_err();
    assert!(key.to_string().contains("line break") && !key.to_string().contains("sk-1"));
    let client = OpenAi::new("http://127.0.0.1/v1/").unwrap().with_key("sk-1").unwrap();
    assert!(!format!("{client:?}").contains("sk-1"));
}
