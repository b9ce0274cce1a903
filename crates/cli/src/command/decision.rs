//! One decision on one question, for `approve`, `deny` and `resume`.

use runstate::decision::{Decision, DecisionAction, ResumeMode};
use runstate_agent::{Incoming, Reply};
use runstate_schema::JsonSchemas;
use runstate_store::{Approval, StoreError, decide, run_of_suspension};
use serde_json::Value;

use crate::clock::unix_ms;
use crate::failure::Failure;
use crate::output::printable;
use crate::run;
use crate::store::{Named, Opened, beside, is_in_doubt, quoted, waiting_of};

/// The arguments of the command line.
#[derive(Debug)]
pub(super) struct Said<'a> {
    pub(super) opened: &'a Opened,
    /// The suspension or the call.
    pub(super) question: &'a str,
    pub(super) run: Option<&'a str>,
    pub(super) digest: Option<&'a str>,
    pub(super) action: DecisionAction,
    pub(super) result: Option<&'a Value>,
    pub(super) reason: Option<&'a str>,
    pub(super) actor: &'a str,
}

/// The reply.
#[derive(Debug)]
pub(super) struct Replied {
    pub(super) reply: Reply,
    pub(super) incoming: Incoming,
    /// The suspension of the decision, also if the call alone was named.
    pub(super) suspension: Option<String>,
}

impl Replied {
    /// Is it the answer, now or earlier?
    pub(super) fn is_accepted(&self) -> bool {
        matches!(self.reply, Reply::Accepted | Reply::Duplicate)
    }
}

impl Said<'_> {
    /// Gives the decision, after showing the question.
    ///
    /// # Errors
    /// A call that is named without its run, an ambiguous name, a result that is missing or unused, and errors of the store.
    pub(super) fn give(&self, show: impl FnOnce(&Approval)) -> Result<Replied, Failure> {
        let named = Named::of(self.question);
        let found = self.meant(&named)?;
        if let Some(found) = &found {
            show(found);
            self.check_result(found)?;
        }
        let asked = match &found {
            Some(found) => Some(Asked::now(found)),
            None => self.decided(&named)?,
        };
        let before = asked.as_ref().and_then(|asked| asked.decision.clone());
        let mut incoming = self.incoming(asked);
        let suspension = incoming.suspension_id.clone();
        // A repetition is no conflict. Any other decision by the name of the call is bound on arrival, and refused there if
        // the call has asked before.
        let is_same = before.is_some_and(|decision| decision == incoming.decision_id);
        if matches!(named, Named::Call(_)) && self.digest.is_none() && !is_same {
            incoming =
                Incoming { suspension_id: None, digest: None, call: self.question.to_owned(), ..incoming };
        }
        let schemas = JsonSchemas::new();
        let decided = decide(&*self.opened.store, &incoming, unix_ms(), &schemas);
        let reply = beside(self.opened.handle(), decided).map_err(|error| self.lost(&incoming, &error))?;
        Ok(Replied { reply, incoming, suspension })
    }

    /// The run, as named or as part of the suspension.
    fn run(&self, named: &Named<'_>) -> Option<String> {
        let of_suspension = || match named {
            Named::Suspension(id) => run_of_suspension(id),
            Named::Call(_) => None,
        };
        self.run.map(str::to_owned).or_else(of_suspension)
    }

    /// The named question, if one waits.
    fn meant(&self, named: &Named<'_>) -> Result<Option<Approval>, Failure> {
        let mut found = waiting_of(self.opened, named, self.run)?;
        let needs_run = matches!(named, Named::Call(_)) && self.run.is_none();
        if let Some(digest) = self.digest {
            // A question with another digest is not shown: it is not the one that was seen.
            found.retain(|one| one.digest.starts_with(digest));
        } else if needs_run {
            // Given again, it could answer a call of another run.
            let help = match found.as_slice() {
                [] => "`runstate approvals` lists the waiting calls".to_owned(),
                found => format!("name the suspension: {}", suspensions(found)),
            };
            let why =
                format!("{:?} is the name of a call: expected --run or --digest with it", self.question);
            return Err(Failure::new(why).with_help(help));
        }
        if found.len() > 1 {
            let what = format!("{} waiting calls have the name {:?}", found.len(), self.question);
            return Err(Failure::new(what).with_help(format!("name one suspension: {}", suspensions(&found))));
        }
        Ok(found.pop())
    }

    fn check_result(&self, found: &Approval) -> Result<(), Failure> {
        let (suspension, call) = (&found.suspension, &found.call);
        let takes_none = suspension.resume_mode == ResumeMode::ReplayToolCall
            && suspension.response_schema.is_none()
            && !is_in_doubt(found);
        let (what, help) = match (self.action, self.result, suspension.resume_mode) {
            // Without a result, the result is null and the tool is executed.
            (DecisionAction::Resume, Some(Value::Null), ResumeMode::ReplayToolCall) if !takes_none => (
                "--result: expected a result, got null".to_owned(),
                "give the result of the call, such as '{}' or '\"done\"'; without --result the tool executes",
            ),
            (DecisionAction::Resume, Some(_), _) if takes_none => (
                format!("{call:?} asks for no result"),
                "omit --result: the tool executes with the shown arguments",
            ),
            (DecisionAction::Resume, None, ResumeMode::PassDecisionToTool) => (
                format!("{call:?} asks for an answer"),
                "give the answer with --result JSON: the tool executes with it as arguments",
            ),
            (DecisionAction::Resume, None, ResumeMode::UseDecisionAsToolResult) => (
                format!("{call:?} asks for an answer"),
                "give the answer with --result JSON: it is the result of the call, and the tool does not execute",
            ),
            _ => return Ok(()),
        };
        Err(Failure::new(what).with_help(help))
    }

    /// The question of the last decision, if there was one: a repetition is no conflict.
    fn decided(&self, named: &Named<'_>) -> Result<Option<Asked>, Failure> {
        let Some(run) = self.run(named) else { return Ok(None) };
        let opened = self.opened;
        // Before the run: a decision taken in between is then in both, not in neither.
        let posted = match beside(opened.handle(), opened.store.pending_signals(&run)) {
            Err(StoreError::NoRun { .. }) => return Ok(None),
            mail => mail.map_err(|error| opened.failure(&error))?.decisions,
        };
        let Some(stored) = run::load(opened, &run)?.stored else { return Ok(None) };
        let is_meant = |decision: &&Decision| match named {
            Named::Suspension(id) => decision.suspension_id == *id,
            Named::Call(call) => stored.is_named(&decision.call, call),
        };
        let is_of_digest = |decision: &Decision| {
            let of = |digest: &String| self.digest.is_some_and(|wanted| digest.starts_with(wanted));
            decision.digest.as_ref().is_some_and(of)
        };
        // With a digest, a decision on another question does not count.
        let is_shown = |decision: &&Decision| self.digest.is_none() || is_of_digest(decision);
        let decided = stored.decisions().values().chain(&posted).filter(is_meant).filter(is_shown);
        let last = decided.max_by_key(|decision| decision.decided_at_ms);
        Ok(last.map(|decision| Asked {
            run,
            call: decision.call.clone(),
            suspension: decision.suspension_id.clone(),
            digest: decision.digest.clone(),
            decision: Some(decision.decision_id.clone()),
        }))
    }

    fn incoming(&self, asked: Option<Asked>) -> Incoming {
        let (call, suspension) = match Named::of(self.question) {
            Named::Suspension(id) => ("", Some(id.to_owned())),
            Named::Call(call) => (call, None),
        };
        let mut incoming = Incoming::new("", call, self.action)
            .with_result(self.result.cloned().unwrap_or_default())
            .by(self.actor);
        incoming.suspension_id = suspension;
        incoming.run_id = self.run.map(str::to_owned);
        incoming.digest = self.digest.map(str::to_owned);
        incoming.reason = self.reason.map(str::to_owned);
        if let Some(asked) = asked {
            incoming.digest = self.shown(asked.digest);
            incoming.call = asked.call;
            incoming.run_id = Some(asked.run);
            incoming.suspension_id = Some(asked.suspension);
        }
        // A repetition is the same decision, not a late second one.
        incoming.named_by_content()
    }

    /// The digest of the shown question: given by the person, or shown here.
    fn shown(&self, shown: Option<String>) -> Option<String> {
        match self.digest {
            Some(wanted) if shown.as_ref().is_none_or(|shown| !shown.starts_with(wanted)) => {
                Some(wanted.to_owned())
            }
            _ => shown,
        }
    }

    /// A decision without a reply may be stored, and the call may ask again before the person does.
    fn lost(&self, incoming: &Incoming, error: &StoreError) -> Failure {
        let failure = self.opened.of_change(error);
        match (error, &incoming.suspension_id) {
            (StoreError::Unavailable(_), Some(suspension)) if *suspension != self.question => {
                failure.with_help(format!(
                    "when the store can be reached, repeat the command with {} in place of the call: the decision is made once, \
                     and never answers a later question",
                    quoted(suspension)
                ))
            }
            _ => failure,
        }
    }
}

/// The suspensions of waiting calls, the first ten.
fn suspensions(found: &[Approval]) -> String {
    let ids: Vec<String> = found.iter().take(10).map(|one| quoted(&one.suspension.id)).collect();
    printable(&ids.join(", "))
}

/// The question of a decision.
struct Asked {
    run: String,
    call: String,
    suspension: String,
    digest: Option<String>,
    /// The decision on it, if there is one.
    decision: Option<String>,
}

impl Asked {
    fn now(approval: &Approval) -> Self {
        Asked {
            run: approval.run.clone(),
            call: approval.call.clone(),
            suspension: approval.suspension.id.clone(),
            digest: Some(approval.digest.clone()),
            decision: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Between;

    #[test]
    fn a_decision_that_is_taken_meanwhile_is_found() {
        let opened = Between::opened();
        let said = Said {
            opened: &opened,
            question: "p",
            run: Some("pay-1"),
            digest: None,
            action: DecisionAction::Resume,
            result: None,
            reason: None,
            actor: "ada",
        };
        let found = said.decided(&Named::of("p")).unwrap().unwrap();
        assert_eq!((&*found.call, &*found.suspension), ("p", "pay-1/p/1"));
    }
}
