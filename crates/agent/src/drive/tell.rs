//! Emission of events.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use runstate::checkpoint::Trigger;
use runstate::decision::Decision;
use runstate::kernel::Observer;
use runstate::termination::TerminationReason;
use runstate::tool_call::AnyToolCall;

use super::super::answer::{ModelEvent, Usage};
use super::super::event::{AgentEvent, CallOutcome, CallProgress, EventKind, Interrupt, StateKey};
use super::super::keys::Changed;
use super::super::state::RunState;
use super::super::tool::Progress;
use super::Drive;

/// The calls that the model has begun in the current answer, with the names that they will have.
#[derive(Default)]
pub(super) struct StreamedCalls(Vec<(u32, Arc<str>)>);

impl Drive<'_, '_> {
    /// Returns whether events are created. Without a sink, and with a committer that stores no events, they are only
    /// numbered.
    fn makes_events(&self) -> bool {
        self.events.is_some() || self.keeps_events
    }

    /// Creates an event with this number.
    pub(super) fn event(&self, seq: u64, kind: EventKind) -> AgentEvent {
        AgentEvent::new(
            seq,
            self.config.clock.now_ms(),
            Arc::clone(&self.state.id),
            Arc::clone(&self.state.thread.id),
            self.state.run.get().record().activations(),
            kind,
        )
    }

    /// Emits an event.
    pub(super) fn tell(&mut self, kind: impl FnOnce(&Self) -> EventKind) {
        self.state.events += 1;
        if !self.makes_events() {
            return;
        }
        let event = Arc::new(self.event(self.state.events, kind(self)));
        if self.keeps_events {
            self.state.pending_events.push(Arc::clone(&event));
        }
        self.emit(&event);
    }

    /// Emits a piece of an answer. The stored form joins consecutive pieces.
    fn tell_piece(&mut self, step: u32, text: &str, kind: impl FnOnce() -> EventKind) {
        self.state.events += 1;
        let seq = self.state.events;
        if self.keeps_events {
            let is_joined = self.state.pending_events.join(seq, text);
            if !is_joined {
                let pieces = EventKind::AnswerPieces { step, last: seq, text: text.to_owned() };
                self.state.pending_events.push(Arc::new(self.event(seq, pieces)));
            }
        }
        if self.events.is_some() {
            self.emit(&Arc::new(self.event(seq, kind())));
        }
    }

    /// The events of a commit. They are part of the commit, and are emitted once it is made.
    pub(super) fn events_of_commit(
        &self,
        trigger: Trigger,
        end: Option<(&TerminationReason, Usage)>,
    ) -> Vec<Arc<AgentEvent>> {
        if !self.makes_events() {
            return Vec::new();
        }
        let commit = self.state.commits + 1;
        let checkpoint = EventKind::Checkpoint { trigger, commit, before_ms: self.commit_ms };
        let checkpoint = self.io.committer.is_some().then_some(checkpoint);
        let decided = self.state.untold.iter().flat_map(|(call, decision)| {
            [Some(self.resumed(*call, decision)), self.settled(*call)].into_iter().flatten()
        });
        let finished = end.map(|(reason, used)| EventKind::RunFinished {
            reason: self.redactor.reason(reason),
            status: self.state.run.get().status(),
            waiting: self.interrupts(),
            usage: self.state.counters.usage(),
            used,
        });
        let kinds = decided.chain(checkpoint).chain(finished).zip(self.state.events + 1..);
        kinds.map(|(kind, seq)| Arc::new(self.event(seq, kind))).collect()
    }

    /// The number of events in [`events_of_commit`](Self::events_of_commit), also if no events are created.
    pub(super) fn count_of_commit(&self, is_end: bool) -> u64 {
        let of_decision = |(call, _): &(usize, Decision)| 1 + u64::from(self.is_settled(*call));
        let decided: u64 = self.state.untold.iter().map(of_decision).sum();
        u64::from(self.io.committer.is_some()) + decided + u64::from(is_end)
    }

    /// Passes an event to the sink.
    pub(super) fn emit(&mut self, event: &Arc<AgentEvent>) {
        let Some(events) = self.events else { return };
        if catch_unwind(AssertUnwindSafe(|| events.emit(event))).is_err() {
            self.problems.push("an event sink panicked: it gets no more events".to_owned());
            // In a stream, the reader stays and only the additional sink is dropped.
            self.events = self.events.filter(|_| self.reader.is_some());
        }
    }

    /// Returns the observer of a machine. The name of the machine is computed only if observers are set.
    pub(super) fn observer(
        &self,
        lifecycle: &'static str,
        instance: impl FnOnce(&RunState) -> String,
    ) -> Observer {
        if self.io.watch.is_watching() {
            self.io.watch.observer(lifecycle, &instance(self.state))
        } else {
            Observer::default()
        }
    }

    pub(super) fn tell_said(&mut self, step: u32, event: &ModelEvent, streamed: &mut StreamedCalls) {
        match event {
            ModelEvent::Text(text) => {
                self.tell_piece(step, text, || EventKind::TextDelta { step, text: text.clone() });
            }
            ModelEvent::CallStart { index, id, tool } => {
                let taken = streamed.0.iter().map(|(_, name)| name);
                let name = self.state.calls.next_name(id, taken);
                streamed.0.push((*index, Arc::clone(&name)));
                self.tell_piece(step, "", || EventKind::ToolCallStart {
                    step,
                    call: name.to_string(),
                    id: id.clone(),
                    tool: tool.clone(),
                });
            }
            ModelEvent::Arguments { index, delta } if !self.redactor.withholds_deltas() => {
                let call = streamed.0.iter().find(|(of, _)| of == index).map(|(_, name)| name.to_string());
                if let Some(call) = call {
                    self.tell_piece(step, "", || EventKind::ToolCallArguments { call, delta: delta.clone() });
                }
            }
            ModelEvent::Arguments { .. }
            | ModelEvent::Extra { .. }
            | ModelEvent::Usage(_)
            | ModelEvent::Finish(_)
            | ModelEvent::Error(_) => {}
        }
    }

    /// Emits the complete calls of an answer.
    pub(super) fn tell_ready(&mut self, step: u32) {
        for call in self.state.calls.of_step(step) {
            self.tell(|drive| {
                let unreadable = drive.state.unreadable(call).map(str::to_owned);
                let call = &drive.state.calls[call];
                let record = call.record();
                EventKind::ToolCallReady {
                    unreadable,
                    call: call.name.to_string(),
                    tool: record.tool().to_owned(),
                    arguments: drive.redactor.arguments(record.tool(), &call.name, record.arguments()),
                }
            });
        }
    }

    /// Emits an error, redacted.
    pub(super) fn tell_error(&mut self, message: &str) {
        self.tell(|drive| EventKind::Error { message: drive.redactor.text_of_end(message) });
    }

    pub(super) fn tell_changed(&mut self, changed: &Changed) {
        if !changed.is_empty() {
            self.tell(|_| EventKind::StateSnapshot { changed: changed.iter().map(StateKey::from).collect() });
        }
    }

    /// Emits all pending progress reports of tools.
    pub(super) fn tell_progressed(&mut self) {
        while let Ok(progress) = self.progressed.try_recv() {
            self.tell_progress(&progress);
        }
    }

    pub(super) fn tell_progress(&mut self, progress: &Progress) {
        self.state.events += 1;
        if !self.makes_events() {
            return;
        }
        let (seq, call) = (self.state.events, progress.call.to_string());
        let tool = self.state.calls.position(&progress.call);
        let tool = tool.map_or("", |call| self.state.calls[call].record().tool());
        let progress = self.redactor.progress(tool, &progress.call, &progress.value);
        if self.keeps_events && !self.state.pending_events.join_progress(seq, &call, &progress) {
            let progress = vec![CallProgress { call: call.clone(), progress: progress.clone() }];
            let kept = self.event(seq, EventKind::ToolCallsProgress { last: seq, progress });
            self.state.pending_events.push(Arc::new(kept));
        }
        if self.events.is_some() {
            self.emit(&Arc::new(self.event(seq, EventKind::ToolCallProgress { call, progress })));
        }
    }

    fn resumed(&self, call: usize, decision: &Decision) -> EventKind {
        EventKind::ToolCallResumed {
            call: self.state.calls[call].name.to_string(),
            suspension_id: decision.suspension_id.clone(),
            decision_id: decision.decision_id.clone(),
            action: decision.action,
            actor: decision.actor.clone(),
        }
    }

    /// Returns whether a call waits or has ended.
    fn is_settled(&self, call: usize) -> bool {
        !matches!(
            self.state.calls[call].machine.get(),
            AnyToolCall::New(_) | AnyToolCall::Running(_) | AnyToolCall::Resuming(_)
        )
    }

    /// Emits a call that waits or has ended.
    pub(super) fn tell_settled(&mut self, call: usize) {
        // If the decision on the call is not durable yet, the next commit emits the decision and its outcome.
        if !self.is_settled(call) || self.state.untold.iter().any(|(of, _)| *of == call) {
            return;
        }
        if !self.makes_events() {
            self.state.events += 1;
            return;
        }
        if let Some(kind) = self.settled(call) {
            self.tell(|_| kind);
        }
    }

    /// The event for a call that waits or has ended.
    fn settled(&self, call: usize) -> Option<EventKind> {
        let called = &self.state.calls[call];
        let outcome = match called.machine.get() {
            AnyToolCall::Suspended(_) => {
                return self.interrupt(call).map(|interrupt| EventKind::ToolCallSuspended { interrupt });
            }
            AnyToolCall::Succeeded(done) => CallOutcome::Succeeded {
                output: done.output().clone(),
                warning: done.warning().map(str::to_owned),
            },
            AnyToolCall::Failed(done) => CallOutcome::Failed { error: done.error().to_owned() },
            AnyToolCall::Cancelled(done) => {
                CallOutcome::Cancelled { reason: done.reason().to_owned(), cause: done.cause() }
            }
            AnyToolCall::New(_) | AnyToolCall::Running(_) | AnyToolCall::Resuming(_) => return None,
        };
        let outcome = self.redactor.outcome(called.record().tool(), &called.name, outcome);
        Some(EventKind::ToolCallDone { call: called.name.to_string(), outcome })
    }

    fn interrupt(&self, call: usize) -> Option<Interrupt> {
        let called = &self.state.calls[call];
        let machine = called.suspended()?;
        let (record, suspension) = (machine.record(), machine.suspension());
        Some(Interrupt {
            call: called.name.to_string(),
            tool: record.tool().to_owned(),
            digest: suspension.digest(&self.state.id, &called.name, record.tool(), machine.asked_arguments()),
            suspension: self.redactor.suspension(record.tool(), &called.name, suspension),
        })
    }

    /// All waiting calls.
    fn interrupts(&self) -> Vec<Interrupt> {
        self.state.calls.suspended().filter_map(|call| self.interrupt(call)).collect()
    }
}
