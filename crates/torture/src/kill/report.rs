//! The report at the end.

use std::fmt;

use super::Options;
use super::strike::Strikes;
use crate::judge::{Facts, Violation};
use crate::ledger::Entries;

/// The result of a campaign.
#[derive(Debug, Clone)]
pub struct Report {
    /// The settings.
    pub options: Options,
    /// The kills.
    pub strikes: Strikes,
    /// The number of received events.
    pub received: u64,
    /// The ledger.
    pub entries: Entries,
    /// The figures.
    pub facts: Facts,
    /// The violations.
    pub violations: Vec<Violation>,
}

impl Report {
    /// The required situations that never occurred: they are not tested.
    pub fn too_seldom(&self) -> Vec<&'static str> {
        let Report { strikes, facts, .. } = self;
        let reply = |word: &str| facts.replies.get(word).copied().unwrap_or(0);
        let counts = [
            ("runs with one commit a step", facts.stepwise, 5),
            ("runs that went on under another lease", facts.taken_over, 20),
            ("decisions that were accepted", reply("accepted"), 5),
            ("calls in doubt", facts.doubts.0 + facts.doubts.1, 100),
            ("executions that were repeated", facts.again, 100),
            ("decisions in conflict", reply("conflict"), 100),
            ("decisions that came twice", reply("duplicate"), 100),
            ("suspensions that expired", facts.lapsed, 100),
            ("messages that superseded", facts.messages.0, 100),
            ("runs that follow another one", facts.messages.1, 100),
            ("commits that were refused as fenced", facts.fenced, 200),
        ];
        let kills = strikes.kills();
        counts
            .into_iter()
            .filter(|(_, count, kills_for)| kills >= *kills_for && *count == 0)
            .map(|it| it.0)
            .collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { options, strikes, received, entries, facts, violations } = self;
        let line = |f: &mut fmt::Formatter<'_>, name: &str, what: &dyn fmt::Display| {
            writeln!(f, "| {name} | {what} |")
        };
        let list = |counts: &std::collections::BTreeMap<String, usize>| {
            let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
            counts.join(", ")
        };
        writeln!(f, "| {} | seed {} |\n|---|---|", options.store, options.seed)?;
        let Strikes { starting, after, anytime, stopped, paused } = strikes;
        let kills = format!(
            "{}: {starting} while a driver started, {after} right after an event, {anytime} at any time, {stopped} while \
             it was stopped",
            strikes.kills()
        );
        line(f, "kills", &kills)?;
        line(f, "drivers stopped for longer than their leases", paused)?;
        line(f, "runs", &format!("{}: {}", facts.runs, list(&facts.ends)))?;
        line(f, "runs with one commit a step", &facts.stepwise)?;
        line(f, "runs that went on under another lease", &facts.taken_over)?;
        line(f, "commits acknowledged", &facts.commits)?;
        line(f, "commits refused", &format!("{} as fenced, {} otherwise", facts.fenced, facts.refused))?;
        line(f, "events that 200 receivers got", received)?;
        line(f, "decisions", &list(&facts.replies))?;
        line(f, "suspensions expired", &facts.lapsed)?;
        let (resumed, given_up) = facts.doubts;
        let doubts = format!("{}: {resumed} resumed, {given_up} given up", resumed + given_up);
        line(f, "calls in doubt", &doubts)?;
        let (superseding, behind) = facts.messages;
        line(
            f,
            "messages",
            &format!("{superseding} superseded the waiting calls of a run, {behind} began a new run"),
        )?;
        line(f, "executions", &format!("{}, {} of them repeated", facts.executions, facts.again))?;
        line(f, "lines that a kill cut off", &entries.torn)?;
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
