//! The driver of service runs: a request becomes transactions, a person approves them, a wallet sends them.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod artifact;
mod config;
mod limit;
mod phrases;
mod policy;
mod port;
mod rows;
#[cfg(feature = "script")]
pub mod script;
pub mod sim;
mod slots;
mod store;

pub use artifact::{
    Action, AgentResult, Allowance, Artifacts, Candidate, Check, CheckStatus, Decision, DecisionAction,
    FatalError, JudgeAnswer, MAX_ACTIONS, MissingSlot, NeedsInput, PlanAnswer, PlannedBy, PlannerResult,
    PolicyResult, Question, RepairContext, RepairSummary, Severity, Simulation, SimulationMode,
    SimulationStatus, TokenBalance, TxCall, TxKind, TxPlan, TxRequest, TxResult, Units, WalletSnapshot,
};
pub use config::{Chain, Config, NATIVE_DECIMALS, PolicyRules, Token, is_address};
pub use phrases::plan_phrase;
pub use policy::{PolicyInput, decide, evaluate_policy};
pub use port::{
    CompileInput, Compiler, Judge, JudgeInput, Planner, PlannerInput, PortError, Ports, Receipt, Receipts,
    Simulator, Wallet,
};
pub use rows::{
    EventRow, Numbered, RunStep, ServiceEvent, Step, StepName, StepPhase, TimelineEntry, TimelineStatus,
};
pub use store::{
    Change, ListQuery, MemoryServiceStore, RunInfo, RunPage, RunPosition, ServiceChanges, ServiceLease,
    ServiceStore, ServiceStoreError, StoredRun,
};
