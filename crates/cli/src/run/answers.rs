//! What people decide about calls that wait: in the scenario, on the command line, or at the terminal.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};

use serde_json::Value;

use crate::failure::Failure;
use crate::output::printable;
use crate::scenario::{Action, Scenario};

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
                    actor: "scenario",
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
            let answer = Answer { action, reason: None, result: None, actor: "command line" };
            if answers.insert(call.clone(), answer).is_some_and(|before| before.actor == "command line") {
                return Err(Failure::new(format!("the call {call:?} is decided twice on the command line")));
            }
        }
        Ok(Answers(answers))
    }

    /// The answer about a call, if there is one. It is given once.
    pub(crate) fn take(&mut self, call: &str) -> Option<Answer> {
        self.0.remove(call)
    }
}

/// A call that waits, as a person is told of it.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    pub(crate) call: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a Value,
    pub(crate) message: &'a str,
}

/// Asks until there is an answer; none for an empty line or the end of the input, which leave the call waiting.
///
/// # Errors
/// Those of the terminal.
pub(crate) fn ask(
    question: &Question<'_>,
    from: &mut dyn BufRead,
    to: &mut dyn Write,
) -> std::io::Result<Option<Answer>> {
    let Question { call, tool, arguments, message } = question;
    let told = printable(&format!("{call} waits: {message} ({tool} {arguments})"));
    writeln!(to, "{told}")?;
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
        return Ok(Some(Answer { action, reason, result: None, actor: "terminal" }));
    }
}
