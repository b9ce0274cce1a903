//! The reports of the calls of tools. The last ones are in RUN_STATE.json; those before them are moved to RUN_REPORTS.jsonl, a line
//! each, so that the state of a run of many tools is not written anew with each report there ever was.

use std::io;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::chain::digest;
use super::logs::Lines;
use super::notes::ToolReport;
use super::when::When;
use crate::files::{Disk, Open};

/// The most reports in RUN_STATE.json, and how many stay there when the others are moved.
const MOST: usize = 96;
const STAY: usize = 32;
/// The most bytes of them there: a state that is too long cannot be written, and its run ends by no command.
const MOST_BYTES: usize = 1 << 20;

/// All reports of a run. In RUN_STATE.json stand those behind the moved ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Reports {
    all: Vec<ToolReport>,
    moved: usize,
}

/// How much of RUN_REPORTS.jsonl belongs to the state: lines behind that were not known to be written, and are written again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Moved {
    reports: usize,
    bytes: u64,
    /// That of each line is over the digest of the line before too.
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
    /// Moves all but the last reports to the file, where there are many. The state that counts them as moved is written next.
    pub(super) fn make_room(
        &mut self,
        disk: &dyn Disk,
        path: &Path,
        before: &mut Option<Moved>,
    ) -> io::Result<()> {
        let Some(end) = self.end_of_moved() else { return Ok(()) };
        // Where there is no file to move them to, they stay in the state.
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

    /// How many reports are moved now, if any: by their number, and by their size. The report of a call under way stays.
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

    /// Reads the moved reports. Returns false where the file is not the one that the state was written with: one report takes their place,
    /// and says so.
    pub(super) fn read_moved(
        &mut self,
        disk: &dyn Disk,
        path: &Path,
        told: &Moved,
        at: When,
    ) -> io::Result<bool> {
        // A file that cannot be read, or is none, holds no run up: its reports are lost.
        let text = disk.open(path, Open::Read).and_then(|mut file| file.read_from(0, told.bytes));
        let text = text.unwrap_or_default();
        let (mut found, mut reports) = (Moved::default(), Vec::new());
        for line in std::str::from_utf8(&text).unwrap_or_default().lines() {
            found.follow(line);
            reports.extend(crate::json::from_str::<ToolReport>(line).ok());
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
