//! The executor of runs for a worker.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use runstate_agent::event::{AgentEvent, EventKind, EventSink};
use runstate_runtime::clock::UnixClock;
use runstate_store::{Ended, Executor, ExecutorError, JobSpec, Loaded, StoreError};

use crate::agents::AgentFiles;
use crate::failure::Failure;
use crate::migrations;
use crate::output::{complain, printable, say};
use crate::runs::Marks;
use crate::spec::Spec;
use crate::store::quoted;

/// Drives runs of scenarios and of agents, in real time.
pub(crate) struct RunExecutor {
    clock: UnixClock,
    state_dir: Option<PathBuf>,
    marks: Arc<Marks>,
    left: Mutex<Left>,
    agents: AgentFiles,
    /// The receiver of the events of agents, and whether it shows text as it arrives. None: one line for each run.
    told: Option<(Arc<dyn EventSink>, bool)>,
}

/// Runs that were ready and not driven.
#[derive(Debug, Default)]
struct Left {
    runs: BTreeSet<String>,
    is_damaged: bool,
}

impl RunExecutor {
    /// An executor with that clock, that folder of all runs, and their commit numbers.
    pub(crate) fn new(clock: UnixClock, state_dir: Option<PathBuf>, marks: Arc<Marks>) -> Self {
        RunExecutor { clock, state_dir, marks, left: Mutex::default(), agents: AgentFiles::None, told: None }
    }

    /// Sets the agent files that may be executed. Default: none.
    pub(crate) fn with_agents(mut self, agents: AgentFiles) -> Self {
        self.agents = agents;
        self
    }

    /// Sets the receiver of events of agents, and whether it shows text as it arrives.
    #[cfg(feature = "agents")]
    pub(crate) fn telling(mut self, told: Arc<dyn EventSink>, streams: bool) -> Self {
        self.told = Some((told, streams));
        self
    }

    /// Is there a run that could not be driven or read?
    pub(crate) fn has_left(&self) -> bool {
        let left = self.left();
        left.is_damaged || !left.runs.is_empty()
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn job(&self, run: &Loaded) -> Result<JobSpec, Failure> {
        let spec = Spec::of(run)?;
        let checked = self.marks.check(&run.info.id, spec.token(), run.info.version);
        checked.map_err(|why| {
            let run = quoted(&run.info.id);
            Failure::new(format!(
                "{why}; restore the newer store, or continue from this one with `runstate resume {run} --restored --detach`: calls that executed \
                 since then execute again"
            ))
        })?;
        let told = || Arc::new(Told { run: run.info.id.clone() }) as Arc<dyn EventSink>;
        let (agent, message, events) = match &spec {
            Spec::Agent { name, agent, message, .. } => {
                let (events, streams) = self.told.clone().unwrap_or_else(|| (told(), false));
                (self.agents.find(name, agent)?.agent(streams, spec.token()).await?, message.clone(), events)
            }
            Spec::Scenario { .. } => {
                let scenario = spec.scenario()?;
                let tools = spec.tools(&scenario, self.state_dir.as_deref(), &run.info.id)?;
                let agent = runstate_scenario::agent(&scenario, &tools, self.clock)
                    .map_err(|error| Failure::new(error.to_string()))?;
                (agent, scenario.message, told())
            }
        };
        Ok(JobSpec::new(agent, message)
            .events(events)
            .migrated_by(migrations::OF_RUNS.into(), migrations::OF_CALLS.into()))
    }
}

#[async_trait]
impl Executor for RunExecutor {
    async fn prepare(&self, run: &Loaded) -> Result<JobSpec, ExecutorError> {
        self.job(run).await.map_err(|failure| ExecutorError::new(failure.message()))
    }

    fn ended(&self, run: &str, ended: &Ended) {
        let is_left = match ended {
            Ended::Deferred(_) => true,
            // A run of another process is driven there.
            Ended::Lost(error) => !matches!(**error, StoreError::Fenced { .. } | StoreError::NoRun { .. }),
            _ => false,
        };
        if is_left {
            self.left().runs.insert(run.to_owned());
        } else {
            self.left().runs.remove(run);
        }
        if self.told.is_some() {
            return;
        }
        say(&printable(&format!("{run:<20} {}", in_short(ended))));
    }

    fn on_store_error(&self, error: &StoreError) {
        self.left().is_damaged |= matches!(error, StoreError::Unusable { .. });
        complain(&printable(&format!("warning: {error}")));
    }

    fn on_store_recovered(&self) {
        complain("the store can be reached again");
    }
}

/// The maximum of calls named on one line.
const NAMED: usize = 5;

/// How a run was released, in a readable line.
fn in_short(ended: &Ended) -> String {
    match ended {
        Ended::Waits(calls) if calls.len() > NAMED => {
            let (named, others) = calls.split_at(NAMED);
            format!("waits for {} and {} more", named.join(", "), others.len())
        }
        ended => ended.to_string(),
    }
}

/// Reports the progress of a run's calls.
#[derive(Debug)]
struct Told {
    run: String,
}

impl EventSink for Told {
    fn emit(&self, event: &Arc<AgentEvent>) {
        match &event.kind {
            EventKind::RunStarted { .. } => say(&printable(&format!("{:<20} continues", self.run))),
            EventKind::Error { message } => complain(&printable(&format!("{}: {message}", self.run))),
            _ => {}
        }
    }
}
