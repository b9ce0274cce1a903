//! What people decide about calls that wait: in the scenario, on the command line, or at the terminal.

use std::io::{BufRead, Write};

use runstate::agent::Incoming;
use runstate::decision::DecisionAction;
use runstate_scenario::file::{Action, Answer};
use runstate_scenario::{Ready, Scenario};

use crate::failure::Failure;
use crate::output::printable;

pub(crate) const COMMAND_LINE: &str = "command line";
const TERMINAL: &str = "terminal";

/// The scenario's decisions, and over them those of the command line.
///
/// # Errors
/// A call on the command line that the scenario's model never makes, or that is named twice.
pub(crate) fn answers(
    scenario: &Scenario,
    approve: &[String],
    deny: &[String],
) -> Result<Vec<Ready>, Failure> {
    let mut answers: Vec<Ready> = scenario.decisions.iter().cloned().map(Ready::in_scenario).collect();
    let named = approve.iter().map(|call| (call, Action::Approve));
    for (named, action) in named.chain(deny.iter().map(|call| (call, Action::Deny))) {
        let call = call(scenario, named)?;
        if answers.iter().any(|ready| ready.answer.call == call && ready.actor == COMMAND_LINE) {
            return Err(Failure::new(format!("the call {named:?} is decided twice on the command line")));
        }
        answers.retain(|ready| ready.answer.call != call);
        let answer = Answer { call, action, reason: None, result: None };
        answers.push(Ready { answer, actor: COMMAND_LINE.to_owned(), settles_doubt: true });
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
}

/// Asks until there is an answer; none for an empty line or the end of the input, which leave the call waiting.
///
/// # Errors
/// Those of the terminal.
pub(crate) fn ask(
    question: &Question,
    from: &mut dyn BufRead,
    to: &mut dyn Write,
) -> std::io::Result<Option<Incoming>> {
    writeln!(to, "{}", question.text)?;
    loop {
        write!(to, "[y] approve, [n] deny, either with a reason behind it; [enter] leave it waiting: ")?;
        to.flush()?;
        let mut line = String::new();
        // A line that does not end is no answer.
        let mut limited = std::io::Read::take(&mut *from, 4096);
        limited.read_line(&mut line)?;
        let (word, reason) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let action = match word {
            "" => {
                writeln!(to)?;
                return Ok(None);
            }
            "y" | "yes" => DecisionAction::Resume,
            "n" | "no" => DecisionAction::Cancel,
            _ => continue,
        };
        let Question { call, suspension, .. } = question;
        let mut incoming = Incoming::new(format!("{suspension}/decision"), call, action).on(suspension);
        incoming.reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
        incoming.actor = Some(TERMINAL.to_owned());
        return Ok(Some(incoming));
    }
}
