//! The clock of the store begins with each boot of the machine, and no setting of the machine's clock changes it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use runstate_runtime::clock::SetClock;
use runstate_sqlite::{Options, SqliteStore};
use runstate_store::{
    ApprovalFilter, ApprovalQuery, Claim, NewRun, Release, RunInfo, RunStore, StoreError, expire_due,
};

use crate::drive::{Plot, commits, create};

fn machine(boot: &str, ticks: u64, date: u64) -> SetClock {
    SetClock::at(date).booted(boot, ticks)
}

const MINUTE: Duration = Duration::from_secs(60);

fn try_open(path: &Path, machine: &SetClock) -> Result<Arc<dyn RunStore>, StoreError> {
    Ok(Arc::new(SqliteStore::open_by(path, Options::default(), machine.clone())?))
}

fn open(path: &Path, boot: &str, ticks: u64, date: u64) -> Arc<dyn RunStore> {
    try_open(path, &machine(boot, ticks, date)).unwrap()
}

async fn info(store: &Arc<dyn RunStore>, run: &str) -> RunInfo {
    store.load(run).await.unwrap().info
}

#[tokio::test]
async fn setting_the_machine_clock_does_not_change_lease_length() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    create(&open(&path, "b1", 5_000, 1_000_000), "r1").await;
    let claim = Claim::of("r1", "me", MINUTE);
    open(&path, "b1", 5_000, 1_000_000).claim(&claim).await.unwrap().unwrap();
    // An hour ahead, and an hour back.
    for date in [4_600_000, 0] {
        let store = open(&path, "b1", 64_999, date);
        let held = store.claim(&Claim::of("r1", "you", MINUTE)).await.unwrap_err();
        assert!(matches!(held, StoreError::Held { left, .. } if left.as_millis() == 1), "{held:?}");
        assert_eq!(store.claim(&Claim::any("you", MINUTE)).await.unwrap(), None);
    }
    let store = open(&path, "b1", 65_000, 0);
    assert_eq!(store.claim(&Claim::any("you", MINUTE)).await.unwrap().unwrap().fence, 2);
}

#[tokio::test]
async fn reboot_ends_leases_and_delays_but_not_set_aside_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store = open(&path, "b1", 900_000, 1_000_000);
    for run in ["held", "endless", "off", "aside"] {
        create(&store, run).await;
    }
    store.claim(&Claim::of("endless", "me", Duration::MAX)).await.unwrap().unwrap();
    store.create(&NewRun::new("new", serde_json::Value::Null, 0).not_before(MINUTE)).await.unwrap();
    store.claim(&Claim::of("held", "me", MINUTE)).await.unwrap().unwrap();
    for (run, release) in
        [("off", Release::retry_after(MINUTE, "away")), ("aside", Release::set_aside("too large"))]
    {
        let lease = store.claim(&Claim::of(run, "me", MINUTE)).await.unwrap().unwrap();
        store.release(&lease, &release).await.unwrap();
    }
    drop(store);

    // The clock begins anew, long before the moments that are stored.
    let store = open(&path, "b2", 1_000, 1_010_000);
    for run in ["held", "endless"] {
        let holder = info(&store, run).await.holder.unwrap();
        assert_eq!((&*holder.name, holder.left), ("me", Duration::ZERO), "{run}");
    }
    assert_eq!((info(&store, "off").await.not_before, info(&store, "new").await.not_before), (None, None));
    assert!(info(&store, "aside").await.is_set_aside());
    let mut claimed = Vec::new();
    while let Some(lease) = store.claim(&Claim::any("you", MINUTE)).await.unwrap() {
        claimed.push(lease.run);
    }
    claimed.sort();
    assert_eq!(claimed, ["endless", "held", "new", "off"]);
    // Another handle of the same boot takes nothing back.
    let held = open(&path, "b2", 2_000, 0).claim(&Claim::of("held", "it", MINUTE)).await.unwrap_err();
    assert!(matches!(held, StoreError::Held { .. }), "{held:?}");
}

#[tokio::test]
async fn question_expires_by_duration_or_after_a_reboot_by_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    // The clock of the driver is an hour ahead of the one of the store's machine; 60 s are asked for, or a date.
    let (asked_at, of_store) = (4_600_000, 1_000_000);
    let store = open(&path, "b1", 5_000, of_store);
    for (run, is_date) in [("span", false), ("date", true)] {
        create(&store, run).await;
        let lease = store.claim(&Claim::of(run, "me", MINUTE)).await.unwrap().unwrap();
        for mut commit in commits(Plot::asking(1, 1)).await {
            commit.at_ms = asked_at;
            for waits in commit.calls.iter_mut().filter_map(|call| call.waits.as_mut()) {
                waits.suspension.is_date = is_date;
                waits.suspension.expires_at_ms = Some(asked_at + 60_000);
            }
            store.commit(&lease, &commit).await.unwrap();
        }
    }
    let left = async |store: &Arc<dyn RunStore>, run: &str| {
        let about = ApprovalQuery::new(ApprovalFilter::Run(run.to_owned()), 1);
        store.approvals(&about).await.unwrap().remove(0).left.unwrap().as_millis()
    };
    assert_eq!((left(&store, "span").await, left(&store, "date").await), (60_000, 3_660_000));
    // A second before the end, with the clock of the machine set far ahead: the date has come, and the time is not over.
    let store = open(&path, "b1", 64_000, 9_000_000);
    assert_eq!((left(&store, "span").await, left(&store, "date").await), (1_000, 0));
    let due: Vec<_> = store.due(9).await.unwrap().into_iter().map(|timer| timer.run).collect();
    assert_eq!(due, ["date"]);
    // Behind a boot it is not known how long the machine was off, but by its clock.
    let store = open(&path, "b2", 0, asked_at + 59_000);
    assert_eq!((left(&store, "span").await, left(&store, "date").await), (1_000, 1_000));
    assert_eq!(store.due(9).await.unwrap(), []);
    let store = open(&path, "b2", 0, asked_at + 60_000);
    assert_eq!(expire_due(&*store, 0, 9).await.unwrap().given_up, 2);
}

#[tokio::test]
async fn reading_records_no_boot() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store = open(&path, "b1", 900_000, 0);
    create(&store, "r1").await;
    store.claim(&Claim::of("r1", "me", MINUTE)).await.unwrap().unwrap();
    // It shows that no process of an earlier boot has the run, and takes the lease of none.
    let reads = open(&path, "b2", 1_000, 0);
    assert_eq!(info(&reads, "r1").await.holder.unwrap().left, Duration::ZERO);
    reads.runs(&runstate_store::RunQuery::all(9)).await.unwrap();
    reads.approvals(&ApprovalQuery::new(ApprovalFilter::All, 9)).await.unwrap();
    assert_eq!(info(&open(&path, "b1", 900_000, 0), "r1").await.holder.unwrap().left, MINUTE);
}

#[tokio::test]
async fn a_file_that_another_machine_had_since_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let [one, other] = ["b1", "b2"].map(|boot| machine(boot, 0, 0));
    let first = try_open(&path, &one).unwrap();
    create(&first, "r1").await;
    create(&try_open(&path, &other).unwrap(), "r2").await;
    let told = |error: StoreError| {
        let told = error.to_string();
        assert!(told.contains("runs.db was used under another boot id"), "{told}");
        assert!(told.contains("or keep the runs in PostgreSQL"), "{told}");
    };
    told(try_open(&path, &one).unwrap_err());
    // A handle that was open all along claims nothing any more, and renews nothing.
    told(first.claim(&Claim::any("me", MINUTE)).await.unwrap_err());
    told(first.create(&NewRun::new("r3", serde_json::Value::Null, 0)).await.unwrap_err());
    create(&try_open(&path, &machine("b3", 0, 0)).unwrap(), "r3").await;
    told(try_open(&path, &other).unwrap_err());
}

/// A sandbox without `/proc`: it can tell no lease of this boot.
#[tokio::test]
async fn a_process_that_cannot_read_its_boot_leaves_the_file_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    create(&open(&path, "b1", 5_000, 1_000_000), "r1").await;
    open(&path, "b1", 5_000, 1_000_000).claim(&Claim::of("r1", "me", MINUTE)).await.unwrap().unwrap();
    let refused = try_open(&path, &machine("", 1, 2_000_000)).unwrap_err();
    let expected = "was used under the boot id \"b1\", and the boot id of this machine cannot be read";
    assert!(refused.to_string().contains(expected), "{refused}");
    let held = open(&path, "b1", 6_000, 1_000_000).claim(&Claim::of("r1", "you", MINUTE)).await;
    assert!(matches!(held, Err(StoreError::Held { .. })), "{held:?}");
}

/// What another program gains by a row of boots: the leases end, and a boot that the file has had is refused.
#[tokio::test]
async fn a_forged_boot_ends_leases_or_refuses_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let forge = |sql: &str| rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let store = open(&path, "b1", 5_000, 0);
    create(&store, "r1").await;
    let lease = store.claim(&Claim::of("r1", "me", MINUTE)).await.unwrap().unwrap();

    forge("INSERT INTO boots (name) VALUES ('forged')");
    let refused = store.claim(&Claim::any("me", MINUTE)).await.unwrap_err().to_string();
    assert!(refused.contains("two machines have it"), "{refused}");
    let StoreError::Unusable { help, .. } = try_open(&path, &machine("b1", 5_000, 0)).unwrap_err() else {
        panic!()
    };
    assert!(help.contains("`sqlite3 FILE 'DELETE FROM boots'`"), "{help}");
    forge("DELETE FROM boots");
    // With the next process the leases are over, as with a boot, and a worker that has lost one commits nothing.
    let other = open(&path, "b1", 5_000, 0);
    assert_eq!(other.claim(&Claim::any("you", MINUTE)).await.unwrap().unwrap().fence, 2);
    for commit in commits(Plot::asking(1, 1)).await {
        let fenced = store.commit(&lease, &commit).await.unwrap_err();
        assert!(matches!(fenced, StoreError::Fenced { current: 2, .. }), "{fenced:?}");
    }
}
