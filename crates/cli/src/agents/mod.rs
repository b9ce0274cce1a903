//! Agent files: an agent with a real model and real tools.

mod budget;
mod command;
mod drive;
mod file;
mod folder;
mod headers;
mod http;
mod live;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(not(feature = "mcp"))]
#[path = "no_mcp.rs"]
mod mcp;
mod mcp_file;
mod mistakes;
mod model;
mod question;
mod unread;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use runstate::decision::{Suspension, digest};
use runstate_agent::stop::{StopConditionSpec, StopConditions};
use runstate_agent::{Agent, Approval, Approvals, Tool, ToolSpec};
use runstate_scenario::Scenario;
use runstate_schema::JsonSchemas;
use serde_json::{Value, json};

pub(crate) use command::end_commands;
pub(crate) use drive::{Driver, Ending, Interrupts};
#[cfg(feature = "serve")]
pub(crate) use file::PortModel;
pub(crate) use file::{FromFile, of_run, read};
pub(crate) use folder::AgentFiles;
#[cfg(feature = "serve")]
pub(crate) use model::of_port;

use crate::command::time;
use crate::failure::Failure;
use crate::keys;
use crate::meant::did_you_mean;
use crate::runs::Token;
use crate::store::StoreArgs;
use crate::tools::{self, Tools};

/// The most steps of a run, unless the file has another number.
const STEPS: u32 = 50;

/// The digits of the scope of idempotency keys.
const SCOPE: usize = 32;

/// The largest file of the file tools, in bytes, unless the file has another number.
const MAX_BYTES: u64 = 1 << 20;

impl FromFile {
    /// Checks the agent before a run is created. No MCP server is started or connected to.
    ///
    /// # Errors
    /// As [`agent`](Self::agent), without the mistakes of servers.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        mcp::check(self)?;
        self.built(false, Vec::new(), None).map(drop)
    }

    /// The agent. With `live` the text of its model arrives as the server sends it. The token is that of the run: another
    /// run of an equal id, in another store, has other idempotency keys.
    ///
    /// # Errors
    /// A key, a folder, an address or an MCP server is missing or cannot be used, or a name is unknown.
    ///
    /// # Cancel safety
    /// If the future is dropped, MCP servers may stay connected for the next agent.
    pub(crate) async fn agent(&self, live: bool, token: Option<&Token>) -> Result<Agent, Failure> {
        // Mistakes of the file are told without a wait for servers.
        self.check()?;
        let of_servers = mcp::tools(self).await?;
        let wrong = |why: String| Failure::new(format!("{}: {why}", self.path));
        let names: Vec<&str> = of_servers.iter().map(|tool| tool.spec().name()).collect();
        let is_of_server = |name: &str| self.file.tools.mcp.iter().any(|of| name.starts_with(&of.prefix()));
        for name in self.file.approve.iter().flatten().filter(|name| is_of_server(name)) {
            if !names.contains(&name.as_str()) && !self.local_specs()?.iter().any(|of| of.name() == name) {
                let near = did_you_mean(name, names.iter().copied());
                return Err(wrong(format!("approve: the agent has no tool {name:?}{near}")));
            }
        }
        let of_servers = of_servers.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect();
        self.built(live, of_servers, token)
    }

    /// The agent, with these tools of MCP servers.
    fn built(
        &self,
        live: bool,
        of_servers: Vec<Arc<dyn Tool>>,
        token: Option<&Token>,
    ) -> Result<Agent, Failure> {
        let file = &self.file;
        let tools = self.tools()?;
        let wrong = |why: String| Failure::new(format!("{}: {why}", self.path));
        let mut stop = vec![StopConditionSpec::MaxRounds { rounds: file.limits.steps.unwrap_or(STEPS) }];
        stop.extend(file.limits.tokens.map(|max_total| StopConditionSpec::TokenBudget { max_total }));
        if let Some(text) = &file.limits.time {
            let limit = time(text).map_err(|error| wrong(format!("limits.time: {error}")))?;
            let seconds = limit.as_millis().div_ceil(1_000);
            let seconds = u64::try_from(seconds).unwrap_or(u64::MAX);
            stop.push(StopConditionSpec::Timeout { seconds });
        }
        let stop = StopConditions::new(stop).map_err(|error| wrong(format!("limits: {error}")))?;
        // They are checked apart: their numbers are those of the file.
        StopConditions::new(file.stop.clone()).map_err(|error| wrong(format!("stop: {error}")))?;
        let stop = stop.specs().chain(&file.stop).cloned().collect();
        let stop = StopConditions::new(stop).map_err(|error| wrong(format!("stop: {error}")))?;
        let mut approvals = Approvals::new();
        let specs: Vec<ToolSpec> = tools.iter().map(|tool| tool.spec().clone()).collect();
        for name in self.approved(&specs).map_err(wrong)? {
            approvals = approvals.tool(name, Approval::always());
        }
        let mut agent = Agent::builder(model::model(self, live)?)
            .stop(stop)
            .schemas(JsonSchemas::new())
            .clock(runstate_runtime::clock::unix_clock())
            .plugin(approvals)
            .tools(tools)
            .tools(of_servers);
        if let Some(budget) = budget::Budget::of(file) {
            agent = agent.plugin(budget);
        }
        if let Some(token) = token {
            // Servers see keys, and the token itself is a secret of the run's folder.
            let digest = digest(&json!(token));
            agent = agent.idempotency_scope(&digest["sha256:".len()..][..SCOPE]);
        }
        if let Some(system) = &file.system {
            agent = agent.system(system.as_str());
        }
        for (name, value) in &file.model.parameters {
            agent = agent.parameter(name, value.clone());
        }
        agent.build().map_err(|error| wrong(error.to_string()))
    }

    /// The scenario that a run of the agent is exported into, without its answers, and the specifications of the tools. No
    /// key, folder, address or server is needed: `called` are the tools that the run called, and the first question
    /// for an approval of a call of them.
    ///
    /// # Errors
    /// A command or a name of the file cannot be used.
    pub(crate) fn to_scenario(
        &self,
        message: &str,
        called: &BTreeMap<String, Option<Suspension>>,
    ) -> Result<(Scenario, Vec<ToolSpec>), Failure> {
        let wrong = |why: String| Failure::new(format!("{}: {why}", self.path));
        let mut specs = self.local_specs()?;
        let is_of_server = |name: &str| self.file.tools.mcp.iter().any(|of| name.starts_with(&of.prefix()));
        let of_servers = called
            .iter()
            .filter(|(name, _)| is_of_server(name) && !specs.iter().any(|spec| spec.name() == name.as_str()));
        let of_servers: Vec<_> = of_servers.collect();
        let asked = self.approved(&specs).map_err(wrong)?;
        specs.extend(of_servers.iter().map(|(name, _)| ToolSpec::new(*name, "")));
        let asks = asked.iter().map(|tool| json!({ "approval": { "tool": tool } }));
        let of_servers = of_servers.iter().filter_map(|(tool, asked)| {
            let asked = asked.as_ref()?;
            let bound_to = &asked.parameters["bound_to"];
            Some(json!({ "approval": { "tool": tool, "message": asked.message, "bound_to": bound_to } }))
        });
        let asks: Value = asks.chain(of_servers).collect();
        let mut stop = Vec::new();
        stop.extend(self.file.limits.tokens.map(|max_total| StopConditionSpec::TokenBudget { max_total }));
        stop.extend(self.file.stop.iter().cloned());
        let scenario = json!({
            "name": self.file.name,
            "message": message,
            "model": [{ "text": "the recorded answers take this place" }],
            "system": self.file.system,
            "parameters": self.file.model.parameters,
            "when_suspended": "park",
            "limits": { "max_rounds": self.file.limits.steps.unwrap_or(STEPS) },
            "stop": stop,
        });
        let scenario = Scenario::parse(&scenario.to_string());
        let mut scenario = scenario.map_err(|refused| wrong(refused.to_string()))?;
        // The answers and the tools are those of the record.
        scenario.model.clear();
        scenario.plugins = serde_json::from_value(asks).map_err(|error| wrong(error.to_string()))?;
        Ok((scenario, specs))
    }

    /// Refuses a folder of file tools that has the agent file: a tool could give the next run other tools.
    fn keep_file_out_of(&self, folder: &Path, read_only: bool) -> Result<(), Failure> {
        let file = Path::new(&self.path);
        // A link to the file in the folder could be replaced as well as the file.
        let parent = file.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        // The text of a stored run has no file.
        let (Ok(real), Ok(of_tools)) = (file.canonicalize(), folder.canonicalize()) else { return Ok(()) };
        let is_inside = real.starts_with(&of_tools)
            || parent.canonicalize().is_ok_and(|parent| parent.starts_with(&of_tools));
        match is_inside && !read_only {
            true => Err(Failure::new(format!(
                "{} is in the folder of its tools, {}",
                self.path,
                folder.display()
            ))
            .with_help("name another folder, or set read_only: true: a tool could change the agent")),
            false => Ok(()),
        }
    }

    /// Refuses a folder of file tools with the keys of the store, or with the store itself: a tool could read and change it.
    ///
    /// # Errors
    /// As described, with both paths.
    pub(crate) fn keep_out(&self, place: &StoreArgs) -> Result<(), Failure> {
        let Some(files) = &self.file.tools.files else { return Ok(()) };
        let folder = self.base.join(&files.folder);
        keys::keep_out_of(&folder, place.key_file())?;
        place.keep_out_of(&folder)
    }

    fn tools(&self) -> Result<Vec<Arc<dyn Tool>>, Failure> {
        let tools = &self.file.tools;
        let mut all: Vec<Arc<dyn Tool>> = Vec::new();
        if let Some(files) = &tools.files {
            let folder = self.base.join(&files.folder);
            self.keep_file_out_of(&folder, files.read_only)?;
            let models = [&self.file.model].into_iter().chain(&self.file.fallbacks);
            for key in models.filter_map(|model| model.key_file.as_ref()) {
                keys::keep_out_of(&folder, Some(&self.base.join(key)))?;
            }
            let opened = Tools::open(&folder, files.max_bytes.unwrap_or(MAX_BYTES));
            let opened = opened.map_err(|error| Failure::io("open the folder", &folder, &error))?;
            all.extend(
                opened.with_previews().each().into_iter().filter(|tool| files.offers(tool.spec().name())),
            );
        }
        if let Some(http) = &tools.http {
            all.push(Arc::new(http::HttpTool::new(self, http)?));
        }
        all.extend(self.other_tools()?);
        Ok(all)
    }

    /// The tools that need no folder and no key.
    fn other_tools(&self) -> Result<Vec<Arc<dyn Tool>>, Failure> {
        let tools = &self.file.tools;
        let mut all: Vec<Arc<dyn Tool>> = Vec::new();
        for file in &tools.commands {
            all.push(Arc::new(command::CommandTool::new(self, file)?));
        }
        if tools.ask_person {
            all.push(Arc::new(question::AskPerson::new()));
        }
        Ok(all)
    }

    /// The specifications of the tools that are no MCP server's.
    fn local_specs(&self) -> Result<Vec<ToolSpec>, Failure> {
        let mut specs: Vec<ToolSpec> = match &self.file.tools.files {
            Some(files) => tools::specs().into_iter().filter(|spec| files.offers(spec.name())).collect(),
            None => Vec::new(),
        };
        if let Some(http) = &self.file.tools.http {
            specs.push(http::spec(http).map_err(|why| Failure::new(format!("{}: {why}", self.path)))?);
        }
        specs.extend(self.other_tools()?.iter().map(|tool| tool.spec().clone()));
        Ok(specs)
    }

    /// The tools that need an approval, without those of MCP servers, which have their own.
    fn approved(&self, tools: &[ToolSpec]) -> Result<Vec<String>, String> {
        let names = || tools.iter().map(ToolSpec::name);
        let changes = |name: &&str| {
            let sends = self.file.tools.http.as_ref().is_some_and(|http| !http::only_reads(http));
            [tools::WRITE_FILE, tools::DELETE_FILE].contains(name)
                || *name == http::HTTP_REQUEST && sends
                || self.file.tools.commands.iter().any(|command| command.name == **name)
        };
        let Some(given) = &self.file.approve else {
            return Ok(names().filter(changes).map(str::to_owned).collect());
        };
        let (known, other): (Vec<&String>, _) =
            given.iter().partition(|name| names().any(|known| known == **name));
        let servers = &self.file.tools.mcp;
        if let Some(name) = other.iter().find(|name| !servers.iter().any(|of| name.starts_with(&of.prefix())))
        {
            let near = did_you_mean(name, names());
            return Err(format!("approve: the agent has no tool {name:?}{near}"));
        }
        Ok(known.into_iter().cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use schemars::schema_for;

    use super::file::AgentFile;

    /// The schema of agent files. With `RUNSTATE_WRITE_SCHEMA=1` this test writes it.
    #[test]
    fn schema_is_that_of_the_types() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/agent.schema.json");
        let schema = serde_json::to_string_pretty(&schema_for!(AgentFile)).unwrap() + "\n";
        if std::env::var_os("RUNSTATE_WRITE_SCHEMA").is_some() {
            std::fs::write(path, &schema).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap();
        // The order of keys depends on the features of the build.
        let [written, schema] =
            [written, schema].map(|text| serde_json::from_str::<serde_json::Value>(&text).unwrap());
        assert_eq!(written, schema, "run this test with RUNSTATE_WRITE_SCHEMA=1 and read the diff");
    }
}
