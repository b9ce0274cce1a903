//! The ledger of all runs: a chain that shows each change, and many writers at once.

use std::sync::Arc;

use runstate_governed::*;
use runstate_runtime::clock::TokioClock;
use runstate_runtime::files::{RealDisk, replace};

use super::judge::judge;
use super::rows::assert_told;
use super::world::{Script, T, World, folders};

async fn of_three_runs() -> String {
    let world = World::new(Script { tools: vec![], ..Script::default() });
    for _ in 0..3 {
        let run = world.governor().start("PROJECT").await.unwrap().run;
        judge(&world, &run).await;
    }
    world.file(folders().ledger())
}

#[tokio::test(start_paused = true)]
async fn ledger_check_names_the_first_changed_line() {
    let ledger = of_three_runs().await;
    let lines: Vec<&str> = ledger.lines().collect();
    let sound = verify_ledger(ledger.as_bytes(), None).unwrap();
    assert_eq!((sound.lines, sound.chained), (18, 18));
    let fault = |lines: &[String]| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        verify_ledger(text.as_bytes(), None).map_err(|fault| fault.line)
    };
    let owned = || lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    for at in 0..lines.len() {
        // Any single byte of any line, changed to one that keeps it JSON.
        let mut changed = owned();
        changed[at] = changed[at].replace("PROJECT", "PR0JECT");
        assert_eq!(fault(&changed), Err(at as u64 + 1));
        let mut taken_out = owned();
        taken_out.remove(at);
        let last = at + 1 == lines.len();
        assert_eq!(fault(&taken_out).err(), (!last).then_some(at as u64 + 1), "the end may be missing");
        let mut doubled = owned();
        doubled.insert(at, doubled[at].clone());
        assert_eq!(fault(&doubled), Err(at as u64 + 2));
        if at > 0 {
            let mut swapped = owned();
            swapped.swap(at - 1, at);
            assert_eq!(fault(&swapped), Err(at as u64));
            let mut unchained = owned();
            let end = unchained[at].find(",\"prev\"").unwrap();
            unchained[at].replace_range(end.., "}");
            assert_eq!(fault(&unchained), Err(at as u64 + 1));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn ledger_check_reports_the_fault_of_a_line() {
    let ledger = of_three_runs().await;
    let first = ledger.lines().next().unwrap();
    let cases = [
        ("changed", first.replace("INIT", "PLAN") + "\n"),
        ("not the first", ledger.lines().nth(1).unwrap().to_owned() + "\n"),
        ("unchained", format!("{first}\n{{}}\n")),
        ("garbage", format!("{first}\n\u{0}\u{1}\n")),
        ("another type", "[]\n".to_owned()),
        ("torn", ledger[..ledger.len() - 1].to_owned()),
        ("endless", "x".repeat(3 << 20)),
    ];
    let mut said = String::new();
    for (name, ledger) in cases {
        let fault = verify_ledger(ledger.as_bytes(), None).unwrap_err();
        said.push_str(&format!("{name}: {fault}\n"));
    }
    assert_told("ledger_faults", &said);
    assert_eq!(verify_ledger(&b""[..], None).unwrap(), LedgerReport::default());
}

/// Without a chain lines are as they are; a chain that was begun is never broken.
#[tokio::test(start_paused = true)]
async fn ledger_keeps_a_chain_once_begun() {
    let mut world = World::new(Script { tools: vec![], ..Script::default() });
    let mut counts = Vec::new();
    for chained in [false, true, false] {
        world.rules.chained = chained;
        world.governor().start("PROJECT").await.unwrap();
        let report = verify_ledger(world.file(folders().ledger()).as_bytes(), None).unwrap();
        counts.push((report.lines, report.chained));
    }
    assert_eq!(counts, [(6, 0), (12, 6), (18, 12)]);
}

/// A crash may tear the last line of somebody else; the next writer cuts it, and the run that lost it writes it again.
#[tokio::test(start_paused = true)]
async fn a_torn_line_of_another_run_is_cut_by_the_next_writer() {
    let world = World::new(Script { tools: vec![], ..Script::default() });
    let first = world.governor().start("PROJECT").await.unwrap().run;
    let ledger = world.file(folders().ledger());
    replace(&world.disk, &folders().ledger(), &ledger.as_bytes()[..ledger.len() - 7]).unwrap();
    let second = world.governor().start("PROJECT").await.unwrap().run;
    verify_ledger(world.file(folders().ledger()).as_bytes(), None).unwrap();
    assert_eq!(world.governor().resume(&first).await.unwrap().repairs.ledger_lines, 1);
    for run in [first, second] {
        judge(&world, &run).await;
    }
}

/// On the machine's disk, many at once: no torn line, no lost one, no broken link, no id twice.
#[test]
fn ledger_is_written_by_many_threads_at_once() {
    let folder = std::env::temp_dir().join(format!("runstate-ledger-{}", std::process::id()));
    let handles: Vec<_> = (0..8)
        .map(|_| {
            let folder = folder.clone();
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
                runtime.block_on(async {
                    let world = World::new(Script { tools: vec![], ..Script::default() });
                    let clock = Arc::new(TokioClock::starting_at(T));
                    let disk = Arc::new(RealDisk);
                    let governor =
                        Governor::new(disk, Folders::new(&folder), clock, world.parts(), world.rules.clone());
                    let governor = governor.unwrap();
                    let mut runs = Vec::new();
                    for _ in 0..3 {
                        runs.push(governor.start("PROJECT").await.unwrap().run);
                    }
                    runs
                })
            })
        })
        .collect();
    let mut runs: Vec<_> = handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect();
    runs.sort();
    runs.dedup();
    assert_eq!(runs.len(), 24);
    let ledger = std::fs::read_to_string(Folders::new(&folder).ledger()).unwrap();
    let report = verify_ledger(ledger.as_bytes(), None).unwrap();
    assert_eq!((report.lines, report.chained), (24 * 6, 24 * 6));
    for run in runs {
        assert_eq!(ledger.matches(&format!("\"instance\":\"{run}\"")).count(), 6);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
