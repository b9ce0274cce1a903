//! `runstate approve CALL` and `runstate deny CALL`

use runstate::agent::{Incoming, Reply};
use runstate::decision::{Decision, DecisionAction, ResumeMode};
use runstate::run::RunStatus;
use runstate::store::{Approval, StoreError, decide};
use runstate_schema::JsonSchemas;
use serde_json::{Value, json};

use super::approvals;
use super::hand::{by_whom, holder};
use crate::clock::unix_ms;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{self, Text};
use crate::output::{Output, printable};
use crate::run;
use crate::store::{Missing, Opened, StoreArgs, beside, called, quoted, tell_damaged};

/// Approve a call that waits, in whatever process its run is driven
///
/// A decision is for one question. The suspension names it, and so does its digest; `runstate approvals` shows both. The name of
/// the call is enough as long as the call has asked once, and is refused after that. The first decision on a question wins, and
/// is durable when it is accepted. The same command given again is the same decision or is refused, and never one on another
/// question.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate approve tidy-folder-1/rm_draft/1
  runstate approve tidy-folder-1/rm_draft/1 --actor ada --reason 'the report has it all'
  runstate approve rm_draft --digest sha256:33cbd4b47b651c4e
  runstate approve lookup --result '{\"price\": 12}'

Exit codes:
  0  accepted; or, with --run, the very same decision was accepted before
  1  not accepted: another decision came first, it lapsed, nothing of that name waits, the question is another, the actor has
     decided before, the result does not fit
  2  the store, or another argument, cannot be used; the name means several questions; --result is missing")]
pub(crate) struct Approve {
    #[command(flatten)]
    on: On,
    /// The answer itself: where the call asks for one, its tool gets it, or is not executed at all; of a call in doubt it is
    /// what came of it, and the tool is not executed again
    #[arg(long, value_name = "JSON")]
    result: Option<String>,
}

/// Deny a call that waits: it is given up, and the model reads why
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate deny tidy-folder-1/rm_notes/1 --reason 'the phone numbers are still needed'

Exit codes:
  0  accepted; or, with --run, the very same decision was accepted before
  1  not accepted: another decision came first, it lapsed, nothing of that name waits, the question is another, the actor has
     decided before
  2  the store, or another argument, cannot be used; the name means several questions")]
pub(crate) struct Deny {
    #[command(flatten)]
    on: On,
}

/// What both have in common.
#[derive(Debug, clap::Args)]
struct On {
    /// The suspension; or the call, by its name or the id that the model gave it
    call: String,
    /// In this run
    #[arg(long)]
    run: Option<String>,
    /// Why
    #[arg(long)]
    reason: Option<String>,
    /// Who decides [default: the name of the user]
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// For the question of this digest alone, or of one that begins so: as much as `runstate approvals` shows, or more
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
        let found = self.meant(&opened)?;
        if let (Some(found), false) = (&found, self.json) {
            approvals::text(found, out);
        }
        if let Some(found) = &found
            && action == DecisionAction::Resume
            && result.is_none()
            && found.suspension.resume_mode != ResumeMode::ReplayToolCall
        {
            let help = match found.suspension.resume_mode {
                ResumeMode::PassDecisionToTool => {
                    "give it with --result JSON: the tool is executed with it for arguments"
                }
                _ => "give it with --result JSON: it is the result of the call, and the tool is not executed",
            };
            return Err(Failure::new(format!("{:?} asks for an answer", found.call)).with_help(help));
        }
        let asked = match &found {
            Some(found) => Some(Asked::now(found)),
            None => self.decided(&opened)?,
        };
        let mut incoming = self.incoming(asked, action, result.unwrap_or_default());
        let suspension = incoming.suspension_id.clone();
        if found.is_some() && self.names_call_alone(&incoming) {
            // Bound where the decision arrives, and refused there if the call has asked before.
            incoming = Incoming { suspension_id: None, digest: None, call: self.call.clone(), ..incoming };
        }
        let schemas = JsonSchemas::new();
        let decided = beside(opened.handle(), decide(&*opened.store, &incoming, unix_ms(), &schemas));
        let reply = decided.map_err(|error| lost(&opened, &incoming, &error))?;
        if reply == Reply::Unknown && self.run.is_none() {
            // It may be in a run that cannot be read.
            tell_damaged(&opened)?;
        }
        let is_accepted = matches!(reply, Reply::Accepted | Reply::Duplicate);
        if self.json {
            let told = reply.to_string();
            out.json(&json!({
                "reply": reply.name(),
                "why": told.strip_prefix(reply.name()).and_then(|why| why.strip_prefix(": ")),
                "accepted": is_accepted,
                "run": incoming.run_id,
                "call": incoming.call,
                "suspension": suspension,
                "decision": incoming.decision_id,
            }));
        } else {
            out.line(&printable(&reply.to_string()));
            if let (Reply::Accepted, Some(run)) = (&reply, &incoming.run_id) {
                goes_on(&opened, run, out);
            }
            if reply == Reply::Unknown && self.run.is_none() {
                out.line("name the run with --run to learn whether it was decided before");
            }
        }
        Ok(match reply {
            _ if is_accepted => Exit::Good,
            Reply::Ambiguous(_) => Exit::BadInput,
            _ => Exit::Bad,
        })
    }

    /// Does the command name neither the suspension nor the digest of its question?
    fn names_call_alone(&self, incoming: &Incoming) -> bool {
        self.digest.is_none() && incoming.suspension_id.as_ref() != Some(&self.call)
    }

    /// The one call that is meant, if one waits.
    fn meant(&self, opened: &Opened) -> Result<Option<Approval>, Failure> {
        let mut found = called(opened, &self.call, self.run.as_deref())?;
        if found.len() > 1 {
            let ids: Vec<&str> = found.iter().take(10).map(|one| one.suspension.id.as_str()).collect();
            let help = format!("say which: {}", printable(&ids.join(", ")));
            return Err(Failure::new(format!("{} calls that wait are called {:?}", found.len(), self.call))
                .with_help(help));
        }
        Ok(found.pop())
    }

    /// What the last decision on it was for, if there was one: to say the same again is no conflict.
    fn decided(&self, opened: &Opened) -> Result<Option<Asked>, Failure> {
        let Some(run) = &self.run else { return Ok(None) };
        // Before the run: what is taken between the two is in both, and not in neither.
        let posted = match beside(opened.handle(), opened.store.mail(run)) {
            Err(StoreError::NoRun { .. }) => return Ok(None),
            mail => mail.map_err(|error| opened.failure(&error))?.decisions,
        };
        let Some(stored) = run::load(opened, run)?.stored else { return Ok(None) };
        let is_meant = |decision: &&Decision| {
            self.call == decision.suspension_id || stored.is_named(&decision.call, &self.call)
        };
        let decided = stored.decisions().values().chain(&posted).filter(is_meant);
        let last = decided.max_by_key(|decision| decision.decided_at_ms);
        Ok(last.map(|decision| Asked {
            run: run.clone(),
            call: decision.call.clone(),
            suspension: decision.suspension_id.clone(),
            digest: decision.digest.clone(),
        }))
    }

    fn incoming(&self, asked: Option<Asked>, action: DecisionAction, result: Value) -> Incoming {
        let mut incoming = Incoming::new("", &*self.call, action).with_result(result);
        incoming.run_id.clone_from(&self.run);
        incoming.digest.clone_from(&self.digest);
        incoming.reason.clone_from(&self.reason);
        incoming.actor = self.actor.clone().or_else(user);
        if let Some(asked) = asked {
            incoming.digest = self.shown(asked.digest);
            incoming.call = asked.call;
            incoming.run_id = Some(asked.run);
            incoming.suspension_id = Some(asked.suspension);
        }
        // Given again it is the same decision, and not another one that comes too late.
        incoming.named_by_content()
    }

    /// The digest of the question that was shown: what the person says, or what is shown here.
    fn shown(&self, shown: Option<String>) -> Option<String> {
        match &self.digest {
            Some(wanted) if shown.as_ref().is_none_or(|shown| !shown.starts_with(wanted)) => {
                Some(wanted.clone())
            }
            _ => shown,
        }
    }
}

/// A decision that got no answer may be there, and the call may ask again by the time that the person does.
fn lost(opened: &Opened, incoming: &Incoming, error: &StoreError) -> Failure {
    match (error, &incoming.suspension_id) {
        (StoreError::Unavailable(_), Some(suspension)) if *suspension != incoming.call => {
            opened.of_change(error).with_help(format!(
                "once the store can be reached, give the same command with {} in place of the call: by that name it is the same \
                 decision again, made already or not, and never one on a later question",
                quoted(suspension)
            ))
        }
        _ => opened.of_change(error),
    }
}

/// Says who takes a decision, where that is known: it is accepted in any case.
fn goes_on(opened: &Opened, run: &str, out: &mut Output) {
    let Ok(loaded) = run::load(opened, run) else { return };
    if loaded.info.status == RunStatus::Done {
        return;
    }
    if beside(opened.handle(), opened.store.mail(run)).is_ok_and(|mail| mail.cancel.is_some()) {
        out.line(&printable(&format!("{run} is to be cancelled, and may end before the decision is taken")));
        return;
    }
    out.line(&printable(&match holder(&loaded.info, unix_ms()) {
        Some(holder) => format!("{holder} has {run} in hand"),
        None => format!("{run} is driven on {}", by_whom(opened, run)),
    }));
}

/// What a decision is on.
struct Asked {
    run: String,
    call: String,
    suspension: String,
    digest: Option<String>,
}

impl Asked {
    fn now(approval: &Approval) -> Self {
        Asked {
            run: approval.run.clone(),
            call: approval.call.clone(),
            suspension: approval.suspension.id.clone(),
            digest: Some(approval.digest.clone()),
        }
    }
}

/// A digest, or enough of it that it is that of no other question.
fn digest(text: &str) -> Result<String, String> {
    let digits = text.strip_prefix("sha256:").unwrap_or("");
    let is_one = text.len() >= approvals::SHORT && digits.len() <= 64 && digits.bytes().all(is_digit);
    if is_one {
        Ok(text.to_owned())
    } else {
        Err("expected sha256: and 16 to 64 digits in 0-9 and a-f".to_owned())
    }
}

fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// The name of the user, as the system says it.
fn user() -> Option<String> {
    let name = if cfg!(windows) { "USERNAME" } else { "USER" };
    std::env::var(name).ok().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::store::Between;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        on: On,
    }

    #[test]
    fn a_decision_that_is_taken_meanwhile_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let opened = Between::opened(folder.path());
        let Line { on } = Line::parse_from(["approve", "p", "--run", "pay-1"]);
        let found = on.decided(&opened).unwrap().unwrap();
        assert_eq!((&*found.call, &*found.suspension), ("p", "pay-1/p/1"));
    }
}
