//! Random walks: legal ones are legal, failing ones shrink, and edges are soon seen.
use std::collections::HashSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use runstate::kernel::Stateful;
use runstate::testing::example::{AnyDoor, DoorEvent, Doors};
use runstate::testing::{EventPath, EventPaths, Subject, Verdict, legal_paths, mixed_paths};
use runstate::tool_call::AnyToolCall;

use super::liar::{Liars, Lie};
use crate::proof::Calls;

fn runner(seed: u8) -> TestRunner {
    let config = Config { failure_persistence: None, cases: 1_000, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]))
}

/// The simplest walk that proptest finds for which `is_bad` holds.
fn simplest<S: Subject>(
    paths: EventPaths<S>,
    seed: u8,
    is_bad: impl Fn(EventPath<S::Machine>) -> bool,
) -> EventPath<S::Machine> {
    let result = runner(seed).run(&paths, |path| {
        prop_assert!(!is_bad(path));
        Ok(())
    });
    match result {
        Err(TestError::Fail(_, path)) => path,
        other => panic!("got {:?}, expected a failing path", other.map_err(|e| e.to_string())),
    }
}

proptest! {
    #[test]
    fn each_step_of_a_legal_path_is_taken(path in legal_paths(Calls, 30)) {
        path.drive(|_, step| assert!(step.is_taken(), "{step}"));
    }

    #[test]
    fn mixed_path_moves_only_along_the_graph(path in mixed_paths(Calls, 30)) {
        path.drive(|call, step| {
            let edge = AnyToolCall::GRAPH.edge(step.from, step.event);
            let to = edge.map(|edge| edge.to);
            let now = call.status().name();
            assert!(if step.is_taken() { to == Some(now) } else { now == step.from }, "{step}");
        });
    }
}

#[test]
fn mixed_paths_have_legal_refused_and_guarded_steps() {
    let (mut taken, mut no_edge, mut by_guard) = (0, 0, 0);
    let mut runner = runner(1);
    for _ in 0..100 {
        let path = mixed_paths(Calls, 30).new_tree(&mut runner).unwrap().current();
        path.drive(|_, step| match step.verdict {
            Verdict::Taken(_) => taken += 1,
            Verdict::NoEdge => no_edge += 1,
            Verdict::ByGuard => by_guard += 1,
        });
    }
    assert!(taken > 100 && no_edge > 100 && by_guard > 0, "{taken} {no_edge} {by_guard}");
}

#[test]
fn mixed_paths_of_one_seed_are_equal() {
    let text = |seed| {
        let mut runner = runner(seed);
        let trees = (0..20).map(|_| mixed_paths(Doors, 20).new_tree(&mut runner).unwrap());
        trees.map(|tree| format!("{:?}\n", tree.current())).collect::<String>()
    };
    assert_eq!(text(1), text(1));
    assert_ne!(text(1), text(2));
}

#[test]
fn legal_paths_soon_cover_all_edges() {
    // proptest-state-machine needs 99 such cases at the median.
    let mut needed: Vec<usize> = (0..51)
        .map(|seed| {
            let mut runner = runner(seed);
            let mut seen = HashSet::new();
            let mut cases = 0;
            while seen.len() < AnyToolCall::GRAPH.edges.len() {
                cases += 1;
                let path = legal_paths(Calls, 10).new_tree(&mut runner).unwrap().current();
                path.drive(|_, step| {
                    seen.insert((step.from, step.event));
                });
            }
            cases
        })
        .collect();
    needed.sort_unstable();
    assert!(needed[25] <= 33, "median of {needed:?}");
}

#[test]
fn failing_path_shrinks_to_the_shortest() {
    // Wrong: a door is never removed once it was locked. The shortest way there has five steps, and the keys fit.
    for seed in 1..10 {
        let path = simplest(legal_paths(Doors, 40), seed, |path| {
            let (mut was_locked, mut is_bad) = (false, false);
            path.drive(|_, step| {
                was_locked |= step.event == "lock";
                is_bad |= was_locked && step.event == "remove";
            });
            is_bad
        });
        let names: Vec<_> = path.events().iter().map(DoorEvent::name).collect();
        assert_eq!(names, ["close", "lock", "unlock", "reopen", "remove"], "seed {seed}");
        // Changing the key that locks takes along the key that unlocks.
        assert!(format!("{path:?}").contains("Lock(Lock { key: 0 }), Unlock(Unlock { key: 0 })"), "{path:?}");
    }
}

#[test]
fn failing_path_shrinks_to_the_simplest_payload() {
    // Wrong: doors are locked with keys below 100.
    for seed in 1..10 {
        let path = simplest(legal_paths(Doors, 40), seed, |path| {
            let mut is_bad = false;
            path.drive(|door, _| {
                is_bad |= matches!(door, AnyDoor::Locked(door) if door.state().key() >= 100)
            });
            is_bad
        });
        assert_eq!(
            format!("{path:?}"),
            "door from Open: close, lock = [Close(Close), Lock(Lock { key: 100 })]",
            "seed {seed}"
        );
    }
}

#[test]
fn failing_mixed_path_shrinks_to_the_shortest() {
    // Wrong: a locked door refuses nothing.
    for seed in 1..10 {
        let path = simplest(mixed_paths(Doors, 40), seed, |path| {
            let mut is_bad = false;
            path.drive(|_, step| is_bad |= step.from == "Locked" && !step.is_taken());
            is_bad
        });
        assert_eq!(path.events().len(), 3, "seed {seed}: {path:?}");
    }
}

#[test]
fn an_edge_that_apply_refuses_is_named() {
    let mut runner = runner(1);
    let errors =
        (0..20).filter_map(|_| legal_paths(Liars(Lie::RefusesDeclaredEdge), 20).new_tree(&mut runner).err());
    let texts: HashSet<String> = errors.map(|reason| reason.to_string()).collect();
    assert_eq!(
        texts,
        HashSet::from(["Shut --> Locked : lock is declared, and `apply` refuses it".to_owned()])
    );
}

#[test]
#[should_panic(expected = ", and the machine that came back is another")]
fn driving_a_path_detects_a_refusal_with_a_change() {
    let mut runner = runner(1);
    for _ in 0..100 {
        mixed_paths(Liars(Lie::RefusalChangesMachine), 20)
            .new_tree(&mut runner)
            .unwrap()
            .current()
            .drive(|_, _| ());
    }
}
