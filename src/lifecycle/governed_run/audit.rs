//! The audit of a run: reviewers, their verdicts, and the proof that all of them passed it.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The reviewers of a run: at least one, each named once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Reviewers(Vec<String>);

impl Reviewers {
    /// Makes the list of reviewers from their names.
    ///
    /// # Errors
    /// [`ReviewersError`] when the list is empty, when a name is blank, or when a name occurs twice: an audit without
    /// reviewers would pass every run.
    pub fn new<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Result<Self, ReviewersError> {
        Reviewers::try_from(names.into_iter().map(Into::into).collect::<Vec<_>>())
    }

    /// Their names, in the order given.
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

impl TryFrom<Vec<String>> for Reviewers {
    type Error = ReviewersError;

    fn try_from(names: Vec<String>) -> Result<Self, ReviewersError> {
        if names.is_empty() {
            return Err(ReviewersError::None);
        }
        for (i, name) in names.iter().enumerate() {
            if name.trim().is_empty() {
                return Err(ReviewersError::Blank);
            }
            if names[..i].contains(name) {
                return Err(ReviewersError::Twice { reviewer: name.clone() });
            }
        }
        Ok(Reviewers(names))
    }
}

impl From<Reviewers> for Vec<String> {
    fn from(reviewers: Reviewers) -> Self {
        reviewers.0
    }
}

/// The reason why a list of names is no list of reviewers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReviewersError {
    /// The list is empty.
    None,
    /// A name is empty or white space.
    Blank,
    /// A name occurs twice.
    Twice {
        /// The repeated name.
        reviewer: String,
    },
}

impl fmt::Display for ReviewersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReviewersError::None => f.write_str("an audit needs at least one reviewer, got none"),
            ReviewersError::Blank => f.write_str("a reviewer needs a name, got a blank one"),
            ReviewersError::Twice { reviewer } => write!(f, "reviewer {reviewer:?} is listed twice"),
        }
    }
}

impl Error for ReviewersError {}

/// The verdict of one reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    reviewer: String,
    opinion: Opinion,
    note: String,
}

/// The opinion of a verdict. Only `Pass` passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opinion {
    /// The reviewer has no objection to the run.
    Pass,
    /// The reviewer objects to the run.
    Fail,
    /// The reviewer could not decide.
    Unclear,
}

impl Verdict {
    /// Makes a verdict with a note for people.
    pub fn new(reviewer: impl Into<String>, opinion: Opinion, note: impl Into<String>) -> Self {
        Verdict { reviewer: reviewer.into(), opinion, note: note.into() }
    }

    /// The reviewer.
    pub fn reviewer(&self) -> &str {
        &self.reviewer
    }

    /// The opinion.
    pub fn opinion(&self) -> Opinion {
        self.opinion
    }

    /// The reviewer's note.
    pub fn note(&self) -> &str {
        &self.note
    }
}

/// The proof that a run passed its audit: one verdict of each reviewer, and each verdict is [`Opinion::Pass`].
///
/// It fails closed: a missing or unclear verdict, or one that cannot be understood, is no pass.
///
/// ```
/// use runstate::governed_run::{AuditPass, Opinion, Reviewers, Verdict};
///
/// let reviewers = Reviewers::new(["security", "quality"])?;
/// let security = Verdict::new("security", Opinion::Pass, "no secrets touched");
/// // One reviewer gave no verdict.
/// let not_passed = AuditPass::new(&reviewers, vec![security.clone()]).unwrap_err();
/// assert_eq!(not_passed.to_string(), "the audit did not pass: quality gave no verdict");
/// let quality = Verdict::new("quality", Opinion::Pass, "tests cover the change");
/// assert!(AuditPass::new(&reviewers, vec![security, quality]).is_ok());
/// # Ok::<(), runstate::governed_run::ReviewersError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Verdict>", into = "Vec<Verdict>")]
pub struct AuditPass(Vec<Verdict>);

impl AuditPass {
    /// Makes the proof from the verdicts of all reviewers.
    ///
    /// # Errors
    /// [`AuditNotPassed`] with all objections: a reviewer without a verdict or with two, a verdict other than a pass,
    /// and a verdict of a person that is not a reviewer of this run.
    pub fn new(reviewers: &Reviewers, verdicts: Vec<Verdict>) -> Result<Self, AuditNotPassed> {
        let mut objections = Vec::new();
        for name in reviewers.names() {
            match verdicts.iter().filter(|v| v.reviewer == *name).count() {
                0 => objections.push(Objection::Missing { reviewer: name.clone() }),
                1 => {}
                _ => objections.push(Objection::Twice { reviewer: name.clone() }),
            }
        }
        for verdict in &verdicts {
            if !reviewers.names().contains(&verdict.reviewer) {
                objections.push(Objection::Unlisted { reviewer: verdict.reviewer.clone() });
            }
            if verdict.opinion != Opinion::Pass {
                objections.push(Objection::Against { verdict: verdict.clone() });
            }
        }
        if objections.is_empty() { Ok(AuditPass(verdicts)) } else { Err(AuditNotPassed { objections }) }
    }

    /// The verdicts.
    pub fn verdicts(&self) -> &[Verdict] {
        &self.0
    }

    /// Returns whether these reviewers, and no others, gave the verdicts.
    pub(super) fn is_of(&self, reviewers: &Reviewers) -> bool {
        let has = |name: &String| self.0.iter().any(|verdict| verdict.reviewer == *name);
        self.0.len() == reviewers.names().len() && reviewers.names().iter().all(has)
    }
}

impl From<AuditPass> for Vec<Verdict> {
    fn from(pass: AuditPass) -> Self {
        pass.0
    }
}

impl TryFrom<Vec<Verdict>> for AuditPass {
    type Error = String;

    fn try_from(verdicts: Vec<Verdict>) -> Result<Self, String> {
        let reviewers =
            Reviewers::new(verdicts.iter().map(|v| v.reviewer.as_str())).map_err(|e| e.to_string())?;
        AuditPass::new(&reviewers, verdicts).map_err(|e| e.to_string())
    }
}

/// The error for an audit that did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditNotPassed {
    objections: Vec<Objection>,
}

/// One objection against a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Objection {
    /// A reviewer gave no verdict.
    Missing {
        /// The reviewer.
        reviewer: String,
    },
    /// A reviewer gave more than one verdict.
    Twice {
        /// The reviewer.
        reviewer: String,
    },
    /// A person that is not a reviewer of the run gave a verdict.
    Unlisted {
        /// The person.
        reviewer: String,
    },
    /// A verdict other than a pass.
    Against {
        /// The verdict.
        verdict: Verdict,
    },
}

impl AuditNotPassed {
    /// All objections; never empty.
    pub fn objections(&self) -> &[Objection] {
        &self.objections
    }
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Objection::Missing { reviewer } => write!(f, "{reviewer} gave no verdict"),
            Objection::Twice { reviewer } => write!(f, "{reviewer} gave more than one verdict"),
            Objection::Unlisted { reviewer } => write!(f, "{reviewer} is no reviewer of this run"),
            Objection::Against { verdict } => {
                let says = match verdict.opinion {
                    Opinion::Pass => "passed it",
                    Opinion::Fail => "failed it",
                    Opinion::Unclear => "could not tell",
                };
                write!(f, "{} {says}: {}", verdict.reviewer, verdict.note)
            }
        }
    }
}

impl fmt::Display for AuditNotPassed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the audit did not pass: ")?;
        for (i, objection) in self.objections.iter().enumerate() {
            write!(f, "{}{objection}", if i == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl Error for AuditNotPassed {}
