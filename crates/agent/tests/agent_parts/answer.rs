//! From a model's stream to a turn.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use runstate::turn::{CallRequest, Turn};
use runstate_agent::ModelError;
use runstate_agent::answer::{Answer, AnswerError, FinishReason, ModelEvent, TurnBuilder, Usage};
use serde_json::{Value, json};

fn text(piece: &str) -> ModelEvent {
    ModelEvent::Text(piece.into())
}

fn start(index: u32, id: &str) -> ModelEvent {
    ModelEvent::CallStart { index, id: id.into(), tool: "read".into() }
}

fn arguments(index: u32, delta: &str) -> ModelEvent {
    ModelEvent::Arguments { index, delta: delta.into() }
}

fn usage(input_tokens: u64, output_tokens: u64) -> ModelEvent {
    ModelEvent::Usage(Usage { input_tokens, output_tokens })
}

const END: fn() -> ModelEvent = || ModelEvent::Finish(FinishReason::Stop);

fn answer(events: impl IntoIterator<Item = ModelEvent>) -> Result<Answer, AnswerError> {
    let mut builder = TurnBuilder::new();
    for event in events {
        builder.push(event)?;
    }
    builder.finish()
}

/// The one call of an answer whose arguments are this text.
fn call_with(text: &str) -> CallRequest {
    let answer = answer([start(0, "call_1"), arguments(0, text), END()]).unwrap();
    let [call] = &answer.turn.calls[..] else { panic!("one call: {answer:?}") };
    call.clone()
}

#[test]
fn nothing_but_a_finish_is_an_empty_answer() {
    let answer = answer([END()]).unwrap();
    assert_eq!(answer, Answer { turn: Turn::default(), usage: Usage::default(), finish: FinishReason::Stop });
}

#[test]
fn a_stream_without_a_finish_is_no_answer() {
    for (events, expected) in [
        (vec![], (0, 0)),
        (vec![text("done."), usage(1, 1)], (5, 0)),
        (vec![start(0, "call_1"), arguments(0, "{}")], (0, 1)),
    ] {
        match answer(events).unwrap_err() {
            AnswerError::Unfinished { text_bytes, calls } => assert_eq!((text_bytes, calls), expected),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn only_usage_follows_a_finish() {
    let with_usage = answer([usage(10, 1), END(), usage(0, 2), usage(5, 0)]).unwrap();
    assert_eq!(with_usage.usage, Usage { input_tokens: 15, output_tokens: 3 });
    for (event, name) in [
        (text(""), "text"),
        (start(0, "call_1"), "a call"),
        (arguments(0, ""), "arguments"),
        (END(), "a finish"),
    ] {
        match answer([END(), event]).unwrap_err() {
            AnswerError::AfterFinish { got } => assert_eq!(got, name),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_model_error_is_the_error_before_a_finish_and_after() {
    for before in [None, Some(text("so far")), Some(END())] {
        let error = ModelEvent::Error(ModelError::new("overloaded"));
        let error = answer(before.into_iter().chain([error])).unwrap_err();
        assert!(matches!(error, AnswerError::Model(_)), "{error:?}");
        assert_eq!(error.to_string(), "the model did not answer: overloaded");
    }
}

#[test]
fn after_an_error_there_is_no_answer_whatever_follows() {
    let mut builder = TurnBuilder::new();
    builder.push(text("a")).unwrap();
    builder.push(usage(3, 4)).unwrap();
    builder.push(arguments(7, "{}")).unwrap_err();
    for event in [text("b"), usage(1, 1), END()] {
        assert!(matches!(builder.push(event), Err(AnswerError::Failed)));
    }
    assert_eq!(builder.usage().total(), 7, "what was paid for is still known");
    assert!(matches!(builder.finish(), Err(AnswerError::Failed)));
}

#[test]
fn calls_are_told_apart_by_index_and_ordered_by_it() {
    let answer = answer([
        start(7, "call_c"),
        arguments(7, "[3"),
        start(0, "call_a"),
        start(3, "call_b"),
        arguments(0, "[1"),
        arguments(7, "]"),
        arguments(3, "[2]"),
        text("in between"),
        arguments(0, "]"),
        END(),
    ])
    .unwrap();
    let calls: Vec<_> =
        answer.turn.calls.iter().map(|call| (call.id.as_str(), call.arguments.clone())).collect();
    assert_eq!(calls, [("call_a", json!([1])), ("call_b", json!([2])), ("call_c", json!([3]))]);
    assert_eq!(answer.turn.text, "in between");
}

#[test]
fn two_calls_may_share_an_id_but_not_an_index() {
    let same_id = answer([start(0, "call_1"), start(1, "call_1"), END()]).unwrap();
    assert_eq!(same_id.turn.calls.len(), 2);
    let error = answer([start(4, "call_1"), start(4, "call_2")]).unwrap_err();
    assert!(matches!(error, AnswerError::CallTwice { index: 4 }), "{error:?}");
    assert!(error.to_string().contains("began call 4 twice"), "{error}");
}

#[test]
fn arguments_need_their_call_first() {
    let error = answer([start(0, "call_1"), arguments(1, "{}"), start(1, "call_2")]).unwrap_err();
    assert!(matches!(error, AnswerError::NoSuchCall { index: 1, calls: 1 }), "{error:?}");
    assert!(error.to_string().contains("call 1, which had not begun; 1 others had"), "{error}");
}

#[test]
fn no_arguments_are_an_empty_object() {
    assert_eq!(answer([start(0, "call_1"), END()]).unwrap().turn.calls[0].arguments, json!({}));
    for blank in ["", " ", "\n\t "] {
        let call = call_with(blank);
        assert_eq!((call.arguments, call.unreadable), (json!({}), None), "{blank:?}");
    }
}

#[test]
fn any_json_is_readable_and_the_tools_schema_judges_it() {
    for value in [json!({ "a": [1, 2.5, null] }), json!([]), json!("text"), json!(7), Value::Null] {
        let call = call_with(&format!(" {value}\n"));
        assert_eq!((call.arguments, call.unreadable), (value, None));
    }
}

#[test]
fn non_json_arguments_fail_only_their_call() {
    for (raw, why) in [
        (r#"{"path": "notes"#, "the arguments are not JSON: EOF while parsing a string at line 1 column 15"),
        ("{} {}", "the arguments are not JSON: trailing characters at line 1 column 4"),
        ("read notes", "the arguments are not JSON: expected value at line 1 column 1"),
        ("\u{a0}", "the arguments are not JSON: expected value at line 1 column 1"),
    ] {
        let events = [start(0, "call_1"), start(1, "call_2"), arguments(0, raw), arguments(1, "[1]"), END()];
        let calls = answer(events).unwrap().turn.calls;
        assert_eq!(calls[0].arguments, Value::from(raw));
        assert_eq!(calls[0].unreadable.as_deref(), Some(why));
        assert_eq!((&calls[1].arguments, &calls[1].unreadable), (&json!([1]), &None));
    }
}

#[test]
fn arguments_nest_96_levels_and_no_more() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(call_with(&nested(96)).unreadable, None);
    // From 128 levels on it is the reader of JSON that gives up, and it must say the same.
    for levels in [97, 127, 128, 200, 100_000] {
        let call = call_with(&nested(levels));
        assert_eq!(
            call.unreadable.as_deref(),
            Some("the arguments nest deeper than 96 levels"),
            "{levels} levels"
        );
        assert_eq!(call.arguments, Value::from(nested(levels)));
    }
    // Objects nest like arrays do, and a value inside adds no level.
    let objects = |levels: usize| format!("{}7{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
    assert_eq!(call_with(&objects(96)).unreadable, None);
    assert!(call_with(&objects(97)).unreadable.is_some());
}

/// `serde_json` reads the text under such a key anew, with a depth of its own: a few kilobytes could use up the stack.
#[test]
fn a_key_that_the_reader_of_json_keeps_for_itself_is_not_read() {
    let mut text = "7".to_owned();
    for _ in 0..6 {
        let inner = format!("{}{text}{}", "[".repeat(90), "]".repeat(90));
        text = json!({ "$serde_json::private::RawValue": inner }).to_string();
    }
    // The key may be spelled with escapes, and stand anywhere.
    let escaped = r#"{"a":[{"\u0024serde_json::private::\u0052awValue":"[1]"}]}"#;
    for raw in [text.as_str(), escaped] {
        let call = call_with(raw);
        let why = call.unreadable.unwrap();
        assert!(why.contains("the key \"$serde_json::private::RawValue\" is not allowed"), "{why}");
        assert_eq!(call.arguments, Value::from(raw));
    }
    let own = json!({ "$serde_json": 1, "private": "$serde_json::private::RawValue" });
    assert_eq!(call_with(&own.to_string()).arguments, own, "any other key is the user's");
}

#[test]
fn the_finish_reason_decides_nothing() {
    for reason in [
        FinishReason::Stop,
        FinishReason::ToolCalls,
        FinishReason::Length,
        FinishReason::ContentFilter,
        FinishReason::Other("end_turn".into()),
    ] {
        let with = answer([start(0, "call_1"), ModelEvent::Finish(reason.clone())]).unwrap();
        let without = answer([text("hi"), ModelEvent::Finish(reason.clone())]).unwrap();
        assert_eq!((with.turn.calls.len(), &with.finish), (1, &reason));
        assert_eq!((without.turn.calls.len(), &without.finish), (0, &reason));
    }
}

#[test]
fn first_delta_is_kept_without_a_copy() {
    let (said, path) = (String::from("let me look"), String::from(r#"{"path":"notes.md"}"#));
    let at = said.as_ptr();
    let events =
        [ModelEvent::Text(said), start(0, "call_1"), ModelEvent::Arguments { index: 0, delta: path }, END()];
    assert_eq!(answer(events).unwrap().turn.text.as_ptr(), at);

    // Text that cannot be read is kept where it is, too.
    let raw = String::from("nothing to read here");
    let at = raw.as_ptr();
    let events = [start(0, "call_1"), ModelEvent::Arguments { index: 0, delta: raw }, END()];
    let calls = answer(events).unwrap().turn.calls;
    assert_eq!(calls[0].arguments.as_str().unwrap().as_ptr(), at);
}

#[test]
fn finish_reasons_and_usage_round_trip_as_json() {
    let words = [
        (FinishReason::Stop, json!("stop")),
        (FinishReason::ToolCalls, json!("tool_calls")),
        (FinishReason::Length, json!("length")),
        (FinishReason::ContentFilter, json!("content_filter")),
        (FinishReason::Other("end_turn".into()), json!({ "other": "end_turn" })),
    ];
    for (reason, written) in words {
        assert_eq!(serde_json::to_value(&reason).unwrap(), written);
        assert_eq!(serde_json::from_value::<FinishReason>(written).unwrap(), reason);
    }
    let used = Usage { input_tokens: 1, output_tokens: 2 };
    assert_eq!(serde_json::to_value(used).unwrap(), json!({ "input_tokens": 1, "output_tokens": 2 }));

    // A request from before there was `unreadable`, and one with it.
    let old = json!({ "id": "call_1", "tool": "read", "arguments": {} });
    let request: CallRequest = serde_json::from_value(old.clone()).unwrap();
    assert_eq!((serde_json::to_value(&request).unwrap(), &request.unreadable), (old, &None));
    let unreadable = call_with("{");
    let json = serde_json::to_string(&unreadable).unwrap();
    assert!(json.contains(r#""arguments":"{","unreadable":"the arguments are not JSON"#), "{json}");
    assert_eq!(serde_json::from_str::<CallRequest>(&json).unwrap(), unreadable);
}

#[test]
fn usage_adds_up_to_the_largest_number_at_most() {
    let most = Usage { input_tokens: u64::MAX, output_tokens: u64::MAX - 1 };
    let one = Usage { input_tokens: 1, output_tokens: 1 };
    assert_eq!(most + one, Usage { input_tokens: u64::MAX, output_tokens: u64::MAX });
    assert_eq!(most.total(), u64::MAX);
    assert_eq!([one, one, one].into_iter().sum::<Usage>(), Usage { input_tokens: 3, output_tokens: 3 });
}

/// Texts that are arguments, and some that are not.
fn argument_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,6}".prop_map(Value::from)
    ];
    let value = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(".{0,3}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    prop_oneof![6 => value.prop_map(|value| value.to_string()), 1 => Just(String::new()), 2 => ".{0,8}"]
}

/// The text in pieces, cut at these places: some of them may be empty.
fn cut<'a>(text: &'a str, places: &[Index]) -> Vec<&'a str> {
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let mut at: Vec<usize> = places.iter().map(|place| ends[place.index(ends.len())]).collect();
    at.sort_unstable();
    at.push(text.len());
    let mut begun = 0;
    at.iter().map(|&end| &text[std::mem::replace(&mut begun, end)..end]).collect()
}

proptest! {
    /// However text and arguments are cut, and however the pieces of calls stand between each other, the turn is the same.
    #[test]
    fn answer_does_not_depend_on_how_its_deltas_are_cut(
        said in ".{0,20}",
        calls in vec(argument_text(), 0..4),
        said_cuts in vec(any::<Index>(), 0..4),
        cuts in vec(vec(any::<Index>(), 0..5), 4),
        choices in vec(any::<Index>(), 40),
        order in Just([2_u32, 0, 3, 1]).prop_shuffle(),
    ) {
        // What each source says, in its own order; sources are then drawn from in any order.
        let mut sources = vec![cut(&said, &said_cuts).into_iter().map(text).collect::<Vec<_>>()];
        for (i, raw) in calls.iter().enumerate() {
            let index = order[i];
            let pieces = cut(raw, &cuts[i]).into_iter().map(|piece| arguments(index, piece));
            sources.push([start(index, &format!("call_{index}"))].into_iter().chain(pieces).collect());
        }
        let mut sources: Vec<_> = sources.into_iter().map(|events| events.into_iter().peekable()).collect();
        let mut builder = TurnBuilder::new();
        for choice in choices.iter().cycle() {
            let mut open: Vec<_> = sources.iter_mut().filter_map(|s| s.peek().is_some().then_some(s)).collect();
            if open.is_empty() {
                break;
            }
            let place = choice.index(open.len());
            builder.push(open[place].next().unwrap()).unwrap();
        }
        builder.push(END()).unwrap();
        let got = builder.finish().unwrap().turn;

        let mut expected: Vec<_> = calls.iter().zip(order).collect();
        expected.sort_by_key(|(_, index)| *index);
        prop_assert_eq!(got.text, said);
        prop_assert_eq!(got.calls.len(), expected.len());
        for (call, (raw, index)) in got.calls.iter().zip(expected) {
            prop_assert_eq!(&call.id, &format!("call_{index}"));
            let blank = raw.chars().all(|c| " \t\r\n\u{c}".contains(c));
            match serde_json::from_str::<Value>(if blank { "{}" } else { raw }) {
                Ok(value) => prop_assert_eq!((&call.arguments, &call.unreadable), (&value, &None)),
                Err(_) => {
                    prop_assert_eq!(&call.arguments, &Value::from(raw.as_str()));
                    prop_assert!(call.unreadable.is_some());
                }
            }
        }
    }
}
