//! Governed runs with real commands, several processes, and kills.

mod adversaries;
mod checks;
mod forged;
mod ignored;
mod keyed;
mod kills;
mod ledger;
mod life;
mod limits;
mod odd;
mod people;
mod places;
mod plans;
mod planted;
mod restored;
mod stored_plans;
mod syscalls;
mod tools;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::session::{Said, Session, harmless};

/// The user of the second time: none that has files or a home.
const NORMAL_USER: u32 = 65_534;

/// Where the user of the tests is root, which modes hold off from nothing, the tests of this module run again as a normal user.
#[test]
fn all_holds_for_a_normal_user() {
    use std::os::unix::process::CommandExt;
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let as_user = |program: &Path| {
        let mut command = Command::new(program);
        command.uid(NORMAL_USER).gid(NORMAL_USER).current_dir("/").env("RUST_BACKTRACE", "0");
        command
    };
    let (tests, binary) = (std::env::current_exe().unwrap(), Path::new(env!("CARGO_BIN_EXE_runstate")));
    let is_reachable = as_user(binary)
        .arg("--version")
        .output()
        .is_ok_and(|said| harmless("--version", said).status.success());
    if !is_reachable {
        let why = format!("user {NORMAL_USER} cannot start {}: let it into the folders", binary.display());
        assert!(std::env::var_os("RUNSTATE_REQUIRE_NORMAL_USER").is_none(), "{why}");
        return;
    }
    let mut command = as_user(&tests);
    // The compiler of the example has its files in the home of root; the kills do not depend on the user; the memory of a
    // command with a tool is closed to a tracer of a normal user.
    let not = [
        "governed::all_holds",
        "governed::life::example_is_built",
        "governed::kills",
        "governed::syscalls::a_rollback_is_durable",
    ];
    command.arg("governed::").args(not.into_iter().flat_map(|name| ["--skip", name]));
    // The list of snapshots that tests refer to is a file of root, and has those of the first time.
    let command = command.env_remove("INSTA_SNAPSHOT_REFERENCES_FILE");
    let said = command.env_remove("RUNSTATE_REQUIRE_MOUNTS").output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stdout));
}

const STATE_DIR: &str = "runs";

fn governed(session: &Session, args: &[&str]) -> Said {
    let mut all = vec!["governed"];
    all.extend(args);
    all.extend(["--state-dir", STATE_DIR]);
    session.run(&all)
}

fn json(said: &Said) -> Value {
    serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{}", said.shown()))
}

/// A plan whose tools are shell commands; `deploy` needs an approval.
fn plan(session: &Session, tools: &[(&str, &str)], more: &str) {
    fs::create_dir_all(session.path("site")).unwrap();
    session.write("site/index.html", "old").write("site/keep.txt", "kept");
    let auto = tools.iter().map(|(name, _)| *name).filter(|name| ["build", "wait"].contains(name));
    let auto = auto.collect::<Vec<_>>().join(", ");
    let tools: String = tools
        .iter()
        .map(|(name, script)| format!("  - {{name: {name}, run: [sh, -c, {script:?}]}}\n"))
        .collect();
    let plan = format!("project: SITE\nfolder: site\ngates: {{auto: [{auto}]}}\ntools:\n{tools}{more}");
    session.write("plan.yaml", plan);
}

const REVIEW: &str =
    "verify:\n  - run: [test, -f, index.html]\naudit:\n  - {reviewer: quality, run: ['true']}\n";

/// Does what must happen within a time limit. On a slow machine it may not, says so, and is done again with a longer one.
fn within_a_limit(is_in_time: impl Fn(Duration) -> bool) {
    let limits = [2, 15, 60].map(Duration::from_secs);
    assert!(limits.into_iter().any(is_in_time), "it never was in time");
}

fn run_id(said: &Value) -> String {
    said["run"].as_str().unwrap().to_owned()
}

/// What must hold of every run that is over, by the command itself.
fn assert_in_order(session: &Session, run: &str) {
    let (state, log) =
        (format!("{STATE_DIR}/{run}/RUN_STATE.json"), format!("{STATE_DIR}/{run}/RUN_LOG.jsonl"));
    let checked = session.run(&["check", &state, &log, "--complete"]);
    assert_eq!(checked.code, Some(0), "{}", checked.shown());
    let ledger = governed(session, &["verify-ledger"]);
    assert_eq!(ledger.code, Some(0), "{}", ledger.shown());
    let again = governed(session, &["recover", run, "--json"]);
    let repairs = json(&again)["repairs"].clone();
    assert_eq!(
        repairs,
        serde_json::json!({
            "approvals": 0, "log_lines": 0, "ledger_lines": 0, "cut_bytes": 0, "report": false, "set_aside": []
        })
    );
    assert!(session.path(&format!("{STATE_DIR}/{run}/FINAL_REPORT.md")).exists());
}

/// What is in a folder, with contents.
fn files(session: &Session, folder: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = fs::read_dir(session.path(folder))
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let content = fs::read_to_string(entry.path()).unwrap_or("(folder)".to_owned());
            (entry.file_name().into_string().unwrap(), content)
        })
        .collect();
    all.sort();
    all
}

#[expect(clippy::disallowed_methods, reason = "processes are killed by the clock on the wall")]
fn now() -> Instant {
    Instant::now()
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
