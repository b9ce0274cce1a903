//! Previews of calls: an approval is for the preview that was shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use runstate::decision::DecisionAction::Resume;
use runstate::tool_result::ToolResult;
use runstate_agent::{
    Approval, GateCall, Incoming, Preview, RunState, Tool, ToolContext, ToolSpec, async_trait,
};
use serde_json::{Value, json};

use super::parts::{World, statuses};
use super::rounds::timed;
use super::script::asks;
use super::tools::once;

/// A tool whose preview has a version.
struct Previewed {
    spec: ToolSpec,
    version: Arc<AtomicU32>,
    previews: Arc<AtomicU32>,
    padding: usize,
}

#[async_trait]
impl Tool for Previewed {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _: &mut ToolContext) -> ToolResult {
        ToolResult::Success(json!({ "wrote": self.version.load(Ordering::SeqCst) }))
    }

    async fn preview(&self, call: &GateCall<'_>) -> Option<Preview> {
        self.previews.fetch_add(1, Ordering::SeqCst);
        let version = self.version.load(Ordering::SeqCst);
        let padding = "é".repeat(self.padding);
        Some(Preview::note(format!("{}{padding} over version {version}", call.arguments()["n"])))
    }
}

struct Scene {
    world: World,
    version: Arc<AtomicU32>,
    previews: Arc<AtomicU32>,
}

impl Scene {
    fn of(approval: Option<Approval>, padding: usize) -> Self {
        let (version, previews) = (Arc::new(AtomicU32::new(1)), Arc::new(AtomicU32::new(0)));
        let mut spec = once("pay");
        if let Some(approval) = approval {
            spec = spec.needs_approval(approval);
        }
        let mut world = World::of([asks([timed("a", "pay", 1)])]);
        world.tools.retain(|tool| tool.spec().name() != "pay");
        let (version_of, previews_of) = (Arc::clone(&version), Arc::clone(&previews));
        let tool = Previewed { spec, version: version_of, previews: previews_of, padding };
        world.tools.push(Arc::new(tool));
        Scene { world, version, previews }
    }

    async fn approve(&mut self, state: &mut RunState, decision: &str, actor: &str) {
        let question = state.pending()[0].suspension.id.clone();
        self.world.incoming = vec![Incoming::new(decision, "a", Resume).on(question).by(actor)];
        self.world.resume(state).await;
    }
}

fn parameters(state: &RunState) -> Value {
    state.pending()[0].suspension.parameters.clone()
}

#[tokio::test(start_paused = true)]
async fn question_has_the_preview_and_an_approval_executes_it() {
    let mut scene = Scene::of(Some(Approval::always()), 0);
    let mut state = scene.world.state();
    scene.world.start(&mut state).await;
    assert_eq!(parameters(&state), json!({ "preview": { "note": "null over version 1" } }));
    let mut state = scene.world.restored();
    scene.approve(&mut state, "d1", "ada").await;
    assert_eq!(statuses(&state), ["a Succeeded"]);
    scene.world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn question_about_a_call_in_doubt_has_the_present_preview() {
    let mut scene = Scene::of(None, 0);
    // The process dies at the commit after the execution.
    super::doubt::dies_at_start(&mut scene.world, 3).await;
    scene.version.store(2, Ordering::SeqCst);
    let mut state = scene.world.restored();
    scene.world.resume(&mut state).await;
    assert_eq!(state.pending()[0].suspension.action, "in_doubt");
    assert_eq!(parameters(&state)["preview"], json!({ "note": "null over version 2" }));
}

#[tokio::test(start_paused = true)]
async fn other_preview_is_a_new_question_that_says_so() {
    let mut scene = Scene::of(Some(Approval::always()), 0);
    let mut state = scene.world.state();
    scene.world.start(&mut state).await;
    scene.version.store(2, Ordering::SeqCst);
    scene.approve(&mut state, "d1", "ada").await;
    let changed = json!({ "preview": { "note": "null over version 2" }, "changed": true });
    assert_eq!((statuses(&state), parameters(&state)), (vec!["a Suspended".to_owned()], changed));
    scene.approve(&mut state, "d2", "ada").await;
    assert_eq!(statuses(&state), ["a Succeeded"]);
    scene.world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn two_approvers_approve_one_preview() {
    let mut scene = Scene::of(Some(Approval::always().by(2)), 0);
    let mut state = scene.world.state();
    scene.world.start(&mut state).await;
    scene.approve(&mut state, "d1", "ada").await;
    assert_eq!(parameters(&state)["approval"], 2);
    scene.version.store(2, Ordering::SeqCst);
    scene.approve(&mut state, "d2", "ben").await;
    assert_eq!(statuses(&state), ["a Suspended"], "each of them approved another preview, or an earlier one");
    assert_eq!(parameters(&state)["changed"], true);
    // Both of them may approve the new preview; one of them twice is refused.
    scene.approve(&mut state, "d3", "ada").await;
    assert_eq!(parameters(&state)["approval"], 2);
    scene.approve(&mut state, "d4", "ada").await;
    assert_eq!(statuses(&state), ["a Suspended"]);
    scene.approve(&mut state, "d5", "ben").await;
    assert_eq!(statuses(&state), ["a Succeeded"]);
}

#[tokio::test(start_paused = true)]
async fn predicate_that_changes_with_the_preview_lifts_no_question() {
    let asked = AtomicU32::new(0);
    let first = Approval::when(move |_| asked.fetch_add(1, Ordering::SeqCst) < 2);
    let mut scene = Scene::of(Some(first), 0);
    let mut state = scene.world.state();
    scene.world.start(&mut state).await;
    scene.version.store(2, Ordering::SeqCst);
    scene.approve(&mut state, "d1", "ada").await;
    assert_eq!(statuses(&state), ["a Suspended"]);
}

#[tokio::test(start_paused = true)]
async fn long_preview_is_shortened_and_its_end_counts() {
    let mut scene = Scene::of(Some(Approval::always()), 40_000);
    let mut state = scene.world.state();
    scene.world.start(&mut state).await;
    let shown = parameters(&state)["preview"]["note"].as_str().unwrap().to_owned();
    assert!(shown.len() <= 64 << 10 && shown.contains("bytes of the preview are omitted"), "{}", shown.len());
    scene.version.store(2, Ordering::SeqCst);
    scene.approve(&mut state, "d1", "ada").await;
    assert_eq!(parameters(&state)["changed"], true, "the difference is in the omitted part");
}

#[tokio::test(start_paused = true)]
async fn call_without_an_approval_makes_no_preview() {
    let mut scene = Scene::of(None, 0);
    let mut state = scene.world.state();
    scene.world.start(&mut state).await;
    assert_eq!(statuses(&state), ["a Succeeded"]);
    assert_eq!(scene.previews.load(Ordering::SeqCst), 0);
}
