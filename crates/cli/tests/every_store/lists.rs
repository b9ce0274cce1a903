//! Lists, in pages.

use std::collections::BTreeSet;

use serde_json::Value;

use super::in_every_store;
use crate::place::Place;

const DONE: &str = "name: done\nmessage: go\nmodel:\n  - text: done\n";
const WAITS: &str = "\
name: waits
message: go
approve: [pay]
tools: {pay: {}}
model:
  - calls: [{id: p, tool: pay}, {id: q, tool: pay}]
  - text: done
";

in_every_store! {
    pages_list_every_run_and_approval_once,
    a_page_goes_on_behind_a_run_that_was_removed,
    finished_runs_are_pruned_and_no_others,
}

/// All pages of a list, each behind the last one of the page before.
fn pages(place: &Place, command: &[&str], list: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut behind: Option<String> = None;
    loop {
        let mut args = [command, &["--json", "--limit", "2"]].concat();
        args.extend(behind.iter().flat_map(|behind| ["--after", behind]));
        let page: Value = serde_json::from_str(&place.does(&args, 0).stdout).unwrap();
        let rows = page[list].as_array().unwrap();
        assert!(rows.len() <= 2);
        all.extend(rows.iter().cloned());
        let Some(next) = page["next"].as_str() else { return all };
        assert!(all.len() < 100, "it has no end");
        behind = Some(next.to_owned());
    }
}

fn pages_list_every_run_and_approval_once(place: &dyn Fn() -> Place) {
    let place = place();
    for scenario in [DONE, WAITS, DONE, WAITS, WAITS] {
        place.detached(scenario);
    }
    place.work();
    let runs = pages(&place, &["runs"], "runs");
    let named = |status: &str| -> BTreeSet<&str> {
        let runs = runs.iter().filter(|run| run["status"] == status);
        runs.map(|run| run["run"].as_str().unwrap()).collect()
    };
    assert_eq!(runs.len(), 5);
    assert_eq!(named("Done"), BTreeSet::from(["done-1", "done-2"]));
    assert_eq!(named("Waiting"), BTreeSet::from(["waits-1", "waits-2", "waits-3"]));
    let created: Vec<u64> = runs.iter().map(|run| run["created_at_ms"].as_u64().unwrap()).collect();
    assert!(created.is_sorted_by(|a, b| a >= b), "the newest first: {created:?}");
    assert_eq!(pages(&place, &["runs", "--status", "waiting"], "runs").len(), 3);

    let approvals = pages(&place, &["approvals"], "approvals");
    let calls = approvals.iter().map(|one| format!("{}/{}", one["run"], one["call"]).replace('"', ""));
    let calls: Vec<String> = calls.collect();
    assert_eq!(calls, ["waits-1/p", "waits-1/q", "waits-2/p", "waits-2/q", "waits-3/p", "waits-3/q"]);
}

fn a_page_goes_on_behind_a_run_that_was_removed(place: &dyn Fn() -> Place) {
    let place = place();
    let first = |more: &[&str]| -> Value {
        let said = place.does(&[&["runs", "--json", "--limit", "1"], more].concat(), 0);
        serde_json::from_str(&said.stdout).unwrap()
    };
    place.detached(WAITS);
    // A run of a later millisecond is in front of it.
    let created = first(&[])["runs"][0]["created_at_ms"].as_u64().unwrap();
    let mut runs = 0;
    while first(&[])["runs"][0]["created_at_ms"].as_u64().unwrap() <= created {
        place.detached(DONE);
        runs += 1;
        assert!(runs < 100, "time stands still");
    }
    place.work();
    let page = first(&[]);
    assert_eq!(page["runs"][0]["status"], "Done");
    place.does(&["prune", "--older-than", "1ms"], 0);
    let next = first(&["--after", page["next"].as_str().unwrap()]);
    assert_eq!(next["runs"][0]["run"], "waits-1", "{next}");
}

fn finished_runs_are_pruned_and_no_others(place: &dyn Fn() -> Place) {
    let place = place();
    for scenario in [DONE, WAITS, DONE] {
        place.detached(scenario);
    }
    place.work();
    place.detached(DONE);
    assert!(place.does(&["prune", "--older-than", "7d"], 0).stdout.ends_with("0 runs removed\n"));
    let prune = |more: &[&str]| -> Value {
        let said = place.does(&[&["prune", "--older-than", "1ms", "--json"], more].concat(), 0);
        serde_json::from_str(&said.stdout).unwrap()
    };
    for (more, folder) in [(&["--dry-run"] as &[&str], Value::Null), (&[], "removed".into())] {
        let pruned = prune(more);
        let runs = pruned["runs"].as_array().unwrap();
        let named: BTreeSet<&str> = runs.iter().map(|run| run["run"].as_str().unwrap()).collect();
        assert_eq!(named, BTreeSet::from(["done-1", "done-2"]), "{pruned}");
        assert!(runs.iter().all(|run| run["folder"] == folder), "{pruned}");
        assert_eq!(
            (&pruned["dry_run"], &pruned["left"]),
            (&more.contains(&"--dry-run").into(), &Value::Array(vec![]))
        );
    }
    assert_eq!(prune(&[])["runs"], Value::Array(vec![]));
    let left: BTreeSet<String> = pages(&place, &["runs"], "runs")
        .iter()
        .map(|run| format!("{} {}", run["run"].as_str().unwrap(), run["status"].as_str().unwrap()))
        .collect();
    assert_eq!(left, BTreeSet::from(["done-3 Running".to_owned(), "waits-1 Waiting".to_owned()]));
    place.does(&["show", "done-1"], 2);
}
