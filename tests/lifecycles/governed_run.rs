//! Governed runs.
use runstate::approval::ApprovalId;
use runstate::governed_run::*;
use runstate::snapshot::Snapshot;
use serde_json::json;

use super::{assert_stored, doctored, round_trips, tables_agree, takes_its_edges};

/// 31 January 2026, 12:00:00 UTC.
const T: u64 = 1_769_860_800_000;
const MINUTE: u64 = 60_000;
const DAY: u64 = 24 * 60 * MINUTE;

fn approval() -> ApprovalId {
    "APPROVAL-1".parse().unwrap()
}

fn reviewers() -> Reviewers {
    Reviewers::new(["security", "quality"]).unwrap()
}

fn verdicts() -> Vec<Verdict> {
    reviewers().names().iter().map(|name| Verdict::new(name, Opinion::Pass, "fine")).collect()
}

fn pass() -> AuditPass {
    AuditPass::new(&reviewers(), verdicts()).unwrap()
}

fn rolled_back(at: u64) -> RollBack {
    RollBack::new("it did not work out", Rollback::Complete, at)
}

/// One payload of every event. The guards of `at` let all of them pass: every state is entered at `T`, and the halt is
/// for a timeout, which every state that can be halted has.
pub(crate) fn events() -> Vec<GovernedRunEvent> {
    vec![
        Plan::new(T).into(),
        Execute::new(["inspect", "report"], T).into(),
        AwaitApproval::new(approval(), T).into(),
        Approve::new(approval(), T).into(),
        Verify::new(T).into(),
        Audit::new(reviewers(), T).into(),
        Complete::new(pass(), T).into(),
        rolled_back(T).into(),
        Halt::timed_out(T + 2 * DAY).into(),
    ]
}

fn init() -> GovernedRun<Init> {
    GovernedRun::new(RunRecord::new("RUN-PROJECT-20260131-120000".parse().unwrap(), T))
}

fn planning() -> GovernedRun<Planning> {
    init().plan(Plan::new(T)).unwrap()
}

/// Nothing is completed yet.
fn executing() -> GovernedRun<Executing> {
    planning().execute(Execute::new(["inspect", "browse", "report"], T)).unwrap()
}

/// The first tool is completed, the second is in its second try.
fn half_way() -> GovernedRun<Executing> {
    let mut run = executing();
    run.start_tool(T).unwrap();
    run.complete_tool(T).unwrap();
    run.start_tool(T).unwrap();
    run.retry_tool(T).unwrap();
    run
}

/// No tool remains.
fn executed() -> GovernedRun<Executing> {
    let mut run = executing();
    for _ in 0..3 {
        run.start_tool(T).unwrap();
        run.complete_tool(T).unwrap();
    }
    run
}

fn awaiting() -> GovernedRun<AwaitingApproval> {
    half_way().await_approval(AwaitApproval::new(approval(), T)).unwrap()
}

fn verifying() -> GovernedRun<Verifying> {
    executed().verify(Verify::new(T)).unwrap()
}

fn auditing() -> GovernedRun<Auditing> {
    verifying().audit(Audit::new(reviewers(), T)).unwrap()
}

/// A run in that state, reached by legal steps. In EXECUTING no tool remains.
pub(crate) fn at(status: GovernedRunStatus) -> AnyGovernedRun {
    match status {
        GovernedRunStatus::Init => init().into(),
        GovernedRunStatus::Planning => planning().into(),
        GovernedRunStatus::Executing => executed().into(),
        GovernedRunStatus::AwaitingApproval => awaiting().into(),
        GovernedRunStatus::Verifying => verifying().into(),
        GovernedRunStatus::Auditing => auditing().into(),
        GovernedRunStatus::Completed => auditing().complete(Complete::new(pass(), T)).unwrap().into(),
        GovernedRunStatus::RolledBack => auditing().roll_back(rolled_back(T)).into(),
        GovernedRunStatus::HaltedUnsafe => awaiting()
            .halt(Halt::new(HaltReason::Escalation { why: "asks the board".into() }, T))
            .unwrap()
            .into(),
    }
}

#[test]
fn at_reaches_the_state_it_is_asked_for() {
    for &status in GovernedRunStatus::ALL {
        assert_eq!(at(status).status(), status);
    }
}

#[test]
fn every_edge_can_be_taken_and_nothing_else() {
    takes_its_edges(at, events);
}

#[test]
fn the_document_lists_its_states_and_edges() {
    tables_agree::<GovernedRunStatus>(include_str!("../../docs/lifecycles/governed-run.md"));
}

#[test]
fn every_state_survives_storage() {
    assert_stored("governed_run_stored", &round_trips(at));
}

#[test]
fn every_reason_to_halt_survives_storage() {
    let tool = || "browse".to_owned();
    let reasons = [
        HaltReason::CriticalFailure { tool: tool(), error: "exit code 139".into() },
        HaltReason::InDoubt { tool: tool() },
        HaltReason::RollbackFailed { why: "browse failed".into(), errors: vec!["no backup".into()] },
        HaltReason::Person { by: "ada".into(), why: "not today".into() },
    ];
    for reason in reasons {
        round_trips(|status| match status {
            GovernedRunStatus::Executing => half_way().into(),
            GovernedRunStatus::HaltedUnsafe => half_way().halt(Halt::new(reason.clone(), T)).unwrap().into(),
            GovernedRunStatus::RolledBack => half_way().roll_back(rolled_back(T)).unwrap().into(),
            other => at(other),
        });
    }
}

mod the_data_of {
    use super::*;

    #[test]
    fn init_is_its_time_of_entry() {
        let run = init();
        assert_eq!((run.entered_at(), run.record().created_at(), run.record().updated_at()), (T, T, T));
        assert_eq!(run.record().run_id().project(), "PROJECT");
        assert_eq!((run.record().previous_state(), run.record().approvals_granted().len()), (None, 0));
    }

    #[test]
    fn planning_is_its_time_of_entry() {
        let run = init().plan(Plan::new(T + 7)).unwrap();
        assert_eq!((run.entered_at(), run.record().updated_at()), (T + 7, T + 7));
        assert_eq!(run.record().previous_state(), Some(GovernedRunStatus::Init));
    }

    #[test]
    fn executing_is_how_far_its_tools_have_come() {
        let run = half_way();
        let progress = run.state().progress();
        assert_eq!(progress.planned(), ["inspect", "browse", "report"]);
        assert_eq!(
            (progress.completed(), progress.remaining()),
            (&progress.planned()[..1], &progress.planned()[1..])
        );
        assert_eq!((progress.current_tool(), progress.tries()), (Some("browse"), 2));
    }

    #[test]
    fn awaiting_approval_holds_the_approval_and_prior_progress() {
        let run = awaiting();
        assert_eq!(run.state().approval(), &approval());
        let before = half_way();
        assert_eq!(run.state().progress(), before.state().progress());
        let run = run.approve(Approve::new(approval(), T + 5)).unwrap();
        assert_eq!(run.state().progress(), before.state().progress());
        assert_eq!(run.record().approvals_granted(), [approval()]);
        assert_eq!(run.entered_at(), T + 5, "re-entry restarts the clock");
    }

    #[test]
    fn verifying_is_the_completed_tools() {
        assert_eq!(verifying().state().tools_completed(), ["inspect", "browse", "report"]);
    }

    #[test]
    fn auditing_is_the_reviewers() {
        let run = auditing();
        assert_eq!(run.state().reviewers().names(), ["security", "quality"]);
        assert_eq!(run.state().tools_completed().len(), 3);
    }

    #[test]
    fn completed_is_the_proof_of_the_audit() {
        let run = auditing();
        let pass = run.pass(verdicts()).unwrap();
        let run = run.complete(Complete::new(pass, T)).unwrap();
        assert_eq!(
            (run.state().audit().verdicts(), run.state().tools_completed().len()),
            (&verdicts()[..], 3)
        );
        assert_eq!(run.deadline(), None);
    }

    #[test]
    fn rolled_back_is_its_cause_and_how_the_rollback_went() {
        let run = half_way().roll_back(rolled_back(T)).unwrap();
        let state = run.state();
        assert_eq!(state.cause(), &RollBackCause::ToolFailed { tool: Some("browse".into()) });
        assert_eq!((state.why(), state.rollback()), ("it did not work out", &Rollback::Complete));
        assert_eq!(state.progress().completed(), ["inspect"]);
    }

    #[test]
    fn halted_unsafe_is_its_reason_and_what_it_left_behind() {
        let run = awaiting().halt(Halt::timed_out(T + DAY)).unwrap();
        let state = run.state();
        assert_eq!((state.reason(), state.approval()), (&HaltReason::Timeout, Some(&approval())));
        assert_eq!(state.progress().current_tool(), Some("browse"));
        let run = init().halt(Halt::timed_out(T + MINUTE)).unwrap();
        assert_eq!((run.state().approval(), run.state().progress().planned().len()), (None, 0));
    }
}

mod tools {
    use super::*;

    #[test]
    fn tools_run_one_after_the_other() {
        let mut run = executing();
        assert_eq!(run.complete_tool(T), Err(GovernedRunError::NoToolUnderWay));
        assert_eq!(run.retry_tool(T), Err(GovernedRunError::NoToolUnderWay));
        run.start_tool(T + 1).unwrap();
        assert_eq!(run.start_tool(T + 2), Err(GovernedRunError::ToolUnderWay { tool: "inspect".into() }));
        assert_eq!(run.record().updated_at(), T + 1, "a step that fails is no update");
        run.complete_tool(T + 3).unwrap();
        assert_eq!(run.record().updated_at(), T + 3, "progress is an update without a transition");
        run.start_tool(T + 2).unwrap();
        assert_eq!(run.record().updated_at(), T + 3, "a clock that was set back does not undo an update");
        assert_eq!(run.record().history().len(), 2);

        let mut run = executed();
        assert_eq!(run.start_tool(T), Err(GovernedRunError::NoToolRemains));
    }

    #[test]
    fn tools_are_tried_at_most_three_times() {
        let mut run = executing();
        run.start_tool(T).unwrap();
        assert_eq!((run.retry_tool(T), run.retry_tool(T)), (Ok(2), Ok(3)));
        let spent = GovernedRunError::TriesSpent { tool: "inspect".into(), tries: 3 };
        assert_eq!(run.retry_tool(T), Err(spent));
        assert_eq!(run.state().progress().tries(), MOST_TRIES);
        run.complete_tool(T).unwrap();
        run.start_tool(T).unwrap();
        assert_eq!(run.state().progress().tries(), 1, "the next tool starts anew");
    }

    #[test]
    fn run_with_remaining_tools_cannot_be_verified() {
        let back = half_way().verify(Verify::new(T)).unwrap_err();
        let GovernedRunError::ToolsRemain(remain) = &back.error else { panic!("{}", back.error) };
        assert_eq!(remain.remaining(), ["browse", "report"]);
        assert_eq!((back.event, back.machine.state().progress().tries()), (Verify::new(T), 2));
        // A plan without tools has nothing left to do.
        let empty = planning().execute(Execute::new(Vec::<String>::new(), T)).unwrap();
        assert!(empty.verify(Verify::new(T)).is_ok());
    }

    #[test]
    fn expired_run_starts_no_tool_but_records_a_completed_one() {
        let late = T + 30 * MINUTE;
        let expired =
            GovernedRunError::Expired { state: GovernedRunStatus::Executing, deadline: late, at: late };
        let mut run = executing();
        assert_eq!(run.start_tool(late), Err(expired.clone()));
        run.start_tool(late - 1).unwrap();
        assert_eq!(run.retry_tool(late), Err(expired));
        run.complete_tool(late).unwrap();
        assert_eq!(run.state().progress().completed(), ["inspect"]);
    }
}

mod time {
    use super::*;

    #[test]
    fn time_limits_are_those_of_document_001() {
        let rows = [
            ("INIT", Some((60, "HALTED_UNSAFE"))),
            ("PLANNING", Some((5 * 60, "HALTED_UNSAFE"))),
            ("EXECUTING", Some((30 * 60, "HALTED_UNSAFE"))),
            ("AWAITING_APPROVAL", Some((24 * 60 * 60, "HALTED_UNSAFE"))),
            ("VERIFYING", Some((10 * 60, "ROLLED_BACK"))),
            ("AUDITING", Some((15 * 60, "ROLLED_BACK"))),
            ("COMPLETE", None),
            ("ROLLED_BACK", None),
            ("HALTED_UNSAFE", None),
        ];
        assert_eq!(rows.len(), GovernedRunStatus::ALL.len());
        for (name, limit) in rows {
            let status: GovernedRunStatus = name.parse().unwrap();
            let got = status.time_limit().map(|limit| (limit.ms / 1000, limit.leads_to.name()));
            assert_eq!(got, limit, "{name}");
            assert_eq!(limit.is_none(), status.is_terminal());
        }
    }

    #[test]
    fn time_limits_are_those_of_the_lifecycle_document() {
        let document = include_str!("../../docs/lifecycles/governed-run.md");
        for status in GovernedRunStatus::ALL {
            let Some(limit) = status.time_limit() else { continue };
            let minutes = limit.ms / MINUTE;
            let text = match minutes {
                1 => "60 seconds".to_owned(),
                1440 => "24 hours".to_owned(),
                _ => format!("{minutes} minutes"),
            };
            let row = format!("\n| {status} | {text} | {} |\n", limit.leads_to);
            assert!(document.contains(&row), "{row}");
        }
    }

    #[test]
    fn state_expires_when_its_time_limit_is_reached() {
        for &status in GovernedRunStatus::ALL {
            let run = at(status);
            assert_eq!(run.entered_at(), T, "{status}");
            let Some(limit) = status.time_limit() else {
                assert!(!run.is_expired(u64::MAX), "{status}");
                continue;
            };
            assert_eq!(run.deadline(), Some(T + limit.ms), "{status}");
            assert!(!run.is_expired(T + limit.ms - 1) && run.is_expired(T + limit.ms), "{status}");
            assert!(!run.is_expired(0), "a clock that was set back does not expire anything");
        }
        assert_eq!(TimeLimits::default().deadline(GovernedRunStatus::Init, u64::MAX), Some(u64::MAX));
        let run = verifying();
        assert_eq!(run.deadline(), Some(T + 10 * MINUTE));
        assert!(!run.is_expired(T + 10 * MINUTE - 1) && run.is_expired(T + 10 * MINUTE));
    }

    #[test]
    fn expired_state_allows_only_its_timeout_transition() {
        for &status in GovernedRunStatus::ALL {
            let Some(limit) = status.time_limit() else { continue };
            let late = T + limit.ms;
            let events: Vec<GovernedRunEvent> = vec![
                Plan::new(late).into(),
                Execute::new(["inspect"], late).into(),
                AwaitApproval::new(approval(), late).into(),
                Approve::new(approval(), late).into(),
                Verify::new(late).into(),
                Audit::new(reviewers(), late).into(),
                Complete::new(pass(), late).into(),
                rolled_back(late).into(),
                Halt::timed_out(late).into(),
            ];
            let reached: Vec<_> =
                events.into_iter().filter_map(|event| Some(at(status).apply(event).ok()?.status())).collect();
            assert_eq!(reached, [limit.leads_to], "{status}");
        }
    }

    /// The table may be configured for a run; the run's guards, deadlines and storage follow.
    #[test]
    fn run_may_have_time_limits_of_its_own() {
        let states = GovernedRunStatus::ALL.iter().copied().filter(|state| !state.is_terminal());
        let limits = states
            .clone()
            .enumerate()
            .fold(TimeLimits::default(), |limits, (i, state)| limits.with(state, 10 + i as u64).unwrap());
        let id = || "RUN-PROJECT-20260131-120000".parse().unwrap();
        let begun = || AnyGovernedRun::from(GovernedRun::new(RunRecord::new(id(), T).limited(limits)));
        let way: Vec<GovernedRunEvent> = vec![
            Plan::new(T).into(),
            Execute::new(Vec::<String>::new(), T).into(),
            AwaitApproval::new(approval(), T).into(),
            Approve::new(approval(), T).into(),
            Verify::new(T).into(),
            Audit::new(reviewers(), T).into(),
        ];
        let mut seen = Vec::new();
        for steps in 0..=way.len() {
            let at = || {
                way[..steps]
                    .iter()
                    .map(|event| at_time(event, T))
                    .fold(begun(), |run, event| run.apply(event).unwrap())
            };
            let limit = limits.of(at().status()).unwrap();
            assert_eq!(at().deadline(), Some(T + limit.ms));
            assert!(!at().is_expired(T + limit.ms - 1) && at().is_expired(T + limit.ms));
            if let Some(next) = way.get(steps) {
                let (early, late) = (at_time(next, T + limit.ms - 1), at_time(next, T + limit.ms));
                assert!(at().apply(early).is_ok() && at().apply(late).is_err(), "{}", at().status());
            }
            let stored = Snapshot::of(&at()).unwrap();
            let back: AnyGovernedRun = stored.restore().unwrap();
            assert_eq!(back.record().limits(), &limits);
            seen.push(at().status());
        }
        assert!(states.clone().all(|state| seen.contains(&state)));
        for state in states {
            assert_eq!(
                limits.with(state, 0).unwrap_err().to_string(),
                format!("a time limit of {state} must be at least 1 ms, got 0")
            );
        }
        let error = TimeLimits::default().with(GovernedRunStatus::RolledBack, 1).unwrap_err();
        assert_eq!(error.to_string(), "ROLLED_BACK is terminal and has no time limit");
        assert!(serde_json::from_value::<TimeLimits>(json!({"INIT": 0})).is_err());
        assert!(serde_json::from_value::<TimeLimits>(json!({"COMPLETE": 5})).is_err());
    }

    fn at_time(event: &GovernedRunEvent, at: u64) -> GovernedRunEvent {
        match event {
            GovernedRunEvent::Plan(_) => Plan::new(at).into(),
            GovernedRunEvent::Execute(_) => Execute::new(Vec::<String>::new(), at).into(),
            GovernedRunEvent::AwaitApproval(_) => AwaitApproval::new(approval(), at).into(),
            GovernedRunEvent::Approve(_) => Approve::new(approval(), at).into(),
            GovernedRunEvent::Verify(_) => Verify::new(at).into(),
            GovernedRunEvent::Audit(_) => Audit::new(reviewers(), at).into(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn unexpired_time_limit_does_not_halt_the_run() {
        for &status in GovernedRunStatus::ALL {
            let Some(limit) = status.time_limit() else { continue };
            if limit.leads_to != GovernedRunStatus::HaltedUnsafe {
                continue;
            }
            let early = at(status).apply(Halt::timed_out(T + limit.ms - 1).into()).unwrap_err();
            assert!(early.guard().is_some(), "{early}");
            assert_eq!(early.machine().status(), status);
        }
    }

    #[test]
    fn clock_rollback_ends_no_state_before_its_entry() {
        let run = init().plan(Plan::new(T - 5)).unwrap();
        assert_eq!(run.entered_at(), T);
        let visit = run.record().history()[0];
        assert_eq!((visit.state, visit.entered_at, visit.exited_at), (GovernedRunStatus::Init, T, T));
    }

    #[test]
    fn history_keeps_the_times_of_every_exited_state() {
        let run = init().plan(Plan::new(T + 1)).unwrap().execute(Execute::new(["inspect"], T + 5)).unwrap();
        let run = run.await_approval(AwaitApproval::new(approval(), T + 7)).unwrap();
        let run = run.approve(Approve::new(approval(), T + 9)).unwrap();
        let left: Vec<_> =
            run.record().history().iter().map(|v| (v.state.name(), v.entered_at, v.exited_at)).collect();
        let expected = [
            ("INIT", T, T + 1),
            ("PLANNING", T + 1, T + 5),
            ("EXECUTING", T + 5, T + 7),
            ("AWAITING_APPROVAL", T + 7, T + 9),
        ];
        assert_eq!(left, expected);
    }
}

mod a_halt {
    use super::*;

    #[test]
    fn each_state_accepts_only_its_halt_reasons() {
        let reasons = [
            (HaltReason::Timeout, "INIT PLANNING EXECUTING AWAITING_APPROVAL"),
            (HaltReason::CriticalRisk { risk: "drops a table".into() }, "PLANNING"),
            (HaltReason::CriticalFailure { tool: "browse".into(), error: "crash".into() }, "EXECUTING"),
            (HaltReason::InDoubt { tool: "browse".into() }, "EXECUTING"),
            (
                HaltReason::RollbackFailed { why: "browse failed".into(), errors: vec![] },
                "EXECUTING AWAITING_APPROVAL",
            ),
            (HaltReason::Escalation { why: "asks the board".into() }, "AWAITING_APPROVAL"),
            (
                HaltReason::Person { by: "ada".into(), why: "not today".into() },
                "PLANNING EXECUTING AWAITING_APPROVAL",
            ),
        ];
        for (reason, states) in reasons {
            let halts = |status: &GovernedRunStatus| {
                // Late enough for a timeout of every state; the other reasons do not ask for the time.
                let halted = at(*status).apply(Halt::new(reason.clone(), T + DAY).into());
                assert_eq!(halted.is_ok(), reason.occurs_in(*status), "{reason} in {status}");
                halted.is_ok()
            };
            let got: Vec<_> = GovernedRunStatus::ALL.iter().filter(|s| halts(s)).map(|s| s.name()).collect();
            assert_eq!(got.join(" "), states, "{reason}");
        }
    }

    #[test]
    fn init_halts_only_for_a_timeout() {
        let risk = HaltReason::CriticalRisk { risk: "drops a table".into() };
        let back = init().halt(Halt::new(risk.clone(), T + DAY)).unwrap_err();
        let state = GovernedRunStatus::Init;
        assert_eq!(back.error, GovernedRunError::NoSuchReason { state, reason: risk });
        let at = T + MINUTE - 1;
        let back = back.machine.halt(Halt::timed_out(at)).unwrap_err();
        assert_eq!(back.error, GovernedRunError::NotExpired { state, deadline: T + MINUTE, at });
        assert!(back.machine.halt(Halt::timed_out(T + MINUTE)).is_ok());
    }
}

mod a_rollback {
    use super::*;

    fn incomplete(at: u64) -> RollBack {
        RollBack::new("tests fail", Rollback::Incomplete { errors: vec!["no backup".into()] }, at)
    }

    #[test]
    fn rollback_has_the_cause_of_the_state_it_leaves() {
        let late = T + DAY;
        let rows = [
            (
                AnyGovernedRun::from(executing().roll_back(rolled_back(T)).unwrap()),
                RollBackCause::ToolFailed { tool: None },
            ),
            (
                awaiting().roll_back(rolled_back(T)).unwrap().into(),
                RollBackCause::Rejected { approval: approval() },
            ),
            (verifying().roll_back(rolled_back(T)).into(), RollBackCause::VerificationFailed),
            (auditing().roll_back(rolled_back(T)).into(), RollBackCause::AuditFailed),
            (
                auditing().roll_back(rolled_back(T).by("ada")).into(),
                RollBackCause::Person { by: "ada".into() },
            ),
            (
                verifying().roll_back(rolled_back(late)).into(),
                RollBackCause::Timeout { state: GovernedRunStatus::Verifying },
            ),
            (
                auditing().roll_back(rolled_back(late)).into(),
                RollBackCause::Timeout { state: GovernedRunStatus::Auditing },
            ),
        ];
        for (run, cause) in rows {
            let AnyGovernedRun::RolledBack(run) = run else { panic!("{run:?}") };
            assert_eq!(run.state().cause(), &cause);
        }
    }

    #[test]
    fn incomplete_rollback_is_refused_before_verifying() {
        let errors = vec!["no backup".to_owned()];
        let failed = |state| GovernedRunError::RollbackIncomplete { state, errors: vec!["no backup".into()] };
        let back = half_way().roll_back(incomplete(T)).unwrap_err();
        assert_eq!(back.error, failed(GovernedRunStatus::Executing));
        let reason = HaltReason::RollbackFailed { why: "browse failed".into(), errors: errors.clone() };
        assert!(back.machine.halt(Halt::new(reason.clone(), T)).is_ok());
        let back = awaiting().roll_back(incomplete(T)).unwrap_err();
        assert_eq!(back.error, failed(GovernedRunStatus::AwaitingApproval));
        assert!(back.machine.halt(Halt::new(reason, T)).is_ok());

        for run in [verifying().roll_back(incomplete(T)), auditing().roll_back(incomplete(T))] {
            assert_eq!(run.state().rollback(), &Rollback::Incomplete { errors: errors.clone() });
        }
    }
}

mod an_approval {
    use super::*;

    #[test]
    fn approval_must_be_the_pending_one() {
        let other: ApprovalId = "APPROVAL-2".parse().unwrap();
        let back = awaiting().approve(Approve::new(other.clone(), T)).unwrap_err();
        assert_eq!(back.error, GovernedRunError::OtherApproval { got: other, expected: approval() });
        assert!(back.machine.record().approvals_granted().is_empty());
    }
}

mod an_answer {
    use runstate::approval::{self, Approval, ApprovalError, ApprovalRecord, AwaitingHuman, Request, Risk};

    use super::*;

    fn asked_as(id: &str, run: &str) -> Approval<AwaitingHuman> {
        let request = Request::new("browse", "open the door", Risk::High);
        let record = ApprovalRecord::new(id.parse().unwrap(), run.parse().unwrap(), request, T);
        Approval::new(record).submit(approval::Submit::new(T, awaiting().answer_by()))
    }

    fn asked() -> Approval<AwaitingHuman> {
        asked_as("APPROVAL-1", "RUN-PROJECT-20260131-120000")
    }

    #[test]
    fn approval_moves_run_and_question() {
        let yes = approval::Approve::new("ada", T + DAY - 1);
        let (run, approval) = awaiting().approved_with(asked(), &yes).unwrap();
        assert_eq!((run.entered_at(), approval.state().decision().by()), (T + DAY - 1, "ada"));
    }

    #[test]
    fn rejection_rolls_the_run_back_and_aborts_the_approval() {
        let (run, approval) =
            awaiting().rejected_with(asked(), "ada", "too risky", &Rollback::Complete, T + 1).unwrap();
        let RejectedRun::RolledBack(run) = run else { panic!("{run:?}") };
        assert_eq!(run.state().cause(), &RollBackCause::Rejected { approval: super::approval() });
        assert_eq!(
            (run.state().why(), run.entered_at(), approval.state().aborted_at()),
            ("too risky", T + 1, T + 1)
        );
    }

    #[test]
    fn rejection_with_a_failed_rollback_halts_the_run() {
        let incomplete = Rollback::Incomplete { errors: vec!["no backup".into()] };
        let (run, approval) =
            awaiting().rejected_with(asked(), "ada", "too risky", &incomplete, T + 1).unwrap();
        let RejectedRun::HaltedUnsafe(halted) = &run else { panic!("{run:?}") };
        assert!(matches!(halted.state().reason(), HaltReason::RollbackFailed { .. }));
        assert_eq!(approval.state().rejection().at(), T + 1);
        assert_eq!(AnyGovernedRun::from(run).status(), GovernedRunStatus::HaltedUnsafe);
    }

    #[test]
    fn unanswered_approval_halts_the_run() {
        let (run, approval) = awaiting().timed_out_with(asked(), T + DAY).unwrap();
        assert_eq!(run.state().reason(), &HaltReason::Timeout);
        assert_eq!(approval.state().rejection().cause(), &approval::RejectionCause::Timeout);
    }

    #[test]
    fn escalated_approval_halts_the_run() {
        let (run, approval) = awaiting().escalated_with(asked(), "asks the board", T + 1).unwrap();
        assert_eq!(run.state().reason(), &HaltReason::Escalation { why: "asks the board".into() });
        let cause = approval::RejectionCause::Escalation { why: "asks the board".into() };
        assert_eq!(approval.state().rejection().cause(), &cause);
    }

    #[test]
    fn refused_answer_moves_neither_run_nor_approval() {
        let incomplete = Rollback::Incomplete { errors: vec![] };
        let late = T + DAY;
        let yes = |by, at| approval::Approve::new(by, at);
        let backs = [
            awaiting().approved_with(asked(), &yes("ada", late)).map(drop).unwrap_err(),
            awaiting().approved_with(asked(), &yes(" ", T)).map(drop).unwrap_err(),
            awaiting().rejected_with(asked(), "", "no", &Rollback::Complete, T).map(drop).unwrap_err(),
            awaiting().rejected_with(asked(), "ada", "no", &Rollback::Complete, late).map(drop).unwrap_err(),
            awaiting().rejected_with(asked(), "ada", "no", &incomplete, late).map(drop).unwrap_err(),
            awaiting().timed_out_with(asked(), late - 1).map(drop).unwrap_err(),
        ];
        let expired = GovernedRunError::Expired {
            state: GovernedRunStatus::AwaitingApproval,
            deadline: late,
            at: late,
        };
        let early = GovernedRunError::NotExpired {
            state: GovernedRunStatus::AwaitingApproval,
            deadline: late,
            at: late - 1,
        };
        let errors = [
            AnswerError::Refused(expired.clone()),
            AnswerError::Approval(ApprovalError::Nobody),
            AnswerError::Approval(ApprovalError::Nobody),
            AnswerError::Refused(expired),
            AnswerError::Approval(ApprovalError::Expired { deadline: late, at: late }),
            AnswerError::Refused(early),
        ];
        for (back, error) in backs.into_iter().zip(errors) {
            assert_eq!(back.error, error);
            // Both are as they were: a good answer still moves them.
            assert!(back.run.approved_with(back.approval, &yes("ada", T + 1)).is_ok());
        }
    }

    #[test]
    fn answer_to_another_question_or_run_moves_nothing() {
        let other = asked_as("APPROVAL-2", "RUN-PROJECT-20260131-120000");
        let back = awaiting().timed_out_with(other, T + DAY).unwrap_err();
        let expected = approval();
        let got = "APPROVAL-2".parse().unwrap();
        assert_eq!(back.error, AnswerError::Refused(GovernedRunError::OtherApproval { got, expected }));

        let other = asked_as("APPROVAL-1", "RUN-OTHER-20260131-120000");
        let back = back.run.approved_with(other, &approval::Approve::new("ada", T)).unwrap_err();
        insta::assert_snapshot!(back, @"the approval is for run RUN-OTHER-20260131-120000, the run that waits is RUN-PROJECT-20260131-120000");
    }
}

mod an_audit {
    use super::*;

    fn objections(verdicts: Vec<Verdict>) -> Vec<Objection> {
        auditing().pass(verdicts).unwrap_err().objections().to_vec()
    }

    #[test]
    fn audit_without_every_pass_fails() {
        let verdict = |who: &str, opinion| Verdict::new(who, opinion, "because");
        let fine = |who: &str| verdict(who, Opinion::Pass);
        let against = |verdict: Verdict| Objection::Against { verdict };
        let (security, quality) = ("security".to_owned(), "quality".to_owned());
        assert_eq!(
            objections(vec![]),
            [Objection::Missing { reviewer: security }, Objection::Missing { reviewer: quality.clone() }]
        );
        assert_eq!(objections(vec![fine("security")]), [Objection::Missing { reviewer: quality.clone() }]);
        for opinion in [Opinion::Fail, Opinion::Unclear] {
            let bad = verdict("quality", opinion);
            assert_eq!(objections(vec![fine("security"), bad.clone()]), [against(bad)]);
        }
        let twice = vec![fine("quality"), fine("security"), fine("quality")];
        assert_eq!(objections(twice), [Objection::Twice { reviewer: quality }]);
        let uninvited = vec![fine("security"), fine("quality"), fine("a friend")];
        assert_eq!(objections(uninvited), [Objection::Unlisted { reviewer: "a friend".into() }]);
        assert_eq!(auditing().pass(verdicts()).unwrap(), pass());
    }

    #[test]
    fn audit_by_other_reviewers_does_not_complete_the_run() {
        for others in [&["security"][..], &["security", "a friend"], &["security", "quality", "a friend"]] {
            let names: Vec<String> = others.iter().map(|&name| name.into()).collect();
            let verdicts = others.iter().map(|&name| Verdict::new(name, Opinion::Pass, "fine")).collect();
            let pass = AuditPass::new(&Reviewers::new(names.clone()).unwrap(), verdicts).unwrap();
            let back = auditing().complete(Complete::new(pass.clone(), T)).unwrap_err();
            let expected = reviewers().names().to_vec();
            assert_eq!(back.error, GovernedRunError::OtherReviewers { got: names, expected });
            assert_eq!(back.event, Complete::new(pass, T));
        }
    }

    #[test]
    fn audit_needs_distinct_reviewers_with_names() {
        assert_eq!(Reviewers::new(Vec::<String>::new()), Err(ReviewersError::None));
        assert_eq!(Reviewers::new(["a", " "]), Err(ReviewersError::Blank));
        assert_eq!(Reviewers::new(["a", "b", "a"]), Err(ReviewersError::Twice { reviewer: "a".into() }));
    }
}

mod a_run_id {
    use super::*;

    #[test]
    fn run_id_names_an_existing_second() {
        let good = [
            "RUN-PROJECT-20260131-120000",
            "RUN-A-20240229-235959",
            "RUN-20260131-120000-20260131-120000",
            "RUN---20000229-000000",
            "RUN-X-00010101-000000",
            "RUN-X-99991231-235959",
        ];
        for id in good {
            assert_eq!(id.parse::<RunId>().unwrap().as_str(), id);
        }
        let bad = [
            "",
            "RUN-",
            "run-PROJECT-20260131-120000",
            "RUN-project-20260131-120000",
            "RUN-PROJECT-20260131-12000",
            "RUN-PROJECT-20260131-1200000",
            "RUN-PROJECT-20260131120000",
            "RUN-PROJECT-2026013-1120000",
            "RUN--20260131-120000",
            "RUN-PROJECT_20260131-120000",
            "RUN-PROJ\u{c9}CT-20260131-120000",
            "RUN-PROJECT-20260131-120000\n",
            " RUN-PROJECT-20260131-120000",
            "RUN-PROJECT-20260132-120000",
            "RUN-PROJECT-20260229-120000",
            "RUN-PROJECT-21000229-120000",
            "RUN-PROJECT-20260431-120000",
            "RUN-PROJECT-20261301-120000",
            "RUN-PROJECT-20260001-120000",
            "RUN-PROJECT-20260100-120000",
            "RUN-PROJECT-00000101-120000",
            "RUN-PROJECT-20260131-240000",
            "RUN-PROJECT-20260131-126000",
            "RUN-PROJECT-20260131-120060",
            "RUN-PROJECT-+0260131-120000",
            "RUN-PROJECT-2026013\u{661}-120000",
        ];
        let said: Vec<_> = bad.map(|id| id.parse::<RunId>().unwrap_err().to_string()).into();
        assert_stored("governed_run_bad_ids", &said.join("\n"));
    }

    #[test]
    fn run_id_contains_its_time_of_creation() {
        let rows = [
            (0, "RUN-P-19700101-000000"),
            (T, "RUN-P-20260131-120000"),
            (T + 999, "RUN-P-20260131-120000"),
            (951_782_399_000, "RUN-P-20000228-235959"),
            (951_782_400_000, "RUN-P-20000229-000000"),
            (1_709_251_199_000, "RUN-P-20240229-235959"),
            (1_709_251_200_000, "RUN-P-20240301-000000"),
            (4_107_542_400_000, "RUN-P-21000301-000000"),
            (253_402_300_799_000, "RUN-P-99991231-235959"),
        ];
        for (at, id) in rows {
            assert_eq!(RunId::new("P", at).unwrap().as_str(), id);
        }
        assert!(RunId::new("P", 253_402_300_800_000).is_err(), "the year 10000");
        assert!(RunId::new("P", u64::MAX).is_err());
        assert!(RunId::new("", T).is_err() && RunId::new("p", T).is_err());
    }

    #[test]
    fn taken_run_id_advances_by_one_second() {
        let rows = [
            ("RUN-P-20260131-120000", "RUN-P-20260131-120001"),
            ("RUN-P-20260131-235959", "RUN-P-20260201-000000"),
            ("RUN-P-20240228-235959", "RUN-P-20240229-000000"),
            ("RUN-P-20251231-235959", "RUN-P-20260101-000000"),
        ];
        for (taken, next) in rows {
            assert_eq!(taken.parse::<RunId>().unwrap().next_second().unwrap().as_str(), next);
        }
        for last in ["RUN-P-99991231-235959", "RUN-P-19691231-235958"] {
            assert!(last.parse::<RunId>().unwrap().next_second().is_err(), "{last}");
        }
    }

    #[test]
    fn run_id_after_a_last_second_is_of_the_next_day() {
        // Up to 2105: past the leap year 2000 and past 2100, which is none.
        let mut id = RunId::new("P", 0).unwrap();
        for day in 1..(366 * 135) {
            let last_second = RunId::new("P", day * DAY - 1000).unwrap();
            id = if id.as_str()[..14] == last_second.as_str()[..14] {
                last_second
            } else {
                panic!("{id}, {last_second}")
            };
            id = id.next_second().unwrap();
            assert_eq!(id, RunId::new("P", day * DAY).unwrap());
        }
    }
}

#[test]
fn the_dynamic_machine_says_why_it_refuses() {
    let late = T + 2 * DAY;
    let said = |run: AnyGovernedRun, event: GovernedRunEvent| run.apply(event).unwrap_err().to_string();
    let other: ApprovalId = "APPROVAL-2".parse().unwrap();
    let incomplete = Rollback::Incomplete { errors: vec!["no backup".into(), "disk full".into()] };
    let few = Reviewers::new(["security"]).unwrap();
    let few = AuditPass::new(&few, vec![Verdict::new("security", Opinion::Pass, "fine")]).unwrap();
    let lines = [
        said(init().into(), Plan::new(late).into()),
        said(init().into(), Halt::timed_out(T).into()),
        said(init().into(), Halt::new(HaltReason::Escalation { why: "x".into() }, T).into()),
        said(init().into(), Execute::new(["inspect"], T).into()),
        said(half_way().into(), Verify::new(T).into()),
        said(half_way().into(), RollBack::new("x", incomplete, T).into()),
        said(executed().into(), Complete::new(pass(), T).into()),
        said(awaiting().into(), Approve::new(other, T).into()),
        said(awaiting().into(), Approve::new(approval(), late).into()),
        said(awaiting().into(), Verify::new(T).into()),
        said(auditing().into(), Complete::new(few, T).into()),
        said(at(GovernedRunStatus::Completed), Plan::new(T).into()),
    ];
    let tools = [
        GovernedRunError::ToolUnderWay { tool: "browse".into() },
        GovernedRunError::NoToolUnderWay,
        GovernedRunError::NoToolRemains,
        GovernedRunError::TriesSpent { tool: "browse".into(), tries: 3 },
        GovernedRunError::AuditNotPassed(auditing().pass(vec![]).unwrap_err()),
    ];
    let tools = tools.map(|error| error.to_string());
    assert_stored("governed_run_refusals", &format!("{}\n{}", lines.join("\n"), tools.join("\n")));
}

#[test]
fn doctored_progress_is_refused() {
    let run = AnyGovernedRun::from(half_way());
    let edit = |field: &'static str, value: serde_json::Value| {
        doctored(&run, |json| json["state"]["progress"][field] = value)
    };
    let said = [
        edit("tools_planned", json!(["inspect", "report", "browse"])),
        edit("tools_planned", json!(["inspect", "browse", "report", "extra"])),
        edit("tools_completed", json!([])),
        edit("tools_completed", json!(["browse"])),
        edit("tools_remaining", json!(["report", "browse"])),
        edit("tools_remaining", json!([])),
        edit("current_tool", json!("inspect")),
        edit("current_tool", json!("report")),
        edit("current_tool", json!("nothing")),
        edit("current_tool", json!(null)),
        edit("tries", json!(0)),
        edit("tries", json!(4)),
        edit("surprise", json!(true)),
    ];
    assert_stored("governed_run_doctored_progress", &said.join("\n"));
}

#[test]
fn a_doctored_run_is_refused() {
    let awaiting = AnyGovernedRun::from(awaiting());
    let completed = at(GovernedRunStatus::Completed);
    let said = [
        doctored(&awaiting, |json| json["state"]["approvals_pending"] = json!([])),
        doctored(&awaiting, |json| json["state"]["approvals_pending"] = json!(["A", "B"])),
        doctored(&awaiting, |json| json["state"]["approvals_pending"] = json!(["../A"])),
        doctored(&completed, |json| json["state"]["audit"] = json!([])),
        doctored(&completed, |json| json["state"]["audit"][0]["opinion"] = json!("fail")),
        doctored(&completed, |json| json["state"]["audit"][0]["reviewer"] = json!("quality")),
        doctored(&at(GovernedRunStatus::Auditing), |json| json["state"]["reviewers"] = json!([])),
        doctored(&at(GovernedRunStatus::Verifying), |json| json["status"] = json!("COMPLETE")),
        doctored(&completed, |json| json["record"]["run_id"] = json!("RUN-P-20260230-120000")),
        doctored(&completed, |json| json["record"]["state_history"][0]["state"] = json!("PLANNING")),
        doctored(&completed, |json| json["record"]["state_history"][2]["state"] = json!("AUDITING")),
        doctored(&completed, |json| json["record"]["state_history"][1]["entered_at"] = json!(T + 1)),
        doctored(&completed, |json| json["record"]["state_history"][4]["exited_at"] = json!(T - 1)),
        doctored(&completed, |json| json["record"]["updated_at"] = json!(T - 1)),
        doctored(&completed, |json| json["state"]["entered_at"] = json!(-1)),
        doctored(&at(GovernedRunStatus::RolledBack), |json| json["state"]["cause"]["tool"] = json!("browse")),
        doctored(&at(GovernedRunStatus::RolledBack), |json| json["state"]["rollback"]["errors"] = json!([])),
    ];
    assert_stored("governed_run_doctored", &said.join("\n"));
}
