//! Received decisions.

use std::sync::Arc;

use runstate::run::RunStatus;
use runstate_runtime::clock::{Clock, sleep_until};

use super::super::decide::{Accepted, CallNow, Envelope, Judging, PendingCall, Question, Reply, fits};
use super::super::event::Redactor;
use super::super::state::{Call, RunState};
use super::super::tool::Progress;
use super::jobs::Finished;
use super::replay::GatePasses;
use super::{Drive, Halt};

/// An accepted decision. The envelope gets the reply once the decision is durable.
pub(super) struct Taken {
    pub(super) accepted: Accepted,
    pub(super) envelope: Envelope,
}

/// An event while the loop awaits another operation.
#[expect(clippy::large_enum_variant, reason = "it is handed on at once, and never kept")]
pub(super) enum LoopEvent {
    /// A tool returned.
    Finished(Finished),
    /// A tool reported progress.
    Progress(Progress),
    /// A decision arrived, or a suspension expired.
    Decision,
}

impl Drive<'_, '_> {
    /// The next event. Decisions count only if one would be accepted now. The order of precedence among simultaneous
    /// events is fixed.
    pub(super) async fn beside(&mut self, passes: Option<&GatePasses<'_>>) -> Result<LoopEvent, Halt> {
        let decisions = passes.is_some_and(|passes| self.takes_decisions(passes));
        let lapse = if decisions { self.next_lapse() } else { None };
        let inbox = self.io.inbox.as_deref_mut().filter(|_| decisions);
        tokio::select! {
            biased;
            () = self.io.cancelled.cancelled() => Err(Halt::Cancelled),
            Some(progress) = self.progressed.recv() => Ok(LoopEvent::Progress(progress)),
            finished = self.jobs.next() => Ok(LoopEvent::Finished(finished)),
            () = ready(inbox) => Ok(LoopEvent::Decision),
            () = lapsed(&*self.config.clock, lapse) => Ok(LoopEvent::Decision),
        }
    }

    /// The next expiry time, if this loop expires suspensions.
    pub(super) fn next_lapse(&self) -> Option<u64> {
        match self.io.judging {
            Judging::InStore => None,
            Judging::Here => self.state.next_expiry_ms(),
        }
    }

    /// Returns whether a decision may be processed now. A run that is to end replays nothing; later decisions stay
    /// for the next loop. If
    /// calls are replayed one by one, a decision waits for the replay of the one before.
    pub(super) fn takes_decisions(&self, passes: &GatePasses<'_>) -> bool {
        self.stop.is_none() && (self.is_concurrent() || !passes.are_under_way())
    }

    /// The next decision within an activation. Between activations, [`next_accepted`](Self::next_accepted) applies.
    pub(super) fn next_taken(&mut self, passes: &GatePasses<'_>) -> Option<Taken> {
        if self.takes_decisions(passes) { self.next_accepted() } else { None }
    }

    /// The next accepted decision. Refused decisions get their replies.
    pub(super) fn next_accepted(&mut self) -> Option<Taken> {
        let now_ms = self.config.clock.now_ms();
        loop {
            let posted = self.io.inbox.as_mut().and_then(|inbox| inbox.take_posted());
            let judging = if posted.is_some() { Judging::InStore } else { self.io.judging };
            // What a store has accepted came before anything lapses.
            if judging == Judging::Here
                && let Some((incoming, accepted)) = self.state.lapsed(now_ms)
            {
                return Some(Taken { accepted, envelope: Envelope::unasked(incoming) });
            }
            let envelope = match posted {
                Some(posted) => posted,
                None => self.io.inbox.as_mut()?.take()?,
            };
            match self.accepted(&envelope, now_ms) {
                Ok(accepted) => return Some(Taken { accepted, envelope }),
                Err(reply) => envelope.answer(reply),
            }
        }
    }

    /// Matches a decision to its question, and checks it.
    fn accepted(&self, envelope: &Envelope, now_ms: u64) -> Result<Accepted, Reply> {
        let incoming = &envelope.incoming;
        if envelope.is_posted() {
            return self.state.posted(incoming, now_ms).ok_or(Reply::Stale);
        }
        let schemas = self.config.schemas.as_ref();
        let inbox = self.io.inbox.as_deref().ok_or(Reply::Unknown)?;
        let asked = inbox.judged(|board| {
            let asked = board.bind(incoming)?;
            let is_expired = self.io.judging == Judging::Here && asked.suspension.is_expired(now_ms);
            board.judge(&asked, incoming, is_expired)?;
            Ok(asked)
        })?;
        fits(&asked.suspension, incoming, schemas)?;
        // The call may have been cancelled since it asked.
        self.state.answer(&asked, incoming, now_ms).ok_or(Reply::Stale)
    }

    /// Opens the inbox for this loop. After an interrupted activation the list of questions is rebuilt, because it
    /// lacks the last changes.
    pub(super) fn open_inbox(&mut self, anew: bool) {
        self.is_open = true;
        let (state, redactor) = (&*self.state, &self.redactor);
        if let Some(inbox) = &mut self.io.inbox {
            inbox.open(&state.id, state.commits, anew, || {
                state.board(|call, asked| asked.shown = Some(Arc::new(shown(redactor, call, asked))))
            });
        }
    }

    /// Publishes the current state of these calls to holders of a handle, and the decisions on these suspensions,
    /// which are now durable.
    pub(super) fn publish(&mut self, calls: &[usize], decided: &[String]) {
        let (state, redactor) = (&*self.state, &self.redactor);
        let Some(inbox) = self.io.inbox.as_deref() else { return };
        // A redactor is user code, and must not run under the lock of the list.
        let now: Vec<_> = calls.iter().map(|call| now(state, redactor, *call)).collect();
        inbox.changed(|board| {
            let is_other = now.into_iter().fold(false, |is_other, call| board.call(call) | is_other);
            let decisions = decided.iter().filter_map(|suspension| state.decided.on(suspension));
            decisions.for_each(|decision| board.decision(decision));
            board.committed(state.commits);
            is_other
        });
    }

    /// Publishes the changes of the last commit.
    pub(super) fn publish_all(&mut self, decided: &[String]) {
        self.asks = false;
        // Its room is used again.
        let mut moved = std::mem::take(&mut self.unpublished);
        if self.is_open {
            self.publish(&moved, decided);
        } else {
            self.open_inbox(true);
        }
        moved.clear();
        self.unpublished = moved;
    }

    /// Settles the inbox at the end of the loop. A pending message is refused. A run that is over replies to each
    /// decision.
    pub(super) fn settle_inbox(&mut self) {
        // An uncommitted end is not final: a restored run may ask again.
        let is_over = self.state.run.get().status() == RunStatus::Done && !self.state.interrupted;
        if is_over && !self.is_open {
            self.open_inbox(false);
        }
        let taken = self.first.take();
        let Some(inbox) = self.io.inbox.as_deref_mut() else { return };
        // This decision was accepted, and the activation ended before its commit.
        if let Some(taken) = taken {
            inbox.put_back(taken.envelope);
        }
        if is_over {
            inbox.close();
        } else {
            inbox.refuse_messages();
        }
    }
}

/// The current state of a call.
fn now<'s>(state: &'s RunState, redactor: &Redactor, place: usize) -> CallNow<'s> {
    let call = &state.calls[place];
    let mut now = call.now(&state.id, place);
    if let Some(asked) = &mut now.waits {
        asked.shown = Some(Arc::new(shown(redactor, call, asked)));
    }
    now
}

/// A question as holders of a handle see it.
fn shown(redactor: &Redactor, call: &Call, asked: &Question) -> PendingCall {
    let record = call.record();
    let arguments = asked.suspension.doubted_arguments().unwrap_or_else(|| record.arguments());
    PendingCall {
        call: Arc::clone(&call.name),
        tool: record.tool().to_owned(),
        arguments: redactor.arguments(record.tool(), &call.name, arguments),
        digest: asked.digest.clone(),
        resume_mode: asked.suspension.resume_mode,
        suspension: redactor.suspension(record.tool(), &call.name, &asked.suspension),
    }
}

async fn ready(inbox: Option<&mut super::super::decide::Inbox>) {
    match inbox {
        Some(inbox) => inbox.decision_ready().await,
        None => std::future::pending().await,
    }
}

pub(super) async fn lapsed(clock: &dyn Clock, at_ms: Option<u64>) {
    match at_ms {
        Some(at_ms) => sleep_until(clock, at_ms).await,
        None => std::future::pending().await,
    }
}
