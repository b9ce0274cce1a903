//! Configuration of runs: a model, tools, plugins and the modes of their execution.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use runstate::tool_execution::Effect;
use runstate_runtime::clock::{Clock, unix_clock};
use serde_json::{Map, Value};

use super::event::Redact;
use super::model::Model;
use super::modes::{Durability, ExecutionMode, SuspensionPolicy, WhenSuspended};
use super::plugin::{Approvals, Extension, Phase, Plugin, Plugins};
use super::schema::{SchemaCheck, Unchecked};
use super::stop::{MOST_WINDOW, StopConditions, StopConfigError};
use super::tool::{Tool, ToolSpec};

/// The configuration that drives runs. It holds no state of a run, and can drive many runs at a time. A clone copies
/// a pointer.
#[derive(Clone)]
pub struct Agent {
    pub(super) config: Arc<Config>,
}

pub(super) struct Config {
    pub(super) model: Arc<dyn Model>,
    pub(super) tools: Tools,
    pub(super) plugins: Plugins,
    /// The number of recent calls among which repetitions are counted.
    pub(super) window: u32,
    pub(super) mode: ExecutionMode,
    pub(super) policy: SuspensionPolicy,
    pub(super) when_suspended: WhenSuspended,
    pub(super) durability: Durability,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) schemas: Arc<dyn SchemaCheck>,
    pub(super) redact: Option<Arc<dyn Redact>>,
    pub(super) system: Option<Arc<str>>,
    pub(super) parameters: Arc<Map<String, Value>>,
    /// The prefix of idempotency keys.
    pub(super) scope: Option<Arc<str>>,
}

/// The tools of an agent.
#[derive(Default)]
pub(super) struct Tools {
    by_name: HashMap<String, (Arc<dyn Tool>, Arc<ToolSpec>)>,
    pub(super) specs: Arc<[Arc<ToolSpec>]>,
}

impl Tools {
    pub(super) fn get(&self, name: &str) -> Option<(&Arc<dyn Tool>, &Arc<ToolSpec>)> {
        self.by_name.get(name).map(|(tool, spec)| (tool, spec))
    }

    /// The effect of a tool. An unknown tool counts as a tool that must not run twice.
    pub(super) fn effect(&self, name: &str) -> Effect {
        self.by_name.get(name).map_or(Effect::Once, |(_, spec)| spec.effect())
    }

    /// The names of the tools for which `shown` is true, separated by commas.
    pub(super) fn names(&self, shown: impl Fn(&str) -> bool) -> String {
        let mut names: Vec<_> =
            self.specs.iter().map(|spec| spec.name()).filter(|name| shown(name)).collect();
        names.sort_unstable();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

impl Config {
    /// The plugins that subscribe to the phase.
    pub(super) fn plugins_of(&self, phase: Phase) -> impl Iterator<Item = &Arc<dyn Plugin>> {
        let wants = move |extension: &&Extension| extension.phases.contains(phase);
        self.plugins.iter().filter(wants).map(|extension| &extension.plugin)
    }
}

impl Agent {
    /// Creates a builder for an agent with this model.
    pub fn builder(model: impl Model + 'static) -> AgentBuilder {
        AgentBuilder {
            model: Arc::new(model),
            tools: Vec::new(),
            plugins: Vec::new(),
            stop: StopConditions::default(),
            mode: ExecutionMode::default(),
            policy: SuspensionPolicy::default(),
            when_suspended: WhenSuspended::default(),
            durability: Durability::default(),
            clock: None,
            schemas: None,
            redact: None,
            system: None,
            parameters: Map::new(),
            scope: None,
        }
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plugins: Vec<_> = self.config.plugins.iter().map(|it| it.plugin.name()).collect();
        f.debug_struct("Agent")
            .field("tools", &self.config.tools.names(|_| true))
            .field("plugins", &plugins)
            .field("mode", &self.config.mode)
            .field("policy", &self.config.policy)
            .field("when_suspended", &self.config.when_suspended)
            .field("durability", &self.config.durability)
            .finish_non_exhaustive()
    }
}

/// Builder of an [`Agent`].
///
/// ```
/// use runstate_agent::answer::{FinishReason, ModelEvent};
/// use runstate_agent::stop::{StopConditionSpec, StopConditions};
/// use runstate_agent::{
///     Agent, ConfigError, ExecutionMode, InferenceRequest, Model, ModelStream, Tool, ToolContext, ToolSpec, async_trait,
/// };
/// use runstate::tool_result::ToolResult;
///
/// struct Brief;
///
/// impl Model for Brief {
///     fn infer(&self, _: InferenceRequest) -> ModelStream<'_> {
///         Box::pin(futures_util::stream::iter([ModelEvent::Finish(FinishReason::Stop)]))
///     }
/// }
///
/// struct Echo(ToolSpec);
///
/// #[async_trait]
/// impl Tool for Echo {
///     fn spec(&self) -> &ToolSpec {
///         &self.0
///     }
///
///     async fn call(&self, cx: &mut ToolContext) -> ToolResult {
///         ToolResult::Success(cx.arguments().clone())
///     }
/// }
///
/// let echo = || Echo(ToolSpec::new("echo", "Says it again.").repeatable());
/// let agent = Agent::builder(Brief)
///     .system("Be brief.")
///     .parameter("temperature", 0)
///     .tool(echo())
///     .mode(ExecutionMode::Concurrent)
///     .stop(StopConditions::new(vec![StopConditionSpec::MaxRounds { rounds: 20 }])?)
///     .build()?;
/// assert!(format!("{agent:?}").contains("echo"));
///
/// // `build` refuses an unusable configuration before any run begins.
/// let error = Agent::builder(Brief).tool(echo()).tool(echo()).build().unwrap_err();
/// assert_eq!(error.to_string(), "two tools are called \"echo\"; rename one of them");
/// let strict = Echo(ToolSpec::new("strict", "").with_schema(serde_json::json!({ "type": "object" })));
/// let error = Agent::builder(Brief).tool(strict).build().unwrap_err();
/// assert!(matches!(error, ConfigError::NoSchemaCheck { .. }), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "an agent is made by `build`"]
pub struct AgentBuilder {
    model: Arc<dyn Model>,
    tools: Vec<Arc<dyn Tool>>,
    plugins: Vec<Arc<dyn Plugin>>,
    stop: StopConditions,
    mode: ExecutionMode,
    policy: SuspensionPolicy,
    when_suspended: WhenSuspended,
    durability: Durability,
    clock: Option<Arc<dyn Clock>>,
    schemas: Option<Arc<dyn SchemaCheck>>,
    redact: Option<Arc<dyn Redact>>,
    system: Option<Arc<str>>,
    parameters: Map<String, Value>,
    scope: Option<Arc<str>>,
}

impl AgentBuilder {
    /// Adds a tool.
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Adds several tools.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Adds a plugin after the existing ones.
    pub fn plugin(mut self, plugin: impl Plugin + 'static) -> Self {
        self.plugins.push(Arc::new(plugin));
        self
    }

    /// Adds several plugins after the existing ones.
    pub fn plugins(mut self, plugins: impl IntoIterator<Item = Arc<dyn Plugin>>) -> Self {
        self.plugins.extend(plugins);
        self
    }

    /// Sets the stop conditions. Together they are one plugin after all other plugins ([`Plugin::stops`]). Default:
    /// none; a run continues as long as the model requests calls. A second call replaces the conditions of the first.
    pub fn stop(mut self, conditions: StopConditions) -> Self {
        self.stop = conditions;
        self
    }

    /// Sets the execution mode for the calls of a round. Default: [`ExecutionMode::Sequential`].
    pub fn mode(mut self, mode: ExecutionMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the policy for suspended calls. Default: [`SuspensionPolicy::WaitForAll`].
    pub fn policy(mut self, policy: SuspensionPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the behaviour of a run that waits. Default: [`WhenSuspended::Park`].
    pub fn when_suspended(mut self, when_suspended: WhenSuspended) -> Self {
        self.when_suspended = when_suspended;
        self
    }

    /// Sets which commits of a run are made durable. Default: each commit.
    ///
    /// ```
    /// use runstate_agent::answer::{FinishReason, ModelEvent};
    /// use runstate_agent::{
    ///     Agent, Durability, InferenceRequest, Input, RunHandles, MemoryCommitter, Model, ModelStream, RunState, Tool, ToolContext, ToolSpec,
    ///     async_trait, run_loop,
    /// };
    /// use runstate::checkpoint::Trigger;
    /// use runstate::tool_result::ToolResult;
    ///
    /// /// Calls the tool once, and ends.
    /// struct Looks;
    ///
    /// impl Model for Looks {
    ///     fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
    ///         let call = ModelEvent::CallStart { index: 0, id: "a".into(), tool: "look".into() };
    ///         let last = ModelEvent::Finish(FinishReason::Stop);
    ///         let events = if request.step == 1 { vec![call, last] } else { vec![last] };
    ///         Box::pin(futures_util::stream::iter(events))
    ///     }
    /// }
    ///
    /// struct Look(ToolSpec);
    ///
    /// #[async_trait]
    /// impl Tool for Look {
    ///     fn spec(&self) -> &ToolSpec {
    ///         &self.0
    ///     }
    ///     async fn call(&self, _: &mut ToolContext) -> ToolResult {
    ///         ToolResult::Success("green".into())
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let commits = async |spec: ToolSpec| {
    ///     let agent = Agent::builder(Looks).tool(Look(spec)).durability(Durability::Step).build()?;
    ///     let mut committer = MemoryCommitter::default();
    ///     let io = RunHandles::new().committer(&mut committer);
    ///     run_loop(&agent, &mut RunState::new("r1"), Input::message("go"), io).await?;
    ///     Ok::<Vec<Trigger>, Box<dyn std::error::Error>>(committer.triggers().collect())
    /// };
    /// use Trigger::{CallsStarted, RunFinished, ToolResultsCommitted, UserMessage};
    /// let look = ToolSpec::new("look", "Looks.");
    /// assert_eq!(commits(look.clone().repeatable()).await?, [UserMessage, ToolResultsCommitted, RunFinished]);
    ///
    /// // The start of a tool that must not run twice is made durable before the tool runs.
    /// assert_eq!(commits(look).await?, [UserMessage, CallsStarted, ToolResultsCommitted, RunFinished]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets the clock. Default: the clock of the machine.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Sets the validator of JSON Schemas. Default: none; [`build`](Self::build) then refuses tools with a schema.
    pub fn schemas(mut self, schemas: impl SchemaCheck + 'static) -> Self {
        self.schemas = Some(Arc::new(schemas));
        self
    }

    /// Sets the redaction of events. Default: none.
    pub fn redact(mut self, redact: impl Redact + 'static) -> Self {
        self.redact = Some(Arc::new(redact));
        self
    }

    /// Sets the system prompt. Default: none.
    pub fn system(mut self, prompt: impl Into<Arc<str>>) -> Self {
        self.system = Some(prompt.into());
        self
    }

    /// Sets one parameter of the model.
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// Sets the prefix of the [idempotency keys](crate::ToolContext::idempotency_key) of tools. Default: none. Runs of
    /// two stores may have equal ids: a server that both call needs a scope of each store, or of each run. The scope of a
    /// run must stay the same when the run continues.
    pub fn idempotency_scope(mut self, scope: impl Into<Arc<str>>) -> Self {
        self.scope = Some(scope.into());
        self
    }

    /// Builds the agent.
    ///
    /// # Errors
    /// [`ConfigError`] for two tools of the same name, a tool without a name, a tool with a schema and no validator,
    /// and a plugin that refers to an unknown tool.
    pub fn build(self) -> Result<Agent, ConfigError> {
        let mut by_name = HashMap::with_capacity(self.tools.len());
        let mut specs: Vec<Arc<ToolSpec>> = Vec::with_capacity(self.tools.len());
        let mut approvals = None;
        for tool in self.tools {
            let spec = Arc::new(tool.spec().clone());
            let name = spec.name().to_owned();
            if name.is_empty() {
                return Err(ConfigError::NamelessTool);
            }
            if spec.schema().is_some() && self.schemas.is_none() {
                return Err(ConfigError::NoSchemaCheck { tool: name });
            }
            if let Some(approval) = spec.approval() {
                let of: Approvals = approvals.take().unwrap_or_default();
                approvals = Some(of.tool(&name, approval.clone()));
            }
            specs.push(Arc::clone(&spec));
            if by_name.insert(name.clone(), (tool, spec)).is_some() {
                return Err(ConfigError::SameName { tool: name });
            }
        }
        let tools = Tools { by_name, specs: specs.into() };
        let mut plugins = self.plugins;
        for plugin in &plugins {
            if let Some(tool) = plugin.tools().into_iter().find(|tool| tools.get(tool).is_none()) {
                let (plugin, tool) = (plugin.name().to_owned(), tool.to_owned());
                return Err(ConfigError::NoSuchTool { plugin, tool, known: tools.names(|_| true) });
            }
        }
        if let Some(approvals) = approvals {
            plugins.insert(0, Arc::new(approvals));
        }
        if self.stop.specs().next().is_some() {
            plugins.push(Arc::new(self.stop));
        }
        let plugins = plugins.into_iter();
        let plugins: Plugins = plugins.map(|plugin| Extension { phases: plugin.phases(), plugin }).collect();
        let window = plugins.iter().map(|it| it.plugin.window()).max().unwrap_or(0).min(MOST_WINDOW);
        let config = Config {
            model: self.model,
            tools,
            plugins,
            window,
            mode: self.mode,
            policy: self.policy,
            when_suspended: self.when_suspended,
            durability: self.durability,
            clock: self.clock.unwrap_or_else(|| Arc::new(unix_clock())),
            schemas: self.schemas.unwrap_or_else(|| Arc::new(Unchecked)),
            redact: self.redact,
            system: self.system,
            parameters: Arc::new(self.parameters),
            scope: self.scope,
        };
        Ok(Agent { config: Arc::new(config) })
    }
}

impl fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder").field("tools", &self.tools.len()).finish_non_exhaustive()
    }
}

/// The reason why an agent could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A tool has no name.
    #[error("a tool has an empty name; give it one")]
    NamelessTool,
    /// Two tools have the same name. The model could not distinguish them.
    #[error("two tools are called {tool:?}; rename one of them")]
    SameName {
        /// The name.
        tool: String,
    },
    /// A tool has a schema, and the agent has no validator for schemas.
    #[error(
        "the tool {tool:?} gives a JSON Schema and nothing checks it; give the agent `schemas(…)`, or \
         `schemas(Unchecked)` if it is for the model alone"
    )]
    NoSchemaCheck {
        /// The tool.
        tool: String,
    },
    /// A plugin refers to a tool that the agent does not have ([`Plugin::tools`]).
    #[error("the plugin {plugin:?} is about the tool {tool:?}; the agent has {known}")]
    NoSuchTool {
        /// The plugin.
        plugin: String,
        /// The name of the tool.
        tool: String,
        /// The names of the agent's tools, separated by commas.
        known: String,
    },
    /// A stop condition is invalid.
    #[error("{0}")]
    Stop(StopConfigError),
}

impl From<StopConfigError> for ConfigError {
    fn from(error: StopConfigError) -> Self {
        ConfigError::Stop(error)
    }
}
