//! A recorded run as a scenario.

mod outside;
mod redact;
mod same;
mod tools;
mod turns;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;

use runstate::agent::event::AgentEvent;
use runstate::agent::{RunState, ToolSpec, WhenSuspended};
use runstate::decision::Decision;
use runstate::run::AnyRun;
use runstate::termination::TerminationReason;
use runstate::trace::Event;

use crate::file::{Commits, Driver, Plugin};
use crate::play::{Options, PlayError, Played, play};
use crate::script::IN_DOUBT;
use crate::{Refused, Scenario};

use outside::Came;
pub use same::Difference;

/// How the reason of a run begins whose commit failed.
const NOT_COMMITTED: &str = "the run's state could not be committed";

/// How often all moments are looked at anew.
const ROUNDS: usize = 3;

/// A run as a store has it.
#[derive(Debug, Clone, Copy)]
pub struct Record<'r> {
    /// What the run was created with. Its scripted tools and plugins stay; its answers stay for the steps that it has one for.
    pub base: &'r Scenario,
    /// The run.
    pub state: &'r RunState,
    /// The decisions that were accepted, by their suspensions.
    pub decisions: &'r BTreeMap<String, Decision>,
    /// The transitions, from the first on.
    pub trace: &'r [Event<'static>],
    /// The events, from the first on.
    pub events: &'r [AgentEvent],
    /// The tools that the run had beside the scripted ones. The scenario gives what they gave.
    pub live: &'r [ToolSpec],
}

/// A scenario that was made from a run, and the play that showed that it comes to the same.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exported {
    /// The scenario.
    pub scenario: Scenario,
    /// Its play.
    pub played: Played,
}

impl Exported {
    /// The same with each of these texts replaced: in values, names and numbers of the scenario, the first by `redacted-1`, the second by
    /// `redacted-2`. Digests are those of the new texts. The scenario is played again, and comes to the same but for the texts.
    ///
    /// # Errors
    /// As [`export`]: a text that is a name of the format, or that a schema or a condition of the run goes by.
    ///
    /// # Panics
    /// As [`export`].
    pub fn redacted(&self, texts: &[String]) -> Result<Exported, ExportError> {
        let words = (1..=texts.len()).map(redact::word);
        if let Some(place) =
            texts.iter().position(|text| words.clone().any(|word| word.contains(text.as_str())))
        {
            return Err(ExportError::Word { text: texts[place].clone(), word: redact::word(place + 1) });
        }
        let json = serde_json::to_value(&self.scenario).unwrap_or_default();
        let name = self.scenario.name.as_str();
        let mut json = redact::value(json, texts);
        // The name is no text of the run, and is chosen by the caller.
        if redact::text(name, texts) != name {
            json["name"] = "redacted".into();
        }
        let scenario = Scenario::parse(&json.to_string()).map_err(ExportError::Refused)?;
        let played = play(&scenario, Options::default()).map_err(ExportError::Play)?;
        match same::redacted(&self.played, &played, texts) {
            Ok(()) => Ok(Exported { scenario, played }),
            Err(difference) => Err(ExportError::Differs(Box::new(difference))),
        }
    }
}

/// Writes a recorded run as a scenario of that name: its answers, results and decisions at their times, and no live tool.
///
/// The scenario is played before it is returned. Its transitions, events, messages and decisions are those of the record, in the same
/// order; the id of the run, numbers of events, times and digests may differ.
///
/// # Example
/// ```
/// use std::collections::BTreeMap;
///
/// use runstate_scenario::export::{ExportError, Record, export};
/// use runstate_scenario::{Options, Scenario, play};
///
/// let asks = Scenario::parse("
/// name: asks
/// message: tidy up
/// approve: [tidy]
/// tools: {tidy: {}}
/// model: [{calls: [{id: c1, tool: tidy}]}, {text: done}]
/// outside:
///   - {when: {at_ms: 5000}, do: {decide: [{id: d1, call: c1, action: approve}]}}
/// ")?;
/// let played = play(&asks, Options::default())?;
/// let stored = played.stored.as_ref().unwrap();
/// let (state, decisions) = (&played.state, stored.decisions());
/// let record = Record { base: &asks, state, decisions, trace: &played.trace, events: &played.committed, live: &[] };
/// let exported = export(&record, "asked")?;
/// assert_eq!(exported.scenario.name, "asked");
/// assert_eq!(exported.played.trace.len(), played.trace.len());
///
/// // Without its decision the record is of no run that could be.
/// let nothing = BTreeMap::new();
/// let refused = export(&Record { decisions: &nothing, ..record }, "asked").unwrap_err();
/// assert!(matches!(refused, ExportError::NoDecision { .. }), "{refused}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ExportError`]: a run that goes on, a call in doubt that is not decided, a record that no scenario comes to.
///
/// # Panics
/// Within a tokio runtime, as [`play`] does.
pub fn export(record: &Record<'_>, name: &str) -> Result<Exported, ExportError> {
    record.check()?;
    let made = record.scenario(name);
    let came = outside::came(record)?;
    let own = (made.driver, made.when_suspended);
    // A worker parks a run and takes decisions at gates, whatever its scenario says.
    let mut ways = vec![own, (Driver::Plain, WhenSuspended::Park)];
    ways.dedup();
    let mut first = None;
    for (driver, when_suspended) in ways {
        match Search::new(record, Scenario { driver, when_suspended, ..made.clone() }, &came).find() {
            Ok(exported) => return Ok(exported),
            Err(error) => _ = first.get_or_insert(error),
        }
    }
    Err(first.unwrap_or(ExportError::Empty))
}

/// Looks for the moments at which the outside came.
struct Search<'r> {
    record: &'r Record<'r>,
    made: Scenario,
    came: &'r [Came],
    /// For each that came, which of its steps.
    chosen: Vec<usize>,
}

/// How a scenario did.
enum Tried {
    Same(Box<Exported>),
    /// How much of the record it repeats before it differs.
    Differs(usize, ExportError),
}

impl<'r> Search<'r> {
    fn new(record: &'r Record<'r>, made: Scenario, came: &'r [Came]) -> Self {
        Search { record, made, came, chosen: vec![0; came.len()] }
    }

    fn attempt(&self) -> Result<Tried, ExportError> {
        let outside = self.came.iter().zip(&self.chosen).map(|(came, step)| came[*step].clone()).collect();
        let scenario = Scenario { outside, ..self.made.clone() };
        let scenario = Scenario::parse(&scenario.to_json()).map_err(ExportError::Refused)?;
        let played = match play(&scenario, Options::default()) {
            Ok(played) => played,
            Err(error) => return Ok(Tried::Differs(0, ExportError::Play(error))),
        };
        Ok(match same::compare(self.record, &played) {
            Ok(()) if played.missed.is_empty() => Tried::Same(Box::new(Exported { scenario, played })),
            Ok(()) => Tried::Differs(usize::MAX, ExportError::Missed(played.missed)),
            Err(difference) => Tried::Differs(
                same::agreeing(self.record, &played),
                ExportError::Differs(Box::new(difference)),
            ),
        })
    }

    /// The scenario that comes to the record: one moment after the other is moved to where most of the record is repeated.
    fn find(mut self) -> Result<Exported, ExportError> {
        let (mut best, mut error) = match self.attempt()? {
            Tried::Same(exported) => return Ok(*exported),
            Tried::Differs(agreeing, error) => (agreeing, error),
        };
        for _ in 0..ROUNDS {
            let before = best;
            for place in 0..self.came.len() {
                let mut chosen = self.chosen[place];
                for moment in 0..self.came[place].len() {
                    self.chosen[place] = moment;
                    match self.attempt()? {
                        Tried::Same(exported) => return Ok(*exported),
                        Tried::Differs(agreeing, why) if agreeing > best => {
                            (best, error, chosen) = (agreeing, why, moment);
                        }
                        Tried::Differs(..) => {}
                    }
                }
                self.chosen[place] = chosen;
            }
            if best == before {
                break;
            }
        }
        Err(error)
    }
}

impl Record<'_> {
    fn check(&self) -> Result<(), ExportError> {
        let Some(first) = self.events.first() else { return Err(ExportError::Empty) };
        if first.seq != 1 {
            return Err(ExportError::Beginning { seq: first.seq });
        }
        if self.state.history().len() > self.state.own_history().len() {
            return Err(ExportError::Follows);
        }
        let doubtful = self.state.pending().into_iter().find(|one| one.suspension.action == IN_DOUBT);
        if let Some(pending) = doubtful {
            return Err(ExportError::InDoubt { call: pending.call.to_owned() });
        }
        match self.state.run() {
            AnyRun::Done(run) => match run.reason() {
                TerminationReason::Error(why) if why.starts_with(NOT_COMMITTED) => {
                    Err(ExportError::NotCommitted { why: why.clone() })
                }
                _ => Ok(()),
            },
            AnyRun::Running(_) => Err(ExportError::Running),
            AnyRun::Waiting(_) => Ok(()),
        }
    }

    fn scenario(&self, name: &str) -> Scenario {
        let base = self.base;
        let mut scenario = Scenario {
            name: name.to_owned(),
            about: Some(format!("the run {} as it was recorded", self.state.id())),
            folder: None,
            message: turns::first_message(self).unwrap_or_else(|| base.message.clone()),
            decisions: Vec::new(),
            replies: Vec::new(),
            outside: Vec::new(),
            commits: Commits { level: base.commits.level, ..Commits::default() },
            model: turns::turns(self),
            ..base.clone()
        };
        tools::script(self, &mut scenario);
        keep_called(&mut scenario);
        scenario
    }

    /// The id of the run, in the place of which the scenario has its own.
    fn run(&self) -> &str {
        self.state.id()
    }
}

/// Leaves out what the base says of calls that the model never made.
fn keep_called(scenario: &mut Scenario) {
    let mut made = BTreeSet::new();
    let mut lives: BTreeMap<&str, u32> = BTreeMap::new();
    for call in scenario.model.iter().flat_map(|turn| &turn.calls) {
        let life = lives.entry(&call.id).or_default();
        *life += 1;
        made.insert(if *life == 1 { call.id.clone() } else { format!("{}#{life}", call.id) });
    }
    for tool in scenario.tools.values_mut() {
        tool.calls.retain(|call, _| made.contains(call));
    }
    scenario.plugins.retain(|plugin| match plugin {
        Plugin::Gate { call, .. } => made.contains(call),
        _ => true,
    });
}

/// Why a run is no scenario.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportError {
    /// Nothing of the run was committed.
    Empty,
    /// Its first events are not there.
    Beginning {
        /// The number of the first event that there is.
        seq: u64,
    },
    /// The run is neither over nor does it wait.
    Running,
    /// The run goes on from the messages of another one.
    Follows,
    /// A call may have executed, and no decision says so.
    InDoubt {
        /// The call, as it is named in traces.
        call: String,
    },
    /// A decision was accepted, and is not in the record.
    NoDecision {
        /// The suspension that it answers.
        suspension: String,
    },
    /// A commit failed: the store ended the run.
    NotCommitted {
        /// How it failed.
        why: String,
    },
    /// A text that is to be replaced is a part of the words in its place.
    Word {
        /// The text.
        text: String,
        /// The word.
        word: String,
    },
    /// The scenario that the record makes is none.
    Refused(Refused),
    /// The scenario cannot be played.
    Play(PlayError),
    /// Something of the scenario never came about in its play.
    Missed(Vec<String>),
    /// The scenario comes to something else than the record.
    Differs(Box<Difference>),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::Empty => f.write_str("nothing of the run was committed"),
            ExportError::Beginning { seq } => {
                write!(f, "the events of the run begin at number {seq}, and a scenario needs them from 1 on")
            }
            ExportError::Running => f.write_str("the run is under way; expected one that is over or waits"),
            ExportError::Follows => f.write_str(
                "the run goes on from the messages of another run, and a scenario begins with one message",
            ),
            ExportError::InDoubt { call } => write!(
                f,
                "the call {call:?} is in doubt: its tool may have executed, and no decision says whether it did"
            ),
            ExportError::NoDecision { suspension } => {
                write!(
                    f,
                    "a decision on the suspension {suspension:?} was accepted, and the record does not have it"
                )
            }
            ExportError::NotCommitted { why } => {
                write!(f, "the store ended the run, which no scenario repeats: {why}")
            }
            ExportError::Word { text, word } => {
                write!(
                    f,
                    "the text {text:?} cannot be replaced: it is a part of {word:?}, the word in its place"
                )
            }
            ExportError::Refused(error) => write!(f, "the record makes no scenario: {error}"),
            ExportError::Play(error) => write!(f, "the scenario cannot be played: {error}"),
            ExportError::Missed(missed) => {
                write!(f, "in the play of the scenario this never came about: {}", missed.join("; "))
            }
            ExportError::Differs(difference) => {
                write!(f, "the scenario comes to something else than the run: {difference}")
            }
        }
    }
}

impl Error for ExportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ExportError::Refused(error) => Some(error),
            ExportError::Play(error) => Some(error),
            _ => None,
        }
    }
}
