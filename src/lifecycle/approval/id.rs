//! The id of an approval, which is also the name of its file.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const LONGEST: usize = 128;

/// The id of an approval: 1 to 128 letters, digits, `-`, `_` and `.`, without a leading `.`.
///
/// An approval is stored in a file of its own. Therefore its id must not lead out of a folder.
///
/// ```
/// use runstate::approval::ApprovalId;
///
/// assert!("APPROVAL-1".parse::<ApprovalId>().is_ok());
/// assert!("../../etc/passwd".parse::<ApprovalId>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ApprovalId(String);

impl ApprovalId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<ApprovalId> for String {
    fn from(id: ApprovalId) -> String {
        id.0
    }
}

impl FromStr for ApprovalId {
    type Err = ApprovalIdError;

    fn from_str(text: &str) -> Result<Self, ApprovalIdError> {
        ApprovalId::try_from(text.to_owned())
    }
}

impl TryFrom<String> for ApprovalId {
    type Error = ApprovalIdError;

    fn try_from(text: String) -> Result<Self, ApprovalIdError> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        let sound =
            (1..=LONGEST).contains(&text.len()) && !text.starts_with('.') && text.bytes().all(allowed);
        if sound {
            Ok(ApprovalId(text))
        } else {
            Err(ApprovalIdError { got: text.chars().take(LONGEST).collect() })
        }
    }
}

/// The error for a text that is not the id of an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalIdError {
    got: String,
}

impl fmt::Display for ApprovalIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is no approval id; expected 1 to {LONGEST} letters, digits, '-', '_' and '.', with no '.' in front",
            self.got
        )
    }
}

impl Error for ApprovalIdError {}
