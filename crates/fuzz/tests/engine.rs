//! Each planted fault is found, with the shortest sequence, and nothing else.

use std::cell::Cell;
use std::time::Duration;

use runstate_fuzz::{Fuzz, Kind, Report};

use super::order::{Fault, Order, fuzz, map};

fn only(report: &Report) -> (Kind, usize) {
    assert_eq!(report.findings.len(), 1, "{report}");
    assert!(!report.findings[0].is_flaky(), "{report}");
    (report.findings[0].kind, report.findings[0].exchanges.len())
}

#[test]
fn system_without_a_fault_is_clean_and_covered() {
    let report = fuzz(Fault::None);
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.transitions, 7);
}

#[test]
fn illegal_event_that_is_taken_is_found_in_three_steps() {
    assert_eq!(only(&fuzz(Fault::PaysTwice)), (Kind::AcceptedIllegal, 3));
}

#[test]
fn refused_transition_without_a_guard_is_found_in_two_steps() {
    let report = fuzz(Fault::RefusesRefund);
    assert_eq!(only(&report), (Kind::RefusedLegal, 2));
    assert!(report.uncovered[0].starts_with("Paid --> Refunded : refund (line 6) was not taken"), "{report}");
}

#[test]
fn refusal_that_changes_the_state_is_found_in_one_step() {
    assert_eq!(only(&fuzz(Fault::MovesOnRefusal)), (Kind::MovedOnRefusal, 1));
}

#[test]
fn wrong_target_is_found_in_three_steps() {
    assert_eq!(only(&fuzz(Fault::WrongTarget)), (Kind::WrongTarget, 3));
}

#[test]
fn damage_of_earlier_refusals_is_found() {
    assert_eq!(only(&fuzz(Fault::HiddenDamage)), (Kind::RefusedLegal, 5));
}

#[test]
fn panic_is_a_crash_with_the_smallest_payload() {
    let report = fuzz(Fault::PanicsOnPayload);
    assert_eq!(only(&report), (Kind::Crash, 1));
    assert_eq!(report.findings[0].exchanges[0].payload, serde_json::json!({ "amount": 77 }));
}

#[test]
fn wrong_start_ends_the_run() {
    let report = fuzz(Fault::WrongStart);
    assert_eq!(only(&report), (Kind::WrongStart, 0));
    assert_eq!(report.sequences, 1);
}

#[test]
fn unknown_state_is_garbage() {
    assert_eq!(only(&fuzz(Fault::UnknownState)), (Kind::Garbage, 1));
}

#[test]
fn fault_behind_five_steps_is_found() {
    assert_eq!(only(&fuzz(Fault::FiveSteps)), (Kind::AcceptedIllegal, 5));
}

#[test]
fn difference_that_a_fresh_start_does_not_show_is_flaky() {
    let report = fuzz(Fault::Leaks);
    assert!(report.findings.iter().all(|finding| finding.is_flaky() && finding.reproduced == 0), "{report}");
    assert!(!report.findings.is_empty(), "{report}");
    assert!(report.to_string().contains("flaky: 0 of 3 fresh replays show it"), "{report}");
}

#[test]
fn equal_seeds_give_equal_reports() {
    for fault in [Fault::None, Fault::HiddenDamage, Fault::PanicsOnPayload] {
        assert_eq!(fuzz(fault), fuzz(fault));
    }
    let other = Fuzz::new(map()).seed(4).run(&mut Order::with(Fault::HiddenDamage)).unwrap();
    assert_eq!(only(&other), (Kind::RefusedLegal, 5));
}

#[test]
fn time_limit_ends_the_random_phase() {
    let now = Cell::new(0);
    let clock = move || {
        now.set(now.get() + 1);
        Duration::from_millis(now.get())
    };
    let fuzz = Fuzz::new(map()).time_limit(Duration::from_millis(10), clock);
    let report = fuzz.run(&mut Order::default()).unwrap();
    assert!(report.sequences < 30, "{report}");
    assert!(report.is_clean(), "{report}");
}

#[test]
fn condition_stops_the_run_between_requests() {
    let report = Fuzz::new(map()).stop_when(|| true).run(&mut Order::default()).unwrap();
    assert_eq!((report.requests, report.uncovered.len()), (0, 7));
}
