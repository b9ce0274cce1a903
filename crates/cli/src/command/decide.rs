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

/// Approve a waiting call, with its run driven by any process
///
/// A decision answers one question. The suspension names it, and so does its digest; `runstate approvals` shows both. With
/// --run the name of the call is enough while the call has asked once, and is refused after that. The first decision on a
/// question wins, and is durable when it is accepted. The same command again is the same decision or is refused; it never
/// answers another question.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate approve tidy-folder-1/rm_draft/1
  runstate approve tidy-folder-1/rm_draft/1 --actor ada --reason 'the report has it all'
  runstate approve rm_draft --digest sha256:33cbd4b47b651c4e0c9a51f4ae7a4c10
  runstate approve shop-1/lookup/1 --result '{\"price\": 12}'

Exit codes:
  0  accepted, now or by the very same decision before (with --digest, a decision before is found by the suspension or --run)
  1  not accepted: another decision came first, it lapsed, nothing of that name waits, the question is another, the actor has
     decided before, the result does not fit
  2  the store, or another argument, cannot be used; the name means several questions, or needs --run; --result is missing or
     not wanted")]
pub(crate) struct Approve {
    #[command(flatten)]
    on: On,
    /// The answer itself. If the call asks for one, its tool receives it, or is not executed; for a call in doubt it is the
    /// result of the interrupted execution, and the tool is not executed again
    #[arg(long, value_name = "JSON")]
    result: Option<String>,
}

/// Deny a waiting call: it is given up, and the model reads the reason
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate deny tidy-folder-1/rm_notes/1 --reason 'the phone numbers are still needed'

Exit codes:
  0  accepted, now or by the very same decision before
  1  not accepted: another decision came first, it lapsed, nothing of that name waits, the question is another, the actor has
     decided before
  2  the store, or another argument, cannot be used; the name means several questions, or needs --run")]
pub(crate) struct Deny {
    #[command(flatten)]
    on: On,
}

/// The common arguments.
#[derive(Debug, clap::Args)]
struct On {
    /// The suspension; or the call, by its name or its id from the model, with --run or --digest. A call with a name like a
    /// suspension is named by its suspension alone
    #[arg(value_name = "SUSPENSION")]
    question: String,
    /// The run of the call
    #[arg(long)]
    run: Option<String>,
    /// The reason, for the model and the record
    #[arg(long)]
    reason: Option<String>,
    /// The name of the decider, which is not verified [default: the user of the operating system]
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// The digest of the shown question, or its beginning as in `runstate approvals`: no other question is decided
    #[arg(long, value_parser = digest)]
    digest: Option<String>,
    /// One JSON object: reply, a word; why; accepted, run, call, suspension, decision
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
        let more = self.more(&opened, reply, incoming);
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
                out.line("with --run RUN an earlier decision on the question is told");
            }
            if *reply == Reply::Unknown {
                let again = opened.again();
                let (what, command) =
                    if more.is_some() { ("the runs", "runs") } else { ("what waits", "approvals") };
                out.line(&format!("{what}: runstate {command}{again}{}", again.note()));
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
    /// Further reasons of a reply: an unknown run, or a decision that differs in its reason alone.
    fn more(&self, opened: &Opened, reply: &Reply, incoming: &Incoming) -> Option<String> {
        match reply {
            Reply::Unknown => {
                let run = self.run.clone().or_else(|| run_of_suspension(&self.question))?;
                let mail = beside(opened.handle(), opened.store.pending_signals(&run));
                matches!(mail, Err(StoreError::NoRun { .. })).then(|| format!("there is no run {run:?}"))
            }
            Reply::Conflict(accepted) => {
                let differs_in_reason = accepted.action == incoming.action
                    && accepted.result == incoming.result
                    && accepted.actor == incoming.actor
                    && accepted.reason != incoming.reason;
                let said = |reason: &Option<String>| match reason {
                    Some(reason) => format!("the reason {reason:?}"),
                    None => "no reason".to_owned(),
                };
                differs_in_reason.then(|| {
                    format!(
                        "the two differ in their reasons alone: that one has {}, and this one has {}",
                        said(&accepted.reason),
                        said(&incoming.reason)
                    )
                })
            }
            _ => None,
        }
    }
}

/// Names the process that takes the decision, if known: the decision is accepted in any case.
fn goes_on(opened: &Opened, run: &str, out: &mut Output) {
    let Ok(loaded) = run::load(opened, run) else { return };
    if loaded.info.status == RunStatus::Done {
        return;
    }
    if beside(opened.handle(), opened.store.pending_signals(run)).is_ok_and(|mail| mail.cancel.is_some()) {
        out.line(&printable(&format!("{run} is to be cancelled, and may end before the decision is taken")));
        return;
    }
    out.line(&printable(&match holder(&loaded.info) {
        Some(holder) => format!("{holder} has {run} in hand"),
        None => format!("{run} is driven on {}", by_whom(opened, run)),
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
