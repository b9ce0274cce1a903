//! Lists of runs, as keyset pages.

use std::collections::{BTreeMap, BTreeSet};

use runstate::service_run::{FinalStatus, ServiceRunStatus};
use serde::{Deserialize, Serialize};

use super::StoredRun;
use crate::rows::StepName;

/// The order of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListSort {
    /// The newest run first.
    #[default]
    Newest,
    /// The oldest run first.
    Oldest,
    /// The run that changed last first. A run that changes between two pages can be on neither or on both.
    Changed,
}

/// The place of a run in a list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunPosition {
    /// The time by which the list is sorted, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// The id.
    pub id: String,
}

/// A query for a page of runs.
///
/// ```
/// use runstate_service::ListQuery;
///
/// let query = ListQuery { text: Some("usdc".into()), ..ListQuery::first(20) };
/// assert_eq!(query.limit, 20);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    /// The maximum number of runs.
    pub limit: usize,
    /// The order. Default: the newest run first.
    pub sort: ListSort,
    /// The position of the last run of the page before. Default: none, for the first page.
    pub after: Option<RunPosition>,
    /// The statuses. Default: all.
    pub statuses: BTreeSet<ServiceRunStatus>,
    /// The final status. Default: any.
    pub final_status: Option<FinalStatus>,
    /// A part of the intent or of the id, in any case. Default: any.
    pub text: Option<String>,
    /// The earliest time of creation, in milliseconds since the Unix epoch. Default: any.
    pub since_ms: Option<u64>,
    /// The time of creation that is too late, in milliseconds since the Unix epoch. Default: none.
    pub until_ms: Option<u64>,
}

impl ListQuery {
    /// The first page of all runs.
    pub fn first(limit: usize) -> Self {
        ListQuery {
            limit,
            sort: ListSort::Newest,
            after: None,
            statuses: BTreeSet::new(),
            final_status: None,
            text: None,
            since_ms: None,
            until_ms: None,
        }
    }

    /// The place of a run in the list.
    pub fn position(&self, run: &RunInfo) -> RunPosition {
        let at_ms = match self.sort {
            ListSort::Newest | ListSort::Oldest => run.created_at_ms,
            ListSort::Changed => run.updated_at_ms,
        };
        RunPosition { at_ms, id: run.id.clone() }
    }

    /// Returns whether the first place is before the second one.
    pub fn is_before(&self, first: &RunPosition, second: &RunPosition) -> bool {
        match self.sort {
            ListSort::Newest | ListSort::Changed => first > second,
            ListSort::Oldest => first < second,
        }
    }

    /// Returns whether a run is in the list, on any page.
    pub fn matches(&self, run: &StoredRun) -> bool {
        let contains = |text: &String| {
            let text = text.to_lowercase();
            run.intent.to_lowercase().contains(&text) || run.id.to_lowercase().contains(&text)
        };
        (self.statuses.is_empty() || self.statuses.contains(&run.status))
            && (self.final_status.is_none() || self.final_status == run.final_status)
            && self.text.as_ref().is_none_or(contains)
            && self.since_ms.is_none_or(|since| run.created_at_ms >= since)
            && self.until_ms.is_none_or(|until| run.created_at_ms < until)
    }
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunInfo {
    /// The id.
    pub id: String,
    /// The version.
    pub version: u64,
    /// The time of creation, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// The time of the last change, in milliseconds since the Unix epoch.
    pub updated_at_ms: u64,
    /// The status.
    pub status: ServiceRunStatus,
    /// The final status of the last pass.
    pub final_status: Option<FinalStatus>,
    /// The node that executes, or executed last.
    pub current_step: Option<StepName>,
    /// The intent.
    pub intent: String,
}

impl From<&StoredRun> for RunInfo {
    fn from(run: &StoredRun) -> Self {
        RunInfo {
            id: run.id.clone(),
            version: run.version,
            created_at_ms: run.created_at_ms,
            updated_at_ms: run.updated_at_ms,
            status: run.status,
            final_status: run.final_status,
            current_step: run.current_step,
            intent: run.intent.clone(),
        }
    }
}

/// A page of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPage {
    /// The runs, in the order of the query.
    pub runs: Vec<RunInfo>,
    /// The position for the next page. None if this page is the last.
    pub next: Option<RunPosition>,
    /// The number of runs on all pages, by status.
    pub counts: BTreeMap<ServiceRunStatus, usize>,
}
