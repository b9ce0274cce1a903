//! The tools of MCP servers.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use runstate_mcp::{McpTool, Server, ServerOptions};

use super::command::PASSED;
use super::file::FromFile;
use super::headers;
use super::mcp_file::McpFile;
use crate::command::time;
use crate::failure::Failure;

/// The servers of this process, by the agent file and their names in it. Its runs share their connections: the call of a
/// server that asks in the midst stays open while its run waits.
static SERVERS: Mutex<BTreeMap<Key, Server>> = Mutex::new(BTreeMap::new());

/// The path and the text of an agent file, and the name of a server.
type Key = (String, String, String);

/// The server with its options.
///
/// # Errors
/// An option cannot be used, or a variable of a header is missing.
fn server(from: &FromFile, file: &McpFile) -> Result<Server, Failure> {
    let key = (from.path.clone(), from.text().to_owned(), file.name.clone());
    let mut servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = servers.get(&key) {
        return Ok(known.clone());
    }
    let made = Server::new(options(from, file)?).map_err(|error| wrong(from, &error.to_string()))?;
    servers.insert(key, made.clone());
    Ok(made)
}

fn wrong(from: &FromFile, why: &str) -> Failure {
    Failure::new(format!("{}: {why}", from.path))
}

fn options(from: &FromFile, file: &McpFile) -> Result<ServerOptions, Failure> {
    let named = |why: String| wrong(from, &format!("the MCP server {:?}: {why}", file.name));
    let mut options = match (&file.command, &file.url) {
        (Some(command), _) => {
            let folder = from.base.join(file.folder.as_deref().unwrap_or(Path::new(".")));
            let mut options = ServerOptions::command(&file.name, command).folder(folder);
            let keys: Vec<&str> = from.file.secret_variables().collect();
            for name in PASSED.into_iter().filter(|name| !keys.contains(name)) {
                if let Some(value) = std::env::var_os(name) {
                    options = options.env(name, value);
                }
            }
            for name in &file.env {
                let missing = || named(format!("env names the variable {name}, which is not set"));
                options = options.env(name, std::env::var_os(name).ok_or_else(missing)?);
            }
            options
        }
        (None, url) => ServerOptions::http(&file.name, url.as_deref().unwrap_or_default()),
    };
    for (header, value) in headers::read(&file.headers_env).map_err(named)? {
        options = options.header(header, value);
    }
    if file.trust {
        options = options.trusted();
    }
    if let Some(tools) = &file.tools {
        options = options.tools(tools);
    }
    if let Some(text) = &file.timeout {
        options = options.timeout(time(text).map_err(|error| named(format!("timeout: {error}")))?);
    }
    if let Some(bytes) = file.max_output {
        options = options.max_output(bytes);
    }
    Ok(options)
}

/// Checks the options of the servers. None is started or connected to.
///
/// # Errors
/// As [`server`].
pub(super) fn check(from: &FromFile) -> Result<(), Failure> {
    from.file.tools.mcp.iter().try_for_each(|file| server(from, file).map(drop))
}

/// The tools of all servers, in the order of the file, with their approvals.
///
/// # Errors
/// A server cannot be used, or its tools cannot.
pub(super) async fn tools(from: &FromFile) -> Result<Vec<McpTool>, Failure> {
    let mut all = Vec::new();
    for file in &from.file.tools.mcp {
        let tools = server(from, file)?.tools().await.map_err(|error| wrong(from, &error.to_string()))?;
        all.extend(tools.into_iter().map(|tool| match &from.file.approve {
            // The file names tools. A server without trust could add others to them.
            Some(named) if file.trust => {
                let needed = named.iter().any(|name| name == runstate_agent::Tool::spec(&tool).name());
                tool.with_approval(needed)
            }
            _ => tool,
        }));
    }
    Ok(all)
}
