//! Mistakes of an agent file that its form permits.

use hyper::Uri;
use runstate::diagram::LineIndex;

use super::file::{AgentFile, FromFile, ModelFile};
use super::{headers, http, mcp_file, model};
use crate::failure::Failure;
use crate::spec::is_name;

/// A mistake of an agent file, and its place: names of fields, and numbers of items.
pub(super) struct Wrong {
    path: Vec<String>,
    pub(super) why: String,
}

fn wrong(path: &[&str], why: impl Into<String>) -> Wrong {
    Wrong { path: path.iter().map(|part| (*part).to_owned()).collect(), why: why.into() }
}

impl Wrong {
    /// The mistake as one of a value inside of these.
    fn inside(mut self, outer: &[&str]) -> Self {
        self.path.splice(..0, outer.iter().map(|part| (*part).to_owned()));
        self
    }

    /// The failure, without an excerpt: the line may have a key.
    pub(super) fn failure(&self, read: &FromFile) -> Failure {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        let place = runstate_scenario::place(read.text(), &path).map(|span| {
            let at = LineIndex::new(read.text()).position(read.text(), span.start);
            format!(":{}:{}", at.line, at.column)
        });
        Failure::new(format!("{}{}: {}", read.path, place.unwrap_or_default(), self.why))
    }
}

/// Refuses an address that has a secret, which each run would store, and one over which a key would be readable.
fn address(model: &ModelFile) -> Result<(), String> {
    let name = &model.name;
    let (_, rest) = model.base_url.split_once("://").unwrap_or(("", &model.base_url));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = &rest[..end];
    if authority.contains('@') {
        return Err(format!(
            "the model {name:?}: base_url has a user or a password, which each run would store; write key_env or key_file"
        ));
    }
    let queries =
        rest.split_once('?').map_or("", |(_, query)| query).split('&').filter(|query| !query.is_empty());
    for query in queries {
        let field = query.split('=').next().unwrap_or_default();
        if field != "api-version" {
            return Err(format!(
                "the model {name:?}: base_url has the query {field:?}, expected api-version alone; each run would store a key"
            ));
        }
    }
    // The parser is that of the client. It reads a scheme in any case, and `127.0.0.1.a.example` is a name.
    let uri = model.base_url.parse::<Uri>().ok();
    let is_here = uri.as_ref().and_then(Uri::host).is_some_and(http::is_loopback);
    let is_open =
        uri.as_ref().and_then(Uri::scheme_str).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http"));
    let secret = if model.key_env.is_some() || model.key_file.is_some() {
        "the key"
    } else if model.headers_env.is_empty() {
        return Ok(());
    } else {
        "the value of headers_env"
    };
    if is_open && !is_here {
        return Err(format!(
            "the model {name:?}: base_url is http, over which {secret} would be readable; expected https, or a loopback address"
        ));
    }
    Ok(())
}

/// The fields of a request that the agent sets.
const OWN: [&str; 5] = ["model", "messages", "stream", "stream_options", "tools"];

/// Whether a text can be the name of an environment variable.
pub(super) fn is_variable(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// Refuses an agent file that no run can have.
///
/// # Errors
/// The first mistake.
pub(super) fn check(file: &AgentFile) -> Result<(), Wrong> {
    let name = &file.name;
    if !is_name(name) {
        let why = format!("name: got {name:?}, expected 1 to 64 lower-case letters, digits and hyphens");
        return Err(wrong(&["name"], why));
    }
    check_model(file, &file.model).map_err(|wrong| wrong.inside(&["model"]))?;
    for (index, model) in file.fallbacks.iter().enumerate() {
        check_model(file, model).map_err(|wrong| wrong.inside(&["fallbacks", &index.to_string()]))?;
    }
    if let Some(http) = &file.tools.http {
        http::spec(http).map_err(|why| wrong(&["tools", "http"], why))?;
        headers::check(&http.headers_env).map_err(|(header, why)| {
            wrong(&["tools", "http", "headers_env", header], format!("tools.http.{why}"))
        })?;
    }
    if file.limits.output == Some(0) {
        return Err(wrong(&["limits", "output"], "limits.output: got 0, expected at least 1"));
    }
    let commands = &file.tools.commands;
    for (index, command) in commands.iter().enumerate() {
        let place = index.to_string();
        let at = |field: &str, why: String| Err(wrong(&["tools", "commands", &place, field], why));
        let name = &command.name;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
            let why =
                format!("a command has the name {name:?}, expected 1 to 64 letters, digits, `_` and `-`");
            return at("name", why);
        }
        if commands[..index].iter().any(|other| other.name == *name) {
            return at("name", format!("two commands have the name {name:?}"));
        }
        if command.command.first().is_none_or(|program| program.is_empty() || program.contains('{')) {
            let why = format!(
                "the command {name:?} names no program; expected a list such as [wc, -l, \"{{path}}\"]"
            );
            return at("command", why);
        }
    }
    mcp_file::check(&file.tools.mcp).map_err(|(index, why)| wrong(&["tools", "mcp", &index.to_string()], why))
}

fn check_model(file: &AgentFile, model: &ModelFile) -> Result<(), Wrong> {
    let name = &model.name;
    if model.key.is_some() {
        let why = format!(
            "the model {name:?} has a key, which each run would store; write key_env: VARIABLE or key_file: PATH"
        );
        return Err(wrong(&["key"], why));
    }
    if model.key_env.is_some() && model.key_file.is_some() {
        let why = format!("the model {name:?} has key_env and key_file, expected one of them");
        return Err(wrong(&["key_file"], why));
    }
    address(model).map_err(|why| wrong(&["base_url"], why))?;
    model::check_provider(model).map_err(|why| wrong(&["provider"], why))?;
    let is_secret = |field: &&String| {
        let field = field.to_ascii_lowercase().replace(['-', '_'], "");
        ["apikey", "authorization", "password", "secret"].iter().any(|word| field.contains(word))
    };
    if name.trim().is_empty() {
        return Err(wrong(&["name"], "the model has no name"));
    }
    if let Some(field) = OWN.into_iter().find(|field| model.parameters.contains_key(*field)) {
        let why = format!("the model {name:?}: parameters.{field} has no effect, because the agent sets it");
        return Err(wrong(&["parameters", field], why));
    }
    if let Some(field) = model.parameters.keys().find(is_secret) {
        let why = format!(
            "the model {name:?}: parameters.{field} would be stored with each run; write key_env or key_file"
        );
        return Err(wrong(&["parameters", field], why));
    }
    if model.key_env.as_ref().is_some_and(|variable| !is_variable(variable)) {
        let why = format!(
            "the model {name:?}: key_env is no name of an environment variable, such as OPENAI_API_KEY; a key in the file would be stored with each run"
        );
        return Err(wrong(&["key_env"], why));
    }
    headers::check(&model.headers_env)
        .map_err(|(header, why)| wrong(&["headers_env", header], format!("the model {name:?}: {why}")))?;
    if file.limits.money.is_some() && !file.prices.contains_key(name) {
        let why = format!("limits.money: prices has no entry for the model {name:?}, so its cost is unknown");
        return Err(wrong(&["name"], why));
    }
    Ok(())
}
