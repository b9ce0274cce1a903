//! Governed runs: transitions with all their files against the very same system calls alone; recovery with a long ledger;
//! the check of many states and of a long log. Each against what it is measured by, in turns, in one process:
//! `cargo bench --bench governed`. It works in the folder for temporary files, so that `TMPDIR` chooses the disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use runstate::approval::Risk;
use runstate::governed_run::{GovernedRunStatus, Opinion, RunId};
use runstate_benches::replay::{Operation, Recording, replay};
use runstate_governed::*;
use runstate_runtime::clock::Clock;
use runstate_runtime::files::RealDisk;

const T: u64 = 1_769_860_800_000;

struct Quick(&'static str);

#[async_trait]
impl GovernedTool for Quick {
    fn name(&self) -> &str {
        self.0
    }
    fn action(&self, _: &RunView<'_>) -> Action {
        Action::new("nothing", Risk::Low)
    }
    async fn call(&self, _: &Call<'_>) -> Result<ToolOutput, PartError> {
        Ok(ToolOutput::pass(["done"]))
    }
}

#[async_trait]
impl Planner for Quick {
    async fn plan(&self, _: &RunId, _: Option<&str>) -> Result<ProposedPlan, PartError> {
        Ok(ProposedPlan::of(["build", "test"]))
    }
}

#[async_trait]
impl Verifier for Quick {
    async fn verify(&self, _: &RunView<'_>) -> Result<Vec<String>, PartError> {
        Ok(vec!["fine".to_owned()])
    }
}

#[async_trait]
impl Auditor for Quick {
    fn name(&self) -> &str {
        self.0
    }
    async fn audit(&self, _: &RunView<'_>) -> Result<(Opinion, String), PartError> {
        Ok((Opinion::Pass, "fine".to_owned()))
    }
}

#[async_trait]
impl Rollback for Quick {
    async fn roll_back(&self, _: &RunView<'_>, _: &str) -> Result<(), Vec<String>> {
        Ok(())
    }
}

struct At(AtomicU64);

impl Clock for At {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn governor(disk: Arc<dyn runstate_runtime::files::Disk>, root: &Path) -> Governor {
    let parts = Parts {
        planner: Box::new(Quick("planner")),
        plan_approval: Box::new(AutoApproved),
        tools: vec![Box::new(Quick("build")), Box::new(Quick("test"))],
        verifier: Box::new(Quick("verifier")),
        auditors: vec![Box::new(Quick("quality"))],
        rollback: Box::new(Quick("rollback")),
    };
    let rules = Rules { gates: Gates::new(["build", "test"], [] as [&str; 0]), ..Rules::default() };
    Governor::new(disk, Folders::new(root), Arc::new(At(AtomicU64::new(T))), parts, rules)
        .expect("sound parts")
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(work)
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn row(what: &str, ours: Duration, by: &str, theirs: Duration, bar: &str) {
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!(
        "| {what} | {ours:.2?} | {by}: {theirs:.2?} | {ratio:.2} ({:.2} of its speed) | {bar} |",
        1.0 / ratio
    );
}

/// What a run below `first` does to files.
fn recorded(first: &Path) -> Vec<Operation> {
    let recorded = Arc::new(Mutex::new(Vec::new()));
    let status = block_on(governor(Arc::new(Recording::new(Arc::clone(&recorded))), first).start("BENCH"));
    assert_eq!(status.expect("it runs").status, GovernedRunStatus::Completed);
    std::mem::take(&mut *recorded.lock().expect("no panic"))
}

/// One side of the comparison alone, for `count-system-calls.sh`.
fn only(side: &str, rounds: usize, root: &Path) {
    let first = root.join("recorded");
    let operations = recorded(&first);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    for round in 0..rounds {
        let to = root.join(format!("{side}{round}"));
        match side {
            "ours" => {
                let governor = governor(Arc::new(RealDisk), &to);
                runtime.block_on(governor.start("BENCH")).expect("it runs");
            }
            _ => replay(&operations, &first, &to).expect("the same files"),
        }
    }
}

fn transitions(root: &Path) {
    let first = root.join("recorded");
    let operations = recorded(&first);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..60 {
        let (a, b) = (root.join(format!("a{round}")), root.join(format!("b{round}")));
        let disk: Arc<RealDisk> = Arc::new(RealDisk);
        let governor = governor(disk, &a);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let mut run = || {
            ours.push(timed(|| {
                let status = runtime.block_on(governor.start("BENCH")).expect("it runs").status;
                assert_eq!(status, GovernedRunStatus::Completed);
            }));
        };
        let mut bare = || theirs.push(timed(|| replay(&operations, &first, &b).expect("the same files")));
        // In turns, each first as often as the other.
        if round % 2 == 0 {
            run();
            bare();
        } else {
            bare();
            run();
        }
    }
    let ours = median(ours);
    let what = format!(
        "a run of 6 transitions and 4 steps of its tools, {:.0} transitions/s",
        6.0 / ours.as_secs_f64()
    );
    let by = format!("its {} operations on files alone", operations.len());
    row(&what, ours, &by, median(theirs), ">= 0.8 of its speed");
}

fn recovery(root: &Path) {
    let root = root.join("ledger");
    let governor = governor(Arc::new(RealDisk), &root);
    let run = block_on(governor.start("BENCH")).expect("it runs").run;
    let folders = Folders::new(&root);
    let own = fs::read_to_string(folders.ledger()).expect("it is there");
    let own: Vec<String> =
        own.lines().map(|line| format!("{}}}", &line[..line.find(",\"prev\"").expect("chained")])).collect();
    let mut ledger = String::new();
    for i in 0..100_000 - 5 {
        let day = format!("{:08}-{:06}", 20_260_101 + i / 86_400, 100_000 + i % 60);
        ledger.push_str(&own[i % 6].replace(&run.as_str()[10..], &day));
        ledger.push('\n');
    }
    // The run's last line is missing.
    own[..5].iter().for_each(|line| ledger.push_str(&format!("{line}\n")));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        fs::write(folders.ledger(), &ledger).expect("there is room");
        theirs.push(timed(|| {
            let text = fs::read_to_string(folders.ledger()).expect("it is there");
            let parsed = text.lines().map(serde_json::from_str::<serde_json::Value>);
            assert_eq!(parsed.filter(Result::is_ok).count(), 100_000);
        }));
        ours.push(timed(|| {
            let repairs = block_on(governor.resume(&run)).expect("it is mended").repairs;
            assert_eq!(repairs.ledger_lines, 1);
        }));
    }
    let by = "`serde_json` into values, a line at a time";
    row("recovery of a run with a ledger of 100,000 lines", median(ours), by, median(theirs), "");
    let verified = timed(|| assert!(verify_ledger(ledger.as_bytes(), None).is_ok()));
    println!("| `verify_ledger` of 100,000 lines, unchained | {verified:.2?} | | | |");
    let checked = timed(|| {
        let report = check_log(ledger.as_bytes(), None, |_| ()).expect("it is in memory");
        assert_eq!(report.steps, 100_000);
    });
    println!("| `check_log` of the same | {checked:.2?} | | | |");
}

fn states(root: &Path) {
    let sample = root.join("states");
    let run = block_on(governor(Arc::new(RealDisk), &sample).start("BENCH")).expect("it runs").run;
    let state = fs::read(Folders::new(&sample).state(&run)).expect("it is there");
    let files: Vec<PathBuf> = (0..10_000).map(|i| sample.join(format!("{i}.json"))).collect();
    files.iter().for_each(|file| fs::write(file, &state).expect("there is room"));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        theirs.push(timed(|| {
            for file in &files {
                let file = fs::read(file).expect("it is there");
                serde_json::from_slice::<serde_json::Value>(&file).expect("JSON");
            }
        }));
        ours.push(timed(|| {
            for file in &files {
                let report = check_state(&fs::read(file).expect("it is there"), None).expect("readable");
                assert!(report.faults.is_empty());
            }
        }));
    }
    let by = "reading them into `serde_json` values";
    row("`check_state` of 10,000 files", median(ours), by, median(theirs), "");
}

fn main() {
    // `cargo check --all-targets` and test runs only want to know that it compiles.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let root = std::env::temp_dir().join(format!("runstate-bench-{}", std::process::id()));
    fs::create_dir_all(&root).expect("a folder");
    let mut arguments = std::env::args().skip_while(|argument| !matches!(argument.as_str(), "ours" | "bare"));
    if let Some(side) = arguments.next() {
        let rounds = arguments.next().and_then(|rounds| rounds.parse().ok()).unwrap_or(0);
        only(&side, rounds, &root);
        return fs::remove_dir_all(&root).expect("it was there");
    }
    println!("| what | measured | measured by | ratio | bar |\n|---|---|---|---|---|");
    transitions(&root);
    recovery(&root);
    states(&root);
    fs::remove_dir_all(&root).expect("it was there");
}
