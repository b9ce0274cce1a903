//! Questions to the user, and the wallet's state.

use std::collections::BTreeMap;

use runstate::service_pass::ServicePassStatus;
use serde::{Deserialize, Serialize};

use super::units::Units;

/// One question to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The slot that the answer fills; none for a question about the request as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
    /// The text.
    pub text: String,
    /// The known values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

/// A slot without a usable value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MissingSlot {
    /// The name, which is the key of the answer.
    pub slot: String,
    /// The value that cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub got: Option<String>,
    /// The known values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

/// The artifact `needs_input`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeedsInput {
    /// The slots without a usable value.
    pub missing: Vec<MissingSlot>,
    /// The questions. CLARIFY adds one per missing slot where there is none.
    pub questions: Vec<Question>,
    /// The node that asks. It is recorded for display: a resume begins at the first node.
    pub resume_from: ServicePassStatus,
}

/// The balance of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenBalance {
    /// The address of the token.
    pub address: String,
    /// The number of decimals.
    pub decimals: u8,
    /// The balance.
    pub balance: Units,
}

/// An allowance of a wallet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowance {
    /// The address of the token.
    pub token: String,
    /// The contract that may take the token.
    pub spender: String,
    /// The allowed amount.
    pub amount: Units,
}

/// The artifact `wallet_snapshot`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WalletSnapshot {
    /// The balance of the native currency.
    pub native: Units,
    /// The balances of the tokens, by symbol.
    pub tokens: BTreeMap<String, TokenBalance>,
    /// The allowances.
    pub allowances: Vec<Allowance>,
}

/// The artifact `fatal_error`: the node that failed, and the cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FatalError {
    /// The node.
    pub step: ServicePassStatus,
    /// The cause.
    pub error: String,
}
