//! A plan that a person must approve of: a question inside PLANNING, with a record like any other.

use async_trait::async_trait;
use runstate::approval::{ApprovalStatus, Risk};
use runstate::governed_run::{GovernedRunStatus, RunId};
use runstate_governed::*;
use runstate_runtime::files::Disk;
use serde_json::{Value, json};

use super::foreign::with_state;
use super::judge::{approvals, judge};
use super::rows::assert_told;
use super::world::{Answer, RUN, Reply, Script, Tool, World, folders};

const PLANNING_MS: u64 = 5 * 60_000;

fn script() -> Script {
    Script { plan_asks: true, tools: vec![Tool::new("build", [Reply::Pass])], ..Script::default() }
}

fn run() -> RunId {
    RUN.parse().unwrap()
}

fn asked(progressed: &Progressed) -> PendingApproval {
    match &progressed.waits {
        Some(AwaitedInput::Approval(pending)) => pending.clone(),
        other => panic!("{other:?}"),
    }
}

fn state(world: &World) -> Value {
    serde_json::from_str(&world.file(folders().state(&run()))).unwrap()
}

fn record(world: &World) -> (String, ApprovalStatus) {
    let (folder, approval) = approvals(world).pop().unwrap();
    (folder, approval.status())
}

/// From the question to the end: seen by whoever looks, unchanged by a restart, answered by another process.
#[tokio::test(start_paused = true)]
async fn plan_of_high_risk_executes_after_an_approval() {
    let world = World::new(Script { plan_risk: Some(Risk::High), ..script() });
    let waiting = world.governor().start("PROJECT").await.unwrap();
    assert_eq!(waiting.status, GovernedRunStatus::Planning);
    let pending = asked(&waiting);
    let request = pending.request.clone().unwrap();
    assert_eq!(
        (request.tool(), request.action(), request.risk()),
        (
            "planner",
            "execute the plan build; build would run build (High risk); High risk: drops a table",
            Risk::High
        )
    );
    assert_eq!(pending.answer_by.ms(), world.now() + PLANNING_MS);
    assert_eq!(record(&world), ("PENDING".to_owned(), ApprovalStatus::AwaitingHuman));
    assert_eq!(state(&world)["approvals_pending"], json!([pending.id]));
    let seen = world.governor().status(&run()).unwrap();
    assert_eq!((seen.pending.as_ref(), seen.state), (Some(&pending.id), GovernedRunStatus::Planning));
    let files = world.disk.files();
    let again = world.governor().resume(&run()).await.unwrap();
    assert_eq!((&again.waits, again.repairs), (&waiting.waits, Repairs::default()));
    assert_eq!(world.governor().waits(&run()).unwrap(), waiting.waits);
    assert_eq!(world.disk.files(), files, "it survives unchanged, and is not planned again");

    world.governor().approve(&run(), &pending.id, "ada", "small enough").await.unwrap();
    assert_eq!(record(&world), ("APPROVED".to_owned(), ApprovalStatus::Executed));
    assert_eq!(state(&world)["current_state"], "EXECUTING");
    assert_eq!(
        (&state(&world)["approvals_pending"], &state(&world)["approvals_granted"]),
        (&json!([]), &json!([pending.id]))
    );
    assert!(world.outside.lock().unwrap().calls.is_empty(), "an approval alone does nothing");
    let late = world.governor().approve(&run(), &pending.id, "ada", "").await.unwrap_err();
    assert!(matches!(late, GovernedError::NotAsked { .. }), "single use: {late}");
    assert_eq!(world.governor().resume(&run()).await.unwrap().status, GovernedRunStatus::Completed);
    judge(&world, &run()).await;
    assert_told("report_of_an_approved_plan", &world.file(folders().report(&run())));
}

/// A planner that thinks again when it is told why.
struct Obliging;

#[async_trait]
impl Planner for Obliging {
    async fn plan(&self, _: &RunId, objection: Option<&str>) -> Result<ProposedPlan, PartError> {
        match objection {
            None => Ok(ProposedPlan::of(["build", "deploy"])),
            Some("ada rejected the plan: do not deploy") => Ok(ProposedPlan::of(["build"])),
            Some(other) => Err(PartError::new(other)),
        }
    }
}

/// A no leaves the run in PLANNING, which has no way out but a critical risk: another plan is made, with the objection.
#[tokio::test(start_paused = true)]
async fn rejected_plan_is_replaced_by_a_new_plan() {
    let world = World::new(Script { plan_asks: true, ..Script::default() });
    let governor = || world.governor_of(Parts { planner: Box::new(Obliging), ..world.parts() });
    let first = asked(&governor().start("PROJECT").await.unwrap());
    let rejected = governor().reject(&run(), &first.id, "ada", "do not deploy").await.unwrap();
    assert_eq!(rejected, GovernedRunStatus::Planning);
    assert_eq!(record(&world), ("REJECTED".to_owned(), ApprovalStatus::Aborted));
    assert_eq!(state(&world)["approvals_pending"], json!([]));
    let again = governor().approve(&run(), &first.id, "ada", "").await.unwrap_err();
    assert!(matches!(again, GovernedError::NotAsked { .. }), "{again}");
    let second = asked(&governor().resume(&run()).await.unwrap());
    assert_ne!(second.id, first.id);
    assert_eq!(second.request.unwrap().action(), "execute the plan build; build would run build (High risk)");
    governor().approve(&run(), &second.id, "ada", "").await.unwrap();
    assert_eq!(governor().resume(&run()).await.unwrap().status, GovernedRunStatus::Completed);
    assert!(world.outside.lock().unwrap().calls.iter().all(|(tool, ..)| tool == "build"));
}

#[tokio::test(start_paused = true)]
async fn escalated_plan_halts_the_run() {
    let world = World::new(script());
    let pending = asked(&world.governor().start("PROJECT").await.unwrap());
    let nobody = world.governor().escalate(&run(), &pending.id, " ", "").await.unwrap_err();
    assert!(matches!(nobody, GovernedError::Refused { .. }), "{nobody}");
    world.governor().escalate(&run(), &pending.id, "ada", "the board decides").await.unwrap();
    let why = world.governor().status(&run()).unwrap().why.unwrap();
    assert_eq!(
        why,
        "the plan has a critical risk: the decision about it was escalated: ada: the board decides"
    );
    assert!(world.outside.lock().unwrap().calls.is_empty());
    judge(&world, &run()).await;
}

/// At the limit of PLANNING less one, at it, and one more; by each decision, and by nobody.
#[tokio::test(start_paused = true)]
async fn unanswered_plan_halts_the_run_at_its_time_limit() {
    for (ms, is_late) in [(PLANNING_MS - 1, false), (PLANNING_MS, true), (PLANNING_MS + 1, true)] {
        for decision in ["approve", "reject", "escalate", "sweep"] {
            let world = World::new(script());
            let id = asked(&world.governor().start("PROJECT").await.unwrap()).id;
            tokio::time::advance(std::time::Duration::from_millis(ms)).await;
            let governor = world.governor();
            let decided = match decision {
                "approve" => governor.approve(&run(), &id, "ada", "").await,
                "reject" => governor.reject(&run(), &id, "ada", "").await.map(drop),
                "escalate" => governor.escalate(&run(), &id, "ada", "").await.map(drop),
                _ => {
                    assert_eq!(world.sweep(&governor).await.len(), usize::from(is_late));
                    Ok(())
                }
            };
            if decision != "sweep" {
                assert_eq!(
                    matches!(decided, Err(GovernedError::Expired { .. })),
                    is_late,
                    "{decision}, {ms}"
                );
            }
            if is_late {
                assert_eq!(state(&world)["current_state"], "HALTED_UNSAFE", "{decision}, {ms}");
                assert_eq!(record(&world), ("REJECTED".to_owned(), ApprovalStatus::Aborted));
                judge(&world, &run()).await;
            } else {
                assert!(decided.is_ok(), "{decision}, {ms}: {decided:?}");
            }
        }
    }
}

/// A rule may approve of some plans and leave others to a person.
#[tokio::test(start_paused = true)]
async fn plan_is_decided_by_a_rule_before_a_person() {
    struct SmallOnes;
    #[async_trait]
    impl PlanApproval for SmallOnes {
        async fn decide(&self, _: &RunId, plan: &ProposedPlan) -> PlanAnswer {
            match plan.tools.len() {
                0 | 1 => PlanAnswer::Approved { by: "rule: small".into() },
                _ => PlanAnswer::Undecided,
            }
        }
    }
    for (most, is_asked) in [(1, false), (2, true)] {
        let tools = ["build", "lint"].map(|name| Tool::new(name, [Reply::Pass]));
        let tools = tools.into_iter().take(most).collect();
        let world = World::new(Script { tools, auto: vec!["build", "lint"], ..Script::default() });
        let parts = Parts { plan_approval: Box::new(SmallOnes), ..world.parts() };
        assert_eq!(world.governor_of(parts).start("PROJECT").await.unwrap().waits.is_some(), is_asked);
    }
}

/// What another tool waits for in PLANNING is not known to be about any plan: nobody can answer it, and it expires.
#[tokio::test(start_paused = true)]
async fn foreign_question_in_planning_can_only_expire() {
    let file = json!({
        "run_id": RUN, "project_id": "PROJECT", "current_state": "PLANNING", "previous_state": "INIT",
        "state_history": [
            {"state": "INIT", "entered_at": "2026-01-31T12:00:00Z", "exited_at": "2026-01-31T12:00:00Z"},
            {"state": "PLANNING", "entered_at": "2026-01-31T12:00:00Z", "exited_at": null},
        ],
        "tools_planned": [], "tools_completed": [], "tools_remaining": [], "current_tool": null,
        "approvals_pending": ["PLAN-7"], "approvals_granted": [],
        "created_at": "2026-01-31T12:00:00Z", "updated_at": "2026-01-31T12:00:00Z",
    });
    let world = with_state(file.to_string().as_bytes(), vec![Tool::new("build", [Reply::Pass])]);
    let waiting = world.governor().resume(&run()).await.unwrap();
    assert_eq!((asked(&waiting).id.as_str(), asked(&waiting).request), ("PLAN-7", None));
    assert_eq!(state(&world), file, "it is not written");
    let refused = world.governor().approve(&run(), &"PLAN-7".parse().unwrap(), "ada", "").await.unwrap_err();
    assert!(matches!(refused, GovernedError::NotAsked { .. }), "{refused}");
    tokio::time::advance(std::time::Duration::from_millis(PLANNING_MS)).await;
    assert_eq!(world.governor().expire(&run()).await.unwrap(), Some(GovernedRunStatus::HaltedUnsafe));
    assert!(world.outside.lock().unwrap().calls.is_empty());
}

/// A crash at every write, with a plan that is asked about: approved, rejected and made anew, passed on, never answered.
#[tokio::test(start_paused = true)]
async fn plan_question_survives_a_crash_at_every_write() {
    for (answers, end) in [
        (vec![Answer::Approve], "COMPLETE"),
        (vec![Answer::Reject, Answer::Approve], "COMPLETE"),
        (vec![Answer::Escalate], "HALTED_UNSAFE"),
        (vec![Answer::Never], "HALTED_UNSAFE"),
    ] {
        let tools = vec![Tool::new("build", [Reply::Pass]).read_only()];
        let ends = super::crashes::crash_everywhere(Script { answers, tools, ..script() }).await;
        assert_eq!(ends, [end.to_owned()].into());
    }
}

/// What `runstate` says of the question is held against the file.
#[tokio::test(start_paused = true)]
async fn tampered_plan_question_is_refused() {
    let world = World::new(script());
    world.governor().start("PROJECT").await.unwrap();
    let sound = state(&world);
    let mut said = String::new();
    let doctored = |change: &dyn Fn(&mut Value)| {
        let mut file = sound.clone();
        change(&mut file);
        file.to_string()
    };
    let other = format!("{RUN}-A9");
    for (name, file) in [
        ("no longer pending", doctored(&|file| file["approvals_pending"] = json!([]))),
        ("another one pending", doctored(&|file| file["approvals_pending"] = json!([other]))),
        ("two pending", doctored(&|file| file["approvals_pending"] = json!([other, "A7"]))),
        ("not asked", doctored(&|file| file["runstate"]["notes"]["standing"] = json!({"at": "idle"}))),
        (
            "no plan",
            doctored(&|file| drop(file["runstate"]["notes"].as_object_mut().unwrap().remove("plan"))),
        ),
        ("no approval", doctored(&|file| file["runstate"]["notes"]["approvals"] = json!([]))),
    ] {
        let report = check_state(file.as_bytes(), None).unwrap();
        said.push_str(&format!("{name}: {}\n", report.faults.join("; ")));
        let world = with_state(file.as_bytes(), vec![Tool::new("build", [Reply::Pass])]);
        let before = world.disk.files();
        let error = world.governor().resume(&run()).await.unwrap_err();
        assert!(matches!(error, GovernedError::Damaged { .. }), "{name}: {error}");
        assert_eq!(world.disk.files(), before, "{name}");
        assert!(world.disk.list(std::path::Path::new("/runs/command-center")).is_err());
    }
    assert_told("hostile_plans", &said);
}
