//! Failures, each with its kind.

use std::time::Duration;

use futures_util::StreamExt;
use runstate_openai::{Chat, OpenAi};
use runstate_stream::{ErrorKind, StreamEvent};

use crate::server::{Act, Server, ask, chunk, events_head, finish, of, send, text, tokens};

fn refusal(status: &str, headers: &str, body: &str) -> Vec<Act> {
    let length = body.len();
    vec![send(format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    ))]
}

#[tokio::test]
async fn a_status_says_what_kind_of_failure_it_is() {
    use ErrorKind::*;
    let cases = [
        ("400 Bad Request", r#"{"error":{"message":"no such model","type":"invalid_request_error"}}"#, Fatal),
        ("401 Unauthorized", r#"{"error":{"message":"wrong key","code":"invalid_api_key"}}"#, Fatal),
        ("404 Not Found", "not JSON", Fatal),
        ("301 Moved", "", Fatal),
        ("408 Request Timeout", "", Transient),
        (
            "429 Too Many Requests",
            r#"{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}"#,
            RateLimit,
        ),
        (
            "429 Too Many Requests",
            r#"{"error":{"message":"no money","type":"insufficient_quota","code":"insufficient_quota"}}"#,
            Fatal,
        ),
        ("400 Bad Request", r#"{"error":{"message":"filtered","code":"content_filter"}}"#, Model),
        ("500 Internal Server Error", r#"{"error":{"message":"oh","type":"server_error"}}"#, ServerError),
        ("503 Service Unavailable", r#"{"error":"overloaded"}"#, ServerError),
        ("529 Overloaded", r#"{"error":null}"#, ServerError),
    ];
    for (status, body, kind) in cases {
        let (events, failure) = of(refusal(status, "", body)).await;
        let failure = failure.unwrap();
        assert_eq!((events.len(), failure.kind()), (0, kind), "{status} {body}");
        assert_eq!(failure.retry_after(), None);
        assert!(failure.message().starts_with(&format!("the server answers {}", &status[..3])), "{failure}");
    }
    let (_, failure) = of(refusal("400 Bad Request", "", r#"{"error":{"message":"no such model"}}"#)).await;
    assert_eq!(failure.unwrap().message(), "the server answers 400 Bad Request: no such model");
}

/// Servers put their reason in many places.
#[tokio::test]
async fn the_reason_of_a_refusal_is_told_wherever_it_stands() {
    let cases = [
        (r#"{"detail":"Not authenticated"}"#, "Not authenticated"),
        (
            r#"{"detail":[{"loc":["body"],"msg":"field required"},{"msg":"too long"}]}"#,
            "field required; too long",
        ),
        (
            r#"{"object":"error","message":"The model m does not exist.","type":"NotFoundError","code":404}"#,
            "The model m does not exist.",
        ),
        (
            r#"[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]"#,
            "API key not valid",
        ),
        (r#"{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}"#, "bad"),
        (r#"{"message":"no credits","error":null}"#, "no credits"),
        (r#"{"message":"no credits","detail":null}"#, "no credits"),
        (r#"{"errors":[{"message":"unknown route"}]}"#, "unknown route"),
        ("upstream is gone", "upstream is gone"),
        // AWS, Baidu, MiniMax, and Mistral in both forms.
        (
            r#"{"Message":"User is not authorized","__type":"AccessDeniedException"}"#,
            "User is not authorized",
        ),
        (r#"{"message":"The model id is invalid.","Message":"no"}"#, "The model id is invalid."),
        (r#"{"error_code":336002,"error_msg":"Invalid JSON","id":"as-1"}"#, "Invalid JSON"),
        (r#"{"base_resp":{"status_code":1004,"status_msg":"login fail"}}"#, "login fail"),
        (
            r#"{"object":"error","message":{"detail":[{"type":"missing","loc":["body","model"],"msg":"Field required"}]},"type":"invalid_request_error","code":null}"#,
            "Field required",
        ),
        (
            r#"{"object":"error","message":"Invalid model: m","type":"invalid_model","code":"1500"}"#,
            "Invalid model: m",
        ),
    ];
    for (body, reason) in cases {
        let failure = of(refusal("400 Bad Request", "", body)).await.1.unwrap();
        assert_eq!(failure.message(), format!("the server answers 400 Bad Request: {reason}"), "{body}");
    }
    // Servers that answer with success say it in the body, whole or as an event.
    for (body, reason) in [
        (r#"{"choices":null,"base_resp":{"status_code":1004,"status_msg":"login fail"}}"#, "login fail"),
        (
            r#"{"error_code":17,"error_msg":"Open api daily request limit reached"}"#,
            "Open api daily request limit reached",
        ),
    ] {
        let event = vec![events_head(), send(format!("data: {body}\n\n"))];
        for script in [refusal("200 OK", "", body), event] {
            let failure = of(script).await.1.unwrap();
            assert_eq!(failure.message(), format!("the server reports: {reason}"), "{body}");
        }
    }
    let page = of(refusal("502 Bad Gateway", "", "<html>no</html>")).await.1.unwrap();
    assert_eq!((page.kind(), page.message()), (ErrorKind::ServerError, "the server answers 502 Bad Gateway"));
}

/// An encoding that was not asked for is no cut of the connection: trying again does not help.
#[tokio::test]
async fn unrequested_content_encoding_is_named_in_the_failure() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\u{1f}abc";
    let failure = of(vec![send(head)]).await.1.unwrap();
    assert_eq!(failure.kind(), ErrorKind::Fatal);
    assert!(failure.message().contains("answers in the encoding \"gzip\""), "{failure}");
    for encoding in ["br", "deflate", "zstd", "x-gzip", "gzip, br"] {
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: 2\r\n\r\n{{}}");
        let failure = of(vec![send(head)]).await.1.unwrap();
        assert_eq!(failure.kind(), ErrorKind::Fatal);
        assert!(failure.message().contains(&format!("in the encoding {encoding:?}")), "{failure}");
    }
    // The reason of a refusal cannot be read then, and that is told beside its status.
    let head = "HTTP/1.1 400 Bad Request\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc";
    let failure = of(vec![send(head)]).await.1.unwrap();
    let told = "the server answers 400 Bad Request, in the encoding \"gzip\", which was not asked for";
    assert_eq!((failure.kind(), failure.message()), (ErrorKind::Fatal, told));
}

#[tokio::test]
async fn how_long_to_wait_is_handed_on() {
    let cases = [
        ("Retry-After: 7\r\n", Some(Duration::from_secs(7))),
        ("Retry-After: 0.25\r\n", Some(Duration::from_millis(250))),
        ("retry-after-ms: 1500\r\nRetry-After: 2\r\n", Some(Duration::from_millis(1_500))),
        (
            "Date: Sun, 22 Nov 2026 01:00:00 GMT\r\nRetry-After: Sun, 22 Nov 2026 01:01:30 GMT\r\n",
            Some(Duration::from_secs(90)),
        ),
        (
            "Date: Sun, 22 Nov 2026 01:00:00 GMT\r\nRetry-After: Sun, 22 Nov 2026 00:00:00 GMT\r\n",
            Some(Duration::ZERO),
        ),
        ("Retry-After: soon\r\n", None),
        ("Retry-After: -5\r\n", None),
        ("Retry-After: 1e300\r\n", None),
        ("", None),
    ];
    for (headers, wait) in cases {
        let (_, failure) = of(refusal("429 Too Many Requests", headers, "")).await;
        assert_eq!(failure.unwrap().retry_after(), wait, "{headers}");
    }
}

#[tokio::test]
async fn an_error_in_the_middle_ends_the_answer() {
    use ErrorKind::*;
    let cases = [
        ("data: {\"error\":{\"message\":\"lost it\",\"type\":\"server_error\"}}\n\n", ServerError, "lost it"),
        ("data: {\"error\":{\"message\":\"slow down\",\"code\":429}}\n\n", RateLimit, "slow down"),
        (
            "data: {\"error\":{\"message\":\"too long\",\"code\":\"context_length_exceeded\"}}\n\n",
            Fatal,
            "too long",
        ),
        ("data: {\"error\":\"so it is\"}\n\n", ServerError, "so it is"),
        ("data: {\"error\":{\"code\":true}}\n\n", ServerError, "no reason given"),
        ("event: error\ndata: {\"message\":\"gone\"}\n\n", ServerError, "gone"),
        (
            "event: error\ndata: {\"error\":{\"message\":\"busy\",\"type\":\"overloaded_error\"}}\n\n",
            ServerError,
            "busy",
        ),
        ("event: error\ndata: plain words\n\n", ServerError, "plain words"),
    ];
    for (error, kind, message) in cases {
        let (events, failure) =
            of(vec![events_head(), send(text("a")), send(error), send(text("b") + &finish("stop"))]).await;
        let failure = failure.unwrap();
        assert_eq!((events, failure.kind()), (tokens(&["a"]), kind), "{error}");
        assert_eq!(failure.message(), format!("the server reports: {message}"));
    }
}

#[tokio::test]
async fn a_cut_connection_is_a_failure_of_the_network() {
    let cases: [&[Act]; 5] = [
        // Its end comes too early, between events, within one, within a character, or by a reset.
        &[],
        &[send("data: {\"choices\":[{\"del")],
        &[Act::Send(b"data: {\"choices\":[{\"delta\":{\"content\":\"\xC3".to_vec())],
        &[Act::Pause(Duration::from_millis(20)), Act::Cut],
        &[send(": still here\n"), Act::Pause(Duration::from_millis(20)), Act::Cut],
    ];
    for (number, end) in cases.iter().enumerate() {
        let (mut events, failure) = of([&[events_head(), send(text("a"))], *end].concat()).await;
        events.retain(|event| *event != StreamEvent::Alive);
        assert_eq!(events, tokens(&["a"]));
        let failure = failure.unwrap();
        assert_eq!(failure.kind(), ErrorKind::Network, "{number}: {failure:?}");
    }
    // In the head, in a chunk of the transfer, in a body of a known length.
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    for start in [
        "HTTP/1.1 200 O".to_owned(),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n1f\r\ndata"),
        format!("{head}Content-Length: 999\r\n\r\ndata"),
    ] {
        let (_, failure) = of(vec![send(start.clone()), Act::Pause(Duration::from_millis(5))]).await;
        assert_eq!(failure.unwrap().kind(), ErrorKind::Network, "{start}");
    }
    // Nobody is there.
    let nobody = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (_, failure) = ask(&OpenAi::new(&format!("http://{nobody}/v1")).unwrap()).await;
    assert_eq!(failure.unwrap().kind(), ErrorKind::Network);
}

#[tokio::test]
async fn invalid_model_output_is_a_model_error() {
    let call = |function: &str| {
        chunk(&format!(
            "{{\"delta\":{{\"tool_calls\":[{{\"index\":0,\"id\":\"c\",\"function\":{function}}}]}}}}"
        )) + &finish("tool_calls")
    };
    let cases = [
        (call(r#"{"arguments":"{}"}"#), "the model calls a tool and does not name it"),
        (
            chunk(r#"{"delta":{"refusal":"I would "}}"#)
                + &chunk(r#"{"delta":{"refusal":"not."}}"#)
                + &finish("stop"),
            "the model refuses: I would not.",
        ),
        ("data: <html>\n\n".to_owned(), "the server sent a malformed chunk of an answer: \"<html>\""),
        (
            "data: {\"choices\":5}\n\n".to_owned(),
            "the server sent a malformed chunk of an answer: \"{\\\"choices\\\":5}\"",
        ),
    ];
    for (sent, message) in cases {
        let (events, failure) =
            of(vec![events_head(), send(text("a") + &sent), send("data: [DONE]\n\n")]).await;
        let failure = failure.unwrap();
        assert_eq!((failure.kind(), failure.message()), (ErrorKind::Model, message));
        let said = events.iter().filter(|event| **event != StreamEvent::Alive);
        assert_eq!(said.collect::<Vec<_>>(), [&StreamEvent::token("a")]);
    }
    let bytes = Act::Send(b"data: \xFF\xFE\n\n".to_vec());
    assert_eq!(of(vec![events_head(), bytes]).await.1.unwrap().kind(), ErrorKind::Model);
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<ht>";
    assert_eq!(of(vec![send(page)]).await.1.unwrap().kind(), ErrorKind::Model);
}

/// Comments, events without data and pieces of a long event show that the server works.
#[tokio::test]
async fn a_heartbeat_is_a_sign_of_life() {
    let long = text("well");
    let (first, rest) = long.split_at(9);
    for beat in [send(": still here\n\n"), send("data:\n\n"), send(first)] {
        let rest = if beat_is_a_piece(&beat) { send(rest) } else { send(text("well")) };
        let pause = || Act::Pause(Duration::from_millis(20));
        let (events, failure) =
            of(vec![events_head(), send(text("all ")), pause(), beat, pause(), rest, send(finish("stop"))])
                .await;
        assert!(failure.is_none(), "{failure:?}");
        let said = [StreamEvent::token("all "), StreamEvent::Alive, StreamEvent::token("well")];
        assert!(events.starts_with(&said), "{events:?}");
    }
}

/// The limit for the first output is the user's, whatever a proxy sends in the meantime.
#[tokio::test]
async fn a_heartbeat_before_the_answer_is_no_output() {
    let script = vec![events_head(), send(": waiting\n\n"), Act::Pause(Duration::from_millis(20))];
    let (events, _) = of([script, vec![send(text("a") + &finish("stop"))]].concat()).await;
    assert_eq!(events.first(), Some(&StreamEvent::token("a")), "{events:?}");
}

#[tokio::test]
async fn heartbeats_alone_do_not_hold_a_stream_forever() {
    let minutes = |count: u64| Act::Pause(Duration::from_secs(60 * count));
    let beat = || send(": waiting\n\n");
    let server =
        Server::start(vec![vec![events_head(), send(text("a")), minutes(9), beat(), minutes(2), beat()]])
            .await;
    let mut stream = server.client().stream(&Chat::new("m").user("hello")).await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap(), StreamEvent::token("a"));
    tokio::time::pause();
    assert_eq!(stream.next().await.unwrap().unwrap(), StreamEvent::Alive);
    let error = stream.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "eleven minutes without a piece of the answer: {error}");
    assert!(stream.next().await.is_none());
}

fn beat_is_a_piece(beat: &Act) -> bool {
    matches!(beat, Act::Send(bytes) if !bytes.ends_with(b"\n\n"))
}
