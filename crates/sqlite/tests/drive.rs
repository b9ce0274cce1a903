//! Runs to fill a store with: a model that asks for so many rounds of calls, a gate that asks a person, decisions.

use std::sync::Arc;

use std::time::Duration;

use runstate::decision::{DecisionAction, Suspension};
use runstate::tool_result::ToolResult;
use runstate::trace::Recorder;
use runstate_agent::answer::{FinishReason, ModelEvent};
use runstate_agent::stop::{StopConditionSpec, StopConditions};
use runstate_agent::{
    Agent, GateCall, Inbox, Incoming, InferenceRequest, Input, Message, Model, ModelStream, Phase,
    PhaseContext, Phases, Plugin, PluginError, RunHandles, RunState, Tool, ToolContext, ToolSpec, Unchecked,
    Verdict, async_trait, inbox, run_loop,
};
use runstate_runtime::clock::Clock;
use runstate_store::{
    Approval, ApprovalFilter, ApprovalQuery, Claim, Commit, Lease, Loaded, NewRun, Release, RunStore,
    StoreCommitter, decide,
};
use runstate_store_conformance::RecordingStore;
use serde_json::{Value, json};

/// Asks for a round of calls, so many times, and then says that it is done.
struct Script {
    rounds: usize,
    calls: u32,
}

impl Model for Script {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        let turns = request.history.iter().filter(|message| matches!(message, Message::Assistant(_))).count();
        let mut events = vec![ModelEvent::Text(format!("turn {turns}"))];
        if turns < self.rounds {
            for index in 0..self.calls {
                let id = format!("call_{turns}_{index}");
                events.push(ModelEvent::CallStart { index, id, tool: "note".to_owned() });
                let delta = json!({ "turn": turns, "text": "remember the milk" }).to_string();
                events.push(ModelEvent::Arguments { index, delta });
            }
            events.push(ModelEvent::Finish(FinishReason::ToolCalls));
        } else {
            events.push(ModelEvent::Finish(FinishReason::Stop));
        }
        Box::pin(futures_util::stream::iter(events))
    }
}

struct Note(ToolSpec);

#[async_trait]
impl Tool for Note {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        ToolResult::Success(json!({ "noted": cx.arguments()["text"] }))
    }
}

/// Asks a person before each call, in time or for ever.
struct Ask {
    expires_at_ms: Option<u64>,
}

#[async_trait]
impl Plugin for Ask {
    fn name(&self) -> &str {
        "ask"
    }

    fn phases(&self) -> Phases {
        Phases::of(&[Phase::BeforeToolExecute])
    }

    async fn before_tool_execute(
        &self,
        _: &mut PhaseContext<'_>,
        call: &GateCall<'_>,
    ) -> Result<Verdict, PluginError> {
        if call.decision().is_some() {
            return Ok(Verdict::Allow);
        }
        let ask = Suspension::ask("approve", "is it fine?");
        Ok(Verdict::Suspend(match self.expires_at_ms {
            Some(at) => ask.expiring_at(at),
            None => ask,
        }))
    }
}

/// What a run does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plot {
    pub(crate) rounds: usize,
    pub(crate) calls: u32,
    /// Does a person have to be asked, and until when?
    pub(crate) asks: Option<Option<u64>>,
}

impl Plot {
    pub(crate) fn of(rounds: usize, calls: u32) -> Self {
        Plot { rounds, calls, asks: None }
    }

    pub(crate) fn asking(rounds: usize, calls: u32) -> Self {
        Plot { asks: Some(None), ..Plot::of(rounds, calls) }
    }

    pub(crate) fn agent(self) -> Agent {
        let agent = Agent::builder(Script { rounds: self.rounds, calls: self.calls })
            .tool(Note(ToolSpec::new("note", "Notes it.")))
            .clock(Still(1_000))
            .stop(StopConditions::new(vec![StopConditionSpec::MaxRounds { rounds: 100_000 }]).unwrap());
        let agent = match self.asks {
            Some(expires_at_ms) => agent.plugin(Ask { expires_at_ms }),
            None => agent,
        };
        agent.build().unwrap()
    }
}

/// A clock that stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Still(pub(crate) u64);

impl Clock for Still {
    fn now_ms(&self) -> u64 {
        self.0
    }
}

/// Takes the run in hand, drives it until it waits or is over, and gives it back.
pub(crate) async fn drive(store: &Arc<dyn RunStore>, run: &str, plot: Plot) -> Loaded {
    let lease = store.claim(&Claim::of(run, "driver", Duration::MAX)).await.unwrap().unwrap();
    drive_under(store, &lease, plot).await;
    store.release(&lease, &Release::clean()).await.unwrap();
    store.load(run).await.unwrap()
}

pub(crate) async fn drive_under(store: &Arc<dyn RunStore>, lease: &Lease, plot: Plot) {
    let loaded = store.load(&lease.run).await.unwrap();
    let recorder = Recorder::builder(&*lease.run).first_seq(loaded.traced + 1).clock(|| 0).build();
    let clock = Arc::new(Still(1_000));
    let mut committer = StoreCommitter::new(store.clone(), lease.clone(), &loaded, recorder.clone(), clock);
    let mut lost = committer.lost();
    let (mut state, input, mut inbox) = begin(store, lease, &loaded, &recorder).await;
    let agent = plot.agent();
    let io = RunHandles::new().committer(&mut committer).inbox(&mut inbox).watch(&recorder);
    tokio::select! {
        outcome = run_loop(&agent, &mut state, input, io) => drop(outcome.unwrap()),
        why = lost.wait_for(Option::is_some) => panic!("{why:?}"),
    }
}

async fn begin(
    store: &Arc<dyn RunStore>,
    lease: &Lease,
    loaded: &Loaded,
    recorder: &Recorder,
) -> (RunState, Input, Inbox) {
    let (_handle, mut inbox) = inbox();
    let Some(stored) = &loaded.stored else {
        return (RunState::watched(&*lease.run, recorder), Input::message("tidy up"), inbox);
    };
    let mut state = stored.restore().unwrap();
    state.watch(recorder);
    for decision in store.pending_signals(&lease.run).await.unwrap().decisions {
        inbox.put(incoming(&decision));
    }
    (state, Input::Resume, inbox)
}

fn incoming(decision: &runstate::decision::Decision) -> Incoming {
    let mut incoming = Incoming::new(&*decision.decision_id, &*decision.call, decision.action);
    incoming.suspension_id = Some(decision.suspension_id.clone());
    incoming.run_id = Some(decision.run_id.clone());
    incoming.digest.clone_from(&decision.digest);
    incoming.decided_at_ms = Some(decision.decided_at_ms);
    incoming
}

pub(crate) async fn create(store: &Arc<dyn RunStore>, run: &str) {
    store.create(&NewRun::new(run, Value::Null, 7).titled("a run")).await.unwrap();
}

pub(crate) async fn waiting(store: &Arc<dyn RunStore>) -> Vec<Approval> {
    store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 1_000)).await.unwrap()
}

/// Approves all that waits.
pub(crate) async fn approve_all(store: &Arc<dyn RunStore>) -> usize {
    let waiting = waiting(store).await;
    for approval in &waiting {
        let mut incoming =
            Incoming::new(format!("d-{}", approval.suspension.id), &*approval.call, DecisionAction::Resume);
        incoming.run_id = Some(approval.run.clone());
        incoming.suspension_id = Some(approval.suspension.id.clone());
        let reply = decide(&**store, &incoming, 2_000, &Unchecked).await.unwrap();
        assert_eq!(reply, runstate_agent::Reply::Accepted);
    }
    waiting.len()
}

/// The commits of a whole run `r1`.
pub(crate) async fn commits(plot: Plot) -> Vec<Commit> {
    let taped = Arc::new(RecordingStore::default());
    let store: Arc<dyn RunStore> = Arc::clone(&taped) as _;
    create(&store, "r1").await;
    drive(&store, "r1", plot).await;
    taped.commits("r1")
}
