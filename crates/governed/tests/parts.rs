//! What the driver asks of its parts, and what it takes from them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use runstate::approval::Risk;
use runstate::governed_run::{GovernedRunStatus, RunId};
use runstate_governed::*;

use super::judge::judge;
use super::rows::assert_told;
use super::world::{Reply, Script, Tool, World};

#[test]
fn an_output_has_what_its_status_needs() {
    let action = || Action::new("delete", Risk::High);
    let rows: Vec<(ToolOutput, Option<&str>)> = vec![
        (ToolOutput::pass(["done"]), None),
        (ToolOutput::pass(["", "done"]), None),
        (ToolOutput::pass(Vec::<String>::new()), Some("a pass without evidence")),
        (ToolOutput::pass(["  "]), Some("a pass without evidence")),
        (
            ToolOutput { error: Some("but".into()), ..ToolOutput::pass(["done"]) },
            Some("a pass with an error"),
        ),
        (
            ToolOutput { action: Some(action()), ..ToolOutput::pass(["done"]) },
            Some("an action without a need of approval"),
        ),
        (ToolOutput::fail("no"), None),
        (ToolOutput::fail(" "), Some("a fail without an error")),
        (ToolOutput { error: None, ..ToolOutput::fail("no") }, Some("a fail without an error")),
        (ToolOutput::halted("a secret"), None),
        (ToolOutput::halted(""), Some("halted without a reason")),
        (ToolOutput::needs_approval(action()), None),
        (
            ToolOutput::needs_approval(Action::new("\n", Risk::Low)),
            Some("a need of approval without an action"),
        ),
        (
            ToolOutput { action: None, ..ToolOutput::needs_approval(action()) },
            Some("a need of approval without an action"),
        ),
    ];
    for (output, fault) in rows {
        assert_eq!(output.check().map_err(|fault| fault.to_string()).err().as_deref(), fault, "{output:?}");
        let json = serde_json::to_string(&output).unwrap();
        assert_eq!(serde_json::from_str::<ToolOutput>(&json).unwrap(), output);
    }
    let text = r#"{"status": "needs-approval", "action": {"text": "delete", "risk": "high"}}"#;
    assert_eq!(serde_json::from_str::<ToolOutput>(text).unwrap(), ToolOutput::needs_approval(action()));
    assert!(serde_json::from_str::<ToolOutput>(r#"{"status": "pass", "evidnce": ["typo"]}"#).is_err());
}

#[test]
fn governor_without_reviewers_or_with_duplicate_tools_fails() {
    let world = World::new(Script::default());
    let made = |parts: Parts| {
        let (disk, clock) = (Arc::new(world.disk.clone()), world.clock.clone());
        Governor::new(disk, super::world::folders(), clock, parts, Rules::default()).map(drop)
    };
    assert!(made(world.parts()).is_ok());
    assert!(matches!(made(Parts { auditors: vec![], ..world.parts() }), Err(GovernedError::Reviewers(_))));
    let mut parts = world.parts();
    parts.auditors.extend(world.parts().auditors);
    assert!(matches!(made(parts), Err(GovernedError::Reviewers(_))));
    let mut parts = world.parts();
    parts.tools.extend(world.parts().tools);
    let twice = made(parts).unwrap_err();
    assert_eq!(twice.to_string(), "two tools have the name \"build\"; give one of them another");
}

/// Answers as it is told to.
struct Told(Mutex<Vec<PlanAnswer>>);

#[async_trait]
impl PlanApproval for Told {
    async fn decide(&self, _: &RunId, _: &ProposedPlan) -> PlanAnswer {
        self.0.lock().unwrap().remove(0)
    }
}

fn deciding(world: &World, answers: Vec<PlanAnswer>) -> Governor {
    world.governor_of(Parts { plan_approval: Box::new(Told(Mutex::new(answers))), ..world.parts() })
}

/// The plan is approved of inside PLANNING: nothing runs before, and a plan that nobody wants never runs.
#[tokio::test(start_paused = true)]
async fn a_plan_is_approved_of_before_anything_runs() {
    let refused = || PlanAnswer::Refused { why: "too much".into() };
    let approved = || PlanAnswer::Approved { by: "ada".into() };
    let nobody = || PlanAnswer::Approved { by: " ".into() };
    let script = || Script { tools: vec![Tool::new("build", [Reply::Pass])], ..Script::default() };

    let world = World::new(script());
    let waiting = deciding(&world, vec![PlanAnswer::Undecided]).start("PROJECT").await.unwrap();
    assert_eq!(waiting.status, GovernedRunStatus::Planning);
    assert!(matches!(waiting.waits, Some(AwaitedInput::Approval(_))));
    assert!(world.outside.lock().unwrap().calls.is_empty());

    let world = World::new(script());
    let done = deciding(&world, vec![refused(), nobody(), approved()]).start("PROJECT").await.unwrap();
    assert_eq!(done.status, GovernedRunStatus::Completed);
    judge(&world, &done.run).await;

    let world = World::new(script());
    let waiting = deciding(&world, vec![refused(), refused(), nobody()]).start("PROJECT").await.unwrap();
    let objection = Some("the approval of the plan has no name".to_owned());
    assert_eq!(waiting.waits, Some(AwaitedInput::Plan { objection }));
    assert!(world.outside.lock().unwrap().calls.is_empty());
}

/// Its action is another each time it is asked for.
struct Fickle(AtomicUsize, Vec<&'static str>);

#[async_trait]
impl GovernedTool for Fickle {
    fn name(&self) -> &str {
        "deploy"
    }
    fn action(&self, _: &RunView<'_>) -> Action {
        let at = self.0.fetch_add(1, Ordering::Relaxed);
        Action::new(self.1[at.min(self.1.len() - 1)], Risk::High)
    }
    async fn call(&self, call: &Call<'_>) -> Result<ToolOutput, PartError> {
        Ok(ToolOutput::pass([format!("did {:?}", call.granted.map(|granted| granted.action().to_owned()))]))
    }
}

/// An approval is bound to the action that was shown: of anything else the person is asked anew.
#[tokio::test(start_paused = true)]
async fn an_approval_counts_for_the_action_that_was_shown() {
    let world = World::new(Script { tools: vec![Tool::new("deploy", [Reply::Pass])], ..Script::default() });
    let tool = Fickle(AtomicUsize::new(0), vec!["ship 1.0", "ship 2.0", "ship 2.0"]);
    let governor = world.governor_of(Parts { tools: vec![Box::new(tool)], ..world.parts() });
    let asked = |progressed: &Progressed| match &progressed.waits {
        Some(AwaitedInput::Approval(pending)) => {
            (pending.id.clone(), pending.request.as_ref().unwrap().action().to_owned())
        }
        other => panic!("{other:?}"),
    };
    let first = governor.start("PROJECT").await.unwrap();
    let (id, action) = asked(&first);
    assert_eq!(action, "ship 1.0");
    governor.approve(&first.run, &id, "ada", "").await.unwrap();
    let second = governor.resume(&first.run).await.unwrap();
    let (other, action) = asked(&second);
    assert_eq!((action.as_str(), other == id), ("ship 2.0", false), "it would have shipped something else");
    for decided in [&id, &"A9".parse().unwrap()] {
        let error = governor.approve(&first.run, decided, "ada", "").await.unwrap_err();
        assert!(matches!(error, GovernedError::NotAsked { .. }), "single use, and its own: {error}");
    }
    governor.approve(&first.run, &other, "ada", "").await.unwrap();
    let done = governor.resume(&first.run).await.unwrap();
    assert_eq!(done.status, GovernedRunStatus::Completed);
    assert_eq!(governor.status(&first.run).unwrap().completed, 1);
    let state = world.file(super::world::folders().state(&first.run));
    assert!(state.contains("did Some(\\\"ship 2.0\\\")") && !state.contains("did Some(\\\"ship 1.0\\\")"));
}

/// One run, one driver: whoever comes second is told so, and changes nothing.
#[tokio::test(start_paused = true)]
async fn held_governed_run_is_left_alone() {
    let slow = vec![Tool::new("build", [Reply::After(60_000, Box::new(Reply::Pass))])];
    let world = World::new(Script { tools: slow, ..Script::default() });
    let (first, second) = (world.governor(), world.governor());
    let run: RunId = super::world::RUN.parse().unwrap();
    let driving = first.start("PROJECT");
    let looking = async {
        tokio::time::sleep(std::time::Duration::from_secs(30)).await;
        let before = world.disk.files();
        let id = "A1".parse().unwrap();
        assert!(matches!(second.resume(&run).await, Err(GovernedError::Busy { .. })));
        assert!(matches!(second.approve(&run, &id, "ada", "").await, Err(GovernedError::Busy { .. })));
        assert_eq!(second.status(&run).unwrap().current_tool.as_deref(), Some("build"));
        assert!(world.sweep(&second).await.is_empty());
        assert_eq!(world.disk.files(), before);
    };
    let (done, ()) = tokio::join!(driving, looking);
    assert_eq!(done.unwrap().status, GovernedRunStatus::Completed);
    judge(&world, &run).await;
}

/// What a tool says at length is cut in the files, with a mark; changes are kept whole.
#[tokio::test(start_paused = true)]
async fn a_list_has_64_texts_of_4_kib_and_no_more() {
    struct Chatty(usize, usize);
    #[async_trait]
    impl GovernedTool for Chatty {
        fn name(&self) -> &str {
            "build"
        }
        fn action(&self, _: &RunView<'_>) -> Action {
            Action::new("talk", Risk::Low)
        }
        async fn call(&self, _: &Call<'_>) -> Result<ToolOutput, PartError> {
            let mut output = ToolOutput::pass((0..self.0).map(|_| "x".repeat(self.1)));
            for i in 0..100 {
                output = output.with_risk(Risk::Low, "é".repeat(5_000));
                output = output.with_change("created", format!("file{i}"));
            }
            Ok(output)
        }
    }
    for (entries, bytes) in [(64, 4096), (65, 4097)] {
        let world =
            World::new(Script { tools: vec![Tool::new("build", [Reply::Pass])], ..Script::default() });
        let tools: Vec<Box<dyn GovernedTool>> = vec![Box::new(Chatty(entries, bytes))];
        let run = world.governor_of(Parts { tools, ..world.parts() }).start("PROJECT").await.unwrap().run;
        let state: serde_json::Value =
            serde_json::from_str(&world.file(super::world::folders().state(&run))).unwrap();
        let report = &state["runstate"]["notes"]["tools"][0];
        let evidence = report["evidence"].as_array().unwrap();
        let whole = "x".repeat(4096);
        if entries == 64 {
            assert_eq!(evidence, &vec![serde_json::Value::from(whole); 64]);
        } else {
            assert_eq!((evidence.len(), &evidence[64]), (65, &"[… 1 more]".into()));
            assert_eq!(evidence[0], whole + " [… 1 bytes more]");
        }
        let risks = report["risks"].as_array().unwrap();
        assert_eq!((risks.len(), &risks[64]["what"]), (65, &"[… 36 more]".into()));
        assert!(risks[0]["what"].as_str().unwrap().ends_with("é [… 5904 bytes more]"));
        assert_eq!(report["changes"].as_array().unwrap().len(), 100);
    }
}

/// The errors of decisions, in words.
#[tokio::test(start_paused = true)]
async fn decisions_that_count_for_nothing_say_why() {
    let world = World::new(Script::default());
    let governor = world.governor();
    let waiting = governor.start("PROJECT").await.unwrap();
    let Some(AwaitedInput::Approval(pending)) = waiting.waits else { panic!() };
    let (run, id) = (&waiting.run, &pending.id);
    let files = world.disk.files();
    let missing = "RUN-OTHER-20260131-120000".parse().unwrap();
    let mut said = vec![
        governor.approve(run, id, " ", "").await.unwrap_err().to_string(),
        governor.reject(run, id, "", "").await.unwrap_err().to_string(),
        governor.escalate(run, id, "\t", "").await.unwrap_err().to_string(),
        governor.approve(run, &"A7".parse().unwrap(), "ada", "").await.unwrap_err().to_string(),
        governor.approve(&missing, id, "ada", "").await.unwrap_err().to_string(),
        governor.status(&missing).unwrap_err().to_string(),
    ];
    assert_eq!(world.disk.files(), files, "none of them changed anything");
    governor.approve(run, id, "ada", "").await.unwrap();
    said.push(governor.approve(run, id, "ada", "").await.unwrap_err().to_string());
    assert_eq!(governor.resume(run).await.unwrap().status, GovernedRunStatus::Completed);
    said.push(governor.reject(run, id, "ada", "").await.unwrap_err().to_string());
    assert_told("decision_errors", &said.join("\n"));
}

/// Runs may be driven from a runtime with several threads.
#[test]
fn everything_can_be_sent_to_another_thread() {
    fn sendable<T: Send>(_: T) {}
    let world = World::new(Script::default());
    let governor = world.governor();
    let (run, id) = (super::world::RUN.parse().unwrap(), "A1".parse().unwrap());
    sendable(governor.start("PROJECT"));
    sendable(governor.resume(&run));
    sendable(governor.approve(&run, &id, "ada", ""));
    sendable(governor.reject(&run, &id, "ada", ""));
    sendable(governor.escalate(&run, &id, "ada", ""));
    sendable(governor.status(&run));
    sendable(governor.expire(&run));
    sendable(governor);
}
