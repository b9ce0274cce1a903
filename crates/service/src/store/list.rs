//! Lists of runs, as keyset pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

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
    /// Whether the page has the counts of all pages. They cost a look at each run of the list. Default: no.
    pub counts: bool,
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
            counts: false,
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

/// A run in a list whose row cannot be read: another program, or another version of this one, wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadableRun {
    /// The id.
    pub id: String,
    /// The column and its problem. At most 300 characters.
    pub reason: String,
}

impl UnreadableRun {
    /// Creates an entry, for stores. The reason is cut after 300 characters.
    pub fn new(id: impl Into<String>, reason: impl fmt::Display) -> Self {
        const MAX_REASON: usize = 300;
        let mut reason = reason.to_string();
        if let Some((end, _)) = reason.char_indices().nth(MAX_REASON) {
            reason.truncate(end);
            reason.push('…');
        }
        UnreadableRun { id: id.into(), reason }
    }
}

/// The key of [`RunPage::counts`] for runs whose status is no name.
const NO_NAME: &str = "unreadable";

/// A page of runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunPage {
    /// The runs, in the order of the query.
    pub runs: Vec<RunInfo>,
    /// The runs of the page that cannot be read, in the order of the query. Each takes one of the places of the page,
    /// unless its place itself cannot be read.
    pub unreadable: Vec<UnreadableRun>,
    /// The position for the next page. None if this page is the last.
    pub next: Option<RunPosition>,
    /// The number of runs on all pages, by the name of the status. A status that this version does not know has its own
    /// name; runs whose status is no name are counted as `unreadable`. None unless the query asks for it.
    pub counts: Option<BTreeMap<String, usize>>,
}

/// Fills a page with the rows of a list, for stores.
///
/// ```
/// use runstate_service::{ListQuery, PageRows, RunPosition, UnreadableRun};
///
/// let query = ListQuery::first(1);
/// let mut page = PageRows::new(&query);
/// let unreadable = || UnreadableRun::new("r2", "status: it is NULL");
/// let position = RunPosition { at_ms: 7, id: "r2".into() };
/// assert!(page.push_unreadable(unreadable(), Some(position.clone())));
/// assert!(!page.push_unreadable(unreadable(), None), "the page is full");
/// assert_eq!(page.finish(None).next, Some(position));
/// ```
#[derive(Debug)]
pub struct PageRows<'q> {
    query: &'q ListQuery,
    page: RunPage,
    placed: usize,
    last: Option<RunPosition>,
}

impl<'q> PageRows<'q> {
    /// Creates an empty page of a query.
    pub fn new(query: &'q ListQuery) -> Self {
        PageRows { query, page: RunPage::default(), placed: 0, last: None }
    }

    /// Adds the next run. Returns `false` if the page is full: the run belongs to the next page.
    pub fn push(&mut self, run: RunInfo) -> bool {
        if self.is_full() {
            return false;
        }
        self.placed += 1;
        self.last = Some(self.query.position(&run));
        self.page.runs.push(run);
        true
    }

    /// Adds the next run, which cannot be read. Without a position it takes no place, since no page can begin after it.
    /// Returns `false` if the page is full: the run belongs to the next page.
    pub fn push_unreadable(&mut self, run: UnreadableRun, position: Option<RunPosition>) -> bool {
        if self.is_full() {
            return false;
        }
        if position.is_some() {
            self.placed += 1;
            self.last = position;
        }
        self.page.unreadable.push(run);
        true
    }

    /// Notes that a row follows if the page is full.
    fn is_full(&mut self) -> bool {
        let is_full = self.placed == self.query.limit;
        if is_full {
            self.page.next = self.last.take();
        }
        is_full
    }

    /// Returns the page. `counts` has the texts of statuses; none for a text that cannot be read.
    pub fn finish(self, counts: Option<Vec<(Option<String>, usize)>>) -> RunPage {
        let counts = counts.map(|counts| {
            let mut by_name = BTreeMap::new();
            for (status, count) in counts {
                let name = status.filter(|status| is_name(status)).unwrap_or_else(|| NO_NAME.to_owned());
                *by_name.entry(name).or_default() += count;
            }
            by_name
        });
        RunPage { counts, ..self.page }
    }
}

/// Returns whether a text may be the name of a status of another version.
fn is_name(status: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&status.len()) && status.bytes().all(is_plain)
}
