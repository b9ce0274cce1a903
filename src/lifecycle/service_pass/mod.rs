//! The lifecycle of one pass over the graph of the run service: from an intent to an outcome.
//!
//! A state is a node of the graph. A machine in a state executes that node. A transition is the result of the node.
//!
//! | state | its node | accepted events |
//! |---|---|---|
//! | [`InputNormalize`] | normalizes the intent | [`Normalize`], [`Finish`] |
//! | [`Precheck`] | checks intent, wallet and chain | [`Admit`], [`Ask`], [`Finish`] |
//! | [`WalletSnapshot`] | reads balances and allowances | [`ReadWallet`], [`Finish`] |
//! | [`PlanTx`] | plans actions | [`Plan`], [`Ask`], [`Finish`] |
//! | [`BuildTxs`] | compiles transactions | [`Build`], [`Finish`] |
//! | [`SimulateTxs`] | simulates the transactions | [`Simulate`], [`Finish`] |
//! | [`PolicyEval`] | applies the rules | [`Decide`], [`Finish`] |
//! | [`SecurityEval`] | summarizes the rules' result | [`Secure`], [`Finish`] |
//! | [`JudgeAgent`] | judges the whole | [`Judge`], [`Finish`] |
//! | [`RepairRouter`] | chooses between a repair and the plan as it is | [`Repair`], [`Accept`], [`Finish`] |
//! | [`RepairPlanTx`] | plans again, with the judge's issues | [`Plan`], [`Ask`], [`Finish`] |
//! | [`Clarify`] | completes the questions | [`Finish`] |
//! | [`Finalize`] | the pass has an outcome | |
//!
//! ```
//! use runstate::service_pass::*;
//! use runstate::service_run::{FinalStatus, JudgeVerdict};
//!
//! let pass = ServicePass::new(PassRecord::new("run_1"));
//! let pass = pass.normalize(Normalize).admit(Admit).read_wallet(ReadWallet);
//! let pass = pass.plan(Plan).build(Build).simulate(Simulate::new(true));
//! let pass = pass.decide(Decide::new(false)).secure(Secure::new(false));
//! let pass = pass.judge(Judge::new(JudgeVerdict::Pass, Vec::<String>::new()));
//! // The judge has no objection: a repair is refused, and the pass comes back.
//! let back = pass.repair(Repair).unwrap_err();
//! let pass = back.machine.accept(Accept).unwrap().finish(Finish::clarified()).unwrap();
//! assert_eq!(pass.state().final_status(), FinalStatus::Ready);
//! ```

mod error;
mod events;
mod moves;
mod record;
mod states;

use crate::lifecycle;

pub use error::{NoRepair, ServicePassError};
pub use events::{Ask, Decide, Finish, FinishReason, Judge, Secure, Simulate};
pub use record::PassRecord;
pub use states::{
    Clarify, Finalize, Found, JudgeAgent, PolicyEval, RepairPlanTx, RepairRouter, SecurityEval,
};

lifecycle! {
    /// One pass over the graph of the run service: from an intent to an outcome.
    pub mod service_pass: ServicePass(PassRecord), AnyServicePass;
    version 1;
    diagram "../../../docs/lifecycles/service-pass.md";

    status ServicePassStatus {
        /// The intent is normalized.
        InputNormalize = "INPUT_NORMALIZE",
        /// Intent, wallet and chain are checked without input or output.
        Precheck = "PRECHECK",
        /// Balances and allowances of the wallet are read.
        WalletSnapshot = "WALLET_SNAPSHOT",
        /// A planner plans actions.
        PlanTx = "PLAN_TX",
        /// A compiler builds transactions for the actions.
        BuildTxs = "BUILD_TXS",
        /// The transactions are simulated.
        SimulateTxs = "SIMULATE_TXS",
        /// The rules are applied to the artifacts.
        PolicyEval { .. } = "POLICY_EVAL",
        /// The result of the rules is summarized.
        SecurityEval { .. } = "SECURITY_EVAL",
        /// A judge examines the artifacts.
        JudgeAgent { .. } = "JUDGE_AGENT",
        /// A repair or the plan as it is: the verdict decides.
        RepairRouter { .. } = "REPAIR_ROUTER",
        /// A planner plans again, with the judge's issues.
        RepairPlanTx { .. } = "REPAIR_PLAN_TX",
        /// The questions to the user are completed.
        Clarify { .. } = "CLARIFY",
        /// The pass is over and has an outcome.
        Finalize { .. } = "FINALIZE",
    }
    event ServicePassEvent {
        /// The intent is normalized.
        Normalize,
        /// Intent, wallet and chain are complete and allowed.
        Admit,
        /// The wallet was read.
        ReadWallet,
        /// A plan has actions.
        Plan,
        /// The transactions are built.
        Build,
        /// The simulation has a result.
        Simulate { .. },
        /// The rules have a decision.
        Decide { .. },
        /// The security result is made.
        Secure { .. },
        /// The judge has a verdict.
        Judge { .. },
        /// The plan is repaired.
        Repair,
        /// The plan stays as it is.
        Accept,
        /// The user must answer first.
        Ask { .. },
        /// The pass ends.
        Finish { .. },
    }

    [*]            --> InputNormalize;
    InputNormalize --> Precheck       : normalize(Normalize);
    InputNormalize --> Finalize       : finish(Finish) else ServicePassError;
    Precheck       --> WalletSnapshot : admit(Admit);
    Precheck       --> Clarify        : ask(Ask) else ServicePassError;
    Precheck       --> Finalize       : finish(Finish) else ServicePassError;
    WalletSnapshot --> PlanTx         : read_wallet(ReadWallet);
    WalletSnapshot --> Finalize       : finish(Finish) else ServicePassError;
    PlanTx         --> BuildTxs       : plan(Plan);
    PlanTx         --> Clarify        : ask(Ask) else ServicePassError;
    PlanTx         --> Finalize       : finish(Finish) else ServicePassError;
    BuildTxs       --> SimulateTxs    : build(Build);
    BuildTxs       --> Finalize       : finish(Finish) else ServicePassError;
    SimulateTxs    --> PolicyEval     : simulate(Simulate);
    SimulateTxs    --> Finalize       : finish(Finish) else ServicePassError;
    PolicyEval     --> SecurityEval   : decide(Decide);
    PolicyEval     --> Finalize       : finish(Finish) else ServicePassError;
    SecurityEval   --> JudgeAgent     : secure(Secure);
    SecurityEval   --> Finalize       : finish(Finish) else ServicePassError;
    JudgeAgent     --> RepairRouter   : judge(Judge);
    JudgeAgent     --> Finalize       : finish(Finish) else ServicePassError;
    RepairRouter   --> RepairPlanTx   : repair(Repair) else ServicePassError;
    RepairRouter   --> Clarify        : accept(Accept) else ServicePassError;
    RepairRouter   --> Finalize       : finish(Finish) else ServicePassError;
    RepairPlanTx   --> BuildTxs       : plan(Plan);
    RepairPlanTx   --> Clarify        : ask(Ask) else ServicePassError;
    RepairPlanTx   --> Finalize       : finish(Finish) else ServicePassError;
    Clarify        --> Finalize       : finish(Finish) else ServicePassError;
    Finalize       --> [*];
}
