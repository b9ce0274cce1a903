//! The list of a server's tools.

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool as Listed};
use rmcp::service::{Peer, RoleClient};
use runstate::decision::digest;
use serde_json::{Value, json};

use crate::connection::told;
use crate::error::one_line;

/// The most tools of a server.
const MAX_TOOLS: usize = 1_000;

/// The most pages of a list.
const MAX_PAGES: usize = 100;

/// The longest name of a tool for a model, in bytes.
const MAX_NAME: usize = 64;

/// Reads all pages of the list. The cache of the client is left out: the server sets its time to live.
///
/// # Errors
/// The server refuses, or its list does not end.
pub(crate) async fn list(peer: &Peer<RoleClient>) -> Result<Vec<Listed>, String> {
    let (mut tools, mut cursor) = (Vec::new(), None);
    for _ in 0..MAX_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ListToolsRequest::with_param(params);
        let sent = peer.send_request(ClientRequest::ListToolsRequest(request)).await;
        let page = match sent.map_err(|error| told(&error))? {
            ServerResult::ListToolsResult(page) => page,
            _ => return Err("got another result than a list of tools".to_owned()),
        };
        tools.extend(page.tools);
        if tools.len() > MAX_TOOLS {
            return Err(format!("got more than {MAX_TOOLS} tools"));
        }
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(tools),
        }
    }
    Err(format!("got more than {MAX_PAGES} pages of tools"))
}

/// The name of a tool for a model: `server__tool`, with `_` for a dot and a slash.
///
/// # Errors
/// The name has another character, or is too long.
pub(crate) fn name(server: &str, tool: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let shown = format!("{:?}", one_line(tool));
    if tool.is_empty() || !tool.chars().all(is_plain) {
        return Err(format!(
            "the tool {shown} has a name that no model can call, expected letters, digits, `_`, `-`, `.` and `/` of ASCII"
        ));
    }
    let name = format!("{server}__{}", tool.replace(['.', '/'], "_"));
    if name.len() > MAX_NAME {
        let most = MAX_NAME - server.len() - 2;
        return Err(format!(
            "the tool {shown} has {} bytes in its name, expected at most {most}",
            tool.len()
        ));
    }
    Ok(name)
}

/// The digest of the definition that an approval is for: the input schema and the annotations.
pub(crate) fn definition(tool: &Listed) -> String {
    let annotations = serde_json::to_value(&tool.annotations).unwrap_or(Value::Null);
    digest(&json!([tool.input_schema.as_ref(), annotations]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_a_model() {
        assert_eq!(name("fs", "read_file").unwrap(), "fs__read_file");
        assert_eq!(name("fs", "files/read.text").unwrap(), "fs__files_read_text");
        for odd in ["", "réad", "read\u{202e}file", "read\nfile", "rеad", "a b"] {
            let error = name("fs", odd).unwrap_err();
            assert!(error.contains("no model can call"), "{error}");
            assert!(!error.contains(['\n', '\u{202e}']), "{error:?}");
        }
        assert!(name("fs", &"a".repeat(60)).is_ok());
        assert!(name("fs", &"a".repeat(61)).unwrap_err().contains("expected at most 60"));
    }
}
