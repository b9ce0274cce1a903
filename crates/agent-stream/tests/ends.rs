//! Answers that do not come to be: failures with their codes, cancelled runs, dropped loops.

use std::error::Error;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use runstate::stream_session::ErrorCode;
use runstate::termination::TerminationReason;
use runstate_agent::answer::ModelEvent;
use runstate_agent::{
    Agent, CancellationToken, InferenceRequest, Input, Model, ModelStream, RunHandles, RunState, run_loop,
};
use runstate_agent_stream::SessionModel;
use runstate_stream::{ErrorKind, RetryPolicy, SessionError};

use super::stream::script::{Step, scripted, then, tokens};
use super::stream::sessions::{every, policy};
use super::world::{World, ms};

#[tokio::test(start_paused = true)]
async fn exhausted_streams_end_the_run_with_their_code() {
    let world = World::new();
    let other = world.seen.clone();
    let down = vec![then(tokens("half "), &[Step::Throw(ErrorKind::ServerError)])];
    let model = world.model(vec![down.clone()], move |session| {
        let session = session.fallback(scripted(&other, down.clone()));
        session.retry(RetryPolicy { total_retries: 1, ..policy() })
    });
    let done = world.run(model).await;
    let said = "the model did not answer: ALL_STREAMS_EXHAUSTED: all 2 streams failed, the last with NETWORK_ERROR: \
                thrown: server_error";
    assert_eq!(done.reason, TerminationReason::Error(said.to_owned()));
    assert_eq!((done.text, world.seen.opened()), (None, 3));
    let records = world.records.lock().unwrap();
    let ended = records[0].replay(()).unwrap().result.unwrap().unwrap_err();
    assert_eq!((ended.code(), ended.state.failures.len()), (ErrorCode::AllStreamsExhausted, 3));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_aborts_its_session() {
    for (attempts, at) in [
        (vec![then(tokens("half "), &[Step::Silence])], 30),
        (vec![then(tokens("half "), &[Step::Throw(ErrorKind::Network)]), tokens("unused")], 30),
        (vec![vec![Step::SlowToOpen(1_000), Step::Complete]], 30),
    ] {
        let world = World::new();
        let token = CancellationToken::new();
        let cancel = token.clone();
        tokio::spawn(async move {
            tokio::time::sleep(ms(at)).await;
            cancel.cancel();
        });
        let other = world.seen.clone();
        let model = world.model(vec![attempts], move |session| {
            session.fallback(scripted(&other, vec![tokens("unused")])).continuation(every(1))
        });
        let done = world.run_until(model, token).await;
        assert_eq!((done.reason, done.took_ms), (TerminationReason::Cancelled, u128::from(at)));
        assert_eq!(
            (world.seen.opened(), world.seen.open.load(Ordering::SeqCst)),
            (1, 0),
            "nothing is opened any more"
        );
        let called = world.called();
        assert!(called.last().unwrap().starts_with("abort("), "{called:?}");
        let records = world.records.lock().unwrap();
        let ended = records[0].replay(()).unwrap().result.unwrap().unwrap_err();
        assert_eq!(ended.code(), ErrorCode::StreamAborted, "its record is whole");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_loop_aborts_its_session() {
    let world = World::new();
    let model = world.model(vec![vec![then(tokens("half "), &[Step::Silence])]], |session| session);
    let agent = Agent::builder(model).build().unwrap();
    let mut state = RunState::new("r1");
    let driven = run_loop(&agent, &mut state, Input::message("hi"), RunHandles::new());
    assert!(tokio::time::timeout(ms(10), driven).await.is_err());
    assert_eq!(world.seen.open.load(Ordering::SeqCst), 0);
    assert_eq!(world.called().last().unwrap(), "abort(1, 5)");
    assert_eq!(world.records.lock().unwrap().len(), 1);
}

type Events = Arc<Mutex<Vec<ModelEvent>>>;

/// Asks a model with a token of its own, which is cancelled in the middle of the answer, and keeps what it says.
struct Ask<M>(M, Events);

impl<M: Model> Model for Ask<M> {
    fn infer(&self, mut request: InferenceRequest) -> ModelStream<'_> {
        let token = CancellationToken::new();
        request.cancelled = token.clone();
        tokio::spawn(async move {
            tokio::time::sleep(ms(30)).await;
            token.cancel();
        });
        let answer = self.0.infer(request);
        Box::pin(futures_util::stream::once(async move {
            let events: Vec<_> = answer.collect().await;
            *self.1.lock().unwrap() = events;
            std::future::pending().await
        }))
    }
}

#[tokio::test(start_paused = true)]
async fn the_requests_token_aborts_by_itself() {
    let world = World::new();
    let of = world.model(vec![vec![then(tokens("half "), &[Step::Silence])]], |session| session);
    let kept = Events::default();
    let agent = Agent::builder(Ask(of, Arc::clone(&kept))).build().unwrap();
    let mut state = RunState::new("r1");
    let driven = run_loop(&agent, &mut state, Input::message("hi"), RunHandles::new());
    assert!(tokio::time::timeout(ms(100), driven).await.is_err());
    let events = kept.lock().unwrap();
    let [ModelEvent::Error(error)] = events.as_slice() else { panic!("{events:?}") };
    let session = error.source().unwrap().downcast_ref::<SessionError>().unwrap();
    assert_eq!((session.code(), session.state.content.as_str()), (ErrorCode::StreamAborted, "half "));
}

#[tokio::test(start_paused = true)]
async fn session_factory_panic_ends_the_run_and_ended_panic_does_not() {
    let broken = SessionModel::<()>::new(|_| panic!("no session"));
    let agent = Agent::builder(broken).build().unwrap();
    let mut state = RunState::new("r1");
    let outcome = run_loop(&agent, &mut state, Input::message("hi"), RunHandles::new()).await.unwrap();
    assert_eq!(outcome.reason, TerminationReason::Error("the model panicked: no session".to_owned()));

    let world = World::new();
    let model = world.model(vec![vec![tokens("fine")]], |session| session).ended(|_| panic!("no look"));
    let done = world.run(model).await;
    assert_eq!(done.text.as_deref(), Some("fine"));
}
