//! A run that waits in place.

use std::sync::Arc;

use runstate::run::{AnyRun, Finish, Resume};
use runstate::termination::TerminationReason;
use runstate::tool_call::CancelCause;

use super::super::answer::Usage;
use super::super::commit::CommitError;
use super::super::history::Message;
use super::intake::{Taken, lapsed};
use super::{ActivationError, Drive, Outcome};

/// The remedy for a run that is over.
pub(super) const OVER: &str = "it is over; start a new run, on its thread if it is to go on from there";
/// The remedy for a run whose end is not in the store.
pub(super) const END_OWED: &str = "it is over, and its end is not committed: resume it, which commits it";

/// The cause that ended a wait.
enum Awaited {
    Cancelled,
    Something,
}

impl Drive<'_, '_> {
    /// Returns whether anything except a cancellation can end the wait.
    pub(super) fn can_wait(&self) -> bool {
        self.io.inbox.is_some() || self.next_lapse().is_some()
    }

    /// Waits until the run can continue, and continues it. A decision on one of several calls replays that call only,
    /// and the run waits for the others again.
    pub(super) async fn wait_and_go_on(&mut self) -> Result<Outcome, ActivationError> {
        loop {
            if self.is_cancelled() {
                return self.cancel_waiting().await;
            }
            if let Some(taken) = self.next_accepted() {
                return self.resume(taken).await;
            }
            if let Some(text) = self.io.inbox.as_mut().and_then(|inbox| inbox.take_message()) {
                return self.supersede(text).await;
            }
            match self.awaited().await {
                Awaited::Cancelled => return self.cancel_waiting().await,
                Awaited::Something => {}
            }
        }
    }

    async fn awaited(&mut self) -> Awaited {
        let lapse = self.next_lapse();
        let inbox = self.io.inbox.as_deref_mut();
        let ready = async {
            match inbox {
                Some(inbox) => inbox.ready().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.io.cancelled.cancelled() => Awaited::Cancelled,
            () = ready => Awaited::Something,
            () = lapsed(&*self.config.clock, lapse) => Awaited::Something,
        }
    }

    /// Begins the next activation with an accepted decision.
    pub(super) async fn resume(&mut self, taken: Taken) -> Result<Outcome, ActivationError> {
        let resume = Resume::decided(&*self.state.calls[taken.accepted.call].name, &taken.accepted.decision);
        self.resume_run(resume);
        self.first = Some(taken);
        self.activate().await
    }

    /// Begins the next activation with a message of the user. The waiting calls are cancelled.
    pub(super) async fn supersede(&mut self, text: Arc<str>) -> Result<Outcome, ActivationError> {
        self.give_up_calls("superseded by a new message", CancelCause::Superseded);
        self.state.say(Message::User(text));
        self.resume_run(Resume::user_message());
        self.activate().await
    }

    fn resume_run(&mut self, resume: Resume) {
        self.state.step_run(|run| match run {
            AnyRun::Waiting(run) => run.resume(resume).into(),
            other @ (AnyRun::Running(_) | AnyRun::Done(_)) => other,
        });
    }

    /// Cancels all calls that wait or execute, and emits their events.
    fn give_up_calls(&mut self, reason: &str, cause: CancelCause) {
        for call in self.state.cancel_open_calls((reason, cause), &self.in_doubt) {
            self.note_settled(call);
        }
    }

    /// Cancels all calls of a run that ends for this reason.
    pub(super) fn end_calls(&mut self, reason: &TerminationReason) {
        self.give_up_calls(&format!("the run ended: {reason}"), CancelCause::RunEnded);
    }

    /// Cancels a waiting run and its calls in one commit.
    pub(super) async fn cancel_waiting(&mut self) -> Result<Outcome, ActivationError> {
        self.cancel_behind(None).await
    }

    /// Cancels a waiting run after a message of the user. The thread keeps the message in any case.
    pub(super) async fn cancel_behind(&mut self, text: Option<Arc<str>>) -> Result<Outcome, ActivationError> {
        let status = self.state.run.get().status();
        let refused = |hint| Err(ActivationError::NotStartable { status, hint });
        match self.state.run.get() {
            AnyRun::Running(_) => return refused("it executes; cancel the token of its loop"),
            AnyRun::Waiting(_) => {}
            AnyRun::Done(run) if self.state.interrupted => {
                if *run.reason() == TerminationReason::Cancelled {
                    return self.commit_end().await;
                }
                return refused(END_OWED);
            }
            AnyRun::Done(_) => return refused(OVER),
        }
        self.end_calls(&TerminationReason::Cancelled);
        text.into_iter().for_each(|text| self.state.say(Message::User(text)));
        self.state.step_run(|run| match run {
            AnyRun::Waiting(run) => match run.finish(Finish::new(TerminationReason::Cancelled)) {
                Ok(run) => run.into(),
                Err(rejected) => unreachable!("a run that waits may be cancelled: {}", rejected.error),
            },
            other @ (AnyRun::Running(_) | AnyRun::Done(_)) => other,
        });
        self.commit_end().await
    }

    /// Commits an end that was reached outside of an activation, or in an activation that was interrupted in its last
    /// commit.
    pub(super) async fn commit_end(&mut self) -> Result<Outcome, ActivationError> {
        let (due, reason) = match self.state.run.get() {
            AnyRun::Done(run) => (run.due(), run.reason().clone()),
            AnyRun::Waiting(run) => (run.due(), TerminationReason::Suspended),
            AnyRun::Running(_) => unreachable!("a run that executes has no end to commit"),
        };
        // Until the end is committed, it is due for every later driver of the run.
        self.state.interrupted = true;
        let used = self.used;
        let receipt = self.write(due, Some((&reason, used))).await.map_err(ActivationError::NotCommitted)?;
        let met = match self.state.run.get() {
            AnyRun::Done(run) => run.committed(&receipt),
            AnyRun::Waiting(run) => run.committed(&receipt),
            AnyRun::Running(_) => Ok(()),
        };
        met.map_err(|wrong| ActivationError::NotCommitted(CommitError::new(wrong)))?;
        self.state.interrupted = false;
        self.used = Usage::default();
        let problems = std::mem::take(&mut self.problems);
        Ok(Outcome { reason, waiting: self.state.waiting(), used, problems })
    }

    /// Resets the state of one activation.
    pub(super) fn reset(&mut self) {
        self.stop = None;
        self.used = Usage::default();
        self.state.take_up_round();
    }
}
