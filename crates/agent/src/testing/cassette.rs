//! Recordings of a model and of tools.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::{fmt, fs, io};

use async_trait::async_trait;
use futures_core::Stream;
use futures_util::stream;
use runstate::tool_result::ToolResult;

use super::recorded::{Answer, Asked, Called, Event, Outcome, Previewed, Recorded, Tape, VERSION};
use crate::answer::ModelEvent;
use crate::{
    GateCall, InferenceRequest, Model, ModelError, ModelStream, Preview, Tool, ToolContext, ToolSpec,
};

/// The environment variable with which [`Cassette::open`] records: any value but an empty one and `0`.
pub const RECORD: &str = "RUNSTATE_RECORD";

/// A recording of the answers of a model and the results of tools, in a file of JSON.
///
/// A recorded cassette replays: no model and no tool is executed. An answer belongs to a request with the same system
/// prompt, messages, tools and parameters; a result to a call with the same tool, arguments, attempt and result of its
/// decision; a preview to a call with the same tool, arguments and number of decisions. Another request is an error of the
/// model, and another call a failed call, whose text names the difference. A preview that was not recorded is none.
///
/// The file is written after each answer and each result. It has the answers and the arguments and outputs of tools, and
/// no key of a model. **Limits**: values that a tool sets and its progress are not recorded; the last of equal recordings
/// repeats; an answer that is dropped before its end is not recorded.
///
/// ```
/// use runstate::tool_result::ToolResult;
/// use runstate_agent::testing::{Cassette, ScriptedModel, ScriptedReply};
/// use runstate_agent::{Agent, Input, RunHandles, RunState, run_loop};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("runstate-cassette-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let file = folder.join("hello.json");
/// // A test has `Cassette::open`, which records with RUNSTATE_RECORD=1 and replays otherwise.
/// for records in [true, false] {
///     let cassette = if records { Cassette::record(&file) } else { Cassette::replay(&file)? };
///     // The model is made when the cassette records alone, so a replay needs no key.
///     let model = cassette.model(|| ScriptedModel::new([ScriptedReply::text("hello")]));
///     let agent = Agent::builder(model).build()?;
///     let mut state = RunState::new("r1");
///     run_loop(&agent, &mut state, Input::message("hi"), RunHandles::new()).await?;
///     assert_eq!(state.thread().last_answer().unwrap().text, "hello");
/// }
///
/// // A message that was never recorded.
/// let cassette = Cassette::replay(&file)?;
/// let agent = Agent::builder(cassette.model(|| ScriptedModel::new([]))).build()?;
/// let mut state = RunState::new("r2");
/// let outcome = run_loop(&agent, &mut state, Input::message("good morning"), RunHandles::new()).await?;
/// assert!(format!("{:?}", outcome.reason).contains("the messages differ"), "{:?}", outcome.reason);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Cassette(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    records: bool,
    tape: Mutex<Tape>,
    /// The recordings that were replayed already, by their index. Equal ones are replayed in their order.
    replayed: Mutex<[Vec<usize>; 3]>,
}

/// The error of a cassette.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CassetteError {
    /// The file cannot be read.
    #[error("the cassette {} cannot be read: {source}; record it with {RECORD}=1", path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file is no cassette.
    #[error("{} is no cassette: {source}; record it again with {RECORD}=1", path.display())]
    Form {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: serde_json::Error,
    },
    /// The cassette is of another version of this crate.
    #[error("{}: got a cassette of version {got}, expected {VERSION}; record it again with {RECORD}=1", path.display())]
    Version {
        /// The path.
        path: PathBuf,
        /// The version.
        got: u32,
    },
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each section leaves the content whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cassette {
    /// Records if the environment variable [`RECORD`] is set, and otherwise replays.
    ///
    /// # Errors
    /// As [`replay`](Self::replay), if it replays.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, CassetteError> {
        let records = std::env::var_os(RECORD).is_some_and(|set| !set.is_empty() && set != OsStr::new("0"));
        if records { Ok(Self::record(path)) } else { Self::replay(path) }
    }

    /// Makes a cassette that records. The first recording replaces the file.
    pub fn record(path: impl Into<PathBuf>) -> Self {
        Self::of(path.into(), true, Tape::default())
    }

    /// Opens a cassette that replays.
    ///
    /// # Errors
    /// The file cannot be read, or is no cassette.
    pub fn replay(path: impl Into<PathBuf>) -> Result<Self, CassetteError> {
        let path = path.into();
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(source) => return Err(CassetteError::Read { path, source }),
        };
        let tape: Tape = match serde_json::from_slice(&text) {
            Ok(tape) => tape,
            Err(source) => return Err(CassetteError::Form { path, source }),
        };
        if tape.version != VERSION {
            return Err(CassetteError::Version { path, got: tape.version });
        }
        Ok(Self::of(path, false, tape))
    }

    fn of(path: PathBuf, records: bool, tape: Tape) -> Self {
        Cassette(Arc::new(Inner { path, records, tape: Mutex::new(tape), replayed: Mutex::default() }))
    }

    /// The model of the cassette. `model` is called only if the cassette records.
    pub fn model<M: Model + 'static>(&self, model: impl FnOnce() -> M) -> CassetteModel {
        let live = self.0.records.then(|| Arc::new(model()) as Arc<dyn Model>);
        CassetteModel { cassette: self.clone(), live }
    }

    /// A tool of the cassette, with the specification of `tool`. The tool is executed only if the cassette records.
    pub fn tool<T: Tool>(&self, tool: T) -> CassetteTool<T> {
        CassetteTool { cassette: self.clone(), tool }
    }

    /// Adds a recording, and writes the file.
    fn add(&self, add: impl FnOnce(&mut Tape)) -> Result<(), String> {
        let mut tape = lock(&self.0.tape);
        add(&mut tape);
        let text = serde_json::to_string_pretty(&*tape).map_err(io::Error::from);
        let written = text.and_then(|text| write(&self.0.path, &format!("{text}\n")));
        written.map_err(|error| format!("the cassette {} cannot be written: {error}", self.0.path.display()))
    }

    /// The recorded answer to a request.
    fn answer(&self, asked: &Asked) -> Result<Vec<Event>, String> {
        let tape = lock(&self.0.tape);
        let replayed = &mut lock(&self.0.replayed)[0];
        let equal = (0..tape.answers.len()).filter(|index| tape.answers[*index].request == *asked);
        if let Some(index) = next(equal, replayed) {
            return Ok(tape.answers[index].events.clone());
        }
        let path = self.0.path.display();
        let number = asked.answers + 1;
        let near = tape.answers.iter().find(|answer| answer.request.answers == asked.answers);
        Err(match near {
            Some(near) => {
                let parts = asked.differences(&near.request).join(" and ");
                format!(
                    "{path} has answer {number} for another request: {parts} differ; record it again with {RECORD}=1"
                )
            }
            None => format!("{path} has no answer {number}; record it again with {RECORD}=1"),
        })
    }

    /// The recorded result of a call.
    fn result(&self, called: &Called) -> Result<Outcome, String> {
        let tape = lock(&self.0.tape);
        let replayed = &mut lock(&self.0.replayed)[1];
        let equal = (0..tape.results.len()).filter(|index| tape.results[*index].call == *called);
        if let Some(index) = next(equal, replayed) {
            return Ok(tape.results[index].result.clone());
        }
        let Called { tool, arguments, .. } = called;
        Err(format!(
            "{} has no result of {tool} with the arguments {arguments}; record it again with {RECORD}=1",
            self.0.path.display()
        ))
    }

    /// The recorded preview of a call.
    fn preview(&self, asked: &Previewed) -> Option<Preview> {
        let tape = lock(&self.0.tape);
        let replayed = &mut lock(&self.0.replayed)[2];
        let equal = (0..tape.previews.len()).filter(|index| tape.previews[*index].is_of(asked));
        next(equal, replayed).and_then(|index| tape.previews[index].preview.clone())
    }
}

/// The next of equal recordings. The last one repeats, for a call that executes again after a crash.
fn next(equal: impl Iterator<Item = usize>, replayed: &mut Vec<usize>) -> Option<usize> {
    let mut last = None;
    for index in equal {
        if !replayed.contains(&index) {
            replayed.push(index);
            return Some(index);
        }
        last = Some(index);
    }
    last
}

/// Replaces a file as a whole, so that a killed test leaves a readable one.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let scratch = path.with_file_name(name);
    fs::write(&scratch, text)?;
    fs::rename(&scratch, path)
}

/// The model of a [`Cassette`].
#[derive(Clone)]
pub struct CassetteModel {
    cassette: Cassette,
    live: Option<Arc<dyn Model>>,
}

impl fmt::Debug for CassetteModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CassetteModel").field("cassette", &self.cassette).finish_non_exhaustive()
    }
}

impl Model for CassetteModel {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        let asked = Asked::of(&request);
        if let Some(live) = &self.live {
            // The model is asked only if its answer can be kept.
            return match self.cassette.add(|_| ()) {
                Ok(()) => {
                    let (cassette, live) = (&self.cassette, live.infer(request));
                    Box::pin(Recording { cassette, asked: Some(asked), live, events: Vec::new() })
                }
                Err(error) => Box::pin(stream::iter([failed(error)])),
            };
        }
        let events: Vec<ModelEvent> = match self.cassette.answer(&asked) {
            Ok(events) => events.into_iter().map(ModelEvent::from).collect(),
            Err(error) => vec![failed(error)],
        };
        Box::pin(stream::iter(events))
    }
}

/// An answer that is recorded while it arrives.
struct Recording<'a> {
    cassette: &'a Cassette,
    asked: Option<Asked>,
    live: ModelStream<'a>,
    events: Vec<Event>,
}

fn failed(error: String) -> ModelEvent {
    ModelEvent::Error(ModelError::new(error))
}

impl Recording<'_> {
    fn write(&mut self) -> Result<(), String> {
        let Some(request) = self.asked.take() else { return Ok(()) };
        let events = std::mem::take(&mut self.events);
        self.cassette.add(|tape| tape.answers.push(Answer { request, events }))
    }
}

impl Stream for Recording<'_> {
    type Item = ModelEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ModelEvent>> {
        let this = &mut *self;
        let event = std::task::ready!(this.live.as_mut().poll_next(cx));
        match event {
            Some(event) => {
                this.events.push(Event::from(&event));
                Poll::Ready(Some(event))
            }
            None => Poll::Ready(this.write().err().map(failed)),
        }
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        // The loop reads no further behind an error, and may read no further behind a finish.
        if self.events.iter().any(|event| matches!(event, Event::Finish(_) | Event::Error(_))) {
            // The next recording reports a file that cannot be written.
            drop(self.write());
        }
    }
}

/// A tool of a [`Cassette`].
#[derive(Debug, Clone)]
pub struct CassetteTool<T> {
    cassette: Cassette,
    tool: T,
}

#[async_trait]
impl<T: Tool> Tool for CassetteTool<T> {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        let (tool, arguments) = (self.spec().name().to_owned(), cx.arguments().clone());
        let decided = cx.decision().map(|decision| decision.result.clone()).unwrap_or_default();
        let call = Called { tool, arguments, attempt: cx.attempt(), decided };
        if !self.cassette.0.records {
            return self.cassette.result(&call).map_or_else(ToolResult::Error, ToolResult::from);
        }
        let result = self.tool.call(cx).await;
        let recorded = Recorded { call, result: Outcome::from(&result) };
        match self.cassette.add(|tape| tape.results.push(recorded)) {
            Ok(()) => result,
            Err(error) => ToolResult::Error(error),
        }
    }

    async fn preview(&self, call: &GateCall<'_>) -> Option<Preview> {
        let (tool, arguments) = (self.spec().name().to_owned(), call.arguments().clone());
        let mut shown = Previewed { tool, arguments, decisions: call.decisions().len(), preview: None };
        if !self.cassette.0.records {
            return self.cassette.preview(&shown);
        }
        shown.preview = self.tool.preview(call).await;
        let preview = shown.preview.clone();
        // The result of the call reports a file that cannot be written.
        self.cassette.add(|tape| tape.previews.push(shown)).ok();
        preview
    }
}
