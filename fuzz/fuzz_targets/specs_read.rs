//! No specification of a run and no plan of a governed run makes the command panic: valid ones in which some values are others. A plan that
//! is taken is kept as it is, also under a key, and no message has a raw control character.
//!
//! The command is a program and no library, so its modules stand here by their paths.

#![no_main]
#![allow(dead_code, unused_imports, reason = "not all of the command is called")]

#[path = "../../crates/cli/src/clock.rs"]
mod clock;
#[path = "../../crates/cli/src/exit.rs"]
mod exit;
#[path = "../../crates/cli/src/failure.rs"]
mod failure;
#[path = "../../crates/cli/src/input.rs"]
mod input;
#[path = "../../crates/cli/src/keys.rs"]
mod keys;
#[path = "../../crates/cli/src/meant.rs"]
mod meant;
#[path = "../../crates/cli/src/output.rs"]
mod output;
#[path = "../../crates/cli/src/runs/mod.rs"]
mod runs;
#[path = "../../crates/cli/src/scenario/mod.rs"]
mod scenario;
#[path = "../../crates/cli/src/spec.rs"]
mod spec;
#[path = "../../crates/cli/src/tools/mod.rs"]
mod tools;

/// All of it that a plan names.
#[path = "../../crates/cli/src/governed"]
mod governed {
    mod auditors;
    mod below;
    mod command_tool;
    mod copy;
    mod folder;
    mod plan;
    mod process;
    mod progress;
    mod snapshot;
    mod strays;
    mod supervisor;
    mod work;

    use std::fs;
    use std::path::Path;

    use runstate::governed_run::RunId;
    use runstate::snapshot::Keyring;

    use super::assert_harmless;

    const WORK: &str = "work";
    const WRITE: u32 = 0o700;

    fn open_closed(_: &Path, _: u32) {}

    /// Reads a plan as its file, and what it is kept as.
    pub(super) fn read(path: &Path, text: &str, keys: Option<&Keyring>) -> Option<String> {
        fs::write(path, text).expect("there is room");
        let taken = match plan::read(&path.to_string_lossy()) {
            Ok(taken) => taken.plan,
            Err(failure) => {
                assert_harmless(&failure);
                return None;
            }
        };
        let run = RunId::new(&taken.project, 0).expect("it was checked");
        assert!(taken.limits().is_ok());
        drop(taken.gates());
        let (Ok(kept), Ok(digest)) = (taken.text(), taken.digest()) else { return None };
        let kept = plan::tagged(&kept, &run, keys);
        fs::write(path, &kept).expect("there is room");
        let again = plan::read_stored(path, &run, keys).expect("it was kept");
        assert_eq!(again.digest().expect("it was kept"), digest);
        Some(kept)
    }

    /// Reads what stands in the place of a kept plan.
    pub(super) fn read_kept(path: &Path, text: &str, keys: Option<&Keyring>) {
        fs::write(path, text).expect("there is room");
        let run = RunId::new("SITE", 0).expect("it is one");
        match plan::read_stored(path, &run, keys) {
            Ok(plan) => drop((plan.text().map(drop), plan.digest().map(drop), plan.limits().map(drop), plan.gates())),
            Err(failure) => assert_harmless(&failure),
        }
    }
}

mod hostile;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use runstate::snapshot::Keyring;
use runstate_store::{Loaded, NewRun, Parts, RunInfo};
use serde_json::{Value, json};

/// As the command has it; here no argument is quoted.
fn quotable(text: String, _: impl Iterator<Item = std::ffi::OsString>) -> String {
    output::harmless(text.trim_end()).into_owned()
}

/// An excerpt of a file is escaped where it is written, as all that the command says.
fn assert_harmless(failure: &failure::Failure) {
    let is_raw = |c: char| c.is_control() || runstate::actor::is_unseen(c);
    assert!(!failure.message().contains(is_raw), "{:?}", failure.message());
    let told = quotable(failure.to_string(), std::iter::empty());
    assert!(!told.contains(|c| c != '\n' && is_raw(c)), "{told:?}");
}

static KEYS: LazyLock<Keyring> = LazyLock::new(|| format!("k1 {}", "ab".repeat(32)).parse().expect("a key"));

static FILE: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("runstate-specs-read-{}", std::process::id())));

fn plan() -> Value {
    json!({
        "project": "SITE", "folder": "site", "in_place": false, "ignore": ["target"], "plan_approval": "ask",
        "gates": {"auto": ["build"], "required": ["deploy"]}, "limits_seconds": {"PLANNING": 60, "EXECUTING": 600},
        "chained_ledger": true,
        "tools": [
            {"name": "build", "run": ["sh", "-c", "true"], "folder": "site", "time_limit_seconds": 9, "read_only": true, "risk": "low"},
            {"name": "deploy", "run": ["true"], "risk": "high", "output": "json"},
        ],
        "verify": [{"run": ["test", "-f", "index.html"], "folder": ".", "time_limit_seconds": 1}],
        "audit": [{"reviewer": "quality", "run": ["true"]}],
    })
}

fn specification() -> Value {
    let scenario = "name: a\nmessage: go\nfolder: f\nmodel: [{calls: [{id: c, tool: read_file, arguments: {path: a}}]}, {text: done}]\n";
    json!({"kind": "scenario", "scenario": scenario, "token": "0123456789abcdef0123456789abcdef"})
}

fn read_specification(spec: Value) {
    let parts = Parts {
        info: RunInfo::created(&NewRun::new("a-1", Value::Null, 0)),
        spec,
        thread: None,
        traced: 0,
        run: None,
        calls: vec![],
        decisions: vec![],
        messages: vec![],
        values: vec![],
    };
    let run = Loaded::from_parts(parts).expect("a run that is new");
    let spec = match spec::Spec::of(&run) {
        Ok(spec) => spec,
        Err(failure) => return assert_harmless(&failure),
    };
    assert_eq!(spec::Spec::of(&run).ok().as_ref(), Some(&spec));
    drop(spec.to_json().expect("it was JSON"));
    match spec.scenario() {
        // There is no such folder.
        Ok(scenario) => {
            if let Err(failure) = spec.tools(&scenario, Some(Path::new("/dev/null/runs")), "a-1") {
                assert_harmless(&failure);
            }
        }
        Err(failure) => assert_harmless(&failure),
    }
}

fn read(from: &mut Unstructured<'_>) -> Result<()> {
    let keys = from.arbitrary::<bool>()?.then_some(&*KEYS);
    match from.int_in_range(0..=3)? {
        0 => {
            let mut spec = specification();
            hostile::change(&mut spec, from)?;
            read_specification(spec);
        }
        1 => {
            let mut spec = specification();
            let mut scenario: Value =
                runstate_scenario::from_yaml(spec["scenario"].as_str().expect("a text")).expect("a scenario");
            hostile::change(&mut scenario, from)?;
            spec["scenario"] = scenario.to_string().into();
            read_specification(spec);
        }
        2 => {
            let mut plan = plan();
            hostile::change(&mut plan, from)?;
            governed::read(&FILE, &plan.to_string(), keys);
        }
        _ => {
            let kept = governed::read(&FILE, &plan().to_string(), None).expect("it is a plan");
            let mut kept: Value = serde_json::from_str(&kept).expect("it is JSON");
            kept["taken"] = hostile::value(from)?;
            hostile::change(&mut kept, from)?;
            governed::read_kept(&FILE, &kept.to_string(), keys);
        }
    }
    Ok(())
}

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        governed::read(&FILE, text, None);
        governed::read_kept(&FILE, text, None);
    }
    // One that ends early has been read as far as it goes.
    read(&mut Unstructured::new(data)).ok();
});
