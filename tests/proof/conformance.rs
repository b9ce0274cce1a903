//! Sequences of events to each lifecycle, as an author of a lifecycle has them: `lifecycle_conformance!` has this test, those
//! of `exhaustive` and those of `storage`. The night sends further sequences, with a fresh seed.

use runstate::testing::Subject;
use runstate_fuzz::conformance::sequences;

use super::for_each_lifecycle;
use super::tool_call::Calls;

for_each_lifecycle!(conforms);

#[track_caller]
fn conforms<S: Subject>(subject: S) {
    sequences(subject, env!("CARGO_MANIFEST_DIR"));
}

/// A suite on the types of a lifecycle notices more than its diagram says; fuzzing alone notices all but guards.
#[test]
fn fuzzing_notices_each_fault_of_tool_calls_but_open_guards() {
    let fuzzes = |sut: &mut dyn runstate_fuzz::Sut| {
        let map = runstate_fuzz::Lifecycle::new(Calls).map();
        let report =
            runstate_fuzz::Fuzz::new(map).sequences(20).run(sut).map_err(|error| error.to_string())?;
        if report.is_clean() { Ok(()) } else { Err(report.to_string()) }
    };
    let survivors = runstate_fuzz::detects_mutants(|| Calls, fuzzes).map_err(|error| error.to_string());
    let told = survivors.unwrap_err();
    let faults: Vec<&str> = told.lines().skip(1).collect();
    assert!(
        !faults.is_empty() && faults.iter().all(|fault| fault.contains("where a guard refuses")),
        "{told}"
    );
}
