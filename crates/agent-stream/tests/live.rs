//! Answers that are given on as they come.

use runstate::termination::TerminationReason;
use runstate_stream::{ErrorKind, SessionBuilder};

use super::stream::script::{Step, then, tokens};
use super::stream::sessions::every;
use super::world::World;

fn texts(texts: &[(u32, String)]) -> Vec<&str> {
    texts.iter().map(|(_, text)| text.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn text_is_told_token_by_token() {
    let world = World::new();
    let script = then(tokens("one two"), &[Step::Wait(10), Step::Tool("search")]);
    let model = world.model(vec![vec![script], vec![tokens("three")]], |session| session).live();
    let done = world.run(model).await;
    assert_eq!((texts(&done.texts), done.calls.len()), (vec!["one ", "two", "three"], 1));
    assert_eq!(done.text.as_deref(), Some("three"));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_may_fail_before_its_first_token() {
    let world = World::new();
    let attempts = vec![vec![Step::RefuseToOpen(ErrorKind::ServerError)], vec![], tokens("one two")];
    let done = world.run(world.model(vec![attempts], |session| session).live()).await;
    assert_eq!((texts(&done.texts), world.seen.opened()), (vec!["one ", "two"], 3));
    assert_eq!(done.reason, TerminationReason::NaturalEnd);
}

#[tokio::test(start_paused = true)]
async fn text_that_is_void_ends_the_answer() {
    let world = World::new();
    let attempts = vec![then(tokens("one two "), &[Step::Throw(ErrorKind::Network)]), tokens("afresh")];
    let done = world.run(world.model(vec![attempts], |session| session).live()).await;
    assert_eq!(
        done.reason,
        TerminationReason::Error(
            "the model did not answer: an attempt failed of which 8 bytes were given on, and only 0 of them still count; \
             give answers on whole, or save checkpoints: NETWORK_ERROR: thrown: network"
                .to_owned()
        )
    );
    assert_eq!((done.text, world.seen.opened()), (None, 1), "nothing is opened for an answer that cannot be");
    assert!(world.called().last().unwrap().starts_with("abort("));
}

#[tokio::test(start_paused = true)]
async fn a_checkpoint_that_holds_what_was_given_on_is_gone_on_from() {
    let world = World::new();
    let attempts = vec![then(tokens("one two "), &[Step::Throw(ErrorKind::Network)]), tokens("two three")];
    let done = world.run(world.model(vec![attempts], |session| session.continuation(every(1))).live()).await;
    assert_eq!(done.text.as_deref(), Some("one two three"));
    assert_eq!(texts(&done.texts), ["one ", "two ", "three"]);
}

#[tokio::test(start_paused = true)]
async fn a_checkpoint_that_is_refused_ends_the_answer_too() {
    let world = World::new();
    let attempts = vec![then(tokens("one two "), &[Step::Throw(ErrorKind::Network)]), tokens("afresh")];
    let refuses = |session: SessionBuilder| session.continuation(every(1).validate(|_, _| false));
    let done = world.run(world.model(vec![attempts], refuses).live()).await;
    let TerminationReason::Error(said) = done.reason else { panic!("{:?}", done.reason) };
    assert!(said.contains("8 bytes were given on, and only 0 of them"), "{said}");
}
