//! The ports of the graph: the traits of its surroundings.
//!
//! A node only reads through its port, so a node may be repeated after a crash. No port sends a transaction.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::artifact::{
    Action, Candidate, Decision, DecodedCall, PolicyResult, RepairContext, Simulation, TxPlan, TxRequest,
    TxResult, Units, WalletSnapshot,
};
use crate::config::{Chain, is_address};

/// The error of a port. Its text is stored with the run, and each viewer of the run reads it: it has no secret and no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PortError {
    /// The port cannot be reached.
    #[error("{port} cannot be reached: {reason}")]
    Unreachable {
        /// The port.
        port: &'static str,
        /// The reason.
        reason: String,
    },
    /// The port gave no answer in time.
    #[error("{port} gave no answer within {limit_ms} ms")]
    TimedOut {
        /// The port.
        port: &'static str,
        /// The time limit, in milliseconds.
        limit_ms: u64,
    },
    /// The port refuses the request.
    #[error("{port} refuses: {reason}")]
    Refused {
        /// The port.
        port: &'static str,
        /// The reason.
        reason: String,
    },
    /// The port is of another chain.
    #[error("{port} has the id {got}, expected {expected}; correct the URL of its node or the id")]
    OtherChain {
        /// The port.
        port: &'static str,
        /// The id of its chain, in decimal digits. A node may have one that no chain has.
        got: String,
        /// The id of the configured chain.
        expected: u64,
    },
    /// The port panicked.
    #[error("{port} failed by an error of its program")]
    Panicked {
        /// The port.
        port: &'static str,
        /// The message, which no user of the run sees.
        reason: String,
    },
}

/// The reader of a wallet's state.
#[async_trait]
pub trait Wallet: Send + Sync {
    /// Reads balances and allowances of a wallet.
    ///
    /// # Errors
    /// Any error fails the run.
    async fn snapshot(&self, chain: &Chain, wallet: &str) -> Result<WalletSnapshot, PortError>;
}

/// The artifact `planner_input`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannerInput {
    /// The intent.
    pub intent: String,
    /// The chain's id.
    pub chain_id: u64,
    /// The address of the wallet.
    pub wallet: String,
    /// The symbols of known assets.
    pub assets: Vec<String>,
    /// The answers of the user, over all resumes.
    pub user_inputs: BTreeMap<String, Value>,
    /// The reason of a repair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<RepairContext>,
    /// The plan to be repaired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_plan: Option<TxPlan>,
}

/// The planner, such as a model.
#[async_trait]
pub trait Planner: Send + Sync {
    /// Returns a plan as JSON: the form of [`PlanAnswer`](crate::PlanAnswer). Another form is a plan without actions.
    ///
    /// # Errors
    /// Any error gives a plan without actions. The run does not fail.
    async fn plan(&self, input: &PlannerInput) -> Result<Value, PortError>;
}

/// The input of a compiler.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CompileInput<'a> {
    /// The chain.
    pub chain: &'a Chain,
    /// The address of the wallet.
    pub wallet: &'a str,
    /// The actions, each with all its slots.
    pub actions: &'a [Action],
    /// The state of the wallet.
    pub snapshot: &'a WalletSnapshot,
    /// The slippage of a swap whose action has none, in hundredths of a percent.
    pub slippage_bps: u32,
}

/// The compiler of actions to transactions.
#[async_trait]
pub trait Compiler: Send + Sync {
    /// Returns the transactions with their meaning, in the order of the actions.
    ///
    /// # Errors
    /// Any error fails the run.
    async fn compile(&self, input: &CompileInput<'_>) -> Result<Vec<Candidate>, PortError>;

    /// Returns whether a text is an address for a wallet or a recipient. A run with another text asks for an address.
    /// Default: [`is_address`], for the addresses of any chain.
    fn is_address(&self, text: &str) -> bool {
        is_address(text)
    }
}

/// The reader of call data. It is another program than the compiler, so that the policy need not believe the compiler.
pub trait Decoder: Send + Sync {
    /// Reads the call data of a transaction. None for data that it does not know, which blocks the run.
    fn decode(&self, tx: &TxRequest) -> Option<DecodedCall>;
}

/// The simulator of transactions.
#[async_trait]
pub trait Simulator: Send + Sync {
    /// Simulates the transactions in order, each after the effects of the earlier ones. Returns a result for each.
    ///
    /// # Errors
    /// Any error fails the run. A simulated revert is a result, not an error.
    async fn simulate(&self, chain: &Chain, txs: &[TxRequest]) -> Result<Vec<TxResult>, PortError>;
}

/// The input of a judge.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct JudgeInput<'a> {
    /// The intent.
    pub intent: &'a str,
    /// The plan.
    pub tx_plan: &'a TxPlan,
    /// The transactions.
    pub tx_requests: &'a [TxRequest],
    /// The simulation.
    pub simulation: &'a Simulation,
    /// The checks of the policy.
    pub policy_result: &'a PolicyResult,
    /// The decision of the policy.
    pub decision: &'a Decision,
    /// The answers of the user, over all resumes since the intent.
    pub user_inputs: &'a BTreeMap<String, Value>,
    /// The number of the attempt, from 1.
    pub attempt: u32,
}

/// The judge, such as a model.
#[async_trait]
pub trait Judge: Send + Sync {
    /// Returns a verdict as JSON: the form of [`JudgeAnswer`](crate::JudgeAnswer). Another form is NEEDS_REWORK.
    ///
    /// # Errors
    /// Any error is NEEDS_REWORK without issues. The run continues to a person.
    async fn judge(&self, input: &JudgeInput<'_>) -> Result<Value, PortError>;
}

/// The receipt of a mined transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The hash.
    pub hash: String,
    /// Whether the receipt states success. False for a transaction that differs from the approved one, if the port has not
    /// read its receipt.
    pub success: bool,
    /// The number of the block.
    pub block: u64,
    /// The id of the chain.
    pub chain_id: u64,
    /// The address of the sender.
    pub from: String,
    /// The address of the called contract, or of the recipient.
    pub to: String,
    /// The sent amount of the native currency.
    pub value: Units,
    /// The call data, in hexadecimal with `0x`.
    pub data: String,
    /// Whether the transaction has a list of authorizations (EIP-7702), by which accounts get code. It differs from each
    /// approved transaction.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub delegates: bool,
    /// The time of the block, in milliseconds since 1970. None: the port does not know it, and a transaction that was mined
    /// before the approval is not noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mined_at_ms: Option<u64>,
}

/// The time by which a block may precede an approval: the clocks of chains and servers differ.
const CLOCKS_MS: u64 = 10 * 60 * 1_000;

impl Receipt {
    /// Whether the transaction was mined more than 10 minutes before an approval at that time, in milliseconds since 1970:
    /// then it was sent for something else.
    pub(crate) fn is_before(&self, approved_at_ms: u64) -> bool {
        self.mined_at_ms.is_some_and(|mined| mined.saturating_add(CLOCKS_MS) < approved_at_ms)
    }

    /// The first field that differs from the approved transaction that was sent with that hash. Hexadecimal digits are
    /// compared without their case.
    pub fn difference(&self, hash: &str, approved: &TxRequest) -> Option<&'static str> {
        let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
        if !same(&self.hash, hash) {
            Some("hash")
        } else if self.chain_id != approved.chain_id {
            Some("chain")
        } else if !same(&self.from, &approved.from) {
            Some("from")
        } else if !same(&self.to, &approved.to) {
            Some("to")
        } else if self.value != approved.value {
            Some("value")
        } else if !same(&self.data, &approved.data) {
            Some("data")
        } else if self.delegates {
            Some("authorizations")
        } else {
            None
        }
    }
}

/// The reader of receipts.
#[async_trait]
pub trait Receipts: Send + Sync {
    /// Reads the receipt of a transaction that was sent for the approved one. None until it is mined. A transaction that
    /// [differs](Receipt::difference) needs no success: a port may leave its receipt unread, which could be of any length.
    ///
    /// # Errors
    /// The run stays as it is.
    async fn receipt(&self, hash: &str, approved: &TxRequest) -> Result<Option<Receipt>, PortError>;
}

/// The ports of a graph.
#[derive(Clone)]
pub struct Ports {
    /// The reader of wallets.
    pub wallet: Arc<dyn Wallet>,
    /// The planner. Default: the built-in planner of phrases, and no repair.
    pub planner: Option<Arc<dyn Planner>>,
    /// The compiler.
    pub compiler: Arc<dyn Compiler>,
    /// The reader of call data. Default: none, and the policy warns.
    pub decoder: Option<Arc<dyn Decoder>>,
    /// The simulator.
    pub simulator: Arc<dyn Simulator>,
    /// The judge. Default: none, and the policy alone decides.
    pub judge: Option<Arc<dyn Judge>>,
    /// The reader of receipts.
    pub receipts: Arc<dyn Receipts>,
}

impl fmt::Debug for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ports")
            .field("decoder", &self.decoder.is_some())
            .field("planner", &self.planner.is_some())
            .field("judge", &self.judge.is_some())
            .finish_non_exhaustive()
    }
}
