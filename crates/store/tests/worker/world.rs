//! A store, a host, and what tools did to the world outside.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use runstate::decision::Suspension;
use runstate::tool_result::ToolResult;
use runstate::trace::{Event, JsonlReader, Rulebook, Verdict as TraceVerdict, check_jsonl};
use runstate_agent::answer::{FinishReason, ModelEvent};
use runstate_agent::{
    Agent, ExecutionMode, GateCall, InferenceRequest, Model, ModelStream, Phase, PhaseContext, Phases,
    Plugin, PluginError, Tool, ToolContext, ToolSpec, Verdict, WhenSuspended, async_trait,
};
use runstate_runtime::clock::{Clock, TokioClock};
use runstate_store::{
    Ended, Executor, ExecutorError, JobSpec, Loaded, MemoryStore, NewRun, RunStore, StoreError, Worker,
};
use serde_json::{Value, json};

/// What happened outside of all runs, in order.
#[derive(Debug, Clone, Default)]
pub struct Ledger(Arc<Mutex<Vec<String>>>);

impl Ledger {
    pub fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub fn count(&self, what: &str) -> usize {
        self.all().iter().filter(|noted| *noted == what).count()
    }
}

/// Answers with the calls of its step; once there are none, with a text.
struct Scripted(Vec<Vec<Value>>);

impl Model for Scripted {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        let calls = self.0.get(request.step as usize - 1).cloned().unwrap_or_default();
        let mut events = Vec::new();
        for (index, call) in (0..).zip(calls) {
            let text = |name: &str| call[name].as_str().unwrap().to_owned();
            events.push(ModelEvent::CallStart { index, id: text("id"), tool: text("tool") });
            events.push(ModelEvent::Arguments { index, delta: call["with"].to_string() });
        }
        if events.is_empty() {
            events.push(ModelEvent::Text("done".to_owned()));
        }
        events.push(ModelEvent::Finish(FinishReason::Stop));
        Box::pin(futures_util::stream::iter(events))
    }
}

/// Notes that it began and ended; takes as long as its arguments say.
struct Act {
    spec: ToolSpec,
    ledger: Ledger,
}

#[async_trait]
impl Tool for Act {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        let call = cx.call().to_owned();
        self.ledger.note(format!("{call} began"));
        let ms = cx.arguments()["ms"].as_u64().unwrap_or(0);
        tokio::time::sleep(Duration::from_millis(ms)).await;
        self.ledger.note(format!("{call} ended"));
        ToolResult::Success(json!("acted"))
    }
}

/// Asks before calls whose arguments say so.
struct Asks;

#[async_trait]
impl Plugin for Asks {
    fn name(&self) -> &str {
        "asks"
    }

    fn phases(&self) -> Phases {
        Phases::of(&[Phase::BeforeToolExecute])
    }

    async fn before_tool_execute(
        &self,
        cx: &mut PhaseContext<'_>,
        call: &GateCall<'_>,
    ) -> Result<Verdict, PluginError> {
        let arguments = call.arguments();
        if call.decision().is_some() || arguments["ask"].is_null() && arguments["ask_for"].is_null() {
            return Ok(Verdict::Allow);
        }
        let mut suspension = Suspension::ask("approve", "may it?");
        if let Some(at_ms) = arguments["ask"].as_u64() {
            suspension = suspension.expiring_at(at_ms);
        }
        if let Some(ms) = arguments["ask_for"].as_u64() {
            suspension = suspension.expiring_at(cx.now_ms() + ms);
        }
        Ok(Verdict::Suspend(suspension))
    }
}

/// Drives runs whose spec is a script, and notes how they ended.
pub struct Scripts {
    pub ledger: Ledger,
    pub mode: ExecutionMode,
    pub when_suspended: WhenSuspended,
    /// That of its runs; one that begins with each activation if this is not said.
    pub clock: Option<Arc<dyn Clock>>,
}

impl Scripts {
    fn new() -> Self {
        Scripts {
            clock: None,
            ledger: Ledger::default(),
            mode: ExecutionMode::Parallel,
            when_suspended: WhenSuspended::Park,
        }
    }
}

#[async_trait]
impl Executor for Scripts {
    async fn prepare(&self, run: &Loaded) -> Result<JobSpec, ExecutorError> {
        let steps: Vec<Vec<Value>> =
            serde_json::from_value(run.spec["steps"].clone()).map_err(ExecutorError::new)?;
        let act = |name: &str| ToolSpec::new(name, "acts");
        let tool = |spec| Act { spec, ledger: self.ledger.clone() };
        let agent = Agent::builder(Scripted(steps))
            .tool(tool(act("once")))
            .tool(tool(act("again").repeatable()))
            .plugin(Asks)
            .mode(self.mode)
            .when_suspended(self.when_suspended)
            .clock(self.clock.clone().unwrap_or_else(|| Arc::new(TokioClock::starting_at(0))))
            .build()
            .map_err(ExecutorError::new)?;
        Ok(JobSpec::new(agent, run.spec["message"].as_str().unwrap_or("go")))
    }

    fn ended(&self, run: &str, ended: &Ended) {
        self.ledger.note(format!("{run} {ended}"));
    }

    fn on_store_error(&self, error: &StoreError) {
        self.ledger.note(format!("trouble: {error}"));
    }

    fn on_store_recovered(&self) {
        self.ledger.note("reached again");
    }
}

/// A machine's clock: it goes on while timers stand still.
#[derive(Debug, Clone)]
pub struct Sleeper {
    awake: TokioClock,
    slept_ms: Arc<AtomicU64>,
}

impl Sleeper {
    pub fn new() -> Self {
        Sleeper { awake: TokioClock::starting_at(0), slept_ms: Arc::default() }
    }

    pub fn sleep_for_a_night(&self) {
        self.slept_ms.fetch_add(8 * 3_600_000, Ordering::Relaxed);
    }
}

impl Clock for Sleeper {
    fn now_ms(&self) -> u64 {
        self.awake.now_ms() + self.slept_ms.load(Ordering::Relaxed)
    }
}

pub struct World {
    pub store: Arc<dyn RunStore>,
    /// The clock of the store and of its machine.
    pub machine: Sleeper,
    pub host: Arc<Scripts>,
    pub clock: TokioClock,
}

impl World {
    pub fn new() -> Self {
        let machine = Sleeper::new();
        World::by(machine.clone(), Arc::new(MemoryStore::with_clock(machine)))
    }

    /// A world on that store, with a clock that began just now.
    pub fn on(store: Arc<dyn RunStore>) -> Self {
        World::by(Sleeper::new(), store)
    }

    pub fn by(machine: Sleeper, store: Arc<dyn RunStore>) -> Self {
        World { store, host: Arc::new(Scripts::new()), clock: machine.awake, machine }
    }

    pub fn in_mode(mut self, mode: ExecutionMode) -> Self {
        self.host = Arc::new(Scripts { mode, ..Scripts::new() });
        self
    }

    /// A host of runs by that clock, with the same ledger.
    pub fn host_by(&self, clock: impl Clock + 'static) -> Arc<Scripts> {
        Arc::new(Scripts { ledger: self.ledger().clone(), clock: Some(Arc::new(clock)), ..Scripts::new() })
    }

    pub fn waiting_in_place(mut self) -> Self {
        self.host = Arc::new(Scripts { when_suspended: WhenSuspended::WaitInPlace, ..Scripts::new() });
        self
    }

    pub fn ledger(&self) -> &Ledger {
        &self.host.ledger
    }

    pub fn worker(&self, name: &str) -> Worker {
        Worker::new(Arc::clone(&self.store), name)
            .clock(self.clock)
            .lease(Duration::from_secs(30))
            .poll(Duration::from_millis(100))
            .retry_delay(Duration::from_secs(60))
    }

    /// A run whose model asks for these calls, step by step.
    pub async fn create(&self, run: &str, steps: Value) {
        self.store.create(&NewRun::new(run, json!({ "steps": steps }), 0)).await.unwrap();
    }

    pub async fn loaded(&self, run: &str) -> Loaded {
        self.store.load(run).await.unwrap()
    }

    pub async fn status(&self, run: &str) -> String {
        let info = self.loaded(run).await.info;
        match info.reason {
            Some(reason) => format!("{} {reason}", info.status),
            None => info.status.to_string(),
        }
    }

    /// The stored trace conforms to the diagrams, numbers have no gap, and the run comes back as types.
    pub async fn is_sound(&self, run: &str) {
        let rows = self.store.trace(run, 0, usize::MAX).await.unwrap();
        let numbers: Vec<u64> = rows.iter().map(|row| row.seq).collect();
        assert_eq!(numbers, (1..=rows.len() as u64).collect::<Vec<_>>(), "{run}");
        let lines: String = rows.iter().map(|row| format!("{}\n", row.json)).collect();
        let report = check_jsonl(
            JsonlReader::new(lines.as_bytes()),
            &Rulebook::of(runstate::lifecycles().iter().copied()),
        )
        .unwrap();
        assert!(!matches!(report.verdict, TraceVerdict::Violates), "{run}: {}\n{lines}", report.summary());
        let state = self.loaded(run).await.stored.unwrap().restore().unwrap();
        assert_eq!(state.run().status(), self.loaded(run).await.info.status, "{run}");
        let last = rows
            .iter()
            .rev()
            .map(|row| Event::from_json(&row.json).unwrap())
            .find(|event| event.lifecycle == "run");
        assert_eq!(last.unwrap().to, state.run().status().name(), "{run}");
    }
}

pub fn call(id: &str, tool: &str, with: Value) -> Value {
    json!({ "id": id, "tool": tool, "with": with })
}
