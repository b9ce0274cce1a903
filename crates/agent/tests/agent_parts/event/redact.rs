//! What must not be seen.

use std::sync::{Arc, Mutex};

use runstate::decision::{ResumeMode, Suspension};
use runstate::tool_call::CancelCause;
use runstate_agent::event::{CallOutcome, Redact, Redacted, Redactor, Which};
use serde_json::{Value, json};

/// Answers each question with the same, and keeps the questions.
struct Answering {
    answer: Value,
    asked: Mutex<Vec<(String, String, Which, Value)>>,
}

impl Answering {
    fn new(answer: Value) -> Arc<Self> {
        Arc::new(Answering { answer, asked: Mutex::default() })
    }

    fn asked(&self) -> Vec<(String, String, Which, Value)> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

impl Redact for Answering {
    fn redact(&self, what: Redacted<'_>, value: &Value) -> Value {
        let asked = (what.tool.to_owned(), what.call.to_owned(), what.which, value.clone());
        self.asked.lock().unwrap().push(asked);
        self.answer.clone()
    }
}

struct Panicking;

impl Redact for Panicking {
    fn redact(&self, _: Redacted<'_>, value: &Value) -> Value {
        panic!("I saw {value}")
    }
}

fn suspension() -> Suspension {
    let mut suspension = Suspension::new("s1", "approve", "send 1815 to ada?").expiring_at(5);
    suspension.parameters = json!({ "pin": 1815 });
    suspension.resuming_by(ResumeMode::PassDecisionToTool)
}

fn outcomes() -> [CallOutcome; 3] {
    [
        CallOutcome::Succeeded { output: json!([1815]), warning: Some("1815!".into()) },
        CallOutcome::Failed { error: "not 1815".into() },
        CallOutcome::Cancelled { reason: "1815?".into(), cause: CancelCause::Denied },
    ]
}

#[test]
fn values_are_shown_without_a_redactor() {
    for redactor in [Redactor::show_all(), Redactor::default()] {
        assert!(!redactor.withholds_deltas());
        assert_eq!(redactor.arguments("pay", "call_1", &json!([1])), json!([1]));
        assert_eq!(redactor.progress("pay", "call_1", &json!(0.5)), json!(0.5));
        assert_eq!(redactor.suspension("pay", "call_1", &suspension()), suspension());
        for outcome in outcomes() {
            assert_eq!(redactor.outcome("pay", "call_1", outcome.clone()), outcome);
        }
    }
}

#[test]
fn redactor_is_called_for_every_value_with_its_place() {
    let answering = Answering::new(json!("***"));
    let redactor = Redactor::new(answering.clone());
    assert!(redactor.withholds_deltas());
    let place = |which, value| ("pay".to_owned(), "call_1#2".to_owned(), which, value);

    assert_eq!(redactor.arguments("pay", "call_1#2", &json!({ "pin": 1815 })), json!("***"));
    assert_eq!(answering.asked(), [place(Which::Arguments, json!({ "pin": 1815 }))]);
    assert_eq!(redactor.progress("pay", "call_1#2", &json!(0.5)), json!("***"));
    assert_eq!(answering.asked(), [place(Which::Progress, json!(0.5))]);

    let [succeeded, failed, cancelled] = outcomes();
    let hidden = || String::from("***");
    assert_eq!(
        redactor.outcome("pay", "call_1#2", succeeded),
        CallOutcome::Succeeded { output: json!("***"), warning: Some(hidden()) }
    );
    assert_eq!(answering.asked(), [place(Which::Output, json!([1815])), place(Which::Error, json!("1815!"))]);
    let seen = redactor.outcome("pay", "call_1#2", failed);
    assert_eq!(seen, CallOutcome::Failed { error: hidden() });
    assert_eq!(answering.asked(), [place(Which::Error, json!("not 1815"))]);
    let seen = redactor.outcome("pay", "call_1#2", cancelled);
    assert_eq!(seen, CallOutcome::Cancelled { reason: hidden(), cause: CancelCause::Denied });
    assert_eq!(answering.asked(), [place(Which::Error, json!("1815?"))]);
    let plain = CallOutcome::Succeeded { output: Value::Null, warning: None };
    redactor.outcome("pay", "call_1#2", plain);
    assert_eq!(answering.asked(), [place(Which::Output, Value::Null)], "no warning, no question");
}

#[test]
fn redactor_hides_only_message_and_parameters_of_suspensions() {
    let see = |answer: Value| {
        let answering = Answering::new(answer);
        let seen = Redactor::new(answering.clone()).suspension("pay", "call_1", &suspension());
        let asked = json!({ "message": "send 1815 to ada?", "parameters": { "pin": 1815 } });
        assert_eq!(answering.asked(), [("pay".into(), "call_1".into(), Which::Suspension, asked)]);
        let rest =
            Suspension { message: seen.message.clone(), parameters: seen.parameters.clone(), ..suspension() };
        assert_eq!(seen, rest);
        (seen.message, seen.parameters)
    };
    let whole = json!({ "message": "send …?", "parameters": { "pin": "…" }, "more": 1 });
    assert_eq!(see(whole), ("send …?".into(), json!({ "pin": "…" })));
    // What is left out is gone, and what has no such parts is all there is to see.
    assert_eq!(see(json!({})), (String::new(), Value::Null));
    assert_eq!(see(json!({ "message": ["a"] })), (r#"["a"]"#.into(), Value::Null));
    assert_eq!(see(json!("withheld")), ("withheld".into(), Value::Null));
    assert_eq!(see(Value::Null), (String::new(), Value::Null));
}

#[test]
fn a_text_that_becomes_something_else_is_still_a_text() {
    let redactor = Redactor::new(Answering::new(json!({ "hidden": true })));
    let failed = redactor.outcome("pay", "call_1", CallOutcome::Failed { error: "x".into() });
    assert_eq!(failed, CallOutcome::Failed { error: r#"{"hidden":true}"#.into() });
}

#[test]
fn a_redactor_that_panics_shows_nothing_and_ends_nothing() {
    let redactor = Redactor::new(Arc::new(Panicking));
    let withheld = Redactor::PANICKED;
    assert_eq!(redactor.arguments("pay", "call_1", &json!(1815)), json!(withheld));
    assert_eq!(redactor.progress("pay", "call_1", &json!(1815)), json!(withheld));
    let seen = redactor.suspension("pay", "call_1", &suspension());
    assert_eq!((seen.message.as_str(), seen.parameters), (withheld, Value::Null));
    for outcome in outcomes() {
        let seen = redactor.outcome("pay", "call_1", outcome);
        assert!(!format!("{seen:?}").contains("1815"), "{seen:?}");
    }
    assert_eq!(format!("{redactor:?} {:?}", Redactor::show_all()), "Redactor(set) Redactor(none)");
}
