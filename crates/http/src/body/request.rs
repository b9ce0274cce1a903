//! The bodies of requests.

use std::collections::BTreeMap;

use runstate_service::{Answers, NewServiceRun, SubmittedBy, is_address};
use serde_json::Value;
use utoipa::ToSchema;

use crate::members::{FromMembers, Members};

/// The statuses of a run, for the document.
#[derive(Debug, ToSchema)]
#[schema(
    pattern = "^(CREATED|RUNNING|PAUSED|AWAITING_APPROVAL|APPROVED_READY|SUBMITTED|CONFIRMED|REVERTED|BLOCKED|FAILED|REJECTED|Running|Waiting|Done)$"
)]
#[expect(dead_code, reason = "the document has it")]
pub(crate) struct StatusText(String);

/// The parts of a run that an answer may include, for the document.
#[derive(Debug, ToSchema)]
#[schema(pattern = "^(artifacts|timeline|steps|decisions)$")]
#[expect(dead_code, reason = "the document has it")]
pub(crate) struct IncludeText(String);

/// A run to be created.
#[derive(Debug, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateBody {
    /// The request in words.
    #[schema(min_length = 1, max_length = 5000, required = true, nullable = false)]
    pub(crate) intent: Option<String>,
    /// The address of the wallet. Also `walletAddress`.
    #[schema(min_length = 3, max_length = 64, pattern = "^0x[0-9a-fA-F]{1,62}$")]
    pub(crate) wallet_address: Option<String>,
    /// The id of the chain. Also `chainId`.
    #[schema(minimum = 1)]
    pub(crate) chain_id: Option<u64>,
}

impl FromMembers for CreateBody {
    const IS_LARGE: bool = true;

    fn read(members: &mut Members) -> Self {
        let intent = members.text(&["intent"], 1..=5_000);
        let intent = members.require(&["intent"], intent);
        let address = "0x and 1 to 62 hexadecimal digits";
        CreateBody {
            intent,
            wallet_address: members.text_that(&["wallet_address", "walletAddress"], is_address, address),
            chain_id: members.integer(&["chain_id", "chainId"], 1),
        }
    }
}

impl CreateBody {
    pub(crate) fn into_run(self, id: String) -> NewServiceRun {
        let CreateBody { intent, wallet_address, chain_id } = self;
        NewServiceRun { id, intent: intent.unwrap_or_default(), wallet: wallet_address, chain_id }
    }
}

/// A body without members.
#[derive(Debug, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoBody {}

impl FromMembers for NoBody {
    const NEEDS_BODY: bool = false;

    fn read(_: &mut Members) -> Self {
        NoBody {}
    }
}

/// Answers to the questions of a run.
#[derive(Debug, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResumeBody {
    /// The answers, by slot: at most 64.
    #[schema(required = false)]
    pub(crate) answers: BTreeMap<String, Value>,
    /// Another intent, for a run with the final status NOOP.
    #[schema(min_length = 1, max_length = 5000)]
    pub(crate) intent: Option<String>,
    /// Data of the caller, such as the id of a form.
    #[schema(required = false)]
    pub(crate) metadata: BTreeMap<String, Value>,
}

impl FromMembers for ResumeBody {
    fn read(members: &mut Members) -> Self {
        ResumeBody {
            answers: members.object("answers"),
            intent: members.text(&["intent"], 1..=5_000),
            metadata: members.object("metadata"),
        }
    }
}

impl ResumeBody {
    pub(crate) fn into_answers(self) -> Answers {
        let ResumeBody { answers, intent, metadata } = self;
        Answers { answers, intent, metadata }
    }
}

/// An approval.
#[derive(Debug, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApproveBody {
    /// The digest of the shown transactions. Without it the current ones are approved.
    #[schema(min_length = 1, max_length = 200)]
    pub(crate) digest: Option<String>,
    /// A note.
    #[schema(max_length = 2000)]
    pub(crate) notes: Option<String>,
    /// The represented person. The actor of the decision stays the name of the token.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*[^\\s\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*$"
    )]
    pub(crate) reviewer: Option<String>,
}

impl FromMembers for ApproveBody {
    fn read(members: &mut Members) -> Self {
        ApproveBody {
            digest: members.text(&["digest"], 1..=200),
            notes: members.text(&["notes"], 0..=2_000),
            reviewer: reviewer(members),
        }
    }
}

/// A name without control characters.
fn reviewer(members: &mut Members) -> Option<String> {
    let is_name = |name: &str| {
        (1..=200).contains(&name.chars().count())
            && !name.trim().is_empty()
            && !name.chars().any(char::is_control)
    };
    let expected = "a name of 1 to 200 characters, none of them a control character";
    members.text_that(&["reviewer", "on_behalf_of"], is_name, expected)
}

/// A rejection.
#[derive(Debug, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RejectBody {
    /// The reason.
    #[schema(max_length = 2000)]
    pub(crate) reason: Option<String>,
    /// The represented person. The actor of the decision stays the name of the token.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*[^\\s\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*$"
    )]
    pub(crate) reviewer: Option<String>,
}

impl FromMembers for RejectBody {
    fn read(members: &mut Members) -> Self {
        RejectBody { reason: members.text(&["reason"], 0..=2_000), reviewer: reviewer(members) }
    }
}

/// The hashes of sent transactions.
#[derive(Debug, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubmittedBody {
    /// The hashes, in the order of the transactions: the first ones, or those that follow the known ones. One hash may be
    /// a text. Also `txHashes`, `tx_hash` and `txHash`.
    #[schema(required = true, nullable = false, max_items = 32)]
    pub(crate) tx_hashes: Option<Vec<String>>,
    /// The program that sent them. Also `submittedBy`.
    #[schema(required = true, nullable = false, value_type = String, pattern = "^(walletconnect|metamask|manual)$")]
    pub(crate) submitted_by: Option<SubmittedBy>,
    /// A known hash that the one hash replaces, such as that of a transaction with a lower fee.
    pub(crate) replaces: Option<String>,
}

impl FromMembers for SubmittedBody {
    fn read(members: &mut Members) -> Self {
        let by = |text: &str| serde_json::from_value::<SubmittedBy>(Value::from(text)).ok();
        let expected = "one of walletconnect, metamask, manual";
        let text = members.text_that(&["submitted_by", "submittedBy"], |text| by(text).is_some(), expected);
        let submitted_by = members.require(&["submitted_by", "submittedBy"], text.as_deref().and_then(by));
        SubmittedBody {
            tx_hashes: members.texts(&["tx_hashes", "txHashes", "tx_hash", "txHash"], 32),
            submitted_by,
            replaces: members.text(&["replaces"], 1..=256),
        }
    }
}
