//! A command decides the question that it names, and never another one.

use crate::session::Session;

const SECOND_LIFE: &str = "name: pay\nmessage: go\napprove: [pay]\ntools: {pay: {}}\nmodel:\n\
    - calls: [{id: c, tool: pay, arguments: {amount: 1}}]\n\
    - calls: [{id: c, tool: pay, arguments: {amount: 1000000}}]\n\
    - text: paid\n";

const TWICE: &str = "name: pay\nmessage: go\nplugins: [{ask: {tool: pay, times: 2, ticket: {distinct_actors: true}}}]\n\
    tools: {pay: {}}\nmodel:\n\
    - calls: [{id: c, tool: pay, arguments: {amount: 900}}]\n\
    - text: paid\n";

fn parked(scenario: &str) -> Session {
    let session = Session::new();
    session.write("pay.yaml", scenario);
    assert_eq!(session.run(&["run", "pay.yaml", "--state-dir", "runs"]).code, Some(3));
    session
}

fn say(session: &Session, args: &[&str]) -> (Option<i32>, String) {
    let said = session.run(&[args, &["--state-dir", "runs"]].concat());
    (said.code, said.shown())
}

#[test]
fn a_repeated_command_does_not_approve_the_second_life_of_an_id() {
    let session = parked(SECOND_LIFE);
    let approve = ["approve", "c", "--run", "pay-1", "--actor", "ada"];
    assert_eq!(say(&session, &approve).0, Some(0));
    // Before it is taken it is the same decision again.
    let (code, again) = say(&session, &approve);
    assert!(code == Some(0) && again.contains("duplicate"), "{again}");
    assert_eq!(say(&session, &["resume", "pay-1"]).0, Some(3));
    for command in [&approve[..], &["approve", "c"], &["deny", "c", "--run", "pay-1"]] {
        let (code, refused) = say(&session, command);
        assert!(code == Some(2) && refused.contains("pay-1/c#2/1"), "{refused}");
    }
    assert!(say(&session, &["approvals"]).1.contains("1000000"), "it still waits");
    // By its suspension it is the first question, and decided.
    let (code, first) = say(&session, &["approve", "pay-1/c/1", "--run", "pay-1", "--actor", "ada"]);
    assert!(code == Some(0) && first.contains("duplicate"), "{first}");
    assert_eq!(say(&session, &["approve", "pay-1/c#2/1"]).0, Some(0));
    assert_eq!(say(&session, &["resume", "pay-1"]).0, Some(0));
}

#[test]
fn two_clicks_of_one_person_are_one_approval() {
    let session = parked(TWICE);
    let by = |actor: &str, more: &[&str]| say(&session, &[&["approve"], more, &["--actor", actor]].concat());
    assert_eq!(by("ada", &["c"]).0, Some(0));
    assert_eq!(say(&session, &["resume", "pay-1"]).0, Some(3), "the second person is asked");
    let (code, second) = by("ada", &["c"]);
    assert!(code == Some(2) && second.contains("ambiguous"), "{second}");
    let (code, second) = by("ada", &["pay-1/c/2"]);
    assert!(code == Some(1) && second.contains("not_distinct"), "{second}");
    let (code, second) = by("grace", &["pay-1/c/1"]);
    assert!(
        code == Some(1) && second.contains("unknown"),
        "without the run a decided question is not found: {second}"
    );
    assert_eq!(by("grace", &["pay-1/c/2"]).0, Some(0));
    assert_eq!(say(&session, &["resume", "pay-1"]).0, Some(0));
}

#[test]
fn an_answer_that_is_the_result_is_not_left_out() {
    for mode in ["use_decision_as_tool_result", "pass_decision_to_tool"] {
        let answered = format!(
            "name: ask\nmessage: go\nplugins: [{{ask: {{tool: look, ticket: {{resume_mode: {mode}}}}}}}]\n\
             tools: {{look: {{}}}}\nmodel:\n    - calls: [{{id: c, tool: look}}]\n    - text: seen\n"
        );
        let session = parked(&answered);
        let (code, refused) = say(&session, &["approve", "c"]);
        assert!(
            code == Some(2) && refused.contains("asks for an answer") && refused.contains("--result"),
            "{mode}: {refused}"
        );
        assert_eq!(say(&session, &["approve", "c", "--result", "null"]).0, Some(0), "{mode}");
    }
}
