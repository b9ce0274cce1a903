//! A command as a tool.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use runstate::tool_result::ToolResult;
use runstate_agent::{GateCall, Preview, Tool, ToolContext, ToolSpec, async_trait};
use runstate_schema::JsonSchemas;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use super::file::{CommandFile, FromFile};
use crate::command::time;
use crate::failure::Failure;
use crate::store::quoted;

/// The variables of this process that a command gets. Keys of models are not among them.
pub(super) const PASSED: [&str; 7] = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "USER"];

/// The default time limit.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The default limit of an output, in bytes.
const MAX_OUTPUT: usize = 64 * 1024;

/// A command.
#[derive(Debug)]
pub(super) struct CommandTool {
    spec: ToolSpec,
    /// The program and its arguments, with placeholders.
    command: Vec<Vec<Part>>,
    folder: PathBuf,
    timeout: Duration,
    max_output: usize,
    /// The variables with the keys of the models.
    withheld: Vec<String>,
}

#[derive(Debug, PartialEq)]
enum Part {
    Text(String),
    Argument(String),
}

/// The parts of an argument: text, and names in braces. `{{` is a brace.
fn parts(text: &str) -> Result<Vec<Part>, String> {
    let (mut parts, mut plain, mut rest) = (Vec::new(), String::new(), text);
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        let brace = &rest[at..];
        if brace.starts_with("{{") || brace.starts_with("}}") {
            plain.push_str(&brace[..1]);
            rest = &brace[2..];
            continue;
        }
        let Some((name, behind)) = brace.strip_prefix('{').and_then(|name| name.split_once('}')) else {
            return Err(format!("{text:?} has a single brace; write {{{{ or }}}} for a brace"));
        };
        let is_plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_plain {
            return Err(format!("{text:?}: got {{{name}}}, expected letters, digits and `_` between braces"));
        }
        if !plain.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut plain)));
        }
        parts.push(Part::Argument(name.to_owned()));
        rest = behind;
    }
    plain.push_str(rest);
    if !plain.is_empty() || parts.is_empty() {
        parts.push(Part::Text(plain));
    }
    Ok(parts)
}

impl CommandTool {
    /// # Errors
    /// An argument of the command has another form, or its time cannot be read.
    pub(super) fn new(from: &FromFile, file: &CommandFile) -> Result<Self, Failure> {
        let wrong = |why: String| Failure::new(format!("{}: the command {:?}: {why}", from.path, file.name));
        let command =
            file.command.iter().map(|text| parts(text)).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        let named: BTreeSet<&String> = command.iter().flatten().filter_map(Part::name).collect();
        if let Some(unused) = file.arguments.keys().find(|name| !named.contains(name)) {
            return Err(wrong(format!("arguments.{unused}: no part of the command names {{{unused}}}")));
        }
        for (name, schema) in &file.arguments {
            let accepted = JsonSchemas::new().accepts(schema);
            accepted.map_err(|why| wrong(format!("arguments.{name}: no JSON Schema: {why}")))?;
        }
        let text = || json!({ "type": "string" });
        let properties: Map<String, Value> = named
            .iter()
            .map(|name| ((*name).clone(), file.arguments.get(*name).cloned().unwrap_or_else(text)))
            .collect();
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": named,
            "additionalProperties": false,
        });
        let timeout = match &file.timeout {
            Some(text) => time(text).map_err(|error| wrong(format!("timeout: {error}")))?,
            None => TIMEOUT,
        };
        let mut spec = ToolSpec::new(&file.name, &file.description).with_schema(schema);
        if file.repeatable {
            spec = spec.repeatable();
        }
        let folder = from.base.join(file.folder.as_deref().unwrap_or(std::path::Path::new(".")));
        Ok(CommandTool {
            spec,
            command,
            folder,
            timeout,
            max_output: file.max_output.unwrap_or(MAX_OUTPUT),
            withheld: from.file.secret_variables().map(str::to_owned).collect(),
        })
    }

    /// The arguments of the process.
    fn filled(&self, arguments: &Value) -> Result<Vec<String>, String> {
        let mut filled = Vec::new();
        for (index, parts) in self.command.iter().enumerate() {
            let mut text = String::new();
            for part in parts {
                match part {
                    Part::Text(plain) => text.push_str(plain),
                    Part::Argument(name) => {
                        let value = match &arguments[name] {
                            Value::String(value) => value.clone(),
                            Value::Number(value) => value.to_string(),
                            Value::Bool(value) => value.to_string(),
                            other => {
                                return Err(format!(
                                    "{name}: expected a text, a number or a boolean, got {other}"
                                ));
                            }
                        };
                        if value.contains('\0') {
                            return Err(format!("{name}: a text with NUL is no argument of a command"));
                        }
                        // The model chooses a value, and never an option of the program.
                        if text.is_empty() && value.starts_with('-') && index > 0 {
                            return Err(format!(
                                "{name}: got {value:?}, expected a text that does not begin with `-`"
                            ));
                        }
                        text.push_str(&value);
                    }
                }
            }
            filled.push(text);
        }
        Ok(filled)
    }

    async fn execute(&self, arguments: &Value, key: &str) -> Result<ToolResult, String> {
        let filled = self.filled(arguments)?;
        let (program, rest) = filled.split_first().ok_or("the command names no program")?;
        let passed = PASSED.iter().filter(|name| !self.withheld.iter().any(|key| key == *name));
        let passed = passed.filter_map(|name| Some((*name, std::env::var_os(name)?)));
        let passed: BTreeMap<_, _> = passed.collect();
        let mut command = Command::new(program);
        command.args(rest).current_dir(&self.folder).env_clear().envs(passed);
        command.env("RUNSTATE_IDEMPOTENCY_KEY", key);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let child = command.spawn().map_err(|error| format!("cannot execute {program:?}: {error}"))?;
        let mut group = Group::of(child);
        let (out, err) = (group.child.stdout.take(), group.child.stderr.take());
        let done = async {
            let ended = async {
                group.leader_ended().await?;
                // The processes that it left behind end with it, before its id can be another's.
                group.kill();
                Ok::<_, io::Error>(())
            };
            let (out, err, ended) =
                tokio::join!(output(out, self.max_output), output(err, self.max_output), ended);
            ended?;
            Ok::<_, io::Error>((out?, err?, group.child.wait().await?))
        };
        let done = tokio::time::timeout(self.timeout, done).await;
        let failed = |error: io::Error| format!("the output of {program:?} cannot be read: {error}");
        let Ok(done) = done else {
            return Err(format!("{program:?} took more than {:?}, and was ended", self.timeout));
        };
        let ((out, more_out), (err, more_err), status) = done.map_err(failed)?;
        if !status.success() {
            let omitted = match more_out + more_err {
                0 => String::new(),
                more => format!("\n{more} bytes of output are omitted"),
            };
            return Err(format!("{program:?} ended with {status}\n{err}{out}{omitted}"));
        }
        let output = if err.is_empty() { Value::from(out) } else { json!({ "stdout": out, "stderr": err }) };
        Ok(match more_out + more_err {
            0 => ToolResult::Success(output),
            more => ToolResult::Warning { output, warning: format!("{more} bytes of output are omitted") },
        })
    }
}

impl Part {
    fn name(&self) -> Option<&String> {
        match self {
            Part::Argument(name) => Some(name),
            Part::Text(_) => None,
        }
    }
}

/// Reads an output to its end: its first bytes, and the number of the others.
async fn output(from: Option<impl AsyncRead + Unpin>, limit: usize) -> io::Result<(String, usize)> {
    let Some(mut from) = from else { return Ok((String::new(), 0)) };
    let (mut kept, mut omitted, mut chunk) = (Vec::new(), 0, [0_u8; 8192]);
    loop {
        let count = from.read(&mut chunk).await?;
        if count == 0 {
            return Ok((String::from_utf8_lossy(&kept).into_owned(), omitted));
        }
        let room = limit.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(&chunk[..room]);
        omitted += count - room;
    }
}

/// The processes of a command. Its drop ends all of them.
struct Group {
    child: Child,
}

/// The groups that live, for the end of this process.
static LIVE: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn live() -> MutexGuard<'static, BTreeSet<u32>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the processes of all commands and MCP servers, before this process ends.
pub(crate) fn end_commands() {
    live().iter().for_each(|id| kill(*id));
    #[cfg(feature = "mcp")]
    runstate_mcp::end_servers();
}

#[cfg(unix)]
fn kill(group: u32) {
    if let Some(group) = rustix::process::Pid::from_raw(group.cast_signed()) {
        // The group may have ended already.
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
    }
}

#[cfg(not(unix))]
fn kill(_: u32) {}

impl Group {
    fn of(child: Child) -> Self {
        live().extend(child.id());
        Group { child }
    }

    /// Waits for the end of the command, and leaves its id taken.
    async fn leader_ended(&self) -> io::Result<()> {
        #[cfg(unix)]
        if let Some(leader) = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()))
        {
            use rustix::process::{WaitId, WaitIdOptions, waitid};

            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let waited = tokio::task::spawn_blocking(move || waitid(WaitId::Pid(leader), options));
            waited.await.map_err(io::Error::other)??;
        }
        Ok(())
    }

    /// Ends all processes of a command that is not reaped.
    fn kill(&self) {
        if let Some(id) = self.child.id() {
            kill(id);
            live().remove(&id);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

#[async_trait]
impl Tool for CommandTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        let key = cx.idempotency_key();
        self.execute(cx.arguments(), &key).await.unwrap_or_else(ToolResult::Error)
    }

    async fn preview(&self, call: &GateCall<'_>) -> Option<Preview> {
        Some(match self.filled(call.arguments()) {
            Ok(filled) => Preview::note(filled.iter().map(|part| quoted(part)).collect::<Vec<_>>().join(" ")),
            Err(error) => Preview::note(format!("the command does not execute: {error}")),
        })
    }
}
