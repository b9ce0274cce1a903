//! Plugins with the verdicts and actions of the case.

use std::sync::Arc;
use std::time::Duration;

use runstate::termination::{FinalReason, TerminationReason};
use runstate::turn::Turn;
use runstate_agent::answer::Usage;
use runstate_agent::keys::Key;
use runstate_agent::{
    ExecutedCall, GateCall, InferenceRequest, PhaseContext, Plugin, PluginError, Verdict, async_trait,
};
use serde_json::json;

use super::log::What;
use super::tool::suspension;
use super::world::World;
use crate::case::{ActPhase, Does, Says};

const ACTED: Key<u64> = Key::run("acted").persistent();

pub(super) struct Scripted {
    pub(super) world: Arc<World>,
    /// The first one also records that it ran.
    pub(super) number: u8,
}

impl Scripted {
    fn note(&self, cx: &PhaseContext<'_>) {
        if self.number == 0 {
            self.world.note(What::Phase { phase: cx.phase(), step: cx.step() });
        }
    }

    async fn act(&self, cx: &mut PhaseContext<'_>, place: ActPhase) -> Result<bool, PluginError> {
        self.note(cx);
        let step = cx.step();
        let acts = &self.world.case.acts;
        let mut offers_read = false;
        for act in acts.iter().filter(|act| self.number == 1 && act.phase == place && act.step == step) {
            match act.does {
                Does::Fail => {
                    self.world.note(What::Acted { fails: true });
                    return Err("as planned".into());
                }
                Does::Panic => {
                    self.world.note(What::Acted { fails: true });
                    std::panic::resume_unwind(Box::new("as planned".to_owned()));
                }
                Does::EndRun => {
                    self.world.note(What::Acted { fails: false });
                    cx.end_run(FinalReason::BEHAVIOR_REQUESTED);
                }
                Does::Wait(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
                Does::OfferRead => offers_read = true,
                Does::Write => {
                    cx.set(&ACTED, &u64::from(step))?;
                    self.world.note(What::Wrote { step });
                }
            }
        }
        Ok(offers_read)
    }
}

#[async_trait]
impl Plugin for Scripted {
    fn name(&self) -> &str {
        if self.number == 0 { "first" } else { "second" }
    }

    async fn run_start(&self, cx: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        self.act(cx, ActPhase::RunStart).await.map(|_| ())
    }

    async fn step_start(&self, cx: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        self.act(cx, ActPhase::StepStart).await.map(|_| ())
    }

    async fn before_inference(
        &self,
        cx: &mut PhaseContext<'_>,
        request: &mut InferenceRequest,
    ) -> Result<(), PluginError> {
        if self.act(cx, ActPhase::BeforeInference).await? {
            request.offer_only(|tool| tool.name() == "read");
        }
        Ok(())
    }

    async fn after_inference(
        &self,
        cx: &mut PhaseContext<'_>,
        _turn: &mut Turn,
        _usage: &Usage,
    ) -> Result<(), PluginError> {
        self.act(cx, ActPhase::AfterInference).await.map(|_| ())
    }

    async fn before_tool_execute(
        &self,
        cx: &mut PhaseContext<'_>,
        call: &GateCall<'_>,
    ) -> Result<Verdict, PluginError> {
        self.note(cx);
        let (key, life) = (call.key(), self.world.lives(call.name()).0);
        let gate = self.world.case.gates.iter().find(|gate| {
            (gate.plugin, gate.step, gate.ordinal, gate.life) == (self.number, key.step, key.ordinal, life)
        });
        let verdict = match gate.map(|gate| &gate.says) {
            None => Verdict::Allow,
            Some(Says::SetResult) => Verdict::SetResult(json!({ "set": key.to_string(), "by": self.number })),
            Some(Says::Suspend(ask)) => Verdict::Suspend(suspension(ask, "gate", key, cx.now_ms())),
            Some(Says::Block) => Verdict::Block(format!("{key} is not allowed by {}", self.number)),
            Some(Says::BlockRun) => Verdict::BlockRun(format!("{key} ends it for {}", self.number)),
        };
        self.world.note(What::Gate {
            call: call.name().to_owned(),
            key,
            plugin: self.number,
            decision: call.decision().cloned(),
            verdict: verdict.clone(),
        });
        Ok(verdict)
    }

    async fn after_tool_execute(
        &self,
        cx: &mut PhaseContext<'_>,
        _call: &ExecutedCall<'_>,
    ) -> Result<(), PluginError> {
        self.act(cx, ActPhase::AfterToolExecute).await.map(|_| ())
    }

    async fn step_end(&self, cx: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        self.act(cx, ActPhase::StepEnd).await.map(|_| ())
    }

    async fn run_end(
        &self,
        cx: &mut PhaseContext<'_>,
        _reason: &TerminationReason,
    ) -> Result<(), PluginError> {
        self.note(cx);
        Ok(())
    }
}
