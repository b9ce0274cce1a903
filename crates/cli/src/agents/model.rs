//! The model of an agent file.

use std::path::Path;
use std::time::Duration;

use runstate_agent_stream::SessionModel;
use runstate_openai::{OpenAi, OpenAiModel, usage};
use runstate_stream::{RetryPolicy, Session};

use super::file::{AgentFile, FromFile, ModelFile};
use crate::command::time;
use crate::failure::Failure;
use crate::input;

/// The longest silence of a server, unless the file has another one.
const SILENCE: Duration = Duration::from_secs(120);

/// The largest file of a key, in bytes.
const MOST_OF_A_KEY: u64 = 64 << 10;

/// The longest time of one answer.
const WHOLE: Duration = Duration::from_secs(3600);

/// The model with its fallbacks and retries. With `live` its text arrives as the server sends it.
///
/// # Errors
/// A key or an address is missing or cannot be used.
pub(super) fn model(from: &FromFile, live: bool) -> Result<SessionModel, Failure> {
    let AgentFile { model, fallbacks, limits, .. } = &from.file;
    let first = server(from, model)?;
    let others = fallbacks.iter().map(|other| server(from, other)).collect::<Result<Vec<_>, _>>()?;
    let mut retry = RetryPolicy::default();
    retry.total_retries = limits.retries.unwrap_or(retry.total_retries);
    let made = SessionModel::new(move |request| {
        let name = format!("{}/{}", request.run, request.step);
        let session = Session::builder(name, first.source(request)).retry(retry.clone()).require_complete();
        others.iter().fold(session, |session, other| session.fallback(other.source(request)))
    });
    let made = made.progress(usage);
    Ok(if live { made.live() } else { made })
}

fn server(from: &FromFile, model: &ModelFile) -> Result<OpenAiModel, Failure> {
    let name = &model.name;
    let of = |error: runstate_openai::ConfigError| {
        Failure::new(format!("{}: the model {name:?}: {error}", from.path))
    };
    let mut server = OpenAi::new(&model.base_url).map_err(of)?;
    if let Some(key) = key(from, model)? {
        server = server.with_key(&key).map_err(of)?;
    }
    let silence = match &model.silence {
        Some(text) => time(text)
            .map_err(|error| Failure::new(format!("{}: the model {name:?}: silence: {error}", from.path)))?,
        None => SILENCE,
    };
    Ok(OpenAiModel::new(server.within(silence, WHOLE), name.as_str()))
}

/// The key of a model. It stands in no message and in no store.
fn key(from: &FromFile, model: &ModelFile) -> Result<Option<String>, Failure> {
    if let Some(variable) = &model.key_env {
        return match std::env::var(variable) {
            Ok(key) if !key.trim().is_empty() => Ok(Some(key.trim().to_owned())),
            _ => {
                let why =
                    format!("the model {:?} needs a key in the environment variable {variable}", model.name);
                Err(Failure::new(format!("{}: {why}", from.path)))
            }
        };
    }
    let Some(file) = &model.key_file else { return Ok(None) };
    let path = from.base.join(file);
    // A pipe and a device are refused.
    let bytes = input::read(&path, MOST_OF_A_KEY)
        .map_err(|error| Failure::io("read the key of the model in", &path, &error))?;
    match String::from_utf8_lossy(&bytes).trim() {
        "" => Err(Failure::new(format!("{}: expected a key, got an empty file", shown(&path)))),
        key => Ok(Some(key.to_owned())),
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
