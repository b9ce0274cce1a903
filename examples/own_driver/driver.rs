//! The loop: `run_flow` from state to state, with `resume_tool_call` at its gates and `tool_execution` around each tool.

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;

use runstate::checkpoint::{Due, Receipt};
use runstate::decision::{Decision, DecisionAction};
use runstate::resume_tool_call::{
    Approve, Clear, ClearResolved, Close, Compare, Deny, Drained, FindNothing, Gate, GatePassed, MatchCall,
    Persist, Replay, Resolve, ResumeToolCall, Settle,
};
use runstate::run::{AnyRun, Run, Running};
use runstate::run_flow::{
    self as flow, Accept, AfterAssistant, AfterReplay0, AfterTools, Begin, CallOutcome, Commit, Complete,
    FlowId, FlowRecord, LoopTop, OpenGate, Pass, Prepared, Respond, RunEnd, RunFlow, SkipReplay, ToolRound,
    WindUp,
};
use runstate::tool_call::{
    self as call, AnyToolCall, CallKey, CallRecord, Resume, Start, ToolCall, ToolCallStatus,
};
use runstate::tool_execution::{
    self as execution, Allow, BeforeToolExecute, Conclude, Effect, ExecuteTool, ExecutionRecord, Reject,
    ToolExecution,
};
use runstate::trace::Recorder;
use runstate::turn::{CallRequest, Turn};

use crate::store::{Kept, Store};
use crate::tools::{Folder, Look};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

pub(crate) struct Driver {
    pub(crate) store: Store,
    pub(crate) folder: Folder,
    recorder: Recorder,
    /// The scripted answers of the model.
    pub(crate) turns: VecDeque<Turn>,
    /// The decisions of people.
    pub(crate) decisions: VecDeque<Decision>,
    pub(crate) calls: BTreeMap<String, AnyToolCall>,
    /// The number of steps of the run.
    pub(crate) steps: u32,
    activation: u32,
    /// The flow of the executions.
    flow: Option<FlowId>,
}

impl Driver {
    pub(crate) fn new(store: Store, folder: Folder, recorder: Recorder) -> Self {
        let (turns, decisions, calls) = Default::default();
        Driver { store, folder, recorder, turns, decisions, calls, steps: 0, activation: 0, flow: None }
    }

    /// Runs one activation.
    pub(crate) fn activation(&mut self, run: Run<Running>) -> Result<AnyRun> {
        self.activation = run.record().activations();
        let observer = self.recorder.observer(&format!("activation {}", self.activation));
        let flow = RunFlow::new(FlowRecord::new(&run, self.steps).observed(observer)).begin(Begin);
        self.flow = Some(flow.record().flow_id());
        let receipt = self.commit(flow.due())?;
        let mut flow = flow.commit(Commit::new(receipt))?;

        // Decisions that arrived in the meantime are replayed first.
        let top = match self.drain(flow.gate())? {
            Drained::Nothing(nothing) => flow.skip_replay(SkipReplay::new(nothing))?,
            replayed => {
                let flow = flow.replay(flow::Replay::new(replayed))?;
                let receipt = self.commit(flow.due())?;
                match flow.committed(receipt, self.waiting()).map_err(|(_, unmet)| unmet)? {
                    AfterReplay0::LoopTop(top) => top,
                    AfterReplay0::Suspended(flow) => return self.end(run, flow.wind_up(WindUp)),
                }
            }
        };
        let flow = self.steps(top)?;
        self.end(run, flow)
    }

    /// Runs step after step, until there is a reason to end.
    fn steps(&mut self, mut top: RunFlow<LoopTop>) -> Result<RunFlow<RunEnd>> {
        loop {
            let mut flow = top.open_gate(OpenGate);
            let passed = self.pass(flow.gate())?;
            let flow = match flow.pass(Pass::new(passed))?.prepared() {
                Prepared::LlmCall(flow) => flow,
                Prepared::Terminate(flow) => return Ok(flow.wind_up(WindUp)),
            };
            self.steps = flow.step();
            let Some(turn) = self.turns.pop_front() else {
                return Ok(flow.fail(flow::Fail::new("the script has no answer left")).wind_up(WindUp));
            };
            println!("model: {}", turn.text);
            let flow = flow.respond(Respond::new(turn)).accept(Accept);
            let receipt = self.commit(flow.due())?;
            let mut flow = match flow.committed(receipt, None, self.waiting()).map_err(|(_, unmet)| unmet)? {
                AfterAssistant::Terminate(flow) => return Ok(flow.wind_up(WindUp)),
                AfterAssistant::NaturalEnd(flow) => return Ok(flow.wind_up(WindUp)),
                AfterAssistant::ToolRound(flow) => flow,
            };
            let outcomes = self.round(&mut flow)?;
            let flow = flow.complete(Complete::new(outcomes))?;
            let receipt = self.commit(flow.due())?;

            // From here a transition leads to the gate, and none to the model.
            let mut flow = flow.commit(Commit::new(receipt))?;
            let passed = self.pass(flow.gate())?;
            match flow.passed(passed, self.waiting()).map_err(|(_, unmet)| unmet)? {
                AfterTools::LoopTop(flow) => top = flow,
                AfterTools::Suspended(flow) => return Ok(flow.wind_up(WindUp)),
            }
        }
    }

    /// Handles the calls of one answer, one by one.
    fn round(&mut self, flow: &mut RunFlow<ToolRound>) -> Result<Vec<CallOutcome>> {
        let (turn, step) = (flow.turn().clone(), self.steps);
        let mut outcomes = Vec::new();
        for (request, ordinal) in turn.calls.iter().zip(0..) {
            let CallRequest { id, tool, arguments, .. } = request;
            let record = CallRecord::new(id, tool, arguments.clone()).at(CallKey { step, ordinal });
            let new = ToolCall::new(record.observed(self.recorder.observer(id)));
            let gate = self.gate_of(id, tool);
            let after: AnyToolCall = match Folder::look(request) {
                Look::Unfit(error) => {
                    let _rejected = gate.reject(Reject::new(&error)).conclude(Conclude);
                    new.start(Start).fail(call::Fail::new(error)).into()
                }
                Look::Ask(suspension) => {
                    println!("   {id} waits: {}", suspension.message);
                    let _waiting =
                        gate.suspend(execution::Suspend::new(suspension.clone())).conclude(Conclude);
                    new.suspend(call::Suspend::new(suspension)).into()
                }
                Look::Go => {
                    self.calls.insert(id.clone(), new.start(Start).into());
                    let allow = match gate.record().effect() {
                        Effect::Repeatable => Allow::execution(),
                        Effect::Once => self.begun(flow, &gate)?,
                    };
                    self.executed(gate.allow(allow)?, id)?
                }
            };
            outcomes.push(CallOutcome { call: id.clone(), status: after.status() });
            self.calls.insert(id.clone(), after);
        }
        Ok(outcomes)
    }

    /// Writes the beginning of a call to the disk before the call begins, so that a crash cannot cause a silent
    /// second execution.
    fn begun(
        &mut self,
        flow: &mut RunFlow<ToolRound>,
        gate: &ToolExecution<BeforeToolExecute>,
    ) -> Result<Allow> {
        let starting = flow.calls_started([gate]);
        let receipt = self.commit(starting.due())?;
        let started = starting.committed(receipt).map_err(|(_, wrong)| wrong)?;
        started.into_iter().next().map(Allow::once).ok_or_else(|| "one call was begun".into())
    }

    /// Executes a running call, after its gate opened.
    fn executed(&mut self, open: ToolExecution<ExecuteTool>, id: &str) -> Result<AnyToolCall> {
        let Some(AnyToolCall::Running(running)) = self.calls.remove(id) else {
            return Err(format!("{id} is not running").into());
        };
        let result = self.folder.execute(running.record().tool(), running.record().arguments());
        let _after = open.answered(&result);
        Ok(running.answered(result).into())
    }

    /// Drains a gate: one pass after the other, until a pass finds no decision.
    fn drain(&mut self, mut gate: Gate) -> Result<Drained> {
        loop {
            let name = format!("pass {}.{}.{}", self.activation, gate.number(), gate.next_pass());
            let pass = gate.pass(self.recorder.observer(&name));
            let Some(decision) = self.next_decision() else {
                return gate.drained(pass.find_nothing(FindNothing)).map_err(|(_, _, why)| why.into());
            };
            println!("person: {:?} {}", decision.action, decision.call);
            self.take_in(&decision)?;
            let pass = pass.match_call(MatchCall::new(&decision.call, decision.clone())).resolve(Resolve);
            let receipt = self.store.commit(pass.due(), self.kept()?.with_decision(&decision))?;
            let pass = self.replayed(pass.persist(Persist::new(receipt))?)?;
            gate.rejoin(pass.compare(Compare::new(true)).close(Close)).map_err(|(_, why)| why)?;
        }
    }

    /// Applies a decision to its suspended call.
    fn take_in(&mut self, decision: &Decision) -> Result<()> {
        let id = decision.call.clone();
        let Some(AnyToolCall::Suspended(suspended)) = self.calls.remove(&id) else {
            return Err(format!("{id} does not wait").into());
        };
        let call = match decision.action {
            DecisionAction::Resume => suspended.resume(Resume::new(decision.clone()))?.into(),
            DecisionAction::Cancel => suspended.cancel(call::Cancel::new("declined")).into(),
        };
        self.calls.insert(id, call);
        Ok(())
    }

    /// Replays the call of a durable decision.
    fn replayed(&mut self, pass: ResumeToolCall<Replay>) -> Result<ResumeToolCall<ClearResolved>> {
        let id = pass.call().to_owned();
        match self.calls.remove(&id) {
            Some(AnyToolCall::Resuming(resuming)) => {
                let (pass, permit) = pass.approve(Approve)?.execute_once();
                let running = resuming.start(Start);
                let gate = self.gate_of(&id, running.record().tool());
                self.calls.insert(id.clone(), running.into());
                let started = permit.start(&gate);
                let after = self.executed(gate.allow(Allow::once(started))?, &id)?;
                let status = after.status();
                self.calls.insert(id, after);
                Ok(pass.settle(Settle::new(status))?)
            }
            Some(cancelled) => {
                self.calls.insert(id, cancelled);
                Ok(pass.deny(Deny)?.clear(Clear))
            }
            None => Err(format!("{id} is no call of this run").into()),
        }
    }

    /// Passes a gate within the loop and commits its replays.
    fn pass(&mut self, gate: Gate) -> Result<GatePassed> {
        match self.drain(gate)? {
            Drained::Nothing(nothing) => Ok(nothing.into()),
            Drained::Replayed(replayed) => {
                let receipt = self.commit(replayed.due())?;
                Ok(replayed.committed(receipt).map_err(|(_, wrong)| wrong)?)
            }
        }
    }

    /// Ends the activation, and the run if the reason is final.
    fn end(&mut self, run: Run<Running>, flow: RunFlow<RunEnd>) -> Result<AnyRun> {
        let flow = flow.close(flow::Close);
        let (reason, calls) = (flow.reason().clone(), flow.calls().to_vec());
        println!("the activation ends: {reason}");
        // The new status of the run is written with the end of the activation.
        let run = run.end_activation(reason, calls).map_err(|(_, why)| why)?.into();
        let receipt = self.store.commit(flow.due(), self.kept()?.with_run(&run)?)?;
        flow.committed(&receipt).map_err(|(_, wrong)| wrong)?;
        Ok(run)
    }

    /// The first decision on a question that is still open. All others are stale.
    fn next_decision(&mut self) -> Option<Decision> {
        while let Some(decision) = self.decisions.pop_front() {
            match self.calls.get(&decision.call) {
                Some(AnyToolCall::Suspended(call)) if call.suspension().id == decision.suspension_id => {
                    return Some(decision);
                }
                _ => println!("person: {} is stale", decision.decision_id),
            }
        }
        None
    }

    fn waiting(&self) -> Vec<String> {
        let waiting = self.calls.iter().filter(|(_, call)| call.status() == ToolCallStatus::Suspended);
        waiting.map(|(id, _)| id.clone()).collect()
    }

    fn gate_of(&self, id: &str, tool: &str) -> ToolExecution<BeforeToolExecute> {
        let mut record = ExecutionRecord::new(id, tool).with_effect(Folder::effect(tool));
        if let Some(flow) = self.flow {
            record = record.of(flow);
        }
        ToolExecution::new(record.observed(self.recorder.observer(id)))
    }

    fn kept(&self) -> Result<Kept> {
        Kept::of(self.steps, &self.calls)
    }

    fn commit(&self, due: Due) -> Result<Receipt> {
        self.store.commit(due, self.kept()?)
    }
}
