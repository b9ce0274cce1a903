//! Conformance tests from one line, for lifecycles with planted faults too.

use std::fmt;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::LazyJust;
use runstate::kernel::{Guard, Record};
use runstate::lifecycle;
use runstate::testing::example::Doors;
use runstate::testing::{RecordOf, Subject};
use runstate_fuzz::{Fuzz, Lifecycle, Regression, Survivors, Sut, conformance, detects_mutants, drive_bytes};
use serde::{Deserialize, Serialize};

runstate_fuzz::lifecycle_conformance!(doors: Doors, stored);
runstate_fuzz::lifecycle_conformance!(lamps: Lamps::whole());

lifecycle! {
    /// A lamp.
    pub mod lamp: Lamp(Wear), AnyLamp;
    version 1;
    diagram "lamp.md";

    status LampStatus { Off, On }
    event LampEvent { Press { .. }, Release }

    [*] --> Off;
    Off --> On  : press(Press) else WornOut;
    On  --> Off : release(Release);
}

/// The wear of a lamp, with the faults of a test.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Wear {
    /// Is not stored: a restored lamp forgets it.
    #[serde(skip)]
    breaks_after: Option<u32>,
    #[serde(skip)]
    panics: bool,
}

impl Record for Wear {}

#[derive(Debug)]
pub struct WornOut;

impl fmt::Display for WornOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the lamp is worn out")
    }
}

impl std::error::Error for WornOut {}

/// A press with its force.
#[derive(Debug)]
pub struct Press(u8);

impl Guard<Off, Press> for On {
    type Error = WornOut;

    fn check(_: &Off, event: &Press, wear: &Wear) -> Result<(), WornOut> {
        assert!(!wear.panics || event.0 < 200, "the lamp breaks");
        match wear.breaks_after {
            Some(most) if u32::from(event.0) >= most => Err(WornOut),
            _ => Ok(()),
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lamps {
    breaks_after: Option<u32>,
    panics: bool,
}

impl Lamps {
    pub(crate) fn whole() -> Self {
        Lamps::default()
    }
}

impl Subject for Lamps {
    type Machine = AnyLamp;

    fn record(&self) -> RecordOf<Self> {
        Wear { breaks_after: self.breaks_after, panics: self.panics }
    }

    fn event(&self, _: &AnyLamp, name: &'static str) -> BoxedStrategy<LampEvent> {
        match name {
            "press" => any::<u8>().prop_map(|force| Press(force).into()).boxed(),
            _ => LazyJust::new(|| Release.into()).boxed(),
        }
    }
}

/// The text of a panic.
fn panic_of(test: impl FnOnce()) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(test)).unwrap_err();
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().unwrap()).to_owned(),
    }
}

#[test]
fn difference_is_kept_as_a_regression_and_replayed_first() {
    let package = tempfile::tempdir().unwrap();
    let broken = || conformance::sequences(Lamps { panics: true, ..Lamps::whole() }, package.path());
    let first = panic_of(broken);
    assert!(first.contains("crash: ") && first.contains("the lamp breaks"), "{first}");
    let file = package.path().join("fuzz-regressions/lamp.jsonl");
    assert!(first.contains(&format!("runstate show {}", file.display())), "{first}");
    let kept = std::fs::read_to_string(&file).unwrap();
    assert_eq!(Regression::read(&kept).unwrap().len(), 1);

    let second = panic_of(broken);
    assert!(second.contains("a stored regression shows it"), "{second}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), kept, "a known difference is not added again");

    // With the mend the test passes, and the regression stays.
    conformance::sequences(Lamps::whole(), package.path());
    std::fs::write(&file, "noise\n").unwrap();
    let noise = panic_of(|| conformance::sequences(Lamps::whole(), package.path()));
    assert!(noise.contains("lamp.jsonl: line 1: "), "{noise}");
}

#[test]
fn transition_that_no_payload_takes_is_told() {
    let package = tempfile::tempdir().unwrap();
    let never = Lamps { breaks_after: Some(0), ..Lamps::whole() };
    let told = panic_of(|| conformance::each_pair(&never));
    assert!(told.contains("Off --> On : press"), "{told}");
    drop(package);
}

#[test]
fn value_that_is_not_stored_is_found() {
    let forgets = || Lamps { breaks_after: Some(100), ..Lamps::whole() };
    let told = panic_of(|| conformance::stored(forgets));
    assert!(told.contains("a machine that was stored behaves otherwise after press"), "{told}");
}

runstate_fuzz::lifecycle_fuzz_target!(Lamps { panics: true, ..Lamps::whole() });

/// Bytes of a fuzzer without guidance.
fn inputs() -> impl Iterator<Item = Vec<u8>> {
    (0..400_u64).map(|seed| {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let byte = |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[0]
        };
        (0..seed % 200).map(byte).collect()
    })
}

#[test]
fn bytes_of_a_fuzzer_drive_a_lifecycle() {
    inputs().for_each(|bytes| drive_bytes(Doors, &bytes));
    let crashes = |bytes: &Vec<u8>| std::panic::catch_unwind(|| target(bytes)).is_err();
    let found: Vec<Vec<u8>> = inputs().filter(crashes).collect();
    assert!(!found.is_empty(), "the bytes reach no force that breaks the lamp");
    assert!(found.iter().all(crashes), "the same bytes send other events");
    inputs().for_each(|bytes| drive_bytes(Lamps::whole(), &bytes));
}

/// Executes a test of this file in another process, with these variables.
fn child(variables: &[(&str, &str)]) -> (bool, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["conformance::doors::sequences", "--nocapture"]).envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text.into_owned())
}

#[test]
fn time_and_seed_come_from_the_environment() {
    let (passed, said) = child(&[(conformance::FUZZ_FOR, "50ms")]);
    assert!(passed && said.contains("door: 50ms of sequences with RUNSTATE_FUZZ_SEED="), "{said}");
    let (passed, said) = child(&[(conformance::FUZZ_FOR, "50ms"), (conformance::FUZZ_SEED, "7")]);
    assert!(passed && said.contains("with RUNSTATE_FUZZ_SEED=7\n"), "{said}");
    for (variable, value, expected) in [
        (conformance::FUZZ_FOR, "5 minutes", "expected a time such as 30s, 5m or 1h"),
        (conformance::FUZZ_FOR, "5", "expected a time such as 30s, 5m or 1h"),
        (conformance::FUZZ_SEED, "x", "expected a number from 0 to"),
    ] {
        let (passed, said) = child(&[(variable, value)]);
        assert!(!passed && said.contains(expected), "{said}");
    }
}

#[test]
fn suite_that_fails_by_itself_or_bites_nothing_is_told() {
    let nothing = |_: &mut dyn Sut| Ok(());
    let Survivors::Unnoticed { of, survivors, .. } = detects_mutants(Lamps::whole, nothing).unwrap_err()
    else {
        panic!("a suite without a check passes");
    };
    assert_eq!(of, survivors.len());
    assert!(survivors.contains(&"On refuses each `release`".to_owned()), "{survivors:?}");
    let fails = |_: &mut dyn Sut| Err("no lamp".to_owned());
    assert_eq!(detects_mutants(Lamps::whole, fails).unwrap_err(), Survivors::Fails("no lamp".to_owned()));
}

#[test]
fn state_that_no_payload_leads_to_is_told() {
    let never = || Lamps { breaks_after: Some(0), ..Lamps::whole() };
    let map = Lifecycle::new(never()).map();
    let fuzzes = |sut: &mut dyn Sut| {
        let report = Fuzz::new(map.clone()).run(sut).map_err(|error| error.to_string())?;
        if report.findings.is_empty() { Ok(()) } else { Err(report.to_string()) }
    };
    let error = detects_mutants(never, fuzzes).unwrap_err();
    assert!(error.to_string().contains("but the faults of On were not tried: no payload"), "{error}");
}

#[test]
fn fuzzing_notices_each_fault_of_a_lifecycle_without_a_guard() {
    let fuzzes = |sut: &mut dyn Sut| {
        let report =
            Fuzz::new(Lifecycle::new(Lamps::whole()).map()).run(sut).map_err(|error| error.to_string())?;
        if report.is_clean() { Ok(()) } else { Err(report.to_string()) }
    };
    // Each of two states: a dropped and a retargeted transition, an added one, and a refusal that moves.
    assert_eq!(detects_mutants(Lamps::whole, fuzzes), Ok(8));
}

#[test]
fn folder_of_the_package_has_no_regressions() {
    assert!(!Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz-regressions").exists());
}
