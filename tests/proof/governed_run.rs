//! `governed_run`: document 001, "Valid Transitions", "Timeout Rules" and "RUN_STATE.json Schema".

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use runstate::governed_run::*;
use runstate::testing::Subject;
use serde_json::{Value, json};

use super::facts;
use super::model::{At, Documented, Table};

/// 31 January 2026, 12:00:00 UTC.
const T: u64 = 1_769_860_800_000;
const MINUTE: u64 = 60_000;

/// "Timeout Rules", in milliseconds.
const LIMITS: [(&str, u64); 6] = [
    ("INIT", MINUTE),
    ("PLANNING", 5 * MINUTE),
    ("EXECUTING", 30 * MINUTE),
    ("AWAITING_APPROVAL", 24 * 60 * MINUTE),
    ("VERIFYING", 10 * MINUTE),
    ("AUDITING", 15 * MINUTE),
];

fn limit(state: &str) -> u64 {
    LIMITS.iter().find(|(name, _)| *name == state).map_or(MINUTE, |(_, limit)| *limit)
}

#[derive(Debug, Clone, Copy)]
pub(super) struct GovernedRuns;

fn halts() -> impl Strategy<Value = HaltReason> {
    let tool = || "browse".to_owned();
    select(vec![
        HaltReason::Timeout,
        HaltReason::CriticalRisk { risk: "drops a table".into() },
        HaltReason::CriticalFailure { tool: tool(), error: "exit code 139".into() },
        HaltReason::InDoubt { tool: tool() },
        HaltReason::RollbackFailed { why: "browse failed".into(), errors: vec!["no backup".into()] },
        HaltReason::Escalation { why: "asks the board".into() },
        HaltReason::Person { by: "ada".into(), why: "not today".into() },
    ])
}

fn reviewers(names: Vec<&str>) -> Reviewers {
    Reviewers::new(names).unwrap()
}

impl Subject for GovernedRuns {
    type Machine = AnyGovernedRun;

    fn record(&self) -> RunRecord {
        RunRecord::new("RUN-PROJECT-20260131-120000".parse().unwrap(), T)
    }

    fn event(&self, run: &AnyGovernedRun, name: &'static str) -> BoxedStrategy<GovernedRunEvent> {
        let at = At::of(run);
        let (entered, limit) = (run.entered_at(), limit(at.status));
        // Mostly in time; about the very end; too late; by a clock that was set back.
        let times = prop_oneof![
            6 => entered..entered + limit,
            1 => Just(entered + limit - 1),
            2 => Just(entered + limit),
            1 => entered + limit..entered + 2 * limit,
            1 => Just(entered - 1000),
        ];
        let approvals = {
            let pending = at.state["approvals_pending"][0].as_str().unwrap_or("APPROVAL-1").to_owned();
            let ids = prop_oneof![3 => Just(pending), 1 => Just("APPROVAL-2".to_owned())];
            ids.prop_map(|id| id.parse().unwrap())
        };
        let panels = subsequence(vec!["security", "quality", "style"], 1..=3);
        match name {
            "plan" => times.prop_map(|at| Plan::new(at).into()).boxed(),
            "execute" => {
                let tools = prop_oneof![
                    2 => Just(vec![]),
                    1 => Just(vec!["inspect"]),
                    1 => Just(vec!["inspect", "browse", "inspect"]),
                ];
                let granted = prop_oneof![3 => Just(None), 1 => Just(Some("APPROVAL-9"))];
                (tools, granted, times)
                    .prop_map(|(tools, granted, at)| {
                        let execute = Execute::new(tools, at);
                        match granted {
                            Some(id) => execute.granted(id.parse().unwrap()).into(),
                            None => execute.into(),
                        }
                    })
                    .boxed()
            }
            "await_approval" => {
                (approvals, times).prop_map(|(id, at)| AwaitApproval::new(id, at).into()).boxed()
            }
            "approve" => (approvals, times).prop_map(|(id, at)| Approve::new(id, at).into()).boxed(),
            "verify" => times.prop_map(|at| Verify::new(at).into()).boxed(),
            "audit" => {
                (panels, times).prop_map(|(names, at)| Audit::new(reviewers(names), at).into()).boxed()
            }
            "complete" => {
                let asked: Vec<String> = match serde_json::from_value(at.state["reviewers"].clone()) {
                    Ok(names) => names,
                    Err(_) => vec!["security".into()],
                };
                let panels = panels.prop_map(|names| names.into_iter().map(str::to_owned).collect());
                (prop_oneof![3 => Just(asked), 1 => panels], times)
                    .prop_map(|(names, at): (Vec<String>, u64)| {
                        let verdicts =
                            names.iter().rev().map(|name| Verdict::new(name, Opinion::Pass, "fine"));
                        let pass =
                            AuditPass::new(&Reviewers::new(names.clone()).unwrap(), verdicts.collect());
                        Complete::new(pass.unwrap(), at).into()
                    })
                    .boxed()
            }
            "roll_back" => {
                let incomplete = Rollback::Incomplete { errors: vec!["no backup".into()] };
                let rollbacks = prop_oneof![2 => Just(Rollback::Complete), 1 => Just(incomplete)];
                (rollbacks, times)
                    .prop_map(|(rollback, at)| RollBack::new("it did not work out", rollback, at).into())
                    .boxed()
            }
            "halt" => (halts(), prop_oneof![1 => times, 1 => Just(entered + limit)])
                .prop_map(|(reason, at)| Halt::new(reason, at).into())
                .boxed(),
            other => unreachable!("governed_run has no event {other}"),
        }
    }
}

impl Documented for GovernedRuns {
    /// Document 001, "Valid Transitions", and one row of "Timeout Rules". The document's drawing has a rail that its list
    /// lacks, from VERIFYING back to PLANNING, and AWAITING_APPROVAL over VERIFYING; the list is the rule.
    const TABLE: Table = Table {
        name: "governed_run",
        machine: "GovernedRun",
        states: &[
            "INIT",
            "PLANNING",
            "EXECUTING",
            "AWAITING_APPROVAL",
            "VERIFYING",
            "AUDITING",
            "COMPLETE",
            "ROLLED_BACK",
            "HALTED_UNSAFE",
        ],
        renamed: &[("COMPLETE", "Completed")],
        initial: "INIT",
        terminal: &["COMPLETE", "ROLLED_BACK", "HALTED_UNSAFE"],
        events: &[
            "plan",
            "execute",
            "await_approval",
            "approve",
            "verify",
            "audit",
            "complete",
            "roll_back",
            "halt",
        ],
        drawn: &[
            ("INIT", "plan", "PLANNING", ""),
            ("PLANNING", "execute", "EXECUTING", ""),
            ("PLANNING", "halt", "HALTED_UNSAFE", "if critical risk in plan"),
            ("EXECUTING", "await_approval", "AWAITING_APPROVAL", "high-risk action"),
            ("EXECUTING", "verify", "VERIFYING", "all tools pass"),
            ("EXECUTING", "halt", "HALTED_UNSAFE", "critical failure"),
            ("EXECUTING", "roll_back", "ROLLED_BACK", "tool failure + rollback"),
            ("AWAITING_APPROVAL", "approve", "EXECUTING", "approved, continue"),
            ("AWAITING_APPROVAL", "roll_back", "ROLLED_BACK", "rejected"),
            ("AWAITING_APPROVAL", "halt", "HALTED_UNSAFE", "timeout or escalation"),
            ("VERIFYING", "audit", "AUDITING", "tests pass"),
            ("VERIFYING", "roll_back", "ROLLED_BACK", "tests fail"),
            ("AUDITING", "complete", "COMPLETE", "audit pass"),
            ("AUDITING", "roll_back", "ROLLED_BACK", "audit fail"),
        ],
        prose: &[("INIT", "halt", "HALTED_UNSAFE", "60 seconds")],
        guarded: &[
            ("INIT", "plan"),
            ("INIT", "halt"),
            ("PLANNING", "execute"),
            ("PLANNING", "halt"),
            ("EXECUTING", "await_approval"),
            ("EXECUTING", "verify"),
            ("EXECUTING", "halt"),
            ("EXECUTING", "roll_back"),
            ("AWAITING_APPROVAL", "approve"),
            ("AWAITING_APPROVAL", "roll_back"),
            ("AWAITING_APPROVAL", "halt"),
            ("VERIFYING", "audit"),
            ("AUDITING", "complete"),
        ],
    };

    fn at(status: GovernedRunStatus) -> AnyGovernedRun {
        crate::lifecycles::governed_run::at(status)
    }

    fn begin() -> (Value, Value) {
        let record = json!({
            "run_id": "RUN-PROJECT-20260131-120000", "created_at": T, "updated_at": T,
            "state_history": [], "approvals_granted": [],
        });
        (record, json!({ "entered_at": T }))
    }

    fn enter(run: &mut At, event: &str, with: &Value) -> Option<Value> {
        let at = run.state.clone();
        let time = with["at"].as_u64().unwrap();
        let entered = at["entered_at"].as_u64().unwrap();
        // B3: per state entry, and to have reached the limit is enough.
        let is_expired = time >= entered + limit(run.status);
        let is_reverted = || facts::name(&with["rollback"]) == "Complete";
        let is_allowed = match event {
            "halt" => {
                let reason = facts::name(&with["reason"]);
                (reason != "Timeout" || is_expired) && halts_by(run.status, reason)
            }
            // B7: a rollback that fails in these two states halts the run instead.
            "roll_back" => match run.status {
                "EXECUTING" | "AWAITING_APPROVAL" => !is_expired && is_reverted(),
                _ => true,
            },
            // B8: no verification while tools remain.
            "verify" => !is_expired && at["progress"]["tools_remaining"] == json!([]),
            "approve" => !is_expired && facts::json(&with["approval"]) == at["approvals_pending"][0],
            "complete" => {
                let mut of_proof = reviewers_of(&facts::json(&with["pass"]));
                let mut of_run: Vec<String> = serde_json::from_value(at["reviewers"].clone()).unwrap();
                of_proof.sort();
                of_run.sort();
                !is_expired && of_proof == of_run
            }
            _ => !is_expired,
        };
        if !is_allowed {
            return None;
        }
        let now = leave(run, entered, time);
        let tools = &at["tools_completed"];
        Some(match event {
            "plan" => json!({ "entered_at": now }),
            "execute" => {
                // B13: what was granted for the plan counts among the run's approvals.
                if let Some(id) = facts::optional(&with["approval"]) {
                    run.record["approvals_granted"].as_array_mut().unwrap().push(facts::json(id));
                }
                json!({ "entered_at": now, "progress": progress(&with["tools"], 0) })
            }
            "await_approval" => json!({
                "entered_at": now, "approvals_pending": [facts::json(&with["approval"])], "progress": at["progress"],
            }),
            "approve" => {
                let granted = run.record["approvals_granted"].as_array_mut().unwrap();
                granted.push(at["approvals_pending"][0].clone());
                json!({ "entered_at": now, "progress": at["progress"] })
            }
            "verify" => json!({ "entered_at": now, "tools_completed": at["progress"]["tools_planned"] }),
            "audit" => json!({
                "entered_at": now, "tools_completed": tools, "reviewers": facts::json(&with["reviewers"]),
            }),
            "complete" => {
                let mut audit = facts::json(&with["pass"]);
                for verdict in audit.as_array_mut().unwrap() {
                    verdict["opinion"] = verdict["opinion"].as_str().unwrap().to_lowercase().into();
                }
                json!({ "entered_at": now, "tools_completed": tools, "audit": audit })
            }
            "roll_back" => {
                let (cause, progress) = match run.status {
                    "EXECUTING" => {
                        let tool = &at["progress"]["current_tool"];
                        (json!({ "cause": "tool_failed", "tool": tool }), at["progress"].clone())
                    }
                    "AWAITING_APPROVAL" => {
                        let approval = &at["approvals_pending"][0];
                        (json!({ "cause": "rejected", "approval": approval }), at["progress"].clone())
                    }
                    // "Timeout Rules": these two expire to ROLLED_BACK.
                    state if is_expired => {
                        (json!({ "cause": "timeout", "state": state }), progress(tools, usize::MAX))
                    }
                    "VERIFYING" => (json!({ "cause": "verification_failed" }), progress(tools, usize::MAX)),
                    _ => (json!({ "cause": "audit_failed" }), progress(tools, usize::MAX)),
                };
                let rollback = facts::tagged_in("rollback", facts::snake, &with["rollback"]);
                json!({
                    "entered_at": now, "cause": cause, "why": with["why"], "rollback": rollback,
                    "progress": progress,
                })
            }
            "halt" => {
                let reason = facts::tagged_in("reason", facts::snake, &with["reason"]);
                let progress = match &at["progress"] {
                    Value::Null => progress(&json!([]), 0),
                    progress => progress.clone(),
                };
                let approval = &at["approvals_pending"][0];
                json!({ "entered_at": now, "reason": reason, "approval": approval, "progress": progress })
            }
            other => unreachable!("{other}"),
        })
    }

    /// Tools are begun, tried again and completed: no transitions, but they move `updated_at` (B14).
    fn aside(run: &mut AnyGovernedRun, at: &mut At, lot: u8) {
        let AnyGovernedRun::Executing(run) = run else { return };
        let entered = run.entered_at();
        let time = if lot % 16 == 15 { entered + limit("EXECUTING") } else { entered + u64::from(lot) };
        let is_late = time >= entered + limit("EXECUTING");
        let tools = &mut at.state["progress"];
        let (tries, completed) =
            (tools["tries"].as_u64().unwrap(), tools["tools_completed"].as_array().unwrap().len());
        let remain = tools["tools_remaining"].as_array().unwrap().clone();
        let is_done = match lot % 4 {
            0 => {
                let is_retried = !is_late && (1..3).contains(&tries);
                assert_eq!(
                    run.retry_tool(time).ok(),
                    is_retried.then_some(u32::try_from(tries).unwrap() + 1)
                );
                if is_retried {
                    tools["tries"] = (tries + 1).into();
                }
                is_retried
            }
            1 => {
                let is_started = !is_late && tries == 0 && !remain.is_empty();
                assert_eq!(run.start_tool(time).is_ok(), is_started);
                if is_started {
                    tools["tries"] = 1.into();
                    tools["current_tool"] = remain[0].clone();
                }
                is_started
            }
            // What has happened is noted, whatever the clock says.
            _ => {
                let is_completed = tries > 0;
                assert_eq!(run.complete_tool(time).is_ok(), is_completed);
                if is_completed {
                    *tools = progress(&tools["tools_planned"].clone(), completed + 1);
                }
                is_completed
            }
        };
        if is_done {
            at.record["updated_at"] = at.number("updated_at").max(time).into();
        }
    }
}

/// The captions of "Valid Transitions" and "Timeout Rules", with B2, B4, B7 and B10.
fn halts_by(state: &str, reason: &str) -> bool {
    match state {
        "INIT" => reason == "Timeout",
        // A person halts each state that a question or a tool is in.
        _ if reason == "Person" => true,
        "PLANNING" => matches!(reason, "Timeout" | "CriticalRisk"),
        "EXECUTING" => matches!(reason, "Timeout" | "CriticalFailure" | "InDoubt" | "RollbackFailed"),
        _ => matches!(reason, "Timeout" | "Escalation" | "RollbackFailed"),
    }
}

/// "RUN_STATE.json Schema": the planned tools are the completed and then the remaining ones (B8).
fn progress(planned: &Value, completed: usize) -> Value {
    let tools = planned.as_array().unwrap();
    let (completed, remaining) = tools.split_at(completed.min(tools.len()));
    json!({
        "tools_planned": tools, "tools_completed": completed, "tools_remaining": remaining,
        "current_tool": null, "tries": 0,
    })
}

/// Notes the state that is left and gives the time at which the next is entered; no state ends before it began.
fn leave(run: &mut At, entered: u64, time: u64) -> u64 {
    let exited = time.max(entered);
    let visit = json!({ "state": run.status, "entered_at": entered, "exited_at": exited });
    run.record["state_history"].as_array_mut().unwrap().push(visit);
    run.record["updated_at"] = run.number("updated_at").max(exited).into();
    exited
}

fn reviewers_of(pass: &Value) -> Vec<String> {
    pass.as_array().unwrap().iter().map(|verdict| verdict["reviewer"].as_str().unwrap().to_owned()).collect()
}
