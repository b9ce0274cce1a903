//! Decisions that come in.

use super::super::decide::{Accepted, Envelope, Judging, PendingCall, Reply, Resolved};
use super::super::tool::Progress;
use super::jobs::Finished;
use super::replay::Passes;
use super::{Drive, Halt};
use crate::clock::{Clock, sleep_until};
use crate::decision::digest;
use crate::tool_call::{AnyToolCall, ToolCallStatus};

/// A decision that is the answer, and who is told once it is durable.
pub(super) struct Taken {
    pub(super) accepted: Accepted,
    pub(super) envelope: Envelope,
}

/// What happens beside the thing that is awaited.
#[expect(clippy::large_enum_variant, reason = "it is handed on at once, and never kept")]
pub(super) enum Beside {
    /// A tool answered.
    Finished(Finished),
    /// A tool says how far it is.
    Progress(Progress),
    /// A decision came in, or a suspension lapsed.
    Decision,
}

impl Drive<'_, '_> {
    /// The next thing that happens: decisions among them only if one would be taken. Where several do at once the order is
    /// always this one.
    pub(super) async fn beside(&mut self, passes: Option<&Passes<'_>>) -> Result<Beside, Halt> {
        let decisions = passes.is_some_and(|passes| self.takes_decisions(passes));
        let lapse = if decisions { self.next_lapse() } else { None };
        let inbox = self.io.inbox.as_deref_mut().filter(|_| decisions);
        tokio::select! {
            biased;
            () = self.io.cancelled.cancelled() => Err(Halt::Cancelled),
            Some(progress) = self.progressed.recv() => Ok(Beside::Progress(progress)),
            finished = self.jobs.next() => Ok(Beside::Finished(finished)),
            () = ready(inbox) => Ok(Beside::Decision),
            () = lapsed(&*self.config.clock, lapse) => Ok(Beside::Decision),
        }
    }

    /// When the next suspension lapses.
    pub(super) fn next_lapse(&self) -> Option<u64> {
        match self.io.judging {
            Judging::InStore => None,
            Judging::Here => self.state.next_expiry_ms(),
        }
    }

    /// May a decision be taken? A run that is to end replays nothing, and what comes in stays for whoever reads the run; where
    /// calls are replayed one by one, a decision waits for the replay of the one before.
    pub(super) fn takes_decisions(&self, passes: &Passes<'_>) -> bool {
        self.stop.is_none() && (self.is_concurrent() || !passes.are_under_way())
    }

    /// The decision that is taken next in an activation. Between activations it is [`next_accepted`](Self::next_accepted).
    pub(super) fn next_taken(&mut self, passes: &Passes<'_>) -> Option<Taken> {
        if self.takes_decisions(passes) { self.next_accepted() } else { None }
    }

    /// The next decision that is the answer. Those that change nothing are told so.
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
            match self.state.resolve(&envelope.incoming, now_ms, judging, self.config.schemas.as_ref()) {
                Resolved::Accept(accepted) => return Some(Taken { accepted, envelope }),
                Resolved::Hold => {
                    self.held.push(Envelope::unasked(envelope.incoming.clone()));
                    envelope.answer(Reply::Held);
                }
                Resolved::Refuse(reply) => envelope.answer(reply),
            }
        }
    }

    /// A call moved: what was held for it counts now, or never.
    pub(super) fn release_held(&mut self, call: usize) {
        self.pending_changed = true;
        if self.held.is_empty() {
            return;
        }
        let call = &self.state.calls[call];
        let is_for_it = |held: &mut Envelope| *held.incoming.call == *call.name;
        match call.status() {
            ToolCallStatus::New | ToolCallStatus::Running | ToolCallStatus::Resuming => {}
            ToolCallStatus::Suspended => {
                let mut released: Vec<_> = self.held.extract_if(.., is_for_it).collect();
                while let Some(held) = released.pop() {
                    if let Some(inbox) = &mut self.io.inbox {
                        inbox.put_first(held);
                    }
                }
            }
            ToolCallStatus::Succeeded | ToolCallStatus::Failed | ToolCallStatus::Cancelled => {
                self.held.retain_mut(|held| !is_for_it(held));
            }
        }
    }

    /// No activation began: what was held is for the next one, and waits for it where it came from.
    pub(super) fn keep_held(&mut self) {
        if let Some(inbox) = &mut self.io.inbox {
            while let Some(held) = self.held.pop() {
                inbox.put_first(held);
            }
        }
    }

    /// Lists what waits for those who hold a handle.
    pub(super) fn publish(&mut self) {
        if !std::mem::take(&mut self.pending_changed) {
            return;
        }
        let Some(inbox) = self.io.inbox.as_deref().filter(|inbox| inbox.is_watched()) else { return };
        let pending = self.state.calls.suspended().filter_map(|call| {
            let call = &self.state.calls[call];
            let AnyToolCall::Suspended(machine) = call.machine.get() else { return None };
            let record = machine.record();
            Some(PendingCall {
                call: call.name.clone(),
                tool: record.tool().to_owned(),
                arguments: self.redactor.arguments(record.tool(), &call.name, machine.asked_arguments()),
                args_digest: digest(machine.asked_arguments()),
                suspension: self.redactor.suspension(record.tool(), &call.name, machine.suspension()),
            })
        });
        inbox.publish(pending.collect());
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
