//! The scripted model, tools and plugins of an agent, and the record of their calls.

mod asks;
mod ledger;
mod model;
mod plugin;
mod redact;
mod requests;
mod tool;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use runstate_agent::stop::{StopConditionSpec, StopConditions};
use runstate_agent::{Agent, ConfigError, Tool, WhenSuspended};
use runstate_runtime::clock::Clock;
use runstate_schema::JsonSchemas;

use crate::Scenario;

pub(crate) use asks::{Asks, IN_DOUBT};
pub use ledger::{Effect, Ledger};
pub use requests::{ModelRequest, Requests};

/// The shared state of a stage.
#[derive(Clone)]
pub(crate) struct Cast {
    clock: Arc<dyn Clock>,
    ledger: Ledger,
    requests: Requests,
    asks: Asks,
    gone: Gone,
}

/// Is the process gone? Pending actions in it do not happen any more.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gone(Arc<AtomicBool>);

impl Gone {
    pub(crate) fn is(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn go(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Cast {
    pub(crate) fn new(clock: Arc<dyn Clock>, ledger: Ledger, requests: Requests, asks: Asks) -> Self {
        Cast { clock, ledger, requests, asks, gone: Gone::default() }
    }

    pub(crate) fn gone(&self) -> Gone {
        self.gone.clone()
    }
}

/// The agent of a scenario for a worker: the scripted model, tools and plugins, with `tools` beside them. External steps do
/// not happen by themselves, and a run with waiting calls is parked, whatever the scenario says: its driver waits.
///
/// # Errors
/// A scenario that makes no valid agent.
pub fn agent(
    scenario: &Scenario,
    tools: &[Arc<dyn Tool>],
    clock: impl Clock + 'static,
) -> Result<Agent, ConfigError> {
    let mut parked = scenario.clone();
    parked.when_suspended = WhenSuspended::Park;
    let cast = Cast::new(Arc::new(clock), Ledger::default(), Requests::default(), Asks::blind());
    cast_agent(&parked, tools, cast)
}

/// The agent of a scenario, with `tools` beside the scripted ones.
pub(crate) fn cast_agent(
    scenario: &Scenario,
    tools: &[Arc<dyn Tool>],
    cast: Cast,
) -> Result<Agent, ConfigError> {
    let mut stop = scenario.stop.clone();
    stop.push(StopConditionSpec::MaxRounds { rounds: scenario.limits.max_rounds });
    let model = model::Script::new(scenario.model.clone(), cast.clone());
    let mut agent = Agent::builder(model)
        .mode(scenario.mode)
        .policy(scenario.policy)
        .when_suspended(scenario.when_suspended)
        .durability(scenario.commits.level)
        .stop(StopConditions::new(stop)?)
        .schemas(JsonSchemas::new())
        .clock(Arc::clone(&cast.clock))
        .plugins(plugin::all(scenario))
        .tools(tools.iter().cloned());
    for (name, scripted) in &scenario.tools {
        agent = agent.tool(tool::Scripted::new(name, scripted, cast.clone()));
    }
    if scenario.redact {
        agent = agent.redact(redact::Hides);
    }
    if let Some(system) = &scenario.system {
        agent = agent.system(system.as_str());
    }
    for (name, value) in &scenario.parameters {
        agent = agent.parameter(name, value.clone());
    }
    agent.build()
}
