//! `runstate approve SUSPENSION` and `runstate deny SUSPENSION`

use runstate::decision::DecisionAction;
use runstate::run::RunStatus;
use runstate_agent::{Incoming, Reply};
use runstate_store::{StoreError, run_of_suspension};
use serde_json::{Value, json};

use super::approvals;
use super::decision::{Replied, Said};
use super::hand::{by_whom, holder};
use crate::actor::actor;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{self, Text};
use crate::output::{Output, printable};
use crate::run;
use crate::store::{Missing, Opened, StoreArgs, beside, tell_damaged};

/// Approve a waiting call of a run, from any process
///
/// A decision answers one question. The suspension or the digest names the question; `runstate approvals` shows both. With
/// --run, the name of the call is enough for the first question of the call. The first decision on a question wins, and is
/// durable when it is accepted. A repetition of the command makes the same decision, or is refused: it never answers another
/// question.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate approve tidy-folder-1/rm_draft/1
  runstate approve tidy-folder-1/rm_draft/1 --actor ada --reason 'the report has it all'
  runstate approve rm_draft --digest sha256:33cbd4b47b651c4e0c9a51f4ae7a4c10
  runstate approve shop-1/lookup/1 --result '{\"price\": 12}'

Exit codes:
  0  the decision is accepted, now or by the same decision before (with
     --digest, name the suspension or --run to find a decision from before)
  1  the decision is not accepted: another decision was first, the question has
     expired, no such call waits, the question has another digest, the actor has
     approved this call before, or the result does not fit
  2  the run does not exist; the name means several questions, or needs --run;
     --result is missing or not expected; the store or another argument is
     unusable")]
pub(crate) struct Approve {
    #[command(flatten)]
    on: On,
    /// The answer to a call that asks for one: `runstate approvals` shows whether the tool executes with it, or it is the
    /// result of the call. For a call in doubt, the result of the interrupted execution: the tool does not execute again
    #[arg(long, value_name = "JSON")]
    result: Option<String>,
}

/// Deny a waiting call: the call is cancelled, and the model reads the reason
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate deny tidy-folder-1/rm_notes/1 --reason 'the phone numbers are still needed'

Exit codes:
  0  the decision is accepted, now or by the same decision before
  1  the decision is not accepted: another decision was first, the question has
     expired, no such call waits, the question has another digest, or the actor
     has approved this call before
  2  the run does not exist; the name means several questions, or needs --run;
     the store or another argument is unusable")]
pub(crate) struct Deny {
    #[command(flatten)]
    on: On,
}

/// The common arguments.
#[derive(Debug, clap::Args)]
struct On {
    /// The suspension. With --run or --digest also the call, by its name or its id from the model; a name with a slash is
    /// always a suspension
    #[arg(value_name = "SUSPENSION")]
    question: String,
    /// The run of the call
    #[arg(long)]
    run: Option<String>,
    /// The reason, for the model and the record
    #[arg(long)]
    reason: Option<String>,
    /// The actor of the decision. The name is not verified. Default: the user of the operating system
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// The digest of the question, or its beginning as `runstate approvals` shows it. A question with another digest is not
    /// answered
    #[arg(long, value_parser = digest)]
    digest: Option<String>,
    /// One JSON object: reply (one word), why, accepted, run, call, suspension, decision
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreArgs,
}

pub(crate) fn approve(args: &Approve, out: &mut Output) -> Result<Exit, Failure> {
    let result = args
        .result
        .as_deref()
        .map(|text| input::json(&Text { name: "--result".to_owned(), text: text.to_owned() }));
    args.on.decide(DecisionAction::Resume, result.transpose()?, out)
}

pub(crate) fn deny(args: &Deny, out: &mut Output) -> Result<Exit, Failure> {
    args.on.decide(DecisionAction::Cancel, None, out)
}

impl On {
    fn decide(
        &self,
        action: DecisionAction,
        result: Option<Value>,
        out: &mut Output,
    ) -> Result<Exit, Failure> {
        let opened = self.place.open(Missing::Refuse)?;
        let said = Said {
            opened: &opened,
            question: &self.question,
            run: self.run.as_deref(),
            digest: self.digest.as_deref(),
            action,
            result: result.as_ref(),
            reason: self.reason.as_deref(),
            actor: &actor(self.actor.as_deref()),
        };
        let replied = said.give(|found| {
            if !self.json {
                approvals::text(found, out);
            }
        })?;
        let Replied { reply, incoming, suspension } = &replied;
        if *reply == Reply::Unknown {
            self.check_run(&opened)?;
        }
        let more = differs_in_reason(reply, incoming);
        let told = match &more {
            Some(more) => format!("{reply}; {more}"),
            None => reply.to_string(),
        };
        // The message quotes an invalid result, and names.
        let (told, _) = crate::without_secrets(told, std::env::args_os());
        if *reply == Reply::Unknown && incoming.run_id.is_none() {
            // The call may be in an unreadable run.
            tell_damaged(&opened)?;
        }
        if self.json {
            out.json(&json!({
                "reply": reply.name(),
                "why": told.strip_prefix(reply.name()).and_then(|why| why.strip_prefix(": ")),
                "accepted": replied.is_accepted(),
                "run": incoming.run_id,
                "call": incoming.call,
                "suspension": suspension,
                "decision": incoming.decision_id,
            }));
        } else {
            out.line(&printable(&told));
            if let (Reply::Accepted, Some(run)) = (reply, &incoming.run_id) {
                goes_on(&opened, run, out);
            }
            if *reply == Reply::NotDistinct {
                out.line(&printable(&format!(
                    "the actor of this decision is {}; --actor names another person",
                    incoming.actor.as_deref().unwrap_or("none")
                )));
            }
            if *reply == Reply::Unknown && incoming.run_id.is_none() && self.digest.is_some() {
                out.line("with --run RUN this command shows an earlier decision on the question");
            }
            if *reply == Reply::Unknown {
                let again = opened.again();
                out.line(&format!("the waiting calls: runstate approvals{again}{}", again.note()));
            }
        }
        Ok(match reply {
            _ if replied.is_accepted() => Exit::Good,
            Reply::Ambiguous(_) => Exit::BadInput,
            _ => Exit::Bad,
        })
    }
}

impl On {
    /// Fails for a decision on an unknown run: no question of it can wait.
    fn check_run(&self, opened: &Opened) -> Result<(), Failure> {
        let run = self.run.clone().or_else(|| run_of_suspension(&self.question));
        let Some(run) = run else { return Ok(()) };
        match beside(opened.handle(), opened.store.pending_signals(&run)) {
            Err(error @ StoreError::NoRun { .. }) => Err(opened.failure(&error)),
            // An unreadable run is reported with the reply.
            _ => Ok(()),
        }
    }
}

/// The text for a decision that differs from the accepted one in its reason alone.
fn differs_in_reason(reply: &Reply, incoming: &Incoming) -> Option<String> {
    let Reply::Conflict(accepted) = reply else { return None };
    let differs = accepted.action == incoming.action
        && accepted.result == incoming.result
        && accepted.actor == incoming.actor
        && accepted.reason != incoming.reason;
    let said = |reason: &Option<String>| match reason {
        Some(reason) => format!("the reason {reason:?}"),
        None => "no reason".to_owned(),
    };
    differs.then(|| {
        format!(
            "the two differ in their reasons alone: the earlier decision has {}, and this decision has {}",
            said(&accepted.reason),
            said(&incoming.reason)
        )
    })
}

/// Names the process that takes the decision, if known: the decision is accepted in any case.
fn goes_on(opened: &Opened, run: &str, out: &mut Output) {
    let Ok(loaded) = run::load(opened, run) else { return };
    if loaded.info.status == RunStatus::Done {
        return;
    }
    if beside(opened.handle(), opened.store.pending_signals(run)).is_ok_and(|mail| mail.cancel.is_some()) {
        out.line(&printable(&format!("{run} has a cancellation, and may end before it takes the decision")));
        return;
    }
    out.line(&printable(&match holder(&loaded.info) {
        Some(holder) => format!("{holder} drives {run}"),
        None => format!("{run} is driven {}", by_whom(opened, run)),
    }));
}

/// A digest, or a beginning long enough to be unique.
fn digest(text: &str) -> Result<String, String> {
    let text = text.to_ascii_lowercase();
    let digits = text.strip_prefix("sha256:").unwrap_or("");
    let is_one = text.len() >= approvals::SHORT && digits.len() <= 64 && digits.bytes().all(is_digit);
    if is_one { Ok(text) } else { Err("expected sha256: and 32 to 64 digits in 0-9 and a-f".to_owned()) }
}

fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}
