//! Tools and plugins that panic where they make their future, before it is polled; and sinks of events that do.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;

use futures_util::{FutureExt, StreamExt};
use runstate::kernel::{Edge, Graph, Observe, Observer};
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate::tool_result::ToolResult;
use runstate_agent::event::{AgentEvent, EventSink};
use runstate_agent::{
    ActivationError, GateCall, Input, ObserverFactory, Phase, PhaseContext, Phases, Plugin, PluginError,
    RunHandles, RunState, StateError, StoredRun, Tool, ToolContext, ToolSpec, Verdict, cancel_run, run_loop,
    run_loop_stream,
};

use super::parts::{World, statuses};

struct HandWritten(ToolSpec);

impl Tool for HandWritten {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'s, 'c, 'f>(
        &'s self,
        _: &'c mut ToolContext,
    ) -> Pin<Box<dyn Future<Output = ToolResult> + Send + 'f>>
    where
        's: 'f,
        'c: 'f,
        Self: 'f,
    {
        resume_unwind(Box::new("out of paper"))
    }
}

/// Panics in one phase.
struct Careless(Phase);

impl Careless {
    fn in_phase<'f, T>(&self, phase: Phase, well: T) -> Pin<Box<dyn Future<Output = T> + Send + 'f>>
    where
        T: Send + 'f,
    {
        if self.0 == phase {
            resume_unwind(Box::new("out of ink"));
        }
        Box::pin(std::future::ready(well))
    }
}

impl Plugin for Careless {
    fn name(&self) -> &str {
        "careless"
    }

    fn phases(&self) -> Phases {
        Phases::of(&[self.0])
    }

    fn run_start<'s, 'p, 'c, 'f>(
        &'s self,
        _: &'p mut PhaseContext<'c>,
    ) -> Pin<Box<dyn Future<Output = Result<(), PluginError>> + Send + 'f>>
    where
        's: 'f,
        'p: 'f,
        'c: 'f,
        Self: 'f,
    {
        self.in_phase(Phase::RunStart, Ok(()))
    }

    fn before_tool_execute<'s, 'p, 'c, 'g, 'a, 'f>(
        &'s self,
        _: &'p mut PhaseContext<'c>,
        _: &'g GateCall<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<Verdict, PluginError>> + Send + 'f>>
    where
        's: 'f,
        'p: 'f,
        'c: 'f,
        'g: 'f,
        'a: 'f,
        Self: 'f,
    {
        self.in_phase(Phase::BeforeToolExecute, Ok(Verdict::Allow))
    }

    fn step_end<'s, 'p, 'c, 'f>(
        &'s self,
        _: &'p mut PhaseContext<'c>,
    ) -> Pin<Box<dyn Future<Output = Result<(), PluginError>> + Send + 'f>>
    where
        's: 'f,
        'p: 'f,
        'c: 'f,
        Self: 'f,
    {
        self.in_phase(Phase::StepEnd, Ok(()))
    }

    fn run_end<'s, 'p, 'c, 'r, 'f>(
        &'s self,
        _: &'p mut PhaseContext<'c>,
        _: &'r TerminationReason,
    ) -> Pin<Box<dyn Future<Output = Result<(), PluginError>> + Send + 'f>>
    where
        's: 'f,
        'p: 'f,
        'c: 'f,
        'r: 'f,
        Self: 'f,
    {
        self.in_phase(Phase::RunEnd, Ok(()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_before_its_future_is_there_fails_its_call() {
    for stream in [false, true] {
        let mut world = World::new(&[&[("a", "hand_written"), ("b", "read")]]);
        world.stream = stream;
        world.tools.push(Arc::new(HandWritten(ToolSpec::new("hand_written", ""))));
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
        assert_eq!(statuses(&world.restored()), ["a Failed", "b Succeeded"]);
        assert_eq!(world.script.seen()[1][2], "a: error: the tool panicked: out of paper");
    }
}

#[tokio::test(start_paused = true)]
async fn a_plugin_that_panics_before_its_future_is_there_ends_the_run() {
    for phase in [Phase::RunStart, Phase::BeforeToolExecute, Phase::StepEnd] {
        let mut world = World::new(&[&[("a", "read")]]);
        world.plugins.push(Arc::new(Careless(phase)));
        let mut state = world.state();
        let outcome = world.start(&mut state).await;
        let said = format!("error:plugin \"careless\" panicked in {phase}: out of ink");
        assert_eq!(outcome.reason.to_string(), said);
        assert_eq!(world.restored().run().status(), RunStatus::Done);
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_panics_at_the_end_changes_it_no_more() {
    let mut world = World::new(&[]);
    world.plugins.push(Arc::new(Careless(Phase::RunEnd)));
    let mut state = world.state();
    let outcome = world.start(&mut state).await;
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    assert_eq!(outcome.problems, ["plugin \"careless\" panicked in RunEnd: out of ink"]);
}

/// Panics at the first event of that kind.
struct Fragile(std::sync::atomic::AtomicUsize);

impl EventSink for Fragile {
    fn emit(&self, _: &Arc<AgentEvent>) {
        if self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 2 {
            resume_unwind(Box::new("the screen is gone"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn panicking_event_sink_gets_no_more_events_and_run_continues() {
    for streams in [false, true] {
        let world = World::new(&[&[("a", "read")]]);
        let (agent, sink) = (world.agent(), Fragile(0.into()));
        let mut state = RunState::new("r1");
        let io = RunHandles::new().events(&sink);
        let (outcome, told) = if streams {
            let mut stream = run_loop_stream(&agent, &mut state, Input::message("go"), io);
            let mut told = 0;
            while stream.next().await.is_some() {
                told += 1;
            }
            (stream.into_outcome().unwrap().unwrap(), told)
        } else {
            (run_loop(&agent, &mut state, Input::message("go"), io).await.unwrap(), 0)
        };
        assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
        assert_eq!(outcome.problems, ["an event sink panicked: it gets no more events"]);
        assert_eq!(sink.0.into_inner(), 3);
        assert_eq!(told > 10, streams, "the stream has its own reader: {told}");
    }
}

/// Panics when it is told of a transition of a call into `Succeeded`.
struct Bomb;

impl Observe for Bomb {
    fn created(&self, _: u32, _: &'static Graph) {}

    fn moved(&self, _: u32, graph: &'static Graph, edge: &'static Edge) {
        if graph.name == "tool_call" && edge.to == "Succeeded" {
            resume_unwind(Box::new("the disk of the log is full"));
        }
    }
}

impl ObserverFactory for Bomb {
    fn observer(&self, _: &'static str, _: &str) -> Observer {
        Observer::new(Arc::new(Bomb), 0)
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_lost_to_an_observer_is_refused_with_a_type() {
    let world = World::new(&[&[("a", "read")]]);
    let (agent, mut state) = (world.agent(), RunState::new("r1"));
    let drive = run_loop(&agent, &mut state, Input::message("go"), RunHandles::new().watch(&Bomb));
    assert!(AssertUnwindSafe(drive).catch_unwind().await.is_err());

    let lost = state.lost().expect("the call is lost");
    assert_eq!((lost.lifecycle(), lost.status()), ("tool_call", "Running"));
    let again = run_loop(&agent, &mut state, Input::Resume, RunHandles::new()).await;
    assert!(matches!(again, Err(ActivationError::Lost(_))), "{again:?}");
    let cancelled = cancel_run(&agent, &mut state, RunHandles::new()).await;
    assert!(matches!(cancelled, Err(ActivationError::Lost(_))), "{cancelled:?}");
    let stored = StoredRun::of(&state);
    assert!(matches!(stored, Err(StateError::Lost(_))), "{stored:?}");
    // A run whose observers do not panic has all its machines.
    let mut whole = RunState::new("r2");
    run_loop(&agent, &mut whole, Input::message("go"), RunHandles::new()).await.unwrap();
    assert!(whole.lost().is_none());
}
