//! The id of a governed run, with its time of creation.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::calendar::{DAY_MS, UNIX_DAY, civil_from_days, days_before, days_in};

const PREFIX: &str = "RUN-";
/// `-YYYYMMDD-hhmmss`
const STAMP: usize = 16;

/// The id of a governed run: `RUN-`, the project, a day and a time of day in UTC.
///
/// It matches `^RUN-[A-Z0-9-]+-\d{8}-\d{6}$`, and the day and the time exist.
///
/// ```
/// use runstate::governed_run::RunId;
///
/// let id: RunId = "RUN-PROJECT-20260131-120000".parse()?;
/// assert_eq!(id.project(), "PROJECT");
/// // A second run within one second takes the next second.
/// assert_eq!(id.next_second()?.as_str(), "RUN-PROJECT-20260131-120001");
/// // The 31st of April does not exist.
/// assert!("RUN-PROJECT-20260431-120000".parse::<RunId>().is_err());
/// # Ok::<(), runstate::governed_run::RunIdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

impl RunId {
    /// Makes the id of a run of `project`, created at `at` (milliseconds since the Unix epoch).
    ///
    /// # Errors
    /// [`RunIdError`] when the project is empty or has other characters than `A` to `Z`, `0` to `9` and `-`, and for
    /// times after the year 9999.
    pub fn new(project: &str, at: u64) -> Result<Self, RunIdError> {
        let (year, month, day) = civil_from_days(at / DAY_MS);
        let second = at % DAY_MS / 1000;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let id = format!("{PREFIX}{project}-{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}");
        id.parse()
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The project.
    pub fn project(&self) -> &str {
        &self.0[PREFIX.len()..self.0.len() - STAMP]
    }

    /// The id of the same project one second later, for a run with an id that is already taken.
    ///
    /// # Errors
    /// [`RunIdError`] when the next second lies before 1970 or after the year 9999.
    pub fn next_second(&self) -> Result<Self, RunIdError> {
        let stamp = &self.0.as_bytes()[self.0.len() - STAMP..];
        let next = seconds(stamp).and_then(|at| (at + 1).checked_sub(UNIX_DAY * 86_400));
        match next {
            Some(next) => RunId::new(self.project(), next * 1000),
            None => Err(RunIdError::new(&self.0, "no run was made before 1970")),
        }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl AsRef<str> for RunId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> String {
        id.0
    }
}

impl FromStr for RunId {
    type Err = RunIdError;

    fn from_str(text: &str) -> Result<Self, RunIdError> {
        RunId::try_from(text.to_owned())
    }
}

impl TryFrom<String> for RunId {
    type Error = RunIdError;

    fn try_from(text: String) -> Result<Self, RunIdError> {
        let fault = match text.strip_prefix(PREFIX) {
            None => Some("it does not begin with RUN-"),
            Some(rest) => fault_after_prefix(rest.as_bytes()),
        };
        match fault {
            Some(why) => Err(RunIdError::new(&text, why)),
            None => Ok(RunId(text)),
        }
    }
}

fn fault_after_prefix(rest: &[u8]) -> Option<&'static str> {
    let Some(at) = rest.len().checked_sub(STAMP) else {
        return Some("it does not end with a day and a time of day");
    };
    let (project, stamp) = rest.split_at(at);
    if !project.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'-') {
        return Some("its project has other characters than A to Z, 0 to 9 and -");
    }
    if project.is_empty() {
        return Some("it names no project");
    }
    let dashes = [0, 9];
    if !stamp
        .iter()
        .enumerate()
        .all(|(i, b)| if dashes.contains(&i) { *b == b'-' } else { b.is_ascii_digit() })
    {
        return Some("it does not end with a day and a time of day");
    }
    match seconds(stamp) {
        None => Some("its day or its time of day is not a real one"),
        Some(_) => None,
    }
}

/// Returns the seconds from the first day of the year 0 to a stamp of digits, if its day and time exist.
fn seconds(stamp: &[u8]) -> Option<u64> {
    let number = |from: usize, to: usize| {
        stamp[from..to].iter().fold(0u64, |sum, digit| sum * 10 + u64::from(digit.wrapping_sub(b'0')))
    };
    let (year, month, day) = (number(1, 5), number(5, 7), number(7, 9));
    let (hour, minute, second) = (number(10, 12), number(12, 14), number(14, 16));
    if year == 0 || !(1..=12).contains(&month) || day == 0 || day > days_in(year, month) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some(days_before(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

/// The error for a text that is not the id of a governed run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunIdError {
    got: String,
    why: &'static str,
}

impl RunIdError {
    /// The maximum length of a bad id in a message; the rest is cut.
    const SHOWN: usize = 80;

    fn new(got: &str, why: &'static str) -> Self {
        RunIdError { got: got.chars().take(Self::SHOWN).collect(), why }
    }
}

impl fmt::Display for RunIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no run id: {}; expected RUN-PROJECT-YYYYMMDD-hhmmss", self.got, self.why)
    }
}

impl Error for RunIdError {}
