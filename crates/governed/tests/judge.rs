//! What must hold of every run, however it went.

use std::collections::BTreeMap;

use runstate::approval::{AnyApproval, ApprovalStatus};
use runstate::governed_run::{AnyGovernedRun, GovernedRunStatus, RunId};
use runstate::kernel::Stateful;
use runstate::snapshot::Snapshot;
use runstate::trace::{JsonlReader, Rulebook, Verdict, check_jsonl};
use runstate_governed::{check_state, verify_ledger};
use runstate_runtime::files::Disk;
use serde_json::Value;

use super::world::{World, folders, untouched};

fn lines(text: &str) -> Vec<Value> {
    assert!(text.is_empty() || text.ends_with('\n'), "a torn line: {text:?}");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// From, to, and when of each transition.
fn told(lines: &[Value]) -> Vec<(Value, Value, Value)> {
    for (i, line) in lines.iter().enumerate() {
        assert_eq!(line["seq"], i + 1, "{line}");
    }
    lines.iter().map(|line| (line["from"].clone(), line["to"].clone(), line["at"].clone())).collect()
}

pub(crate) fn approvals(world: &World) -> Vec<(String, AnyApproval)> {
    let mut all = Vec::new();
    for folder in ["PENDING", "APPROVED", "REJECTED"] {
        let path = std::path::Path::new("/runs/command-center").join(folder);
        for name in world.disk.list(&path).unwrap_or_default() {
            if name.ends_with(".json") {
                let record = world.file(path.join(name));
                let approval: AnyApproval =
                    Snapshot::from_json(record.as_bytes()).unwrap().restore().unwrap();
                all.push((folder.to_owned(), approval));
            }
        }
    }
    all.sort_by_key(|(_, approval)| approval.record().requested_at());
    all
}

/// The three files agree, the approvals are where they belong, nothing ran that was not approved, and the folder is as the
/// end says. What the run is must be over, and resuming it changes nothing.
pub(crate) async fn judge(world: &World, run: &RunId) {
    let (state, log) = (world.file(folders().state(run)), world.file(folders().log(run)));
    let report = check_state(state.as_bytes(), Some(world.now())).unwrap();
    assert_eq!(report.faults, Vec::<String>::new(), "{state}");
    let status = report.status.unwrap().state;
    let file: Value = serde_json::from_str(&state).unwrap();

    let mut expected = Vec::new();
    let mut from = Value::Null;
    for entry in file["state_history"].as_array().unwrap() {
        expected.push((from, entry["state"].clone(), entry["entered_at"].clone()));
        from = entry["state"].clone();
    }
    assert_eq!(told(&lines(&log)), expected, "RUN_LOG.jsonl");
    let ledger = world.file(folders().ledger());
    let of_run: Vec<Value> = lines(&ledger).into_iter().filter(|line| line["run"] == run.as_str()).collect();
    assert_eq!(told(&of_run), expected, "RUN_LEDGER.jsonl");
    verify_ledger(ledger.as_bytes(), world.keys.as_ref()).unwrap();
    let book = Rulebook::of([<AnyGovernedRun as Stateful>::GRAPH]);
    let checked = check_jsonl(JsonlReader::new(log.as_bytes()), &book).unwrap();
    assert_eq!(checked.verdict, Verdict::Conforms, "{}", checked.summary());

    judge_approvals(world, status, &file);
    judge_folder(world, status, &file);
    let report = world.file(folders().report(run));
    assert!(report.starts_with(&format!("# {run}: {status}\n")), "{report}");

    let before = world.disk.files();
    let again = world.governor().resume(run).await.unwrap();
    assert!(again.repairs.is_empty() && again.status == status, "{again:?}");
    assert_eq!(world.disk.files(), before, "resuming a run that is over changes nothing");
}

fn judge_approvals(world: &World, status: GovernedRunStatus, file: &Value) {
    let granted: Vec<&str> =
        file["approvals_granted"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    let mut usable: BTreeMap<String, usize> = BTreeMap::new();
    let mut seen = Vec::new();
    for (folder, approval) in approvals(world) {
        let id = approval.record().id().to_string();
        assert!(!seen.contains(&id), "{id} is in two places");
        let right = match approval.status() {
            ApprovalStatus::Requested | ApprovalStatus::AwaitingHuman => "PENDING",
            ApprovalStatus::Approved | ApprovalStatus::Executed => "APPROVED",
            ApprovalStatus::Rejected | ApprovalStatus::Aborted => "REJECTED",
        };
        assert_eq!(folder, right, "{id}");
        assert_eq!(right == "APPROVED", granted.contains(&id.as_str()), "{id} and approvals_granted");
        assert!(status.is_terminal() && right != "PENDING", "{id} still waits");
        assert_ne!(approval.status(), ApprovalStatus::Rejected, "a rejected one is aborted in the same step");
        if right == "APPROVED" {
            *usable.entry(approval.record().request().action().to_owned()).or_default() += 1;
        }
        seen.push(id);
    }
    // Each call of a tool whose gate is shut used up an approval of just that action; a call that is made again after a
    // crash, by a tool without effects, is the same attempt.
    let outside = world.outside.lock().unwrap();
    for (tool, _, granted) in &outside.calls {
        let scripted = world.script.tools.iter().find(|scripted| scripted.name == tool).unwrap();
        if !world.script.auto.contains(&tool.as_str()) {
            let action = granted.as_ref().unwrap_or_else(|| panic!("{tool} ran without an approval"));
            let left = usable.get_mut(action).unwrap_or_else(|| panic!("nobody approved of {action:?}"));
            assert!(*left > 0 || scripted.read_only, "{action:?} was approved less often than done");
            *left = left.saturating_sub(1);
        }
    }
}

fn judge_folder(world: &World, status: GovernedRunStatus, file: &Value) {
    let outside = world.outside.lock().unwrap();
    let touched = || {
        let mut folder = untouched();
        for tool in world.script.tools.iter().filter(|tool| !tool.read_only) {
            folder.insert(tool.name.to_owned(), String::new());
        }
        folder.into_keys().collect::<Vec<_>>()
    };
    match status {
        GovernedRunStatus::Completed => {
            assert_eq!(outside.folder.keys().cloned().collect::<Vec<_>>(), touched());
        }
        GovernedRunStatus::RolledBack => {
            let is_complete = file["runstate"]["state"]["rollback"]["rollback"] == "complete";
            assert!(outside.rollbacks > 0, "the rollback comes before the transition");
            assert!(!is_complete || outside.folder == untouched(), "{:?}", outside.folder);
        }
        _ => {}
    }
}

/// The run as a person would retell it, for snapshots: no time of day, no id.
pub(crate) fn told_of(world: &World, run: &RunId) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    let start = super::world::T;
    for line in lines(&world.file(folders().log(run))) {
        let (from, to) = (line["from"].as_str().unwrap_or("[*]"), line["to"].as_str().unwrap());
        let recovered = if line["recovered"] == true { " (recovered)" } else { "" };
        let at = line["at_ms"].as_u64().unwrap() - start;
        writeln!(text, "{from} --> {to} : {} at +{at} ms{recovered}", line["event"].as_str().unwrap())
            .unwrap();
    }
    for (folder, approval) in approvals(world) {
        let request = approval.record().request();
        let action = request.action();
        writeln!(text, "{folder}/{}: {action} ({:?})", approval.status(), request.risk()).unwrap();
    }
    for (tool, number, granted) in &world.outside.lock().unwrap().calls {
        let granted = granted.as_ref().map(|action| format!(", granted: {action}")).unwrap_or_default();
        writeln!(text, "called {tool}, try {number}{granted}").unwrap();
    }
    let file: Value = serde_json::from_str(&world.file(folders().state(run))).unwrap();
    writeln!(text, "state: {}", file["runstate"]["state"]).unwrap();
    text.replace(run.as_str(), "RUN")
}
