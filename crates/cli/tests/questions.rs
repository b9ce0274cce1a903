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
    for command in [&approve[..], &["approve", "c", "--run", "pay-1"], &["deny", "c", "--run", "pay-1"]] {
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
fn a_reason_that_makes_another_decision_is_told() {
    let session = parked(SECOND_LIFE);
    let approve =
        |reason: &[&str]| say(&session, &[&["approve", "pay-1/c/1", "--actor", "ada"], reason].concat());
    assert_eq!(approve(&["--reason", "it is due"]).0, Some(0));
    for (reason, told) in [
        (&["--reason", "it's due"] as &[&str], "this decision has the reason \"it's due\""),
        (&[], "this decision has no reason"),
        (&["--json"], "this decision has no reason"),
    ] {
        let (code, said) = approve(reason);
        let both = format!(
            "the two differ in their reasons alone: the earlier decision has the reason \"it is due\", and {told}"
        );
        assert!(code == Some(1) && said.replace("\\\"", "\"").contains(&both), "{said}");
    }
    let (code, said) = say(&session, &["deny", "pay-1/c/1", "--actor", "ada"]);
    assert!(code == Some(1) && !said.contains("reasons alone"), "{said}");
}

/// Every command that names a run refuses an absent one alike.
#[test]
fn a_run_that_is_not_there_is_refused_alike_by_every_command() {
    let session = parked(SECOND_LIFE);
    for args in [
        &["approve", "c", "--run", "pya-1"] as &[&str],
        &["deny", "pya-1/c/1", "--json"],
        &["show", "pya-1"],
        &["send", "pya-1", "go on"],
        &["export", "pya-1", "--scenario"],
        &["cancel", "pya-1"],
        &["watch", "pya-1"],
        &["resume", "pya-1"],
        &["approvals", "--run", "pya-1"],
    ] {
        let said = session.run(&[args, &["--state-dir", "runs"]].concat());
        assert_eq!((said.code, &*said.stdout), (Some(2), ""), "{}", said.shown());
        assert!(said.stderr.starts_with("error: there is no "), "{}", said.shown());
        assert!(said.stderr.contains("\"pya-1\""), "{}", said.shown());
        let help =
            "\n  = help: did you mean \"pay-1\"? `runstate runs --state-dir runs` lists the stored runs\n";
        assert!(said.stderr.ends_with(help), "{}", said.shown());
    }
    // Another number is another run.
    let (_, said) = say(&session, &["cancel", "pay-2"]);
    assert!(!said.contains("did you mean") && said.contains("there is no run \"pay-2\""), "{said}");
    // A name that is not close to any is not guessed at.
    let (_, said) = say(&session, &["show", "refund"]);
    assert!(
        !said.contains("did you mean") && said.contains("and no run of that id in sqlite:runs/runs.db"),
        "{said}"
    );
    let (code, said) = say(&session, &["approve", "nope", "--run", "pay-1"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(!said.contains("there is no run"), "{said}");
    assert!(said.contains("the waiting calls: runstate approvals"), "{said}");
}

#[test]
fn two_clicks_of_one_person_are_one_approval() {
    let session = parked(TWICE);
    let by = |actor: &str, more: &[&str]| say(&session, &[&["approve"], more, &["--actor", actor]].concat());
    assert_eq!(by("ada", &["c", "--run", "pay-1"]).0, Some(0));
    assert_eq!(say(&session, &["resume", "pay-1"]).0, Some(3), "the second person is asked");
    let (code, second) = by("ada", &["c", "--run", "pay-1"]);
    assert!(code == Some(2) && second.contains("ambiguous"), "{second}");
    let (code, second) = by("ada", &["pay-1/c/2"]);
    assert!(code == Some(1) && second.contains("not_distinct"), "{second}");
    let (code, second) = by("grace", &["pay-1/c/1"]);
    assert!(code == Some(1) && second.contains("conflict"), "{second}");
    let (code, first) = by("ada", &["pay-1/c/1"]);
    assert!(code == Some(0) && first.contains("duplicate"), "{first}");
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
        let (code, refused) = say(&session, &["approve", "ask-1/c/1"]);
        assert!(
            code == Some(2) && refused.contains("asks for an answer") && refused.contains("--result"),
            "{mode}: {refused}"
        );
        assert_eq!(say(&session, &["approve", "ask-1/c/1", "--result", "null"]).0, Some(0), "{mode}");
    }
}

const NAMED_LIKE_A_SUSPENSION: &str = "name: pay\nmessage: go\napprove: [pay]\ntools: {pay: {}}\nmodel:\n\
    \x20   - calls: [{id: p, tool: pay, arguments: {amount: 1}}, {id: pay-1/p/1, tool: pay, arguments: {amount: 1000000}}]\n\
    \x20   - text: paid\n";

#[test]
fn a_call_named_like_a_suspension_is_not_taken_for_it() {
    let session = parked(NAMED_LIKE_A_SUSPENSION);
    let approve = ["approve", "pay-1/p/1", "--actor", "ada"];
    let (code, said) = say(&session, &approve);
    assert!(code == Some(0) && said.contains("p of pay-1: pay {\"amount\":1}"), "{said}");
    // Again, when nothing waits under that suspension and the call of that name still does.
    let (code, again) = say(&session, &approve);
    assert!(code == Some(0) && again.contains("duplicate"), "{again}");
    assert_eq!(say(&session, &["resume", "pay-1"]).0, Some(3));
    let (code, again) = say(&session, &approve);
    assert!(code == Some(0) && again.contains("duplicate"), "{again}");
    assert!(say(&session, &["approvals"]).1.contains("1000000"), "the other one still waits");
}

#[test]
fn a_call_without_its_run_is_refused_with_its_suspensions() {
    let session = parked(&SECOND_LIFE.replace("1000000", "2"));
    assert_eq!(say(&session, &["run", "--detach", "pay.yaml"]).0, Some(0));
    assert_eq!(say(&session, &["worker", "--once"]).0, Some(0));
    let (code, refused) = say(&session, &["approve", "c"]);
    assert!(code == Some(2) && refused.contains("pay-1/c/1, pay-2/c/1"), "{refused}");
    assert_eq!(say(&session, &["approve", "c", "--run", "pay-1"]).0, Some(0));
    // Only that of the other run waits now: the name is no answer to it.
    let (code, refused) = say(&session, &["approve", "c"]);
    assert!(code == Some(2) && refused.contains("expected --run"), "{refused}");
}

#[test]
fn resume_decides_by_the_rules_of_approve() {
    let session = parked(TWICE);
    let resume = |more: &[&str]| say(&session, &[&["resume", "pay-1", "--actor", "ada"], more].concat());
    assert_eq!(resume(&["--approve", "pay-1/c/1"]).0, Some(3), "the second person is asked");
    for (question, why) in [("c", "ambiguous"), ("pay-1/c/2", "not_distinct"), ("pay-1/c/3", "unknown")] {
        let (code, refused) = resume(&["--approve", question]);
        assert!(code == Some(1) && refused.contains(why), "{question}: {refused}");
    }
    // What was accepted before is no obstacle, and answers nothing else.
    let (code, again) = resume(&["--approve", "pay-1/c/1"]);
    assert!(code == Some(3) && again.contains("pay-1/c/2"), "{again}");
    let ben = ["resume", "pay-1", "--approve", "pay-1/c/2", "--actor", "ben"];
    assert_eq!(say(&session, &ben).0, Some(0));
}

#[test]
fn resume_says_what_it_has_decided_before_it_refuses() {
    let session = parked(TWICE);
    let (code, refused) =
        say(&session, &["resume", "pay-1", "--approve", "pay-1/c/1", "--deny", "pay-1/c/1"]);
    assert!(
        code == Some(2)
            && refused.contains("two decisions on the question")
            && refused.contains("no decision was made"),
        "{refused}"
    );
    assert!(!say(&session, &["show", "pay-1"]).1.contains("decided  c"));
    // Two names of one question cannot be told before the first one is decided.
    let (code, refused) = say(&session, &["resume", "pay-1", "--approve", "c", "--deny", "pay-1/c/1"]);
    assert!(code == Some(1) && refused.contains("conflict"), "{refused}");
    assert!(
        refused.contains("earlier decisions of this command: c, and the run did not continue"),
        "{refused}"
    );
    assert!(say(&session, &["show", "pay-1"]).1.contains("approved"));
    let (code, refused) = say(&session, &["resume", "pay-1", "--deny", "pay-1/c/2"]);
    assert!(
        code == Some(1) && refused.contains("no decision was made, and the run did not continue"),
        "{refused}"
    );
}

#[test]
fn a_decision_that_an_ended_run_did_not_take_is_not_announced() {
    let session = parked(TWICE);
    assert_eq!(say(&session, &["approve", "pay-1/c/1"]).0, Some(0));
    assert!(say(&session, &["show", "pay-1"]).1.contains("(not taken yet)"));
    assert_eq!(say(&session, &["cancel", "pay-1"]).0, Some(0));
    assert_eq!(say(&session, &["resume", "pay-1"]).0, Some(1));
    let (_, shown) = say(&session, &["show", "pay-1"]);
    assert!(shown.contains("(not taken: the run ended first)"), "{shown}");
}

/// The run of a scenario has an id of its own in each store.
#[test]
fn a_scenario_names_the_questions_of_its_run() {
    let outside = "outside:\n\
        \x20 - {when: {event: {type: tool_call_suspended, after_ms: 9}}, do: {decide: [{id: d1, call: c, suspension: $run/c/1, action: approve, actor: ada}]}}\n\
        \x20 - {when: {event: {type: tool_call_suspended, nth: 2, after_ms: 9}}, do: {decide: [{id: d2, call: c, run: $run, suspension: $run/c/2, action: approve, actor: ben}]}}\n";
    let session = Session::new();
    session.write("pay.yaml", format!("{TWICE}{outside}"));
    for run in ["pay-1", "pay-2"] {
        let (code, said) = say(&session, &["run", "pay.yaml"]);
        assert!(code == Some(0) && said.contains(run), "{said}");
    }
    session.run(&["test", "pay.yaml", "--accept"]);
    assert!(session.read("pay.trace").contains("on pay/c/2: accepted"), "{}", session.read("pay.trace"));
}

/// At the command line, at the terminal and with `approve` a user is one person.
#[test]
fn one_user_is_one_actor_at_every_door() {
    let session = Session::new();
    session.write("s.yaml", TWICE);
    let args = ["run", "s.yaml", "--approve", "c", "--ask", "--state-dir", "runs"];
    let said = session.run_with(&args, "y\n\n");
    assert!(said.code == Some(3) && said.stderr.contains("not_distinct"), "{}", said.shown());
    for args in [["approve", "pay-1/c/2"].as_slice(), &["resume", "pay-1", "--approve", "pay-1/c/2"]] {
        let (code, refused) = say(&session, args);
        assert!(code == Some(1) && refused.contains("not_distinct"), "{refused}");
    }
    // A variable of the environment makes nobody another person.
    let mut other = session.command(&["approve", "pay-1/c/2", "--state-dir", "runs"]);
    let other = other.env("USER", "grace").env("LOGNAME", "grace").output().unwrap();
    assert!(session.said(&["approve"], &other).stdout.contains("not_distinct"));
}

#[test]
fn a_scenario_is_no_second_person() {
    let decisions = "decisions: [{call: c, action: approve}]\n";
    let session = Session::new();
    session.write("s.yaml", format!("{TWICE}{decisions}"));
    let said = session.run(&["run", "s.yaml", "--state-dir", "runs"]);
    assert!(said.code == Some(3) && said.stderr.contains("not_distinct"), "{}", said.shown());
}

#[test]
fn a_result_that_nothing_takes_is_refused() {
    let session = parked(SECOND_LIFE);
    let (code, refused) = say(&session, &["approve", "pay-1/c/1", "--result", "{\"amount\": 2}"]);
    assert!(code == Some(2) && refused.contains("asks for no result"), "{refused}");
    assert!(say(&session, &["approvals"]).1.contains("pay-1/c/1"), "it still waits");
}

#[test]
fn digits_of_a_digest_may_be_capitals() {
    let session = Session::new();
    session.write("pay.yaml", "name: pay\nmessage: pay\nplugins:\n  - ask: {tool: pay}\ntools:\n  pay: {}\nmodel:\n  - calls: [{id: c, tool: pay}]\n  - text: paid\n");
    assert_eq!(session.run(&["run", "pay.yaml", "--state-dir", "s"]).code, Some(3));
    let shown = session.run(&["approvals", "--state-dir", "s"]).stdout;
    let digest = shown.lines().find_map(|line| line.trim().strip_prefix("digest")).unwrap().trim().to_owned();
    let approve =
        |digest: &str| session.run(&["approve", "pay-1/c/1", "--digest", digest, "--state-dir", "s"]);
    let said = approve(&digest.to_uppercase());
    assert!(said.code == Some(0) && said.stdout.contains("accepted"), "{}", said.shown());
    let said = approve(&digest);
    assert!(said.code == Some(0) && said.stdout.contains("duplicate"), "{}", said.shown());
}

/// A scenario whose model calls `pay` as `c` behind a question.
fn asks(session: &Session, ask: &str) {
    let yaml = format!(
        "name: pay\nmessage: pay\nplugins:\n{ask}tools:\n  pay: {{}}\nmodel:\n  - calls: [{{id: c, tool: pay, arguments: {{v: 8}}}}]\n  - text: paid\n"
    );
    session.write("pay.yaml", yaml);
}

#[test]
fn null_is_no_result() {
    let session = Session::new();
    asks(&session, "  - ask: {tool: pay, ticket: {response_schema: {}}}\n");
    session.run(&["run", "pay.yaml", "--state-dir", "s"]);
    let said = session.run(&["approve", "pay-1/c/1", "--result", "null", "--state-dir", "s"]);
    assert!(said.code == Some(2) && said.stderr.contains("expected a result, got null"), "{}", said.shown());
    let said = session.run(&["approve", "pay-1/c/1", "--result", "{}", "--state-dir", "s"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
}

#[test]
fn a_yes_is_no_answer_where_one_is_asked_for() {
    let session = Session::new();
    for mode in ["use_decision_as_tool_result", "pass_decision_to_tool"] {
        asks(&session, &format!("  - ask: {{tool: pay, ticket: {{resume_mode: {mode}}}}}\n"));
        let said = session.run(&["run", "pay.yaml", "--approve", "c", "--state-dir", mode]);
        assert!(
            said.code == Some(3) && said.stderr.contains("the decision on c was not used"),
            "{}",
            said.shown()
        );
        let said =
            session.run_with(&["resume", "pay-1", "--ask", "--state-dir", mode], "y\nnull\n{\"v\": 9}\n");
        assert_eq!(said.code, Some(0), "{}", said.shown());
        assert!(said.stderr.contains("expected JSON"), "{}", said.shown());
        let shown = session.run(&["show", "pay-1", "--state-dir", mode]).stdout;
        assert!(shown.contains("output: {\"v\":9}"), "{shown}");
    }
}

#[test]
fn a_scenario_gives_a_result_where_one_is_asked_for() {
    let session = Session::new();
    for mode in ["pass_decision_to_tool", "use_decision_as_tool_result"] {
        asks(&session, &format!("  - ask: {{tool: pay, ticket: {{resume_mode: {mode}}}}}\n"));
        session.write("pay.yaml", session.read("pay.yaml") + "decisions:\n  - {call: c, action: approve}\n");
        session.run(&["test", "pay.yaml", "--accept"]);
        let said = session.run(&["test", "pay.yaml"]);
        assert!(
            said.code == Some(1) && said.stdout.contains("decisions: c asked for a result"),
            "{}",
            said.shown()
        );
    }
}

#[test]
fn two_questions_about_one_tool_are_refused() {
    let session = Session::new();
    let ask =
        "  - ask: {tool: pay}\n  - ask: {tool: pay, ticket: {message: legal?, distinct_actors: true}}\n";
    asks(&session, ask);
    let said = session.run(&["run", "pay.yaml", "--state-dir", "s"]);
    assert!(said.code == Some(2) && said.stderr.contains("is asked about already"), "{}", said.shown());
    asks(&session, "  - ask: {tool: pay}\n");
    session.write("pay.yaml", session.read("pay.yaml") + "approve: [pay]\n");
    let said = session.run(&["run", "pay.yaml", "--state-dir", "s"]);
    assert!(said.code == Some(2) && said.stderr.contains("is asked about already"), "{}", said.shown());
}

#[test]
fn suspensions_of_names_that_cannot_be_seen_are_told_apart() {
    let session = Session::new();
    session.write(
        "esc.yaml",
        "name: esc\nmessage: go\nplugins:\n  - ask: {tool: del}\ntools:\n  del: {}\nmodel:\n  - calls:\n      - {id: \"x\\u202Ey\", tool: del, arguments: {v: 1}}\n      - {id: 'x\\u{202e}y', tool: del, arguments: {v: 2}}\n  - text: ok\n",
    );
    session.run(&["run", "esc.yaml", "--state-dir", "s"]);
    let shown = session.run(&["approvals", "--state-dir", "s"]).stdout;
    assert!(shown.contains("suspension  esc-1/x%E2%80%AEy/1\n"), "{shown}");
    let said = session.run(&["approve", "esc-1/x%E2%80%AEy/1", "--state-dir", "s"]);
    assert!(said.code == Some(0) && said.stdout.contains("{\"v\":1}"), "{}", said.shown());
    let said = session.run(&["approve", "esc-1/x\\u{202e}y/1", "--state-dir", "s"]);
    assert!(said.code == Some(0) && said.stdout.contains("{\"v\":2}"), "{}", said.shown());
}

/// The list of what waits is made of columns. A decision on what they show counts for nothing if the machine asked something else.
#[test]
fn decision_on_a_question_edited_in_the_store_runs_nothing() {
    let session = Session::new();
    asks(&session, "  - ask: {tool: pay}\n");
    session.run(&["run", "pay.yaml", "--state-dir", "s"]);
    let store = rusqlite::Connection::open(session.path("s/runs.db")).unwrap();
    store.execute("update calls set arguments = '{\"v\":9}'", []).unwrap();
    drop(store);
    let said = session.run(&["approve", "pay-1/c/1", "--state-dir", "s"]);
    assert!(said.stdout.contains("{\"v\":9}"), "{}", said.shown());
    let said = session.run(&["worker", "--once", "--state-dir", "s"]);
    let shown = session.run(&["show", "pay-1", "--state-dir", "s"]);
    assert!(shown.stdout.contains("c Suspended"), "{}{}", said.shown(), shown.shown());
}
