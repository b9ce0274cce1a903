//! Many cases, on several threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use runstate::trace::Coverage;

use crate::case::{Case, Trouble, calm, generate, shrink};
use crate::judge::{Violation, judge, same_end};
use crate::play::{Seen, What, play};
use crate::situations::Situations;
use crate::threads::{self, Death, Talk};

/// The share of cases that also die at every commit point: one in this number.
const SWEEP: u64 = 16;

/// The share of seeds with a conversation beside their case: one in this number. One in `SWEEP` conversations also dies at
/// every write.
const TALK: u64 = 4;

/// The result of a campaign.
#[derive(Debug, Default)]
pub struct Found {
    /// The number of generated and played cases.
    pub cases: u64,
    /// The number of played runs, including the sweeps over commit points.
    pub plays: u64,
    /// The transitions that were taken.
    pub coverage: Coverage,
    /// The situations that occurred.
    pub situations: Situations,
    /// The first failure, or all failures.
    pub failures: Vec<Failure>,
    /// The first conversation that failed, or all.
    pub talks: Vec<FailedTalk>,
}

/// A conversation that failed.
#[derive(Debug, Clone)]
pub struct FailedTalk {
    /// The conversation, with its seed.
    pub talk: Talk,
    /// The broken promises.
    pub violations: Vec<Violation>,
}

/// A case that failed.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Its seed.
    pub seed: u64,
    /// The number of cases before it.
    pub after: u64,
    /// The case.
    pub case: Case,
    /// The broken promises.
    pub violations: Vec<Violation>,
}

/// Plays the cases of consecutive seeds; ends with the first failure, unless all failures are wanted.
pub fn campaign(first: u64, cases: u64, threads: usize, all_failures: bool) -> Found {
    let (next, stop) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
    let at: Vec<AtomicU64> = (0..threads.max(1)).map(|_| AtomicU64::new(OVER)).collect();
    let all = Mutex::new(Found::default());
    thread::scope(|scope| {
        scope.spawn(|| watch(&at));
        for at in &at {
            let (next, stop, all) = (&next, &stop, &all);
            at.store(first, Ordering::Relaxed);
            scope.spawn(move || {
                let mut found = Found::default();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= cases || number > stop.load(Ordering::Relaxed) {
                        break;
                    }
                    at.store(first + number, Ordering::Relaxed);
                    if let Some(failed) = found.talk(first + number) {
                        found.talks.push(failed);
                        if !all_failures {
                            stop.fetch_min(number, Ordering::Relaxed);
                            break;
                        }
                    }
                    if let Some(failure) = found.one(first + number, number) {
                        found.failures.push(failure);
                        if !all_failures {
                            stop.fetch_min(number, Ordering::Relaxed);
                            break;
                        }
                    }
                }
                at.store(OVER, Ordering::Relaxed);
                all.lock().unwrap_or_else(PoisonError::into_inner).merge(found);
            });
        }
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// In place of a seed: the thread has no seed left.
const OVER: u64 = u64::MAX;
/// The time limit of a case, in seconds of the machine's time. A case takes milliseconds; a slower one loops within one
/// instant of its own time.
const HANGS: u32 = 60;

/// Ends the process, with the seed, when a case hangs without advancing its time.
fn watch(at: &[AtomicU64]) {
    let mut before: Vec<(u64, u32)> = vec![(OVER, 0); at.len()];
    while at.iter().any(|seed| seed.load(Ordering::Relaxed) != OVER) {
        thread::sleep(Duration::from_millis(100));
        for (seed, (last, tenths)) in at.iter().map(|seed| seed.load(Ordering::Relaxed)).zip(&mut before) {
            *tenths = if seed == *last && seed != OVER { *tenths + 1 } else { 0 };
            *last = seed;
            if *tenths == HANGS * 10 {
                println!("seed {seed} fails:\n  hangs: it goes in circles within one instant");
                std::process::exit(1);
            }
        }
    }
}

impl Found {
    fn merge(&mut self, other: Found) {
        self.cases += other.cases;
        self.plays += other.plays;
        self.coverage.merge(&other.coverage);
        self.situations.merge(&other.situations);
        self.talks.extend(other.talks);
        self.talks.sort_by_key(|failed| failed.talk.seed);
        self.failures.extend(other.failures);
        self.failures.sort_by_key(|failure| failure.after);
    }

    fn one(&mut self, seed: u64, after: u64) -> Option<Failure> {
        self.cases += 1;
        let case = generate(seed);
        let (_, violations) = self.play(&case);
        if !violations.is_empty() {
            return Some(Failure { seed, after, case, violations });
        }
        if !seed.is_multiple_of(SWEEP) {
            return None;
        }
        let calm = calm(seed);
        let (undisturbed, violations) = self.play(&calm);
        if !violations.is_empty() {
            return Some(Failure { seed, after, case: calm, violations });
        }
        for trouble in deaths(&undisturbed) {
            let case = Case { troubles: vec![trouble], ..calm.clone() };
            let (disturbed, mut violations) = self.play(&case);
            violations.extend(same_end(&undisturbed, &disturbed));
            if !violations.is_empty() {
                return Some(Failure { seed, after, case, violations });
            }
        }
        None
    }

    /// Plays the conversation of a seed, if it has one.
    fn talk(&mut self, seed: u64) -> Option<FailedTalk> {
        if !seed.is_multiple_of(TALK) {
            return None;
        }
        let talk = threads::generate(seed);
        let (_, violations) = self.play_talk(&talk);
        if !violations.is_empty() {
            return Some(FailedTalk { talk, violations });
        }
        if !seed.is_multiple_of(TALK * SWEEP) {
            return None;
        }
        let calm = threads::calm(seed);
        let (writes, violations) = self.play_talk(&calm);
        if !violations.is_empty() {
            return Some(FailedTalk { talk: calm, violations });
        }
        let deaths = (1..=writes).flat_map(|write| [Death::Before(write), Death::After(write)]);
        deaths.into_iter().find_map(|death| {
            let talk = Talk { deaths: vec![death], ..calm.clone() };
            let (_, violations) = self.play_talk(&talk);
            (!violations.is_empty()).then_some(FailedTalk { talk, violations })
        })
    }

    /// Plays a conversation; returns the number of its writes, and the broken promises.
    fn play_talk(&mut self, talk: &Talk) -> (u32, Vec<Violation>) {
        self.plays += 1;
        let seen = threads::play(talk);
        self.situations.add_talk(&seen);
        (seen.writes, threads::judge(&seen))
    }

    fn play(&mut self, case: &Case) -> (Seen, Vec<Violation>) {
        self.plays += 1;
        let seen = play(case);
        let (violations, coverage) = judge(&seen);
        self.coverage.merge(&coverage);
        self.situations.add(&seen);
        (seen, violations)
    }
}

/// A death before and after each commit of the run.
fn deaths(seen: &Seen) -> Vec<Trouble> {
    let commits = seen.entries.iter().filter(|entry| matches!(entry.what, What::CommitBegan)).count();
    (1..=u32::try_from(commits).unwrap_or(u32::MAX))
        .flat_map(|commit| [Trouble::CrashBeforeCommit(commit), Trouble::CrashAfterCommit(commit)])
        .collect()
}

/// The broken promises of a case; for a case that dies, also the differences from the run without the death.
pub fn broken(case: &Case) -> Vec<Violation> {
    let seen = play(case);
    let (mut violations, _) = judge(&seen);
    let calm_but_for_a_death = case.crashes()
        && case.troubles.len() == 1
        && case.doubts_resume
        && case.cancel_ms.is_none()
        && case.timed.is_empty()
        && case.messages.is_empty()
        && case.acts.is_empty();
    if violations.is_empty() && calm_but_for_a_death {
        let undisturbed = play(&Case { troubles: Vec::new(), ..case.clone() });
        violations.extend(same_end(&undisturbed, &seen));
    }
    violations
}

/// The smallest found case that breaks one of these promises.
pub fn smallest(failure: &Failure) -> Case {
    let rules: Vec<&str> = failure.violations.iter().map(|violation| violation.rule.as_str()).collect();
    shrink(&failure.case, |case| {
        broken(case).iter().any(|violation| rules.contains(&violation.rule.as_str()))
    })
}

/// The smallest found conversation that breaks one of these promises.
pub fn smallest_talk(failed: &FailedTalk) -> Talk {
    let rules: Vec<&str> = failed.violations.iter().map(|violation| violation.rule.as_str()).collect();
    threads::shrink(&failed.talk, |talk| {
        threads::broken(talk).iter().any(|violation| rules.contains(&violation.rule.as_str()))
    })
}
