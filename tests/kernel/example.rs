//! The example that users copy.

use std::path::Path;
use std::process::Command;

#[test]
fn the_example_of_an_own_lifecycle_runs() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let run = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["run", "--quiet", "--package", "runstate", "--example", "own_lifecycle", "--target-dir"])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    insta::assert_snapshot!(String::from_utf8(run.stdout).unwrap(), @r"
    a parcel needs a postage of 180
    on its way as PX-9
    parcel in state Sent refuses 'dispatch'; it accepts 'deliver'
    Delivered
    ");
}

#[test]
fn the_example_of_an_own_lifecycle_is_short() {
    let lines = include_str!("../../examples/own_lifecycle.rs").lines().count();
    assert!(lines < 60, "{lines} lines");
}
