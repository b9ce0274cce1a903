//! The example, as a person and as a program see it.

use std::io::{BufRead, BufReader, Write};

use serde_json::Value;

use super::{EXAMPLE, files};
use crate::session::{ROOT, Session, assert_harmless, assert_shown};

#[test]
fn the_example_runs_twice_and_leaves_its_folder_as_it_was() {
    let session = Session::new();
    let template = std::path::Path::new(ROOT).join("examples/tidy-folder");
    let before = files(&template);
    let first = session.run(&["run", EXAMPLE]).untimed();
    let second = session.run(&["run", EXAMPLE]).untimed();
    assert_eq!((first.code, second.code), (Some(0), Some(0)));
    assert_shown("run_example", &first.shown());
    assert_eq!(second.shown(), first.shown().replace("tidy-folder-1", "tidy-folder-2"));
    assert_eq!(files(&template), before);

    let runs = session.path("home/runstate/runs");
    let worked = files(&runs.join("tidy-folder-1/work"));
    let names: Vec<&str> = worked.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["SUMMARY.md", "old-notes.txt", "reports/harvest.md"], "denied is not deleted");
    assert_eq!(files(&runs.join("tidy-folder-2/work")), worked);
    session.assert_complete("tidy-folder-1", &[]);
    session.assert_complete("tidy-folder-2", &[]);
}

#[test]
fn the_result_can_be_read_by_programs() {
    let session = Session::new();
    let said = session.run(&["run", EXAMPLE, "--json"]);
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_shown("run_json", &format!("{json:#}"));
}

#[test]
fn progress_is_plain_where_there_is_no_terminal() {
    let session = Session::new();
    let mut child = session.command(&["run", EXAMPLE]).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut first).unwrap();
    // Nobody reads what it says from here on.
    child.wait().unwrap();
    assert!(!first.trim().is_empty(), "it says what goes on");
    assert_harmless("run", &first);
    std::io::stdout().flush().unwrap();
}
