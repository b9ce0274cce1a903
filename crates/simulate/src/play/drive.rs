//! From the first message to the end of the run, through crashes and waits.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use runstate::run::{AnyRun, RunStatus};
use runstate::termination::TerminationReason;
use runstate_agent::keys::Scope;
use runstate_agent::stop::StopConditions;
use runstate_agent::{
    ActivationError, Agent, Approvals, Inbox, Input, Outcome, RunHandles, RunState, StoredRun, cancel_run,
    inbox, run_loop, run_loop_stream,
};
use runstate_runtime::clock::TokioClock;
use tokio::time::{Instant, sleep_until};

use super::log::{Ended, Final, Seen, What};
use super::store::{Store, nothing_stored};
use super::world::{RUN, Sink, World, calls_of};
use super::{model, plugin, send, tool, veil};
use crate::case::{Case, ToolName, Trouble};

/// The maximum of loops of one case. A run that needs more does not progress.
const MOST_LOOPS: usize = 240;
/// A parked run without a decision for this time is cancelled.
const PATIENCE: Duration = Duration::from_secs(60);
/// A loop of this duration hangs.
const HANGS: Duration = Duration::from_secs(600);
/// The message of the user.
const NEVER_MIND: &str = "never mind";

/// Plays a case.
///
/// # Panics
/// If tokio cannot make a runtime.
pub fn play(case: &Case) -> Seen {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime of one thread").block_on(async {
        let world = World::new(case);
        let end = Play::new(&world).run().await;
        Seen { case: case.clone(), entries: world.take_entries(), trace: world.recorder.take(), end }
    })
}

/// The end of a loop, and the next action.
enum Next {
    /// It waits.
    Parked,
    /// It was dropped, and continues in memory.
    Again,
    /// The process died.
    Revive,
    /// It is over.
    Over,
}

/// The next action for a waiting run.
enum Parked {
    /// It continues.
    Goes(Input),
    /// The process died.
    Died,
    /// It is over.
    Over,
}

struct Play {
    world: Arc<World>,
    agent: Agent,
    store: Option<Store>,
    sink: Sink,
    life: u32,
    drops: Vec<Instant>,
    deaths: Vec<Instant>,
}

impl Play {
    fn new(world: &Arc<World>) -> Play {
        let case = &world.case;
        let times = |of: fn(&Trouble) -> Option<u64>| -> Vec<Instant> {
            let mut times: Vec<_> = case
                .troubles
                .iter()
                .filter_map(of)
                .map(|at| world.start + Duration::from_millis(at))
                .collect();
            times.sort();
            times
        };
        let drops = times(|trouble| if let Trouble::DropAt(at) = trouble { Some(*at) } else { None });
        let deaths = times(|trouble| if let Trouble::CrashAt(at) = trouble { Some(*at) } else { None });
        world.set_durable(nothing_stored());
        Play {
            agent: agent(world),
            store: case.committer.then(|| Store::new(world)),
            sink: Sink(Arc::clone(world)),
            life: 0,
            drops,
            deaths,
            world: Arc::clone(world),
        }
    }

    async fn run(mut self) -> Option<Final> {
        for (place, timed) in self.world.case.timed.iter().enumerate() {
            send::at_time(&self.world, place, timed);
        }
        if let Some(at_ms) = self.world.case.cancel_ms {
            let world = Arc::clone(&self.world);
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(at_ms)).await;
                world.note(What::Cancelled);
                world.token.cancel();
            });
        }
        // Without a decision, patience ends.
        let world = Arc::clone(&self.world);
        tokio::spawn(async move {
            tokio::time::sleep(PATIENCE * 5).await;
            world.note(What::Cancelled);
            world.token.cancel();
        });
        for at_ms in &self.world.case.messages {
            let (world, at_ms) = (Arc::clone(&self.world), *at_ms);
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(at_ms)).await;
                if world.is_parked() {
                    world.written.notify_one();
                } else if let Some(handle) = world.handle()
                    && handle.write(NEVER_MIND).await.is_ok_and(|taken| taken)
                {
                    world.note(What::Taken);
                }
            });
        }
        let (handle, mut decisions) = inbox();
        self.world.set_handle(Some(handle));
        let mut state = RunState::watched(RUN, &self.world.recorder);
        let mut input = Input::message("go");
        for _ in 0..MOST_LOOPS {
            let next = match self.one_loop(&mut state, &mut decisions, input).await {
                Next::Over => return self.finish(&state).await,
                Next::Again => Parked::Goes(Input::Resume),
                Next::Parked => self.parked(&mut state, &mut decisions).await,
                Next::Revive => Parked::Died,
            };
            match next {
                Parked::Goes(next) => input = next,
                Parked::Over => return self.finish(&state).await,
                Parked::Died => (state, decisions, input) = self.died()?,
            }
        }
        self.world.wrong("ends: the run goes in circles");
        None
    }

    /// The process is gone, and another takes over.
    fn died(&mut self) -> Option<(RunState, Inbox, Input)> {
        let (keep, events) = self.store.as_ref().map_or((0, 0), |store| (store.kept, store.events));
        self.world.note(What::Died { keep, events });
        self.life += 1;
        self.world.set_handle(None);
        let (handle, decisions) = inbox();
        self.world.set_handle(Some(handle));
        let (state, input) = self.revive()?;
        Some((state, decisions, input))
    }

    /// The run as a new process restores it.
    fn revive(&mut self) -> Option<(RunState, Input)> {
        let Some(store) = self.store.as_ref().filter(|store| !store.is_empty()) else {
            let state = RunState::watched(RUN, &self.world.recorder);
            self.world.revive(&state);
            return Some((state, Input::message("go")));
        };
        match store.restore() {
            Ok(mut state) => {
                state.watch(&self.world.recorder);
                self.world.revive(&state);
                Some((state, Input::Resume))
            }
            Err(error) => {
                self.world.wrong(format!("store: the committed run does not restore: {error}"));
                None
            }
        }
    }

    async fn one_loop(&mut self, state: &mut RunState, decisions: &mut Inbox, input: Input) -> Next {
        if state.run().status() == RunStatus::Done {
            // A restored finished run answers decisions.
            run_loop(&self.agent, state, Input::Resume, RunHandles::new().inbox(decisions)).await.ok();
            return Next::Over;
        }
        let message = input != Input::Resume;
        let (calls, status) = (calls_of(state), state.run().status());
        self.world.note(What::LoopBegan { life: self.life, message, calls, status });
        // A time in the past has no effect.
        let now = Instant::now();
        self.drops.retain(|at| *at > now);
        self.deaths.retain(|at| *at > now);
        let drop_at = next_of(&self.drops);
        let die_at = next_of(&self.deaths);
        let ended = {
            let mut io = RunHandles::new()
                .inbox(&mut *decisions)
                .events(&self.sink)
                .cancelled_by(self.world.token.clone());
            if let Some(store) = &mut self.store {
                store.mortal = true;
                io = io.committer(store);
            }
            let io = io.watch(&self.world.recorder);
            let driven = drive(&self.agent, state, input, io, self.world.case.streamed);
            tokio::select! {
                biased;
                () = self.world.death.notified() => Err(false),
                () = die_at => Err(false),
                () = drop_at => Err(true),
                () = tokio::time::sleep(HANGS) => {
                    self.world.wrong("ends: the loop hangs");
                    return Next::Over;
                }
                ended = driven => Ok(ended),
            }
        };
        match ended {
            Ok(ended) => self.ended(state, decisions, ended).await,
            Err(_) if self.world.is_endless() => {
                self.world.wrong("ends: the loop goes in circles");
                Next::Over
            }
            Err(alive) => {
                // A loop dropped during the commit of its end is over in memory and not in the store.
                let alive = alive && state.run().status() != RunStatus::Done;
                self.world.note(What::LoopEnded(Ended::Dropped { alive }));
                if alive { Next::Again } else { Next::Revive }
            }
        }
    }

    async fn ended(
        &mut self,
        state: &mut RunState,
        decisions: &mut Inbox,
        ended: Result<Outcome, ActivationError>,
    ) -> Next {
        let mut ended = ended;
        for _ in 0..8 {
            match ended {
                Ok(outcome) => {
                    let over = outcome.reason != TerminationReason::Suspended;
                    self.world.note(What::LoopEnded(Ended::Outcome(outcome.reason)));
                    if let Some(store) = &self.store {
                        compare(&self.world, store, state);
                    }
                    return if over { Next::Over } else { Next::Parked };
                }
                Err(ActivationError::Unfinished(unfinished)) => {
                    self.world.note(What::LoopEnded(Ended::Unfinished));
                    let Some(store) = &mut self.store else {
                        self.world.wrong("ends: unfinished without a committer");
                        return Next::Over;
                    };
                    store.mortal = false;
                    let io = RunHandles::new().committer(store).inbox(&mut *decisions).events(&self.sink);
                    let io = io.watch(&self.world.recorder);
                    ended =
                        unfinished.retry(&self.agent, state, io).await.map_err(ActivationError::Unfinished);
                }
                Err(ActivationError::NotCommitted(_)) => ended = self.cancel(state, decisions).await,
                Err(error) => {
                    self.world.wrong(format!("ends: {error}"));
                    return Next::Over;
                }
            }
        }
        self.world.wrong("ends: the end is never committed");
        Next::Over
    }

    async fn cancel(
        &mut self,
        state: &mut RunState,
        decisions: &mut Inbox,
    ) -> Result<Outcome, ActivationError> {
        let mut io = RunHandles::new().inbox(decisions).events(&self.sink).watch(&self.world.recorder);
        if let Some(store) = &mut self.store {
            store.mortal = false;
            io = io.committer(store);
        }
        cancel_run(&self.agent, state, io).await
    }

    /// Waits for an input to a parked run.
    async fn parked(&mut self, state: &mut RunState, decisions: &mut Inbox) -> Parked {
        let now = Instant::now();
        self.deaths.retain(|at| *at > now);
        let die_at = next_of(&self.deaths);
        let lapse = state.pending().iter().filter_map(|pending| pending.suspension.expires_at_ms).min();
        let lapse = lapse.map_or(HANGS, Duration::from_millis);
        self.world.set_parked(true);
        let input = tokio::select! {
            biased;
            () = self.world.token.cancelled() => None,
            () = die_at => {
                self.world.set_parked(false);
                self.world.note(What::LoopEnded(Ended::Dropped { alive: false }));
                return Parked::Died;
            }
            () = self.world.written.notified() => Some(Input::message(NEVER_MIND)),
            () = self.world.sent.notified() => Some(Input::Resume),
            () = sleep_until(self.world.start + lapse) => Some(Input::Resume),
            () = tokio::time::sleep(PATIENCE) => None,
        };
        self.world.set_parked(false);
        if let Some(input) = input {
            return Parked::Goes(input);
        }
        if !self.world.token.is_cancelled() {
            self.world.note(What::Cancelled);
        }
        let (calls, status) = (calls_of(state), state.run().status());
        self.world.note(What::LoopBegan { life: self.life, message: false, calls, status });
        let cancelled = self.cancel(state, decisions).await;
        if let Next::Parked = self.ended(state, decisions, cancelled).await {
            self.world.wrong("cancel: a cancelled run waits");
        }
        Parked::Over
    }

    async fn finish(&self, state: &RunState) -> Option<Final> {
        // The inbox is alive: decisions given to the run are answered now, without another loop.
        for _ in 0..64 {
            tokio::task::yield_now().await;
        }
        match self.world.unanswered() {
            0 => {}
            several => self
                .world
                .wrong(format!("replies: {several} decisions are not answered when the run is over")),
        }
        let reason = match state.run() {
            AnyRun::Done(run) => Some(run.reason().clone()),
            AnyRun::Running(_) | AnyRun::Waiting(_) => None,
        };
        let mut values = BTreeMap::new();
        if let Ok(stored) =
            StoredRun::of(state).map(|stored| serde_json::to_value(&stored).unwrap_or_default())
        {
            for scope in [Scope::Run, Scope::Thread] {
                for (name, value) in stored["values"][scope.to_string()].as_object().into_iter().flatten() {
                    values.insert(name.clone(), value.clone());
                }
            }
        }
        Some(Final {
            status: state.run().status(),
            reason,
            calls: calls_of(state),
            history: state.history().to_vec(),
            steps: state.steps(),
            values,
        })
    }
}

/// Checks that the stored run equals the run in memory, and is restored as such.
fn compare(world: &World, store: &Store, state: &RunState) {
    if store.is_behind() {
        return;
    }
    match store.restore() {
        Ok(restored) if *restored.history() == *state.history() => {}
        Ok(_) => world.wrong("history: the restored run differs from the run in memory"),
        Err(error) => world.wrong(format!("store: the committed run does not restore: {error}")),
    }
    store.compare(state);
}

async fn next_of(times: &[Instant]) {
    match times.first() {
        Some(at) => sleep_until(*at).await,
        None => std::future::pending().await,
    }
}

async fn drive<'a>(
    agent: &'a Agent,
    state: &'a mut RunState,
    input: Input,
    io: RunHandles<'a>,
    streamed: bool,
) -> Result<Outcome, ActivationError> {
    if !streamed {
        return run_loop(agent, state, input, io).await;
    }
    let mut events = run_loop_stream(agent, state, input, io);
    while events.next().await.is_some() {}
    events.outcome().await
}

fn agent(world: &Arc<World>) -> Agent {
    let case = &world.case;
    let mut agent = Agent::builder(model::Scripted(Arc::clone(world)))
        .mode(case.mode)
        .policy(case.policy)
        .when_suspended(case.when_suspended)
        .durability(case.durability)
        .clock(TokioClock::starting_at(0))
        .schemas(tool::Checked);
    if case.veiled {
        agent = agent.redact(veil::Veil);
    }
    for name in ToolName::THERE {
        agent = agent.tool(tool::Scripted::new(name, world));
    }
    for number in 0..2 {
        agent = agent.plugin(plugin::Scripted { world: Arc::clone(world), number });
    }
    for needs in case.approvals.iter().filter(|needs| needs.by_plugin) {
        agent = agent.plugin(Approvals::new().tool(needs.tool.name(), tool::approval(needs)));
    }
    let stop = StopConditions::new(case.stop.clone()).expect("conditions that make sense");
    agent.stop(stop).build().expect("an agent that makes sense")
}
