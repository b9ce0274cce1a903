//! Query plans: SQLite reads through an index, in its order, regardless of other rows.

use runstate_store::ApprovalFilter;
use rusqlite::Connection;

use crate::read::{approvals, load, runs};
use crate::schema::MIGRATIONS;
use crate::write::{leases, mail};

/// Returns the steps of a statement from SQLite's `EXPLAIN QUERY PLAN`.
fn plan(sql: &str) -> Vec<String> {
    let conn = Connection::open_in_memory().unwrap();
    MIGRATIONS.iter().for_each(|migration| conn.execute_batch(migration).unwrap());
    let mut plan = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let steps = plan.raw_query().mapped(|row| row.get(3)).collect::<Result<_, _>>();
    steps.unwrap()
}

/// Checks that a query has one step: a search in that index, or a scan along it where only the order matters.
#[track_caller]
fn is(sql: &str, step: &str) {
    let steps = plan(sql);
    assert!(steps.len() == 1 && steps[0].starts_with(step), "{sql}: {steps:#?}");
}

#[test]
fn runs_are_read_in_the_order_of_an_index() {
    is(&runs::page_sql(false, false), "SCAN runs USING INDEX runs_newest");
    is(&runs::page_sql(false, true), "SEARCH runs USING INDEX runs_newest ((created_at_ms,id)<(?,?))");
    is(&runs::page_sql(true, false), "SEARCH runs USING INDEX runs_by_status (status=?)");
    let page = "SEARCH runs USING INDEX runs_by_status (status=? AND (created_at_ms,id)<(?,?))";
    is(&runs::page_sql(true, true), page);
}

/// The cost does not depend on the number of runs.
#[test]
fn a_status_that_is_none_is_found_in_an_index() {
    let steps = plan(runs::UNKNOWN);
    let read: Vec<_> = steps.iter().filter(|step| step.contains(" runs ")).collect();
    assert_eq!(read.len(), 4, "{steps:#?}");
    assert!(
        read.iter()
            .all(|step| step.contains("SEARCH runs USING") && step.contains("INDEX runs_by_status (status")),
        "{steps:#?}"
    );
}

#[test]
fn calls_that_wait_are_read_in_the_order_of_an_index() {
    let (run, suspension) = (ApprovalFilter::Run(String::new()), ApprovalFilter::Suspension(String::new()));
    is(&approvals::page_sql(&ApprovalFilter::All, false), "SCAN calls USING INDEX calls_open");
    is(
        &approvals::page_sql(&ApprovalFilter::All, true),
        "SEARCH calls USING INDEX calls_open ((run,name)>(?,?))",
    );
    is(&approvals::page_sql(&run, false), "SEARCH calls USING INDEX calls_open (run=?)");
    is(&approvals::page_sql(&run, true), "SEARCH calls USING INDEX calls_open (run=?");
    let by = "SEARCH calls USING INDEX calls_open_by_suspension (suspension=?";
    is(&approvals::page_sql(&suspension, false), by);
    is(&approvals::page_sql(&suspension, true), by);
}

#[test]
fn a_call_is_found_by_its_name_or_its_id() {
    for has_behind in [false, true] {
        let steps = plan(&approvals::page_sql(&ApprovalFilter::Call(String::new()), has_behind));
        let read: Vec<_> = steps.iter().filter(|step| step.contains(" calls ")).collect();
        assert_eq!(read.len(), 2, "{steps:#?}");
        assert!(read[0].starts_with("SEARCH calls USING INDEX calls_open_by_name (name=?"), "{steps:#?}");
        assert!(read[1].starts_with("SEARCH calls USING INDEX calls_open_by_id (id=?"), "{steps:#?}");
    }
}

#[test]
fn timers_and_what_can_go_on_are_read_in_the_order_of_an_index() {
    let steps = plan(&approvals::due_sql());
    let read: Vec<_> = steps.iter().filter(|step| step.contains(" calls ")).collect();
    assert_eq!(read.len(), 2, "{steps:#?}");
    assert!(read[0].starts_with("SEARCH calls USING INDEX calls_due (lapses_at_ms"), "{steps:#?}");
    assert!(read[1].starts_with("SEARCH calls USING INDEX calls_due_by_date (expires_at_ms"), "{steps:#?}");
    let steps = plan(leases::FIRST_READY);
    let read: Vec<_> = steps.iter().filter(|step| step.contains(" runs ")).collect();
    assert_eq!(read.len(), 2, "{steps:#?}");
    assert!(read[0].starts_with("SCAN runs USING INDEX runs_free"), "{steps:#?}");
    assert!(read[1].starts_with("SEARCH runs USING INDEX runs_held (held_until_ms<?)"), "{steps:#?}");
    is(load::UNTAKEN, "SEARCH decisions USING INDEX decisions_untaken (run=?)");
    is(mail::CLOSE, "SEARCH calls USING INDEX calls_open_by_suspension (suspension=? AND run=?)");
}

#[cfg(feature = "service")]
#[test]
fn service_runs_are_read_in_the_order_of_an_index() {
    use runstate_service::{ListQuery, ListSort, RunPosition};

    use crate::service::{CHANGES, FIRST_READY, page_sql};

    let after = || Some(RunPosition { at_ms: 0, id: String::new() });
    for (sort, index, place) in [
        (ListSort::Newest, "service_runs_newest", "((created_at_ms,id)<(?,?))"),
        (ListSort::Oldest, "service_runs_newest", "((created_at_ms,id)>(?,?))"),
        (ListSort::Changed, "service_runs_updated", "((updated_at_ms,id)<(?,?))"),
    ] {
        let first = ListQuery { sort, ..ListQuery::first(9) };
        is(&page_sql(&first), &format!("SCAN service_runs USING INDEX {index}"));
        let next = ListQuery { after: after(), ..first };
        is(&page_sql(&next), &format!("SEARCH service_runs USING INDEX {index} {place}"));
    }
    let blocked = ListQuery {
        statuses: [runstate::service_run::ServiceRunStatus::Blocked].into(),
        ..ListQuery::first(9)
    };
    is(&page_sql(&blocked), "SEARCH service_runs USING INDEX service_runs_by_status (status=?)");
    let final_status = Some(runstate::service_run::FinalStatus::Noop);
    let noop = ListQuery { final_status, after: after(), ..ListQuery::first(9) };
    let by_final = "SEARCH service_runs USING INDEX service_runs_by_final_status (final_status=? AND (created_at_ms,id)<(?,?))";
    is(&page_sql(&noop), by_final);
    is(CHANGES, "SEARCH service_runs USING INDEX service_runs_by_change (change>? AND change<?)");
    let steps = plan(FIRST_READY);
    let read: Vec<_> = steps.iter().filter(|step| step.contains(" service_runs ")).collect();
    assert_eq!(read.len(), 2, "{steps:#?}");
    assert!(read[0].starts_with("SCAN service_runs USING INDEX service_runs_free"), "{steps:#?}");
    assert!(
        read[1].starts_with("SEARCH service_runs USING INDEX service_runs_held (held_until_ms<?)"),
        "{steps:#?}"
    );
}
