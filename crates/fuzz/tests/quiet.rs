//! A panic of a system is part of the finding alone.

use std::panic::{catch_unwind, set_hook};
use std::process::Command;

use runstate_fuzz::{Broken, Fuzz, Reply, Sut, detects_mutants};
use serde_json::Value;

use super::conformance::Lamps;
use super::order::{Fault, Order, fuzz, map};

const IS_CHILD: &str = "RUNSTATE_TEST_QUIET_CHILD";

/// An order that lets another thread panic in each of its first two trials.
struct Beside(Order, u32);

impl Sut for Beside {
    fn reset(&mut self) -> Result<String, Broken> {
        self.0.reset()
    }

    fn state(&mut self) -> Result<String, Broken> {
        self.0.state()
    }

    fn apply(&mut self, event: &str, payload: &Value) -> Result<Reply, Broken> {
        if self.1 > 0 {
            self.1 -= 1;
            std::thread::spawn(|| panic!("beside")).join().unwrap_err();
        }
        self.0.apply(event, payload)
    }
}

/// The part of the test in a process of its own: a panic hook is one of the process.
#[test]
fn child_runs_with_a_hook_of_its_own() {
    if std::env::var_os(IS_CHILD).is_none() {
        return;
    }
    set_hook(Box::new(|info| println!("hook: {}", info.payload_as_str().unwrap_or("?"))));
    let report = Fuzz::new(map()).run(&mut Beside(Order::with(Fault::PanicsOnPayload), 2)).unwrap();
    println!("{report}");
    let panics = |_: &mut dyn Sut| -> Result<(), String> { panic!("the suite") };
    println!("{}", detects_mutants(Lamps::whole, panics).unwrap_err());
    catch_unwind(|| panic!("after the run")).unwrap_err();
}

#[test]
fn panic_of_a_trial_is_told_by_the_finding_alone() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["quiet::child_runs_with_a_hook_of_its_own", "--exact", "--nocapture"]).env(IS_CHILD, "1");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let hooked: Vec<&str> = text.lines().filter(|line| line.contains("hook: ")).collect();
    let ends = |line: &&str, end: &str| line.ends_with(end);
    assert_eq!(hooked.len(), 3, "{text}");
    assert!(hooked[..2].iter().all(|line| ends(line, "hook: beside")), "{text}");
    assert!(ends(&hooked[2], "hook: after the run"), "{text}");
    assert!(text.contains("crash: it panicked: no change for 77"), "{text}");
    assert!(text.contains("it panicked: the suite\npanicked at "), "{text}");
}

#[test]
fn place_of_a_panic_is_in_the_finding() {
    let report = fuzz(Fault::PanicsOnPayload);
    let place = report.findings[0].log.strip_prefix("panicked at ").unwrap();
    assert!(place.contains("tests/order.rs:"), "{place}");
    assert!(report.to_string().contains("\n  | panicked at "), "{report}");
    // A difference without a panic has no place of an earlier one.
    assert_eq!(fuzz(Fault::PaysTwice).findings[0].log, "");
}
