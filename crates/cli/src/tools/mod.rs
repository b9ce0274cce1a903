//! The tools of a run: they list, read, write and delete real files, only below the run's working folder.

mod folder;
mod path;
#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;
use std::sync::Arc;

use cap_std::fs::Dir;
use runstate::decision::digest;
use runstate::tool_result::ToolResult;
use runstate_agent::{GateCall, Preview, Tool, ToolContext, ToolSpec, async_trait};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use similar::TextDiff;

use folder::Folder;

/// Lists a folder.
pub(crate) const LIST_FILES: &str = "list_files";
/// Reads a text file.
pub(crate) const READ_FILE: &str = "read_file";
/// Writes a complete text file.
pub(crate) const WRITE_FILE: &str = "write_file";
/// Deletes a file.
pub(crate) const DELETE_FILE: &str = "delete_file";

/// The file tools of a scenario, beside its scripted ones.
pub(crate) use runstate_scenario::FILE_TOOLS as NAMES;

/// The tools on one folder.
#[derive(Debug)]
pub(crate) struct Tools {
    folder: Folder,
    /// Whether approvers see the changes of a call.
    previews: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListFiles {
    #[serde(default = "here")]
    path: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadFile {
    path: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteFile {
    path: String,
    content: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DeleteFile {
    path: String,
}

fn here() -> String {
    ".".to_owned()
}

impl Tools {
    /// The tools on `folder`, for files of at most `max_bytes` bytes.
    ///
    /// # Errors
    /// The folder cannot be opened.
    pub(crate) fn open(folder: &Path, max_bytes: u64) -> io::Result<Tools> {
        Ok(Tools { folder: Folder::open(folder, max_bytes)?, previews: false })
    }

    /// The tools on an open folder.
    pub(crate) fn in_folder(folder: Dir, max_bytes: u64) -> Tools {
        Tools { folder: Folder::of(folder, max_bytes), previews: false }
    }

    /// The tools with previews of changes, for approvers.
    #[cfg(feature = "agents")]
    pub(crate) fn with_previews(self) -> Tools {
        Tools { previews: true, ..self }
    }

    /// Each tool separately.
    pub(crate) fn each(self) -> Vec<Arc<dyn Tool>> {
        let tools = Arc::new(self);
        let each = NAMES.iter().map(|name| FileTool { spec: spec(name), tools: Arc::clone(&tools) });
        each.map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect()
    }

    /// Calls the tool of that name. An error is a result for the model to read, never an end of the run.
    fn call(&self, tool: &str, arguments: &Value) -> ToolResult {
        let result = match tool {
            LIST_FILES => self.list(arguments),
            READ_FILE => self.read(arguments),
            WRITE_FILE => self.write(arguments),
            DELETE_FILE => self.delete(arguments),
            _ => Err(format!("there is no tool {tool:?}: expected one of {}", NAMES.join(", "))),
        };
        result.unwrap_or_else(ToolResult::Error)
    }

    fn list(&self, arguments: &Value) -> Result<ToolResult, String> {
        let ListFiles { path } = parse(LIST_FILES, arguments)?;
        let listing = self.folder.list(&path)?;
        let output = Value::from(listing.entries);
        Ok(match listing.left_out {
            0 => ToolResult::Success(output),
            more => ToolResult::Warning { output, warning: format!("{more} more entries are omitted") },
        })
    }

    fn read(&self, arguments: &Value) -> Result<ToolResult, String> {
        let ReadFile { path } = parse(READ_FILE, arguments)?;
        Ok(ToolResult::Success(Value::from(self.folder.read(&path)?)))
    }

    fn write(&self, arguments: &Value) -> Result<ToolResult, String> {
        let WriteFile { path, content } = parse(WRITE_FILE, arguments)?;
        self.folder.write(&path, &content)?;
        Ok(ToolResult::Success(json!({"path": path, "bytes": content.len()})))
    }

    /// The effect that a call would have on its file.
    fn preview(&self, tool: &str, arguments: &Value) -> Option<Preview> {
        let (path, after) = match tool {
            WRITE_FILE => {
                let WriteFile { path, content } = parse(WRITE_FILE, arguments).ok()?;
                (path, content)
            }
            DELETE_FILE => (parse::<DeleteFile>(DELETE_FILE, arguments).ok()?.path, String::new()),
            _ => return None,
        };
        if tool == DELETE_FILE && self.folder.is_link(&path) {
            return Some(Preview::note(format!("{path:?}: the link is deleted, and not its target")));
        }
        let shown = match self.folder.target(&path) {
            Some(target) => format!("{path} (behind a link: {target})"),
            None => path.clone(),
        };
        Some(match self.folder.current(&path) {
            Ok(Some(before)) if tool == DELETE_FILE && before.is_empty() => {
                Preview::note(format!("{path:?}: an empty file is deleted"))
            }
            Ok(Some(before)) => changes(&shown, &before, &after),
            Ok(None) if tool == DELETE_FILE => Preview::note(format!("{path:?}: there is no file")),
            Ok(None) if after.is_empty() => Preview::note(format!("{path:?}: a new, empty file")),
            Ok(None) => changes(&format!("{shown} (a new file)"), "", &after),
            // The approval is for the content, also for one that is not shown.
            Err(error) => {
                let digest = self.folder.digest(&path);
                let digest = digest.map_or_else(|error| error, |digest| format!("its digest is {digest}"));
                Preview::note(format!("{shown:?}: the present content is not shown: {error}; {digest}"))
            }
        })
    }

    fn delete(&self, arguments: &Value) -> Result<ToolResult, String> {
        let DeleteFile { path } = parse(DELETE_FILE, arguments)?;
        let output = json!({"path": path});
        Ok(if self.folder.delete(&path)? {
            ToolResult::Success(output)
        } else {
            ToolResult::Warning { output, warning: format!("there was no file {path:?}") }
        })
    }
}

/// The most lines that are compared: the comparison of more takes seconds, in which the run does nothing else.
const MOST_LINES: usize = 20_000;

/// The changes of a file, without those far from them.
fn changes(path: &str, before: &str, after: &str) -> Preview {
    if before == after {
        return Preview::note(format!("{path:?}: no change"));
    }
    let lines = [before, after].map(|text| text.lines().count());
    if lines.iter().sum::<usize>() > MOST_LINES {
        let digests = [before, after].map(|text| digest(&text.into()));
        return Preview::note(format!(
            "{path:?}: {} lines with the digest {} become {} lines with the digest {}",
            lines[0], digests[0], lines[1], digests[1]
        ));
    }
    let diff = TextDiff::from_lines(before, after);
    let hunks = diff.unified_diff().context_radius(3).to_string();
    Preview::diff(path, hunks)
}

/// One of the tools, for a run.
#[derive(Debug)]
struct FileTool {
    spec: ToolSpec,
    tools: Arc<Tools>,
}

/// A person may have changed a file since a crash, so a call that may have written or deleted is not repeated without
/// asking.
fn spec(name: &str) -> ToolSpec {
    let path = |of: &str| json!({ "type": "string", "description": format!("{of} Relative to the working folder.") });
    let spec = |about: &str, properties: Value, required: &[&str]| {
        ToolSpec::new(name, about).with_schema(json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }))
    };
    match name {
        LIST_FILES => {
            let path = path("The folder. Default: the working folder itself.");
            spec("Lists a folder.", json!({ "path": path }), &[]).repeatable()
        }
        READ_FILE => {
            let path = path("The file.");
            spec("Reads a text file.", json!({ "path": path }), &["path"]).repeatable()
        }
        WRITE_FILE => {
            let path = path("The file. Missing folders are created.");
            let content =
                json!({ "type": "string", "description": "The whole content, in place of the present one." });
            spec(
                "Writes a text file, whole.",
                json!({ "path": path, "content": content }),
                &["path", "content"],
            )
        }
        _ => spec("Deletes a file.", json!({ "path": path("The file.") }), &["path"]),
    }
}

/// The specifications of the file tools.
pub(crate) fn specs() -> Vec<ToolSpec> {
    NAMES.iter().map(|name| spec(name)).collect()
}

#[async_trait]
impl Tool for FileTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        self.tools.call(self.spec.name(), cx.arguments())
    }

    async fn preview(&self, call: &GateCall<'_>) -> Option<Preview> {
        if self.tools.previews { self.tools.preview(self.spec.name(), call.arguments()) } else { None }
    }
}

fn parse<T: DeserializeOwned>(tool: &str, arguments: &Value) -> Result<T, String> {
    T::deserialize(arguments).map_err(|error| format!("the arguments are not those of {tool}: {error}"))
}
