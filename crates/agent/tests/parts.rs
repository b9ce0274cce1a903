//! Parts to drive a run with: a scripted model, decisions from other tasks, a committer that fails when told, a recorder.
//! Time is virtual: it stands still while something can go on.

use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use runstate::decision::DecisionAction;
use runstate::trace::{Event, Recorder, Report, Rulebook, Verdict, check, to_text};
use runstate::turn::Turn;
use runstate_agent::stop::{StopConditionSpec, StopConditions};
use runstate_agent::{
    ActivationError, Agent, CancellationToken, DecisionHandle, ExecutionMode, Inbox, Incoming, Input,
    Outcome, Plugin, Reply, RunHandles, RunState, SuspensionPolicy, Tool, WhenSuspended, cancel_run, inbox,
    run_loop, run_loop_stream,
};
use runstate_runtime::clock::{Clock, TokioClock};

use super::outside::{Kept, NoSecrets, Told, TypeOnly};
pub use super::script::{Bit, Script, bits, turn, written};
use super::tools::{Ledger, Rules, tools};

/// A decision's id, the reply to it, and the commits made by then.
pub type Replies = Arc<Mutex<Vec<(String, Reply, usize)>>>;

/// All of it, with a recorder.
pub struct World {
    pub script: Script,
    pub tools: Vec<Arc<dyn Tool>>,
    /// Behind the rules.
    pub plugins: Vec<Arc<dyn Plugin>>,
    pub mode: ExecutionMode,
    pub policy: SuspensionPolicy,
    pub when_suspended: WhenSuspended,
    pub stop: Vec<StopConditionSpec>,
    pub kept: Kept,
    pub handle: DecisionHandle,
    pub inbox: Inbox,
    pub replies: Replies,
    /// Decisions that are sent before the loop begins.
    pub incoming: Vec<Incoming>,
    /// Decisions that are sent as soon as their call waits.
    pub patient: Vec<Incoming>,
    pub recorder: Recorder,
    pub told: Told,
    pub ledger: Ledger,
    pub token: CancellationToken,
    pub clock: TokioClock,
    /// Is the run driven as a stream?
    pub stream: bool,
    /// Are secrets taken out of events?
    pub redacts: bool,
    /// Executions that have passed their gate when their round is left: for a call that asked, or since the run was cancelled.
    /// They are abandoned, and their calls are executed anew later, if at all.
    pub abandoned: Vec<&'static str>,
}

impl World {
    /// With a script of answers, each a list of calls by id and tool.
    pub fn new(turns: &[&[(&str, &str)]]) -> Self {
        Self::of(turns.iter().map(|calls| turn(calls)))
    }

    /// With these answers.
    pub fn of(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::with(turns.into_iter().map(|turn| bits(&turn)).collect())
    }

    /// With answers in these pieces.
    pub fn with(answers: Vec<Vec<Bit>>) -> Self {
        let ledger = Ledger::default();
        let clock = TokioClock::starting_at(0);
        let (handle, inbox) = inbox();
        World {
            script: Script::new(answers),
            tools: tools(&ledger),
            plugins: Vec::new(),
            mode: ExecutionMode::Sequential,
            policy: SuspensionPolicy::WaitForAll,
            when_suspended: WhenSuspended::Park,
            stop: Vec::new(),
            kept: Kept::default(),
            handle,
            inbox,
            replies: Replies::default(),
            incoming: Vec::new(),
            patient: Vec::new(),
            recorder: Recorder::builder("r1").clock(move || clock.now_ms()).build(),
            told: Told::default(),
            ledger,
            token: CancellationToken::new(),
            clock,
            stream: false,
            redacts: false,
            abandoned: Vec::new(),
        }
    }

    pub fn max_rounds(&mut self, rounds: u32) {
        self.stop = vec![StopConditionSpec::MaxRounds { rounds }];
    }

    pub fn agent(&self) -> Agent {
        let agent = Agent::builder(self.script.clone())
            .tools(self.tools.iter().cloned())
            .plugin(Rules)
            .plugins(self.plugins.iter().cloned())
            .stop(StopConditions::new(self.stop.clone()).unwrap())
            .mode(self.mode)
            .policy(self.policy)
            .when_suspended(self.when_suspended)
            .schemas(TypeOnly)
            .clock(self.clock);
        let agent = if self.redacts { agent.redact(NoSecrets) } else { agent };
        agent.build().unwrap()
    }

    /// A decision on each of the calls, with the id `d-` and its name.
    pub fn put(&mut self, decisions: &[(&str, DecisionAction)]) {
        self.incoming.extend(incoming(decisions));
    }

    /// The same, once its call waits and not before.
    pub fn put_patiently(&mut self, decisions: &[(&str, DecisionAction)]) {
        self.patient.extend(incoming(decisions));
    }

    /// Sends a decision from a task of its own.
    pub fn send(&self, incoming: Incoming) {
        let (handle, replies) = (self.handle.clone(), Arc::clone(&self.replies));
        let commits = Arc::clone(&self.kept.commits);
        tokio::spawn(async move {
            let id = incoming.decision_id.clone();
            if let Ok(reply) = handle.decide(incoming).await {
                replies.lock().unwrap().push((id, reply, commits.load(Ordering::SeqCst)));
            }
        });
    }

    /// Sends a decision at that time.
    pub fn send_at(&self, at_ms: u64, incoming: Incoming) {
        let (handle, replies) = (self.handle.clone(), Arc::clone(&self.replies));
        let (clock, commits) = (self.clock, Arc::clone(&self.kept.commits));
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(at_ms.saturating_sub(clock.now_ms()))).await;
            let id = incoming.decision_id.clone();
            if let Ok(reply) = handle.decide(incoming).await {
                replies.lock().unwrap().push((id, reply, commits.load(Ordering::SeqCst)));
            }
        });
    }

    /// Tasks that decide as soon as their call waits.
    pub async fn start_senders(&mut self) -> Vec<tokio::task::JoinHandle<()>> {
        let send = |incoming: Incoming| {
            let (mut handle, replies) = (self.handle.clone(), Arc::clone(&self.replies));
            let commits = Arc::clone(&self.kept.commits);
            tokio::spawn(async move {
                while handle.pending().iter().all(|pending| *pending.call != *incoming.call) {
                    if handle.pending_changed().await.is_err() {
                        return;
                    }
                }
                let id = incoming.decision_id.clone();
                if let Ok(reply) = handle.decide(incoming).await {
                    replies.lock().unwrap().push((id, reply, commits.load(Ordering::SeqCst)));
                }
            })
        };
        let senders = std::mem::take(&mut self.patient).into_iter().map(send).collect();
        settled().await;
        senders
    }

    async fn send_all(&mut self) {
        for incoming in std::mem::take(&mut self.incoming) {
            self.send(incoming);
        }
        drop(self.start_senders().await);
    }

    /// The loop over a run, as a future that borrows all of it.
    pub fn drive<'w>(
        &'w mut self,
        state: &'w mut RunState,
        input: Input,
    ) -> Pin<Box<dyn Future<Output = Result<Outcome, ActivationError>> + Send + 'w>> {
        let agent = self.agent();
        let io = RunHandles::new()
            .committer(&mut self.kept)
            .inbox(&mut self.inbox)
            .events(&self.told)
            .watch(&self.recorder)
            .cancelled_by(self.token.clone());
        let stream = self.stream;
        Box::pin(async move {
            if !stream {
                return run_loop(&agent, state, input, io).await;
            }
            let mut stream = run_loop_stream(&agent, state, input, io);
            while stream.next().await.is_some() {}
            stream.into_outcome().unwrap()
        })
    }

    pub async fn try_drive(
        &mut self,
        state: &mut RunState,
        input: Input,
    ) -> Result<Outcome, ActivationError> {
        self.send_all().await;
        let outcome = self.drive(state, input).await;
        settled().await;
        outcome
    }

    pub async fn start(&mut self, state: &mut RunState) -> Outcome {
        self.try_drive(state, Input::message("tidy up")).await.unwrap()
    }

    pub async fn write(&mut self, state: &mut RunState, text: &str) -> Outcome {
        self.try_drive(state, Input::message(text)).await.unwrap()
    }

    pub async fn resume(&mut self, state: &mut RunState) -> Outcome {
        self.try_drive(state, Input::Resume).await.unwrap()
    }

    /// Cancels a run that waits.
    pub async fn cancel(&mut self, state: &mut RunState) -> Result<Outcome, ActivationError> {
        let agent = self.agent();
        let io = RunHandles::new().committer(&mut self.kept).inbox(&mut self.inbox).watch(&self.recorder);
        cancel_run(&agent, state, io.events(&self.told)).await
    }

    /// Sends decisions, and resumes.
    pub async fn decide(&mut self, state: &mut RunState, decisions: &[(&str, DecisionAction)]) -> Outcome {
        let named = incoming(decisions).into_iter().map(|one| {
            let asked = state.pending().into_iter().find(|pending| *pending.call == *one.call);
            let id = asked.map(|pending| pending.suspension.id.clone());
            Incoming { suspension_id: id, ..one }
        });
        self.incoming.extend(named.collect::<Vec<_>>());
        self.resume(state).await
    }

    pub fn state(&self) -> RunState {
        RunState::watched("r1", &self.recorder)
    }

    /// The run as another process finds it: from the bytes of the last commit.
    pub fn restored(&self) -> RunState {
        let mut state = self.kept.memory.restore().unwrap();
        state.watch(&self.recorder);
        state
    }

    /// What tools did so far.
    pub fn done(&self) -> Vec<String> {
        self.ledger.lock().unwrap().clone()
    }

    /// How often the tool of the call executed.
    pub fn executions(&self, call: &str) -> usize {
        self.done().iter().filter(|key| key.starts_with(&format!("r1/{call}/"))).count()
    }

    /// The replies to decisions so far, which are forgotten.
    pub fn replies(&self) -> Vec<(String, Reply)> {
        self.replies.lock().unwrap().drain(..).map(|(id, reply, _)| (id, reply)).collect()
    }

    /// The trace, held against all diagrams.
    pub fn report(&self) -> Report {
        check(&self.recorder.events(), &book())
    }

    /// The trace conforms, and is this one.
    pub fn assert_trace(&self, name: &str) {
        self.assert_conforms();
        assert_golden(name, &to_text(&self.recorder.events()));
    }

    /// The trace conforms to the diagrams, and nothing is unfinished but what a run that waits, or is over, leaves so: the
    /// run itself while it waits with its suspended calls, calls that never started, executions that were abandoned.
    pub fn assert_conforms(&self) {
        let report = self.report();
        assert_ne!(report.verdict, Verdict::Violates, "{}", report.summary());
        let mut abandoned = Vec::new();
        for it in &report.unfinished {
            match (it.lifecycle.as_str(), it.state.as_str()) {
                ("run", "Waiting") | ("tool_call", "Suspended" | "New") => {}
                ("tool_execution", "BeforeToolExecute" | "ExecuteTool") => {
                    abandoned.push(it.instance.as_str())
                }
                _ => panic!("{}", report.summary()),
            }
        }
        assert_eq!(abandoned, self.abandoned, "{}", report.summary());
    }
}

fn incoming(decisions: &[(&str, DecisionAction)]) -> Vec<Incoming> {
    let decision = |(call, action): &(&str, _)| Incoming::new(format!("d-{call}"), *call, *action);
    decisions.iter().map(decision).collect()
}

/// Lets all other tasks go on until they wait.
pub async fn settled() {
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
}

/// Runs a test's part that is no test of its own, in virtual time.
pub fn paused<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(test)
}

/// The text is as it is in the file of that name.
pub fn assert_golden(name: &str, text: &str) {
    insta::with_settings!({
        snapshot_path => concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"),
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(format!("agent__{name}"), text);
    });
}

/// The built-in diagrams.
pub fn book() -> Rulebook {
    Rulebook::of(runstate::lifecycles().iter().copied())
}

/// How the calls stand, each with its name in traces.
pub fn statuses(state: &RunState) -> Vec<String> {
    state.calls().map(|(name, call)| format!("{name} {}", call.status())).collect()
}

/// What the model reads.
pub fn history(state: &RunState) -> Vec<String> {
    state.history().iter().map(written).collect()
}

/// The events of one lifecycle, each with its instance.
pub fn of_lifecycle(events: &[Event<'_>], lifecycle: &str) -> Vec<String> {
    let of_it = events.iter().filter(|event| event.lifecycle == lifecycle);
    of_it.map(|event| format!("{} {event}", event.instance)).collect()
}
