//! Export of a recorded run as a scenario.

mod error;
mod limit;
mod outside;
mod pieces;
mod redact;
mod same;
mod search;
mod tools;
mod turns;

use std::collections::{BTreeMap, BTreeSet};

use runstate::decision::Decision;
use runstate::run::AnyRun;
use runstate::termination::TerminationReason;
use runstate::trace::Event;
use runstate_agent::event::{AgentEvent, EventKind};
use runstate_agent::{RunState, ToolSpec, WhenSuspended};

use crate::file::{Act, Commits, Driver, Plugin};
use crate::play::{Options, Played, play};
use crate::script::IN_DOUBT;
use crate::{Scenario, to_text};

pub use error::ExportError;
pub use same::Difference;
use search::Search;

/// The beginning of the reason of a run that a failed commit ended.
const NOT_COMMITTED: &str = "the run's state could not be committed";

/// The upper limit of steps of an exported run.
const MOST_STEPS: u32 = 10_000;

/// A stored run.
#[derive(Debug, Clone, Copy)]
pub struct Record<'r> {
    /// The scenario that the run was created with. Its scripted tools and plugins stay. Its answer to a step replaces the
    /// recorded one; for a live model it has none.
    pub base: &'r Scenario,
    /// The run.
    pub state: &'r RunState,
    /// The accepted decisions, by their suspensions.
    pub decisions: &'r BTreeMap<String, Decision>,
    /// The transitions, from the first one.
    pub trace: &'r [Event<'static>],
    /// The events, from the first one.
    pub events: &'r [AgentEvent],
    /// The live tools of the run, beside the scripted ones. The scenario repeats their results.
    pub live: &'r [ToolSpec],
}

/// An exported scenario and its play.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exported {
    /// The scenario.
    pub scenario: Scenario,
    /// Its play.
    pub played: Played,
}

impl Exported {
    /// Replaces each of these texts by `redacted-1`, `redacted-2` and so on, in values, keys and numbers of the scenario.
    /// Digests are computed from the new texts. The scenario is played again, and its play equals the first one except for
    /// the texts. Neither the scenario nor its play contains one of the texts, in any case, as it is or with the escapes of
    /// JSON; other encodings of a text are not searched. A text of at most three digits may be a part of a longer number,
    /// such as a time.
    ///
    /// # Errors
    /// As [`export`]; also for a text that is a name of the format, or that a schema or a condition of the run needs.
    ///
    /// # Panics
    /// As [`export`].
    pub fn redacted(&self, texts: &[String]) -> Result<Exported, ExportError> {
        let words: Vec<String> = (1..=texts.len()).map(redact::word).collect();
        for (number, text) in (1..).zip(texts) {
            if let Some(word) = words.iter().find(|word| word.contains(text.as_str())) {
                return Err(ExportError::Word { number, word: word.clone() });
            }
        }
        let json = serde_json::to_value(&self.scenario).unwrap_or_default();
        let name = self.scenario.name.as_str();
        let mut json = redact::value(json, texts);
        // The name is no text of the run; the caller chooses it.
        if redact::text(name, texts) != name {
            json["name"] = "redacted".into();
        }
        let mut scenario = Scenario::parse(&json.to_string()).map_err(ExportError::Format)?;
        let words = redact::question_words(&self.scenario, &scenario, texts);
        let decisions = scenario.outside.iter_mut().flat_map(|step| match &mut step.act {
            Act::Decide(decisions) => decisions.as_mut_slice(),
            _ => &mut [],
        });
        // An id that was made from a text would reveal it to a guess.
        for (number, decision) in (1..).zip(decisions) {
            decision.id = format!("decision-{number}");
            for (before, after) in &words {
                decision.suspension = decision.suspension.take().map(|id| id.replace(before, after));
            }
        }
        let played = play(&scenario, Options::default()).map_err(ExportError::Play)?;
        let shown = [scenario.to_json(), to_text(&played)];
        let is_left = |text: &String| {
            // A number of three digits may also be a time.
            let is_short = text.len() < 4 && text.bytes().all(|byte| byte.is_ascii_digit());
            !is_short && shown.iter().any(|shown| redact::shows(shown, text))
        };
        if let Some(place) = texts.iter().position(is_left) {
            return Err(ExportError::Left { number: place + 1 });
        }
        match same::redacted(&self.played, &played, texts, &words) {
            Ok(()) => Ok(Exported { scenario, played }),
            Err(difference) => Err(ExportError::Differs(Box::new(difference))),
        }
    }
}

/// Writes a recorded run as a scenario of that name, with its answers, results and decisions, and without live tools.
///
/// The scenario is played before it is returned. Its transitions, events, messages and decisions equal the record, in the
/// same order; the id of the run, numbers of events, times and digests may differ. Times are as near to the recorded ones as
/// that order permits. The last answer of a run that its time limit stopped comes as late as the recorded time requires. Messages of earlier runs on the thread are not part of the scenario: the scripted model does not need them.
/// A run of a redacting agent with live tools is refused: its events lack the results.
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
/// [`ExportError`]: a run that is not over, an undecided call in doubt, a record that no scenario reproduces.
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
    let ways =
        ways.into_iter().map(|(driver, when_suspended)| Scenario { driver, when_suspended, ..made.clone() });
    let each_ms = durations(record.events);
    // A scenario without durations of commits is easier to read, and mostly repeats the order.
    let first = |way: &Scenario| Search::new(record, way.clone(), &came).first();
    if !each_ms.is_empty()
        && let Some(exported) = ways.clone().find_map(|way| first(&way))
    {
        return Ok(exported);
    }
    let mut error = None;
    for way in ways {
        let commits = Commits { each_ms: each_ms.clone(), ..way.commits.clone() };
        match Search::new(record, Scenario { commits, ..way }, &came).find() {
            Ok(exported) => return Ok(exported),
            Err(refused) => _ = error.get_or_insert(refused),
        }
    }
    Err(error.unwrap_or(ExportError::Empty))
}

/// The durations of the commits; empty if each took less than a millisecond. The last commit of an activation counts
/// none, because nothing of it follows.
fn durations(events: &[AgentEvent]) -> Vec<u64> {
    let before = events.iter().filter_map(|event| match event.kind {
        EventKind::Checkpoint { before_ms, .. } => Some(before_ms),
        _ => None,
    });
    let each_ms: Vec<u64> = before.skip(1).chain([0]).collect();
    if each_ms.iter().all(|ms| *ms == 0) { Vec::new() } else { each_ms }
}

impl Record<'_> {
    fn check(&self) -> Result<(), ExportError> {
        if self.events.is_empty() {
            return Err(ExportError::Empty);
        }
        let ends = std::iter::once(0).chain(self.events.iter().map(AgentEvent::last));
        let gap = ends.zip(self.events).find(|(last, event)| last.saturating_add(1) != event.seq);
        if let Some((after, event)) = gap {
            return Err(ExportError::Gap { after, next: event.seq });
        }
        let steps = self.events.iter().filter_map(|event| match event.kind {
            EventKind::InferenceStarted { step } | EventKind::InferenceFinished { step, .. } => Some(step),
            _ => None,
        });
        // A stored number must not make a list of that length.
        if let Some(step) = steps.max().filter(|step| *step > MOST_STEPS) {
            return Err(ExportError::Steps { step });
        }
        let is_decided = |id: &str| self.decisions.get(id).is_some_and(|decision| !decision.is_expiry());
        let doubtful = self.events.iter().find_map(|event| match &event.kind {
            EventKind::ToolCallSuspended { interrupt } => {
                let asked = &interrupt.suspension;
                (asked.action == IN_DOUBT && !is_decided(&asked.id)).then(|| interrupt.call.clone())
            }
            _ => None,
        });
        if let Some(call) = doubtful {
            return Err(ExportError::InDoubt { call });
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
            about: Some(self.about()),
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
        if let AnyRun::Waiting(_) = self.state.run() {
            tools::keep_open(self, &mut scenario);
        }
        scenario
    }

    fn about(&self) -> String {
        let id = self.state.id();
        match self.state.history().len() - self.state.own_history().len() {
            0 => format!("the run {id} as it was recorded"),
            1 => format!("the run {id} as it was recorded, without the message of its thread before it"),
            count => format!(
                "the run {id} as it was recorded, without the {count} messages of its thread before it"
            ),
        }
    }

    /// The id of the run; the scenario has its own.
    fn run(&self) -> &str {
        self.state.id()
    }
}

/// Removes the scripts of calls that the model never made.
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
        tool.previews.retain(|call, _| made.contains(call));
    }
    scenario.plugins.retain(|plugin| match plugin {
        Plugin::Gate { call, .. } => made.contains(call),
        _ => true,
    });
}

#[cfg(test)]
mod tests;
