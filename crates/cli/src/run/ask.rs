//! Asking at the terminal.

use std::io::{stderr, stdin};

use runstate::agent::{CancellationToken, Incoming, RunState};

use super::answers::{self, Question};
use super::report::question;
use crate::failure::Failure;

/// Asks about each call that waits; gives the answers there are. A cancellation ends the asking.
///
/// # Errors
/// A terminal that cannot be read.
pub(super) async fn asked(state: &RunState, cancelled: &CancellationToken) -> Result<Vec<Incoming>, Failure> {
    let questions: Vec<Question> = state
        .pending()
        .iter()
        .map(|pending| Question {
            call: pending.call.to_owned(),
            suspension: pending.suspension.id.clone(),
            text: question(pending),
        })
        .collect();
    let mut given = Vec::new();
    for question in questions {
        // On a thread of its own, so that Ctrl-C is heard meanwhile.
        let answer =
            tokio::task::spawn_blocking(move || answers::ask(&question, &mut stdin().lock(), &mut stderr()));
        let Some(answer) = cancelled.run_until_cancelled(answer).await else { return Ok(given) };
        let refused =
            |error: &dyn std::fmt::Display| Failure::new(format!("cannot ask at the terminal: {error}"));
        given.extend(answer.map_err(|error| refused(&error))?.map_err(|error| refused(&error))?);
    }
    Ok(given)
}
