//! Code of the user: callbacks, hooks, rules, factories and sources that panic or take their time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use runstate::stream_session::ErrorCode;
use runstate_guardrails::{Custom, Violation};
use runstate_stream::{
    Callbacks, ErrorKind, Event, Failure, FinishReason, Hooks, OnFinish, RetryPolicy, Session, SourceError,
    State, StreamEvent, TimeoutType, Timeouts,
};

use super::script::{Seen, Step, scripted, then, tokens};
use super::sessions::{every, no, on, policy, session};
use super::told::{Notes, drive};

/// Panics in each of the thirteen, and counts.
#[derive(Default)]
struct Panics(Arc<Mutex<Vec<&'static str>>>);

impl Panics {
    fn panic(&mut self, name: &'static str) -> ! {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(name);
        std::panic::resume_unwind(Box::new("a callback"));
    }
}

impl Callbacks for Panics {
    fn on_start(&mut self, _: u32, _: bool, _: bool) {
        self.panic("start");
    }
    fn on_complete(&mut self, _: &State) {
        self.panic("complete");
    }
    fn on_error(&mut self, _: &Failure, _: bool, _: bool) {
        self.panic("error");
    }
    fn on_event(&mut self, _: &Event) {
        self.panic("event");
    }
    fn on_violation(&mut self, _: &Violation) {
        self.panic("violation");
    }
    fn on_retry(&mut self, _: u32, _: &str) {
        self.panic("retry");
    }
    fn on_fallback(&mut self, _: u32, _: &str) {
        self.panic("fallback");
    }
    fn on_resume(&mut self, _: &str, _: u64) {
        self.panic("resume");
    }
    fn on_checkpoint(&mut self, _: &str, _: u64) {
        self.panic("checkpoint");
    }
    fn on_timeout(&mut self, _: TimeoutType, _: u64) {
        self.panic("timeout");
    }
    fn on_tool_call(&mut self, _: &str, _: &str, _: &serde_json::Value) {
        self.panic("tool_call");
    }
}

/// A session through nearly all that there is.
fn eventful(seen: &Seen) -> runstate_stream::SessionBuilder {
    let script = vec![
        then(tokens("one two "), &[Step::Throw(ErrorKind::Network)]),
        tokens("never"),
        vec![Step::Silence],
        vec![Step::Throw(ErrorKind::Internal)],
    ];
    on(seen, script)
        .fallback(scripted(seen, vec![then(tokens("three"), &[Step::Tool("search")])]))
        .guardrail(Custom::new("warns").at_end(|_, _| vec![Violation::warning("warns", "always")]))
        .guardrail(no("never"))
        .timeouts(Timeouts { initial: Some(Duration::from_millis(9)), inter: None })
        .continuation(every(2))
}

#[tokio::test(start_paused = true)]
async fn callbacks_that_panic_harm_nothing() {
    let whole = drive(eventful(&Seen::default())).await;
    let panics = Panics::default();
    let called = Arc::clone(&panics.0);
    let mut session = eventful(&Seen::default()).callbacks(panics).build();
    let state = session.run().await.unwrap();
    assert_eq!(state, whole.result.unwrap());
    let called = called.lock().unwrap();
    assert_eq!(session.callback_panics(), called.len() as u64);
    assert_eq!(called.iter().filter(|name| **name == "event").count(), whole.events.len());
    let mut names = called.clone();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 11, "all but abort and drift were called: {names:?}");
    assert_eq!(session.recording().unwrap(), whole.recording);
}

#[tokio::test(start_paused = true)]
async fn closures_are_called_as_the_trait_is() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let seen = Arc::clone(&seen);
        move |what: String| seen.lock().unwrap().push(format!("  on_{name}({what})"))
    };
    let (start, complete, error, violation) =
        (note("start"), note("complete"), note("error"), note("violation"));
    let (retry, fallback, resume, checkpoint) =
        (note("retry"), note("fallback"), note("resume"), note("checkpoint"));
    let (timeout, tool, events) = (note("timeout"), note("tool_call"), Arc::clone(&seen));
    let hooks = Hooks::new()
        .on_start(move |attempt, is_retry, is_fallback| {
            start(format!("{attempt}, {is_retry}, {is_fallback}"))
        })
        .on_complete(move |state| complete(format!("{:?}", state.content)))
        .on_error(move |failure, retries, falls| error(format!("{failure}, {retries}, {falls}")))
        .on_event(move |event| events.lock().unwrap().push(super::told::line(event)))
        .on_violation(move |found| violation(found.to_string()))
        .on_retry(move |attempt, reason| retry(format!("{attempt}, {reason}")))
        .on_fallback(move |index, reason| fallback(format!("{index}, {reason}")))
        .on_resume(move |text, count| resume(format!("{text:?}, {count}")))
        .on_checkpoint(move |text, count| checkpoint(format!("{text:?}, {count}")))
        .on_timeout(move |kind, ms| timeout(format!("{}, {ms}", kind.name())))
        .on_tool_call(move |name, id, args| tool(format!("{name}, {id}, {args}")));
    eventful(&Seen::default()).callbacks(hooks).build().run().await.unwrap();
    let notes = drive(eventful(&Seen::default())).await.notes;
    assert_eq!(*seen.lock().unwrap(), notes);

    // The two that an eventful session does not come to.
    let (told, drifted) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
    let (aborts, drifts) = (Arc::clone(&told), Arc::clone(&drifted));
    let hooks = Hooks::new()
        .on_abort(move |tokens, bytes| aborts.lock().unwrap().push((tokens, bytes)))
        .on_drift(move |_, _| *drifts.lock().unwrap() += 1);
    let mut aborted = session(vec![then(tokens("one "), &[Step::Silence])]).callbacks(hooks).build();
    aborted.next().await;
    aborted.abort_handle().abort();
    assert_eq!(aborted.run().await.unwrap_err().code(), ErrorCode::StreamAborted);
    assert_eq!((told.lock().unwrap().as_slice(), *drifted.lock().unwrap()), ([(0, 0)].as_slice(), 0));
}

#[tokio::test(start_paused = true)]
async fn panic_while_opening_or_reading_fails_the_attempt() {
    for (script, what) in [
        (vec![Step::PanicToOpen], "the stream factory panicked: the factory is broken"),
        (vec![Step::Token("a".into()), Step::Panic], "the stream panicked: the source is broken"),
    ] {
        let seen = Seen::default();
        let whole = drive(on(&seen, vec![script.clone()])).await;
        let error = whole.result.unwrap_err();
        assert_eq!((error.code(), error.failure.kind), (ErrorCode::InvalidStream, ErrorKind::Internal));
        assert_eq!(error.failure.message, what);
        let fallback = scripted(&seen, vec![tokens("fine")]);
        assert_eq!(drive(on(&seen, vec![script]).fallback(fallback)).await.text, "fine", "another may do");
    }
}

#[tokio::test(start_paused = true)]
async fn rules_and_hooks_may_panic() {
    let panics = || {
        Custom::new("broken").while_streaming(|_, so_far| {
            assert!(!so_far.contains("two"), "no two");
            None
        })
    };
    let whole = drive(session(vec![tokens("one two")]).guardrail(panics())).await;
    let error = whole.result.unwrap_err();
    assert_eq!(
        (error.failure.kind, error.failure.message.as_str()),
        (ErrorKind::Internal, "a rule panicked: no two")
    );

    let script = vec![then(tokens("one "), &[Step::Throw(ErrorKind::Network)]), tokens("two")];
    let careless = session(script.clone())
        .calculate_delay(|_| panic!("no delay"))
        .continuation(every(1).prompt(|_| panic!("no prompt")));
    let whole = drive(careless).await;
    assert_eq!(
        (whole.text.as_str(), whole.events.last().unwrap().at_ms),
        ("one two", 100),
        "as if there was none"
    );

    // A veto that is broken spends no money.
    let vetoed = session(script.clone()).should_retry(|_| panic!("no answer"));
    let whole = drive(vetoed).await;
    assert_eq!(whole.result.unwrap_err().state.attempts, 1);
    // It says nothing of another stream.
    let fallback = scripted(&Seen::default(), vec![tokens("of the fallback")]);
    let vetoed = session(script.clone()).should_retry(|_| panic!("no answer")).fallback(fallback);
    let state = drive(vetoed).await.result.unwrap();
    assert_eq!((state.content.as_str(), state.attempts), ("of the fallback", 2));
    let whole = drive(session(script).continuation(every(1).validate(|_, _| panic!("no verdict")))).await;
    assert_eq!(whole.text, "two", "what cannot be validated is not used");
}

#[test]
fn a_slow_callback_uses_up_no_timeout() {
    // Real time: the callback blocks the thread for longer than the limits.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let script = vec![vec![
        Step::Wait(1),
        Step::Token("a ".into()),
        Step::Wait(1),
        Step::Token("b ".into()),
        Step::Wait(1),
        Step::Token("c".into()),
    ]];
    let limit = Some(Duration::from_millis(50));
    let slow = Hooks::new().on_event(|_| std::thread::sleep(Duration::from_millis(100)));
    let text = runtime.block_on(async {
        let limits = Timeouts { initial: limit, inter: limit };
        session(script).timeouts(limits).callbacks(slow).build().run().await.unwrap().content.clone()
    });
    assert_eq!(text, "a b c");
}

#[tokio::test(start_paused = true)]
async fn a_source_that_always_has_something_lets_others_have_a_turn() {
    let endless = futures_util::stream::repeat_with(|| Ok::<_, SourceError>(StreamEvent::token("x")));
    let mut endless = Some(endless);
    let open =
        move |_| std::future::ready(endless.take().ok_or(SourceError::new(ErrorKind::Fatal, "opened twice")));
    let mut session = Session::builder("stream_1", open).build();
    let handle = session.abort_handle();
    tokio::spawn(async move { handle.abort() });
    let error = session.run().await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::StreamAborted);
    assert!(error.state.token_count < 1_000, "{} tokens until the other task ran", error.state.token_count);
}

#[tokio::test(start_paused = true)]
async fn the_chain_of_causes_is_kept() {
    let open = async |_| {
        let error = SourceError::new(ErrorKind::Network, "cannot read the answer")
            .caused_by(std::io::Error::other(std::fmt::Error));
        Err::<futures_util::stream::Empty<Result<StreamEvent, SourceError>>, _>(error)
    };
    let mut session = Session::builder("stream_1", open).retry(RetryPolicy::none()).build();
    let error = session.run().await.unwrap_err();
    assert_eq!(error.failure.causes[0], std::fmt::Error.to_string());
    let mut chain = Vec::new();
    let mut next: Option<&dyn std::error::Error> = Some(&error);
    while let Some(error) = next {
        chain.push(error.to_string());
        next = error.source();
    }
    assert_eq!(chain[0], "NETWORK_ERROR: cannot read the answer");
    assert!(chain.len() >= 2, "{chain:?}");
}

#[tokio::test(start_paused = true)]
async fn repetition_up_to_the_end_of_the_output_is_removed() {
    let resumed = async |again: &str| {
        let script = vec![
            then(tokens("say hello hello "), &[Step::Throw(ErrorKind::Network)]),
            again.chars().map(|c| Step::Token(c.to_string())).collect(),
        ];
        drive(session(script).continuation(every(3))).await.text
    };
    assert_eq!(resumed("hello hello you").await, "say hello hello you");
    assert_eq!(resumed("hello hello ").await, "say hello hello ", "all of it was a repetition");
    assert_eq!(resumed("hello hello").await, "say hello hello hello", "half of it was one");
    let script = vec![then(tokens("a b "), &[Step::Throw(ErrorKind::Network)]), tokens("b c")];
    let kept = drive(session(script).continuation(every(2).keep_overlap())).await;
    assert_eq!(kept.text, "a b b c");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_goes_on_with_the_next() {
    let script =
        vec![vec![Step::Token("a ".into()), Step::Wait(50), Step::Token("b ".into()), Step::Wait(50)]];
    let notes = Notes::default();
    let mut session = session(script.clone()).callbacks(notes.clone()).build();
    let mut dropped = 0;
    let state = loop {
        match tokio::time::timeout(Duration::from_millis(3), session.run()).await {
            Ok(ended) => break ended.unwrap(),
            Err(_) => dropped += 1,
        }
    };
    assert!(dropped > 20, "{dropped}");
    assert_eq!((state.content.as_str(), state.duration_ms), ("a b ", 100));
    assert_eq!(notes.take(), drive(super::sessions::session(script)).await.notes);
}

#[tokio::test(start_paused = true)]
async fn cut_stream_is_a_network_error_if_completion_is_required() {
    let script = vec![tokens("half"), then(tokens("whole"), &[Step::Complete])];
    assert_eq!(drive(session(script.clone())).await.text, "half");
    let whole = drive(session(script).require_complete().retry(policy())).await;
    assert_eq!(whole.text, "whole");
    assert!(whole.notes.iter().any(|note| note.contains("on_error(NETWORK_ERROR: the stream was cut")));
}

#[tokio::test(start_paused = true)]
async fn zero_output_may_be_allowed() {
    let script = vec![vec![Step::Token("\u{200B} \n".into())]];
    let failed = drive(session(script.clone()).retry(RetryPolicy::none())).await;
    assert_eq!(failed.code(), Some(ErrorCode::ZeroOutput));
    assert!(drive(session(script).allow_zero_output()).await.result.is_ok());
    let tool = drive(session(vec![vec![Step::Tool("search")]])).await;
    assert!(tool.result.is_ok(), "a tool call is output");
}

#[tokio::test(start_paused = true)]
async fn tool_calls_of_a_failed_attempt_are_discarded() {
    let tool = Step::Tool("search");
    let script = |fails: ErrorKind| {
        vec![
            vec![
                Step::Token("a ".into()),
                tool.clone(),
                Step::Token("b ".into()),
                tool.clone(),
                Step::Throw(fails),
            ],
            vec![Step::Data(serde_json::json!(1)), Step::Token("c".into())],
        ]
    };
    let state = drive(session(script(ErrorKind::Network))).await.result.unwrap();
    assert_eq!((state.tool_calls.len(), state.data_parts, state.content.as_str()), (0, 1, "c"));
    // The next attempt continues from the text before the first call, and knows nothing of the call.
    let state = drive(session(script(ErrorKind::Network)).continuation(every(1))).await.result.unwrap();
    assert_eq!((state.tool_calls.len(), state.data_parts, state.content.as_str()), (0, 1, "a c"));
}

/// A model that continues writes a call again, because it is given the text alone.
#[tokio::test(start_paused = true)]
async fn a_call_before_a_resume_is_no_call_of_the_success() {
    for stops in [Step::Throw(ErrorKind::Network), Step::Finish(FinishReason::Length)] {
        let first = vec![
            Step::Token("I will ".into()),
            Step::Token("pay: ".into()),
            Step::Tool("pay"),
            Step::Token("It is ".into()),
            Step::Token("paid. ".into()),
            stops,
        ];
        let script = vec![first, vec![Step::Tool("pay"), Step::Token("Done.".into())]];
        let made = session(script).continuation(every(2)).on_finish(FinishReason::Length, OnFinish::Continue);
        let whole = drive(made).await;
        let state = whole.result.unwrap();
        assert_eq!((state.content.as_str(), state.tool_calls.len()), ("I will pay: Done.", 1));
    }
}

/// A model that goes on correctly loses nothing: a number and a word may go on as they end.
#[tokio::test(start_paused = true)]
async fn a_continuation_that_repeats_by_chance_is_whole() {
    let resumed = async |begun: &str, rest: &str| {
        let script = vec![
            then(vec![Step::Token(begun.into())], &[Step::Throw(ErrorKind::Network)]),
            vec![Step::Token(rest.into())],
        ];
        drive(session(script).continuation(every(1))).await.text
    };
    for (begun, rest) in [
        (r#"{"price": 100"#, "00}"),
        (r#"{"x": [1, 1"#, ", 1, 1]}"),
        (r#"{"id": "abab"#, r#"ab"}"#),
        ("The price is 100", "00 dollars"),
    ] {
        assert_eq!(resumed(begun, rest).await, format!("{begun}{rest}"));
    }
    assert_eq!(resumed("The price is 100", "is 100 dollars").await, "The price is 100 dollars");
    assert_eq!(resumed("値段は百", "百円です").await, "値段は百百円です", "one character may be chance");
    assert_eq!(resumed("値段は百", "は百円です").await, "値段は百円です");
}
