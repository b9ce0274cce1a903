//! The numbers of runs: none is given twice.

use crate::program::Running;
use crate::session::Session;

const DONE: &str = "name: done\nmessage: go\nmodel:\n  - text: done\n";

fn say(session: &Session, args: &[&str]) -> String {
    let said = session.run(&[args, &["--state-dir", "runs"]].concat());
    assert_eq!(said.code, Some(0), "{}", said.shown());
    said.shown()
}

#[test]
fn the_number_of_a_run_that_was_removed_is_not_given_again() {
    let session = Session::new();
    session.write("done.yaml", DONE);
    for store in ["sqlite:runs/runs.db", "file:other"] {
        for _ in 0..2 {
            say(&session, &["run", "done.yaml", "--store", store]);
        }
    }
    for number in [5, 6] {
        let pruned = say(&session, &["prune", "--older-than", "1ms"]);
        assert!(pruned.contains("removed"), "{pruned}");
        assert!(say(&session, &["run", "done.yaml"]).contains(&format!("done-{number}")));
    }
    // Folders of runs that were made before numbers were kept count as well.
    std::fs::remove_dir_all(session.path("runs/numbers")).unwrap();
    session.write("runs/done-40/work/a.txt", "one");
    assert!(say(&session, &["run", "done.yaml"]).contains("done-41"));
}

/// An `approve` command that was kept must not name the question of another run.
#[test]
fn machines_that_share_a_store_give_no_number_of_a_removed_run() {
    const PAY: &str = "name: pay\nmessage: go\napprove: [pay]\ntools: {pay: {}}\nmodel:\n  \
                       - calls: [{id: p, tool: pay}]\n  - text: done\n";
    for store in ["sqlite:shared.db", "file:shared"] {
        let session = Session::new();
        session.write("pay.yaml", PAY);
        let on = |machine: &str, args: &[&str]| {
            session.run(&[args, &["--store", store, "--state-dir", machine]].concat()).shown()
        };
        let told = on("one", &["run", "pay.yaml"]);
        assert!(told.contains("--approve pay-1/p/1"), "{told}");
        on("one", &["cancel", "pay-1"]);
        on("one", &["worker", "--once"]);
        let pruned = on("one", &["prune", "--older-than", "1ms"]);
        assert!(pruned.contains("pay-1"), "{pruned}");

        let told = on("two", &["run", "pay.yaml"]);
        assert!(told.contains("--approve pay-2/p/1"), "{told}");
        let late = on("two", &["approve", "pay-1/p/1", "--actor", "ada"]);
        assert!(late.contains("there is no run \"pay-1\""), "{late}");
        let waits = on("two", &["approvals"]);
        assert!(waits.contains("pay-2/p/1"), "{waits}");
    }
}

#[test]
fn runs_that_begin_together_have_numbers_of_their_own() {
    let session = Session::new();
    session.write("done.yaml", DONE);
    let args = ["run", "--detach", "done.yaml", "--state-dir", "runs"];
    let together: Vec<Running> = (0..6).map(|_| session.command(&args).spawn().unwrap()).collect();
    for child in together {
        assert_eq!(session.said(&args, &child.wait_with_output().unwrap()).code, Some(0));
    }
    let listed = say(&session, &["runs"]);
    for number in 1..=6 {
        assert!(listed.contains(&format!("done-{number} ")), "{listed}");
    }
}

/// The folder of numbers has more than numbers in it.
#[test]
fn a_scenario_may_be_called_as_the_lock_of_the_numbers_was() {
    let session = Session::new();
    session.write("lock.yaml", DONE.replace("name: done", "name: lock"));
    // As it was left where it was called so.
    session.write("runs/numbers/lock", "");
    for number in [1, 2] {
        let said = say(&session, &["run", "lock.yaml"]);
        assert!(said.contains(&format!("lock-{number} is done")), "{said}");
    }
    assert_eq!(session.read("runs/numbers/lock"), "2\n");
}
