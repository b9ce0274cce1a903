//! The driver of governed runs. Such a run is planned, approved if it is risky, verified and audited. It has
//! deadlines, and its files survive a crash.
//!
//! A [`Governor`] drives runs with the [`Parts`] of the caller: a planner, tools, a verifier, auditors, a rollback.
//! The order of the states is not decided here, but by the types of [`governed_run`](runstate::governed_run) and
//! [`approval`](runstate::approval). After each transition, RUN_STATE.json, RUN_LOG.jsonl and RUN_LEDGER.jsonl are
//! written, in this order. The first one is the authority. After a crash, the others are repaired according to it.
//!
//! ```
//! use std::sync::Arc;
//! use runstate::approval::Risk;
//! use runstate_runtime::clock::TokioClock;
//! use runstate_runtime::files::RealDisk;
//! use runstate_governed::*;
//! use runstate::governed_run::{GovernedRunStatus, Opinion, RunId};
//!
//! struct Greet;
//! #[async_trait::async_trait]
//! impl GovernedTool for Greet {
//!     fn name(&self) -> &str {
//!         "greet"
//!     }
//!     fn action(&self, _: &RunView<'_>) -> Action {
//!         Action::new("say hello to everybody", Risk::High)
//!     }
//!     async fn call(&self, _: &Call<'_>) -> Result<ToolOutput, PartError> {
//!         Ok(ToolOutput::pass(["hello"]))
//!     }
//! }
//!
//! struct Simple;
//! #[async_trait::async_trait]
//! impl Planner for Simple {
//!     async fn plan(&self, _: &RunId, _: Option<&str>) -> Result<ProposedPlan, PartError> {
//!         Ok(ProposedPlan::of(["greet"]))
//!     }
//! }
//! #[async_trait::async_trait]
//! impl Verifier for Simple {
//!     async fn verify(&self, run: &RunView<'_>) -> Result<Vec<String>, PartError> {
//!         Ok(run.reports.iter().flat_map(|report| report.evidence.clone()).collect())
//!     }
//! }
//! #[async_trait::async_trait]
//! impl Auditor for Simple {
//!     fn name(&self) -> &str {
//!         "quality"
//!     }
//!     async fn audit(&self, _: &RunView<'_>) -> Result<(Opinion, String), PartError> {
//!         Ok((Opinion::Pass, "polite".to_owned()))
//!     }
//! }
//! #[async_trait::async_trait]
//! impl Rollback for Simple {
//!     async fn roll_back(&self, _: &RunView<'_>, _: &str) -> Result<(), Vec<String>> {
//!         Ok(())
//!     }
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
//! # runtime.block_on(async {
//! let folder = std::env::temp_dir().join(format!("runstate-governed-{}", std::process::id()));
//! let parts = Parts {
//!     planner: Box::new(Simple),
//!     plan_approval: Box::new(AutoApproved),
//!     tools: vec![Box::new(Greet)],
//!     verifier: Box::new(Simple),
//!     auditors: vec![Box::new(Simple)],
//!     rollback: Box::new(Simple),
//! };
//! let clock = Arc::new(TokioClock::starting_at(1_769_860_800_000));
//! let governor = Governor::new(Arc::new(RealDisk), Folders::new(&folder), clock, parts, Rules::default())?;
//!
//! // No gate opens automatically for `greet`, so the run asks for an approval.
//! let waiting = governor.start("HELLO").await?;
//! let Some(AwaitedInput::Approval(asked)) = waiting.waits else { panic!("it waits") };
//! // An approval without a name is refused.
//! assert!(governor.approve(&waiting.run, &asked.id, " ", "").await.is_err());
//! governor.approve(&waiting.run, &asked.id, "ada", "friendly enough").await?;
//! assert_eq!(governor.resume(&waiting.run).await?.status, GovernedRunStatus::Completed);
//! # std::fs::remove_dir_all(&folder).map_err(|error| panic!("{error}")).ok();
//! # Ok::<(), GovernedError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod approval_note;
mod aside;
mod chain;
mod check;
mod check_log;
mod decide;
mod document;
mod drive;
mod error;
mod faults;
mod folders;
mod governor;
mod guarded;
mod lines;
mod lock;
mod log_line;
mod log_report;
mod logs;
mod look;
mod notes;
mod open;
mod outcome;
mod output;
mod parts;
mod repair;
mod report;
mod reports;
mod rules;
mod timestamp;
mod typed;

pub use approval_note::ApprovalNote;
pub use aside::AsideReason;
pub use chain::{LedgerFault, LedgerFaultKind, LedgerReport, SetAside, verify_ledger};
pub use check::{StateReport, check_state};
pub use check_log::{check_log, check_log_after, read_log};
pub use error::GovernedError;
pub use folders::Folders;
pub use governor::{ClaimedRun, Governor};
pub use log_report::{LogFault, LogReport, LoggedLine, LoggedRun, LoggedStep};
pub use notes::ToolReport;
pub use outcome::{AwaitedInput, PendingApproval, Progressed, RunStatus};
pub use output::{Action, Change, DeclaredRisk, InvalidOutput, ToolOutput, ToolStatus};
pub use parts::{
    Auditor, AutoApproved, Call, GovernedTool, PartError, Parts, PlanAnswer, PlanApproval, Planner,
    ProposedPlan, Rollback, RunView, Verifier,
};
pub use repair::Repairs;
pub use rules::{Gates, Rules};
pub use timestamp::{Timestamp, TimestampError};

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
