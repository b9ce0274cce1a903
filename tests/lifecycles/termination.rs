//! Why an activation ended: both written forms and the status that follows, row by row.

use proptest::prelude::*;
use runstate::run::RunStatus;
use runstate::termination::{FinalReason, StoppedReason, TerminationReason};
use serde_json::{Value, json};

fn stopped(code: &str, detail: Option<&str>) -> TerminationReason {
    TerminationReason::Stopped(StoppedReason::new(code, detail).unwrap())
}

/// Every reason of document 000 ("Terminal reasons") and 003 (the enum), with text, JSON and run status.
fn rows() -> Vec<(TerminationReason, &'static str, Value, RunStatus)> {
    use TerminationReason::{BehaviorRequested, Blocked, Cancelled, Error, NaturalEnd, Suspended};
    #[rustfmt::skip]
    let rows = vec![
        (NaturalEnd,                          "natural_end",             json!("natural_end"),                                          RunStatus::Done),
        (BehaviorRequested,                   "behavior_requested",      json!("behavior_requested"),                                   RunStatus::Done),
        (stopped("max_rounds", None),         "stopped:max_rounds",      json!({ "stopped": { "code": "max_rounds" } }),                RunStatus::Done),
        (stopped("timeout", Some("60 of 60")), "stopped:timeout:60 of 60", json!({ "stopped": { "code": "timeout", "detail": "60 of 60" } }), RunStatus::Done),
        (stopped("x", Some("")),              "stopped:x:",              json!({ "stopped": { "code": "x", "detail": "" } }),            RunStatus::Done),
        (stopped("x", Some("a:b")),           "stopped:x:a:b",           json!({ "stopped": { "code": "x", "detail": "a:b" } }),         RunStatus::Done),
        (Cancelled,                           "cancelled",               json!("cancelled"),                                            RunStatus::Done),
        (Blocked("no: writes".into()),        "blocked:no: writes",      json!({ "blocked": "no: writes" }),                            RunStatus::Done),
        (Blocked(String::new()),              "blocked:",                json!({ "blocked": "" }),                                      RunStatus::Done),
        (Suspended,                           "suspended",               json!("suspended"),                                            RunStatus::Waiting),
        (Error("line 1\nline 2".into()),      "error:line 1\nline 2",    json!({ "error": "line 1\nline 2" }),                          RunStatus::Done),
    ];
    rows
}

#[test]
fn every_reason_has_its_text_its_json_and_its_run_status() {
    for (reason, text, json, status) in rows() {
        assert_eq!(reason.to_string(), text);
        assert_eq!(text.parse::<TerminationReason>().unwrap(), reason);
        assert_eq!(serde_json::to_value(&reason).unwrap(), json);
        assert_eq!(serde_json::from_value::<TerminationReason>(json).unwrap(), reason);
        assert_eq!(reason.to_run_status(), status, "{reason}");
    }
}

/// A new variant wants its rows above.
#[test]
fn the_rows_cover_every_variant() {
    let place = |reason: &TerminationReason| match reason {
        TerminationReason::NaturalEnd => 0,
        TerminationReason::BehaviorRequested => 1,
        TerminationReason::Stopped(_) => 2,
        TerminationReason::Cancelled => 3,
        TerminationReason::Blocked(_) => 4,
        TerminationReason::Suspended => 5,
        TerminationReason::Error(_) => 6,
    };
    let mut places: Vec<u8> = rows().iter().map(|(reason, ..)| place(reason)).collect();
    places.dedup();
    assert_eq!(places, [0, 1, 2, 3, 4, 5, 6]);
}

/// The name of document 000 is read in both forms and written as that of 003.
#[test]
fn plugin_requested_is_read_as_behavior_requested() {
    let reason: TerminationReason = "plugin_requested".parse().unwrap();
    assert_eq!(reason, TerminationReason::BehaviorRequested);
    assert_eq!(reason.to_string(), "behavior_requested");
    let reason: TerminationReason = serde_json::from_value(json!("plugin_requested")).unwrap();
    assert_eq!(reason, TerminationReason::BehaviorRequested);
    assert_eq!(serde_json::to_value(&reason).unwrap(), "behavior_requested");
}

#[test]
fn a_stop_keeps_code_and_detail() {
    let reason = StoppedReason::new("token_budget", Some("1001 of 1000")).unwrap();
    assert_eq!((reason.code(), reason.detail()), ("token_budget", Some("1001 of 1000")));
    assert_eq!(StoppedReason::new("x", None).unwrap().detail(), None);
}

#[test]
fn unreadable_texts_are_refused_with_what_is_expected() {
    let expected = "expected natural_end, behavior_requested, stopped:<code>[:<detail>], cancelled, blocked:<why>, \
                    suspended or error:<what>";
    for text in [
        "",
        "finished",
        "NaturalEnd",
        "natural_end:",
        "natural_end ",
        "cancelled:now",
        "suspended:call_1",
        "error",
        "blocked",
        "stopped",
        ":",
        "plugin_requested:x",
    ] {
        let error = text.parse::<TerminationReason>().unwrap_err();
        assert_eq!(error.to_string(), format!("no termination reason is called {text:?}; {expected}"));
    }
    for (text, code) in
        [("stopped:", ""), ("stopped::x", ""), ("stopped:max rounds", "max rounds"), ("stopped:é", "é")]
    {
        let error = text.parse::<TerminationReason>().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{code:?} is no code of a stop: expected letters, digits, '_' and '-'")
        );
    }
}

#[test]
fn unreadable_json_is_refused() {
    for (json, why) in [
        (json!("finished"), "unknown variant `finished`"),
        (json!({ "stopped": { "code": "max rounds" } }), "\"max rounds\" is no code of a stop"),
        (json!({ "stopped": { "code": "x", "more": 1 } }), "unknown field `more`"),
        (json!({ "stopped": {} }), "missing field `code`"),
        (json!({ "blocked": 1 }), "invalid type: integer `1`"),
        (json!("error"), "invalid type: unit variant"),
        (json!(null), "invalid type"),
    ] {
        let error = serde_json::from_value::<TerminationReason>(json.clone()).unwrap_err().to_string();
        assert!(error.contains(why), "{json}: {error}");
    }
}

fn reason() -> impl Strategy<Value = TerminationReason> {
    let code = "[a-zA-Z0-9_-]{1,12}";
    prop_oneof![
        Just(TerminationReason::NaturalEnd),
        Just(TerminationReason::BehaviorRequested),
        (code, proptest::option::of(any::<String>()))
            .prop_map(|(code, detail)| stopped(&code, detail.as_deref())),
        Just(TerminationReason::Cancelled),
        any::<String>().prop_map(TerminationReason::Blocked),
        Just(TerminationReason::Suspended),
        any::<String>().prop_map(TerminationReason::Error),
    ]
}

proptest! {
    /// Whatever text a reason carries, both forms give it back.
    #[test]
    fn text_and_json_round_trip(reason in reason()) {
        prop_assert_eq!(&reason.to_string().parse::<TerminationReason>().unwrap(), &reason);
        let json = serde_json::to_string(&reason).unwrap();
        prop_assert_eq!(&serde_json::from_str::<TerminationReason>(&json).unwrap(), &reason);
    }

    /// A text that is read is written the same, but for the one alias.
    #[test]
    fn no_text_is_read_loosely(text in "(natural_end|behavior_requested|stopped|cancelled|blocked|suspended|error)?:?.{0,8}") {
        if let Ok(reason) = text.parse::<TerminationReason>() {
            prop_assert_eq!(reason.to_string(), text);
        }
    }
}

#[test]
fn a_run_is_over_with_any_reason_but_suspended() {
    for (reason, ..) in rows() {
        let status = reason.to_run_status();
        match FinalReason::try_from(reason.clone()) {
            Ok(last) => {
                assert_eq!((last.get(), status), (&reason, RunStatus::Done));
                let json = serde_json::to_string(&last).unwrap();
                assert_eq!(json, serde_json::to_string(&reason).unwrap());
                assert_eq!(serde_json::from_str::<FinalReason>(&json).unwrap(), last);
            }
            Err(error) => {
                assert_eq!(status, RunStatus::Waiting);
                assert_eq!(
                    error.to_string(),
                    "a run that ends as 'suspended' is not over: it waits for decisions"
                );
                let error = serde_json::from_str::<FinalReason>(r#""suspended""#).unwrap_err();
                assert!(error.to_string().contains("is not over"), "{error}");
            }
        }
    }
}
