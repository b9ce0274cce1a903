//! MCP servers, in a program without them.

use runstate::tool_result::ToolResult;
use runstate_agent::{Tool, ToolContext, ToolSpec, async_trait};

use super::file::FromFile;
use crate::failure::Failure;

/// A tool of a server. A program without the feature has none.
#[derive(Debug)]
pub(super) enum McpTool {}

/// # Errors
/// The file has servers: the failure names the feature.
pub(super) fn check(from: &FromFile) -> Result<(), Failure> {
    let Some(server) = from.file.tools.mcp.first() else { return Ok(()) };
    let why = format!("{}: the MCP server {:?}: this program was built without MCP", from.path, server.name);
    Err(Failure::new(why).with_help(
        "build it with the feature: `cargo install runstate-cli --features mcp`, or in this repository \
         `cargo run -p runstate-cli --features mcp --`",
    ))
}

/// # Errors
/// As [`check`].
pub(super) async fn tools(from: &FromFile) -> Result<Vec<McpTool>, Failure> {
    check(from).map(|()| Vec::new())
}

#[async_trait]
impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        match *self {}
    }

    async fn call(&self, _: &mut ToolContext) -> ToolResult {
        match *self {}
    }
}
