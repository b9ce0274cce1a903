//! The scripted model and the recordings that users' tests have.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use runstate::decision::{DecisionAction, Suspension};
use runstate::termination::TerminationReason;
use runstate::tool_result::ToolResult;
use runstate_agent::answer::{FinishReason, Usage};
use runstate_agent::testing::{Cassette, CassetteError, ScriptedModel, ScriptedReply};
use runstate_agent::{
    Agent, Approval, CancellationToken, GateCall, Incoming, Input, MemoryCommitter, Message, Preview,
    ResultContent, RunHandles, RunState, Tool, ToolContext, ToolSpec, async_trait, inbox, run_loop,
};
use serde_json::{Value, json};

/// A tool that counts its executions. With `asks` its first execution waits for a decision.
struct Counted {
    spec: ToolSpec,
    executions: Arc<AtomicUsize>,
    asks: bool,
}

impl Counted {
    fn new(name: &str, executions: &Arc<AtomicUsize>) -> Self {
        let spec = ToolSpec::new(name, "Counts its executions.");
        Counted { spec, executions: Arc::clone(executions), asks: false }
    }
}

#[async_trait]
impl Tool for Counted {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        let number = self.executions.fetch_add(1, Ordering::SeqCst) + 1;
        if self.asks && cx.decision().is_none() {
            return ToolResult::Pending(Suspension::new("word", "confirm", "really?"));
        }
        match cx.arguments()["fails"].as_bool() {
            Some(true) => ToolResult::Error(format!("execution {number} failed")),
            _ => ToolResult::Success(json!({ "execution": number })),
        }
    }
}

async fn run(agent: &Agent, id: &str, message: &str) -> (RunState, TerminationReason) {
    let mut state = RunState::new(id);
    let outcome = run_loop(agent, &mut state, Input::message(message), RunHandles::new()).await.unwrap();
    (state, outcome.reason)
}

fn answer(state: &RunState) -> &str {
    &state.thread().last_answer().unwrap().text
}

fn results(state: &RunState) -> Vec<Value> {
    let results = state.thread().history().iter().filter_map(|message| match message {
        Message::Result(result) => Some(match &result.content {
            ResultContent::Output { value, .. } => value.clone(),
            ResultContent::Error(error) => Value::from(error.as_str()),
        }),
        _ => None,
    });
    results.collect()
}

fn error(reason: &TerminationReason) -> &str {
    match reason {
        TerminationReason::Error(error) => error,
        other => panic!("expected an error, got {other:?}"),
    }
}

#[tokio::test]
async fn script_calls_two_tools_in_one_round_and_reports_tokens() {
    let executions = Arc::default();
    let usage = Usage { input_tokens: 10, output_tokens: 2 };
    let both = ScriptedReply::call("one", json!({})).and_call("two", json!({ "fails": true }));
    let model = ScriptedModel::new([both.with_usage(usage), ScriptedReply::text("done")]);
    let agent = Agent::builder(model.clone())
        .tool(Counted::new("one", &executions))
        .tool(Counted::new("two", &executions))
        .build()
        .unwrap();
    let (state, reason) = run(&agent, "r1", "go").await;
    assert_eq!(reason, TerminationReason::NaturalEnd);
    assert_eq!(results(&state), [json!({ "execution": 1 }), json!("execution 2 failed")]);
    assert_eq!((answer(&state), state.usage()), ("done", usage));
    assert_eq!(model.requests()[1].step, 2);
}

#[tokio::test]
async fn script_fails_finishes_and_stalls_as_asked() {
    let of = |reply| Agent::builder(ScriptedModel::new([reply])).build().unwrap();
    let (_, reason) = run(&of(ScriptedReply::error("overloaded")), "r1", "go").await;
    assert!(error(&reason).contains("overloaded"), "{reason:?}");
    let cut = ScriptedReply::text("half").with_finish(FinishReason::Length);
    let (state, _) = run(&of(cut), "r2", "go").await;
    assert_eq!(answer(&state), "half");

    let (stop, mut state) = (CancellationToken::new(), RunState::new("r3"));
    let stalled = of(ScriptedReply::stall());
    let io = RunHandles::new().cancelled_by(stop.clone());
    let (outcome, ()) = tokio::join!(run_loop(&stalled, &mut state, Input::message("go"), io), async {
        tokio::task::yield_now().await;
        stop.cancel();
    });
    assert_eq!(outcome.unwrap().reason, TerminationReason::Cancelled);
}

/// Drives a run whose tool waits for a decision, over two processes. The cassette is opened in each of them.
async fn suspended_and_resumed(open: impl Fn() -> Cassette, executions: &Arc<AtomicUsize>) -> RunState {
    let agent = || {
        let cassette = open();
        let script = || {
            let asks = ScriptedReply::call("asks", json!({ "n": 1 }));
            ScriptedModel::new([asks, ScriptedReply::text("confirmed")])
        };
        let tool = Counted { asks: true, ..Counted::new("asks", executions) };
        Agent::builder(cassette.model(script)).tool(cassette.tool(tool)).build().unwrap()
    };
    let (mut committer, mut state) = (MemoryCommitter::default(), RunState::new("r1"));
    let io = RunHandles::new().committer(&mut committer);
    let outcome = run_loop(&agent(), &mut state, Input::message("go"), io).await.unwrap();
    assert_eq!(outcome.reason, TerminationReason::Suspended);
    let question = state.pending()[0].suspension.id.clone();

    let mut state = committer.restore().unwrap();
    let (_handle, mut decisions) = inbox();
    decisions.put(Incoming::new("d1", "call_1", DecisionAction::Resume).on(question));
    let io = RunHandles::new().committer(&mut committer).inbox(&mut decisions);
    run_loop(&agent(), &mut state, Input::Resume, io).await.unwrap();
    state
}

#[tokio::test]
async fn recorded_run_replays_without_its_model_and_its_tools() {
    let folder = tempfile::tempdir().unwrap();
    // The folder of the file is made.
    let file = folder.path().join("new/asks.json");
    let executions = Arc::new(AtomicUsize::new(0));
    let recording = Cassette::record(&file);
    let recorded = suspended_and_resumed(|| recording.clone(), &executions).await;
    assert_eq!(executions.load(Ordering::SeqCst), 2);

    let replayed = suspended_and_resumed(|| Cassette::replay(&file).unwrap(), &executions).await;
    assert_eq!(executions.load(Ordering::SeqCst), 2, "a replay executes no tool");
    assert_eq!((answer(&replayed), results(&replayed)), (answer(&recorded), results(&recorded)));
    assert_eq!(replayed.thread().history(), recorded.thread().history());
}

/// A tool whose preview counts.
struct Shows(Counted);

#[async_trait]
impl Tool for Shows {
    fn spec(&self) -> &ToolSpec {
        self.0.spec()
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        self.0.call(cx).await
    }

    async fn preview(&self, _: &GateCall<'_>) -> Option<Preview> {
        let number = self.0.executions.fetch_add(1, Ordering::SeqCst) + 1;
        Some(Preview::note(format!("change {}", number.min(1))))
    }
}

#[tokio::test]
async fn replayed_question_has_the_recorded_preview() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shows.json");
    let executions = Arc::new(AtomicUsize::new(0));
    let agent = |cassette: &Cassette| {
        let script =
            || ScriptedModel::new([ScriptedReply::call("shows", json!({})), ScriptedReply::text("done")]);
        let mut counted = Counted::new("shows", &executions);
        counted.spec = counted.spec.needs_approval(Approval::always());
        Agent::builder(cassette.model(script)).tool(cassette.tool(Shows(counted))).build().unwrap()
    };
    let mut seen = Vec::new();
    for records in [true, false] {
        let cassette = if records { Cassette::record(&file) } else { Cassette::replay(&file).unwrap() };
        let (mut committer, mut state) = (MemoryCommitter::default(), RunState::new("r1"));
        let io = RunHandles::new().committer(&mut committer);
        run_loop(&agent(&cassette), &mut state, Input::message("go"), io).await.unwrap();
        let question = state.pending()[0].suspension.clone();
        let (_handle, mut decisions) = inbox();
        decisions.put(Incoming::new("d1", "call_1", DecisionAction::Resume).on(&question.id));
        let mut state = committer.restore().unwrap();
        let io = RunHandles::new().committer(&mut committer).inbox(&mut decisions);
        run_loop(&agent(&cassette), &mut state, Input::Resume, io).await.unwrap();
        seen.push((question, results(&state)));
    }
    assert_eq!(seen[0].0.parameters["preview"], json!({ "note": "change 1" }));
    assert_eq!(seen[0], seen[1], "the replay has the preview, the question and the result");
    assert_eq!(executions.load(Ordering::SeqCst), 3, "two previews and one execution");
}

#[tokio::test]
async fn result_belongs_to_the_answer_of_its_question() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answers.json");
    let mut seen = Vec::new();
    for (records, given) in [(true, 1), (false, 1), (false, 2)] {
        let cassette = if records { Cassette::record(&file) } else { Cassette::replay(&file).unwrap() };
        let tool = Counted { asks: true, ..Counted::new("asks", &Arc::default()) };
        let call = ScriptedReply::call("asks", json!({}));
        let script = ScriptedModel::new([call, ScriptedReply::text("ok")]);
        let agent = Agent::builder(script).tool(cassette.tool(tool)).build().unwrap();
        let (mut committer, mut state) = (MemoryCommitter::default(), RunState::new("r1"));
        let io = RunHandles::new().committer(&mut committer);
        run_loop(&agent, &mut state, Input::message("go"), io).await.unwrap();
        let question = state.pending()[0].suspension.id.clone();
        let (_handle, mut decisions) = inbox();
        let decision = Incoming::new("d1", "call_1", DecisionAction::Resume).on(question);
        decisions.put(decision.with_result(json!({ "n": given })));
        let mut state = committer.restore().unwrap();
        let io = RunHandles::new().committer(&mut committer).inbox(&mut decisions);
        run_loop(&agent, &mut state, Input::Resume, io).await.unwrap();
        seen.push(results(&state).remove(0));
    }
    assert_eq!(seen[0], seen[1]);
    assert!(seen[2].as_str().unwrap().contains("has no result of asks"), "{seen:?}");
}

#[tokio::test]
async fn equal_calls_replay_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("equal.json");
    let call = || ScriptedReply::call("count", json!({}));
    let script = || ScriptedModel::new([call(), call(), ScriptedReply::text("done")]);
    let executions = Arc::default();
    let mut seen = Vec::new();
    for records in [true, false] {
        let cassette = if records { Cassette::record(&file) } else { Cassette::replay(&file).unwrap() };
        let tool = cassette.tool(Counted::new("count", &executions));
        let agent = Agent::builder(cassette.model(script)).tool(tool).build().unwrap();
        seen.push(results(&run(&agent, "r1", "go").await.0));
    }
    assert_eq!(seen[0], [json!({ "execution": 1 }), json!({ "execution": 2 })]);
    assert_eq!(seen[0], seen[1]);
}

fn never() -> ScriptedModel {
    panic!("a replay makes no model")
}

/// Records one answer to "hi".
async fn greeted(file: &Path) {
    let cassette = Cassette::record(file);
    let model = cassette.model(|| ScriptedModel::new([ScriptedReply::text("hello")]));
    run(&Agent::builder(model).build().unwrap(), "r1", "hi").await;
}

#[tokio::test]
async fn other_request_is_refused_with_its_differences() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hello.json");
    greeted(&file).await;
    let replay = || Cassette::replay(&file).unwrap();

    let agent = Agent::builder(replay().model(never)).system("Be short.").build().unwrap();
    let (_, reason) = run(&agent, "r1", "hi").await;
    assert!(error(&reason).contains("answer 1 for another request: the system prompt differ"), "{reason:?}");

    let cassette = replay();
    let tool = cassette.tool(Counted::new("count", &Arc::default()));
    let agent = Agent::builder(cassette.model(never)).tool(tool).build().unwrap();
    let (_, reason) = run(&agent, "r1", "good morning").await;
    assert!(error(&reason).contains("the messages and the tools differ"), "{reason:?}");

    // A model that calls a tool with arguments that were never recorded reads the reason.
    let cassette = replay();
    let script =
        ScriptedModel::new([ScriptedReply::call("count", json!({ "n": 2 })), ScriptedReply::text("ok")]);
    let tool = cassette.tool(Counted::new("count", &Arc::default()));
    let (state, _) = run(&Agent::builder(script).tool(tool).build().unwrap(), "r1", "hi").await;
    let text = results(&state)[0].as_str().unwrap().to_owned();
    assert!(text.contains(r#"no result of count with the arguments {"n":2}"#), "{text}");
}

#[tokio::test]
async fn missing_foreign_and_unwritable_files_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hello.json");
    let read = Cassette::replay(&file).unwrap_err();
    assert!(
        matches!(read, CassetteError::Read { .. }) && read.to_string().contains("RUNSTATE_RECORD=1"),
        "{read}"
    );
    for (text, told) in [("{", "is no cassette"), (r#"{"version": 9}"#, "version 9, expected 1")] {
        std::fs::write(&file, text).unwrap();
        let error = Cassette::replay(&file).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
    // A file stands where the folder of the cassette would be: the model is not asked.
    let model = ScriptedModel::new([ScriptedReply::text("hello")]);
    let cassette = Cassette::record(file.join("below.json"));
    let asked = model.clone();
    let (_, reason) = run(&Agent::builder(cassette.model(|| asked)).build().unwrap(), "r1", "hi").await;
    assert!(error(&reason).contains("cannot be written"), "{reason:?}");
    assert!(model.requests().is_empty());
}
