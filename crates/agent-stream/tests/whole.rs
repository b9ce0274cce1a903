//! Answers that come to be whole, after retries, fallbacks and rules.

use runstate::termination::TerminationReason;
use runstate_agent::answer::Usage;
use runstate_stream::{Compare, ErrorKind, RetryPolicy};
use serde_json::json;

use super::stream::script::{Step, scripted, then, tokens};
use super::stream::sessions::{every, no, policy};
use super::world::World;

#[tokio::test(start_paused = true)]
async fn a_failed_attempt_is_no_part_of_the_answer() {
    let world = World::new();
    let attempts = vec![
        then(tokens("Hello wor"), &[Step::Tool("wrong"), Step::Throw(ErrorKind::Network)]),
        then(tokens("no "), &[Step::Report(ErrorKind::RateLimit)]),
        tokens("Hello world"),
    ];
    let done = world.run(world.model(vec![attempts], |session| session)).await;
    assert_eq!(done.reason, TerminationReason::NaturalEnd);
    assert_eq!(done.text.as_deref(), Some("Hello world"));
    assert_eq!(done.calls, [""; 0], "a call of a failed attempt is none");
    assert_eq!(done.texts, [(1, "Hello world".to_owned())], "nor was any of it told while it streamed");
    assert_eq!((done.took_ms, world.seen.opened()), (200, 3), "two back-offs");
}

#[tokio::test(start_paused = true)]
async fn each_inference_is_a_session_of_its_own() {
    let world = World::new();
    let asks =
        vec![vec![Step::Throw(ErrorKind::Network)], then(tokens("let me see"), &[Step::Tool("search")])];
    let answers = vec![then(tokens("never "), &[]), tokens("it is 9")];
    let model = world.model(vec![asks, answers], |session| session.guardrail(no("never")));
    let done = world.run(model).await;
    assert_eq!((done.text.as_deref(), done.calls.len()), (Some("it is 9"), 1));
    assert_eq!(
        world.called(),
        [
            "start(1, false, false)",
            "error(NETWORK_ERROR: thrown: network, true, false)",
            "retry(1, network)",
            "start(2, true, false)",
            "tool_call(search, call_1, {\"of\":\"search\"})",
            "complete(\"let me see\")",
            "start(1, false, false)",
            "violation(no-word: it was said (at byte 0))",
            "error(GUARDRAIL_VIOLATION: no-word: it was said (at byte 0), true, false)",
            "retry(1, guardrail)",
            "start(2, true, false)",
            "complete(\"it is 9\")",
        ]
    );
    let records = world.records.lock().unwrap();
    assert_eq!(records.len(), 2, "each session was shown at its end");
    for record in records.iter() {
        let replayed = record.replay(()).unwrap();
        assert!(replayed.result.unwrap().is_ok());
        assert_eq!(record.first_difference(record, Compare::All), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_fallback_answers_for_the_primary_stream() {
    let world = World::new();
    let other = world.seen.clone();
    let model =
        world.model(vec![vec![tokens("half an "), vec![Step::Throw(ErrorKind::Internal)]]], move |session| {
            let session = session.guardrail(no("half"));
            session.fallback(scripted(&other, vec![tokens("from the fallback")]))
        });
    let done = world.run(model).await;
    assert_eq!(done.text.as_deref(), Some("from the fallback"));
    assert_eq!(done.texts.len(), 1);
    assert!(world.called().contains(&"fallback(0, internal)".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_checkpoints_text_stands_once() {
    let world = World::new();
    let attempts = vec![
        then(tokens("one two three "), &[Step::Tool("search"), Step::Throw(ErrorKind::Network)]),
        tokens("two four"),
    ];
    let done = world.run(world.model(vec![attempts], |session| session.continuation(every(2)))).await;
    assert_eq!((done.text.as_deref(), done.calls.len()), (Some("one two four"), 0));
}

#[tokio::test(start_paused = true)]
async fn usage_of_failed_attempts_is_counted() {
    let world = World::new();
    let used = |read| Step::Progress(json!({"read": read, "wrote": 1}));
    let attempts = vec![
        vec![used(10), Step::Throw(ErrorKind::ServerError)],
        then(tokens("done"), &[Step::Progress(json!(0.5)), used(12)]),
    ];
    let done = world.run(world.model(vec![attempts], |session| session)).await;
    assert_eq!(done.usage, Usage { input_tokens: 22, output_tokens: 2 });
    assert_eq!(done.reason, TerminationReason::NaturalEnd);
}

/// A run has the tokens of all attempts of its activation, those that failed and those of a fallback among them.
#[tokio::test(start_paused = true)]
async fn tokens_of_retries_and_fallbacks_count_for_their_activation() {
    let world = World::new();
    let used = |read| Step::Progress(json!({"read": read, "wrote": 1}));
    let fails = |read| vec![used(read), Step::Throw(ErrorKind::ServerError)];
    let asks = vec![fails(10), then(vec![used(20)], &[Step::Tool("search")])];
    let answers =
        vec![then(tokens("never "), &[used(40)]), then(vec![used(80)], &[Step::Throw(ErrorKind::Internal)])];
    let other = world.seen.clone();
    let model = world.model(vec![asks, answers], move |session| {
        session
            .guardrail(no("never"))
            .fallback(scripted(&other, vec![vec![used(160), Step::Token("done".into())]]))
    });
    let done = world.run(model).await;
    assert_eq!(done.text.as_deref(), Some("done"));
    // The piece behind the broken rule was never read.
    let all = Usage { input_tokens: 270, output_tokens: 4 };
    assert_eq!((done.used, done.usage), (all, all));
}

#[tokio::test(start_paused = true)]
async fn a_retry_costs_no_step_and_leaves_nothing_in_the_history() {
    let world = World::new();
    let fails =
        vec![vec![Step::Throw(ErrorKind::Model)], vec![Step::Throw(ErrorKind::Model)], tokens("fine")];
    let model =
        world.model(vec![fails], |session| session.retry(RetryPolicy { model_retries: 2, ..policy() }));
    let done = world.run(model).await;
    assert_eq!((done.text.as_deref(), done.texts), (Some("fine"), vec![(1, "fine".to_owned())]));
}
