//! What a crash left in the files of a run is cut off, and whoever does it says so.

use std::fs::{self, OpenOptions};
use std::io::Write;

use crate::session::Session;

const SCENARIO: &str = "\
name: cut
message: go
tools: {look: {}}
model:
  - calls: [{id: l, tool: look}]
  - text: done
outside:
  - {when: {after_commit: 2}, do: crash}
";

#[test]
fn bytes_cut_off_a_log_are_reported() {
    for goes_on in [&["resume", "cut-1"] as &[&str], &["worker", "--once"]] {
        let session = Session::new();
        session.write("s.yaml", SCENARIO);
        let place = ["--store", "file:kept", "--state-dir", "runs"];
        let said = session.run(&[&["run", "s.yaml"], &place as &[&str]].concat());
        assert_eq!(said.code, Some(1), "{}", said.shown());
        let run = fs::read_dir(session.path("kept/runs")).unwrap().next().unwrap().unwrap().path();
        let mut trace = OpenOptions::new().append(true).open(run.join("trace.jsonl")).unwrap();
        trace.write_all(b"{\"seq\"").unwrap();
        drop(trace);
        // Who only looks changes nothing.
        let said = session.run(&[&["show", "cut-1"], &place as &[&str]].concat());
        assert_eq!((said.code, &*said.stderr), (Some(0), ""), "{}", said.shown());

        let said = session.run(&[goes_on, &place].concat());
        assert_eq!(said.code, Some(0), "{}", said.shown());
        let told: Vec<_> = said.stderr.lines().filter(|line| line.contains("cut off")).collect();
        assert_eq!(told.len(), 1, "{}", said.shown());
        assert!(told[0].starts_with("warning: kept/runs/cut-1."), "{}", said.shown());
        assert!(
            told[0].ends_with("/trace.jsonl: 6 bytes that no commit had were cut off"),
            "{}",
            said.shown()
        );
        session.assert_conforms("cut-1", &place);
    }
}
