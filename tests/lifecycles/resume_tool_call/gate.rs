//! A gate gives out its passes, takes them back, and is proven drained by a last look alone.

use runstate::checkpoint::{Trigger, without_committer};
use runstate::decision::{Decision, DecisionAction};
use runstate::kernel::Observer;
use runstate::resume_tool_call::*;

use super::super::stored;
use super::receipt;

/// A pass that gives its call up.
fn replayed(pass: ResumeToolCall<DrainDecisionChannel>) -> ResumeToolCall<CommitReplay> {
    let decision = Decision::new("dec-1", "sus-1", DecisionAction::Cancel);
    let pass = pass.match_call(MatchCall::new("call_1", decision)).resolve(Resolve);
    let durable = receipt(pass.due());
    let pass = pass.persist(Persist::new(durable)).unwrap().deny(Deny).unwrap().clear(Clear);
    pass.compare(Compare::new(true)).close(Close)
}

fn look(gate: &mut Gate) -> ResumeToolCall<NoDecision> {
    gate.pass(Observer::default()).find_nothing(FindNothing)
}

fn replay(gate: &mut Gate) -> ResumeToolCall<CommitReplay> {
    replayed(gate.pass(Observer::default()))
}

/// The gate is not drained for that reason; gate and pass come back as they were.
fn not_drained(
    gate: Gate,
    last: ResumeToolCall<NoDecision>,
    why: &str,
) -> (Gate, ResumeToolCall<NoDecision>) {
    let before = format!("{gate:?} {last:?}");
    let (gate, last, error) = gate.drained(last).unwrap_err();
    assert_eq!(error.to_string(), why);
    assert_eq!(format!("{gate:?} {last:?}"), before, "a refusal changes nothing");
    (gate, last)
}

#[test]
fn a_gate_that_replays_nothing_proves_so() {
    let mut gate = Gate::alone(3);
    assert_eq!((gate.number(), gate.next_pass(), gate.under_way()), (3, 1, 0));
    let last = look(&mut gate);
    assert_eq!((gate.next_pass(), gate.under_way()), (2, 1));
    let drained = gate.drained(last).unwrap();
    assert_eq!(drained.gate(), 3);
    assert!(matches!(drained, Drained::Nothing(_)), "{drained:?}");
}

/// Document 000, "Notes" under the sub-state machine: a commit only where a replay executed.
#[test]
fn a_gate_that_replayed_owes_a_commit() {
    let drained = || {
        let mut gate = Gate::alone(3);
        let pass = replay(&mut gate);
        gate.rejoin(pass).unwrap();
        let last = look(&mut gate);
        assert_eq!((last.record().gate(), last.record().pass()), (3, 2));
        match gate.drained(last).unwrap() {
            Drained::Replayed(replayed) => replayed,
            Drained::Nothing(nothing) => panic!("{nothing:?}"),
        }
    };
    let replayed = drained();
    assert_eq!((replayed.due().trigger(), replayed.due().number()), (Trigger::ToolResultsCommitted, 3));

    // The receipt of the decision does not do for the effects of its replay.
    let decision = Decision::new("dec-1", "sus-1", DecisionAction::Cancel);
    let pass = Gate::alone(3).pass(Observer::default()).match_call(MatchCall::new("call_1", decision));
    let wrong = receipt(pass.resolve(Resolve).due());
    let (replayed, error) = replayed.committed(wrong).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the receipt is for commit 1 (DecisionAccepted) of gate 3, \
         where commit 3 (ToolResultsCommitted) of gate 3 is due"
    );
    let right = receipt(replayed.due());
    assert!(replayed.committed(right).is_ok());
    assert_eq!(Drained::Replayed(drained()).gate(), 3);
}

/// A pass may be committed by itself. That says nothing of what the others did, so the gate's own commit is another.
#[test]
fn the_commit_of_one_pass_is_not_that_of_its_gate() {
    for order in [[0, 1], [1, 0]] {
        let mut gate = Gate::alone(3);
        let mut passes = [replay(&mut gate), replay(&mut gate)].map(Some);
        let alone: Vec<_> = passes.iter().flatten().map(|pass| pass.due()).collect();
        for i in order {
            gate.rejoin(passes[i].take().unwrap()).unwrap();
        }
        let last = look(&mut gate);
        let Drained::Replayed(mut replayed) = gate.drained(last).unwrap() else { panic!("two were") };
        for due in alone {
            assert_eq!(due.trigger(), Trigger::ToolResultsCommitted);
            let error;
            (replayed, error) = replayed.committed(without_committer(due)).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("the receipt is for {due}, where commit 4 (ToolResultsCommitted) of gate 3 is due")
            );
        }
        let right = receipt(replayed.due());
        assert!(replayed.committed(right).is_ok());
    }
}

/// What was committed by itself the gate does not owe again; what was not, it does.
#[test]
fn a_pass_that_was_committed_by_itself_rejoins_with_its_receipt() {
    let mut gate = Gate::alone(3);
    let (first, second) = (replay(&mut gate), replay(&mut gate));
    let wrong = receipt(second.due());
    let (first, error) = gate.rejoin_committed(first, &wrong).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the receipt is for commit 2 (ToolResultsCommitted) of gate 3, \
         where commit 1 (ToolResultsCommitted) of gate 3 is due"
    );
    let (foreign, error) = Gate::alone(4).rejoin_committed(second, &wrong).unwrap_err();
    assert_eq!(error.to_string(), "the pass is of gate 3, where gate 4 is drained");
    let right = receipt(first.due());
    gate.rejoin_committed(first, &right).unwrap();

    let beside = look(&mut gate);
    gate.rejoin_committed(foreign, &wrong).unwrap();
    let why = "pass 3 through gate 3 looked while another was under way: rejoin it and look again";
    let (mut gate, beside) = not_drained(gate, beside, why);
    gate.rejoin(beside).unwrap();
    let last = look(&mut gate);
    assert!(matches!(gate.drained(last), Ok(Drained::Nothing(_))));

    let mut gate = Gate::alone(3);
    let (first, second) = (replay(&mut gate), replay(&mut gate));
    let right = receipt(first.due());
    gate.rejoin_committed(first, &right).unwrap();
    gate.rejoin(second).unwrap();
    let last = look(&mut gate);
    assert!(matches!(gate.drained(last), Ok(Drained::Replayed(_))));
}

#[test]
fn passes_rejoin_in_any_order() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for order in orders {
        let mut gate = Gate::alone(1);
        let mut out: Vec<_> = (0..3).map(|_| Some(gate.pass(Observer::default()))).collect();
        let numbers: Vec<_> = out.iter().flatten().map(|pass| pass.record().pass()).collect();
        assert_eq!((numbers, gate.under_way()), (vec![1, 2, 3], 3));
        for (i, left) in order.into_iter().zip((0..3).rev()) {
            gate.rejoin(replayed(out[i].take().unwrap())).unwrap();
            assert_eq!(gate.under_way(), left);
        }
        let last = look(&mut gate);
        assert_eq!(last.record().pass(), 4);
        assert!(matches!(gate.drained(last), Ok(Drained::Replayed(_))), "{order:?}");
    }
}

#[test]
fn a_gate_is_not_drained_while_a_pass_is_out() {
    let mut gate = Gate::alone(1);
    let (first, second) = (gate.pass(Observer::default()), gate.pass(Observer::default()));
    let beside = look(&mut gate);
    let (mut gate, beside) = not_drained(gate, beside, "2 passes through gate 1 are still under way");
    gate.rejoin(replayed(first)).unwrap();
    let (mut gate, beside) = not_drained(gate, beside, "1 pass through gate 1 is still under way");
    gate.rejoin(second.find_nothing(FindNothing)).unwrap();

    // All are back, but what it found nothing in was looked at before a call was replayed, which may wait again by now for
    // a decision that was held for it.
    let why = "pass 3 through gate 1 looked while another was under way: rejoin it and look again";
    let (mut gate, beside) = not_drained(gate, beside, why);
    gate.rejoin(beside).unwrap();
    let last = look(&mut gate);
    assert!(matches!(gate.drained(last), Ok(Drained::Replayed(_))));
}

/// A look that was first alone is none any more when a pass was given out after it.
#[test]
fn the_last_look_is_the_newest() {
    let mut gate = Gate::alone(1);
    let first = look(&mut gate);
    let second = look(&mut gate);
    gate.rejoin(second).unwrap();
    let why = "pass 1 through gate 1 looked while another was under way: rejoin it and look again";
    let (mut gate, first) = not_drained(gate, first, why);
    gate.rejoin(first).unwrap();
    let last = look(&mut gate);
    assert!(matches!(gate.drained(last), Ok(Drained::Nothing(_))));
}

#[test]
fn a_pass_of_another_gate_comes_back() {
    let mut gate = Gate::alone(1);
    let mine = gate.pass(Observer::default());
    let mut other = Gate::alone(2);
    let (foreign, foreign_look) = (replay(&mut other), look(&mut other));

    let why = "the pass is of gate 2, where gate 1 is drained";
    let (foreign, error) = gate.rejoin(foreign).unwrap_err();
    assert_eq!((error.to_string(), gate.under_way()), (why.to_owned(), 1));
    let (mut gate, foreign_look) = not_drained(gate, foreign_look, why);

    // Both gates go on as if nothing had been mixed up.
    gate.rejoin(mine.find_nothing(FindNothing)).unwrap();
    let last = look(&mut gate);
    assert!(matches!(gate.drained(last), Ok(Drained::Nothing(_))));
    other.rejoin(foreign).unwrap();
    other.rejoin(foreign_look).unwrap();
    let last = look(&mut other);
    assert!(matches!(other.drained(last), Ok(Drained::Replayed(_))));
}

/// A pass at rest belongs to no gate: what gave it out is gone with its process, or still has the pass itself. Else a
/// pass that was stored could be given back twice, and one that executes would be forgotten.
#[test]
fn a_pass_out_of_storage_does_not_rejoin() {
    let mut gate = Gate::alone(1);
    let (pass, _executing) = (replay(&mut gate), gate.pass(Observer::default()));
    let AnyResumeToolCall::CommitReplay(copy) = stored::form(&pass).restore().unwrap() else {
        panic!("another state came back")
    };
    gate.rejoin(pass).unwrap();
    let (_, error) = gate.rejoin(copy).unwrap_err();
    assert_eq!(error.to_string(), "pass 1 through gate 1 was not given out by this gate");
    assert_eq!(gate.under_way(), 1);
}

#[test]
fn a_pass_by_itself_proves_no_gate() {
    let mut gate = Gate::alone(1);
    let _executing = gate.pass(Observer::default());
    let by_itself = ResumeToolCall::new(GateRecord::new(1)).find_nothing(FindNothing);
    let why = "pass 1 through gate 1 was not given out by this gate";
    let (gate, _) = not_drained(gate, by_itself, why);
    assert_eq!(gate.under_way(), 1);
}

/// Everything that can be done with up to four passes, held against what "drained" means: every pass is back, and one was
/// begun when all others were back and found nothing.
#[test]
fn every_order_of_few_passes() {
    #[derive(Clone, Copy, PartialEq)]
    enum Did {
        Give,
        Replay(usize),
        FindNothing(usize),
    }
    /// All sequences of what can be done, each longer by one.
    fn longer(done: &[Did]) -> Vec<Did> {
        let given = done.iter().filter(|did| **did == Did::Give).count();
        let back = |i| done.contains(&Did::Replay(i)) || done.contains(&Did::FindNothing(i));
        let ends = (0..given).filter(|i| !back(*i));
        let mut next: Vec<_> = ends.flat_map(|i| [Did::Replay(i), Did::FindNothing(i)]).collect();
        if given < 4 {
            next.push(Did::Give);
        }
        next
    }
    /// Does it for real; the last pass stays out of its gate.
    fn drained(done: &[Did]) -> Result<Drained, NotDrained> {
        let (mut gate, mut out) = (Gate::alone(1), Vec::new());
        for (n, did) in done.iter().enumerate() {
            match *did {
                Did::Give => out.push(Some(gate.pass(Observer::default()))),
                Did::Replay(i) => gate.rejoin(replayed(out[i].take().unwrap())).unwrap(),
                Did::FindNothing(i) => {
                    let look = out[i].take().unwrap().find_nothing(FindNothing);
                    if n + 1 == done.len() {
                        return gate.drained(look).map_err(|(_, _, error)| error);
                    }
                    gate.rejoin(look).unwrap();
                }
            }
        }
        unreachable!("no last look")
    }

    let (mut sequences, mut tried, mut drained_ones) = (vec![Vec::new()], 0, 0);
    while let Some(done) = sequences.pop() {
        for did in longer(&done) {
            let next = [&done[..], &[did]].concat();
            if let Did::FindNothing(last) = did {
                let given = next.iter().filter(|did| **did == Did::Give).count();
                let back = given == next.len() - given;
                // When it was given out every pass before it was back, and it is the newest.
                let at = next.iter().enumerate().filter(|(_, did)| **did == Did::Give).nth(last).unwrap().0;
                let alone = last + 1 == given && next[..at].len() == 2 * last;
                let replays = next.iter().any(|did| matches!(did, Did::Replay(_)));
                match drained(&next) {
                    Ok(Drained::Nothing(_)) => assert!(back && alone && !replays),
                    Ok(Drained::Replayed(_)) => assert!(back && alone && replays),
                    Err(NotDrained::UnderWay { .. }) => assert!(!back),
                    Err(NotDrained::LookAgain { .. }) => assert!(back && !alone),
                    Err(other) => panic!("{other}"),
                }
                tried += 1;
                drained_ones += usize::from(back && alone);
            }
            sequences.push(next);
        }
    }
    assert!(drained_ones > 100 && tried > 5 * drained_ones, "{drained_ones} of {tried}");
}
