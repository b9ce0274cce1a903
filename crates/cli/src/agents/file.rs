//! The form of an agent file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use runstate_agent::stop::StopConditionSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::mcp_file::McpFile;
use super::mistakes::check;
use super::unread;
use crate::failure::Failure;
use crate::input::{self, Text};
use crate::tools;

/// The maximum size of an agent file, in bytes.
const LIMIT: u64 = 1 << 20;

const START: &str =
    "start from examples/agent.yaml; `runstate schema agent` prints the fields of an agent file";

/// An agent: a model, a system prompt, tools, and limits.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "An agent file of runstate")]
pub(crate) struct AgentFile {
    /// The name: 1 to 64 lower-case letters, digits and hyphens. The runs of the agent are NAME-1, NAME-2.
    pub(super) name: String,
    /// A sentence about the agent, for lists.
    #[serde(default)]
    pub(super) about: Option<String>,
    /// The model.
    pub(super) model: ModelFile,
    /// Models that answer instead, in this order, after the retries of the one before.
    #[serde(default)]
    pub(super) fallbacks: Vec<ModelFile>,
    /// The system prompt.
    #[serde(default)]
    pub(super) system: Option<String>,
    /// The tools.
    #[serde(default)]
    pub(super) tools: ToolsFile,
    /// The tools that need an approval. Default: `http_request` with a method that may change something, `write_file`, `delete_file`, all commands, and the tools of MCP servers that are
    /// not both trusted and read-only. The tools of a server without `trust` always need one.
    #[serde(default)]
    pub(super) approve: Option<Vec<String>>,
    /// The limits of a run.
    #[serde(default)]
    pub(super) limits: LimitsFile,
    /// Further stop conditions, in the form of a scenario, in the order of their evaluation, such as `{type: stop_on_tool, tool_name: submit}`.
    #[serde(default)]
    #[schemars(with = "Vec<runstate_scenario::schema::StopCondition>")]
    pub(super) stop: Vec<StopConditionSpec>,
    /// Prices, by the name of the model, for a limit of money.
    #[serde(default)]
    pub(super) prices: BTreeMap<String, PriceFile>,
}

impl AgentFile {
    /// The environment variables with the keys and the headers of the models.
    pub(super) fn secret_variables(&self) -> impl Iterator<Item = &str> {
        let models = [&self.model].into_iter().chain(&self.fallbacks);
        models.flat_map(|model| model.key_env.iter().chain(model.headers_env.values())).map(String::as_str)
    }
}

/// A model of a server.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelFile {
    /// `openai`; or with the feature `genai`: `anthropic`, `gemini`, `responses`, or a name of genai. Default: openai.
    #[serde(default)]
    pub(super) provider: Option<String>,
    /// The address above `chat/completions`, `messages`, `models` or `responses`, such as https://api.openai.com/v1.
    pub(super) base_url: String,
    /// The name of the model.
    pub(super) name: String,
    /// The environment variable with the key.
    #[serde(default)]
    pub(super) key_env: Option<String>,
    /// The file with the key, by its path from the agent file.
    #[serde(default)]
    pub(super) key_file: Option<PathBuf>,
    /// Headers of each request, each with the environment variable that has its value. A header replaces the one of its name.
    #[serde(default)]
    pub(super) headers_env: BTreeMap<String, String>,
    /// Fields of each request, such as `temperature`.
    #[serde(default)]
    pub(super) parameters: BTreeMap<String, Value>,
    /// The longest silence of the server, such as `60s`. Default: 2m.
    #[serde(default)]
    pub(super) silence: Option<String>,
    /// A key in the file, which is refused.
    #[serde(default)]
    #[schemars(skip)]
    pub(super) key: Option<Value>,
}

/// The tools of an agent.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ToolsFile {
    /// `list_files`, `read_file`, `write_file` and `delete_file` below a folder.
    pub(super) files: Option<FilesFile>,
    /// Commands.
    pub(super) commands: Vec<CommandFile>,
    /// `http_request`: HTTP requests to listed hosts.
    pub(super) http: Option<HttpFile>,
    /// Servers of the Model Context Protocol. Their tools have the names `SERVER__TOOL`.
    pub(super) mcp: Vec<McpFile>,
    /// `ask_person`: a question to a person. The answer is the result.
    pub(super) ask_person: bool,
}

/// The folder of the file tools.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FilesFile {
    /// The folder, by its path from the agent file. The tools follow no link out of it.
    pub(super) folder: PathBuf,
    /// Whether the agent reads only. Default: false.
    #[serde(default)]
    pub(super) read_only: bool,
    /// The largest file, in bytes. Default: 1 MiB.
    #[serde(default)]
    pub(super) max_bytes: Option<u64>,
}

impl FilesFile {
    /// Returns whether the agent has the file tool of that name.
    pub(super) fn offers(&self, tool: &str) -> bool {
        !self.read_only || [tools::LIST_FILES, tools::READ_FILE].contains(&tool)
    }
}

/// A command as a tool. No shell reads its arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandFile {
    /// The name of the tool: 1 to 64 letters, digits, `_` and `-`.
    pub(super) name: String,
    /// The description, for the model.
    pub(super) description: String,
    /// The program and its arguments. `{name}` is an argument of the call.
    pub(super) command: Vec<String>,
    /// The JSON Schemas of the arguments of the call, by name. Default: a text for each `{name}`.
    #[serde(default)]
    pub(super) arguments: BTreeMap<String, Value>,
    /// The working folder, by its path from the agent file. Default: the folder of the agent file.
    #[serde(default)]
    pub(super) folder: Option<PathBuf>,
    /// The time limit, such as `30s`. After it all processes of the command end. Default: 1m.
    #[serde(default)]
    pub(super) timeout: Option<String>,
    /// The largest output, in bytes, of standard output and of standard error each. The rest is omitted. Default: 64 KiB.
    #[serde(default)]
    pub(super) max_output: Option<usize>,
    /// Whether an interrupted call may execute again without a decision. Default: false.
    #[serde(default)]
    pub(super) repeatable: bool,
}

/// HTTP requests as a tool.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HttpFile {
    /// The hosts, such as `api.example.org` or `localhost:8080`. Other hosts than loopback addresses are asked by https alone.
    pub(super) hosts: Vec<String>,
    /// The methods: some of GET, HEAD, POST, PUT, PATCH and DELETE. Default: GET.
    #[serde(default)]
    pub(super) methods: Vec<String>,
    /// Headers of each request, each with the environment variable that has its value.
    #[serde(default)]
    pub(super) headers_env: BTreeMap<String, String>,
    /// The time limit of a request, such as `10s`. Default: 30s.
    #[serde(default)]
    pub(super) timeout: Option<String>,
    /// The largest body of an answer, in bytes. The rest is omitted. Default: 64 KiB.
    #[serde(default)]
    pub(super) max_output: Option<usize>,
}

/// A model of a port of the server, with its fallbacks.
#[cfg(feature = "serve")]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PortModel {
    /// The model.
    model: ModelFile,
    /// Models that answer instead.
    #[serde(default)]
    fallbacks: Vec<ModelFile>,
    /// The system prompt, in place of that of the port.
    #[serde(default)]
    pub(crate) system: Option<String>,
    /// The retries of one answer, over all models.
    #[serde(default)]
    retries: Option<u32>,
    /// The most tokens of one answer.
    #[serde(default)]
    output: Option<u32>,
}

#[cfg(feature = "serve")]
impl PortModel {
    /// The model as that of an agent file at that path.
    ///
    /// # Errors
    /// A name, an address or a key in it.
    pub(super) fn as_agent(&self, path: &str, base: PathBuf) -> Result<FromFile, Failure> {
        let limits = LimitsFile { retries: self.retries, output: self.output, ..LimitsFile::default() };
        let file = AgentFile {
            name: "port".to_owned(),
            about: None,
            model: self.model.clone(),
            fallbacks: self.fallbacks.clone(),
            system: None,
            tools: ToolsFile::default(),
            approve: None,
            limits,
            stop: Vec::new(),
            prices: BTreeMap::new(),
        };
        check(&file).map_err(|wrong| Failure::new(format!("{path}: {}", wrong.why)))?;
        Ok(FromFile { file, text: String::new(), path: path.to_owned(), base })
    }
}

/// The limits of a run, over all its steps.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LimitsFile {
    /// The most steps. Default: 50.
    #[schemars(range(min = 1))]
    pub(super) steps: Option<u32>,
    /// The most tokens, read and written.
    #[schemars(range(min = 1))]
    pub(super) tokens: Option<u64>,
    /// The longest time, with waits, such as `2h`.
    pub(super) time: Option<String>,
    /// The most money, in millionths of the unit of `prices`. A run stops at the limit; one answer may exceed it.
    #[schemars(range(min = 1))]
    pub(super) money: Option<u64>,
    /// The most tokens of one answer.
    #[schemars(range(min = 1))]
    pub(super) output: Option<u32>,
    /// The retries of one answer, over all models. Default: 6.
    pub(super) retries: Option<u32>,
}

/// The price of a model, in millionths of a unit for 1,000 tokens.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceFile {
    /// For tokens that the model reads.
    pub(super) input: u64,
    /// For tokens that the model writes.
    pub(super) output: u64,
}

/// An agent file with its text and its place.
#[derive(Debug, Clone)]
pub(crate) struct FromFile {
    pub(super) file: AgentFile,
    text: String,
    /// The path, for messages.
    pub(super) path: String,
    /// The base folder of its paths.
    pub(super) base: PathBuf,
}

impl FromFile {
    pub(crate) fn name(&self) -> &str {
        &self.file.name
    }

    /// The text as read. A run keeps a copy.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The first line of a new run, for lists.
    pub(crate) fn title<'a>(&'a self, message: &'a str) -> &'a str {
        self.file.about.as_deref().unwrap_or(message)
    }
}

/// Reads and checks an agent file.
///
/// # Errors
/// The file cannot be read, or is no agent file: with line, column and an excerpt.
pub(crate) fn read(path: &str) -> Result<FromFile, Failure> {
    of_text(input::read_text(path, LIMIT)?, Path::new(path))
}

/// Reads the agent file of a stored run, of which no path is used.
///
/// # Errors
/// As [`read`].
pub(crate) fn of_run(run: &str, text: &str) -> Result<FromFile, Failure> {
    let source = Text { name: format!("the agent file of the run {run}"), text: text.to_owned() };
    of_text(source, Path::new(""))
}

fn of_text(source: Text, path: &Path) -> Result<FromFile, Failure> {
    let file: AgentFile = runstate_scenario::from_yaml(&source.text)
        .map_err(|refused| unread::failure(&source, &refused, START))?;
    let base = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let read = FromFile { file, text: source.text, path: source.name, base };
    check(&read.file).map_err(|wrong| wrong.failure(&read).with_help(START))?;
    // Keys, folders and addresses are read when the run is driven; a mistake in the others shows at once.
    Ok(read)
}
