//! `stream_session`: document 002, "State Machine", "Parameter Indexing" and "Continuation/Resume Flow".

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::LazyJust;
use runstate::stream_session::{
    AnyStreamSession, Complete, ErrorCode, Fail, FallBack, Open, Retry, RetryKind, SessionRecord,
    StreamError, StreamSessionEvent, StreamSessionStatus,
};
use runstate::testing::Subject;
use serde_json::{Value, json};

use super::facts;
use super::model::{At, Documented, Table};

/// Sessions with two streams to fall back to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sessions;

fn errors() -> impl Strategy<Value = StreamError> {
    let codes = select(vec![
        ErrorCode::StreamAborted,
        ErrorCode::InitialTokenTimeout,
        ErrorCode::InterTokenTimeout,
        ErrorCode::ZeroOutput,
        ErrorCode::GuardrailViolation,
        ErrorCode::FatalGuardrailViolation,
        ErrorCode::InvalidStream,
        ErrorCode::AllStreamsExhausted,
        ErrorCode::NetworkError,
        ErrorCode::DriftDetected,
    ]);
    (codes, 0..9_u8).prop_map(|(code, n)| StreamError::new(code, format!("error {n}")))
}

impl Subject for Sessions {
    type Machine = AnyStreamSession;

    fn record(&self) -> SessionRecord {
        SessionRecord::new("stream_1", 2)
    }

    fn event(&self, _: &AnyStreamSession, name: &'static str) -> BoxedStrategy<StreamSessionEvent> {
        match name {
            "open" => {
                prop_oneof![5 => Just(Open::Stream), 1 => Just(Open::AbortOnly)].prop_map(Into::into).boxed()
            }
            "retry" => {
                let kinds = select(vec![RetryKind::Model, RetryKind::Network, RetryKind::Transient]);
                (kinds, errors()).prop_map(|(kind, error)| Retry::new(kind, error).into()).boxed()
            }
            "fall_back" => errors().prop_map(|error| FallBack::new(error).into()).boxed(),
            "complete" => LazyJust::new(|| Complete.into()).boxed(),
            "fail" => errors().prop_map(|error| Fail::new(error).into()).boxed(),
            other => unreachable!("stream_session has no event {other}"),
        }
    }
}

impl Documented for Sessions {
    /// Document 002, "State Machine": three chains and an exit. It marks ERROR terminal in words; COMPLETE has no way out.
    const TABLE: Table = Table {
        name: "stream_session",
        machine: "StreamSession",
        states: &["INIT", "STREAMING", "RETRYING", "FALLBACK", "COMPLETE", "ERROR"],
        renamed: &[("FALLBACK", "FallingBack"), ("COMPLETE", "Completed"), ("ERROR", "Errored")],
        initial: "INIT",
        terminal: &["COMPLETE", "ERROR"],
        events: &["open", "retry", "fall_back", "complete", "fail"],
        drawn: &[
            ("INIT", "open", "STREAMING", ""),
            ("STREAMING", "complete", "COMPLETE", ""),
            ("STREAMING", "retry", "RETRYING", ""),
            ("RETRYING", "open", "STREAMING", ""),
            ("STREAMING", "fall_back", "FALLBACK", ""),
            ("FALLBACK", "open", "STREAMING", ""),
            ("STREAMING", "fail", "ERROR", "terminal"),
        ],
        prose: &[],
        guarded: &[
            ("STREAMING", "retry"),
            ("STREAMING", "fall_back"),
            ("STREAMING", "complete"),
            ("STREAMING", "fail"),
        ],
    };

    fn at(status: StreamSessionStatus) -> AnyStreamSession {
        crate::lifecycles::stream_session::at(status)
    }

    fn begin() -> (Value, Value) {
        let retries = json!({ "model": 0, "total": 0 });
        (json!({ "stream_id": "stream_1", "fallbacks": 2, "retries": retries }), Value::Null)
    }

    fn enter(session: &mut At, event: &str, with: &Value) -> Option<Value> {
        let at = session.state.clone();
        if event == "open" {
            return Some(open(session, with));
        }
        // Only STREAMING is left by the others. An abort goes on to ERROR alone, and no attempt follows it (C5).
        let is_aborting = at["opened"] == "abort_only";
        let error = match event {
            "complete" => Value::Null,
            _ => json!({
                "code": facts::screaming(facts::name(&with["error"]["code"])), "message": with["error"]["message"],
            }),
        };
        let is_final = ["STREAM_ABORTED", "FATAL_GUARDRAIL_VIOLATION", "ALL_STREAMS_EXHAUSTED"]
            .iter()
            .any(|code| error["code"] == *code);
        match event {
            "retry" if !is_aborting && !is_final => {
                let kind = facts::tagged(&with["kind"]);
                let retries = &mut session.record["retries"];
                // C10: every retry counts toward the total, one of the model's toward the stream's budget too.
                retries["total"] = (retries["total"].as_u64().unwrap() + 1).into();
                if kind == "model" {
                    retries["model"] = (retries["model"].as_u64().unwrap() + 1).into();
                }
                Some(json!({ "failed": at["attempt"], "kind": kind, "error": error, "output": at["output"] }))
            }
            "fall_back" if !is_aborting && !is_final => {
                let is_one_left = at["attempt"]["stream"].as_u64() < session.record["fallbacks"].as_u64();
                is_one_left
                    .then(|| json!({ "failed": at["attempt"], "error": error, "output": at["output"] }))
            }
            "complete" if !is_aborting => Some(json!({ "attempt": at["attempt"], "output": at["output"] })),
            "fail" if !is_aborting || error["code"] == "STREAM_ABORTED" => {
                Some(json!({ "attempt": at["attempt"], "error": error, "output": at["output"] }))
            }
            _ => None,
        }
    }

    /// Tokens arrive, checkpoints are saved, and dropped where their validation fails (C13).
    fn aside(session: &mut AnyStreamSession, at: &mut At, lot: u8) {
        match session {
            AnyStreamSession::Streaming(session) if lot.is_multiple_of(3) => {
                let _saved = session.save_checkpoint();
                let output = &mut at.state["output"];
                let bytes = output["content"].as_str().unwrap().len();
                output["checkpoint"] = json!({ "bytes": bytes, "tokens": output["tokens"] });
            }
            AnyStreamSession::Streaming(session) => {
                let token = ["a", "é", "token "][usize::from(lot) % 3];
                let is_received = session.receive(token).is_ok();
                assert_eq!(is_received, at.state["opened"] == "stream", "no stream, no token");
                if is_received {
                    let output = &mut at.state["output"];
                    output["content"] = (output["content"].as_str().unwrap().to_owned() + token).into();
                    output["tokens"] = (output["tokens"].as_u64().unwrap() + 1).into();
                }
            }
            AnyStreamSession::Retrying(session) if lot.is_multiple_of(4) => {
                assert_eq!(session.drop_checkpoint(), !at.state["output"]["checkpoint"].is_null());
                at.state["output"]["checkpoint"] = Value::Null;
            }
            AnyStreamSession::FallingBack(session) if lot.is_multiple_of(4) => {
                assert_eq!(session.drop_checkpoint(), !at.state["output"]["checkpoint"].is_null());
                at.state["output"]["checkpoint"] = Value::Null;
            }
            _ => {}
        }
    }
}

fn open(session: &mut At, with: &Value) -> Value {
    let at = &session.state;
    let opened = facts::tagged(with);
    let (mut attempt, mut output) = (at["failed"].clone(), at["output"].clone());
    match session.status {
        "INIT" => {
            attempt = json!({ "stream": 0, "number": 1 });
            output = json!({ "content": "", "tokens": 0, "checkpoint": null });
        }
        // Without a stream nothing begins, and what was received stays.
        _ if opened == "abort_only" => {}
        status => {
            // C2: attempts are counted from 1 on each stream.
            if status == "RETRYING" {
                attempt["number"] = (attempt["number"].as_u64().unwrap() + 1).into();
            } else {
                attempt = json!({ "stream": attempt["stream"].as_u64().unwrap() + 1, "number": 1 });
                session.record["retries"]["model"] = 0.into();
            }
            // "Continuation/Resume Flow": an attempt goes on from the checkpoint, or from nothing.
            let (bytes, tokens) = match &output["checkpoint"] {
                Value::Null => (0, json!(0)),
                mark => (mark["bytes"].as_u64().unwrap(), mark["tokens"].clone()),
            };
            let kept = output["content"].as_str().unwrap()[..usize::try_from(bytes).unwrap()].to_owned();
            output["content"] = kept.into();
            output["tokens"] = tokens;
        }
    }
    json!({ "attempt": attempt, "opened": opened, "output": output })
}
