//! Sessions with a model's stream.
use runstate::stream_session::*;
use serde_json::json;

use super::{assert_stored, doctored, round_trips, tables_agree, takes_its_edges};

fn error(code: ErrorCode) -> StreamError {
    StreamError::new(code, "it broke")
}

/// One payload of every event. The guards of `at` let all of them pass.
pub(crate) fn events() -> Vec<StreamSessionEvent> {
    vec![
        Open::Stream.into(),
        Retry::new(RetryKind::Model, error(ErrorCode::GuardrailViolation)).into(),
        FallBack::new(error(ErrorCode::NetworkError)).into(),
        Complete.into(),
        Fail::new(error(ErrorCode::StreamAborted)).into(),
    ]
}

fn new(fallbacks: u32) -> StreamSession<Init> {
    StreamSession::new(SessionRecord::new("stream_1", fallbacks))
}

/// Streams "Hello" with a checkpoint behind "Hel".
fn streaming(fallbacks: u32) -> StreamSession<Streaming> {
    let mut session = new(fallbacks).open(Open::Stream);
    session.receive("H").unwrap();
    session.receive("el").unwrap();
    session.save_checkpoint();
    session.receive("lo").unwrap();
    session
}

fn retrying() -> StreamSession<Retrying> {
    streaming(1).retry(Retry::new(RetryKind::Model, error(ErrorCode::DriftDetected))).unwrap()
}

fn falling_back() -> StreamSession<FallingBack> {
    streaming(1).fall_back(FallBack::new(error(ErrorCode::InterTokenTimeout))).unwrap()
}

/// A session in that state, reached by legal steps.
pub(crate) fn at(status: StreamSessionStatus) -> AnyStreamSession {
    match status {
        StreamSessionStatus::Init => new(1).into(),
        StreamSessionStatus::Streaming => streaming(1).into(),
        StreamSessionStatus::Retrying => retrying().into(),
        StreamSessionStatus::FallingBack => falling_back().into(),
        StreamSessionStatus::Completed => streaming(1).complete(Complete).unwrap().into(),
        StreamSessionStatus::Errored => {
            streaming(1).fail(Fail::new(error(ErrorCode::ZeroOutput))).unwrap().into()
        }
    }
}

#[test]
fn at_reaches_the_state_it_is_asked_for() {
    for &status in StreamSessionStatus::ALL {
        assert_eq!(at(status).status(), status);
    }
}

#[test]
fn every_edge_can_be_taken_and_nothing_else() {
    takes_its_edges(at, events);
}

#[test]
fn the_document_lists_its_states_and_edges() {
    tables_agree::<StreamSessionStatus>(include_str!("../../docs/lifecycles/stream-session.md"));
}

#[test]
fn every_state_survives_storage() {
    assert_stored("stream_session_stored", &round_trips(at));
}

#[test]
fn a_session_aborted_in_a_back_off_survives_storage() {
    assert_stored(
        "stream_session_aborting_stored",
        &round_trips(|status| match status {
            StreamSessionStatus::Streaming => retrying().open(Open::AbortOnly).into(),
            other => at(other),
        }),
    );
}

#[test]
fn init_owns_nothing() {
    let record = SessionRecord::new("stream_1", 2);
    assert_eq!(
        (record.stream_id(), record.fallbacks(), record.retries()),
        ("stream_1", 2, Retries::default())
    );
    let session = StreamSession::new(record);
    let _: &Init = session.state();
}

#[test]
fn streaming_owns_its_attempt_and_the_output_so_far() {
    let session = streaming(0);
    let state = session.state();
    assert_eq!((state.attempt().stream(), state.attempt().number()), (0, 1));
    assert!(!state.attempt().is_retry() && !state.attempt().is_fallback() && !state.is_aborting());
    assert_eq!(state.attempt().fallback_index(), None);
    assert_eq!((state.output().content(), state.output().tokens()), ("Hello", 3));
    let checkpoint = state.output().checkpoint().unwrap();
    assert_eq!((checkpoint.content, checkpoint.tokens), ("Hel", 2));
}

#[test]
fn retrying_owns_the_failed_attempt_its_error_and_the_output() {
    let session = retrying();
    let state = session.state();
    assert_eq!((state.failed().number(), state.kind()), (1, RetryKind::Model));
    assert_eq!((state.error().code(), state.error().message()), (ErrorCode::DriftDetected, "it broke"));
    assert_eq!(state.output().content(), "Hello");
}

#[test]
fn falling_back_owns_where_it_comes_from_and_goes_to() {
    let session = falling_back();
    let state = session.state();
    assert_eq!((state.failed().stream(), state.to_stream(), state.fallback_index()), (0, 1, 0));
    assert_eq!(state.error().code(), ErrorCode::InterTokenTimeout);
    assert_eq!(state.output().content(), "Hello");
}

#[test]
fn completed_owns_the_whole_output() {
    let session = streaming(0).complete(Complete).unwrap();
    assert_eq!((session.state().output().content(), session.state().attempt().number()), ("Hello", 1));
    assert_eq!(session.into_parts().0.stream_id(), "stream_1");
}

#[test]
fn errored_owns_the_error_and_what_was_received() {
    let session = streaming(0).fail(Fail::new(error(ErrorCode::AllStreamsExhausted))).unwrap();
    let state = session.state();
    assert_eq!(state.error().code(), ErrorCode::AllStreamsExhausted);
    assert_eq!((state.attempt().number(), state.output().tokens()), (1, 3));
}

#[test]
fn attempts_count_on_their_stream_and_start_again_on_the_next() {
    let mut session = new(1).open(Open::Stream);
    for (number, kind) in [(1, RetryKind::Network), (2, RetryKind::Model), (3, RetryKind::Transient)] {
        assert_eq!(session.state().attempt().number(), number);
        let retrying = session.retry(Retry::new(kind, error(ErrorCode::NetworkError))).unwrap();
        assert_eq!(retrying.state().failed().number(), number, "the retry has the number of what failed");
        session = retrying.open(Open::Stream);
        assert!(session.state().attempt().is_retry());
    }
    assert_eq!(session.record().retries(), Retries { model: 1, total: 3 });

    let session = session.fall_back(FallBack::new(error(ErrorCode::NetworkError))).unwrap();
    assert_eq!(session.state().failed().number(), 4);
    let session = session.open(Open::Stream);
    let attempt = session.state().attempt();
    assert_eq!((attempt.stream(), attempt.number(), attempt.fallback_index()), (1, 1, Some(0)));
    assert!(attempt.is_fallback() && !attempt.is_retry());
    assert_eq!(
        session.record().retries(),
        Retries { model: 0, total: 3 },
        "a fresh budget for the model alone"
    );
}

#[test]
fn opening_a_stream_goes_on_from_the_checkpoint() {
    let resumed = [retrying().open(Open::Stream), falling_back().open(Open::Stream)];
    for mut session in resumed {
        assert_eq!((session.state().output().content(), session.state().output().tokens()), ("Hel", 2));
        session.receive("p").unwrap();
        let session = session.complete(Complete).unwrap();
        assert_eq!((session.state().output().content(), session.state().output().tokens()), ("Help", 3));
    }
}

#[test]
fn without_a_checkpoint_an_attempt_starts_afresh() {
    let mut session = retrying();
    assert!(session.drop_checkpoint());
    assert!(!session.drop_checkpoint(), "it is gone");
    assert_eq!(session.state().output().content(), "Hello", "kept until a stream is opened");
    let session = session.open(Open::Stream);
    assert_eq!((session.state().output().content(), session.state().output().tokens()), ("", 0));

    let mut session = falling_back();
    assert!(session.drop_checkpoint());
    assert_eq!(session.open(Open::Stream).state().output().content(), "");
}

#[test]
fn an_abort_in_a_back_off_re_enters_streaming_without_a_stream() {
    let aborting = [
        (new(1).open(Open::AbortOnly), ""),
        (retrying().open(Open::AbortOnly), "Hello"),
        (falling_back().open(Open::AbortOnly), "Hello"),
    ];
    for (mut session, content) in aborting {
        assert!(session.state().is_aborting());
        let attempt = session.state().attempt();
        assert_eq!((attempt.stream(), attempt.number()), (0, 1), "no attempt was made");
        assert_eq!(session.receive("x"), Err(StreamSessionError::Aborting { step: "receive" }));

        let network = || error(ErrorCode::NetworkError);
        let back = session.retry(Retry::new(RetryKind::Network, network())).unwrap_err();
        assert_eq!(back.error, StreamSessionError::Aborting { step: "retry" });
        let back = back.machine.fall_back(FallBack::new(network())).unwrap_err();
        assert_eq!(back.error, StreamSessionError::Aborting { step: "fall_back" });
        let back = back.machine.complete(Complete).unwrap_err();
        assert_eq!(back.error, StreamSessionError::Aborting { step: "complete" });
        let back = back.machine.fail(Fail::new(network())).unwrap_err();
        assert_eq!(back.error, StreamSessionError::Aborting { step: "fail" });

        let ended = back.machine.fail(Fail::new(error(ErrorCode::StreamAborted))).unwrap();
        assert_eq!(ended.state().error().code(), ErrorCode::StreamAborted);
        assert_eq!(ended.state().output().content(), content, "what was received is not lost");
    }
}

#[test]
fn the_last_stream_has_no_fallback() {
    let back = streaming(0).fall_back(FallBack::new(error(ErrorCode::ZeroOutput))).unwrap_err();
    assert_eq!(back.error, StreamSessionError::NoFallback { fallbacks: 0 });
    assert_eq!(back.event, FallBack::new(error(ErrorCode::ZeroOutput)));
    assert_eq!(back.machine.state().output().content(), "Hello");

    let on_last = falling_back().open(Open::Stream);
    assert!(on_last.fall_back(FallBack::new(error(ErrorCode::ZeroOutput))).is_err());
}

#[test]
fn some_errors_let_no_attempt_follow() {
    let recoverable = [
        (ErrorCode::StreamAborted, false),
        (ErrorCode::InitialTokenTimeout, true),
        (ErrorCode::InterTokenTimeout, true),
        (ErrorCode::ZeroOutput, true),
        (ErrorCode::GuardrailViolation, true),
        (ErrorCode::FatalGuardrailViolation, false),
        (ErrorCode::InvalidStream, true),
        (ErrorCode::AllStreamsExhausted, false),
        (ErrorCode::NetworkError, true),
        (ErrorCode::DriftDetected, true),
    ];
    for (code, may_follow) in recoverable {
        assert_eq!(
            streaming(1).retry(Retry::new(RetryKind::Model, error(code))).is_ok(),
            may_follow,
            "{code}"
        );
        assert_eq!(streaming(1).fall_back(FallBack::new(error(code))).is_ok(), may_follow, "{code}");
        assert!(streaming(1).fail(Fail::new(error(code))).is_ok(), "{code}");
        assert_eq!(serde_json::to_value(code).unwrap(), code.name(), "stored as it is named");
    }
}

#[test]
fn a_failed_attempt_takes_the_edge_of_its_recovery() {
    let network = || error(ErrorCode::NetworkError);
    let rows = [
        (Recovery::Retry(RetryKind::Network), "retry", StreamSessionStatus::Retrying),
        (Recovery::Fallback, "fallback", StreamSessionStatus::FallingBack),
        (Recovery::Halt, "halt", StreamSessionStatus::Errored),
    ];
    for (recovery, strategy, status) in rows {
        assert_eq!(recovery.strategy(), strategy);
        let next = streaming(1).attempt_failed(network(), recovery).unwrap();
        assert_eq!(AnyStreamSession::from(next).status(), status);
        // Where the edge is guarded, session and error come back.
        let aborting = retrying().open(Open::AbortOnly);
        let back = aborting.attempt_failed(network(), recovery).unwrap_err();
        assert_eq!(back.event, network());
        assert!(back.machine.state().is_aborting());
    }
}

#[test]
fn the_dynamic_machine_says_why_it_refuses() {
    let aborting = AnyStreamSession::from(retrying().open(Open::AbortOnly));
    let refused = aborting.apply(Complete.into()).unwrap_err();
    insta::assert_snapshot!(refused, @"stream_session in state STREAMING refuses 'complete': cannot complete: the session is being aborted and no stream is open; fail it with STREAM_ABORTED");
    let (aborting, _) = refused.into_parts();
    let fatal = error(ErrorCode::FatalGuardrailViolation);
    let refused = aborting.apply(FallBack::new(fatal.clone()).into()).unwrap_err();
    assert!(refused.guard().is_some());
    let refused =
        at(StreamSessionStatus::Streaming).apply(Retry::new(RetryKind::Model, fatal).into()).unwrap_err();
    insta::assert_snapshot!(refused, @"stream_session in state STREAMING refuses 'retry': no attempt may follow FATAL_GUARDRAIL_VIOLATION: fail the session with it");
    let refused = AnyStreamSession::from(streaming(0))
        .apply(FallBack::new(error(ErrorCode::ZeroOutput)).into())
        .unwrap_err();
    insta::assert_snapshot!(refused, @"stream_session in state STREAMING refuses 'fall_back': no stream is left to fall back to: all 0 fallbacks are used; fail the session with the error");
}

#[test]
fn a_doctored_output_is_refused() {
    let mut session = new(0).open(Open::Stream);
    session.receive("né").unwrap();
    session.save_checkpoint();
    let session = AnyStreamSession::from(session);
    let said = [
        doctored(&session, |json| json["state"]["output"]["checkpoint"]["bytes"] = json!(2)),
        doctored(&session, |json| json["state"]["output"]["checkpoint"]["bytes"] = json!(4)),
        doctored(&session, |json| json["state"]["output"]["checkpoint"]["tokens"] = json!(2)),
        doctored(&session, |json| json["state"]["output"]["checkpoint"]["tokens"] = json!(0)),
        doctored(&session, |json| json["state"]["output"]["tokens"] = json!(0)),
        doctored(&session, |json| {
            json["state"]["output"] = json!({"content": "x", "tokens": 0, "checkpoint": null});
        }),
        doctored(&session, |json| json["state"]["attempt"]["number"] = json!(0)),
        doctored(&session, |json| json["state"]["opened"] = json!("maybe")),
        doctored(&session, |json| json["state"]["surprise"] = json!(1)),
        doctored(&session, |json| json["record"]["fallbacks"] = json!(-1)),
    ];
    assert_stored("stream_session_doctored", &said.join("\n"));
}
