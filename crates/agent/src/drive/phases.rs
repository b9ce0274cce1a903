//! The phases of a step, and their plugins.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::FutureExt;
use runstate::termination::{FinalReason, TerminationReason};
use runstate::turn::Turn;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::super::answer::Usage;
use super::super::config::Config;
use super::super::depth::{is_too_deep, too_deep_arguments};
use super::super::event::EventKind;
use super::super::history::Message;
use super::super::keys::Patches;
use super::super::model::InferenceRequest;
use super::super::plugin::{
    Approvals, EndedStep, ExecutedCall, Extension, GateCall, Phase, PhaseContext, Plugin, PluginError,
    Verdict, foreign_word,
};
use super::super::state::RunState;
use super::super::tool::ToolSpec;
use super::jobs::panicked;
use super::{Drive, Halt};

/// Calls one plugin in the phase, and applies its side effects. Executions continue meanwhile.
macro_rules! one_plugin {
    ($self:ident, $phase:expr, $step:expr, $plugin:expr, |$cx:ident| $ask:expr) => {{
        let (phase, plugin) = ($phase, $plugin.as_ref());
        let mut cx = context(&*$self.state, $self.config, &$self.io.cancelled, phase, $step);
        let $cx = &mut cx;
        let answer = AssertUnwindSafe(async { $ask.await }).catch_unwind();
        let answer = $self.jobs.beside($self.io.cancelled.run_until_cancelled(answer)).await;
        let (patches, stop) = (cx.patches, cx.stop);
        let answer = read(plugin, phase, answer)?;
        $self.heed(plugin, patches, stop)?;
        answer
    }};
}

/// Calls each plugin that subscribes to the phase. Each plugin sees the writes of the plugins before it.
macro_rules! each_plugin {
    ($self:ident, $phase:expr, $step:expr, |$plugin:ident, $cx:ident| $ask:expr) => {{
        let (phase, step, config) = ($phase, $step, $self.config);
        for $plugin in config.plugins_of(phase) {
            one_plugin!($self, phase, step, $plugin, |$cx| $ask);
        }
    }};
}

type Answer<T> = Result<Result<T, PluginError>, Box<dyn Any + Send>>;

/// The answer of a plugin, or the reason why the run stops.
fn read<T>(plugin: &dyn Plugin, phase: Phase, answer: Option<Answer<T>>) -> Result<T, Halt> {
    let name = plugin.name();
    match answer {
        None => Err(Halt::Cancelled),
        Some(Ok(Ok(answer))) => Ok(answer),
        Some(Ok(Err(error))) => Err(Halt::Failed(format!("plugin {name:?} failed in {phase}: {error}"))),
        Some(Err(panic)) => {
            Err(Halt::Failed(format!("plugin {name:?} panicked in {phase}: {}", panicked(&*panic))))
        }
    }
}

/// The context of a plugin call. It borrows nothing from executions, because these continue meanwhile.
fn context<'c>(
    state: &'c RunState,
    config: &Config,
    cancelled: &'c CancellationToken,
    phase: Phase,
    step: u32,
) -> PhaseContext<'c> {
    PhaseContext {
        phase,
        run: state.id(),
        thread: state.thread().id(),
        activation: state.run.get().record().activations(),
        step,
        now_ms: config.clock.now_ms(),
        history: state.history(),
        view: state.view(),
        patches: Patches::new(),
        stop: None,
        cancelled,
    }
}

impl Drive<'_, '_> {
    /// Applies the side effects of a plugin: its patches and its stop request.
    fn heed(&mut self, plugin: &dyn Plugin, patches: Patches, stop: Option<FinalReason>) -> Result<(), Halt> {
        if !patches.is_empty() {
            let changed = self.state.apply(plugin.name(), &patches).map_err(Halt::failed)?;
            self.tell_changed(&changed);
        }
        if self.stop.is_none() {
            self.stop = stop;
        }
        Ok(())
    }

    pub(super) async fn run_start(&mut self) -> Result<(), Halt> {
        let step = self.state.steps;
        each_plugin!(self, Phase::RunStart, step, |plugin, cx| plugin.run_start(cx));
        Ok(())
    }

    /// The request of a step, after all plugins have changed it.
    pub(super) async fn prepare(&mut self, step: u32) -> Result<InferenceRequest, Halt> {
        // Earlier writes are committed, and the calls of this step read them.
        self.forget_patches();
        self.tell(|_| EventKind::StepStarted { step });
        each_plugin!(self, Phase::StepStart, step, |plugin, cx| plugin.step_start(cx));
        let mut request = InferenceRequest {
            run: Arc::clone(&self.state.id),
            thread: Arc::clone(&self.state.thread.id),
            step,
            system: self.config.system.clone(),
            history: self.state.history().clone(),
            tools: Arc::clone(&self.config.tools.specs),
            parameters: Arc::clone(&self.config.parameters),
            cancelled: self.io.cancelled.clone(),
        };
        each_plugin!(self, Phase::BeforeInference, step, |plugin, cx| plugin
            .before_inference(cx, &mut request));
        Ok(request)
    }

    /// The tools that the request offers, if a plugin changed the selection.
    pub(super) fn chosen_for(&self, request: &InferenceRequest) -> Option<Arc<[Arc<ToolSpec>]>> {
        (!Arc::ptr_eq(&request.tools, &self.config.tools.specs)).then(|| Arc::clone(&request.tools))
    }

    pub(super) async fn after_inference<'t>(
        &mut self,
        step: u32,
        turn: impl FnOnce() -> &'t mut Turn,
        usage: &Usage,
    ) -> Result<(), Halt> {
        if self.config.plugins_of(Phase::AfterInference).next().is_none() {
            return Ok(());
        }
        let turn = turn();
        each_plugin!(self, Phase::AfterInference, step, |plugin, cx| plugin.after_inference(cx, turn, usage));
        // Values from plugins have the same limits as values from models.
        for call in turn.calls.iter_mut().filter(|call| is_too_deep(&call.arguments)) {
            (call.arguments, call.unreadable) = (Value::Null, Some(too_deep_arguments()));
        }
        for extra in turn.calls.iter_mut().map(|call| &mut call.extra).chain([&mut turn.extra]) {
            extra.retain(|_, value| !is_too_deep(value));
        }
        Ok(())
    }

    /// The strongest verdict of all plugins on a call.
    pub(super) async fn before_tool_execute(
        &mut self,
        step: u32,
        call: &GateCall<'_>,
    ) -> Result<Verdict, Halt> {
        let mut strongest = Verdict::Allow;
        let (phase, config) = (Phase::BeforeToolExecute, self.config);
        for plugin in config.plugins_of(phase) {
            let mut verdict =
                one_plugin!(self, phase, step, plugin, |cx| plugin.before_tool_execute(cx, call));
            if let Verdict::Suspend(suspension) = &mut verdict
                && !(plugin.as_ref() as &dyn Any).is::<Approvals>()
            {
                suspension.id = foreign_word(&suspension.id).to_owned();
            }
            strongest = strongest.and(verdict);
        }
        Ok(strongest)
    }

    pub(super) async fn after_tool_execute(
        &mut self,
        step: u32,
        call: &ExecutedCall<'_>,
    ) -> Result<(), Halt> {
        each_plugin!(self, Phase::AfterToolExecute, step, |plugin, cx| plugin.after_tool_execute(cx, call));
        Ok(())
    }

    pub(super) async fn step_end(&mut self, step: u32) -> Result<(), Halt> {
        each_plugin!(self, Phase::StepEnd, step, |plugin, cx| plugin.step_end(cx));
        self.tell(|_| EventKind::StepFinished { step });
        Ok(())
    }

    /// Calls the plugins at the end of a run. Their errors are emitted, and do not change the end.
    pub(super) async fn run_end(&mut self, reason: &TerminationReason) {
        let (phase, config) = (Phase::RunEnd, self.config);
        for plugin in config.plugins_of(phase) {
            let mut cx = context(&*self.state, config, &self.io.cancelled, phase, self.state.steps);
            let answer =
                AssertUnwindSafe(async { plugin.run_end(&mut cx, reason).await }).catch_unwind().await;
            let patches = cx.patches;
            let heard = read(plugin.as_ref(), phase, Some(answer))
                .and_then(|()| self.heed(plugin.as_ref(), patches, None));
            if let Err(Halt::Failed(problem)) = heard {
                self.tell_error(&problem);
                self.problems.push(problem);
            }
        }
    }

    /// Asks the plugins whether the run stops after the last step, unless a stop was requested already.
    /// `ends_naturally` is true if the answer has no calls and no call waits. A run without a step is not asked, even
    /// if its thread has earlier answers.
    pub(super) fn ask_to_stop(&mut self, ends_naturally: bool) -> Result<(), Halt> {
        let own = &self.state.history()[self.state.base..];
        let Some(answer) = own.iter().rev().find_map(Message::answer) else { return Ok(()) };
        let (counters, now_ms) = (&self.state.counters, self.config.clock.now_ms());
        let step = EndedStep { counters, answer, now_ms, ends_naturally };
        for Extension { plugin, .. } in &self.config.plugins {
            if self.stop.is_some() {
                break;
            }
            let answer = catch_unwind(AssertUnwindSafe(|| plugin.stops(&step)));
            self.stop = read(plugin.as_ref(), Phase::StepEnd, Some(answer.map(Ok)))?;
        }
        Ok(())
    }
}
