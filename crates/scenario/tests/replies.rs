//! What people reply as soon as a call asks, and what a plugin says at one gate.

use runstate_runtime::clock::unix_clock;
use runstate_scenario::{Ended, Options, Played, Scenario, Setting, Stage, play};

fn played(text: &str) -> Played {
    play(&Scenario::parse(text).unwrap(), Options::default()).unwrap()
}

const ASKS_TWICE: &str = "
name: asks
message: go
tools:
  send:
    does:
      - {takes_ms: 10, gives: {pending: {action: sure}}}
      - {takes_ms: 1, gives: {success: sent}}
plugins:
  - {gate: {call: c1, says: {ask: {action: may}}}}
  - {gate: {call: c1, asked: 9, says: {block: never}}}
model:
  - calls: [{id: c1, tool: send}]
  - text: done
replies:
  - to: {ask: {call: c1, nth: 1}}
    do:
      - {after_ms: 5, decide: [{id: '$asked/wrong', call: c1, action: approve, suspension: '$before'}]}
      - {after_ms: 5, decide: [{id: '$asked/yes', call: c1, action: approve, suspension: '$asked', as_shown: true}]}
  - to: {ask: {call: c1}}
    do: [{after_ms: 7, decide: [{id: '$asked/yes', call: '$call', action: approve}]}]
  - {to: doubt, do: [{after_ms: 3, decide: [{id: 'doubt/$asked', call: '$call', action: approve, suspension: '$asked'}]}]}
";

fn accepted(played: &Played) -> Vec<String> {
    let accepted = played.sent.iter().filter(|sent| sent.is_accepted());
    let ids = accepted.filter_map(|sent| match &sent.what {
        runstate_scenario::ExternalInput::Decision(incoming) => {
            Some(format!("{} {}", sent.at_ms, incoming.decision_id))
        }
        _ => None,
    });
    ids.collect()
}

#[test]
fn each_question_gets_its_reply_and_decisions_wait_in_order() {
    let played = played(ASKS_TWICE);
    assert_eq!(accepted(&played), ["10 asks/c1/1/yes", "27 asks/c1/2/yes"]);
    assert_eq!(played.effects.len(), 2);
    assert_eq!(played.thread_end(), "done");
}

#[test]
fn a_process_that_takes_over_is_answered_too() {
    let crash = "outside: [{when: {at_ms: 8}, do: crash}]\n";
    let played = played(&format!("{ASKS_TWICE}{crash}"));
    // People outlive the process: who was about to answer the one that is gone answers the next.
    assert_eq!(accepted(&played)[0], "10 asks/c1/1/yes");
    // The run is parked when its process dies, and the next one is there at once.
    assert!(played.ended.contains(&Ended::Crashed { at_ms: 8 }), "{:?}", played.ended);
    assert_eq!(played.thread_end(), "done");
}

/// The tool asked, and the process died before that was durable: it asks again, as it did the first time.
#[test]
fn uncommitted_question_is_asked_again_after_a_crash() {
    let played = played(
        "
name: forgotten
message: go
mode: concurrent
tools:
  look: {effect: repeatable, calls: {c1: [{takes_ms: 1, gives: {pending: {action: sure}}}, {gives: {success: seen}}]}}
  slow: {effect: repeatable, does: [{takes_ms: 10}]}
model:
  - calls: [{id: c1, tool: look}, {id: c2, tool: slow}]
  - text: done
replies:
  - {to: {ask: {call: c1, nth: 1}}, do: [{after_ms: 20, decide: [{id: '$asked/first', call: c1, action: approve}]}]}
  - {to: {ask: {call: c1}}, do: [{after_ms: 20, decide: [{id: '$asked/later', call: c1, action: deny}]}]}
outside: [{when: {before_commit: 3}, do: crash}]
",
    );
    assert_eq!(accepted(&played), ["22 forgotten/c1/1/first"]);
    let looked: Vec<&str> = played
        .effects
        .iter()
        .filter(|effect| effect.call == "c1")
        .map(|effect| effect.key.as_str())
        .collect();
    assert_eq!(
        looked,
        ["forgotten/c1/1", "forgotten/c1/1", "forgotten/c1/2"],
        "what it gives is not skipped"
    );
    assert_eq!(played.thread_end(), "done");
}

/// The second thing that a person has to say comes before what a person says to a question that was asked behind the first.
#[test]
fn earlier_reply_does_not_answer_a_later_question() {
    let played = played(
        "
name: order
message: go
tools: {t: {does: [{gives: {pending: {action: one}}}, {gives: {pending: {action: two}}}, {}]}}
model: [{calls: [{id: c1, tool: t}]}, {text: done}]
when_suspended: wait_in_place
replies:
  - to: {ask: {call: c1, nth: 1}}
    do:
      - {after_ms: 1, decide: [{id: yes, call: c1, action: approve, suspension: '$asked'}]}
      - {decide: [{id: no, call: c1, action: deny}]}
  - {to: {ask: {call: c1}}, do: [{decide: [{id: again, call: c1, action: approve}]}]}
",
    );
    // The second thing on one question changes nothing: it is no answer to the next.
    assert_eq!(accepted(&played), ["1 yes", "1 again"]);
}

#[test]
fn a_dropped_loop_goes_on_from_memory() {
    let drops = "outside: [{when: {at_ms: 15}, do: drop}]\n";
    let played = played(&format!("{ASKS_TWICE}{drops}"));
    assert!(played.ended.contains(&Ended::Dropped { at_ms: 15 }), "{:?}", played.ended);
    // It was executing: whether it may again is asked, and what it does then is what it was doing.
    let attempts: Vec<u32> = played.effects.iter().map(|effect| effect.attempt).collect();
    assert_eq!(attempts, [1, 1, 2]);
    assert_eq!(played.thread_end(), "done");
}

#[test]
fn replies_without_sense_are_refused() {
    for (bad, why) in [
        ("replies: [{to: {ask: {call: c1, nth: 0}}, do: []}]", "questions are counted from 1"),
        ("replies: [{to: doubt, do: [{decide: []}]}]", "at least one decision"),
    ] {
        let text = format!("name: x\nmessage: go\nmodel: [{{text: y}}]\n{bad}\n");
        let refused = Scenario::parse(&text).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
}

trait End {
    fn thread_end(&self) -> &str;
}

impl End for Played {
    fn thread_end(&self) -> &str {
        self.state.thread().last_answer().map_or("", |answer| &answer.text)
    }
}

/// Who is asked elsewhere, at a terminal, may have no answer.
#[test]
fn no_decisions_are_given_as_well() {
    let scenario = Scenario::parse(ASKS_TWICE).unwrap();
    let stage = Stage::new(&scenario, Setting::new(unix_clock())).unwrap();
    stage.send(Vec::new());
    assert_eq!(stage.sent().len(), 0);
}
