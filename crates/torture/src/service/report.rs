//! The report at the end.

use std::collections::BTreeMap;
use std::fmt;

use super::judge::Facts;
use crate::judge::Violation;
use crate::kill::{Options, Strikes};

/// The result of a campaign.
#[derive(Debug, Clone)]
pub struct Report {
    /// The settings.
    pub options: Options,
    /// The kills.
    pub strikes: Strikes,
    /// The number of lines that a kill cut off.
    pub torn: usize,
    /// The figures.
    pub facts: Facts,
    /// The violations.
    pub violations: Vec<Violation>,
}

impl Report {
    /// The required situations that never occurred: they are not tested.
    pub fn too_seldom(&self) -> Vec<&'static str> {
        let Report { strikes, facts, .. } = self;
        let status = |name: &str| facts.statuses.get(name).copied().unwrap_or(0);
        let counts = [
            ("requests that were carried out", facts.done, 5),
            ("requests that were refused", facts.refused, 5),
            ("confirmed runs", status("CONFIRMED"), 20),
            ("rejected runs", status("REJECTED"), 20),
            ("passes that went on under another lease", facts.taken_over, 20),
            ("reverted runs", status("REVERTED"), 100),
            ("requests that a killed process had carried out, and another one repeated", facts.survived, 100),
            ("resumed runs", facts.resumed, 100),
            ("passes with a repair", facts.repaired, 100),
            ("commits that were refused as fenced", facts.fenced, 200),
        ];
        let kills = strikes.kills();
        let is_missing = |count: usize, kills_for: u32| kills >= kills_for && count == 0;
        counts
            .into_iter()
            .filter(|(_, count, kills_for)| is_missing(*count, *kills_for))
            .map(|it| it.0)
            .collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { options, strikes, torn, facts, violations } = self;
        let line = |f: &mut fmt::Formatter<'_>, name: &str, value: &dyn fmt::Display| {
            writeln!(f, "| {name} | {value} |")
        };
        let list = |counts: &BTreeMap<String, usize>| {
            let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
            counts.join(", ")
        };
        writeln!(f, "| {}, service runs | seed {} |\n|---|---|", options.store, options.seed)?;
        let Strikes { starting, after, anytime, stopped, paused } = strikes;
        let kills = format!(
            "{}: {starting} while a process started, {after} right after an event, {anytime} at any time, {stopped} while \
             it was stopped",
            strikes.kills()
        );
        line(f, "kills", &kills)?;
        line(f, "processes stopped for longer than their leases", paused)?;
        line(f, "runs", &format!("{}: {}", facts.runs, list(&facts.statuses)))?;
        line(f, "passes", &format!("{}, {} of them with a repair", facts.passes, facts.repaired))?;
        line(f, "passes that went on under another lease", &facts.taken_over)?;
        line(f, "runs that lost too many drivers", &facts.given_up)?;
        line(f, "changes acknowledged", &facts.changes)?;
        line(f, "commits refused as fenced", &facts.fenced)?;
        let requests = format!("{} carried out, {} refused", facts.done, facts.refused);
        line(f, "requests", &requests)?;
        let survived = format!("{}, {} of them by a killed process", facts.repeated, facts.survived);
        line(f, "repeated requests that were carried out before", &survived)?;
        line(f, "resumed runs", &facts.resumed)?;
        line(f, "transactions sent", &facts.paid)?;
        line(f, "lines that a kill cut off", torn)?;
        line(f, "violations", &violations.len())?;
        for violation in violations.iter().take(20) {
            writeln!(f, "{violation}")?;
        }
        for name in self.too_seldom() {
            writeln!(f, "too seldom: {name}")?;
        }
        Ok(())
    }
}
