//! The example of the package, as two processes.

use std::path::Path;
use std::process::Command;

/// The example. `cargo test` builds it beside the tests; without it cargo does.
fn example() -> Command {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/durable_agent.rs");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let built = std::env::current_exe().unwrap().parent().unwrap().with_file_name("examples/durable_agent");
    let changed = |path: &Path| path.metadata().and_then(|of_file| of_file.modified()).ok();
    if changed(&built) > changed(&source) {
        return Command::new(built);
    }
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args([
            "run",
            "--quiet",
            "--package",
            "runstate-sqlite",
            "--example",
            "durable_agent",
            "--target-dir",
        ])
        .arg(target)
        .arg("--")
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

fn run(arguments: &[&str]) -> String {
    let run = example().args(arguments).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn second_process_decides_and_continues() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.db");
    let file = file.to_str().unwrap();
    let question =
        "waiting: may delete be executed with these arguments? {\"note\":\"old.md\"}\nthe run is Waiting\n";
    assert_eq!(run(&[file]), question);
    assert_eq!(run(&[file, "approve"]), "approved: accepted\nthe run is Done\n");
}

#[test]
fn example_is_short() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/durable_agent.rs"));
    let lines = text.unwrap().lines().count();
    assert!(lines < 50, "the example has {lines} lines, and the README promises fewer than 50");
}
