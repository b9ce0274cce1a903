//! The form of the MCP servers of an agent file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::headers;
use super::mistakes::is_variable;

/// A server of the Model Context Protocol: a program, or an address.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    not(feature = "mcp"),
    expect(dead_code, reason = "a program without the feature refuses the servers")
)]
pub(super) struct McpFile {
    /// The name: 1 to 32 letters, digits, `-`, and single `_` between them.
    pub(super) name: String,
    /// The program and its arguments. It reads standard input and writes standard output. No shell reads the arguments.
    #[serde(default)]
    pub(super) command: Option<Vec<String>>,
    /// The environment variables of this process that the program gets, beside PATH, HOME, LANG, LC_ALL, TMPDIR, TZ and USER.
    #[serde(default)]
    pub(super) env: Vec<String>,
    /// The working folder of the program, by its path from the agent file. Default: the folder of the agent file.
    #[serde(default)]
    pub(super) folder: Option<PathBuf>,
    /// The address of a server that speaks streamable HTTP.
    #[serde(default)]
    pub(super) url: Option<String>,
    /// The headers of each request, each with the environment variable that has its value.
    #[serde(default)]
    pub(super) headers_env: BTreeMap<String, String>,
    /// The tools that the agent gets, by their names at the server. Default: all.
    #[serde(default)]
    pub(super) tools: Option<Vec<String>>,
    /// Whether the annotations of the server are trusted: a tool that it declares read-only needs no approval and may be repeated.
    /// Default: false.
    #[serde(default)]
    pub(super) trust: bool,
    /// The longest silence of a call, such as `30s`. Progress ends it. Default: 1m.
    #[serde(default)]
    pub(super) timeout: Option<String>,
    /// The largest result, in bytes. The rest is omitted. Default: 64 KiB.
    #[serde(default)]
    pub(super) max_output: Option<usize>,
}

impl McpFile {
    /// The beginning of the names of its tools.
    pub(super) fn prefix(&self) -> String {
        format!("{}__", self.name)
    }
}

/// # Errors
/// A server, by its place in the list, has two transports or none, a field of the other one, or a secret.
pub(super) fn check(servers: &[McpFile]) -> Result<(), (usize, String)> {
    for (index, server) in servers.iter().enumerate() {
        let wrong = |why: &str| Err((index, format!("tools.mcp: the server {:?} {why}", server.name)));
        if servers[..index].iter().any(|other| other.name == server.name) {
            return Err((index, format!("tools.mcp: two servers have the name {:?}", server.name)));
        }
        match (&server.command, &server.url) {
            (None, None) => return wrong("has no command and no url, expected one of them"),
            (Some(_), Some(_)) => return wrong("has a command and a url, expected one of them"),
            (Some(_), None) if !server.headers_env.is_empty() => {
                return wrong("has headers_env, which is for a url");
            }
            (None, Some(_)) if !server.env.is_empty() || server.folder.is_some() => {
                return wrong("has env or folder, which are for a command");
            }
            (None, Some(url)) if url.contains(['?', '#', '@']) => {
                return wrong(
                    "has a url with a user, a query or a fragment; each run would store a key in it, so write headers_env",
                );
            }
            _ => {}
        }
        if let Some(text) = server.env.iter().find(|text| !is_variable(text)) {
            let names = format!(
                "has env {text:?}, which is no name of an environment variable; values are not written here"
            );
            return wrong(&names);
        }
        headers::check(&server.headers_env)
            .map_err(|(_, why)| (index, format!("tools.mcp: the server {:?}: {why}", server.name)))?;
    }
    Ok(())
}
