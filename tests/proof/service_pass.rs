//! `service_pass`: the text on the run service, "Node Order", "Failure Handling" and "Resume Flow".

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::LazyJust;
use runstate::service_pass::*;
use runstate::service_run::JudgeVerdict;
use runstate::testing::Subject;
use serde_json::{Value, json};

use super::facts;
use super::model::{At, Documented, Table};

#[derive(Debug, Clone, Copy)]
pub(super) struct Passes;

impl Subject for Passes {
    type Machine = AnyServicePass;

    fn record(&self) -> PassRecord {
        PassRecord::new("run_1")
    }

    fn event(&self, _: &AnyServicePass, name: &'static str) -> BoxedStrategy<ServicePassEvent> {
        let texts = |name: &'static str| vec((0..9_u8).prop_map(move |n| format!("{name} {n}")), 0..3);
        let verdicts = || {
            prop_oneof![
                2 => Just(JudgeVerdict::NeedsRework),
                1 => select(&[JudgeVerdict::Pass, JudgeVerdict::Block]),
            ]
        };
        match name {
            "normalize" => LazyJust::new(|| Normalize.into()).boxed(),
            "admit" => LazyJust::new(|| Admit.into()).boxed(),
            "read_wallet" => LazyJust::new(|| ReadWallet.into()).boxed(),
            "plan" => LazyJust::new(|| Plan.into()).boxed(),
            "build" => LazyJust::new(|| Build.into()).boxed(),
            "simulate" => any::<bool>().prop_map(|ok| Simulate::new(ok).into()).boxed(),
            "decide" => any::<bool>().prop_map(|blocks| Decide::new(blocks).into()).boxed(),
            "secure" => any::<bool>().prop_map(|blocks| Secure::new(blocks).into()).boxed(),
            "judge" => (verdicts(), texts("issue"))
                .prop_map(|(verdict, issues)| Judge::new(verdict, issues).into())
                .boxed(),
            "repair" => LazyJust::new(|| Repair.into()).boxed(),
            "accept" => LazyJust::new(|| Accept.into()).boxed(),
            "ask" => prop_oneof![
                texts("slot").prop_map(Ask::for_slots),
                texts("question").prop_map(Ask::with_questions),
            ]
            .prop_map(Into::into)
            .boxed(),
            "finish" => prop_oneof![
                texts("error").prop_map(|error| Finish::fatal(error.join(", "))),
                Just(Finish::noop("nothing to do")),
                Just(Finish::clarified()),
            ]
            .prop_map(Into::into)
            .boxed(),
            other => unreachable!("service_pass has no event {other}"),
        }
    }
}

/// The facts so far, as the final status needs them. A state stores those that it owns.
fn found(run: &At) -> Value {
    let plan = match run.status {
        "BUILD_TXS" | "SIMULATE_TXS" | "POLICY_EVAL" | "SECURITY_EVAL" | "JUDGE_AGENT" | "REPAIR_ROUTER" => {
            "ACTIONS"
        }
        "CLARIFY" => return run.state["facts"].clone(),
        _ => "NONE",
    };
    let known = |field: &str| run.state.get(field).cloned().unwrap_or(json!(false));
    let mut facts = json!({
        "fatal_error": false,
        "needs_input": false,
        "decision_blocks": known("decision_blocks"),
        "security_blocks": known("security_blocks"),
        "plan": plan,
        "simulation_ok": known("simulation_ok"),
    });
    if let Some(verdict) = run.state.get("verdict") {
        facts["judge"] = verdict.clone();
    }
    facts
}

/// "Optional bounded repair": after NEEDS_REWORK with issues, while attempts are left and a model is there.
fn repair_is_due(run: &At) -> bool {
    run.state["verdict"] == "NEEDS_REWORK"
        && run.state["issues"] != json!([])
        && run.number("attempt") < run.number("max_attempts")
        && run.record["has_model"] == true
}

/// The state's data with one more field.
fn with(at: &Value, field: &str, value: Value) -> Value {
    let mut state = at.clone();
    state[field] = value;
    state
}

impl Documented for Passes {
    /// The text on the run service, "Node Order (Current)"; the prose is that of "Failure Handling", "Final Status" and "Resume Flow".
    const TABLE: Table = Table {
        name: "service_pass",
        machine: "ServicePass",
        states: &[
            "INPUT_NORMALIZE",
            "PRECHECK",
            "WALLET_SNAPSHOT",
            "PLAN_TX",
            "BUILD_TXS",
            "SIMULATE_TXS",
            "POLICY_EVAL",
            "SECURITY_EVAL",
            "JUDGE_AGENT",
            "REPAIR_ROUTER",
            "REPAIR_PLAN_TX",
            "CLARIFY",
            "FINALIZE",
        ],
        renamed: &[],
        initial: "INPUT_NORMALIZE",
        terminal: &["FINALIZE"],
        events: &[
            "normalize",
            "admit",
            "read_wallet",
            "plan",
            "build",
            "simulate",
            "decide",
            "secure",
            "judge",
            "repair",
            "accept",
            "ask",
            "finish",
        ],
        drawn: &[
            ("INPUT_NORMALIZE", "normalize", "PRECHECK", "1 and 2"),
            ("PRECHECK", "admit", "WALLET_SNAPSHOT", "2 and 3"),
            ("WALLET_SNAPSHOT", "read_wallet", "PLAN_TX", "3 and 4"),
            ("PLAN_TX", "plan", "BUILD_TXS", "4 and 5"),
            ("BUILD_TXS", "build", "SIMULATE_TXS", "5 and 6"),
            ("SIMULATE_TXS", "simulate", "POLICY_EVAL", "6 and 7"),
            ("POLICY_EVAL", "decide", "SECURITY_EVAL", "7 and 8"),
            ("SECURITY_EVAL", "secure", "JUDGE_AGENT", "8 and 9"),
            ("JUDGE_AGENT", "judge", "REPAIR_ROUTER", "9 and 10"),
            ("REPAIR_ROUTER", "repair", "REPAIR_PLAN_TX", "10"),
            ("REPAIR_PLAN_TX", "ask", "CLARIFY", "10 and 11"),
            ("CLARIFY", "finish", "FINALIZE", "11 and 12"),
        ],
        prose: &[
            ("PRECHECK", "ask", "CLARIFY", "may set needs_input"),
            ("PLAN_TX", "ask", "CLARIFY", "graph asks for missing fields"),
            ("PLAN_TX", "finish", "FINALIZE", "invalid planner output: fallback noop plan"),
            ("REPAIR_ROUTER", "accept", "CLARIFY", "optional bounded repair (if enabled)"),
            ("REPAIR_PLAN_TX", "plan", "BUILD_TXS", "bounded repair"),
            ("INPUT_NORMALIZE", "finish", "FINALIZE", "fatal errors"),
            ("PRECHECK", "finish", "FINALIZE", "fatal errors"),
            ("WALLET_SNAPSHOT", "finish", "FINALIZE", "fatal errors"),
            ("BUILD_TXS", "finish", "FINALIZE", "fatal errors"),
            ("SIMULATE_TXS", "finish", "FINALIZE", "fatal errors"),
            ("POLICY_EVAL", "finish", "FINALIZE", "fatal errors"),
            ("SECURITY_EVAL", "finish", "FINALIZE", "fatal errors"),
            ("JUDGE_AGENT", "finish", "FINALIZE", "fatal errors"),
            ("REPAIR_ROUTER", "finish", "FINALIZE", "fatal errors"),
            ("REPAIR_PLAN_TX", "finish", "FINALIZE", "fatal errors"),
        ],
        guarded: &[
            ("REPAIR_ROUTER", "repair"),
            ("REPAIR_ROUTER", "accept"),
            ("PRECHECK", "ask"),
            ("PLAN_TX", "ask"),
            ("REPAIR_PLAN_TX", "ask"),
            ("INPUT_NORMALIZE", "finish"),
            ("PRECHECK", "finish"),
            ("WALLET_SNAPSHOT", "finish"),
            ("PLAN_TX", "finish"),
            ("BUILD_TXS", "finish"),
            ("SIMULATE_TXS", "finish"),
            ("POLICY_EVAL", "finish"),
            ("SECURITY_EVAL", "finish"),
            ("JUDGE_AGENT", "finish"),
            ("REPAIR_ROUTER", "finish"),
            ("REPAIR_PLAN_TX", "finish"),
            ("CLARIFY", "finish"),
        ],
    };

    fn at(status: ServicePassStatus) -> AnyServicePass {
        crate::lifecycles::service_pass::at(status)
    }

    fn begin() -> (Value, Value) {
        let record =
            json!({ "run_id": "run_1", "pass": 1, "attempt": 1, "max_attempts": 2, "has_model": true });
        (record, Value::Null)
    }

    fn enter(run: &mut At, event: &str, given: &Value) -> Option<Value> {
        let at = run.state.clone();
        Some(match event {
            "simulate" => json!({ "simulation_ok": given["succeeded"] }),
            "decide" => with(&at, "decision_blocks", given["blocks"].clone()),
            "secure" => with(&at, "security_blocks", given["blocks"].clone()),
            "judge" => {
                let verdict = facts::screaming(facts::name(&given["verdict"]));
                with(&with(&at, "verdict", verdict.into()), "issues", facts::json(&given["issues"]))
            }
            "repair" if repair_is_due(run) => {
                run.count("attempt");
                json!({ "issues": at["issues"] })
            }
            "accept" if !repair_is_due(run) => {
                json!({ "facts": found(run), "missing": [], "questions": [] })
            }
            "repair" | "accept" => return None,
            "ask" => {
                let (missing, questions) = (facts::json(&given["missing"]), facts::json(&given["questions"]));
                if missing == json!([]) && questions == json!([]) {
                    return None;
                }
                let facts = with(&found(run), "needs_input", json!(true));
                json!({ "facts": facts, "missing": missing, "questions": questions })
            }
            "finish" => {
                let reason = facts::tagged_in("kind", facts::snake, &given["reason"]);
                let facts = match (reason["kind"].as_str().unwrap(), run.status) {
                    ("fatal", _) => with(&found(run), "fatal_error", json!(true)),
                    ("noop", "PLAN_TX" | "REPAIR_PLAN_TX") => with(&found(run), "plan", json!("NOOP")),
                    ("clarified", "CLARIFY") => found(run),
                    _ => return None,
                };
                json!({ "after": run.status, "reason": reason, "facts": facts })
            }
            // The node has a successor, and its artifacts are elsewhere.
            _ => Value::Null,
        })
    }
}
