//! The driver of service runs: a request becomes transactions, a person approves them, a wallet sends them.
//!
//! A [`Service`] drives the lifecycles [`service_run`](runstate::service_run) and
//! [`service_pass`](runstate::service_pass). A pass executes a graph of nodes: it reads the wallet, plans actions, builds
//! and simulates transactions, applies a policy, and asks a judge. Its outcome is stored with the run. Then a person
//! approves exactly the shown transactions, or rejects them.
//!
//! The outside is behind [ports](Ports): [`Wallet`], [`Planner`], [`Compiler`], [`Decoder`], [`Simulator`], [`Judge`] and
//! [`Receipts`]. No port sends a transaction. Each port has a time limit. [`sim`] has ports on a chain in this process, and
//! `script` (feature `script`) ports whose replies a YAML file lists. `model` (feature `model`) has a planner and a judge on
//! a model of agents, such as a stream session with retries and limits.
//!
//! Runs are durable in a [`ServiceStore`]. A node with input or output is one commit. A driver holds a lease with a fencing
//! token, so of two drivers of one run one alone writes. [`MemoryServiceStore`] is for tests; the packages `runstate-sqlite` and
//! `runstate-postgres` have stores with their feature `service`. `testing` (feature `testing`) has the conformance suite of stores.
//!
//! ```
//! use std::sync::Arc;
//! use runstate::service_run::ServiceRunStatus;
//! use runstate_runtime::clock::SetClock;
//! use runstate_service::sim::SimChain;
//! use runstate_service::{Answers, MemoryServiceStore, NewServiceRun, Service, SubmittedBy};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
//! # runtime.block_on(async {
//! let chain = SimChain::example();
//! let store = Arc::new(MemoryServiceStore::default());
//! let clock = Arc::new(SetClock::at(1_769_860_800_000));
//! let service = Service::new(store, chain.ports(), chain.config(), clock, "example");
//!
//! let new = NewServiceRun {
//!     id: "run_1".into(),
//!     intent: "send 5 USDC".into(),
//!     wallet: Some(SimChain::WALLET.into()),
//!     chain_id: Some(chain.id()),
//! };
//! service.create(new, "ada").await?;
//! service.start("run_1", "ada").await?;
//! let run = service.drive("run_1").await?;
//!
//! // The graph asks for the missing recipient.
//! assert_eq!(run.artifacts.needs_input.unwrap().missing[0].slot, "recipient");
//! let answers = Answers { answers: [("recipient".into(), "0xbeef".into())].into(), ..Answers::default() };
//! service.resume("run_1", &answers, "ada").await?;
//! let run = service.drive("run_1").await?;
//! assert_eq!(run.status, ServiceRunStatus::AwaitingApproval);
//!
//! // A person approves what was shown; a wallet signs and sends it.
//! service.approve("run_1", run.digest.as_deref(), "", "bob").await?;
//! let handout = service.execute("run_1", "ada").await?;
//! let hash = chain.send(&serde_json::from_value(handout.tx_requests[0].clone())?);
//! service.tx_submitted("run_1", &[hash], SubmittedBy::Manual, "ada").await?;
//! chain.mine();
//! assert_eq!(service.poll_tx("run_1", "ada").await?.status, ServiceRunStatus::Confirmed);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

mod artifact;
mod config;
mod limit;
mod meaning;
#[cfg(feature = "model")]
pub mod model;
mod node;
mod phrases;
mod policy;
mod port;
mod rows;
#[cfg(feature = "script")]
pub mod script;
mod service;
pub mod sim;
mod slots;
mod store;
#[cfg(feature = "testing")]
pub mod testing;
mod work;

pub use artifact::{
    Action, AgentResult, Allowance, Artifacts, Candidate, Check, CheckStatus, Decision, DecisionAction,
    DecodedCall, FatalError, JudgeAnswer, MAX_ACTIONS, MissingSlot, NeedsInput, PlanAnswer, PlannedBy,
    PlannerResult, PolicyResult, Question, RepairContext, RepairSummary, Severity, Simulation,
    SimulationMode, SimulationStatus, TokenBalance, TxCall, TxKind, TxPlan, TxRequest, TxResult, Units,
    WalletSnapshot,
};
pub use config::{Chain, Config, NATIVE_DECIMALS, PolicyRules, Token, is_address};
pub use phrases::plan_phrase;
pub use policy::{PolicyInput, decide, evaluate_policy};
pub use port::{
    CompileInput, Compiler, Decoder, Judge, JudgeInput, Planner, PlannerInput, PortError, Ports, Receipt,
    Receipts, Simulator, Wallet,
};
pub use rows::{
    EventRow, Numbered, RunStep, ServiceEvent, Step, StepName, StepPhase, TimelineEntry, TimelineStatus,
};
pub use service::{
    Answers, Caller, Conflict, Handout, Mismatch, NewServiceRun, Operation, Poll, Request, RunView, Service,
    ServiceError, SubmittedBy,
};
pub use store::{
    Change, ChangeTexts, KeyedAnswer, ListQuery, ListSort, MemoryServiceStore, PageRows, RequestKey, RunInfo,
    RunPage, RunPosition, ServiceChanges, ServiceCursor, ServiceLease, ServiceStore, ServiceStoreError,
    StoredRun, UnreadableRun,
};
pub use work::UnusableRun;

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
