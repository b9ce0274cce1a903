//! One ledger for all runs.

use serde_json::Value;

use super::{REVIEW, STATE_DIR, assert_in_order, governed, json, plan, run_id};
use crate::session::{Session, harmless};

/// Ten processes at once: every id is another, the ledger has every line of every run once, and its chain is whole.
#[test]
fn ten_processes_share_one_ledger() {
    let session = Session::new();
    plan(&session, &[("build", "true")], REVIEW);
    let children: Vec<_> = (0..10)
        .map(|_| {
            session
                .command(&["governed", "run", "plan.yaml", "--json", "--state-dir", STATE_DIR])
                .spawn()
                .unwrap()
        })
        .collect();
    let mut runs = Vec::new();
    for child in children {
        let output = harmless("governed run", child.wait_with_output().unwrap());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        runs.push(run_id(&said));
    }
    let ledger = session.read(&format!("{STATE_DIR}/command-center/RUN_LEDGER.jsonl"));
    let lines: Vec<Value> = ledger.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 10 * 6);
    runs.sort();
    runs.dedup();
    assert_eq!(runs.len(), 10);
    for run in &runs {
        let seqs: Vec<u64> = lines
            .iter()
            .filter(|line| line["run"] == **run)
            .map(|line| line["seq"].as_u64().unwrap())
            .collect();
        assert_eq!(seqs, [1, 2, 3, 4, 5, 6]);
        assert_in_order(&session, run);
    }
    // One byte, and the line is named.
    session.write("changed.jsonl", ledger.replacen(&runs[4], &runs[5], 1));
    let line = ledger.lines().position(|line| line.contains(&runs[4])).unwrap() + 1;
    let verified = governed(&session, &["verify-ledger", "changed.jsonl"]);
    assert_eq!(verified.code, Some(1));
    assert!(
        verified.stdout.contains(&format!("line {line}: its digest is not that of its content")),
        "{}",
        verified.shown()
    );
}

#[test]
fn a_ledger_that_was_written_anew_is_not_sound() {
    let session = Session::new();
    plan(&session, &[("build", "true")], REVIEW);
    assert_eq!(governed(&session, &["run", "plan.yaml"]).code, Some(0));
    let ledger = session.read("runs/command-center/RUN_LEDGER.jsonl");
    let forms: [fn(&str) -> String; 3] = [
        |ledger| ledger.replace('\n', " \n"),
        |ledger| ledger.replace('\n', "\r\n"),
        |ledger| ledger.replace("\"hash\":", "\"hash\": "),
    ];
    for form in forms {
        session.write("anew.jsonl", form(&ledger).replace("INIT", "PLANNING"));
        let said = governed(&session, &["verify-ledger", "anew.jsonl"]);
        assert_eq!(said.code, Some(1), "{}", said.shown());
        assert!(said.stdout.contains("line 1: it has a digest in another form"), "{}", said.shown());
    }
    let bare: String =
        ledger.lines().map(|line| line[..line.find(",\"prev\"").unwrap()].to_owned() + "}\n").collect();
    session.write("bare.jsonl", bare);
    let said = governed(&session, &["verify-ledger", "bare.jsonl"]);
    assert!(said.stdout.contains("0 of them chained"), "{}", said.shown());
    assert!(
        said.stdout.contains("lines have no digest: a change of them is not detected"),
        "{}",
        said.shown()
    );
}

/// A garbage line at the end: the ledger is kept, a new one begins, and what was taken out is told until it is put away.
#[test]
fn a_damaged_ledger_stops_no_run_and_is_kept() {
    let session = Session::new();
    plan(&session, &[("build", "true"), ("deploy", "true")], REVIEW);
    let waiting = || run_id(&json(&governed(&session, &["run", "plan.yaml", "--json"])));
    let (first, second) = (waiting(), waiting());
    let ledger = format!("{STATE_DIR}/command-center/RUN_LEDGER.jsonl");
    let damaged = session.read(&ledger) + "\n";
    session.write(&ledger, &damaged);
    let approved = governed(&session, &["approve", &format!("{first}-A1"), "--by", "ada"]);
    assert_eq!(approved.code, Some(0), "{}", approved.shown());
    assert!(approved.stderr.contains("RUN_LEDGER.jsonl.damaged-1"), "{}", approved.shown());
    let kept = format!("{ledger}.damaged-1");
    assert_eq!(session.read(&kept), damaged);

    let verified = governed(&session, &["verify-ledger"]);
    assert_eq!(verified.code, Some(1), "{}", verified.shown());
    for said in
        ["all sound", "note: it continues RUN_LEDGER.jsonl.damaged-1", "damaged-1: line 9: it is no event"]
    {
        assert!(verified.stdout.contains(said), "{said}: {}", verified.shown());
    }
    std::fs::rename(session.path(&kept), session.path("put-away")).unwrap();

    let log = format!("{STATE_DIR}/{second}/RUN_LOG.jsonl");
    session.write(&log, "garbage\n");
    let recovered = json(&governed(&session, &["recover", &second, "--json"]));
    let aside: Vec<String> = serde_json::from_value(recovered["repairs"]["set_aside"].clone()).unwrap();
    assert_eq!(aside.len(), 1, "{recovered}");
    assert!(aside[0].ends_with("RUN_LOG.jsonl.damaged-1"), "{recovered}");
    assert_eq!(recovered["repairs"]["ledger_lines"], 4, "it is told in the new ledger");
    assert_eq!(governed(&session, &["approve", &format!("{second}-A1"), "--by", "ada"]).code, Some(0));
    for run in [first, second] {
        assert_eq!(governed(&session, &["recover", &run]).code, Some(0));
        assert_in_order(&session, &run);
    }
    let verified = governed(&session, &["verify-ledger"]);
    assert!(verified.stdout.contains("note: it continues"), "{}", verified.shown());
}
