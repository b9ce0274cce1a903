//! Planner and judge on a scripted model of agents.

use std::sync::{Arc, Mutex};

use runstate::service_run::{FinalStatus, JudgeVerdict, ServiceRunStatus};
use runstate_agent::answer::{FinishReason, ModelEvent};
use runstate_agent::{InferenceRequest, Message, Model, ModelError, ModelStream};
use runstate_service::PlannedBy;
use runstate_service::model::{ModelJudge, ModelPlanner};

use super::fixture::{Bench, block_on};

type Events = fn() -> Vec<ModelEvent>;

/// A model that answers with these events, and keeps its requests.
struct Scripted {
    events: Events,
    requests: Mutex<Vec<InferenceRequest>>,
}

impl Scripted {
    fn new(events: Events) -> Arc<Self> {
        Arc::new(Scripted { events, requests: Mutex::default() })
    }
}

impl Model for Scripted {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        self.requests.lock().unwrap().push(request);
        Box::pin(futures_util::stream::iter((self.events)()))
    }
}

fn answer(pieces: &[&str]) -> Vec<ModelEvent> {
    let pieces = pieces.iter().map(|piece| ModelEvent::Text((*piece).to_owned()));
    pieces.chain([ModelEvent::Finish(FinishReason::Stop)]).collect()
}

fn bench(planner: &Arc<Scripted>, judge: &Arc<Scripted>) -> Bench {
    let (planner, judge) = (Arc::clone(planner), Arc::clone(judge));
    Bench::with(
        |mut ports| {
            ports.planner = Some(Arc::new(ModelPlanner::new(planner)));
            ports.judge = Some(Arc::new(ModelJudge::new(judge).with_system("Judge it.")));
            ports
        },
        |_| {},
    )
}

fn plans() -> Vec<ModelEvent> {
    answer(&[
        "```json\n{\"actions\": [{\"kind\": \"send\", \"amount\": \"5\",",
        " \"asset\": \"USDC\", \"recipient\": \"0xbeef\"}]}\n```",
    ])
}

#[test]
fn models_plan_and_judge_in_json() {
    block_on(async {
        let (planner, judge) = (Scripted::new(plans), Scripted::new(|| answer(&["{\"verdict\": \"PASS\"}"])));
        let run = bench(&planner, &judge).run("please send five dollars to 0xbeef").await;
        assert_eq!(run.status, ServiceRunStatus::AwaitingApproval);
        assert_eq!(run.artifacts.planner_result.unwrap().planned_by, PlannedBy::Planner);
        assert_eq!(run.artifacts.judge_result.unwrap().verdict, Some(JudgeVerdict::Pass));
        let requests = planner.requests.lock().unwrap();
        let [Message::User(asked)] = &requests[0].history[..] else { panic!("{requests:?}") };
        assert!(asked.contains("\"intent\":\"please send five dollars to 0xbeef\""));
        assert_eq!(judge.requests.lock().unwrap()[0].system.as_deref(), Some("Judge it."));
    });
}

#[test]
fn failed_models_degrade_the_run() {
    let failures: [(Events, &str); 4] = [
        (|| answer(&["I would send it."]), "the answer is no plan"),
        (|| vec![ModelEvent::Error(ModelError::new("overloaded"))], "cannot be reached"),
        (|| vec![ModelEvent::Text("{".into())], "the answer has no end"),
        (|| vec![ModelEvent::Finish(FinishReason::Length)], "the answer ended with length"),
    ];
    for (events, why) in failures {
        block_on(async {
            let failing = Scripted::new(events);
            let judged = bench(&Scripted::new(plans), &failing).run("send it").await;
            assert_eq!(judged.status, ServiceRunStatus::AwaitingApproval);
            let judge = judged.artifacts.judge_result.unwrap();
            assert!(judge.error.is_some() && judge.verdict == Some(JudgeVerdict::NeedsRework));

            let planned = bench(&failing, &Scripted::new(plans)).run("send it").await;
            assert_eq!(planned.final_status, Some(FinalStatus::Noop));
            let fallback = planned.artifacts.planner_result.unwrap().planner_fallback.unwrap();
            assert!(fallback.contains(why), "{fallback}");
        });
    }
}
