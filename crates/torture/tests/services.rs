//! A few kills of processes with service runs, and faults that are found without waiting for them.

use runstate_postgres_server::{Setup, for_tests};
use runstate_torture::fault::Fault;
use runstate_torture::kill::{Kind, Options};
use runstate_torture::service::{Report, kill};

const PROGRAM: &str = env!("CARGO_BIN_EXE_runstate-torture");

async fn killed(store: &str, times: u32, fault: Option<Fault>, seed: u64) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let store = match store {
        "sqlite" => format!("sqlite:{}", folder.path().join("runs").display()),
        address => address.to_owned(),
    };
    let mut options = Options::new(PROGRAM, store, folder.path(), times, seed);
    (options.fault, options.kind) = (fault, Kind::Service);
    kill(&options).await.unwrap()
}

fn holds(report: &Report, kills: u32) {
    assert!(report.violations.is_empty(), "{report}");
    assert_eq!(report.strikes.kills(), kills);
    assert!(report.facts.runs >= 14 && report.facts.changes > 100, "{report}");
    let ends = ["BLOCKED", "CONFIRMED", "FAILED", "REJECTED", "REVERTED"];
    assert!(report.facts.statuses.keys().all(|status| ends.contains(&&**status)), "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn service_runs_in_sqlite_survive_kills() {
    holds(&killed("sqlite", 8, None, 7).await, 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn service_runs_in_postgres_survive_kills() {
    let Some(server) = for_tests(Setup::new()) else { return };
    holds(&killed(&server.url("postgres"), 8, None, 7).await, 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn folder_of_files_has_no_service_runs() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::new(PROGRAM, "file:runs", folder.path(), 0, 7);
    let error = kill(&options).await.unwrap_err().to_string();
    assert!(error.contains("expected sqlite:PATH or postgres://"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_of_a_store_of_service_runs_are_found() {
    for (fault, rule) in [
        (Fault::DecisionLost, "lost"),
        (Fault::KeyForgotten, "twice"),
        (Fault::SecondAccepted, "steps"),
        (Fault::StepLost, "acknowledged"),
        (Fault::ValueLost, "answers"),
    ] {
        // The timing of processes is up to the machine: one of three seeds shows the fault.
        let mut said = String::new();
        let mut is_found = false;
        for seed in 7..10 {
            let report = killed("sqlite", 4, Some(fault), seed).await;
            is_found = report.violations.iter().any(|violation| violation.rule == rule);
            said = report.to_string();
            if is_found {
                break;
            }
        }
        assert!(is_found, "{fault}\n{said}");
    }
}
