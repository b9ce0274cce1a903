//! The table of a timeline.

use std::fmt;

use unicode_width::UnicodeWidthStr;

use super::fit::{cut, folded};
use super::subjects::Subjects;
use super::{GAP, HEAD, INDENT, LEAST, MUCH, PAUSE, Row, Spent, Timeline};
use crate::pause::longest_to_scale;
use crate::span::Precision;

impl Timeline<'_> {
    /// The pause before each row, if it is a long one and no part of the row's own wait. A pause is free of events of all runs.
    fn pauses(&self) -> Vec<Option<crate::span::Span>> {
        let mut times: Vec<u64> = self.rows.iter().map(|row| row.at_ms).collect();
        times.sort_unstable();
        let first = self.rows.front().map_or(0, |row| row.at_ms);
        let (mut latest, mut is_timed) = (first.max(self.left_out_ms), true);
        let before = |row: &Row| {
            // The next event after the latest one may be in a later row, of another run.
            let next = times.get(times.partition_point(|at_ms| *at_ms <= latest));
            let is_next = next == Some(&row.at_ms);
            // An event without a time may be anywhere in the time around it.
            let pause = if is_timed && row.is_timed && is_next { row.at_ms - latest } else { 0 };
            (latest, is_timed) = (latest.max(row.at_ms), row.is_timed);
            pause
        };
        let pauses: Vec<u64> = self.rows.iter().map(before).collect();
        let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let limit = longest_to_scale(&gaps);
        let is_shown = |row: &Row, pause: u64| {
            pause > limit
                && !(row.waited.is_some() && matches!(row.spent, Spent::Known(spent) if spent.ms >= pause))
        };
        let shown = self.rows.iter().zip(pauses);
        shown.map(|(row, pause)| is_shown(row, pause).then_some(crate::span::Span(pause))).collect()
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, line: &str) -> fmt::Result {
        writeln!(f, "{}", cut(line.trim_end(), self.width))
    }
}

impl fmt::Display for Timeline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [mut time, mut spent, mut subject, mut what] = HEAD.map(UnicodeWidthStr::width);
        let (pauses, (open, more_open)) = (self.pauses(), self.still_waiting());
        for wait in &open {
            spent = spent.max(wait.spent.width());
            subject = subject.max(wait.lifecycle.width() + 1 + wait.instance.width());
            what = what.max(wait.what.width());
        }
        let precision = Precision::of(self.rows.iter().filter(|row| row.is_timed).map(|row| row.since(self)));
        for (row, pause) in self.rows.iter().zip(&pauses) {
            what = what.max(row.waits().width());
            spent = spent.max(pause.map_or(0, |pause| pause.to_string().width()));
            time = time.max(row.time(self, precision).width());
            spent = spent.max(row.spent().width());
            subject = subject.max(row.lifecycle.width() + 1 + row.instance(self).width());
            what = what.max(row.what.width());
        }
        // One column stays free before the time, to separate the table from its surroundings.
        time += 1;
        let room = self.width.saturating_sub(time + spent + 3 * GAP);
        let mut is_folded = false;
        if subject + what > room {
            let least = (room / 3).max((room / 2).min(MUCH));
            subject = subject.min(room.saturating_sub(what).max(least));
            is_folded = subject + what > room;
        }
        // In a very narrow table, the instances have no room beside the times.
        let is_stacked = room < LEAST;
        let instances = self.instances(&open);
        let mut subjects = Subjects::new(&instances, subject);
        if is_folded || subjects.has_numbers() {
            // On lines of their own, the instances have room for names that differ.
            let wide = Subjects::new(&instances, room + GAP);
            if is_folded || !wide.has_numbers() {
                (is_folded, subject, subjects) = (true, room + GAP, wide);
            }
        }
        if is_stacked {
            (is_folded, subject) = (true, self.width.saturating_sub(INDENT.len()));
            subjects = Subjects::new(&instances, subject);
        }
        let line = |f: &mut fmt::Formatter<'_>,
                    time_cell: &str,
                    spent_cell: &str,
                    subject_cell: &str,
                    what: &str| {
            let times = format!("{time_cell:>time$}  {spent_cell:>spent$}");
            if is_stacked {
                self.write(f, &times)?;
                self.write(f, &format!("{INDENT}{subject_cell}"))?;
                return self.write(f, &format!("{INDENT}{what}"));
            }
            let row = format!("{times}  {subject_cell}");
            if is_folded {
                self.write(f, &row)?;
                return self.write(f, &format!("{INDENT}{what}"));
            }
            let pad = " ".repeat(subject.saturating_sub(subject_cell.width()));
            self.write(f, &format!("{row}{pad}  {what}"))
        };
        line(f, HEAD[0], HEAD[1], &cut(HEAD[2], subject), HEAD[3])?;
        if self.left_out > 0 {
            let s = if self.left_out == 1 { "" } else { "s" };
            let illegal = match self.illegal_left_out {
                0 => String::new(),
                illegal => format!(", {illegal} illegal"),
            };
            self.write(f, &format!("… {} transition{s} before these{illegal}", self.left_out))?;
        }
        for (row, pause) in self.rows.iter().zip(pauses) {
            let subject = subjects.shown(row.number);
            if let Some(pause) = pause {
                line(f, "", &pause.to_string(), "", PAUSE)?;
            }
            if row.waited.is_some() {
                line(f, "", &row.spent(), subject, &row.waits())?;
            }
            line(f, &row.time(self, precision), &row.spent(), subject, &row.what)?;
        }
        for wait in open {
            line(f, "", &wait.spent, subjects.shown(wait.number), &wait.what)?;
        }
        if more_open > 0 {
            let waits = if more_open == 1 { "instance still waits" } else { "instances still wait" };
            self.write(f, &format!("… and {more_open} more {waits}"))?;
        }
        let has = |is: fn(&Row) -> bool| self.rows.iter().any(is);
        let marks = [
            (has(|row| row.is_illegal), "! is illegal"),
            (has(|row| row.is_back), "< is earlier than the transition before it in its run"),
            (has(|row| !row.is_timed), "? has no time in the trace"),
        ];
        for (_, mark) in marks.iter().filter(|(occurs, _)| *occurs) {
            folded(mark, self.width).iter().try_for_each(|line| self.write(f, line))?;
        }
        if let Some(interruption) = &self.interruption {
            folded(&format!("The trace is not whole: {interruption}."), self.width)
                .iter()
                .try_for_each(|line| self.write(f, line))?;
        }
        Ok(())
    }
}
