//! Prepared decisions: from the scenario, and from the command line.

use std::collections::HashSet;

use runstate_scenario::file::{Action, Answer};
use runstate_scenario::{Ready, Scenario};

use crate::failure::Failure;
use crate::meant::did_you_mean;
use crate::output::printable;

/// The scenario's decisions, overridden by the actor's decisions on the command line.
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
            return Err(Failure::new(format!("the command line has two decisions on the call {named:?}")));
        }
        answers.retain(|ready| ready.answer.call != call);
        let answer = Answer { call, action, reason: None, result: None, actor: Some(actor.to_owned()) };
        answers.push(Ready { answer, is_of_command: true });
    }
    Ok(answers)
}

/// Returns the trace name of the call that a person names. A person names the calls of a repeated id `id#1`,
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
            let help = format!("name one call: {}", printable(&candidates.join(", ")));
            Err(Failure::new(format!("the model makes {lives} calls with the id {id:?}")).with_help(help))
        }
        _ => {
            let mut known: Vec<&str> = scenario.calls().map(|call| call.id.as_str()).collect();
            known.dedup();
            let near = did_you_mean(named, known.iter().copied());
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            Err(Failure::new(format!("the model makes no call {named:?}"))
                .with_help(printable(&format!("the calls of the model are {known}{near}"))))
        }
    }
}
