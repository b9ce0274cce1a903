//! Transactions: their fields, their meaning, and their simulation.

use serde::{Deserialize, Serialize};

use super::units::Units;

/// The kind of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TxKind {
    /// An allowance for a contract.
    Approve,
    /// An exchange.
    Swap,
    /// A transfer.
    Transfer,
}

/// A transaction that a wallet signs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TxRequest {
    /// The kind.
    pub kind: TxKind,
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
}

/// The meaning of a transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case", deny_unknown_fields)]
pub enum TxCall {
    /// A transfer of the native currency.
    TransferNative {
        /// The recipient.
        recipient: String,
        /// The amount.
        amount: Units,
    },
    /// A transfer of a token.
    TransferToken {
        /// The address of the token.
        token: String,
        /// The recipient.
        recipient: String,
        /// The amount.
        amount: Units,
    },
    /// An allowance.
    Approve {
        /// The address of the token.
        token: String,
        /// The contract that may take the token.
        spender: String,
        /// The allowed amount.
        amount: Units,
    },
    /// An exchange.
    Swap {
        /// The contract that exchanges.
        router: String,
        /// The address of the sold token.
        token_in: String,
        /// The address of the bought token.
        token_out: String,
        /// The sold amount.
        amount_in: Units,
        /// The amount that the exchange offers.
        quoted_out: Units,
        /// The least amount that the wallet accepts.
        min_out: Units,
        /// The accepted slippage, in hundredths of a percent.
        slippage_bps: u32,
    },
}

/// The meaning of call data, as a [`Decoder`](crate::Decoder) reads it from the transaction itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodedCall {
    /// A transfer of the called token.
    Transfer {
        /// The recipient.
        recipient: String,
        /// The amount.
        amount: Units,
    },
    /// An allowance of the called token.
    Approve {
        /// The contract that may take the token.
        spender: String,
        /// The allowed amount.
        amount: Units,
    },
    /// An exchange by the called contract.
    Swap {
        /// The address of the sold token.
        token_in: String,
        /// The address of the bought token.
        token_out: String,
        /// The sold amount.
        amount_in: Units,
        /// The least amount that the wallet accepts.
        min_out: Units,
    },
}

/// A compiled transaction with its meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// The name of the protocol, for the allowlist.
    pub protocol: String,
    /// The meaning.
    pub call: TxCall,
    /// The transaction.
    pub tx: TxRequest,
    /// The hash, if a port has sent the transaction already. The policy blocks such a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_hash: Option<String>,
}

/// The result of one simulated transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TxResult {
    /// Whether the transaction succeeded.
    pub ok: bool,
    /// The reason of the revert.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The hash, if the simulator has sent the transaction. The policy blocks such a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_hash: Option<String>,
    /// The amount that the wallet gets by an exchange. The policy compares it with the least result, so that it need not
    /// believe the compiler's quote. None: the simulator does not know it, and the policy warns for an exchange.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<Units>,
    /// Whether the success is assumed: the transaction needs an effect of an earlier one, which the simulator could not
    /// apply. The policy warns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub assumed: bool,
}

impl TxResult {
    /// Makes the result of a transaction that succeeded.
    pub fn ok() -> Self {
        TxResult { ok: true, error: None, tx_hash: None, out: None, assumed: false }
    }

    /// Makes the result of a transaction whose success is assumed.
    pub fn assumed() -> Self {
        TxResult { assumed: true, ..TxResult::ok() }
    }

    /// Sets the amount that the wallet gets by an exchange.
    #[must_use]
    pub fn with_out(self, out: Option<Units>) -> Self {
        TxResult { out, ..self }
    }

    /// Makes the result of a transaction that reverted.
    pub fn reverted(error: impl Into<String>) -> Self {
        TxResult { ok: false, error: Some(error.into()), ..TxResult::ok() }
    }
}

/// The result of a whole simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SimulationStatus {
    /// Each transaction succeeded.
    Ok,
    /// A transaction reverted, or has no result.
    Failed,
}

/// The mode of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SimulationMode {
    /// One transaction.
    Single,
    /// Several transactions, each after the effects of the earlier ones.
    Sequential,
}

/// The artifact `simulation`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Simulation {
    /// The result.
    pub status: SimulationStatus,
    /// The mode.
    pub mode: SimulationMode,
    /// The results, in the order of the transactions.
    pub results: Vec<TxResult>,
    /// The positions of transactions that use an allowance which an earlier transaction grants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed_allowances: Vec<usize>,
    /// The summary for a person.
    pub summary: String,
}
