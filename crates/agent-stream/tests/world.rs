//! A run whose model is a scripted session, on virtual time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use runstate::termination::TerminationReason;
use runstate::tool_result::ToolResult;
use runstate_agent::answer::Usage;
use runstate_agent::event::{AgentEvent, EventKind, EventSink};
use runstate_agent::{
    Agent, CancellationToken, Input, RunHandles, RunState, Tool, ToolContext, ToolSpec, Unchecked,
    async_trait, run_loop,
};
use runstate_agent_stream::SessionModel;
use runstate_stream::{Recording, Session, SessionBuilder};
use serde_json::Value;

use super::stream::script::{Seen, Step};
use super::stream::sessions::on;
use super::stream::told::Notes;

/// Says what it was asked for.
struct Search(ToolSpec);

#[async_trait]
impl Tool for Search {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        ToolResult::Success(cx.arguments().clone())
    }
}

/// The texts that a run told while its model spoke.
#[derive(Default)]
pub struct Texts(Mutex<Vec<(u32, String)>>);

impl EventSink for Texts {
    fn emit(&self, event: &Arc<AgentEvent>) {
        if let EventKind::TextDelta { step, text } = &event.kind {
            self.0.lock().unwrap().push((*step, text.clone()));
        }
    }
}

/// What came of a run.
pub struct Done {
    pub reason: TerminationReason,
    /// The last answer.
    pub text: Option<String>,
    /// The calls of all answers.
    pub calls: Vec<String>,
    pub usage: Usage,
    /// Of its activation.
    pub used: Usage,
    pub texts: Vec<(u32, String)>,
    /// How long it took, in virtual milliseconds.
    pub took_ms: u128,
}

/// A model whose every session is made by this, what its sources saw, and what its sessions told.
pub struct World {
    pub seen: Seen,
    pub notes: Notes,
    pub records: Arc<Mutex<Vec<Recording>>>,
}

impl World {
    pub fn new() -> Self {
        World { seen: Seen::default(), notes: Notes::default(), records: Arc::default() }
    }

    /// Sessions whose primary stream plays, in step `n`, the `n`th of these lists of attempts; the last for all further steps.
    pub fn model(
        &self,
        steps: Vec<Vec<Vec<Step>>>,
        set: impl Fn(SessionBuilder) -> SessionBuilder + Send + Sync + 'static,
    ) -> SessionModel<Notes> {
        let (seen, notes, records) = (self.seen.clone(), self.notes.clone(), Arc::clone(&self.records));
        let made = SessionModel::new(move |request| {
            let attempts = steps.get(request.step as usize - 1).or(steps.last()).cloned().unwrap();
            set(on(&seen, attempts)).callbacks(notes.clone())
        });
        made.progress(read)
            .ended(move |session: &Session<Notes>| records.lock().unwrap().extend(session.recording()))
    }

    pub async fn run(&self, model: SessionModel<Notes>) -> Done {
        self.run_until(model, CancellationToken::new()).await
    }

    /// A run that is cancelled by the token.
    pub async fn run_until(&self, model: SessionModel<Notes>, token: CancellationToken) -> Done {
        let search = Search(ToolSpec::new("search", "Looks something up.").repeatable());
        let agent = Agent::builder(model).tool(search).schemas(Unchecked).build().unwrap();
        let (mut state, texts) = (RunState::new("r1"), Texts::default());
        let began = tokio::time::Instant::now();
        let io = RunHandles::new().events(&texts).cancelled_by(token);
        let outcome = run_loop(&agent, &mut state, Input::message("hi"), io).await.unwrap();
        Done {
            reason: outcome.reason,
            text: state.thread().last_answer().map(|turn| turn.text.clone()),
            calls: state.calls().map(|(name, _)| name.to_owned()).collect(),
            usage: state.usage(),
            used: outcome.used,
            texts: texts.0.into_inner().unwrap(),
            took_ms: began.elapsed().as_millis(),
        }
    }

    /// The callbacks of all sessions so far, by name and arguments.
    pub fn called(&self) -> Vec<String> {
        let notes = self.notes.take();
        notes.iter().filter_map(|note| note.strip_prefix("  on_")).map(str::to_owned).collect()
    }
}

fn read(progress: &Value) -> Option<Usage> {
    progress["read"].as_u64().map(|input_tokens| Usage {
        input_tokens,
        output_tokens: progress["wrote"].as_u64().unwrap_or_default(),
    })
}

pub fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}
