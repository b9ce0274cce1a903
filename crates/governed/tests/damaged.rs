//! Logs and ledgers with lines that nobody can read: no run stops, no byte is lost, and it can be seen afterwards.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use runstate::approval::ApprovalId;
use runstate::governed_run::{GovernedRunStatus, RunId};
use runstate_governed::*;
use runstate_runtime::clock::Clock;
use runstate_runtime::files::{Crash, Disk, DiskFile, Open, SimDisk, Survives, replace};

use super::keyed::keys;
use super::world::{Reply, Script, Tool, World, folders};

const DAY: u64 = 24 * 60 * 60 * 1000;

fn garbage() -> [String; 5] {
    ["".to_owned(), "garbage".to_owned(), "\0\u{1}".to_owned(), "[1]".to_owned(), "x".repeat(2 << 20)]
}

/// The text with one more line, at its begin, in its middle or at its end.
fn with_line(text: &str, place: &str, line: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let at = match place {
        "begin" => 0,
        "middle" => lines.len() / 2,
        _ => lines.len(),
    };
    lines.insert(at, line);
    lines.join("\n") + "\n"
}

/// A world with two runs that wait for a person.
async fn two_waiting(keyed: bool) -> (World, RunId, RunId) {
    let tools = vec![Tool::new("deploy", [Reply::Pass])];
    let world = World::new(Script { tools, keys: keyed.then(|| keys("k1")), ..Script::default() });
    let first = world.governor().start("PROJECT").await.unwrap().run;
    let second = world.governor().start("PROJECT").await.unwrap().run;
    (world, first, second)
}

/// One run is approved and resumed, the other one expires.
async fn go_on(world: &World, first: &RunId, second: &RunId) -> Vec<PathBuf> {
    let aside = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&aside);
    let governor = world.governor().setting_aside(move |_, to, _| told.lock().unwrap().push(to.to_owned()));
    governor.approve(first, &format!("{first}-A1").parse().unwrap(), "ada", "").await.unwrap();
    assert_eq!(governor.resume(first).await.unwrap().status, GovernedRunStatus::Completed);
    tokio::time::advance(std::time::Duration::from_millis(DAY)).await;
    let swept = world.sweep(&governor).await;
    assert!(matches!(&swept[..], [(run, Ok(GovernedRunStatus::HaltedUnsafe))] if run == second), "{swept:?}");
    aside.lock().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn a_bad_line_of_the_ledger_stops_no_run() {
    for keyed in [false, true] {
        for line in garbage() {
            for place in ["begin", "middle", "end"] {
                let (world, first, second) = two_waiting(keyed).await;
                let path = folders().ledger();
                let damaged = with_line(&world.file(&path), place, &line);
                replace(&world.disk, &path, damaged.as_bytes()).unwrap();
                let bad = verify_ledger(damaged.as_bytes(), world.keys.as_ref()).unwrap_err().line;
                let aside = go_on(&world, &first, &second).await;
                let now = world.file(&path);
                let verified = verify_ledger(now.as_bytes(), world.keys.as_ref());
                if place == "end" {
                    assert_eq!(aside, [Path::new("/runs/command-center/RUN_LEDGER.jsonl.damaged-1")]);
                    assert_eq!(world.file(&aside[0]), damaged, "it is kept as it was");
                    let before = verified.unwrap().continues.unwrap();
                    assert_eq!(before.file, "RUN_LEDGER.jsonl.damaged-1");
                    assert_eq!(before.bytes, damaged.len() as u64);
                    judge_ledger(&world, &first);
                    judge_ledger(&world, &second);
                } else {
                    assert!(aside.is_empty(), "{aside:?}");
                    assert!(now.starts_with(&damaged), "the line is where it was");
                    assert_eq!(verified.unwrap_err().line, bad, "and is named");
                }
            }
        }
    }
}

/// Each transition of the run has one line, in order, behind the first that names the ledger before.
fn judge_ledger(world: &World, run: &RunId) {
    let state: serde_json::Value = serde_json::from_str(&world.file(folders().state(run))).unwrap();
    let ledger = world.file(folders().ledger());
    let seqs: Vec<u64> = ledger
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|line| line["run"] == run.as_str())
        .map(|line| line["seq"].as_u64().unwrap())
        .collect();
    let all = state["state_history"].as_array().unwrap().len() as u64;
    assert_eq!(seqs, (1..=all).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_bad_line_of_a_log_does_not_stop_its_run() {
    for keyed in [false, true] {
        for line in garbage() {
            for place in ["begin", "middle", "end"] {
                let (world, first, second) = two_waiting(keyed).await;
                let mut damaged = Vec::new();
                for run in [&first, &second] {
                    let path = folders().log(run);
                    damaged.push(with_line(&world.file(&path), place, &line));
                    replace(&world.disk, &path, damaged.last().unwrap().as_bytes()).unwrap();
                }
                let aside = go_on(&world, &first, &second).await;
                assert_eq!(aside.len(), 2);
                for ((run, aside), damaged) in [&first, &second].into_iter().zip(aside).zip(damaged) {
                    assert_eq!(aside, folders().run(run).join("RUN_LOG.jsonl.damaged-1"));
                    assert_eq!(world.file(aside), damaged, "it is kept as it was");
                    let log = world.file(folders().log(run));
                    let report = check_log(log.as_bytes(), None, |_| ()).unwrap();
                    assert_eq!(report.faults, []);
                    assert!(log.lines().next().unwrap().contains("\"recovered\":true"));
                }
            }
        }
    }
}

/// What follows the last line feed is cut where a crash tore it, and kept where it is something else.
#[tokio::test(start_paused = true)]
async fn an_end_without_a_line_feed_is_cut_or_kept() {
    for (end, is_kept) in [
        ("{\"seq\":7,\"at", false),
        ("{", false),
        ("{\"note\":\"of another program\"}", true),
        ("garbage", true),
        ("\0\0\0", true),
    ] {
        let (world, first, second) = two_waiting(false).await;
        for path in [folders().log(&first), folders().ledger()] {
            replace(&world.disk, &path, (world.file(&path) + end).as_bytes()).unwrap();
        }
        assert_eq!(go_on(&world, &first, &second).await.len(), if is_kept { 2 } else { 0 }, "{end:?}");
        verify_ledger(world.file(folders().ledger()).as_bytes(), None).unwrap();
        judge_ledger(&world, &first);
    }
}

/// Each ledger names the one before, however often one is set aside.
#[tokio::test(start_paused = true)]
async fn the_names_of_what_is_set_aside_are_used_once() {
    let (world, run, _) = two_waiting(true).await;
    for number in 1..4 {
        let ledger = world.file(folders().ledger());
        replace(&world.disk, &folders().ledger(), (ledger + "\n").as_bytes()).unwrap();
        assert!(world.governor().resume(&run).await.unwrap().repairs.is_empty(), "nothing was to be written");
        world.governor().start("PROJECT").await.unwrap();
        let report = verify_ledger(world.file(folders().ledger()).as_bytes(), world.keys.as_ref()).unwrap();
        assert_eq!(report.continues.unwrap().file, format!("RUN_LEDGER.jsonl.damaged-{number}"));
        // The run that waits is told again in the new one, once.
        assert_eq!(world.governor().resume(&run).await.unwrap().repairs.ledger_lines, 4);
        assert!(world.governor().resume(&run).await.unwrap().repairs.is_empty());
    }
}

/// Another ledger in the place of the old one is read as a whole, also where it is longer.
#[tokio::test(start_paused = true)]
async fn a_ledger_that_was_replaced_is_completed() {
    let (world, run, _) = two_waiting(false).await;
    let other: String = (0..100).map(|n| format!("{{\"event\":\"theirs\",\"number\":{n}}}\n")).collect();
    replace(&world.disk, &folders().ledger(), other.as_bytes()).unwrap();
    assert_eq!(world.governor().resume(&run).await.unwrap().repairs.ledger_lines, 4);
    assert!(world.governor().resume(&run).await.unwrap().repairs.is_empty());
    judge_ledger_of_lines(&world, &run, 4);
}

fn judge_ledger_of_lines(world: &World, run: &RunId, lines: usize) {
    assert_eq!(world.file(folders().ledger()).matches(&format!("\"run\":\"{run}\"")).count(), lines);
}

/// A crash at every operation from the damage on: the run ends, both files are in order, and what was damaged is kept.
#[tokio::test(start_paused = true)]
async fn a_crash_while_files_are_set_aside_loses_nothing() {
    for keyed in [false, true] {
        let survivals: Vec<Survives> = Survives::cases(3).collect();
        for number in 0.. {
            let (mut world, run, _) = two_waiting(keyed).await;
            let paths = [folders().ledger(), folders().log(&run)];
            let damaged = paths.clone().map(|path| world.file(path) + "garbage\n");
            for (path, text) in paths.iter().zip(&damaged) {
                replace(&world.disk, path, text.as_bytes()).unwrap();
            }
            world.survives = survivals[number % survivals.len()];
            world.disk.crash_at(Crash::Before(world.disk.operations() + number));
            world.live_on(&run).await;
            for (path, text) in paths.iter().zip(&damaged) {
                assert_eq!(&world.file(format!("{}.damaged-1", path.display())), text, "{number}");
            }
            let ledger = world.file(folders().ledger());
            let report = verify_ledger(ledger.as_bytes(), world.keys.as_ref()).unwrap();
            assert_eq!(report.continues.unwrap().file, "RUN_LEDGER.jsonl.damaged-1", "{number}");
            judge_ledger(&world, &run);
            let log = world.file(folders().log(&run));
            assert_eq!(check_log(log.as_bytes(), None, |_| ()).unwrap().faults, [], "{number}");
            if world.crashes == 0 {
                assert!(number > 20, "{number}");
                break;
            }
        }
    }
}

/// A disk that counts the bytes which are read of the ledger.
#[derive(Debug, Clone)]
struct Counting(SimDisk, Arc<AtomicU64>);

#[derive(Debug)]
struct CountingFile(Box<dyn DiskFile>, Option<Arc<AtomicU64>>);

impl Disk for Counting {
    fn open(&self, path: &Path, how: Open) -> std::io::Result<Box<dyn DiskFile>> {
        let counted = (path == folders().ledger()).then(|| Arc::clone(&self.1));
        Ok(Box::new(CountingFile(self.0.open(path, how)?, counted)))
    }
    fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        self.0.rename(from, to)
    }
    fn remove(&self, path: &Path) -> std::io::Result<()> {
        self.0.remove(path)
    }
    fn create_folder(&self, path: &Path) -> std::io::Result<()> {
        self.0.create_folder(path)
    }
    fn sync_folder(&self, path: &Path) -> std::io::Result<()> {
        self.0.sync_folder(path)
    }
    fn list(&self, path: &Path) -> std::io::Result<Vec<String>> {
        self.0.list(path)
    }
}

impl DiskFile for CountingFile {
    fn len(&mut self) -> std::io::Result<u64> {
        self.0.len()
    }
    fn read_from(&mut self, offset: u64, most: u64) -> std::io::Result<Vec<u8>> {
        let read = self.0.read_from(offset, most)?;
        if let Some(count) = &self.1 {
            count.fetch_add(read.len() as u64, Ordering::Relaxed);
        }
        Ok(read)
    }
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.write(bytes)
    }
    fn cut(&mut self, length: u64) -> std::io::Result<()> {
        self.0.cut(length)
    }
    fn sync(&mut self) -> std::io::Result<()> {
        self.0.sync()
    }
    fn lock(&mut self) -> std::io::Result<()> {
        self.0.lock()
    }
    fn try_lock(&mut self) -> std::io::Result<()> {
        self.0.try_lock()
    }
}

/// However many lines others wrote, before the run and while it waits: each command reads the same few.
#[tokio::test(start_paused = true)]
async fn bytes_read_do_not_grow_with_the_ledger() {
    let script = Script { tools: vec![Tool::new("deploy", [Reply::Pass])], ..Script::default() };
    let world = World::new(script);
    let read = Arc::new(AtomicU64::new(0));
    let clock: Arc<dyn Clock> = world.clock.clone();
    let disk = Arc::new(Counting(world.disk.clone(), Arc::clone(&read)));
    let governor = Governor::new(disk, folders(), clock, world.parts(), world.rules.clone()).unwrap();
    let other = world.governor().start("OTHER").await.unwrap().run;
    let of_others = || {
        let mut ledger = world.file(folders().ledger());
        let line = ledger.lines().next().unwrap().to_owned();
        (0..20_000).for_each(|_| ledger.push_str(&format!("{line}\n")));
        replace(&world.disk, &folders().ledger(), ledger.as_bytes()).unwrap();
        ledger.len() as u64
    };
    let few = |what: &str| {
        let read = read.swap(0, Ordering::Relaxed);
        assert!(read < 300_000, "{what} read {read} bytes");
    };
    assert!(of_others() > 5_000_000);
    let run = governor.start("PROJECT").await.unwrap().run;
    few("start");
    for round in 0..2 {
        of_others();
        governor.waits(&run).unwrap().unwrap();
        few("waits");
        governor.status(&run).unwrap();
        assert_eq!(governor.expire(&run).await.unwrap(), None);
        few("status");
        if round == 1 {
            governor.approve(&run, &format!("{run}-A1").parse().unwrap(), "ada", "").await.unwrap();
            few("approve");
        }
    }
    of_others();
    assert_eq!(governor.resume(&run).await.unwrap().status, GovernedRunStatus::Completed);
    few("resume");
    judge_ledger(&world, &run);
    assert!(!world.governor().resume(&other).await.unwrap().status.is_terminal());
}

/// A ledger in the place of the one that the run knows is read by the command that goes on with the run, and not by an answer.
#[tokio::test(start_paused = true)]
async fn an_answer_does_not_read_another_ledger() {
    let world = World::new(Script { tools: vec![Tool::new("deploy", [Reply::Pass])], ..Script::default() });
    let read = Arc::new(AtomicU64::new(0));
    let clock: Arc<dyn Clock> = world.clock.clone();
    let disk = Arc::new(Counting(world.disk.clone(), Arc::clone(&read)));
    let governor = Governor::new(disk, folders(), clock, world.parts(), world.rules.clone()).unwrap();
    world.governor().start("OTHER").await.unwrap();
    let line = world.file(folders().ledger()).lines().next().unwrap().to_owned() + "\n";
    let run = governor.start("PROJECT").await.unwrap().run;
    replace(&world.disk, &folders().ledger(), line.repeat(20_000).as_bytes()).unwrap();
    read.store(0, Ordering::Relaxed);
    let approval: ApprovalId = format!("{run}-A1").parse().unwrap();
    governor.approve(&run, &approval, "ada", "").await.unwrap();
    let bytes = read.load(Ordering::Relaxed);
    assert!(bytes < 100_000, "approve read {bytes} bytes");
    // The approval is used once, whatever the ledger says.
    assert!(governor.approve(&run, &approval, "ada", "").await.is_err());
    assert_eq!(governor.resume(&run).await.unwrap().status, GovernedRunStatus::Completed);
    assert!(governor.approve(&run, &approval, "ada", "").await.is_err());
    judge_ledger(&world, &run);
}
