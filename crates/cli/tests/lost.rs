//! Answers of a store that are lost: whether a change was made is not known then, and nothing else is said.

use crate::lossy::{Loses, Lossy};
use crate::server::{self, Shared};
use crate::session::{Said, Session};

/// It needs its folder.
const SCENARIO: &str = "\
name: lost
about: the answer that is lost
message: go
approve: [pay]
tools: {pay: {}}
model:
  - calls: [{id: l, tool: list_files}, {id: p, tool: pay}]
  - text: done
";

/// A store, and a way to it on which the answer to that is lost.
struct Ways {
    session: Session,
    url: String,
    lossy: String,
}

impl Ways {
    fn to(server: &Shared, marker: &'static str, loses: Loses) -> Ways {
        let url = server.database();
        let port = Lossy::before(server.port(), marker, loses);
        let lossy = url.replace(&format!(":{}/", server.port()), &format!(":{port}/"));
        assert_ne!(url, lossy);
        let session = Session::new();
        session.write("s.yaml", SCENARIO);
        Ways { session, url, lossy }
    }

    fn say(&self, url: &str, args: &[&str], code: i32) -> Said {
        let said = self.session.run(&[args, &["--store", url, "--state-dir", "runs"]].concat());
        assert_eq!(said.code, Some(code), "{}", said.shown());
        said
    }

    /// The run is there, and can be driven.
    fn waits(&self) {
        self.say(&self.url, &["worker", "--once"], 0);
        let listed = self.say(&self.url, &["approvals"], 0);
        assert!(listed.stdout.starts_with("p of lost-1: "), "{}", listed.shown());
        let runs = self.say(&self.url, &["runs"], 0);
        assert_eq!(runs.stdout.matches("lost-").count(), 1, "{}", runs.shown());
    }
}

#[test]
fn a_run_whose_creation_was_not_answered_is_asked_for_again() {
    let Some(server) = server::shared() else { return };
    let ways = Ways::to(server, "the answer that is lost", Loses::Once);
    let said = ways.say(&ways.lossy, &["run", "--detach", "s.yaml"], 0);
    assert!(said.stdout.starts_with("lost-1 is created"), "{}", said.shown());
    ways.waits();
}

#[test]
fn a_run_that_may_be_there_keeps_its_folder_and_is_named() {
    let Some(server) = server::shared() else { return };
    let ways = Ways::to(server, "the answer that is lost", Loses::ForGood);
    let said = ways.say(&ways.lossy, &["run", "--detach", "s.yaml"], 2);
    assert!(said.stderr.contains("the run lost-1 may have been created"), "{}", said.shown());
    assert!(said.stderr.contains("`runstate show lost-1 --store"), "{}", said.shown());
    ways.say(&ways.url, &["show", "lost-1"], 0);
    ways.waits();
}

#[test]
fn unanswered_decision_is_reported_with_unknown_outcome() {
    let Some(server) = server::shared() else { return };
    let ways = Ways::to(server, "reason that is lost", Loses::ForGood);
    ways.say(&ways.url, &["run", "--detach", "s.yaml"], 0);
    ways.waits();
    let approve = ["approve", "p", "--run", "lost-1", "--reason", "a reason that is lost"];
    let said = ways.say(&ways.lossy, &approve, 2);
    assert!(said.stderr.contains("the change may have been made"), "{}", said.shown());
    let again = ways.say(&ways.url, &approve, 0);
    assert!(again.stdout.starts_with("duplicate"), "{}", again.shown());
}
