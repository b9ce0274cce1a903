//! The reports of tool calls. The last ones are in RUN_STATE.json. Older ones are moved to RUN_REPORTS.jsonl, one per
//! line. So the state of a run with many tools does not contain all reports.

use std::io;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use runstate_runtime::files::{Disk, Open};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::chain::digest;
use super::logs::Lines;
use super::notes::ToolReport;
use super::timestamp::Timestamp;

/// The most reports in RUN_STATE.json, and the number that stays when the others are moved.
const MOST: usize = 96;
const STAY: usize = 32;
/// The size limit of these reports in bytes. A state that is too large could not be written, and its run could never
/// end.
const MOST_BYTES: usize = 1 << 20;

/// All reports of a run. RUN_STATE.json contains the ones after the moved ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Reports {
    all: Vec<ToolReport>,
    moved: usize,
}

/// The part of RUN_REPORTS.jsonl that belongs to the state. Later lines were not known to be written, and are written
/// again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Moved {
    reports: usize,
    bytes: u64,
    /// The chained digest of these lines. The digest of each line also covers the previous digest.
    digest: String,
}

impl Deref for Reports {
    type Target = Vec<ToolReport>;

    fn deref(&self) -> &Vec<ToolReport> {
        &self.all
    }
}

impl DerefMut for Reports {
    fn deref_mut(&mut self) -> &mut Vec<ToolReport> {
        &mut self.all
    }
}

impl Serialize for Reports {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.all[self.moved..])
    }
}

impl<'de> Deserialize<'de> for Reports {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Reports { all: Vec::deserialize(deserializer)?, moved: 0 })
    }
}

impl Reports {
    /// Moves all but the last reports to the file, if there are many. The next state counts them as moved.
    pub(super) fn make_room(
        &mut self,
        disk: &dyn Disk,
        path: &Path,
        before: &mut Option<Moved>,
    ) -> io::Result<()> {
        let Some(end) = self.end_of_moved() else { return Ok(()) };
        // If the file cannot be opened, the reports stay in the state.
        let Ok(mut file) = Lines::open(disk, path, Open::Append) else { return Ok(()) };
        let mut moved = before.take().unwrap_or_default();
        file.cut(moved.bytes)?;
        let mut text = String::new();
        for report in &self.all[self.moved..end] {
            let line = serde_json::to_string(report).map_err(io::Error::other)?;
            moved.follow(&line);
            text.push_str(&line);
            text.push('\n');
        }
        file.append(&text)?;
        self.moved = end;
        *before = Some(moved);
        Ok(())
    }

    /// The number of reports to count as moved, according to their number and their size; `None` if nothing is to be
    /// moved. The report of a call in progress stays.
    fn end_of_moved(&self) -> Option<usize> {
        let here = &self.all[self.moved..];
        let by_number = if here.len() > MOST { here.len() - STAY } else { 0 };
        let sizes = here.iter().rev().map(|report| serde_json::to_vec(report).map_or(0, |text| text.len()));
        let stay = sizes.scan(0, |all, size| {
            *all += size;
            Some(*all)
        });
        let under_way = usize::from(here.last().is_some_and(|report| report.ended.is_none()));
        let stay = stay.take_while(|all| *all <= MOST_BYTES).count().max(under_way);
        let end = by_number.max(here.len().saturating_sub(stay));
        (end > 0).then_some(self.moved + end)
    }

    /// Reads the moved reports. Returns `false` if the file does not belong to the state. A single report about the
    /// loss then replaces them.
    pub(super) fn read_moved(
        &mut self,
        disk: &dyn Disk,
        path: &Path,
        told: &Moved,
        at: Timestamp,
    ) -> io::Result<bool> {
        // An unreadable file does not stop the run. Its reports are lost.
        let text = disk.open(path, Open::Read).and_then(|mut file| file.read_from(0, told.bytes));
        let text = text.unwrap_or_default();
        let (mut found, mut reports) = (Moved::default(), Vec::new());
        for line in std::str::from_utf8(&text).unwrap_or_default().lines() {
            found.follow(line);
            reports.extend(runstate::json::from_str::<ToolReport>(line).ok());
        }
        let is_whole = found == *told && reports.len() == told.reports;
        if is_whole {
            self.moved = reports.len();
        } else {
            let why = match text.len() as u64 {
                length if length < told.bytes => format!("has {length} bytes of {}", told.bytes),
                _ => "is not the file that was written".to_owned(),
            };
            let why = format!("{} {why}: {} reports are lost", path.display(), told.reports);
            let lost = ToolReport::begun("[unknown]", 0, 0, at.ms());
            reports = vec![ToolReport { ended: Some(at), error: Some(why), ..lost }];
        }
        self.all.splice(..0, reports);
        Ok(is_whole)
    }
}

impl Moved {
    /// Counts a line, without its line feed.
    fn follow(&mut self, line: &str) {
        self.reports += 1;
        self.bytes += line.len() as u64 + 1;
        self.digest = digest([self.digest.as_bytes(), line.as_bytes()].concat());
    }
}
