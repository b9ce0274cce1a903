//! The audit of a run: reviewers, their verdicts, and the proof that all of them passed.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Who reviews a run: at least one, each named once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Reviewers(Vec<String>);

impl Reviewers {
    /// Reviewers of those names.
    ///
    /// # Errors
    /// [`ReviewersError`] when there is none, when a name is blank, or when one occurs twice: an audit by nobody would
    /// pass every run.
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

/// Why a list of names is no list of reviewers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReviewersError {
    /// The list is empty.
    None,
    /// A name is empty or white space.
    Blank,
    /// A name occurs twice.
    Twice {
        /// The name.
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

/// What one reviewer says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    reviewer: String,
    opinion: Opinion,
    note: String,
}

/// What a verdict comes to. Only `Pass` passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opinion {
    /// Nothing speaks against the run.
    Pass,
    /// Something does.
    Fail,
    /// The reviewer could not tell.
    Unclear,
}

impl Verdict {
    /// A verdict with a note for people.
    pub fn new(reviewer: impl Into<String>, opinion: Opinion, note: impl Into<String>) -> Self {
        Verdict { reviewer: reviewer.into(), opinion, note: note.into() }
    }

    /// Whose it is.
    pub fn reviewer(&self) -> &str {
        &self.reviewer
    }

    /// What it comes to.
    pub fn opinion(&self) -> Opinion {
        self.opinion
    }

    /// What the reviewer says about it.
    pub fn note(&self) -> &str {
        &self.note
    }
}

/// The proof that a run passed its audit: one verdict of each reviewer, and each of them [`Opinion::Pass`].
///
/// It fails closed: whatever is missing, unclear or not understood is no pass. Document 001, "State Definitions".
///
/// ```
/// use runstate::governed_run::{AuditPass, Opinion, Reviewers, Verdict};
///
/// let reviewers = Reviewers::new(["security", "quality"])?;
/// let security = Verdict::new("security", Opinion::Pass, "no secrets touched");
/// // One reviewer said nothing.
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
    /// The proof, from the verdicts of all reviewers.
    ///
    /// # Errors
    /// [`AuditNotPassed`] with every objection: a reviewer without a verdict or with two, a verdict other than a pass, and
    /// a verdict of somebody who is no reviewer of this run.
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

    /// Is it the pass of just these reviewers?
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

/// Why an audit did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditNotPassed {
    objections: Vec<Objection>,
}

/// One thing that speaks against a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Objection {
    /// A reviewer gave no verdict.
    Missing {
        /// Who.
        reviewer: String,
    },
    /// A reviewer gave more than one verdict.
    Twice {
        /// Who.
        reviewer: String,
    },
    /// Somebody gave a verdict who is no reviewer of the run.
    Unlisted {
        /// Who.
        reviewer: String,
    },
    /// A verdict other than a pass.
    Against {
        /// The verdict.
        verdict: Verdict,
    },
}

impl AuditNotPassed {
    /// All that speaks against a pass; never empty.
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
