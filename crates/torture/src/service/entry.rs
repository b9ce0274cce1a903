//! The lines of a ledger about service runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::world::World;

/// A line of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Entry {
    /// A request is about to be made.
    Asked(Asked),
    /// The reply to a request.
    Answered {
        /// The request.
        request: String,
        /// The reply.
        reply: Reply,
    },
    /// A wallet sent an approved transaction.
    Paid {
        /// The run.
        run: String,
        /// The hash.
        hash: String,
    },
    /// A driver claimed a run.
    Claimed {
        /// The run.
        run: String,
        /// The driver.
        by: String,
    },
    /// A store acknowledged a change.
    Made(Made),
    /// A store refused the change of a driver, because another one claimed the run.
    Fenced {
        /// The run.
        run: String,
        /// The driver.
        by: String,
    },
    /// The service failed.
    Broken {
        /// The run.
        run: String,
        /// The error.
        error: String,
    },
}

/// A request of a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The key of the request, which is also the name of the represented person.
    pub request: String,
    /// The run.
    pub run: String,
    /// The actor.
    pub actor: String,
    /// The version that the run must have.
    pub version: Option<u64>,
    /// The operation.
    pub deed: Deed,
}

/// An operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// Creates the run.
    Create {
        /// Its world.
        world: World,
        /// Its wallet.
        wallet: Option<String>,
    },
    /// Starts the run.
    Start,
    /// Resumes the run.
    Resume {
        /// The answers.
        answers: BTreeMap<String, Value>,
        /// The new intent.
        world: Option<World>,
    },
    /// Approves the transactions with that digest.
    Approve {
        /// The digest.
        digest: String,
    },
    /// Rejects the transactions.
    Reject,
    /// Hands the transactions out.
    Execute,
    /// Notes the hashes of sent transactions.
    Submit {
        /// The hashes.
        hashes: Vec<String>,
    },
    /// Reads the receipts.
    Poll,
}

/// A reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The request was carried out.
    Done,
    /// The request has an answer: it was carried out before.
    Repeated,
    /// The run refuses the request.
    Refused(String),
}

/// An acknowledged change, with the digests of its rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// The run.
    pub run: String,
    /// The version of the run after it.
    pub version: u64,
    /// The steps.
    pub steps: Vec<u64>,
    /// The timeline entries.
    pub timeline: Vec<u64>,
    /// The trace lines.
    pub trace: Vec<u64>,
}
