//! A guard that depends on the record: only the third ticket wins, so that no shortest way shows every edge.
use std::fmt;

use proptest::prelude::*;
use proptest::strategy::{LazyJust, ValueTree};
use proptest::test_runner::TestRunner;
use runstate::kernel::{Enter, Guard, Record, Stateful};
use runstate::lifecycle;
use runstate::testing::{
    Subject, event_sequences, exhaustive, legal_paths, minimal_transition_cover, path_along,
};
use serde::{Deserialize, Serialize};

lifecycle! {
    /// A lottery.
    pub(crate) mod lottery: Lottery(Purse), AnyLottery;
    version 1;
    diagram "lottery.md";
    status LotteryStatus {
        /// Without a ticket.
        Broke,
        /// With one.
        Paid { .. },
        /// With the prize.
        Rich,
    }
    event LotteryEvent {
        /// Buy a ticket.
        Buy,
        /// It is a blank.
        Lose,
        /// It is not.
        Win,
    }
    [*]   --> Broke;
    Broke --> Paid  : buy(Buy);
    Paid  --> Broke : lose(Lose);
    Paid  --> Rich  : win(Win) else NotYet;
    Rich  --> [*];
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Purse {
    tickets: u32,
}
impl Record for Purse {}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Paid {}

#[derive(Debug)]
pub(crate) struct NotYet;
impl fmt::Display for NotYet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("only the third ticket wins")
    }
}
impl std::error::Error for NotYet {}

impl<S> Enter<S, Buy> for Paid {
    fn enter(_: S, _: Buy, purse: &mut Purse) -> Self {
        purse.tickets += 1;
        Paid {}
    }
}
impl Guard<Paid, Win> for Rich {
    type Error = NotYet;
    fn check(_: &Paid, _: &Win, purse: &Purse) -> Result<(), NotYet> {
        if purse.tickets >= 3 { Ok(()) } else { Err(NotYet) }
    }
}

struct Players;

impl Subject for Players {
    type Machine = AnyLottery;
    fn record(&self) -> Purse {
        Purse::default()
    }
    fn event(&self, _: &AnyLottery, name: &'static str) -> BoxedStrategy<LotteryEvent> {
        match name {
            "buy" => LazyJust::new(|| Buy.into()).boxed(),
            "lose" => LazyJust::new(|| Lose.into()).boxed(),
            "win" => LazyJust::new(|| Win.into()).boxed(),
            other => unreachable!("a lottery has no event '{other}'"),
        }
    }
}

#[test]
fn random_paths_reach_edges_that_shortest_paths_miss() {
    let matrix = exhaustive(&Players);
    matrix.check(AnyLottery::GRAPH).unwrap();
    assert_eq!(matrix.taken().len(), 3);
    assert_eq!(
        matrix.refused(),
        [
            ("Broke", "lose"),
            ("Broke", "win"),
            ("Paid", "buy"),
            ("Rich", "buy"),
            ("Rich", "lose"),
            ("Rich", "win"),
        ]
    );
    assert_eq!(matrix.refused_by_guard(), [("Paid", "win")]);
}

#[test]
fn legal_path_avoids_an_edge_that_its_guard_refuses() {
    let mut runner = TestRunner::deterministic();
    let mut wins = 0;
    for _ in 0..100 {
        let path = legal_paths(Players, 12).new_tree(&mut runner).unwrap().current();
        path.drive(|lottery, step| {
            assert!(step.is_taken(), "{step}");
            if step.event == "win" {
                wins += 1;
                assert!(lottery.record().tickets >= 3);
            }
        });
    }
    assert!(wins > 10, "{wins}");
}

#[test]
fn shortest_winning_sequence_has_three_tickets() {
    let won = event_sequences(&Players, 6).find(|sequence| sequence.is_complete()).unwrap();
    let events: Vec<_> = won.events().collect();
    assert_eq!(events, ["buy", "lose", "buy", "lose", "buy", "win"]);
}

#[test]
fn path_refused_by_a_guard_is_an_error() {
    // The graph knows nothing of guards: it holds two tickets for enough.
    let paths = minimal_transition_cover(AnyLottery::GRAPH);
    assert_eq!(paths.len(), 1);
    let error = path_along(&Players, &paths[0]).unwrap_err();
    assert_eq!(error.to_string(), "Paid refuses 'win' by its guard, expected Paid --> Rich : win");
}
