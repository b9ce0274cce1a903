//! Plans that cannot be used.

use std::fs;

use super::{REVIEW, STATE_DIR, governed};
use crate::session::{Session, assert_shown};

#[test]
fn plans_that_cannot_be_used_say_why() {
    let session = Session::new();
    fs::create_dir(session.path("site")).unwrap();
    let sound = format!("project: SITE\nfolder: site\ntools:\n  - {{name: a, run: ['true']}}\n{REVIEW}");
    let cases = [
        ("empty", String::new()),
        ("unknown field", format!("{sound}tolls: []\n")),
        ("no reviewer", sound.replace("{reviewer: quality, run: ['true']}", "").replace("- \n", "[]\n")),
        ("no program", sound.replace("run: ['true']}\nverify", "run: []}\nverify")),
        ("leads out", sound.replace("run: ['true']}\nverify", "run: ['true'], folder: ../..}\nverify")),
        ("no such folder", sound.replace("folder: site", "folder: sight")),
        ("a file for a folder", sound.replace("folder: site", "folder: plan.yaml")),
        ("an empty folder", sound.replace("folder: site", "folder: ''")),
        ("no folder", sound.replace("folder: site", "folder:")),
        ("a NUL", sound.replace("run: ['true']}\nverify", "run: [\"tr\\0ue\"]}\nverify")),
        ("one gate", format!("{sound}gates: {{auto: a}}\n")),
        ("bad project", sound.replace("SITE", "My Site")),
        ("limit of nothing", format!("{sound}limits_seconds: {{PLANNING: 0}}\n")),
        ("limit of a terminal state", format!("{sound}limits_seconds: {{COMPLETE: 5}}\n")),
        ("one name twice", sound.replace("verify:", "  - {name: a, run: ['true']}\nverify:")),
    ];
    let mut shown = String::new();
    for (name, plan) in cases {
        session.write("plan.yaml", plan);
        let said = governed(&session, &["run", "plan.yaml"]);
        assert_eq!(said.code, Some(2), "{name}: {}", said.shown());
        shown.push_str(&format!("# {name}\n{}\n", said.stderr));
    }
    let runs = fs::read_dir(session.path(STATE_DIR)).map(|entries| entries.count()).unwrap_or(0);
    assert_eq!(runs, 0, "nothing is left behind");
    for args in [
        &["approve", "A1"] as &[&str],
        &["approve", "../A1"],
        &["approve", "RUN-SITE-20260131-120000-A1", "--by", "ada"],
        &["recover", "RUN-SITE-20260131-120000"],
        &["halt", "RUN-SITE-20260131-120000"],
        &["recover", "nonsense"],
        &["status", "RUN-SITE-20260131-120000"],
        &["verify-ledger"],
    ] {
        let said = governed(&session, args);
        assert_eq!(said.code, Some(2), "{}", said.shown());
        shown.push_str(&said.shown());
    }
    assert_shown("governed_refused", &shown);
}
