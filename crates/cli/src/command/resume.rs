//! `runstate resume RUN`

use std::collections::HashSet;

use runstate::decision::DecisionAction;
use serde_json::json;

use super::decision::Said;
use super::run::How;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, printable};
use crate::run;
use crate::store::{Missing, Opened, quoted};

/// Continue a run that waits for decisions, or that was killed
///
/// The run is restored from its store, or refused if its data is invalid. It takes the decisions of `runstate approve` and
/// `runstate deny`. A call that was executing when the process was killed is in doubt: a repeatable call executes again, and
/// any other call waits for a decision. If another process has the lease on the run, this command waits for the end of that
/// lease.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate resume tidy-folder-1 --detach
  runstate resume tidy-folder-1 --approve tidy-folder-1/rm_draft/1 --deny tidy-folder-1/rm_notes/1

Exit codes:
  0  the run ended naturally; with --detach, a worker can drive the run
  1  the run ended in another way (error, stopped, blocked), or its trace
     violates a diagram; a decision was not accepted
  2  the run does not exist, is over or is unreadable, or another process
     drives it; the store or another argument is unusable
  3  the run waits for a decision
  4  the run has a message, which a worker gives to it")]
pub(crate) struct Args {
    /// The run's id
    run: String,
    /// Approve this question before the run continues, as `runstate approve --run` does. The flag can be repeated
    #[arg(long, value_name = "SUSPENSION")]
    approve: Vec<String>,
    /// Deny this question before the run continues, as `runstate deny --run` does. The flag can be repeated
    #[arg(long, value_name = "SUSPENSION")]
    deny: Vec<String>,
    /// Leave the run to a worker. This ends a retry delay of the run, and makes a run ready that was set aside because its
    /// workers ended
    #[arg(long, conflicts_with_all = ["ask", "real_time"])]
    detach: bool,
    /// Continue from a store that was restored from a backup and lacks commits of the run. Calls that executed after the
    /// backup execute again
    #[arg(long)]
    restored: bool,
    #[command(flatten)]
    how: How,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    args.check_questions()?;
    let opened = args.how.place.open(Missing::Refuse)?;
    if args.restored {
        run::accept_restored(&opened, &args.run)?;
    }
    if args.detach {
        return args.leave(&opened, out);
    }
    // First, so that no decision is made for a run that this process does not drive.
    let driven = run::take(opened, &args.run, args.how.lease, args.how.real_time)?;
    let approve = args.approve.iter().map(|question| (question, DecisionAction::Resume));
    let deny = args.deny.iter().map(|question| (question, DecisionAction::Cancel));
    let mut decided = Vec::new();
    for (question, action) in approve.chain(deny) {
        let call = args.decide(driven.opened(), question, action, &decided)?;
        decided.push((question, call));
    }
    let mut answers = run::answers(driven.scenario(), &[], &[], "")?;
    // The person has decided otherwise, or has decided already.
    answers.retain(|ready| decided.iter().all(|(_, call)| *call != ready.answer.call));
    args.how.drive(driven, answers, false, out)
}

impl Args {
    /// Releases the run, so that a worker may take it.
    fn leave(&self, opened: &Opened, out: &mut Output) -> Result<Exit, Failure> {
        let held = run::Undriven::claim(opened, &self.run, self.how.lease)?;
        for (questions, action) in
            [(&self.approve, DecisionAction::Resume), (&self.deny, DecisionAction::Cancel)]
        {
            for question in questions {
                self.decide(opened, question, action, &[])?;
            }
        }
        held.give_back(opened)?;
        let (run, again) = (&self.run, opened.again());
        if self.how.json {
            out.json(&json!({"run": run, "store": opened.url()}));
        } else {
            out.line(&printable(&format!("{run} waits for a worker")));
            out.line(&format!("drive it with: runstate worker{again}{}", again.note()));
        }
        Ok(Exit::Good)
    }

    /// Refuses a question that is decided twice here, before any decision is given.
    fn check_questions(&self) -> Result<(), Failure> {
        let mut seen = HashSet::new();
        match self.approve.iter().chain(&self.deny).find(|question| !seen.insert(*question)) {
            None => Ok(()),
            Some(question) => {
                let why = format!("the command line has two decisions on the question {question:?}");
                Err(Failure::new(why)
                    .with_help("give one decision, with --approve or with --deny; no decision was made"))
            }
        }
    }

    /// Gives a decision to the store, from which the run takes it. Returns the call.
    fn decide(
        &self,
        opened: &Opened,
        question: &str,
        action: DecisionAction,
        before: &[(&String, String)],
    ) -> Result<String, Failure> {
        let said = Said {
            opened,
            question,
            run: Some(&self.run),
            digest: None,
            action,
            result: None,
            reason: None,
            actor: &self.how.actor(),
        };
        let replied = said.give(|_| {})?;
        if replied.is_accepted() {
            return Ok(replied.incoming.call);
        }
        let (again, reply) = (opened.again(), &replied.reply);
        let done = match before {
            [] => "no decision was made".to_owned(),
            before => {
                let before: Vec<String> = before.iter().map(|(question, _)| quoted(question)).collect();
                format!("earlier decisions of this command: {}", printable(&before.join(", ")))
            }
        };
        let help = format!(
            "{done}, and the run did not continue; the waiting questions: runstate approvals --run {}{again}{}",
            quoted(&self.run),
            again.note()
        );
        Err(Failure::new(format!("the decision on {question:?} was not accepted: {reply}"))
            .with_help(help)
            .of_the_run())
    }
}
