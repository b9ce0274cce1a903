//! Inference: the request to the model, and its answer.

use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::{FutureExt, StreamExt};
use runstate::run_flow::{LlmCall, RunFlow};

use super::super::answer::{Answer, ModelEvent, TurnBuilder};
use super::super::event::EventKind;
use super::super::model::{InferenceRequest, ModelStream};
use super::jobs::panicked;
use super::replay::GatePasses;
use super::tell::StreamedCalls;
use super::{Drive, Halt};

impl Drive<'_, '_> {
    /// Returns the answer of the model. In live mode, decisions are processed while the model answers. Their replays
    /// end before the answer is recorded; the remaining calls of their rounds continue and end first as well.
    pub(super) async fn infer(
        &mut self,
        flow: &mut RunFlow<LlmCall>,
        request: InferenceRequest,
    ) -> Result<Answer, Halt> {
        let step = flow.step();
        self.tell(|_| EventKind::InferenceStarted { step });
        let mut gate = self.live.then(|| flow.window());
        let mut streamed = StreamedCalls::default();
        let mut answer = TurnBuilder::new();
        {
            let model = &self.config.model;
            let asked = catch_unwind(AssertUnwindSafe(|| model.infer(request)));
            let mut stream = asked.map_err(|panic| panic_of_model(&*panic))?;
            let cancelled = self.io.cancelled.clone();
            let mut passes = gate.as_mut().map(GatePasses::each_committed);
            loop {
                let said = tokio::select! {
                    biased;
                    () = cancelled.cancelled() => return Err(Halt::Cancelled),
                    said = next(&mut stream) => said?,
                    beside = self.beside(passes.as_ref()), if passes.is_some() => {
                        self.handle(beside?, passes.as_mut().map(GatePasses::again)).await?;
                        if self.jobs.is_empty() {
                            // Each replay here has its own commit. Calls that begin later read its writes.
                            self.forget_patches();
                        }
                        continue;
                    }
                };
                let Some(event) = said else { break };
                self.tell_said(step, &event, &mut streamed);
                if let ModelEvent::Usage(usage) = &event {
                    // The usage counts even if the answer fails.
                    self.state.counters.used(usage);
                    self.used += *usage;
                }
                answer.push(event).map_err(Halt::failed)?;
                self.let_read().await;
            }
        }
        self.finish_jobs(flow, gate.as_mut().map(GatePasses::each_committed)).await?;
        self.forget_patches();
        self.go_on_in_window(flow, gate.as_mut()).await?;
        // The calls of the answer belong to another round.
        self.forget_patches();
        let answer = answer.finish().map_err(Halt::failed)?;
        let (usage, finish) = (answer.usage, &answer.finish);
        self.tell(|_| EventKind::InferenceFinished { step, usage, finish: finish.clone() });
        Ok(answer)
    }
}

async fn next(stream: &mut ModelStream<'_>) -> Result<Option<ModelEvent>, Halt> {
    AssertUnwindSafe(stream.next()).catch_unwind().await.map_err(|panic| panic_of_model(&*panic))
}

fn panic_of_model(panic: &(dyn std::any::Any + Send)) -> Halt {
    Halt::Failed(format!("the model panicked: {}", panicked(panic)))
}
