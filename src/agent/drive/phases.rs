//! The phases, and the plugins that are asked in them (document 003, "Phase Enum").

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::FutureExt;
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
use crate::termination::{FinalReason, TerminationReason};
use crate::turn::Turn;

/// Asks one plugin in the phase, and does what it asked for beside its answer. What executes goes on meanwhile.
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

/// Asks each plugin that wants to be asked in the phase; each sees what those before it wrote.
macro_rules! each_plugin {
    ($self:ident, $phase:expr, $step:expr, |$plugin:ident, $cx:ident| $ask:expr) => {{
        let (phase, step, config) = ($phase, $step, $self.config);
        for $plugin in config.plugins_of(phase) {
            one_plugin!($self, phase, step, $plugin, |$cx| $ask);
        }
    }};
}

type Answer<T> = Result<Result<T, PluginError>, Box<dyn Any + Send>>;

/// What a plugin answered, or why the run does not go on.
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

/// What a plugin is asked with. It borrows nothing of what executes, which goes on while the plugin thinks.
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
    /// Does what a plugin asked for beside its answer.
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

    /// The request of a step, as the plugins want it.
    pub(super) async fn prepare(&mut self, step: u32) -> Result<InferenceRequest, Halt> {
        // What executed until now is committed, and the calls of this step read it.
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

    /// The tools that the request offers, where a plugin chose.
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
        // What a plugin put there is held to what a model's arguments are.
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

    /// Nothing ends a run that ends: what goes wrong here is told, and the run ends as it does.
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

    /// Asks whether the run is to stop behind the last step, unless it is to end already. `ends_naturally` says that its answer
    /// has no calls, and that none waits. A run that has no step yet is not asked, whatever was said on its thread before it.
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
