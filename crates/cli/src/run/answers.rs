//! What people decide about calls that wait: in the scenario, on the command line, or at the terminal.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};

use runstate::agent::{DecisionSource, Incoming, Pending, Reply};
use runstate::decision::DecisionAction;
use serde_json::Value;

use super::clock::RunClock;
use super::gate::APPROVE;
use super::progress::Progress;
use crate::failure::Failure;
use crate::output::printable;
use crate::scenario::{Action, Scenario};

const SCENARIO: &str = "scenario";
const COMMAND_LINE: &str = "command line";
const TERMINAL: &str = "terminal";

/// A person's answer about one call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) action: Action,
    pub(crate) reason: Option<String>,
    /// The call's result, instead of an execution of its tool.
    pub(crate) result: Option<Value>,
    /// Where it comes from.
    pub(crate) actor: &'static str,
}

/// The answers that are known before anyone is asked, by the call's id.
#[derive(Debug, Default)]
pub(crate) struct Answers(BTreeMap<String, Answer>);

impl Answers {
    /// The scenario's decisions, and over them those of the command line.
    ///
    /// # Errors
    /// A call on the command line that the scenario's model never makes, or that is named twice.
    pub(crate) fn new(scenario: &Scenario, approve: &[String], deny: &[String]) -> Result<Self, Failure> {
        let mut answers: BTreeMap<String, Answer> = scenario
            .decisions
            .iter()
            .map(|decision| {
                let answer = Answer {
                    action: decision.action,
                    reason: decision.reason.clone(),
                    result: decision.result.clone(),
                    actor: SCENARIO,
                };
                (decision.call.value.clone(), answer)
            })
            .collect();
        let named = approve.iter().map(|call| (call, Action::Approve));
        for (call, action) in named.chain(deny.iter().map(|call| (call, Action::Deny))) {
            if !scenario.calls().any(|known| known.id.value == *call) {
                let known: Vec<&str> = scenario.calls().map(|call| call.id.value.as_str()).collect();
                return Err(Failure::new(format!("the model makes no call {call:?}"))
                    .with_help(format!("its calls are {}", printable(&known.join(", ")))));
            }
            let answer = Answer { action, reason: None, result: None, actor: COMMAND_LINE };
            if answers.insert(call.clone(), answer).is_some_and(|before| before.actor == COMMAND_LINE) {
                return Err(Failure::new(format!("the call {call:?} is decided twice on the command line")));
            }
        }
        Ok(Answers(answers))
    }

    /// Adds an answer, which takes the place of another.
    pub(crate) fn add(&mut self, call: &str, answer: Answer) {
        self.0.insert(call.to_owned(), answer);
    }

    /// Is there an answer for any of these?
    pub(crate) fn any_for(&self, pending: &[Pending<'_>]) -> bool {
        pending.iter().any(|pending| self.fits(pending))
    }

    /// The calls of the command line that never waited.
    pub(crate) fn unused(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, answer)| answer.actor == COMMAND_LINE).map(|(call, _)| call.as_str())
    }

    /// The scenario answers what it foresees, which is approval; whether a call that a crash left in doubt may execute
    /// again is for a person to say.
    fn fits(&self, pending: &Pending<'_>) -> bool {
        self.0
            .get(pending.call)
            .is_some_and(|answer| answer.actor != SCENARIO || pending.suspension.action == APPROVE)
    }
}

/// Answers come in once a run waits: [`Answers`] are given one by one, each once.
#[derive(Debug)]
pub(super) struct Inbox<'a> {
    pub(super) answers: &'a mut Answers,
    pub(super) clock: &'a RunClock,
    pub(super) progress: &'a Progress,
    /// Nobody answers before the run has parked.
    pub(super) open: bool,
}

impl DecisionSource for Inbox<'_> {
    fn next(&mut self, pending: &[Pending<'_>]) -> Option<Incoming> {
        if !self.open {
            return None;
        }
        let pending = pending.iter().find(|pending| self.answers.fits(pending))?;
        let answer = self.answers.0.remove(pending.call)?;
        let action = match answer.action {
            Action::Approve => DecisionAction::Resume,
            Action::Deny => DecisionAction::Cancel,
        };
        let id = format!("{}/decision", pending.suspension.id);
        let mut incoming = Incoming::new(id, pending.call, action);
        incoming.suspension_id = Some(pending.suspension.id.clone());
        incoming.result = answer.result.unwrap_or(Value::Null);
        incoming.reason = answer.reason;
        incoming.actor = Some(answer.actor.to_owned());
        incoming.decided_at_ms = self.clock.now_ms();
        Some(incoming)
    }

    fn replied(&mut self, incoming: &Incoming, reply: Reply) {
        let decided = match incoming.action {
            DecisionAction::Resume => "approves",
            DecisionAction::Cancel => "denies",
        };
        let who = incoming.actor.as_deref().unwrap_or("someone");
        let why = incoming.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let became = if reply == Reply::Accepted { String::new() } else { format!(" ({reply:?})") };
        self.progress.says(who, &format!("{decided} {}{why}{became}", incoming.call));
    }
}

/// Asks until there is an answer; none for an empty line or the end of the input, which leave the call waiting.
///
/// # Errors
/// Those of the terminal.
pub(crate) fn ask(
    pending: &Pending<'_>,
    from: &mut dyn BufRead,
    to: &mut dyn Write,
) -> std::io::Result<Option<Answer>> {
    writeln!(to, "{}", question(pending))?;
    loop {
        write!(to, "[y] approve, [n] deny, either with a reason behind it; [enter] leave it waiting: ")?;
        to.flush()?;
        let mut line = String::new();
        // A line that does not end is no answer.
        let mut limited = std::io::Read::take(&mut *from, 4096);
        limited.read_line(&mut line)?;
        let (word, reason) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
        let action = match word {
            "" => {
                writeln!(to)?;
                return Ok(None);
            }
            "y" | "yes" => Action::Approve,
            "n" | "no" => Action::Deny,
            _ => continue,
        };
        return Ok(Some(Answer { action, reason, result: None, actor: TERMINAL }));
    }
}

/// What a call waits for, in a line.
pub(crate) fn question(pending: &Pending<'_>) -> String {
    let Pending { call, record, suspension } = pending;
    printable(&format!("{call} waits: {} {}: {}", record.tool(), record.arguments(), suspension.message))
}
