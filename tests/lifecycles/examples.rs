//! The examples that take the lifecycles without a driver of ours: they run, and do what they say.

use std::path::Path;
use std::process::Command;

/// What the example prints.
fn run(example: &str) -> String {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let run = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["run", "--quiet", "--package", "runstate", "--example", example, "--target-dir"])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn example_own_driver_prints_its_snapshot() {
    let said = run("own_driver");
    assert!(said.ends_with("-- held against the diagrams: Conforms\n"), "{said}");
    super::assert_stored("example_own_driver", &said);
}

#[test]
fn example_calls_only_prints_its_snapshot() {
    super::assert_stored("example_calls_only", &run("calls_only"));
}

/// Nothing of a driver of ours is in them, and no runtime: what they use is there with the feature `lifecycles`.
#[test]
fn lifecycle_examples_use_no_driver_or_runtime() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let of_driver = std::fs::read_dir(folder.join("own_driver")).unwrap().map(|entry| entry.unwrap().path());
    let sources: Vec<_> = of_driver.chain([folder.join("calls_only.rs")]).collect();
    assert_eq!(sources.len(), 6, "{sources:?}");
    for source in sources {
        let text = std::fs::read_to_string(&source).unwrap();
        for foreign in ["runstate_agent", "runstate_stream::", "runstate_governed::", "tokio", "async"] {
            assert!(!text.contains(foreign), "{} uses {foreign}", source.display());
        }
    }
}
