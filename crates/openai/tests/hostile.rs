//! Servers that mean harm, and bytes that are cut anywhere.

use std::num::NonZeroU32;
use std::time::Duration;

use futures_util::StreamExt;
use proptest::prelude::*;
use runstate_openai::Chat;
use runstate_stream::{Backoff, Continuation, ErrorKind, Opening, RetryPolicy, Session, StreamEvent};
use serde_json::json;

use crate::server::{Act, Server, answer, ask, chunk, events_head, finish, of, send, text, tokens};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// However the bytes are cut, within a character, a line end or a field name, the answer is the same.
    #[test]
    fn an_answer_does_not_depend_on_how_its_bytes_were_cut(mut cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20), crlf in any::<bool>()) {
        let call = |piece: &str| chunk(&format!("{{\"delta\":{{\"tool_calls\":[{piece}]}}}}"));
        let mut body = [
            ": ping\n\n", &text("Grüße, "), &text("日本 🙂"), &text("\r\n"),
            &call(r#"{"index":0,"id":"c1","function":{"name":"read","arguments":"{\"p\""}}"#),
            &call(r#"{"index":0,"function":{"arguments":":\"é\"}"}}"#), &finish("tool_calls"), "data: [DONE]\n\n",
        ].concat();
        if crlf {
            body = body.replace('\n', "\r\n");
        }
        cuts.sort_by_key(|cut| cut.index(body.len()));
        let mut script = vec![events_head()];
        let mut from = 0;
        for cut in cuts {
            let to = cut.index(body.len());
            script.push(Act::Send(body.as_bytes()[from..to].to_vec()));
            from = to;
        }
        script.push(Act::Send(body.as_bytes()[from..].to_vec()));
        let got = answer(runtime().block_on(of(script)));
        let mut expected = tokens(&["Grüße, ", "日本 🙂", "\r\n"]);
        expected.push(StreamEvent::tool_call("c1", "read", json!({ "p": "é" })));
        prop_assert_eq!(got, expected);
    }

    /// Garbage never panics, and ends: with an answer or with a failure.
    #[test]
    fn garbage_from_a_server_fails_without_a_panic(garbage in prop::collection::vec(any::<u8>(), 0..400), with_head in any::<bool>(), lines in any::<bool>()) {
        let mut bytes = garbage;
        if lines {
            bytes = bytes.chunks(20).flat_map(|line| [b"data: ", line, b"\n\n"].concat()).collect();
        }
        let script = if with_head { vec![events_head(), Act::Send(bytes)] } else { vec![Act::Send(bytes)] };
        let (_, failure) = runtime().block_on(async { tokio::time::timeout(Duration::from_secs(20), of(script)).await.unwrap() });
        prop_assert!(failure.is_some());
    }
}

#[tokio::test]
async fn an_event_without_an_end_is_given_up() {
    let mut script = vec![events_head(), send("data: ")];
    script.extend((0..200).map(|_| Act::Send(vec![b'x'; 64 << 10])));
    let (_, failure) = of(script).await;
    let failure = failure.unwrap();
    assert_eq!(
        (failure.kind(), failure.message()),
        (ErrorKind::Model, "the server sent an event without an end")
    );
}

#[tokio::test]
async fn an_event_has_8_mib_of_data_and_no_more() {
    let event = |bytes: usize| {
        let (start, end) = ("{\"choices\":[],\"extra\":\"", "\"}");
        let data = start.to_owned() + &"x".repeat(bytes - start.len() - end.len()) + end;
        send(format!("data: {data}\n\n"))
    };
    let told = async |bytes: usize| {
        let whole = send(text("hi") + &finish("stop") + "data: [DONE]\n\n");
        of(vec![events_head(), event(bytes), whole]).await.1.map(|error| error.message().to_owned())
    };
    assert_eq!(told(8 << 20).await, None);
    assert_eq!(told((8 << 20) + 1).await.as_deref(), Some("the server sent an event without an end"));
}

#[tokio::test]
async fn a_body_has_8_mib_and_no_more() {
    let told = async |bytes: usize| {
        let answer = r#"{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
        let body = answer.to_owned() + &" ".repeat(bytes - answer.len());
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {bytes}\r\n\r\n");
        of(vec![send(head), send(body)]).await.1.map(|error| error.message().to_owned())
    };
    assert_eq!(told(8 << 20).await, None);
    let refused = told((8 << 20) + 1).await.unwrap();
    assert!(refused.contains("8388608 bytes"), "{refused}");
}

#[tokio::test]
async fn calls_without_an_end_are_given_up() {
    let piece = |index: usize| {
        chunk(&format!(
            "{{\"delta\":{{\"tool_calls\":[{{\"index\":{index},\"function\":{{\"name\":\"f\"}}}}]}}}}"
        ))
    };
    let told = async |script: Vec<Act>| of(script).await.1.unwrap().message().to_owned();
    let calls = |count: usize| vec![events_head(), send((0..count).map(piece).collect::<String>())];
    let refused = "the model calls more than 256 tools at once: expected at most that many calls in an answer; instruct it to call fewer at a time";
    assert_ne!(told(calls(256)).await, refused);
    assert_eq!(told(calls(257)).await, refused);
    let long = |bytes: usize| {
        let arguments = "9".repeat(bytes);
        send(chunk(&format!(
            "{{\"delta\":{{\"tool_calls\":[{{\"index\":0,\"function\":{{\"arguments\":\"{arguments}\"}}}}]}}}}"
        )))
    };
    let most = || std::iter::once(events_head()).chain((0..128).map(|_| long(64 << 10)));
    let refused = "the ids, names and arguments of the tool calls are longer than 8388608 bytes";
    assert_ne!(told(most().collect()).await, refused);
    assert_eq!(told(most().chain([long(1)]).collect()).await, refused);
}

#[tokio::test]
async fn ids_and_lists_without_an_end_are_given_up() {
    let told = async |script: Vec<Act>| {
        let whole = send(finish("stop") + "data: [DONE]\n\n");
        let (_, error) = of([events_head()].into_iter().chain(script).chain([whole]).collect()).await;
        error.map(|error| error.message().to_owned())
    };
    let answer = |bytes: usize| {
        let id = "i".repeat(bytes);
        send(format!("data: {{\"id\":\"{id}\",\"choices\":[]}}\n\n"))
    };
    assert_eq!(told(vec![answer(1024)]).await, None);
    assert_eq!(told(vec![answer(1025)]).await.unwrap(), "the id of the answer is longer than 1024 bytes");
    let choices = |count: usize| {
        let other = vec!["{\"index\":1}"; count].join(",");
        send(format!("data: {{\"choices\":[{other}]}}\n\n"))
    };
    assert_eq!(told(vec![choices(256)]).await, None);
    let refused = told(vec![choices(257)]).await.unwrap();
    assert!(refused.contains("a malformed chunk of an answer"), "{refused}");
    let calls = |count: usize| {
        let calls = vec!["{}"; count].join(",");
        send(chunk(&format!("{{\"delta\":{{\"tool_calls\":[{calls}]}}}}")))
    };
    let refused = told(vec![calls(256)]).await.unwrap();
    assert_eq!(refused, "the model calls a tool and does not name it");
    assert!(told(vec![calls(257)]).await.unwrap().contains("a malformed chunk of an answer"));
    let long = |index: usize| {
        let id = "i".repeat(64 << 10);
        send(chunk(&format!(
            "{{\"delta\":{{\"tool_calls\":[{{\"index\":{index},\"id\":\"{id}\",\"function\":{{\"name\":\"\"}}}}]}}}}"
        )))
    };
    let refused = "the ids, names and arguments of the tool calls are longer than 8388608 bytes";
    assert_ne!(told((0..128).map(long).collect()).await.unwrap(), refused);
    assert_eq!(told((0..129).map(long).collect()).await.unwrap(), refused);
}

#[tokio::test]
async fn text_and_thoughts_without_an_end_are_given_up() {
    let of_text = |bytes: usize| send(text(&"9".repeat(bytes)));
    let of_thoughts = |bytes: usize| {
        send(chunk(&format!("{{\"delta\":{{\"reasoning_content\":\"{}\"}}}}", "9".repeat(bytes))))
    };
    let most = || {
        let pieces = (0..128).map(|at| if at % 2 == 0 { of_text(64 << 10) } else { of_thoughts(64 << 10) });
        std::iter::once(events_head()).chain(pieces)
    };
    let whole = send(finish("stop") + "data: [DONE]\n\n");
    let (_, error) = of(most().chain([whole]).collect()).await;
    assert!(error.is_none(), "{error:?}");
    for one in [of_text(1), of_thoughts(1)] {
        let (_, error) = of(most().chain([one]).collect()).await;
        let refused = "the text and thoughts of the answer are longer than 8388608 bytes";
        assert_eq!(error.unwrap().message(), refused);
    }
}

/// Without a session too: each of these would be waited for without an end.
#[tokio::test]
async fn an_answer_has_its_limits_of_time() {
    const LONG: Duration = Duration::from_secs(600);
    let short = Duration::from_millis(150);
    let drip = |piece: String| {
        let pieces = (0..20_000).flat_map(move |_| [send(&*piece), Act::Pause(Duration::from_millis(5))]);
        std::iter::once(events_head()).chain(pieces).collect::<Vec<_>>()
    };
    let flood = std::iter::once(events_head()).chain((0..20_000).map(|_| send("data:\n\n".repeat(1000))));
    let scripts = [
        ("no head", vec![Act::Hang], (short, LONG)),
        (
            "half a body",
            vec![
                send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"),
                Act::Hang,
            ],
            (short, LONG),
        ),
        ("no event", vec![events_head(), Act::Hang], (short, LONG)),
        ("no second event", vec![events_head(), send(text("a")), Act::Hang], (short, LONG)),
        ("signs of life alone", drip(": here\n\n".to_owned()), (short, LONG)),
        ("without a pause", flood.collect(), (short, LONG)),
        ("a token now and then", drip(text("a")), (LONG, short)),
        ("no head, in all", vec![Act::Hang], (LONG, short)),
    ];
    for (name, script, (silence, whole)) in scripts {
        let server = Server::start(vec![script]).await;
        let (_, error) = ask(&server.client().within(silence, whole)).await;
        let error = error.expect(name);
        assert_eq!(error.kind(), ErrorKind::Timeout, "{name}: {error}");
        let limit = if silence == short {
            "no piece of the answer came for 150ms"
        } else {
            "the answer was not whole within 150ms"
        };
        assert!(error.message().starts_with(limit), "{name}: {error}");
    }
    // A consumer that takes its time loses nothing that has come.
    let server = Server::start(vec![vec![
        events_head(),
        send(text("a") + &text("b") + &finish("stop") + "data: [DONE]\n\n"),
    ]])
    .await;
    let client = server.client().within(short, LONG);
    let mut stream = client.stream(&Chat::new("m").user("hello")).await.unwrap();
    let mut events = vec![stream.next().await.unwrap().unwrap()];
    tokio::time::sleep(2 * short).await;
    while let Some(event) = stream.next().await {
        events.push(event.unwrap());
    }
    assert_eq!(events.last(), Some(&StreamEvent::Complete), "{events:?}");
    // A status says what to do, though its body does not end.
    let refusal = vec![send("HTTP/1.1 401 No\r\nContent-Length: 9\r\n\r\nno"), Act::Hang];
    let server = Server::start(vec![refusal]).await;
    let (_, error) = ask(&server.client().within(short, LONG)).await;
    assert_eq!(error.unwrap().kind(), ErrorKind::Fatal);
    // Neither is passed by an answer that is in time, and no limit is none.
    for (silence, whole) in [(LONG, LONG), (Duration::MAX, Duration::MAX)] {
        let whole_answer = vec![
            events_head(),
            send(text("a")),
            Act::Pause(short),
            send(finish("stop") + "data: [DONE]\n\n"),
        ];
        let server = Server::start(vec![whole_answer]).await;
        assert_eq!(answer(ask(&server.client().within(silence, whole)).await), tokens(&["a"]));
    }
}

/// A session over a server that first cannot, then is cut, and then goes on: the consumer has one whole text.
#[tokio::test]
async fn session_retries_a_cut_connection_from_its_checkpoint() {
    let busy = send("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 0.01\r\nContent-Length: 0\r\n\r\n");
    let server = Server::start(vec![
        vec![busy],
        vec![
            events_head(),
            send(text("The quick ") + &text("brown ") + &text("fo")),
            Act::Pause(Duration::from_millis(50)),
            Act::Cut,
        ],
        vec![
            events_head(),
            send(text("quick bro") + &text("wn fox jumps") + &finish("stop") + "data: [DONE]\n\n"),
        ],
    ])
    .await;
    let client = server.client();
    let mut opened = 0;
    let mut session = Session::builder("s1", move |opening: Opening| {
        opened += 1;
        assert_eq!(opening.checkpoint.is_some(), opened == 3);
        let mut chat = Chat::new("m").user("Tell me.");
        if let Some(checkpoint) = &opening.checkpoint {
            chat = chat.go_on_from(checkpoint);
        }
        let client = client.clone();
        async move { client.stream(&chat).await }
    })
    .retry(RetryPolicy { backoff: Backoff::fixed(Duration::from_millis(1)), ..RetryPolicy::default() })
    .continuation(Continuation::every(NonZeroU32::new(2).unwrap()))
    .require_complete()
    .build();
    let state = session.run().await.unwrap();
    assert_eq!(session.content(), "The quick brown fox jumps");
    drop(state);
    drop(session);
    let requests = server.requests().await;
    assert!(requests[2].contains("The quick brown "), "the model is shown the checkpoint");
}
