//! The models of an agent file.

use std::num::NonZeroU32;
use std::path::Path;
#[cfg(feature = "serve")]
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::TryStreamExt;
use futures_util::future::BoxFuture;
use runstate_agent::InferenceRequest;
#[cfg(feature = "serve")]
use runstate_agent::Model;
use runstate_agent::answer::Usage;
use runstate_agent_stream::SessionModel;
#[cfg(feature = "genai")]
use runstate_genai::{Genai, GenaiModel, Provider};
use runstate_openai::{OpenAi, OpenAiModel};
use runstate_stream::{
    BoxSource, Continuation, Failure as Failed, Hooks, Opening, RetryPolicy, Session, SourceError,
};
use serde_json::{Map, Value};

#[cfg(feature = "serve")]
use super::file::PortModel;
use super::file::{AgentFile, FromFile, ModelFile};
use super::headers;
use crate::command::time;
use crate::failure::Failure;
use crate::input;
use crate::output::{complain, printable};

/// The longest silence of a server, unless the file has another one.
const SILENCE: Duration = Duration::from_secs(120);

/// The largest file of a key, in bytes.
const MOST_OF_A_KEY: u64 = 64 << 10;

/// The longest time of one answer.
const WHOLE: Duration = Duration::from_secs(3600);

/// The provider of a model without one: an OpenAI-compatible server.
const OPENAI: &str = "openai";

/// The model with its fallbacks and retries. With `live` its text arrives as the server sends it, and an attempt after a
/// failure goes on behind the text that arrived.
///
/// # Errors
/// A key or an address is missing or cannot be used.
pub(super) fn model(from: &FromFile, live: bool) -> Result<SessionModel<Hooks>, Failure> {
    let AgentFile { model, fallbacks, limits, .. } = &from.file;
    let first = server(from, model)?;
    let others = fallbacks.iter().map(|other| {
        let parameters = other.parameters.clone().into_iter().collect();
        Ok((server(from, other)?, Arc::new(parameters)))
    });
    let others = others.collect::<Result<Vec<(Server, Arc<Map<String, Value>>)>, Failure>>()?;
    let names: Arc<[String]> = [model].into_iter().chain(fallbacks).map(|model| model.name.clone()).collect();
    let mut retry = RetryPolicy::default();
    retry.total_retries = limits.retries.unwrap_or(retry.total_retries);
    let made = SessionModel::new(move |request| {
        let name = format!("{}/{}", request.run, request.step);
        let session = Session::builder(name, first.source(request)).retry(retry.clone()).require_complete();
        let session = others.iter().fold(session, |session, (other, parameters)| {
            let mut request = request.clone();
            // The parameters of the agent are those of the first model.
            request.parameters = Arc::clone(parameters);
            session.fallback(other.source(&request))
        });
        // Text that a terminal shows cannot be taken back, so the next attempt goes on behind it.
        let session = if live { session.continuation(Continuation::every(NonZeroU32::MIN)) } else { session };
        let names = Arc::clone(&names);
        let last: Arc<Mutex<Option<Failed>>> = Arc::default();
        let failed = Arc::clone(&last);
        let keep = move |error: &Failed, _, _| {
            *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
        };
        session.callbacks(Hooks::new().on_error(keep).on_start(move |_, _, falls_back| {
            // An answer may end between a failure and the attempt that was planned.
            if let Some(failed) = failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
                tell(&names, &failed, falls_back);
            }
        }))
    });
    let is_limited = limits.tokens.is_some() || limits.money.is_some();
    let made = made.progress(tokens);
    // A cut attempt is charged, and most servers count at the end of an answer.
    let made = if is_limited { made.bounding() } else { made };
    Ok(if live { made.live() } else { made })
}

/// The model of a port of the server. Its file has that path and that folder.
///
/// # Errors
/// As [`model`], and a name or an address that cannot be used.
#[cfg(feature = "serve")]
pub(crate) fn of_port(port: &PortModel, path: &str, base: PathBuf) -> Result<Arc<dyn Model>, Failure> {
    let from = port.as_agent(path, base)?;
    let parameters = from.file.model.parameters.clone().into_iter().collect();
    Ok(Arc::new(Parameterized { model: model(&from, false)?, parameters: Arc::new(parameters) }))
}

/// A model with the parameters of its file.
#[cfg(feature = "serve")]
struct Parameterized {
    model: SessionModel<Hooks>,
    parameters: Arc<Map<String, Value>>,
}

#[cfg(feature = "serve")]
impl Model for Parameterized {
    fn infer(&self, mut request: InferenceRequest) -> runstate_agent::ModelStream<'_> {
        request.parameters = Arc::clone(&self.parameters);
        self.model.infer(request)
    }
}

/// Tells a failure when a model is asked again, in one line. The end of the run has the last failure.
fn tell(names: &[String], failed: &Failed, falls_back: bool) {
    let name = |stream: usize| names.get(stream).map_or("", String::as_str);
    let stream = failed.stream as usize;
    let next = match falls_back {
        false => "it is asked again".to_owned(),
        true => format!("the fallback {:?} is asked", name(stream + 1)),
    };
    let (model, attempt) = (name(stream), failed.attempt);
    let message = failed.message.replace('\n', " ");
    complain(&printable(&format!("the model {model:?} failed at try {attempt}: {message}; {next}")));
}

/// The tokens of a report, in the form of either adapter.
fn tokens(progress: &Value) -> Option<Usage> {
    #[cfg(feature = "genai")]
    if let Some(usage) = runstate_genai::usage(progress) {
        return Some(usage);
    }
    runstate_openai::usage(progress)
}

/// Refuses a provider that this program does not have.
pub(super) fn check_provider(model: &ModelFile) -> Result<(), String> {
    let ModelFile { name, provider: Some(provider), .. } = model else { return Ok(()) };
    if provider == OPENAI {
        return Ok(());
    }
    #[cfg(feature = "genai")]
    return match provider.parse::<Provider>() {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(format!("the model {name:?}: provider: {error}; openai is the one of compatible servers"))
        }
    };
    #[cfg(not(feature = "genai"))]
    Err(format!(
        "the model {name:?}: this program was built with the provider openai alone, got {provider:?}; build it with the feature: `cargo \
         install runstate-cli --features genai`, or in this repository `cargo run -p runstate-cli --features genai --`"
    ))
}

/// The server of a model.
enum Server {
    /// With the field of the most tokens.
    OpenAi(Box<OpenAiModel>, Option<(&'static str, u32)>),
    #[cfg(feature = "genai")]
    Genai(GenaiModel),
}

type Opened = BoxFuture<'static, Result<BoxSource, SourceError>>;

impl Server {
    fn source(&self, request: &InferenceRequest) -> Box<dyn FnMut(Opening) -> Opened + Send> {
        match self {
            Server::OpenAi(model, output) => {
                let mut request = request.clone();
                if let Some((field, most)) = output
                    && !OUTPUT.iter().any(|field| request.parameters.contains_key(*field))
                {
                    request.set_parameter(*field, *most);
                }
                let mut open = model.source(&request);
                Box::new(move |opening| {
                    let opened = open(opening);
                    Box::pin(async move { Ok(Box::pin(opened.await?.into_stream()) as BoxSource) })
                })
            }
            #[cfg(feature = "genai")]
            Server::Genai(model) => {
                let mut open = model.source(request);
                Box::new(move |opening| {
                    let opened = open(opening);
                    Box::pin(async move { Ok(Box::pin(opened.await?.into_stream()) as BoxSource) })
                })
            }
        }
    }
}

/// The fields with the most tokens of an answer. OpenAI's models refuse the older one, and other servers do not know the newer one.
const OUTPUT: [&str; 2] = ["max_tokens", "max_completion_tokens"];

fn output_field(base_url: &str) -> &'static str {
    let is_openai = ["://api.openai.com/", ".openai.azure.com/"].iter().any(|host| base_url.contains(host));
    OUTPUT[usize::from(is_openai)]
}

fn server(from: &FromFile, model: &ModelFile) -> Result<Server, Failure> {
    let name = &model.name;
    let wrong = |error: String| Failure::new(format!("{}: the model {name:?}: {error}", from.path));
    let key = key(from, model)?;
    let headers = headers::read(&model.headers_env).map_err(wrong)?;
    let silence = match &model.silence {
        Some(text) => time(text).map_err(|error| wrong(format!("silence: {error}")))?,
        None => SILENCE,
    };
    let output = from.file.limits.output;
    #[cfg(feature = "genai")]
    if let Some(provider) = model.provider.as_ref().filter(|provider| *provider != OPENAI) {
        let of = |error: runstate_genai::ConfigError| wrong(error.to_string());
        let mut server = Genai::new(provider.parse().map_err(of)?, &model.base_url).map_err(of)?;
        if let Some(key) = key {
            server = server.with_key(&key).map_err(of)?;
        }
        for (header, value) in headers {
            server = server.with_header(header, &value).map_err(of)?;
        }
        let made = GenaiModel::new(server.within(silence, WHOLE), name.as_str());
        return Ok(Server::Genai(match output {
            Some(most) => made.with_max_output(most),
            None => made,
        }));
    }
    let of = |error: runstate_openai::ConfigError| wrong(error.to_string());
    let mut server = OpenAi::new(&model.base_url).map_err(of)?;
    if let Some(key) = key {
        server = server.with_key(&key).map_err(of)?;
    }
    for (header, value) in headers {
        server = server.with_header(header, &value).map_err(of)?;
    }
    let output = output.map(|most| (output_field(&model.base_url), most));
    let made = OpenAiModel::new(server.within(silence, WHOLE), name.as_str());
    Ok(Server::OpenAi(Box::new(made), output))
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
