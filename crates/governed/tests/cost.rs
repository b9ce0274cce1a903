//! The cost of a run for each of its tools, in counts.

use runstate::governed_run::GovernedRunStatus;
use runstate_governed::AwaitedInput;
use runstate_runtime::files::{Crash, Disk, Survives, replace};

use super::judge::judge;
use super::world::{RUN, Reply, Script, Tool, World, folders};

/// A run of so many tools, none of which waits for a person.
async fn driven(tools: usize) -> World {
    let names = (0..tools).map(|at| &*format!("tool-{at}").leak());
    let names: Vec<&'static str> = names.collect();
    let tools = names.iter().map(|name| Tool::new(name, [Reply::Pass])).collect();
    let world = World::new(Script { tools, auto: names, ..Script::default() });
    let ended = world.governor().start("PROJECT").await.unwrap();
    assert_eq!(ended.status, GovernedRunStatus::Completed);
    world
}

/// The state is written once for each tool: that it is called. Its report is in the next write.
#[tokio::test(start_paused = true)]
async fn a_tool_costs_one_write_of_the_state() {
    let (few, many) = (driven(2).await, driven(52).await);
    // Made, written, synced and renamed; and the folder is synced.
    assert_eq!(many.disk.operations() - few.disk.operations(), 50 * 5);
    judge(&many, &RUN.parse().unwrap()).await;
}

/// The state does not grow with each report of a tool: all but the last are in a file of their own.
#[tokio::test(start_paused = true)]
async fn the_state_holds_the_last_reports_alone() {
    // Behind either as many reports stay as behind the other.
    let (few, many) = (driven(100).await, driven(360).await);
    let run = RUN.parse().unwrap();
    let state = |world: &World| world.file(folders().state(&run)).len();
    // The name of a tool is planned, once more by the note on the plan, and completed.
    let bytes = state(&many) - state(&few);
    assert!(bytes < 260 * 3 * 16, "{bytes} bytes for 260 tools");
    let report = many.file(folders().report(&run));
    assert!((0..360).all(|at| report.contains(&format!("evidence: tool-{at} is done"))), "{report}");
    judge(&many, &run).await;
}

/// A later process reads the whole of a run.
#[tokio::test(start_paused = true)]
async fn reports_come_back_and_what_is_lost_of_them_is_told() {
    for damage in [None, Some(""), Some("short"), Some("other")] {
        let names: Vec<&'static str> = (0..150).map(|at| &*format!("tool-{at}").leak()).collect();
        let tools = names.iter().map(|name| Tool::new(name, [Reply::Pass]));
        let tools = tools.chain([Tool::new("deploy", [Reply::Pass])]).collect();
        let world = World::new(Script { tools, auto: names, ..Script::default() });
        let waiting = world.governor().start("PROJECT").await.unwrap();
        let Some(AwaitedInput::Approval(asked)) = waiting.waits else { panic!("{waiting:?}") };
        let run = waiting.run;
        let path = folders().state(&run).with_file_name("RUN_REPORTS.jsonl");
        let text = world.file(&path);
        match damage {
            None => {}
            Some("") => world.disk.remove(&path).unwrap(),
            Some("short") => replace(&world.disk, &path, &text.as_bytes()[..text.len() / 2]).unwrap(),
            Some(_) => {
                replace(&world.disk, &path, text.replacen("is done", "is gone", 1).as_bytes()).unwrap()
            }
        }
        world.governor().approve(&run, &asked.id, "ada", "").await.unwrap();
        let ended = world.governor().resume(&run).await.unwrap();
        assert_eq!(ended.status, GovernedRunStatus::Completed);
        let report = world.file(folders().report(&run));
        assert_eq!(report.contains("evidence: tool-0 is done"), damage.is_none(), "{report}");
        assert_eq!(report.contains("reports are lost"), damage.is_some(), "{report}");
        assert!(report.contains("evidence: tool-149 is done"), "{report}");
        let kept = world.disk.list(path.parent().unwrap()).unwrap();
        let kept = kept.iter().any(|name| name == "RUN_REPORTS.jsonl.damaged-1");
        assert_eq!(kept, matches!(damage, Some("short" | "other")), "{damage:?}");
        judge(&world, &run).await;
    }
}

/// A crash where reports are moved loses none of them.
#[tokio::test(start_paused = true)]
async fn reports_survive_a_crash_at_every_operation_that_moves_them() {
    let whole = driven(98).await;
    let run = RUN.parse().unwrap();
    let all = whole.disk.operations();
    // Reports are moved once, when there are 97, in the state before the last but one.
    let range = all - 60..all - 30;
    for (number, is_moved) in [(range.start, false), (range.end, true)] {
        let world = World::new(whole.script.clone());
        world.disk.crash_at(Crash::Before(number));
        assert!(world.governor().start("PROJECT").await.is_err(), "{number}");
        world.disk.restart(Survives::Everything);
        let state = world.file(folders().state(&run));
        assert_eq!(state.contains("tools_moved"), is_moved, "{number} of {all}");
    }
    for number in range {
        for survives in [Survives::Nothing, Survives::Everything] {
            let names: Vec<&'static str> = (0..98).map(|at| &*format!("tool-{at}").leak()).collect();
            let tools = names.iter().map(|name| Tool::new(name, [Reply::Pass]).read_only()).collect();
            let mut world = World::new(Script { tools, auto: names, ..Script::default() });
            world.survives = survives;
            world.disk.crash_at(Crash::Before(number));
            let (_, status) = world.live().await;
            assert_eq!(status, GovernedRunStatus::Completed, "{number}");
            let report = world.file(folders().report(&run));
            assert!((0..98).all(|at| report.contains(&format!("evidence: tool-{at} is done"))), "{report}");
            judge(&world, &run).await;
        }
    }
}
