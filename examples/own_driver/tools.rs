//! The tools: real files in a folder.

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use runstate::decision::Suspension;
use runstate::tool_execution::Effect;
use runstate::tool_result::ToolResult;
use runstate::turn::CallRequest;

pub(crate) struct Folder(PathBuf);

/// The action on a call before its tool executes.
pub(crate) enum Look {
    /// The call cannot execute, for this reason.
    Unfit(String),
    /// A person must decide first.
    Ask(Suspension),
    /// The call may execute.
    Go,
}

impl Folder {
    pub(crate) fn furnished(path: PathBuf, files: &[&str]) -> Result<Self, Box<dyn Error>> {
        fs::create_dir_all(&path)?;
        for file in files {
            fs::write(path.join(file), "")?;
        }
        Ok(Folder(path))
    }

    pub(crate) fn list(&self) -> io::Result<Vec<String>> {
        let names = fs::read_dir(&self.0)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let mut names = names.collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }

    /// The effect of a repeated execution of a tool.
    pub(crate) fn effect(tool: &str) -> Effect {
        if tool == "list" { Effect::Repeatable } else { Effect::Once }
    }

    /// Checks a call before its first execution.
    pub(crate) fn look(request: &CallRequest) -> Look {
        if let Some(why) = &request.unreadable {
            return Look::Unfit(format!("the arguments cannot be read: {why}"));
        }
        match &request.tool[..] {
            "list" | "log" => Look::Go,
            "delete" => {
                let question = format!("delete {}?", request.arguments);
                Look::Ask(Suspension::new(format!("sus-{}", request.id), "approve", question))
            }
            other => Look::Unfit(format!("no tool is called {other}")),
        }
    }

    /// Executes a tool. The model reads the error of a failed execution.
    pub(crate) fn execute(&self, tool: &str, arguments: &serde_json::Value) -> ToolResult {
        let argument = arguments.as_str().unwrap_or_default();
        let done = match tool {
            "list" => self.list().map(Into::into),
            "log" => self.log(argument).map(|()| "written".into()),
            "delete" => fs::remove_file(self.0.join(argument)).map(|()| "deleted".into()),
            _ => return ToolResult::Error(format!("no tool is called {tool}")),
        };
        match done {
            Ok(output) => ToolResult::Success(output),
            Err(error) => ToolResult::Error(error.to_string()),
        }
    }

    fn log(&self, line: &str) -> io::Result<()> {
        let mut log = OpenOptions::new().create(true).append(true).open(self.0.join("log.txt"))?;
        writeln!(log, "{line}")
    }
}
