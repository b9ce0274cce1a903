//! The conformance tests of a lifecycle, from one line.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs, io};

use proptest::prelude::RngExt;
use runstate::kernel::{Persist, ReadRecord, Restore, Stateful};
use runstate::snapshot::Snapshot;
use runstate::testing::{RecordOf, Subject, exhaustive};
use serde::Serialize;
use serde_json::json;

use crate::fuzz::Fuzz;
use crate::regression::Regression;
use crate::subject::{Lifecycle, rng};
use crate::sut::Sut;

/// The environment variable with the time for random sequences, such as `5m`. The seed is then a fresh one, and is
/// written to standard error.
pub const FUZZ_FOR: &str = "RUNSTATE_FUZZ_FOR";

/// The environment variable with the seed of random sequences, to repeat a run.
pub const FUZZ_SEED: &str = "RUNSTATE_FUZZ_SEED";

/// The folder of regressions, in the package of the tests.
const FOLDER: &str = "fuzz-regressions";

/// Writes the conformance tests of a lifecycle, as a module of that name:
///
/// - each state reacts to each event as declared, and a refusal changes nothing;
/// - each transition is taken with the fewest sequences, each illegal event is sent, and random sequences with payloads
///   conform;
/// - with `stored`, a machine that is stored and restored after each event behaves as the original.
///
/// A [`Subject`] makes the machines and the payloads. It is an expression, and is evaluated for each test.
///
/// Random sequences have a fixed seed. `RUNSTATE_FUZZ_FOR=5m cargo test` sends them for that time, with a fresh seed, which
/// is written to standard error; `RUNSTATE_FUZZ_SEED` repeats it. A difference is shrunk. Its sequence is added to the file
/// `fuzz-regressions/LIFECYCLE.jsonl` in the package, which later tests replay first, and which `runstate show` draws.
///
/// ```
/// use runstate::testing::example::Doors;
///
/// runstate_fuzz::lifecycle_conformance!(doors: Doors, stored);
///
/// // The name becomes a module of tests: `cargo test doors::`.
/// # runstate_fuzz::conformance::each_pair(&Doors);
/// ```
#[macro_export]
macro_rules! lifecycle_conformance {
    ($name:ident: $subject:expr $(,)?) => {
        $crate::lifecycle_conformance!(@module $name, $subject, {});
    };
    ($name:ident: $subject:expr, stored $(,)?) => {
        $crate::lifecycle_conformance!(@module $name, $subject, {
            #[test]
            fn stored_machine_behaves_as_the_original() {
                $crate::conformance::stored(|| $subject);
            }
        });
    };
    (@module $name:ident, $subject:expr, { $($stored:tt)* }) => {
        #[cfg(test)]
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            #[test]
            fn each_state_reacts_to_each_event_as_declared() {
                $crate::conformance::each_pair(&$subject);
            }

            #[test]
            fn sequences_conform_and_take_each_transition() {
                $crate::conformance::sequences($subject, env!("CARGO_MANIFEST_DIR"));
            }

            $($stored)*
        }
    };
}

/// Checks the reaction of each state to each event.
///
/// # Panics
/// A state reacts otherwise than declared.
#[track_caller]
pub fn each_pair<S: Subject>(subject: &S) {
    if let Err(mismatch) = exhaustive(subject).check(<S::Machine as Stateful>::GRAPH) {
        panic!("{mismatch}");
    }
}

/// Sends sequences to a lifecycle. `package` is the folder of the package with the regressions.
///
/// # Panics
/// A difference was found, a transition was never taken, or a file of regressions or a variable cannot be used.
#[track_caller]
pub fn sequences<S: Subject>(subject: S, package: impl AsRef<Path>) {
    let name = <S::Machine as Stateful>::GRAPH.name;
    let file = package.as_ref().join(FOLDER).join(format!("{name}.jsonl"));
    let mut system = Lifecycle::new(subject);
    let map = system.map();
    let known = match fs::read_to_string(&file) {
        Ok(text) => Regression::read(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => panic!("{} cannot be read: {error}", file.display()),
    };
    let number = |known: &Regression| known.name.rsplit('-').next()?.parse::<usize>().ok();
    let taken = known.iter().filter_map(number).max().unwrap_or(0);
    let fuzz = budgeted(Fuzz::new(map.clone()).regressions(known), name);
    let report = fuzz.run(&mut system).unwrap_or_else(|unusable| panic!("{unusable}"));
    if report.is_clean() {
        return;
    }
    let new = report.findings.iter().filter(|finding| !finding.is_regression);
    let lines: String = (taken + 1..)
        .zip(new)
        .filter_map(|(number, finding)| Regression::write(finding, &map, &format!("{name}-{number}")))
        .collect();
    let told = match added(&file, &lines) {
        Ok(None) => String::new(),
        Ok(Some(path)) => {
            let path = path.display();
            format!(
                "\nthe new sequences are in {path}; `runstate show {path}` draws them, and later tests replay them first"
            )
        }
        Err(error) => format!("\nthe sequences cannot be kept in {}: {error}", file.display()),
    };
    panic!("{report}{told}");
}

/// Adds lines to a file. Returns its path, if there are any lines.
fn added(file: &Path, lines: &str) -> io::Result<Option<PathBuf>> {
    if lines.is_empty() {
        return Ok(None);
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut to = fs::OpenOptions::new().create(true).append(true).open(file)?;
    to.write_all(lines.as_bytes())?;
    Ok(Some(file.to_owned()))
}

/// Sets the time and the seed of the environment.
#[track_caller]
fn budgeted(fuzz: Fuzz, name: &str) -> Fuzz {
    let given = |variable: &str| env::var(variable).ok().filter(|text| !text.trim().is_empty());
    let seed = given(FUZZ_SEED).map(|text| {
        let seed = text.trim().parse::<u64>();
        seed.unwrap_or_else(|_| panic!("{FUZZ_SEED}: got {text:?}, expected a number from 0 to {}", u64::MAX))
    });
    let Some(text) = given(FUZZ_FOR) else { return fuzz.seed(seed.unwrap_or(0)) };
    let limit = duration(text.trim())
        .unwrap_or_else(|| panic!("{FUZZ_FOR}: got {text:?}, expected a time such as 30s, 5m or 1h"));
    let seed = seed.unwrap_or_else(|| RandomState::new().build_hasher().finish());
    // Also where the test passes: another run with the seed sends the same sequences.
    drop(writeln!(io::stderr(), "{name}: {text} of sequences with {FUZZ_SEED}={seed}"));
    let began = now();
    fuzz.seed(seed).time_limit(limit).clock(move || now().saturating_duration_since(began))
}

#[expect(clippy::disallowed_methods, reason = "the budget is a time of the machine")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

/// A time such as `500ms`, `30s`, `5m` or `1h`.
fn duration(text: &str) -> Option<Duration> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(end);
    let milliseconds = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(milliseconds).map(Duration::from_millis)
}

/// The number of sequences that are stored and restored, and their length.
const STORED: (u64, usize) = (64, 24);

/// Checks that a machine which is stored and restored after each event behaves as the original.
///
/// # Panics
/// A machine cannot be stored or restored, or behaves otherwise then.
#[track_caller]
pub fn stored<S: Subject>(subject: impl Fn() -> S)
where
    S::Machine: Persist + Restore,
    RecordOf<S>: Serialize + ReadRecord,
{
    let mut original = Lifecycle::new(subject());
    let mut stored = Lifecycle::new(subject());
    let map = original.map();
    let (sequences, length) = STORED;
    for seed in 0..sequences {
        let mut rng = rng(seed);
        let starts = (original.reset(), stored.reset());
        assert_eq!(starts.0, starts.1, "{}: two new machines start differently", map.name());
        let mut state = starts.0.ok().and_then(|name| map.state(&name)).unwrap_or_default();
        let mut events = Vec::new();
        for _ in 0..length {
            restore(&mut stored, &events);
            // Three events of four are of the state.
            let legal = map.legal(state);
            let at = match legal.as_slice() {
                [] => rng.random_range(0..map.events.len()),
                _ if rng.random_range(0..4) == 0 => rng.random_range(0..map.events.len()),
                legal => legal[rng.random_range(0..legal.len())],
            };
            let (event, payload) = (&map.events[at], json!({ "seed": rng.random::<u64>() }));
            events.push(event.as_str());
            let replies = (original.apply(event, &payload), stored.apply(event, &payload));
            let machines = (format!("{:?}", original.machine()), format!("{:?}", stored.machine()));
            assert_eq!(
                (&replies.0, machines.0),
                (&replies.1, machines.1),
                "{}: a machine that was stored behaves otherwise after {}",
                map.name(),
                events.join(", ")
            );
            state = replies.0.ok().and_then(|reply| map.state(&reply.state)).unwrap_or(state);
        }
    }
}

/// Replaces the machine by its stored form.
#[track_caller]
fn restore<S: Subject>(system: &mut Lifecycle<S>, events: &[&str])
where
    S::Machine: Persist + Restore,
    RecordOf<S>: Serialize + ReadRecord,
{
    let name = <S::Machine as Stateful>::GRAPH.name;
    let after = if events.is_empty() { "its creation".to_owned() } else { events.join(", ") };
    let Some(machine) = system.machine() else {
        panic!("{name}: the machine was lost in a panic after {after}")
    };
    let stored = Snapshot::of(machine)
        .unwrap_or_else(|error| panic!("{name} cannot be stored after {after}: {error}"))
        .to_json();
    let restored = serde_json::from_str::<Snapshot>(&stored).map_err(|error| error.to_string());
    let restored = restored.and_then(|stored| stored.restore().map_err(|error| error.to_string()));
    match restored {
        Ok(machine) => system.replace(machine),
        Err(error) => panic!("{name} cannot be restored after {after}: {error}"),
    }
}
