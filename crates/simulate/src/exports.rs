//! Random runs, exported as scenarios and played again.

use std::collections::BTreeMap;

use runstate_scenario::export::{ExportError, Exported, Record, export};
use runstate_scenario::{Options, Scenario, play, to_text};

use crate::case::{Trouble, as_scenario, generate};

/// The reason of a run that took an input in the same millisecond as other events.
pub const ORDER: &str = "no time repeats the order of a millisecond";

/// The outcome of one seed.
#[derive(Debug)]
pub enum Outcome {
    /// Its run was exported, and the scenario reproduces it: also when its written text is read and played again.
    Same,
    /// Its run has no scenario, for this reason.
    Refused(&'static str),
    /// The case does not fit a store.
    Left(&'static str),
    /// The scenario differs from the run.
    Differs(String),
}

/// Plays the case of a seed, and exports its run. Without `scripted` all answers come from the record.
pub fn one(seed: u64, scripted: bool) -> Outcome {
    let case = generate(seed);
    if !case.committer {
        return Outcome::Left("nothing is committed");
    }
    if case.troubles.iter().any(|trouble| matches!(trouble, Trouble::DropAt(_))) {
        return Outcome::Left("a loop is dropped, and its process goes on from memory");
    }
    let scenario = as_scenario(&case).scenario;
    let Ok(played) = play(&scenario, Options::default()) else { return Outcome::Left("it does not end") };
    let Some(stored) = &played.stored else { return Outcome::Left("nothing is committed") };
    let base = if scripted { scenario } else { Scenario { model: Vec::new(), ..scenario } };
    let record = Record {
        base: &base,
        state: &played.state,
        decisions: stored.decisions(),
        trace: &played.trace,
        events: &played.committed,
        live: &[],
    };
    match export(&record, "exported") {
        Ok(exported) => again(&exported),
        Err(ExportError::InDoubt { .. }) => Outcome::Refused("a call is in doubt"),
        Err(ExportError::NotCommitted { .. }) => Outcome::Refused("a commit failed"),
        Err(ExportError::Running) => Outcome::Refused("it is under way"),
        Err(ExportError::Empty) => Outcome::Refused("nothing is committed"),
        Err(ExportError::Order { .. }) => Outcome::Refused(ORDER),
        Err(error) => Outcome::Differs(error.to_string()),
    }
}

/// Plays the written text of an export as a suite of scenarios does, and compares it with the play of the export.
fn again(exported: &Exported) -> Outcome {
    let read = match Scenario::parse(&exported.scenario.to_json()) {
        Ok(read) => read,
        Err(refused) => return Outcome::Differs(format!("the written scenario cannot be read: {refused}")),
    };
    let Ok(played) = play(&read, Options::default()) else {
        return Outcome::Differs("the written scenario does not end".to_owned());
    };
    let (first, second) = (to_text(&exported.played), to_text(&played));
    let differs = first.lines().zip(second.lines()).find(|(first, second)| first != second);
    match differs {
        Some((first, second)) => {
            Outcome::Differs(format!("expected {first:?}, got {second:?} of the written scenario"))
        }
        None if first.len() != second.len() => {
            Outcome::Differs("the written scenario ends elsewhere".to_owned())
        }
        None => Outcome::Same,
    }
}

/// The outcomes of several seeds.
#[derive(Debug, Default)]
pub struct Exports {
    /// The number of runs with an equal scenario.
    pub same: u64,
    /// The numbers of refused or omitted runs, by reason.
    pub others: BTreeMap<String, u64>,
    /// The seeds with a scenario that differs, and the first difference.
    pub differ: Vec<(u64, String)>,
}

/// Exports the runs of `cases` seeds.
pub fn exports(first: u64, cases: u64, scripted: bool) -> Exports {
    let mut exports = Exports::default();
    for seed in first..first + cases {
        match one(seed, scripted) {
            Outcome::Same => exports.same += 1,
            Outcome::Refused(why) => *exports.others.entry(format!("refused: {why}")).or_default() += 1,
            Outcome::Left(why) => *exports.others.entry(format!("left: {why}")).or_default() += 1,
            Outcome::Differs(difference) => exports.differ.push((seed, difference)),
        }
    }
    exports
}
