//! One claimed run of a worker.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate::trace::Recorder;
use runstate_agent::event::EventSink;
use runstate_agent::{
    ActivationError, Agent, Input, Outcome, RunHandles, RunState, StateError, inbox, run_loop,
};
use tokio::sync::MutexGuard;
use tokio_util::sync::CancellationToken;

use super::super::committer::{Lost, StoreCommitter};
use super::super::error::StoreError;
use super::super::lease::{Lease, Release};
use super::super::load::Loaded;
use super::super::renew::renew_loop;
use super::super::{PendingSignals, RunQueue};
use super::signals::SignalPump;
use super::{Ended, Executor, ExecutorError, Held, JobSpec, Worker};

impl Worker {
    /// Drives a claimed run and gives it back. Returns the end and the release of the run. The lease is renewed from
    /// the claim on. `seen` is the cursor of notifications at the claim.
    pub(super) async fn drive(
        &self,
        host: &dyn Executor,
        held: Held,
        seen: u64,
        drain: CancellationToken,
    ) -> (Ended, Release) {
        let Held { lease, term, is_ready } = held;
        let driven = tokio::select! {
            biased;
            driven = self.try_drive(host, &lease, seen, drain) => driven.unwrap_or_else(|error| Driven::of(lost(error))),
            error = renew_loop(&*self.store, &lease, term, &*self.clock) => Driven::of(lost(error)),
        };
        let Driven { ended, did_nothing, is_given_back } = driven;
        let release = if is_ready && did_nothing {
            Release::retry_after(self.poll.min(self.retry_delay), DID_NOTHING).with_lost_claims_reset()
        } else if ended.waits_for_a_suspect() {
            release(&ended, self.poll.min(self.retry_delay))
        } else {
            release(&ended, self.retry_delay)
        };
        // A lease that cannot be given back expires.
        if !is_given_back && let Err(error) = self.store.release(&lease, &release).await {
            host.on_store_error(&error);
        }
        host.ended(&lease.run, &ended);
        (ended, release)
    }

    async fn try_drive(
        &self,
        host: &dyn Executor,
        lease: &Lease,
        seen: u64,
        drain: CancellationToken,
    ) -> Result<Driven, StoreError> {
        // Of the runs with lost claims one at a time is loaded and driven to the end of a step, so that the end of a
        // process has one possible cause.
        let mut alone = None;
        if lease.lost > 0 && !self.is_alone(&mut alone) {
            return Ok(deferred(BESIDE_A_SUSPECT));
        }
        // The load may end processes. It is still tried once to end a run with a requested cancellation.
        if lease.lost > self.set_aside_after {
            return Ok(deferred(set_aside_unread(&lease.run, lease.lost)));
        }
        if lease.lost == self.set_aside_after
            && self.store.pending_signals(&lease.run).await?.cancel.is_none()
        {
            return Ok(deferred(set_aside(&lease.run, lease.lost)));
        }
        let (loaded, mail) =
            tokio::try_join!(self.store.load(&lease.run), self.store.pending_signals(&lease.run))?;
        if let Some(reason) = over(&loaded) {
            return Ok(Driven { did_nothing: true, ..Driven::of(Ended::Over(reason)) });
        }
        // Not every store reports lost claims for a claim by name.
        if loaded.info.lost > 0 && !self.is_alone(&mut alone) {
            return Ok(deferred(BESIDE_A_SUSPECT));
        }
        let mut driving = pin!(self.go_on(host, lease, &loaded, (mail, seen), drain));
        loop {
            tokio::select! {
                biased;
                driven = &mut driving => return driven,
                () = tokio::time::sleep(self.poll), if alone.is_some() => {
                    let now = self.store.parts(&lease.run).await;
                    if now.is_ok_and(|now| now.info.steps > loaded.info.steps.max(1)) {
                        alone = None;
                    }
                }
            }
        }
    }

    /// Returns whether no other run with lost claims is being driven. The guard in `alone` blocks the others.
    fn is_alone<'w>(&'w self, alone: &mut Option<MutexGuard<'w, ()>>) -> bool {
        if alone.is_none() {
            *alone = self.suspect.try_lock().ok();
        }
        alone.is_some()
    }

    async fn go_on(
        &self,
        host: &dyn Executor,
        lease: &Lease,
        loaded: &Loaded,
        (mail, seen): (PendingSignals, u64),
        drain: CancellationToken,
    ) -> Result<Driven, StoreError> {
        let lost = loaded.info.lost;
        let prepared = if lost >= self.set_aside_after {
            Err(ExecutorError::new(set_aside(&lease.run, lost)))
        } else {
            host.prepare(loaded).await
        };
        let prepared = match prepared {
            // The resources of the run may be gone permanently. They are not needed for a cancellation.
            Err(_) if self.store.pending_signals(&lease.run).await?.cancel.is_some() => JobSpec::of_nothing(),
            prepared => prepared,
        };
        let job = match prepared {
            Ok(job) => job,
            Err(error) => return Ok(deferred(error)),
        };
        let clock = Arc::clone(&self.clock);
        let recorder = Recorder::builder(&*lease.run).first_seq(loaded.traced.saturating_add(1));
        let recorder = recorder.clock(move || clock.now_ms()).build();
        let (state, input) = match begin(loaded, &job, &recorder) {
            Ok(begun) => begun,
            Err(error) => return Ok(deferred(unreadable(&error))),
        };
        let store = Arc::clone(&self.store);
        let clock = Arc::clone(&self.clock);
        let committer = StoreCommitter::new(store, lease.clone(), loaded, recorder.clone(), clock);
        let committer = committer.drained_by(drain).giving_back(Arc::clone(&self.store) as Arc<dyn RunQueue>);
        let JobSpec { agent, events, .. } = job;
        let mut in_hand = InHand { worker: self, lease, agent, events, recorder, committer, state };
        let before = in_hand.state.commits();
        let ended = in_hand.drive(input, (mail, seen)).await?;
        let is_at_rest = matches!(ended, Ended::Waits(_) | Ended::Over(_));
        let did_nothing = is_at_rest && in_hand.state.commits() == before;
        Ok(Driven { ended, did_nothing, is_given_back: in_hand.committer.is_given_back() })
    }
}

/// The outcome of a claim.
struct Driven {
    ended: Ended,
    /// Whether the run was at rest already.
    did_nothing: bool,
    /// Whether the run was given back with its last commit.
    is_given_back: bool,
}

impl Driven {
    fn of(ended: Ended) -> Self {
        Driven { ended, did_nothing: false, is_given_back: false }
    }
}

impl Ended {
    /// Returns whether the run waits until another one with lost claims has completed a step.
    pub(super) fn waits_for_a_suspect(&self) -> bool {
        matches!(self, Ended::Deferred(why) if why == BESIDE_A_SUSPECT)
    }
}

fn deferred(why: impl ToString) -> Driven {
    Driven::of(Ended::Deferred(why.to_string()))
}

/// The store would return this run again and again.
const DID_NOTHING: &str = "the list of the store has it as one that can go on, and it waits or is over: another program has changed that list, or a part of \
                           the store was put back from an older copy";

/// A leased run with its agent and its handles.
struct InHand<'w> {
    worker: &'w Worker,
    lease: &'w Lease,
    agent: Agent,
    events: Option<Arc<dyn EventSink>>,
    recorder: Recorder,
    committer: StoreCommitter,
    state: RunState,
}

impl InHand<'_> {
    async fn drive(
        &mut self,
        mut input: Input,
        (mail, seen): (PendingSignals, u64),
    ) -> Result<Ended, StoreError> {
        let (handle, mut inbox) = inbox();
        let cancel = CancellationToken::new();
        let mut pump = SignalPump::new(handle, cancel.clone(), seen);
        let mut lost = self.committer.lost();
        let run = &*self.lease.run;
        let store = Arc::clone(&self.worker.store);
        pump.deliver(mail);
        loop {
            let waits = self.state.run().status() == RunStatus::Waiting;
            if let Some(message) = waits.then(|| pump.message()).flatten() {
                self.committer.takes(message.id);
                input = Input::Message(message.text.into());
            }
            let before = (self.state.commits(), pump.delivered());
            let mut io = RunHandles::new()
                .committer(&mut self.committer)
                .inbox(&mut inbox)
                .watch(&self.recorder)
                .cancelled_by(cancel.clone())
                .judged_in_store()
                .parking();
            if let Some(events) = &self.events {
                io = io.events(&**events);
            }
            let outcome = tokio::select! {
                biased;
                outcome = run_loop(&self.agent, &mut self.state, input, io) => outcome,
                Ok(why) = lost.wait_for(Option::is_some) => return Ok(ended(why.clone())),
                never = self.worker.fetch_changes(&mut pump, run) => match never {},
            };
            let outcome = match outcome {
                Ok(outcome) => outcome,
                Err(error) => return Ok(Ended::Deferred(stopped(&error))),
            };
            let Outcome { reason, waiting, .. } = outcome;
            if reason != TerminationReason::Suspended {
                return Ok(Ended::Over(reason));
            }
            // The run may be claimed by another process from now on.
            if self.committer.is_given_back() {
                return Ok(Ended::Waits(waiting));
            }
            let has_mail = pump.fetch(&*store, run).await?;
            if !has_mail && !cancel.is_cancelled() {
                return Ok(Ended::Waits(waiting));
            }
            if (self.state.commits(), pump.delivered()) == before {
                let why = format!(
                    "a decision was accepted for another question than its call asks: the row was changed, or a migration changed the \
                     question; no other decision is taken on it; `runstate cancel {run}` ends the run"
                );
                return Ok(Ended::Deferred(why));
            }
            input = Input::Resume;
        }
    }
}

/// Returns the state and the input with which the run continues.
fn begin(loaded: &Loaded, job: &JobSpec, recorder: &Recorder) -> Result<(RunState, Input), StateError> {
    let state = loaded.begin(&job.run_migrations, &job.call_migrations, recorder)?;
    let input = match loaded.stored {
        None => Input::Message(Arc::clone(&job.message)),
        Some(_) => Input::Resume,
    };
    Ok((state, input))
}

/// Returns the reason for the end of a `Done` run.
fn over(loaded: &Loaded) -> Option<TerminationReason> {
    if loaded.info.status != RunStatus::Done {
        return None;
    }
    loaded.info.reason.as_ref()?.parse().ok()
}

const BESIDE_A_SUSPECT: &str =
    "a process that held it has ended, and it waits until another such run has completed a step";

fn set_aside_unread(run: &str, lost: u32) -> String {
    format!(
        "it is set aside: {lost} processes in a row have ended, or have lost the store, while they held this run, without a completed step; it is not \
         read any more, so that `cancel` does not end it; `runstate resume {run} --detach` lets a worker try once more"
    )
}

fn set_aside(run: &str, lost: u32) -> String {
    format!(
        "it is set aside: {lost} processes in a row have ended, or have lost the store, while they held this run, without a completed step; \
         nothing of it is driven until `runstate resume {run} --detach` gives it back; `runstate cancel {run}` ends it"
    )
}

fn lost(error: StoreError) -> Ended {
    Ended::Lost(Arc::new(error))
}

fn ended(lost: Option<Lost>) -> Ended {
    match lost {
        Some(Lost::Refused(error)) => Ended::Lost(error),
        Some(Lost::Drained) | None => Ended::Drained,
    }
}

fn unreadable(error: &StateError) -> String {
    format!("it cannot be read: {error}")
}

fn stopped(error: &ActivationError) -> String {
    format!("it did not come to its end: {error}")
}

/// Returns the release of a run after its end.
fn release(ended: &Ended, later: Duration) -> Release {
    match ended {
        Ended::Deferred(why) => Release::retry_after(later, why),
        Ended::Lost(error) => match &**error {
            // The run is not the cause, and the problem is temporary.
            StoreError::Unavailable(_) => Release::clean(),
            // The next step would be equally large, and may cost money.
            StoreError::TooLarge { .. } => Release::set_aside(format!(
                "{error}; nothing of it is driven until `runstate resume RUN --detach` gives it back"
            )),
            error => Release::retry_after(later, error.to_string()),
        },
        Ended::Over(_) | Ended::Waits(_) => Release::clean().with_lost_claims_reset(),
        Ended::Drained => Release::clean(),
    }
}
