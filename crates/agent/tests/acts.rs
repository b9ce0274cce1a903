//! A plugin that does in each phase what a test tells it, and writes down where it was asked.

use std::sync::{Arc, Mutex};

use runstate::termination::TerminationReason;
use runstate::turn::Turn;
use runstate_agent::answer::Usage;
use runstate_agent::{
    ExecutedCall, GateCall, InferenceRequest, Phase, PhaseContext, Plugin, PluginError, Verdict, async_trait,
};

type Act = Box<dyn Fn(Phase, &mut PhaseContext<'_>) -> Result<(), PluginError> + Send + Sync>;

/// Where it was asked: the phase, the step, and the call or the reason.
pub type Diary = Arc<Mutex<Vec<String>>>;

pub struct Acts {
    pub name: &'static str,
    pub diary: Diary,
    act: Act,
    verdict: Box<dyn Fn(&GateCall<'_>) -> Verdict + Send + Sync>,
    request: Box<dyn Fn(&mut InferenceRequest) + Send + Sync>,
    turn: Box<dyn Fn(&mut Turn) + Send + Sync>,
}

impl Acts {
    pub fn new(name: &'static str) -> Self {
        Acts {
            name,
            diary: Diary::default(),
            act: Box::new(|_, _| Ok(())),
            verdict: Box::new(|_| Verdict::Allow),
            request: Box::new(|_| ()),
            turn: Box::new(|_| ()),
        }
    }

    pub fn act(
        mut self,
        act: impl Fn(Phase, &mut PhaseContext<'_>) -> Result<(), PluginError> + Send + Sync + 'static,
    ) -> Self {
        self.act = Box::new(act);
        self
    }

    pub fn verdict(mut self, verdict: impl Fn(&GateCall<'_>) -> Verdict + Send + Sync + 'static) -> Self {
        self.verdict = Box::new(verdict);
        self
    }

    pub fn request(mut self, request: impl Fn(&mut InferenceRequest) + Send + Sync + 'static) -> Self {
        self.request = Box::new(request);
        self
    }

    pub fn turn(mut self, turn: impl Fn(&mut Turn) + Send + Sync + 'static) -> Self {
        self.turn = Box::new(turn);
        self
    }

    async fn asked(&self, phase: Phase, cx: &mut PhaseContext<'_>, what: &str) -> Result<(), PluginError> {
        tokio::task::yield_now().await;
        assert_eq!(cx.phase(), phase);
        self.diary.lock().unwrap().push(format!("{phase} {}{what}", cx.step()));
        (self.act)(phase, cx)
    }
}

#[async_trait]
impl Plugin for Acts {
    fn name(&self) -> &str {
        self.name
    }

    async fn run_start(&self, cx: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        self.asked(Phase::RunStart, cx, "").await
    }

    async fn step_start(&self, cx: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        self.asked(Phase::StepStart, cx, "").await
    }

    async fn before_inference(
        &self,
        cx: &mut PhaseContext<'_>,
        request: &mut InferenceRequest,
    ) -> Result<(), PluginError> {
        (self.request)(request);
        self.asked(Phase::BeforeInference, cx, "").await
    }

    async fn after_inference(
        &self,
        cx: &mut PhaseContext<'_>,
        turn: &mut Turn,
        _: &Usage,
    ) -> Result<(), PluginError> {
        (self.turn)(turn);
        self.asked(Phase::AfterInference, cx, "").await
    }

    async fn before_tool_execute(
        &self,
        cx: &mut PhaseContext<'_>,
        call: &GateCall<'_>,
    ) -> Result<Verdict, PluginError> {
        self.asked(Phase::BeforeToolExecute, cx, &format!(" {}", call.name())).await?;
        Ok((self.verdict)(call))
    }

    async fn after_tool_execute(
        &self,
        cx: &mut PhaseContext<'_>,
        call: &ExecutedCall<'_>,
    ) -> Result<(), PluginError> {
        self.asked(Phase::AfterToolExecute, cx, &format!(" {} {:?}", call.name(), call.outcome())).await
    }

    async fn step_end(&self, cx: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        self.asked(Phase::StepEnd, cx, "").await
    }

    async fn run_end(
        &self,
        cx: &mut PhaseContext<'_>,
        reason: &TerminationReason,
    ) -> Result<(), PluginError> {
        self.asked(Phase::RunEnd, cx, &format!(" {reason}")).await
    }
}
