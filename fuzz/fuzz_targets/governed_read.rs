//! No bytes make the readers of governed runs panic: RUN_STATE.json, RUN_LOG.jsonl, RUN_LEDGER.jsonl, the record of an approval. A
//! file that is refused is left as it was, with all the others; one that is taken up is in order from then on.

#![no_main]

use std::path::Path;
use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use runstate::approval::Risk;
use runstate_runtime::clock::TokioClock;
use runstate_runtime::files::{Disk, SimDisk, replace};
use runstate_governed::*;
use runstate::governed_run::{Opinion, RunId};

/// 31 January 2026, 12:00:00 UTC.
const T: u64 = 1_769_860_800_000;
const RUN: &str = "RUN-PROJECT-20260131-120000";

struct Part(&'static str);

#[async_trait::async_trait]
impl GovernedTool for Part {
    fn name(&self) -> &str {
        self.0
    }
    fn action(&self, _: &RunView<'_>) -> Action {
        Action::new("do it", Risk::High)
    }
    fn is_read_only(&self) -> bool {
        true
    }
    async fn call(&self, _: &Call<'_>) -> Result<ToolOutput, PartError> {
        Ok(ToolOutput::pass(["done"]))
    }
}

#[async_trait::async_trait]
impl Planner for Part {
    async fn plan(&self, _: &RunId, _: Option<&str>) -> Result<ProposedPlan, PartError> {
        Ok(ProposedPlan::of(["tool_browser"]))
    }
}

#[async_trait::async_trait]
impl Verifier for Part {
    async fn verify(&self, _: &RunView<'_>) -> Result<Vec<String>, PartError> {
        Ok(vec!["fine".to_owned()])
    }
}

#[async_trait::async_trait]
impl Auditor for Part {
    fn name(&self) -> &str {
        self.0
    }
    async fn audit(&self, _: &RunView<'_>) -> Result<(Opinion, String), PartError> {
        Ok((Opinion::Pass, "fine".to_owned()))
    }
}

#[async_trait::async_trait]
impl Rollback for Part {
    async fn roll_back(&self, _: &RunView<'_>, _: &str) -> Result<(), Vec<String>> {
        Ok(())
    }
}

fn governor(disk: &SimDisk, at: u64) -> Governor {
    let parts = Parts {
        planner: Box::new(Part("planner")),
        plan_approval: Box::new(AutoApproved),
        tools: vec![Box::new(Part("tool_inspector")), Box::new(Part("tool_browser"))],
        verifier: Box::new(Part("verifier")),
        auditors: vec![Box::new(Part("quality"))],
        rollback: Box::new(Part("rollback")),
    };
    let clock = Arc::new(TokioClock::starting_at(at));
    Governor::new(Arc::new(disk.clone()), Folders::new("/runs"), clock, parts, Rules::default())
        .expect("the parts are sound")
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(work)
}

fn run() -> RunId {
    RUN.parse().expect("it is one")
}

/// A disk on which a run waits for the approval of `tool_browser`.
static WAITING: LazyLock<SimDisk> = LazyLock::new(|| {
    let disk = SimDisk::new();
    block_on(async { governor(&disk, T).start("PROJECT").await }).expect("it waits");
    disk
});

fuzz_target!(|data: &[u8]| {
    let Some((which, data)) = data.split_first() else { return };
    let folders = Folders::new("/runs");
    // Driving a run to its end takes long; mostly it is taken in hand alone, which reads and mends everything.
    let drives = which % 32 < 4;
    match which % 4 {
        0 => {
            let disk = SimDisk::new();
            for folder in [Path::new("/runs"), &folders.run(&run())] {
                disk.create_folder(folder).expect("there is room");
            }
            let checked = check_state(data, None);
            let sound = checked.is_ok_and(|report| report.faults.is_empty());
            let resumed = taken_up(&disk, &folders.state(&run()), data, drives);
            assert!(sound || !resumed, "a state with faults was taken up");
        }
        1 => {
            log(data);
            taken_up(&WAITING.fork(), &folders.log(&run()), data, drives);
        }
        2 => {
            log(data);
            if let Err(fault) = verify_ledger(data, None) {
                assert!(fault.line >= 1 && !fault.to_string().is_empty());
            }
            taken_up(&WAITING.fork(), &folders.ledger(), data, drives);
        }
        _ => {
            let disk = WAITING.fork();
            let record = folders.pending().join(format!("{RUN}-A1.json"));
            assert!(taken_up(&disk, &record, data, drives), "a record follows the state, whatever it says");
        }
    }
});

fn log(data: &[u8]) {
    let mut steps = 0;
    let report = check_log(data, Some(T), |_| steps += 1).expect("memory can be read");
    // Before the first step of a run its beginning is told, though no line tells of it.
    assert!((report.steps..=2 * report.steps).contains(&steps));
    assert!(report.faults.iter().all(|fault| fault.line >= 1 && fault.line <= report.lines));
}

/// Is a run taken up with this content of the file? If not, nothing is written; if so, a second time there is nothing to mend.
fn taken_up(disk: &SimDisk, path: &Path, content: &[u8], drives: bool) -> bool {
    replace(disk, path, content).expect("there is room");
    let before = disk.files();
    let governor = || governor(disk, T + 60_000);
    let take = || {
        block_on(async {
            let governor = governor();
            if drives {
                return governor.resume(&run()).await.map(|progressed| progressed.repairs.is_empty());
            }
            let looked = governor.waits(&run())?;
            assert!(looked.is_none_or(|waits| matches!(waits, AwaitedInput::Approval(_))));
            // An answer to a question that nobody asked takes the run in hand, and does nothing with it.
            let nothing = "NOTHING-A1".parse().expect("it is an id");
            match governor.approve(&run(), &nothing, "ada", "").await {
                Err(GovernedError::NotAsked { .. } | GovernedError::OtherPlan { .. }) => Ok(true),
                Err(error) => Err(error),
                Ok(()) => panic!("nothing was asked under that id"),
            }
        })
    };
    match take() {
        Err(GovernedError::Damaged { faults, .. }) => {
            assert!(!faults.is_empty() && disk.files() == before, "nothing is written");
            false
        }
        Err(error) => panic!("{error}"),
        Ok(_) => {
            let mended = disk.files();
            assert!(take().expect("it is in order"));
            assert!(drives || disk.files() == mended, "mended once");
            true
        }
    }
}
