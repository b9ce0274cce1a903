//! The reasons of an activation's end.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::run::RunStatus;

/// The reason of an activation's end.
///
/// It has two written forms: JSON through serde, and a text that [`FromStr`] parses back, with its detail.
///
/// ```
/// use runstate::run::RunStatus;
/// use runstate::termination::{StoppedReason, TerminationReason};
///
/// let reason = TerminationReason::Stopped(StoppedReason::new("max_rounds", Some("10 of 10"))?);
/// assert_eq!(reason.to_string(), "stopped:max_rounds:10 of 10");
/// assert_eq!("stopped:max_rounds:10 of 10".parse::<TerminationReason>()?, reason);
/// assert_eq!(TerminationReason::Suspended.to_run_status(), RunStatus::Waiting);
///
/// // The older name is accepted, and written as the newer one.
/// assert_eq!("plugin_requested".parse::<TerminationReason>()?, TerminationReason::BehaviorRequested);
///
/// let error = "finished".parse::<TerminationReason>().unwrap_err();
/// assert!(error.to_string().starts_with("no termination reason is called \"finished\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminationReason {
    /// The model's answer had no tool calls.
    NaturalEnd,
    /// A plugin requested the end. The older name `plugin_requested` is accepted on input.
    #[serde(alias = "plugin_requested")]
    BehaviorRequested,
    /// A stop condition fired.
    Stopped(StoppedReason),
    /// The run was cancelled from outside.
    Cancelled,
    /// A permission check blocked the run, for this reason.
    Blocked(String),
    /// Calls wait for decisions. The run continues in a later activation.
    Suspended,
    /// The runtime failed, with this message.
    Error(String),
}

impl TerminationReason {
    /// The status of a run after an activation with this reason: `Waiting` for `Suspended`, `Done` for all others.
    pub fn to_run_status(&self) -> RunStatus {
        match self {
            TerminationReason::Suspended => RunStatus::Waiting,
            TerminationReason::NaturalEnd
            | TerminationReason::BehaviorRequested
            | TerminationReason::Stopped(_)
            | TerminationReason::Cancelled
            | TerminationReason::Blocked(_)
            | TerminationReason::Error(_) => RunStatus::Done,
        }
    }
}

impl fmt::Display for TerminationReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TerminationReason::NaturalEnd => f.write_str("natural_end"),
            TerminationReason::BehaviorRequested => f.write_str("behavior_requested"),
            TerminationReason::Stopped(reason) => write!(f, "stopped:{reason}"),
            TerminationReason::Cancelled => f.write_str("cancelled"),
            TerminationReason::Blocked(why) => write!(f, "blocked:{why}"),
            TerminationReason::Suspended => f.write_str("suspended"),
            TerminationReason::Error(what) => write!(f, "error:{what}"),
        }
    }
}

impl FromStr for TerminationReason {
    type Err = UnreadableReason;

    fn from_str(text: &str) -> Result<Self, UnreadableReason> {
        let (name, detail) = match text.split_once(':') {
            Some((name, detail)) => (name, Some(detail)),
            None => (text, None),
        };
        match (name, detail) {
            ("natural_end", None) => Ok(TerminationReason::NaturalEnd),
            ("behavior_requested" | "plugin_requested", None) => Ok(TerminationReason::BehaviorRequested),
            ("cancelled", None) => Ok(TerminationReason::Cancelled),
            ("suspended", None) => Ok(TerminationReason::Suspended),
            ("blocked", Some(why)) => Ok(TerminationReason::Blocked(why.to_owned())),
            ("error", Some(what)) => Ok(TerminationReason::Error(what.to_owned())),
            ("stopped", Some(stopped)) => match stopped.split_once(':') {
                Some((code, detail)) => StoppedReason::new(code, Some(detail)),
                None => StoppedReason::new(stopped, None),
            }
            .map(TerminationReason::Stopped),
            _ => Err(UnreadableReason(format!(
                "no termination reason is called {text:?}; expected natural_end, behavior_requested, \
                 stopped:<code>[:<detail>], cancelled, blocked:<why>, suspended or error:<what>"
            ))),
        }
    }
}

/// A final reason: any reason but [`TerminationReason::Suspended`], after which the run waits.
///
/// ```
/// use runstate::termination::{FinalReason, TerminationReason};
///
/// let reason = FinalReason::try_from(TerminationReason::Blocked("no".to_owned()))?;
/// assert_eq!(reason.get(), &TerminationReason::Blocked("no".to_owned()));
///
/// let error = FinalReason::try_from(TerminationReason::Suspended).unwrap_err();
/// assert_eq!(error.to_string(), "a run that ends as 'suspended' is not over: it waits for decisions");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "TerminationReason", into = "TerminationReason")]
pub struct FinalReason(TerminationReason);

impl FinalReason {
    /// The model's answer had no tool calls.
    pub const NATURAL_END: FinalReason = FinalReason(TerminationReason::NaturalEnd);
    /// A plugin requested the end.
    pub const BEHAVIOR_REQUESTED: FinalReason = FinalReason(TerminationReason::BehaviorRequested);

    /// The reason.
    pub fn get(&self) -> &TerminationReason {
        &self.0
    }
}

impl fmt::Display for FinalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<StoppedReason> for FinalReason {
    fn from(reason: StoppedReason) -> Self {
        FinalReason(TerminationReason::Stopped(reason))
    }
}

impl From<FinalReason> for TerminationReason {
    fn from(reason: FinalReason) -> Self {
        reason.0
    }
}

impl TryFrom<TerminationReason> for FinalReason {
    type Error = NotOver;

    fn try_from(reason: TerminationReason) -> Result<Self, NotOver> {
        match reason.to_run_status() {
            RunStatus::Done => Ok(FinalReason(reason)),
            RunStatus::Running | RunStatus::Waiting => Err(NotOver(reason)),
        }
    }
}

/// The error for a reason that is not final.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotOver(TerminationReason);

impl fmt::Display for NotOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a run that ends as '{}' is not over: it waits for decisions", self.0)
    }
}

impl Error for NotOver {}

/// The stop condition that fired, with its measurement.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "StoredStop", into = "StoredStop")]
pub struct StoppedReason {
    code: String,
    detail: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredStop {
    code: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl TryFrom<StoredStop> for StoppedReason {
    type Error = UnreadableReason;

    fn try_from(stored: StoredStop) -> Result<Self, UnreadableReason> {
        StoppedReason::new(stored.code, stored.detail.as_deref())
    }
}

impl From<StoppedReason> for StoredStop {
    fn from(reason: StoppedReason) -> Self {
        StoredStop { code: reason.code, detail: reason.detail }
    }
}

impl StoppedReason {
    /// Makes a reason from a code, such as `max_rounds`, and the measured detail.
    ///
    /// # Errors
    /// When the code is empty or has other characters than letters, digits, `_` and `-`.
    pub fn new(code: impl Into<String>, detail: Option<&str>) -> Result<Self, UnreadableReason> {
        let code = code.into();
        if code.is_empty() || !code.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
            return Err(UnreadableReason(format!(
                "{code:?} is no code of a stop: expected letters, digits, '_' and '-'"
            )));
        }
        Ok(StoppedReason { code, detail: detail.map(str::to_owned) })
    }

    /// The code of the condition.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The measured detail.
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }
}

impl fmt::Display for StoppedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.code)?;
        match &self.detail {
            Some(detail) => write!(f, ":{detail}"),
            None => Ok(()),
        }
    }
}

/// The error for a text that is no termination reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableReason(String);

impl fmt::Display for UnreadableReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for UnreadableReason {}
