//! Errors of a service run that refuses a transition which its state has.

use std::error::Error;
use std::fmt;

/// The reason why a service run refuses a transition.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServiceRunError {
    /// A new intent for a run that waits for answers to its current intent.
    IntentWhileInputIsNeeded {
        /// The questions of the run.
        questions: Vec<String>,
    },
    /// An approval of other transactions than those of the run.
    OtherTransactions {
        /// The digest of the approval.
        got: String,
        /// The digest of the run's transactions.
        expected: String,
    },
    /// A decision or a submission without a name.
    NoActor,
    /// A submission without a hash.
    NoHash,
    /// An empty hash.
    BlankHash,
    /// A hash that is there already.
    RepeatedHash {
        /// The hash.
        hash: String,
    },
    /// A replaced hash that the run does not have.
    UnknownHash {
        /// The hash.
        hash: String,
    },
    /// More hashes than transactions.
    TooManyHashes {
        /// The number of hashes.
        got: usize,
        /// The number of transactions.
        transactions: usize,
    },
    /// A confirmation while transactions were not sent.
    NotAllSent {
        /// The number of hashes.
        got: usize,
        /// The number of transactions.
        expected: usize,
    },
}

impl fmt::Display for ServiceRunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServiceRunError::IntentWhileInputIsNeeded { questions } => write!(
                f,
                "only a NOOP run takes a new intent; this one waits for answers to: {}",
                questions.join(", ")
            ),
            ServiceRunError::OtherTransactions { got, expected } => {
                write!(f, "the approval is for the transactions {got:?}; expected {expected}")
            }
            ServiceRunError::NoActor => f.write_str("the actor has no name; expected a text"),
            ServiceRunError::NoHash => f.write_str("the submission has no hash; expected one or more"),
            ServiceRunError::BlankHash => f.write_str("a hash is empty"),
            ServiceRunError::RepeatedHash { hash } => write!(f, "the hash {hash:?} is there twice"),
            ServiceRunError::UnknownHash { hash } => write!(f, "the run has no hash {hash:?} to replace"),
            ServiceRunError::TooManyHashes { got, transactions } => {
                write!(f, "{got} hashes for {transactions} transactions")
            }
            ServiceRunError::NotAllSent { got, expected } => {
                write!(f, "{got} of {expected} transactions were sent; a confirmation needs all of them")
            }
        }
    }
}

impl Error for ServiceRunError {}
