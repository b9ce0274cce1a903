//! From the first message to the end of all runs, through deaths.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use runstate::decision::{DecisionAction, Suspension};
use runstate::run::RunStatus;
use runstate::tool_result::ToolResult;
use runstate_agent::answer::{FinishReason, ModelEvent};
use runstate_agent::{
    Agent, CancellationToken, Incoming, InferenceRequest, Message, Model, ModelStream, Reply, Tool,
    ToolContext, ToolSpec, Unchecked, async_trait,
};
use runstate_runtime::clock::{Clock, TokioClock};
use runstate_store::{
    ApprovalFilter, ApprovalQuery, Executor, ExecutorError, JobSpec, Loaded, MemoryStore, NewRun, RunData,
    RunLists, RunQuery, Sent, StoreError, TraceRow, UserMessage, Worker, decide, send,
};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::case::{Post, Script, Talk};
use super::store::{Mortal, Process};

/// An observation.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The time.
    pub at_ms: u64,
    /// The observation.
    pub what: What,
}

/// The kinds of observations.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A message is about to be sent.
    Sending {
        /// Its place among the messages.
        post: usize,
    },
    /// The reply to a message; `None` if the sender died.
    Replied {
        /// Its place among the messages.
        post: usize,
        /// The reply.
        sent: Option<Sent>,
    },
    /// The store has a new run.
    Began {
        /// The place of its message.
        post: usize,
        /// The run.
        run: String,
        /// Its thread.
        thread: String,
        /// The previous run of the thread.
        after: Option<String>,
    },
    /// The store has a message for a waiting run.
    Superseded {
        /// The place of the message.
        post: usize,
        /// The run.
        run: String,
        /// The calls with open questions.
        open: Vec<String>,
        /// The status of the run.
        status: RunStatus,
    },
    /// The store has a commit.
    Committed {
        /// The run.
        run: String,
        /// Its status.
        status: RunStatus,
        /// The message that it takes.
        takes: Option<String>,
    },
    /// A model reads the messages of a run.
    Read {
        /// The run.
        run: String,
        /// The messages.
        history: Vec<Message>,
    },
    /// The reply to a decision.
    Decided {
        /// The run.
        run: String,
        /// The reply.
        reply: Reply,
    },
    /// The store has a requested cancellation.
    Cancelled {
        /// The run.
        run: String,
    },
    /// A process died.
    Died {
        /// The process.
        process: Process,
    },
    /// A wrong behaviour without a rule of the judge.
    Wrong(String),
}

/// A played conversation.
#[derive(Debug)]
pub struct Seen {
    /// The conversation.
    pub talk: Talk,
    /// The observations.
    pub entries: Vec<Entry>,
    /// The number of writes of the store.
    pub writes: u32,
    /// The runs at the end, with their traces.
    pub runs: BTreeMap<String, (Loaded, Vec<TraceRow>)>,
}

/// The environment of the runs, which survives each process.
#[derive(Debug)]
pub(super) struct World {
    pub(super) talk: Talk,
    pub(super) death: Notify,
    start: Instant,
    outside: Mutex<Outside>,
}

#[derive(Debug, Default)]
struct Outside {
    entries: Vec<Entry>,
    writes: u32,
    replied: usize,
}

impl World {
    fn lock(&self) -> MutexGuard<'_, Outside> {
        self.outside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note(&self, what: What) {
        let at_ms = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.lock().entries.push(Entry { at_ms, what });
    }

    pub(super) fn next_write(&self) -> u32 {
        let mut outside = self.lock();
        outside.writes += 1;
        outside.writes
    }
}

/// The time after which a conversation makes no progress. Deaths cost half a second each.
const MOST: Duration = Duration::from_secs(120);
/// The duration of leases.
const LEASE: Duration = Duration::from_millis(500);
/// The time between two looks at the store.
const LOOK: Duration = Duration::from_millis(10);
/// The time between two tries at a busy thread.
const AGAIN: Duration = Duration::from_millis(40);

/// Plays a conversation.
///
/// # Panics
/// If tokio cannot make a runtime.
pub fn play(talk: &Talk) -> Seen {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime of one thread").block_on(async {
        let clock = TokioClock::starting_at(1_000);
        let store = Arc::new(MemoryStore::with_clock(clock));
        let world = Arc::new(World {
            talk: talk.clone(),
            death: Notify::new(),
            start: Instant::now(),
            outside: Mutex::default(),
        });
        for (place, post) in talk.posts.iter().enumerate() {
            tokio::spawn(sender(Arc::clone(&world), Arc::clone(&store), clock, place, post.clone()));
        }
        tokio::spawn(people(Arc::clone(&world), Arc::clone(&store), clock));
        tokio::spawn(cancels(Arc::clone(&world), Arc::clone(&store)));
        if tokio::time::timeout(MOST, lives(&world, &store, clock)).await.is_err() {
            world.note(What::Wrong("stuck: the runs come to no end".to_owned()));
        }
        let runs = match runs(&store).await {
            Ok(runs) => runs,
            Err(error) => {
                world.note(What::Wrong(format!("unreadable: {error}")));
                BTreeMap::new()
            }
        };
        let (entries, writes) = {
            let mut outside = world.lock();
            (std::mem::take(&mut outside.entries), outside.writes)
        };
        Seen { talk: talk.clone(), entries, writes, runs }
    })
}

async fn runs(store: &MemoryStore) -> Result<BTreeMap<String, (Loaded, Vec<TraceRow>)>, StoreError> {
    let mut runs = BTreeMap::new();
    for info in store.runs(&RunQuery::all(1_000)).await? {
        let loaded = store.load(&info.id).await?;
        let trace = store.trace(&info.id, 0, usize::MAX).await?;
        runs.insert(info.id, (loaded, trace));
    }
    Ok(runs)
}

/// One worker after another, until all messages have replies and all runs are over.
async fn lives(world: &Arc<World>, store: &Arc<MemoryStore>, clock: TokioClock) {
    let host = Host(Arc::clone(world), clock);
    for life in 1_u32.. {
        let mortal = Mortal { inner: Arc::clone(store), world: Arc::clone(world), process: Process::Worker };
        let worker = Worker::new(Arc::new(mortal), format!("worker-{life}"))
            .clock(clock)
            .lease(LEASE)
            .poll(LOOK)
            .retry_delay(LOOK * 5)
            .concurrency(4)
            .set_aside_after(u32::MAX);
        tokio::select! {
            biased;
            () = world.death.notified() => {}
            worked = worker.run(&host, CancellationToken::new()) => {
                return world.note(What::Wrong(format!("worker: it ended by itself: {worked:?}")));
            }
            () = all_over(world, store) => return,
        }
    }
}

async fn all_over(world: &World, store: &MemoryStore) {
    loop {
        sleep(LOOK).await;
        let replied = world.lock().replied;
        let runs = store.runs(&RunQuery::all(1_000)).await.unwrap_or_default();
        if replied == world.talk.posts.len() && runs.iter().all(|run| run.status == RunStatus::Done) {
            return;
        }
    }
}

/// Sends a message, again after each death and at a busy thread.
async fn sender(world: Arc<World>, store: Arc<MemoryStore>, clock: TokioClock, place: usize, post: Post) {
    sleep(Duration::from_millis(post.at_ms)).await;
    let mortal = Mortal { inner: store, world: Arc::clone(&world), process: Process::Sender(place) };
    let mut tries = 0;
    loop {
        let message = UserMessage::new(&*post.id, &*post.text, clock.now_ms());
        let begin = |_, message: &UserMessage| -> Result<NewRun, StoreError> {
            let spec = json!({ "text": post.text, "script": post.script });
            // The number of a run that a command draws is new at each try.
            Ok(NewRun::new(format!("run-{place}-{tries}"), spec, message.at_ms))
        };
        world.note(What::Sending { post: place });
        let sent = match send(&mortal, &post.thread, &message, post.supersedes, begin).await {
            Ok(sent) => Some(sent),
            Err(StoreError::Unavailable(_)) => None,
            Err(error) => {
                world.note(What::Wrong(format!("send: message {place}: {error}")));
                break;
            }
        };
        world.note(What::Replied { post: place, sent: sent.clone() });
        tries += 1;
        match sent {
            None => sleep(Duration::from_millis(1)).await,
            Some(Sent::Busy { .. }) if tries < post.tries => sleep(AGAIN).await,
            Some(_) => break,
        }
    }
    world.lock().replied += 1;
}

/// Answers each question once its time has come.
async fn people(world: Arc<World>, store: Arc<MemoryStore>, clock: TokioClock) {
    let mut due: BTreeMap<String, u64> = BTreeMap::new();
    loop {
        sleep(LOOK).await;
        let query = ApprovalQuery::new(ApprovalFilter::All, 1_000);
        for approval in store.approvals(&query).await.unwrap_or_default() {
            let (id, now) = (approval.suspension.id, clock.now_ms());
            // Each question has a delay of its own.
            let sum = id.bytes().fold(world.talk.seed, |sum, byte| sum.wrapping_mul(31) ^ u64::from(byte));
            let at_ms = *due.entry(id.clone()).or_insert(now + sum % world.talk.answers_ms);
            if now < at_ms {
                continue;
            }
            let mut incoming =
                Incoming::new(format!("on {id}"), &*approval.call, DecisionAction::Resume).on(id);
            incoming.run_id = Some(approval.run.clone());
            match decide(&*store, &incoming, now, &Unchecked).await {
                Ok(reply) => world.note(What::Decided { run: approval.run, reply }),
                Err(error) => world.note(What::Wrong(format!("decide: {error}"))),
            }
        }
    }
}

async fn cancels(world: Arc<World>, store: Arc<MemoryStore>) {
    for cancel in &world.talk.cancels {
        sleep(Duration::from_millis(cancel.at_ms)).await;
        let last = store.last_of_thread(&cancel.thread).await;
        let Ok(Some(run)) = last else { continue };
        if let Ok(true) = store.cancel(&run, "not wanted any more").await {
            world.note(What::Cancelled { run });
        }
    }
}

/// The agents of the runs.
struct Host(Arc<World>, TokioClock);

#[async_trait]
impl Executor for Host {
    async fn prepare(&self, run: &Loaded) -> Result<JobSpec, ExecutorError> {
        let script: Script =
            serde_json::from_value(run.spec["script"].clone()).map_err(ExecutorError::new)?;
        let text = run.spec["text"].as_str().unwrap_or_default().to_owned();
        let model = Scripted { world: Arc::clone(&self.0), run: run.info.id.clone(), script };
        let agent =
            Agent::builder(model).tool(Act::new()).clock(self.1).build().map_err(ExecutorError::new)?;
        Ok(JobSpec::new(agent, text))
    }
}

struct Scripted {
    world: Arc<World>,
    run: String,
    script: Script,
}

impl Model for Scripted {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        let history = request.history.to_vec();
        self.world.note(What::Read { run: self.run.clone(), history });
        let at = usize::try_from(request.step).unwrap_or(usize::MAX);
        let step = self.script.steps.get(at.saturating_sub(1));
        let mut events = Vec::new();
        for (index, asks) in (0..).zip(step.map_or(&[][..], |step| &step.calls)) {
            let (id, tool) = (format!("s{at}c{index}"), "act".to_owned());
            events.push(ModelEvent::CallStart { index, id, tool });
            events.push(ModelEvent::Arguments { index, delta: json!({ "asks": asks }).to_string() });
        }
        if events.is_empty() {
            events.push(ModelEvent::Text("done".to_owned()));
        }
        events.push(ModelEvent::Finish(FinishReason::Stop));
        let think = Duration::from_millis(step.map_or(0, |step| step.think_ms));
        let thought = async move {
            sleep(think).await;
            futures_util::stream::iter(events)
        };
        Box::pin(futures_util::stream::once(thought).flatten())
    }
}

/// A tool that asks a person if its arguments say so.
struct Act(ToolSpec);

impl Act {
    fn new() -> Self {
        Act(ToolSpec::new("act", "Acts.").repeatable())
    }
}

#[async_trait]
impl Tool for Act {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        if cx.arguments()["asks"] == true && cx.decision().is_none() {
            return ToolResult::Pending(Suspension::ask("approve", "may it?"));
        }
        sleep(Duration::from_millis(3)).await;
        ToolResult::Success(json!({ "acted": cx.call() }))
    }
}
