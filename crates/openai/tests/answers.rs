//! Answers as servers write them.

use runstate_stream::{FinishReason, StreamEvent};
use serde_json::json;

use crate::server::{Act, answer, chunk, events_head, finish, of, send, text, tokens};

fn calls(pieces: &[&str]) -> Vec<Act> {
    let mut script = vec![events_head()];
    script.extend(
        pieces.iter().map(|piece| send(chunk(&format!("{{\"delta\":{{\"tool_calls\":[{piece}]}}}}")))),
    );
    script.push(send(finish("tool_calls") + "data: [DONE]\n\n"));
    script
}

#[tokio::test]
async fn tokens_come_as_they_were_sent() {
    let script = vec![
        events_head(),
        send(text("Hel")),
        send(text("lo 日") + &text("")),
        send(finish("stop")),
        send("data: [DONE]\n\n"),
    ];
    assert_eq!(answer(of(script).await), tokens(&["Hel", "lo 日"]));
}

#[tokio::test]
async fn answer_without_optional_fields_is_read() {
    // No index, no id, no choices, null where something might be; comments, CRLF, no space after the colon; a field that nobody knows.
    let stream = ": hello\r\n\r\ndata:{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\r\n\r\n\
                  event: message\r\nid: 7\r\nretry: 10\r\nx: y\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\n: ping\r\n\
                  data: {\"choices\":null,\"usage\":null,\"error\":null}\r\n\r\ndata: {}\n\ndata\n\n\
                  data: {\"choices\":\ndata: [{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"b\"}]},\"finish_reason\":\"\"}]}\n\n\
                  data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"another answer\"}}]}\n\n";
    // The end: with [DONE] and no reason, with a reason and no [DONE], with neither a blank line nor anything else after it.
    for end in ["data: [DONE]\n\n", "data: [DONE]", &finish("stop"), finish("stop").trim_end()] {
        assert_eq!(
            answer(of(vec![events_head(), send(stream), send(end)]).await),
            tokens(&["a", "b"]),
            "{end:?}"
        );
    }
}

#[tokio::test]
async fn usage_of_an_answer_is_a_progress_event() {
    let usage = "data: {\"choices\":[],\"usage\":{\"total_tokens\":3}}\n\n";
    let thought = chunk("{\"delta\":{\"reasoning_content\":null,\"reasoning\":\"hm\"}}");
    let script =
        vec![events_head(), send(thought + &text("a") + &finish("length") + usage + "data: [DONE]\n\n")];
    let (events, failure) = of(script).await;
    assert_eq!(failure, None);
    let expected = [
        StreamEvent::Reasoning("hm".to_owned()),
        StreamEvent::token("a"),
        StreamEvent::Progress(json!({ "usage": { "total_tokens": 3 } })),
        StreamEvent::Finish(FinishReason::Length),
        StreamEvent::Complete,
    ];
    assert_eq!(events, expected);
}

#[tokio::test]
async fn tool_calls_are_put_together_from_their_pieces() {
    let two = [
        StreamEvent::tool_call("c1", "read", json!({ "path": "a" })),
        StreamEvent::tool_call("c2", "list", json!({})),
    ];
    // Interleaved by index.
    let pieces = [
        r#"{"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":""}}"#,
        r#"{"index":1,"id":"c2","type":"function","function":{"name":"list","arguments":"{"}}"#,
        r#"{"index":0,"function":{"arguments":"{\"path\""}},{"index":1,"function":{"arguments":"}"}}"#,
        r#"{"index":0,"function":{"arguments":":\"a\"}"}}"#,
    ];
    assert_eq!(answer(of(calls(&pieces)).await), two);
    // Without index, told apart by id, which comes with each piece.
    let pieces = [
        r#"{"id":"c1","function":{"name":"read","arguments":"{\"path\":"}}"#,
        r#"{"id":"c2","function":{"name":"list","arguments":""}}"#,
        r#"{"id":"c1","function":{"arguments":"\"a\"}"}}"#,
    ];
    assert_eq!(answer(of(calls(&pieces)).await), two);
    // All with index 0, and the id once.
    let pieces = [
        r#"{"index":0,"id":"c1","function":{"name":"read","arguments":"{\"path\":"}}"#,
        r#"{"index":0,"id":null,"function":{"name":null,"arguments":"\"a\"}"}}"#,
        r#"{"index":0,"id":"c2","function":{"name":"list","arguments":"{}"}}"#,
    ];
    assert_eq!(answer(of(calls(&pieces)).await), two);
    // Whole, and the arguments as an object.
    let pieces = [
        r#"{"id":"c1","function":{"name":"read","arguments":{"path":"a"}}},{"id":"c2","function":{"name":"list"}}"#,
    ];
    assert_eq!(answer(of(calls(&pieces)).await), two);
}

#[tokio::test]
async fn calls_without_ids_get_one_from_the_answer() {
    // Neither index nor id: a new name begins a new call. The name comes again with each piece, or in pieces.
    let pieces = [
        r#"{"function":{"name":"read","arguments":"{\"path\":"}}"#,
        r#"{"function":{"name":"read","arguments":"\"a\"}"}}"#,
        r#"{"function":{"name":"li"}}"#,
        r#"{"function":{"name":"st","arguments":"{}"}}"#,
    ];
    let expected = [
        StreamEvent::tool_call("a1_0", "read", json!({ "path": "a" })),
        StreamEvent::tool_call("a1_1", "list", json!({})),
    ];
    assert_eq!(answer(of(calls(&pieces)).await), expected);
    // The older form.
    let old = chunk(
        "{\"delta\":{\"function_call\":{\"name\":\"list\",\"arguments\":\"{}\"}},\"finish_reason\":\"function_call\"}",
    );
    assert_eq!(
        answer(of(vec![events_head(), send(old)]).await),
        [StreamEvent::tool_call("a1_0", "list", json!({}))]
    );
}

/// Two calls may have one id: the agent fails the second. And ids may be numbers.
#[tokio::test]
async fn an_index_says_more_than_an_id() {
    let pieces = [
        r#"{"index":0,"id":7,"function":{"name":"read","arguments":"{\"path\":"}}"#,
        r#"{"index":1,"id":7,"function":{"name":"list","arguments":"{"}}"#,
        r#"{"index":0,"id":7,"function":{"arguments":"\"a\"}"}}"#,
        r#"{"index":1,"id":7,"function":{"arguments":"}"}}"#,
    ];
    let expected = [
        StreamEvent::tool_call("7", "read", json!({ "path": "a" })),
        StreamEvent::tool_call("7", "list", json!({})),
    ];
    assert_eq!(answer(of(calls(&pieces)).await), expected);
}

/// Calls without an index are told apart by ids that are numbers, and a call without an id is named by the answer. The id of an answer may be a number.
#[tokio::test]
async fn numbers_are_ids_of_calls_and_of_answers() {
    let pieces = [
        r#"{"id":7,"function":{"name":"read","arguments":"{\"path\":"}}"#,
        r#"{"id":8,"function":{"name":"list","arguments":"{}"}}"#,
        r#"{"id":7,"function":{"arguments":"\"a\"}"}}"#,
    ];
    let expected = [
        StreamEvent::tool_call("7", "read", json!({ "path": "a" })),
        StreamEvent::tool_call("8", "list", json!({})),
    ];
    assert_eq!(answer(of(calls(&pieces)).await), expected);

    let body = r#"{"id":42,"choices":[{"index":0,"message":{"role":"assistant","tool_calls":[{"type":"function",
        "function":{"name":"list","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    assert_eq!(
        answer(of(vec![send(head), send(body)]).await),
        [StreamEvent::tool_call("42_0", "list", json!({}))]
    );
}

#[tokio::test]
async fn arguments_that_are_no_json_are_a_call_with_its_text() {
    let pieces = [r#"{"index":0,"id":"c","function":{"name":"read","arguments":"{\"path\": "}}"#];
    let got = answer(of(calls(&pieces)).await);
    let [StreamEvent::ToolCall(call)] = got.as_slice() else { panic!("{got:?}") };
    assert_eq!((&*call.id, &*call.name, &*call.arguments_text()), ("c", "read", "{\"path\": "));
    assert!(call.unreadable.as_ref().is_some_and(|why| why.contains("EOF")), "{call:?}");
}

/// Each piece of a call is a sign of life; and a reason to stop is told where the server gives one.
#[tokio::test]
async fn nothing_is_told_that_the_server_did_not_say() {
    let piece =
        r#"{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"read","arguments":"{}"}}]}}"#;
    let (events, failure) = of(vec![events_head(), send(chunk(piece) + "data: [DONE]\n\n")]).await;
    assert_eq!(failure, None);
    let call = StreamEvent::tool_call("c", "read", json!({}));
    assert_eq!(events, [StreamEvent::Alive, call, StreamEvent::Complete]);
}

#[tokio::test]
async fn an_answer_that_is_not_streamed_is_an_answer() {
    let body = r#"{"id":"a1","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","tool_calls":[{"id":"c1","type":"function",
        "function":{"name":"list","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"total_tokens":3}}"#;
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let expected = [StreamEvent::token("Hi"), StreamEvent::tool_call("c1", "list", json!({}))];
    assert_eq!(answer(of(vec![send(head), send(body)]).await), expected);
}

/// Servers send the calls of a whole answer without an index or all with the index 0, and without ids.
#[tokio::test]
async fn calls_of_a_whole_answer_are_told_apart_by_position() {
    let call = |more: &str, path: &str| {
        format!(r#"{{{more}"function":{{"name":"read","arguments":"{{\"path\":\"{path}\"}}"}}}}"#)
    };
    for (more, id) in [("", None), (r#""index":0,"#, None), (r#""id":"c","#, Some("c"))] {
        let calls = [call(more, "a"), call(more, "b")].join(",");
        let body = format!(
            r#"{{"id":"a1","choices":[{{"message":{{"tool_calls":[{calls}]}},"finish_reason":"tool_calls"}}]}}"#
        );
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let expected = ["a", "b"].into_iter().zip(["a1_0", "a1_1"]).map(|(path, answers)| {
            StreamEvent::tool_call(id.unwrap_or(answers), "read", json!({ "path": path }))
        });
        assert_eq!(answer(of(vec![send(head), send(body)]).await), expected.collect::<Vec<_>>(), "{more}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_hang_up_does_not_hold_up_the_answer() {
    let before = std::time::Duration::from_secs(30);
    let script = vec![events_head(), send(text("a") + &finish("stop")), Act::Hang];
    let answered = tokio::time::timeout(before, of(script)).await.unwrap();
    assert_eq!(answer(answered), tokens(&["a"]));
}
