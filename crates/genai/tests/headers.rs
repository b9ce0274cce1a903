//! Headers of requests.

use std::time::Duration;

use runstate_agent::InferenceRequest;
use runstate_genai::{ConfigError, Genai, GenaiModel, Provider};
use runstate_stream::{RetryPolicy, Session};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const KEY: &str = "sk-1234567890";
const SECRET: &str = "gateway-0987654321";

/// Asks a server whose failure repeats its request. Returns the headers of the request, and the message of the failure.
async fn refused(server: impl FnOnce(String) -> Genai) -> (String, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut got = Vec::new();
        while !got.windows(4).any(|part| part == b"\r\n\r\n") {
            assert!(socket.read_buf(&mut got).await.unwrap() > 0, "the request is whole");
        }
        let got = String::from_utf8_lossy(&got).into_owned();
        let head = got.split("\r\n\r\n").next().unwrap().to_owned();
        let body = serde_json::json!({ "error": { "message": format!("refused: {head}") } }).to_string();
        let answer = format!(
            "HTTP/1.1 400 X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        socket.write_all(answer.as_bytes()).await.unwrap();
        // The rest of the request is read, so that the system does not reset the connection.
        socket.shutdown().await.unwrap();
        while socket.read_buf(&mut Vec::new()).await.unwrap_or_default() > 0 {}
        head
    });
    let limit = Duration::from_secs(60);
    let model = GenaiModel::new(server(base).within(limit, limit), "m-1");
    let source = model.source(&InferenceRequest::of_message("r1", "hello"));
    let mut session = Session::builder("headers", source).retry(RetryPolicy::none()).build();
    let failure = session.run().await.unwrap_err().to_string();
    (served.await.unwrap(), failure)
}

#[tokio::test]
async fn headers_are_sent_and_their_values_withheld() {
    for (provider, of_key) in [
        (Provider::ANTHROPIC, format!("x-api-key: {KEY}")),
        (Provider::GEMINI, format!("x-goog-api-key: {KEY}")),
        (Provider::RESPONSES, format!("authorization: Bearer {KEY}")),
    ] {
        let server = |base: String| {
            let server = Genai::new(provider, &base).unwrap().with_key(KEY).unwrap();
            server.with_header("X-Gateway", SECRET).unwrap()
        };
        let (head, failure) = refused(server).await;
        let lines: Vec<&str> = head.lines().collect();
        assert!(lines.contains(&&*of_key), "{head}");
        assert!(lines.contains(&&*format!("x-gateway: {SECRET}")), "{head}");
        assert!(failure.contains("refused") && failure.contains("[key]"), "{failure}");
        assert!(!failure.contains(KEY) && !failure.contains(SECRET), "{failure}");
    }
}

#[tokio::test]
async fn header_replaces_the_one_of_the_key() {
    for (provider, name) in [
        (Provider::ANTHROPIC, "X-API-Key"),
        (Provider::GEMINI, "X-Goog-Api-Key"),
        (Provider::RESPONSES, "authorization"),
        (Provider::RESPONSES, "Authorization"),
    ] {
        let server = |base: String| Genai::new(provider, &base).unwrap().with_header(name, SECRET).unwrap();
        let (head, _) = refused(server).await;
        let is_named =
            |line: &&str| line.split(':').next().is_some_and(|line| line.eq_ignore_ascii_case(name));
        let sent: Vec<&str> = head.lines().filter(is_named).collect();
        assert_eq!(sent, [format!("{}: {SECRET}", name.to_ascii_lowercase())], "{head}");
    }
}

#[test]
fn header_of_no_form_is_refused_without_its_value() {
    let server = Genai::new(Provider::GEMINI, "https://models.example/v1").unwrap();
    for (name, value) in [("x y", SECRET), ("", SECRET), ("x", "gateway-0987654321\n")] {
        let error = server.clone().with_header(name, value).unwrap_err();
        assert!(matches!(error, ConfigError::Header { .. }), "{error}");
        assert!(!error.to_string().contains(SECRET), "{error}");
    }
    let shown = format!("{:?}", server.with_header("x", SECRET).unwrap());
    assert!(!shown.contains(SECRET), "{shown}");
}
