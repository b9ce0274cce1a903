//! Asking at the terminal.

use std::io::{IsTerminal, stderr, stdin};

use runstate::agent::{CancellationToken, Incoming, RunState};
use runstate::decision::{ResumeMode, Suspension};

use super::answers::{self, Question};
use super::report::question;
use crate::failure::Failure;

/// Drops what was typed before a question is shown: it cannot be the answer to it. What comes from no terminal was written for the
/// questions, in their order.
fn drop_typed() {
    #[cfg(unix)]
    if stdin().is_terminal() {
        // A terminal that is gone says so when it is read.
        rustix::termios::tcflush(stdin(), rustix::termios::QueueSelector::IFlush).unwrap_or_default();
    }
}

/// Does the question want more than a yes?
fn wants_answer(suspension: &Suspension) -> bool {
    suspension.resume_mode != ResumeMode::ReplayToolCall || suspension.response_schema.is_some()
}

/// Asks about each call that waits; gives the answers there are. A cancellation ends the asking.
///
/// # Errors
/// A terminal that cannot be read.
pub(super) async fn asked(
    state: &RunState,
    actor: &str,
    cancelled: &CancellationToken,
) -> Result<Vec<Incoming>, Failure> {
    let questions: Vec<Question> = state
        .pending()
        .iter()
        .map(|pending| Question {
            call: pending.call.to_owned(),
            suspension: pending.suspension.id.clone(),
            text: question(pending),
            wants_answer: wants_answer(pending.suspension),
        })
        .collect();
    let mut given = Vec::new();
    for question in questions {
        // On a thread of its own, so that Ctrl-C is heard meanwhile.
        let actor = actor.to_owned();
        let answer = tokio::task::spawn_blocking(move || {
            drop_typed();
            answers::ask(&question, &actor, &mut stdin().lock(), &mut stderr())
        });
        let Some(answer) = cancelled.run_until_cancelled(answer).await else { return Ok(given) };
        let refused =
            |error: &dyn std::fmt::Display| Failure::new(format!("cannot ask at the terminal: {error}"));
        given.extend(answer.map_err(|error| refused(&error))?.map_err(|error| refused(&error))?);
    }
    Ok(given)
}
