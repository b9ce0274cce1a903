//! Runs that are recorded while they are driven, and across processes.

use runstate::approval::AnyApproval;
use runstate::governed_run::AnyGovernedRun;
use runstate::kernel::Stateful;
use runstate::trace::{Event, Recorder, Rulebook, Verdict, check};
use runstate_governed::Governor;
use serde_json::Value;

use super::judge::judge;
use super::world::{Answer, Reply, Script, Tool, World, folders};

/// A process that records: its trace goes on where that of the one before ended.
fn recording(world: &World, trace: &[Event<'static>]) -> (Governor, Recorder) {
    let first = trace.last().map_or(1, |event| event.seq + 1);
    let clock = world.clock.clone();
    let recorder = Recorder::builder("r")
        .first_seq(first)
        .clock(move || runstate_runtime::clock::Clock::now_ms(clock.as_ref()))
        .build();
    let observed = recorder.clone();
    (world.governor().observed(move |_, instance| observed.observer(instance)), recorder)
}

/// Whatever becomes of it: the trace conforms, and tells of the run what its log does.
#[tokio::test(start_paused = true)]
async fn trace_of_a_governed_run_matches_its_log() {
    let scripts = [
        Script { plan_asks: true, ..Script::default() },
        Script { answers: vec![Answer::Reject], ..Script::default() },
        Script { answers: vec![Answer::Escalate], ..Script::default() },
        Script { answers: vec![Answer::Never], ..Script::default() },
        Script { verify: vec![Reply::Fail], ..Script::default() },
        Script { tools: vec![Tool::new("build", [Reply::Halt])], ..Script::default() },
    ];
    for script in scripts {
        let world = World::new(script);
        let mut trace: Vec<Event<'static>> = Vec::new();
        let (governor, recorder) = recording(&world, &trace);
        let mut progressed = governor.start("PROJECT").await.unwrap();
        trace.extend(recorder.take());
        for _ in 0..9 {
            let run = progressed.run.clone();
            let Some(runstate_governed::AwaitedInput::Approval(pending)) = &progressed.waits else { break };
            // Another process decides, and yet another one goes on.
            let (governor, recorder) = recording(&world, &trace);
            match world.answer(&pending.id) {
                Answer::Approve => governor.approve(&run, &pending.id, "ada", "").await.unwrap(),
                Answer::Reject => drop(governor.reject(&run, &pending.id, "ada", "").await.unwrap()),
                Answer::Escalate => drop(governor.escalate(&run, &pending.id, "ada", "").await.unwrap()),
                Answer::Never => {
                    tokio::time::advance(std::time::Duration::from_secs(24 * 60 * 60)).await;
                    assert_eq!(world.sweep(&governor).await.len(), 1);
                }
            }
            trace.extend(recorder.take());
            let (governor, recorder) = recording(&world, &trace);
            progressed = governor.resume(&run).await.unwrap();
            trace.extend(recorder.take());
        }
        judge(&world, &progressed.run).await;
        let book = Rulebook::of([<AnyGovernedRun as Stateful>::GRAPH, <AnyApproval as Stateful>::GRAPH]);
        let report = check(&trace, &book);
        assert_eq!(report.verdict, Verdict::Conforms, "{}", report.summary());
        let log = world.file(folders().log(&progressed.run));
        let logged: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of_run: Vec<&Event<'_>> =
            trace.iter().filter(|event| event.lifecycle == "governed_run").collect();
        assert_eq!(of_run.len(), logged.len());
        for (event, line) in of_run.into_iter().zip(logged) {
            assert_eq!(event.instance, line["instance"].as_str().unwrap());
            assert_eq!(event.from.as_deref(), line["from"].as_str());
            assert_eq!(
                (&*event.to, &*event.event),
                (line["to"].as_str().unwrap(), line["event"].as_str().unwrap())
            );
            assert_eq!(event.at_ms, line["at_ms"].as_u64().unwrap());
        }
        let approvals = super::judge::approvals(&world).len();
        let ended = trace.iter().filter(|event| matches!(&*event.to, "EXECUTED" | "ABORTED")).count();
        assert_eq!(ended, approvals, "each approval is told of to its end");
    }
}
