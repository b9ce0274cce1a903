//! Decisions on calls that wait: of the scenario, of the command line before the calls ask, and at the terminal.

use std::collections::HashSet;
use std::io::{BufRead, Write};

use runstate::agent::Incoming;
use runstate::decision::DecisionAction;
use runstate_scenario::file::{Action, Answer};
use runstate_scenario::{Ready, Scenario};
use serde_json::Value;

use crate::failure::Failure;
use crate::output::printable;

/// The scenario's decisions, and over them those of the command line, which are the actor's.
///
/// # Errors
/// A call on the command line that the scenario's model never makes, or that is named twice.
pub(crate) fn answers(
    scenario: &Scenario,
    approve: &[String],
    deny: &[String],
    actor: &str,
) -> Result<Vec<Ready>, Failure> {
    let mut answers: Vec<Ready> = scenario.decisions.iter().cloned().map(Ready::in_scenario).collect();
    let mut decided = HashSet::new();
    let named = approve.iter().map(|call| (call, Action::Approve));
    for (named, action) in named.chain(deny.iter().map(|call| (call, Action::Deny))) {
        let call = call(scenario, named)?;
        if !decided.insert(call.clone()) {
            return Err(Failure::new(format!("the call {named:?} is decided twice on the command line")));
        }
        answers.retain(|ready| ready.answer.call != call);
        let answer = Answer { call, action, reason: None, result: None, actor: Some(actor.to_owned()) };
        answers.push(Ready { answer, is_of_command: true });
    }
    Ok(answers)
}

/// The name in traces of a call that a person names. An id that the model uses again names no call: its lives are `id#1`,
/// `id#2`, and so on.
fn call(scenario: &Scenario, named: &str) -> Result<String, Failure> {
    let (id, life) = match named.rsplit_once('#') {
        Some((id, life)) => (id, life.parse::<usize>().ok()),
        None => (named, None),
    };
    let lives = scenario.calls().filter(|call| call.id == id).count();
    let candidates: Vec<String> = (1..=lives).map(|life| format!("{id}#{life}")).collect();
    match life {
        None if lives == 1 && named == id => Ok(id.to_owned()),
        Some(1) if lives > 0 => Ok(id.to_owned()),
        Some(life) if (1..=lives).contains(&life) => Ok(format!("{id}#{life}")),
        None if lives > 1 && named == id => {
            let help = format!("say which: {}", printable(&candidates.join(", ")));
            Err(Failure::new(format!("the model makes {lives} calls of the id {id:?}")).with_help(help))
        }
        _ => {
            let mut known: Vec<&str> = scenario.calls().map(|call| call.id.as_str()).collect();
            known.dedup();
            Err(Failure::new(format!("the model makes no call {named:?}"))
                .with_help(format!("its calls are {}", printable(&known.join(", ")))))
        }
    }
}

/// What a call waits for, so that somebody can be asked.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) call: String,
    pub(crate) suspension: String,
    pub(crate) text: String,
    /// Is a bare yes no answer to it?
    pub(crate) wants_answer: bool,
}

/// Asks until there is an answer; none for an empty line or the end of the input, which leave the call waiting.
///
/// # Errors
/// Those of the terminal.
pub(crate) fn ask(
    question: &Question,
    actor: &str,
    from: &mut dyn BufRead,
    to: &mut dyn Write,
) -> std::io::Result<Option<Incoming>> {
    writeln!(to, "{}", question.text)?;
    loop {
        write!(to, "{}", if question.wants_answer { ANSWER } else { APPROVE })?;
        to.flush()?;
        let mut line = String::new();
        // A line that does not end is no answer.
        let mut limited = std::io::Read::take(&mut *from, 4096);
        limited.read_line(&mut line)?;
        let (word, reason) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let action = match &*word.to_lowercase() {
            "" => {
                writeln!(to)?;
                return Ok(None);
            }
            "y" | "yes" if !question.wants_answer => DecisionAction::Resume,
            "n" | "no" => DecisionAction::Cancel,
            _ if question.wants_answer => match serde_json::from_str::<Value>(line.trim()) {
                Ok(result) if !result.is_null() => {
                    return Ok(Some(decision(question, actor).with_result(result)));
                }
                Ok(_) => continue,
                Err(error) => {
                    writeln!(to, "expected JSON, {error}")?;
                    continue;
                }
            },
            _ => continue,
        };
        let mut incoming = Incoming { action, ..decision(question, actor) };
        incoming.reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
        return Ok(Some(incoming));
    }
}

const APPROVE: &str = "[y] approve, [n] deny, either with a reason behind it; [enter] leave it waiting: ";
const ANSWER: &str = "the answer as JSON, or [n] deny, with a reason behind it; [enter] leave it waiting: ";

/// To go on, by this actor.
fn decision(question: &Question, actor: &str) -> Incoming {
    let Question { call, suspension, .. } = question;
    Incoming::new(format!("{suspension}/decision"), call, DecisionAction::Resume).on(suspension).by(actor)
}
