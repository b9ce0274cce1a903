//! What is played.

use std::time::Duration;

use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate_agent::Reply;
use runstate_scenario::{Ended, Options, PlayError, Played, Scenario, play, to_text};

fn played(text: &str) -> Played {
    play(&Scenario::parse(text).unwrap(), Options::default()).unwrap()
}

const SLOW: &str = "\
name: slow
message: go
tools: {slow: {does: [{takes_ms: 3600000, gives: {success: done}}]}}
model:
  - calls: [{id: a, tool: slow}]
  - text: done
";

#[test]
fn hours_take_no_time_and_are_the_same_each_time() {
    let first = played(SLOW);
    assert_eq!(first.at_ms, 3_600_000);
    assert_eq!(first.effects[0].ended_ms, Some(3_600_000));
    for _ in 0..5 {
        assert_eq!(to_text(&played(SLOW)), to_text(&first));
    }
}

#[test]
fn play_in_real_time_lasts_as_long_as_its_tools() {
    let text = SLOW.replace("3600000", "30");
    let mut options = Options::default();
    options.real_time = true;
    let real = play(&Scenario::parse(&text).unwrap(), options).unwrap();
    assert!(real.at_ms >= 30, "{} ms", real.at_ms);
    assert_eq!(real.state.run().status(), RunStatus::Done);
}

/// A play that would last for ever is given up after a time of its own.
#[test]
fn endless_play_is_an_error() {
    let mut options = Options::default();
    options.limit_ms = u64::try_from(Duration::from_secs(3600).as_millis()).unwrap();
    let text = SLOW.replace("takes_ms: 3600000, gives: {success: done}", "gives: nothing");
    let error = play(&Scenario::parse(&text).unwrap(), options).unwrap_err();
    assert!(matches!(error, PlayError::Endless { after_ms: 3_600_000 }), "{error}");
}

#[test]
fn a_wait_in_place_for_nothing_ends_the_play() {
    let waits = "name: x\nmessage: y\nwhen_suspended: wait_in_place\napprove: [t]\ntools: {t: {}}\n\
                 model: [{calls: [{id: a, tool: t}]}, {text: z}]\n";
    let played = played(waits);
    assert_eq!(played.ended, [Ended::Waiting { at_ms: 0 }]);
    assert_eq!(played.state.run().status(), RunStatus::Waiting);
    assert_eq!(played.stored.unwrap().status(), "Waiting");
}

#[test]
fn a_crash_leaves_what_was_committed_and_what_tools_did() {
    let crashed = played(&format!(
        "{SLOW}outside:\n  - {{when: {{at_ms: 1000}}, do: crash}}\n  \
        - {{when: {{at_ms: 2000}}, do: {{decide: [{{id: d, call: a, action: approve}}]}}}}\n"
    ));
    let attempts: Vec<_> = crashed.effects.iter().map(|effect| (effect.attempt, effect.ended_ms)).collect();
    assert_eq!(
        attempts,
        [(1, None), (1, Some(3_602_000))],
        "the first was cut off; a person let it execute again"
    );
    assert!(matches!(crashed.ended[0], Ended::Crashed { at_ms: 1_000 }), "{:?}", crashed.ended);
    assert!(matches!(
        crashed.ended.last(),
        Some(Ended::Returned { reason: TerminationReason::NaturalEnd, .. })
    ));
    assert!(crashed.sent[0].is_accepted());
}

#[test]
fn decision_at_the_instant_of_a_crash_is_sent_again() {
    let decided = "name: x\nmessage: y\nmode: concurrent\napprove: [t]\n\
        tools: {t: {}, slow: {does: [{takes_ms: 5}]}}\nmodel: [{calls: [{id: a, tool: t}, {id: b, tool: slow}]}, {text: z}]\n\
        outside:\n  - {when: {before_commit: 4}, do: crash}\n  \
        - {when: {at_ms: 5}, insists: true, do: {decide: [{id: d, call: a, action: approve}]}}\n";
    let crashed = played(decided);
    assert!(crashed.ended.contains(&Ended::Crashed { at_ms: 5 }), "{:?}", crashed.ended);
    let given: Vec<_> = crashed.sent.iter().map(|sent| (sent.at_ms, sent.is_accepted())).collect();
    assert_eq!(given, [(5, false), (6, true)], "and is given again to the next process");
}

#[test]
fn insistent_cancellation_cancels_the_next_process_too() {
    let text = SLOW.replace("slow: {does", "slow: {effect: repeatable, does");
    let cancelled = |insists: &str| {
        let played = played(&format!(
            "{text}outside:\n  - {{when: {{at_ms: 1000}}, do: cancel{insists}}}\n  \
            - {{when: {{before_commit: 3}}, do: crash}}\n"
        ));
        assert!(played.ended.contains(&Ended::Crashed { at_ms: 1_000 }), "{:?}", played.ended);
        match played.ended.last() {
            Some(Ended::Returned { reason, .. }) => reason.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(cancelled(", insists: true"), TerminationReason::Cancelled);
    assert_eq!(cancelled(""), TerminationReason::NaturalEnd, "the process that knew of it is gone");
}

#[test]
fn a_tool_that_may_run_twice_does_after_a_crash() {
    let text = SLOW.replace("slow: {does", "slow: {effect: repeatable, does");
    let crashed = played(&format!("{text}outside:\n  - {{when: {{at_ms: 1000}}, do: crash}}\n"));
    let attempts: Vec<_> = crashed.effects.iter().map(|effect| (&*effect.key, effect.ended_ms)).collect();
    assert_eq!(
        attempts,
        [("slow/a/1", None), ("slow/a/1", Some(3_601_000))],
        "one key: it is the same execution"
    );
}

#[test]
fn redactor_hides_call_values_from_event_listeners_only() {
    let secret = "name: x\nmessage: y\nredact: true\napprove: [t]\n\
        tools: {t: {does: [{takes_ms: 1, progress: [{at_ms: 0, value: secret}], gives: {success: secret}}]}}\n\
        model: [{calls: [{id: a, tool: t, arguments: {key: secret}}]}, {text: z}]\n\
        decisions: [{call: a, action: approve}]\n";
    let (hidden, shown) = (played(secret), played(&secret.replace("redact: true", "redact: false")));
    let told = |played: &Played| serde_json::to_string(&played.events).unwrap();
    assert!(!told(&hidden).contains("secret"), "{}", told(&hidden));
    assert_eq!(told(&shown).matches("secret").count(), 4, "arguments twice, progress, output");
    for of_call in ["[arguments of a]", "[output of a]", "[progress of a]", "[question of a]"] {
        assert!(told(&hidden).contains(of_call), "{of_call}");
    }
    assert_eq!(hidden.effects[0].arguments["key"], "secret", "the tool sees it");
    assert_eq!(hidden.state.history(), shown.state.history(), "and so does the model");
}

#[test]
fn decision_after_the_end_of_a_run_is_unknown() {
    let late = "name: x\nmessage: y\nmodel: [{text: z}]\n\
        outside: [{when: {event: {type: run_finished}}, do: {decide: [{id: d, call: a, action: approve}]}}]\n";
    let replied = played(late).sent[0].replied.clone().unwrap();
    assert_eq!(replied.reply, Some(Reply::Unknown), "and it is answered at once");
}

#[test]
fn unknown_decisions_are_told_and_change_nothing() {
    let unknown = format!(
        "{SLOW}outside: [{{when: {{at_ms: 5}}, do: {{decide: [{{id: d, call: b, action: deny}}]}}}}]\n"
    );
    let played = played(&unknown);
    assert_eq!(played.sent[0].replied.as_ref().unwrap().reply, Some(Reply::Unknown));
    assert_eq!(played.state.run().status(), RunStatus::Done);
}

const ASKS: &str = "\
name: asks
message: go
approve: [t]
tools: {t: {}, u: {}}
model:
  - calls: [{id: a, tool: t}, {id: b, tool: u}]
  - text: done
";

/// A scenario that is green although nothing of what it says came about tests nothing.
#[test]
fn scenario_steps_that_never_occur_are_reported() {
    let cases = [
        ("decisions: [{call: a, action: approve}]", vec![]),
        (
            "decisions: [{call: a, action: approve}, {call: b, action: deny}]",
            vec!["decisions: b never waited"],
        ),
        (
            "plugins: [{ask: {tool: u, ticket: {action: amount, resume_mode: use_decision_as_tool_result}}}]\n\
             decisions: [{call: a, action: approve}, {call: b, action: approve}]",
            vec!["decisions: b asked for a result"],
        ),
        (
            "outside:\n- {when: {at_ms: 1}, do: {decide: [{id: d1, call: a, action: approve}]}}\n\
             - {when: {at_ms: 5000}, do: {decide: [{id: d2, call: a, action: deny}, {id: d3, call: a, action: deny}]}}",
            vec!["outside[1]: decide d2, d3, at 5000 ms"],
        ),
        (
            "outside:\n- {when: {event: {type: tool_call_suspended, call: b, nth: 2}}, do: cancel}\n\
             - {when: {after_commit: 99}, do: crash}\n- {when: {event: {type: run_started, with: {steps: 7}}}, do: {write: hi}}",
            vec![
                "outside[0]: cancel, at the 2nd tool_call_suspended of b",
                "outside[1]: crash, after commit 99",
                r#"outside[2]: write, at the 1st run_started with {"steps":7}"#,
            ],
        ),
        (
            "replies:\n- {to: {ask: {call: a}}, do: [{decide: [{id: d1, call: a, action: approve}]}, \
             {after_ms: 9, decide: [{id: d2, call: a, action: deny}]}]}\n\
             - {to: {ask: {call: b}}, do: []}\n- {to: {ask: {call: a, nth: 3}}, do: []}\n- {to: doubt, do: []}",
            vec![
                "replies: decide d2, at 9 ms",
                "replies[1]: b never asked",
                "replies[2]: a did not ask for the 3rd time",
                "replies[3]: no call was in doubt",
            ],
        ),
    ];
    let cases = cases.into_iter().chain([
        ("decisions: [{call: a, action: approve}]\ncommits: {fail: [99]}", vec!["commits.fail: the run made 10 tries, and no 99th"]),
        (
            "decisions: [{call: a, action: approve}]\noutside:\n- {when: {event: {type: tool_call_suspended, call: a}}, do: resume}",
            vec![],
        ),
    ]);
    for (outside, missed) in cases {
        assert_eq!(played(&format!("{ASKS}{outside}\n")).missed, missed, "{outside}");
    }
}

/// Of each request there is what the one before had not: so what is kept grows with what was said.
#[test]
fn played_requests_store_each_message_once() {
    let mut text = "name: long\nmessage: go\ntools: {t: {}}\nmodel:\n".to_owned();
    for step in 0..20 {
        text.push_str(&format!("  - calls: [{{id: c{step}, tool: t}}]\n"));
    }
    let played = played(&(text + "  - text: done\n"));
    assert_eq!(played.asked.len(), 21);
    assert!(played.asked.iter().zip(0..).all(|(asked, step)| asked.len() == 1 + 2 * step));
    let kept: usize = played.asked.iter().map(|asked| asked.messages.len()).sum();
    assert_eq!(kept, 41);
}

/// A model that chooses ids, and a tool that writes into the state of the run.
const COUNTED: &str = r#"
name: counted
message: go
plugins:
  - ask: {tool: pay, times: 2, ticket: {distinct_actors: true}}
  - ask: {tool: pay/now, times: 2, ticket: {distinct_actors: true}}
tools:
  pay: {}
  pay/now: {}
  look: {does: [{patches: [{key: "ask pay/now/t", value: 2}, {key: "ask pay/t", value: 2}], gives: {success: seen}}]}
model:
  - calls: [{id: now/t, tool: pay}]
  - calls: [{id: l, tool: look}]
  - calls: [{id: t, tool: pay/now, arguments: {amount: 1000000}}]
  - text: done
outside:
  - when: {event: {type: tool_call_suspended, nth: 1, after_ms: 1}}
    do: {decide: [{id: d1, call: now/t, action: approve, actor: ada}]}
  - when: {event: {type: tool_call_suspended, nth: 2, after_ms: 1}}
    do: {decide: [{id: d2, call: now/t, suspension: $run/now%2Ft/2, action: approve, actor: bob}]}
  - when: {event: {type: tool_call_suspended, nth: 3, after_ms: 1}}
    do: {decide: [{id: d3, call: t, action: approve, actor: mallory}]}
"#;

#[test]
fn approvals_of_one_call_count_for_no_other_call() {
    let played = played(COUNTED);
    let executed: Vec<_> = played.effects.iter().map(|effect| effect.call.as_str()).collect();
    assert_eq!(executed, ["now/t", "l"], "one person approved t, where two must");
    assert_eq!(played.state.run().status(), RunStatus::Waiting);
    assert_eq!(played.state.pending()[0].suspension.id, "r1/t/2".replace("r1", played.state.id()));
}

#[test]
fn an_answer_to_the_tool_replaces_no_approved_arguments() {
    let text = r#"
name: replaced
message: go
plugins: [{ask: {tool: pay, times: 2, ticket: {distinct_actors: true}}}]
tools:
  pay:
    does:
      - gives: {pending: {action: confirm, message: "how much?", resume_mode: pass_decision_to_tool}}
      - gives: {success: paid}
model:
  - calls: [{id: t, tool: pay, arguments: {amount: 1}}]
  - text: done
outside:
  - when: {event: {type: tool_call_suspended, nth: 1, after_ms: 1}}
    do: {decide: [{id: d1, call: t, suspension: $run/t/1, action: approve, actor: ada}]}
  - when: {event: {type: tool_call_suspended, nth: 2, after_ms: 1}}
    do: {decide: [{id: d2, call: t, suspension: $run/t/2, action: approve, actor: bob}]}
  - when: {event: {type: tool_call_suspended, nth: 3, after_ms: 1}}
    do: {decide: [{id: d3, call: t, suspension: $run/t/3, action: approve, result: {amount: 1000000}, actor: mallory}]}
"#;
    let played = played(text);
    assert!(played.sent.iter().all(|sent| sent.is_accepted()), "{:?}", played.sent);
    assert_eq!(played.effects.len(), 1, "the tool asked, and was not executed with other arguments");
    assert!(to_text(&played).contains("a later decision replaced its arguments"), "{}", to_text(&played));
}
