//! Workers: processes of their own, ended by their ids.

use super::in_every_store;
use crate::place::Place;
#[cfg(unix)]
use crate::stores;

/// Calls one after the other, of which the second takes a while. That each was begun is durable before it executes.
const SLOW: &str = "\
name: slow
message: go
tools: {read: {calls: {b: [{takes_ms: 4000}]}}}
model:
  - calls: [{id: a, tool: read}]
  - calls: [{id: b, tool: read}]
  - calls: [{id: c, tool: read}]
  - text: done
";

/// Two calls that wait for people.
const ASKING: &str = "\
name: asking
message: go
approve: [pay]
tools: {pay: {}}
model:
  - calls: [{id: p, tool: pay, arguments: {amount: 9}}, {id: q, tool: pay, arguments: {amount: 7}}]
  - text: done
decisions:
  - {call: p, action: approve}
outside:
  - {when: {at_ms: 0}, do: cancel}
";

in_every_store! {
    once_drives_what_can_go_on_and_leaves_people_their_decisions,
    a_decision_of_another_process_wakes_a_worker,
    a_run_is_cancelled_from_another_process,
    two_workers_share_runs_and_each_is_driven_once,
}

#[cfg(unix)]
in_every_store! {
    another_worker_goes_on_with_the_runs_of_one_that_was_killed,
    a_worker_that_is_to_end_gives_its_runs_back,
    the_second_signal_ends_a_worker_at_once,
}

#[cfg(target_os = "linux")]
in_every_store! {
    the_lease_of_a_killed_process_is_over_at_once_on_its_machine,
    worker_takes_a_waiting_run_of_a_process_that_ended_later,
    a_run_that_ended_two_processes_is_set_aside,
}

fn once_drives_what_can_go_on_and_leaves_people_their_decisions(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached(ASKING);
    place.work();
    // Neither the scenario's own decision nor what it lets come from outside has happened.
    assert_eq!(place.field("asking-1", "status"), "Waiting");
    assert_eq!(place.stands("asking-1").unwrap()["undecided"], 2);
    place.does(&["approve", "asking-1/p/1"], 0);
    place.does(&["deny", "asking-1/q/1"], 0);
    place.work();
    assert_eq!(place.field("asking-1", "reason"), "natural_end");
    assert_eq!(place.executions("asking-1"), 1);
    place.conforms("asking-1", &["--complete"]);
}

fn a_decision_of_another_process_wakes_a_worker(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached(ASKING);
    let worker = place.worker(&[]);
    place.wait_for("asking-1", "status", "Waiting");
    for call in ["p", "q"] {
        place.does(&["approve", call, "--run", "asking-1"], 0);
    }
    place.wait_for("asking-1", "reason", "natural_end");
    drop(worker);
    assert_eq!(place.executions("asking-1"), 2);
    place.conforms("asking-1", &["--complete"]);
}

fn a_run_is_cancelled_from_another_process(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached(&SLOW.replace("4000", "3600000"));
    let worker = place.worker(&[]);
    place.wait_for_call("slow-1", "b", "Running");
    place.does(&["cancel", "slow-1", "--reason", "by mistake"], 0);
    place.wait_for("slow-1", "reason", "cancelled");
    drop(worker);
    assert_eq!(place.does(&["cancel", "slow-1"], 1).stdout, "slow-1 is over: cancelled\n");
    let unknown = place.does(&["cancel", "slow-2"], 2);
    assert!(unknown.stderr.contains("slow-2"), "{}", unknown.shown());
}

fn two_workers_share_runs_and_each_is_driven_once(place: &dyn Fn() -> Place) {
    const RUNS: usize = 12;
    let place = place();
    for _ in 0..RUNS {
        place.detached(&SLOW.replace("4000", "20"));
    }
    // Leases that are not over before the runs are, on however slow a machine.
    let workers = [(); 2].map(|()| place.worker(&["--concurrency", "3", "--lease", "10m"]));
    let run = |number: usize| format!("slow-{}", number + 1);
    for number in 0..RUNS {
        place.wait_for(&run(number), "reason", "natural_end");
    }
    drop(workers);
    for number in 0..RUNS {
        assert_eq!(place.executions(&run(number)), 3);
        assert_eq!(place.events(&run(number), "run_flow", "RunStart"), 1, "it was taken in hand once");
        place.conforms(&run(number), &["--complete"]);
    }
}

#[cfg(unix)]
fn another_worker_goes_on_with_the_runs_of_one_that_was_killed(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached(&SLOW.replace("{read: {", "{read: {effect: repeatable, ").replace("4000", "3600000"));
    let first = place.worker(&["--lease", "1s"]);
    // What may run twice is not noted before it executes: the second call does now, for an hour.
    place.wait_for_call("slow-1", "a", "Succeeded");
    first.signal("-KILL");
    assert_eq!(first.wait().0, None, "killed");
    assert!(place.stands("slow-1").unwrap()["holder"].is_object(), "nobody gave it back");
    // On a slow machine it may have lost its run before, and taken it again.
    let begun = place.events("slow-1", "run_flow", "RunStart");
    // Nobody tells when a lease is over.
    let second = place.worker(&["--poll", "100ms"]);
    stores::wait_until("it goes on", || place.events("slow-1", "run_flow", "RunStart") > begun);
    place.does(&["cancel", "slow-1"], 0);
    place.wait_for("slow-1", "reason", "cancelled");
    drop(second);
    place.conforms("slow-1", &[]);
}

#[cfg(target_os = "linux")]
fn the_lease_of_a_killed_process_is_over_at_once_on_its_machine(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached(&SLOW.replace("{read: {", "{read: {effect: repeatable, ").replace("4000", "3600000"));
    let first = place.worker(&["--lease", "10h"]);
    place.wait_for_call("slow-1", "a", "Succeeded");
    first.signal("-KILL");
    assert_eq!(first.wait().0, None, "killed");
    let begun = place.events("slow-1", "run_flow", "RunStart");
    let second = place.worker(&["--lease", "10h", "--poll", "100ms"]);
    stores::wait_until("it goes on", || place.events("slow-1", "run_flow", "RunStart") > begun);
    second.signal("-KILL");
    assert_eq!(second.wait().0, None, "killed");
    place.does(&["cancel", "slow-1"], 0);
    place.does(&["resume", "slow-1"], 1);
    assert_eq!(place.field("slow-1", "reason"), "cancelled");
}

/// The worker started before the other process ended, and the run waits with a decision.
#[cfg(target_os = "linux")]
fn worker_takes_a_waiting_run_of_a_process_that_ended_later(place: &dyn Fn() -> Place) {
    let place = place();
    place.session.write("s.yaml", crate::run::UNDECIDED);
    place.does(&["run", "s.yaml"], 3);
    let worker = place.worker(&["--poll", "100ms"]);
    place.detached("name: fine\nmessage: go\nmodel:\n  - text: done\n");
    place.wait_for("fine-1", "reason", "natural_end");
    let args = ["resume", "undecided-1", "--ask", "--lease", "10h"];
    let mut asks = place.command(&args).stdin(std::process::Stdio::piped()).spawn().unwrap();
    let _open = asks.stdin.take();
    let asks = crate::place::Ended(Some(asks));
    stores::wait_until("it is held", || place.stands("undecided-1").unwrap()["holder"].is_object());
    asks.signal("-KILL");
    assert_eq!(asks.wait().0, None, "killed");
    for call in ["rm_a", "rm_b"] {
        place.does(&["deny", &format!("undecided-1/{call}/1")], 0);
    }
    place.wait_for("undecided-1", "reason", "natural_end");
    drop(worker);
}

/// No step was done meanwhile. Other runs are driven, and a command gives it back.
#[cfg(target_os = "linux")]
fn a_run_that_ended_two_processes_is_set_aside(place: &dyn Fn() -> Place) {
    let place = place();
    let deadly = "name: deadly\nmessage: go\ntools: {read: {effect: repeatable, does: [{takes_ms: 3600000}]}}\n\
                  model:\n  - calls: [{id: a, tool: read}]\n  - text: done\n";
    place.detached(deadly);
    for started in 1..=2 {
        let worker = place.worker(&["--lease", "10h", "--poll", "100ms"]);
        stores::wait_until("it executes", || place.events("deadly-1", "run_flow", "RunStart") == started);
        place.wait_for_call("deadly-1", "a", "New");
        worker.signal("-KILL");
        assert_eq!(worker.wait().0, None, "killed");
    }
    place.detached("name: fine\nmessage: go\nmodel:\n  - text: done\n");
    place.does(&["worker", "--once"], 1);
    let runs = place.does(&["runs"], 0);
    assert!(runs.stdout.contains("it is set aside: 2 processes in a row have ended"), "{}", runs.shown());
    assert_eq!(place.field("fine-1", "reason"), "natural_end");
    place.does(&["worker", "--once"], 0);
    place.does(&["resume", "deadly-1", "--detach"], 0);
    let worker = place.worker(&["--lease", "10h", "--poll", "100ms"]);
    stores::wait_until("it goes on", || place.events("deadly-1", "run_flow", "RunStart") == 3);
    drop(worker);
    place.does(&["cancel", "deadly-1"], 0);
}

#[cfg(unix)]
fn a_worker_that_is_to_end_gives_its_runs_back(place: &dyn Fn() -> Place) {
    for (signal, more) in [("-TERM", &[] as &[&str]), ("-INT", &["--once"])] {
        let place = drained_while_a_call_executes(place, signal, more);
        let left = place.stands("slow-1").unwrap();
        assert!(left["holder"].is_null(), "{left}");
        assert_eq!(left["status"], "Running");
        // The executed call was resumed: it is not in doubt.
        assert_eq!(place.call("slow-1", "b"), "Succeeded");
        place.work();
        assert_eq!(place.executions("slow-1"), 3);
        place.conforms("slow-1", &[]);
    }
}

/// A place with a run whose second call executed when its worker was told to end, and was over before that ended.
#[cfg(unix)]
fn drained_while_a_call_executes(place: &dyn Fn() -> Place, signal: &str, more: &[&str]) -> Place {
    // On a slow machine the call may be over before the signal is there.
    for takes_ms in ["2000", "15000", "60000"] {
        let place = place();
        place.detached(&SLOW.replace("4000", takes_ms));
        let drained = place.worker(more);
        place.wait_for_call("slow-1", "b", "Running");
        drained.signal(signal);
        let was_in_time = place.call("slow-1", "b") == "Running";
        let (code, stderr) = drained.wait();
        assert_eq!(code, Some(0), "{stderr}");
        if was_in_time {
            return place;
        }
    }
    panic!("no signal came in time");
}

#[cfg(unix)]
fn the_second_signal_ends_a_worker_at_once(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached(&SLOW.replace("4000", "3600000"));
    let ended = place.worker(&[]);
    place.wait_for_call("slow-1", "b", "Running");
    // Signals of one kind that come together are one: so of each kind one.
    ended.signal("-TERM");
    ended.signal("-INT");
    let (code, stderr) = ended.wait();
    assert!(matches!(code, Some(130 | 143)), "{code:?} {stderr}");
    assert!(place.stands("slow-1").unwrap()["holder"].is_object(), "it gave nothing back");
}
