//! Decisions from processes other than the one that drives the run.

use std::process::Stdio;

use serde_json::Value;

use super::in_every_store;
use crate::place::{Ended, Place};
use crate::program::Running;
use crate::session::{assert_shown, harmless};
use crate::stores;

const SCENARIO: &str = "\
name: pay
message: go
plugins:
  - ask: {tool: pay, ticket: {message: 'may it be paid?'}}
tools: {pay: {}, ship: {}}
model:
  - calls: [{id: p, tool: pay, arguments: {amount: 9}}]
  - text: done
";

in_every_store! {
    each_row_of_the_table_is_the_reply,
    the_first_decision_wins_and_is_kept,
    one_of_simultaneous_decisions_is_accepted,
    an_approval_is_for_the_arguments_that_were_shown,
    expired_call_is_listed_and_cancelled_by_expire,
    a_run_that_was_cancelled_takes_no_approval,
    a_process_that_waits_with_a_run_takes_what_comes_meanwhile,
    a_process_that_asks_leaves_a_run_with_a_message_to_a_worker,
    a_result_is_held_against_what_was_asked_for,
    a_name_that_several_calls_have_is_refused_with_their_suspensions,
    an_id_that_the_model_gives_again_is_refused_with_the_suspension,
    an_id_that_several_calls_of_a_run_have_is_refused_with_their_suspensions,
    a_call_in_doubt_is_seen_and_answered,
    a_call_in_doubt_is_asked_about_as_it_was_executed_and_takes_a_result_that_is_known,
}

/// A place where a run waits.
fn parked(place: &dyn Fn() -> Place, scenario: &str) -> Place {
    let place = place();
    place.detached(scenario);
    place.work();
    place
}

const ROWS: &str = "\
name: rows
message: go
plugins:
  - ask: {tool: pay, times: 2}
  - ask: {tool: sign, times: 2, ticket: {distinct_actors: true}}
  - ask: {tool: rush, ticket: {expires_after_ms: 1}}
  - ask: {tool: price, ticket: {response_schema: {type: number}, resume_mode: use_decision_as_tool_result}}
tools: {pay: {}, sign: {}, rush: {}, price: {}}
model:
  - calls: [{id: p, tool: pay}, {id: s, tool: sign}, {id: r, tool: rush}, {id: t, tool: price}]
  - text: done
";

/// The table of `runstate_agent::Reply`: before a question is there, while it waits, once its decision is taken, behind the run's end. The
/// command gives a decision its id, so that no row is on an id.
fn each_row_of_the_table_is_the_reply(place: &dyn Fn() -> Place) {
    let place = place();
    let rows = |when: &str, rows: &[(&[&str], &str)]| {
        for (args, reply) in rows {
            let said = place.say(&[args, &["--json"] as &[&str]].concat());
            let told: Value =
                serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{when}: {}", said.shown()));
            let code = match *reply {
                "accepted" | "duplicate" => 0,
                "ambiguous" => 2,
                _ => 1,
            };
            assert_eq!(
                (&told["reply"], said.code),
                (&Value::from(*reply), Some(code)),
                "{when}: {}",
                said.shown()
            );
        }
    };
    let ada = |question| ["approve", question, "--actor", "ada"];
    place.detached(ROWS);
    rows(
        "before the run",
        &[(&ada("rows-1/p/1"), "unknown"), (&["approve", "p", "--run", "rows-1"], "unknown")],
    );
    place.work();
    let digest = |run: &str, call: &str| -> String {
        let waiting = place.stands(run).unwrap()["waiting"].clone();
        let of_call = |one: &&Value| one["call"] == call;
        waiting.as_array().unwrap().iter().find(of_call).unwrap()["digest"].as_str().unwrap().to_owned()
    };
    // A run that is not there has no question, and no reply.
    for of_none in [&["rows-2/p/1"] as &[&str], &["p", "--run", "rows-2"], &["rows-1/p/1", "--run", "rows-2"]]
    {
        let said = place.does(&[&["approve"], of_none, &["--json"]].concat(), 2);
        assert!(
            said.stdout.is_empty() && said.stderr.contains("there is no run \"rows-2\""),
            "{}",
            said.shown()
        );
    }
    let first = digest("rows-1", "p");
    let of_none = format!("sha256:{}", "0".repeat(64));
    rows(
        "while they wait",
        &[
            (&ada("rows-1/z/1"), "unknown"),
            (&ada("rows-1/p/2"), "unknown"),
            (&["approve", "z", "--run", "rows-1"], "unknown"),
            (&["approve", "rows-1/p/1", "--actor", ""], "invalid"),
            (&["approve", "rows-1/p/1", "--actor", "runstate"], "invalid"),
            (&["approve", "rows-1/p/1", "--digest", &of_none], "stale"),
            (&["approve", "p", "--run", "rows-1", "--digest", &of_none], "stale"),
            (&["approve", "rows-1/t/1", "--result", "\"much\""], "invalid"),
            (&["approve", "p", "--run", "rows-1", "--actor", "ada", "--digest", &first], "accepted"),
            (&["approve", "p", "--run", "rows-1", "--actor", "ada", "--digest", &first], "duplicate"),
            (&ada("rows-1/p/1"), "duplicate"),
            (&["approve", "p", "--run", "rows-1", "--actor", "ada"], "duplicate"),
            (&["approve", "rows-1/p/1", "--actor", "ben"], "conflict"),
            (&["deny", "rows-1/p/1", "--actor", "ada"], "conflict"),
            (&["deny", "p", "--run", "rows-1", "--actor", "ada", "--digest", &first], "conflict"),
            (&ada("rows-1/s/1"), "accepted"),
            (&ada("rows-1/r/1"), "expired"),
            (&["deny", "r", "--run", "rows-1"], "expired"),
        ],
    );
    place.work();
    assert_ne!(digest("rows-1", "p"), first, "the second question");
    rows(
        "once they are taken",
        &[
            (&ada("rows-1/p/1"), "duplicate"),
            (&["approve", "rows-1/p/1", "--actor", "ben"], "conflict"),
            (&["approve", "p", "--run", "rows-1", "--actor", "ada"], "ambiguous"),
            (&["approve", "rows-1/p/2", "--digest", &first], "stale"),
            (&ada("rows-1/s/2"), "not_distinct"),
            (&["approve", "rows-1/s/2", "--actor", "ADA"], "not_distinct"),
            (&["approve", "rows-1/s/2", "--actor", "ben"], "accepted"),
            (&ada("rows-1/p/2"), "accepted"),
            (&["approve", "rows-1/t/1", "--result", "12"], "accepted"),
            (&["approve", "rows-1/t/1", "--result", "13"], "conflict"),
        ],
    );
    place.work();
    assert_eq!(place.field("rows-1", "reason"), "natural_end");
    assert_eq!(place.executions("rows-1"), 3, "of pay and sign, and price with the result that was given");
    rows(
        "behind the end",
        &[
            (&ada("rows-1/p/2"), "duplicate"),
            (&["deny", "rows-1/s/2", "--actor", "ada"], "conflict"),
            (&["approve", "rows-1/t/1", "--result", "12"], "duplicate"),
            (&ada("rows-1/r/1"), "expired"),
            (&["approve", "p", "--run", "rows-1", "--actor", "ada"], "duplicate"),
            (&["approve", "p", "--run", "rows-1", "--actor", "zoe"], "ambiguous"),
            (&ada("rows-1/p/3"), "unknown"),
        ],
    );
}

fn the_first_decision_wins_and_is_kept(place: &dyn Fn() -> Place) {
    let place = parked(place, SCENARIO);
    let mut shown = place.does(&["approvals"], 0).shown();
    for (args, code) in [
        (&["approve", "pay-1/p/1", "--actor", "ada", "--reason", "it is due"] as &[&str], 0),
        // The same again, after a reply that was lost.
        (&["approve", "p", "--run", "pay-1", "--actor", "ada", "--reason", "it is due"], 0),
        (&["approve", "p", "--run", "pay-1", "--actor", "grace"], 1),
        (&["deny", "p", "--run", "pay-1", "--actor", "ada"], 1),
        (&["deny", "pay-1/p/1", "--run", "pay-1"], 1),
        (&["deny", "p"], 2),
        (&["approvals"], 0),
        (&["runs"], 0),
    ] {
        shown.push('\n');
        shown.push_str(&place.does(args, code).shown());
    }
    place.work();
    assert_eq!(place.executions("pay-1"), 1);
    // It is over: what is said now changes nothing.
    for (args, code) in [
        (&["deny", "p", "--run", "pay-1"] as &[&str], 1),
        (&["approve", "p", "--run", "pay-1", "--actor", "ada", "--reason", "it is due"], 0),
        (&["show", "pay-1"], 0),
    ] {
        shown.push('\n');
        shown.push_str(&place.does(args, code).shown());
    }
    assert_shown("decide", &shown);
    let decisions = place.stands("pay-1").unwrap()["decisions"].clone();
    assert_eq!(decisions.as_array().unwrap().len(), 1, "{decisions}");
    let decision = &decisions[0]["decision"];
    assert_eq!((&decision["actor"], &decision["action"]), (&Value::from("ada"), &Value::from("resume")));
    assert!(decision["digest"].as_str().unwrap().starts_with("sha256:"));
    assert!(decision["decided_at_ms"].as_u64().unwrap() > 0);
}

fn one_of_simultaneous_decisions_is_accepted(place: &dyn Fn() -> Place) {
    let place = parked(place, SCENARIO);
    let decide = |number: usize| -> Running {
        let (word, actor) =
            (if number.is_multiple_of(2) { "approve" } else { "deny" }, format!("person {number}"));
        place.command(&[word, "p", "--run", "pay-1", "--json", "--actor", &actor]).spawn().unwrap()
    };
    let together: Vec<Running> = (0..8).map(decide).collect();
    let (mut accepted, mut others) = (0, 0);
    for child in together {
        let output = harmless("a decision", child.wait_with_output().unwrap());
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        if output.status.code() == Some(0) {
            assert_eq!(
                (&said["reply"], &said["why"], &said["accepted"]),
                (&"accepted".into(), &Value::Null, &true.into())
            );
            accepted += 1;
        } else {
            assert_eq!(said["reply"], "conflict", "{said}");
            let why = said["why"].as_str().unwrap();
            assert!(
                why.starts_with("the decision \"pay-1/p/1/") && why.ends_with("was accepted before"),
                "{why}"
            );
            assert_eq!((output.status.code(), &said["accepted"]), (Some(1), &false.into()), "{said}");
            others += 1;
        }
    }
    assert_eq!((accepted, others), (1, 7));
    place.work();
    assert_eq!(place.does(&["approvals"], 0).stdout, "no call waits for a decision\n");
    assert_eq!(place.field("pay-1", "reason"), "natural_end");
}

fn an_approval_is_for_the_arguments_that_were_shown(place: &dyn Fn() -> Place) {
    let place = parked(place, SCENARIO);
    let listed: Value = serde_json::from_str(&place.does(&["approvals", "--json"], 0).stdout).unwrap();
    let digest = listed["approvals"][0]["digest"].as_str().unwrap();
    // Whoever says what waits says it in the same words.
    let resumed: Value = serde_json::from_str(&place.does(&["resume", "pay-1", "--json"], 3).stdout).unwrap();
    assert_eq!(resumed["waiting"], listed["approvals"]);
    assert_eq!(place.stands("pay-1").unwrap()["waiting"], listed["approvals"]);
    let other = digest.replace(|c: char| c.is_ascii_digit(), "f");
    let stale = place.does(&["approve", "p", "--run", "pay-1", "--digest", &other], 1);
    assert!(stale.stdout.contains("stale"), "{}", stale.shown());
    place.does(&["approve", "p", "--run", "pay-1", "--digest", &digest[..39]], 0);
}

fn expired_call_is_listed_and_cancelled_by_expire(place: &dyn Fn() -> Place) {
    let place = lapses(place);
    stores::wait_until("its time is over", || {
        place.does(&["approvals"], 0).stdout.contains("expires     expired: a worker")
    });
    for args in [&["show", "pay-1"] as &[&str], &["runs"], &["approvals", "--json"]] {
        place.does(args, 0);
        let left = place.stands("pay-1").unwrap();
        assert_eq!(left["decisions"], Value::Array(Vec::new()), "{args:?}: reading changes nothing");
    }
    assert_eq!(place.does(&["expire"], 0).stdout, "cancelled 1 expired call\n");
    assert_eq!(place.does(&["approvals"], 0).stdout, "no call waits for a decision\n");
    is_given_up(&place);
}

/// A run whose call waits, and lapses soon, with no process that drives it.
fn lapses(place: &dyn Fn() -> Place) -> Place {
    // On a slow machine it may lapse before the worker is gone, who takes it, or before this looks.
    for after_ms in ["500", "10000", "60000"] {
        let ticket = format!("ticket: {{expires_after_ms: {after_ms}, ");
        let place = parked(place, &SCENARIO.replace("ticket: {", &ticket));
        let left = place.stands("pay-1").unwrap();
        if left["status"] == "Waiting" && left["decisions"] == Value::Array(Vec::new()) {
            return place;
        }
    }
    panic!("no worker was gone in time");
}

/// The call was given up by a command, with no worker there; the next worker goes on.
#[track_caller]
fn is_given_up(place: &Place) {
    let left = place.stands("pay-1").unwrap();
    assert_eq!(left["status"], "Waiting", "{left}");
    let decided = &left["decisions"][0];
    assert_eq!(
        (&decided["taken"], &decided["decision"]["action"]),
        (&false.into(), &"cancel".into()),
        "{left}"
    );
    let late = place.does(&["approve", "p", "--run", "pay-1"], 1);
    assert_eq!(late.stdout, "expired: the suspension was past its deadline\n");
    place.work();
    assert_eq!(place.call("pay-1", "p"), crate::decide::expired());
    assert_eq!(place.field("pay-1", "reason"), "natural_end");
    assert_eq!(place.executions("pay-1"), 0);
    place.conforms("pay-1", &["--complete"]);
}

fn a_run_that_was_cancelled_takes_no_approval(place: &dyn Fn() -> Place) {
    let place = parked(place, SCENARIO);
    place.does(&["cancel", "pay-1"], 0);
    assert_eq!(place.does(&["cancel", "pay-1"], 0).stdout, "pay-1 has a cancellation from before\n");
    let cancel = |code| -> Value {
        serde_json::from_str(&place.does(&["cancel", "pay-1", "--json"], code).stdout).unwrap()
    };
    let again = cancel(0);
    assert_eq!((&again["reply"], &again["accepted"]), (&"duplicate".into(), &true.into()), "{again}");
    place.work();
    let over = cancel(1);
    assert_eq!((&over["reply"], &over["reason"]), (&"over".into(), &"cancelled".into()), "{over}");
    place.does(&["approve", "p", "--run", "pay-1"], 1);
    assert_eq!(place.executions("pay-1"), 0);
    assert_eq!(place.field("pay-1", "reason"), "cancelled");
    place.conforms("pay-1", &["--complete"]);
}

fn a_process_that_waits_with_a_run_takes_what_comes_meanwhile(place: &dyn Fn() -> Place) {
    for (say_it, code, heard) in
        [(&["approve", "pay-1/p/1"] as &[&str], 0, "approves p"), (&["cancel", "pay-1"], 1, "cancel")]
    {
        let place = place();
        // In real time it waits for the call to lapse.
        let scenario = SCENARIO.replace("ticket: {", "ticket: {expires_after_ms: 3600000, ");
        place.session.write("s.yaml", scenario);
        let waits = Ended(Some(place.command(&["run", "s.yaml", "--real-time"]).spawn().unwrap()));
        place.wait_for("pay-1", "status", "Waiting");
        place.does(say_it, 0);
        let (ended, stderr) = waits.wait();
        assert_eq!(ended, Some(code), "{stderr}");
        assert!(stderr.contains(heard), "{stderr}");
        place.conforms("pay-1", &["--complete"]);
    }
}

/// A worker drives the run with the message: it waits for no decision.
fn a_process_that_asks_leaves_a_run_with_a_message_to_a_worker(place: &dyn Fn() -> Place) {
    let place = place();
    place.session.write("s.yaml", SCENARIO);
    let mut asks =
        place.command(&["run", "s.yaml", "--ask", "--json"]).stdin(Stdio::piped()).spawn().unwrap();
    // Its input stays open.
    let _stdin = asks.stdin.take();
    let asks = Ended(Some(asks));
    place.wait_for("pay-1", "status", "Waiting");
    place.does(&["send", "pay-1", "leave it", "--supersede"], 0);
    let output = asks.output();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{stderr}");
    assert!(stderr.contains("pay-1 continues with a message, driven by: runstate worker"), "{stderr}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["exit"], &told["waiting"]), (&4.into(), &Value::Array(Vec::new())), "{told}");
}

fn a_result_is_held_against_what_was_asked_for(place: &dyn Fn() -> Place) {
    let scenario = "\
name: ask
message: go
plugins:
  - ask: {tool: price, ticket: {action: price, response_schema: {type: number}, resume_mode: use_decision_as_tool_result}}
tools: {price: {}}
model:
  - calls: [{id: a, tool: price}, {id: b, tool: price}]
  - text: done
";
    let place = parked(place, scenario);
    let mut shown = String::new();
    for (args, code) in [
        (&["approve", "ask-1/a/1", "--result", "\"cheap\""] as &[&str], 1),
        (&["approve", "ask-1/a/1", "--result", "{"], 2),
        (&["approve", "ask-1/a/1", "--result", "12"], 0),
        (&["approve", "price"], 2),
        (&["deny", "ask-1/b/1", "--actor", "ada", "--json"], 0),
    ] {
        shown.push_str(&place.does(args, code).shown());
        shown.push('\n');
    }
    assert_shown("decide_result", &shown);
    place.work();
    let stands = place.stands("ask-1").unwrap();
    assert_eq!(stands["reason"], "natural_end");
    let decided = stands["decisions"].as_array().unwrap().iter().find(|one| one["decision"]["call"] == "a");
    assert_eq!(decided.unwrap()["decision"]["result"], 12, "{stands}");
    assert_eq!(place.call("ask-1", "a"), "Succeeded");
}

fn a_name_that_several_calls_have_is_refused_with_their_suspensions(place: &dyn Fn() -> Place) {
    let place = parked(place, SCENARIO);
    place.does(&["run", "--detach", "s.yaml"], 0);
    place.work();
    let said = place.does(&["approve", "p"], 2);
    assert!(said.stderr.contains("name the suspension: pay-1/p/1, pay-2/p/1"), "{}", said.shown());
    place.does(&["approve", "pay-2/p/1"], 0);
}

fn an_id_that_the_model_gives_again_is_refused_with_the_suspension(place: &dyn Fn() -> Place) {
    let again = "  - calls: [{id: p, tool: pay, arguments: {amount: 900}}]\n  - text: done\n";
    let place = parked(place, &SCENARIO.replace("  - text: done\n", again));
    let approve = ["approve", "p", "--run", "pay-1", "--actor", "ada"];
    place.does(&approve, 0);
    place.work();
    // Another call of that id waits: the same command is no answer to it.
    let refused = place.does(&approve, 2);
    assert!(refused.stdout.starts_with("p#2 of pay-1: pay {\"amount\":900}\n"), "{}", refused.shown());
    assert!(
        refused.stdout.contains("ambiguous") && refused.stdout.contains("pay-1/p#2/1"),
        "{}",
        refused.shown()
    );
    let named = ["approve", "pay-1/p#2/1", "--run", "pay-1", "--actor", "ada"];
    place.does(&named, 0);
    assert_eq!(place.does(&["approvals"], 0).stdout, "no call waits for a decision\n");
    let same: Value =
        serde_json::from_str(&place.does(&[&named as &[&str], &["--json"]].concat(), 0).stdout).unwrap();
    assert_eq!((&same["call"], &same["suspension"]), (&"p#2".into(), &"pay-1/p#2/1".into()), "{same}");
    let other = place.does(&["deny", "pay-1/p#2/1", "--run", "pay-1"], 1);
    assert!(other.stdout.contains("conflict"), "{}", other.shown());
    place.work();
    assert_eq!(place.executions("pay-1"), 2);
    assert_eq!(place.field("pay-1", "reason"), "natural_end");
}

fn an_id_that_several_calls_of_a_run_have_is_refused_with_their_suspensions(place: &dyn Fn() -> Place) {
    let twice = concat!(
        "  - calls: [{id: p, tool: pay, arguments: {amount: 9}}, {id: s, tool: ship}]\n",
        "  - calls: [{id: p, tool: pay, arguments: {amount: 900}}]\n",
    );
    let scenario = SCENARIO.replace("  - calls: [{id: p, tool: pay, arguments: {amount: 9}}]\n", twice);
    let place = parked(place, &format!("policy: continue_when_any\n{scenario}"));
    for run in [&["--run", "pay-1"] as &[&str], &[]] {
        let refused = place.does(&[&["approve", "p"], run].concat(), 2);
        assert!(refused.stderr.contains("pay-1/p/1, 'pay-1/p#2/1'"), "{}", refused.shown());
    }
    let second = place.does(&["approve", "pay-1/p#2/1"], 0);
    assert!(second.stdout.contains("{\"amount\":900}"), "{}", second.shown());
    let first = place.does(&["approve", "pay-1/p/1"], 0);
    assert!(first.stdout.contains("{\"amount\":9}"), "{}", first.shown());
}

fn a_call_in_doubt_is_seen_and_answered(place: &dyn Fn() -> Place) {
    let place = place();
    // It is durable that the call was begun, and no more.
    let crashes = "outside:\n  - {when: {after_commit: 3}, do: crash}\n";
    let scenario = SCENARIO.replace("  - ask: {tool: pay, ", "  - ask: {tool: ship, ");
    place.session.write("s.yaml", format!("{scenario}{crashes}"));
    place.does(&["run", "s.yaml"], 1);
    place.work();
    let runs = place.does(&["runs"], 0);
    assert!(runs.stdout.contains("1, 1 in doubt"), "{}", runs.shown());
    let listed = place.does(&["approvals"], 0);
    assert!(listed.stdout.contains("in doubt    the call may have executed"), "{}", listed.shown());
    let json =
        |args: &[&str], code| -> Value { serde_json::from_str(&place.does(args, code).stdout).unwrap() };
    let runs = json(&["runs", "--json"], 0)["runs"][0].clone();
    assert_eq!(
        (&runs["undecided"], &runs["in_doubt"], &runs["decided"]),
        (&1.into(), &1.into(), &0.into()),
        "{runs}"
    );
    let listed = json(&["approvals", "--json"], 0)["approvals"].clone();
    assert_eq!(listed[0]["in_doubt"], true, "{listed}");
    assert_eq!(json(&["resume", "pay-1", "--json"], 3)["waiting"], listed);
    assert_eq!(json(&["show", "pay-1", "--format", "json"], 0)["run"]["waiting"], listed);
    place.does(&["approve", "p", "--run", "pay-1"], 0);
    place.work();
    place.conforms("pay-1", &[]);
    assert_eq!(place.executions("pay-1"), 1, "it had not executed");
    assert_eq!(place.field("pay-1", "reason"), "natural_end");
}

fn a_call_in_doubt_is_asked_about_as_it_was_executed_and_takes_a_result_that_is_known(
    place: &dyn Fn() -> Place,
) {
    let place = place();
    // A decision gave other arguments than the model, and the process died once that was durable.
    place.session.write(
        "s.yaml",
        "\
name: pay
message: go
plugins:
  - ask: {tool: pay, ticket: {message: 'how much?', resume_mode: pass_decision_to_tool}}
tools: {pay: {}}
model:
  - calls: [{id: p, tool: pay, arguments: {amount: 1}}]
  - text: done
outside:
  - {when: {at_ms: 100}, do: {decide: [{id: d, call: p, action: approve, result: {amount: 9000}}]}}
  - {when: {after_commit: 6}, do: crash}
",
    );
    place.does(&["run", "s.yaml"], 1);
    place.work();
    let listed = place.does(&["approvals"], 0);
    assert!(listed.stdout.contains("p of pay-1: pay {\"amount\":9000}"), "{}", listed.shown());
    assert!(!listed.stdout.contains("{\"amount\":1}"), "{}", listed.shown());
    // Somebody looked, and it was paid.
    place.does(&["approve", "pay-1/p/2/in_doubt", "--result", "{\"receipt\":17}"], 0);
    place.work();
    place.conforms("pay-1", &[]);
    let result = "Resuming --> Succeeded";
    let shown = place.does(&["show", "pay-1"], 0);
    assert!(shown.stdout.contains(result), "it is not executed again: {}", shown.shown());
}
