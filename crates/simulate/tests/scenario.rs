//! A case as a scenario file is the same run: played by the simulation and by the scenarios' own player it comes to the same.

use std::collections::{BTreeMap, BTreeSet};

use runstate_agent::event::EventKind;
use runstate_agent::{Message, Reply};
use runstate_scenario::{Ended, Options, Played, Scenario};
use runstate_simulate::case::{as_scenario, scripted};
use runstate_simulate::play::{RUN, Seen, What, play};

/// What matters of a run.
#[derive(Debug, PartialEq)]
struct Matters {
    reason: Option<String>,
    steps: u32,
    calls: BTreeMap<String, String>,
    executions: Vec<String>,
    accepted: BTreeSet<String>,
    history: Vec<String>,
}

/// A reason without the words of errors, in which plugins and engines of schemas have other names.
fn without_words(reason: &str) -> String {
    match reason.split_once(':') {
        Some(("stopped", rest)) => format!("stopped:{rest}"),
        Some((code, _)) => code.to_owned(),
        None => reason.to_owned(),
    }
}

/// A message without the words that name tools, plugins and commits: they have other names.
fn said(message: &Message) -> String {
    let text = format!("{message:?}");
    let words = ["do not fit the tool's schema", "there is no tool", "the run ended: error"];
    let cut = words.iter().filter_map(|words| text.find(words)).min();
    text[..cut.unwrap_or(text.len())].to_owned()
}

fn simulated(seen: &Seen) -> Matters {
    let end = seen.end.as_ref().expect("a run that is over");
    let entries = || seen.entries.iter().map(|entry| (entry.at_ms, &entry.what));
    let executions = entries().filter_map(|(at_ms, what)| match what {
        What::Began { idempotency, arguments, .. } => Some(format!("{at_ms} {idempotency} {arguments}")),
        _ => None,
    });
    let sent: BTreeMap<usize, &str> = entries()
        .filter_map(|(_, what)| match what {
            What::Sent { number, incoming, .. } => Some((*number, incoming.decision_id.as_str())),
            _ => None,
        })
        .collect();
    let accepted = entries().filter_map(|(_, what)| match what {
        What::Replied { number, reply: Some(Reply::Accepted), .. } => Some(sent[number].to_owned()),
        What::Event(event) => match &event.kind {
            EventKind::ToolCallResumed { decision_id, .. } => Some(decision_id.clone()),
            _ => None,
        },
        _ => None,
    });
    Matters {
        reason: end.reason.as_ref().map(|reason| without_words(&reason.to_string())),
        steps: end.steps,
        calls: end.calls.iter().map(|call| (call.name.clone(), call.status.to_string())).collect(),
        executions: executions.collect(),
        accepted: accepted.collect(),
        history: end.history.iter().map(said).collect(),
    }
}

fn played(played: &Played) -> Matters {
    let accepted = played.events.iter().filter_map(|event| match &event.kind {
        EventKind::ToolCallResumed { decision_id, .. } => Some(decision_id.clone()),
        _ => None,
    });
    let replied = played.sent.iter().filter(|sent| sent.is_accepted()).filter_map(|sent| match &sent.what {
        runstate_scenario::ExternalInput::Decision(incoming) => Some(incoming.decision_id.clone()),
        _ => None,
    });
    let executions = played.effects.iter();
    Matters {
        reason: match played.ended.last() {
            Some(Ended::Returned { reason, .. }) => Some(without_words(&reason.to_string())),
            _ => None,
        },
        steps: played.state.steps(),
        calls: played
            .state
            .calls()
            .map(|(name, call)| (name.to_owned(), call.status().to_string()))
            .collect(),
        executions: executions
            .map(|effect| format!("{} {} {}", effect.began_ms, effect.key, effect.arguments))
            .collect(),
        accepted: accepted.chain(replied).collect(),
        history: played.state.history().iter().map(said).collect(),
    }
}

fn seeds() -> std::ops::Range<u64> {
    let number =
        |name, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let first = number("SIMULATED_FROM", 1);
    first..first + number("SIMULATED_SCENARIOS", 300)
}

#[test]
fn a_case_and_its_scenario_come_to_the_same() {
    let mut differ = Vec::new();
    for seed in seeds() {
        let case = scripted(seed);
        let mut made = as_scenario(&case).scenario;
        made.name = RUN.to_owned();
        let expected = simulated(&play(&case));
        let got = match runstate_scenario::play(&made, Options::default()) {
            Ok(got) => played(&got),
            Err(error) => {
                differ.push(seed);
                println!("{seed} {:?}: {error}", case.troubles);
                continue;
            }
        };
        if got != expected {
            differ.push(seed);
            println!("{seed} {:?}\n  {expected:?}\n  {got:?}", case.troubles);
        }
    }
    assert_eq!(differ, Vec::<u64>::new(), "{} cases differ from their scenarios", differ.len());
}

#[test]
fn the_file_of_a_case_reads_back_as_its_scenario() {
    for seed in seeds().take(100) {
        let made = as_scenario(&scripted(seed));
        assert_eq!(made.left_out, Vec::<String>::new(), "seed {seed}");
        assert_eq!(Scenario::parse(&made.to_file()).unwrap(), made.scenario, "seed {seed}");
    }
}
