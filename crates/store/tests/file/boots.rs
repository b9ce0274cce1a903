//! The clock of the store begins with each boot of the machine.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use runstate_runtime::clock::SetClock;
use runstate_runtime::files::{Disk, Open, SimDisk};
use runstate_store::{
    ApprovalFilter, ApprovalQuery, Claim, FileStore, NewRun, Release, RunData, RunLists, RunQuery, RunQueue,
    StoreError,
};
use serde_json::json;

use super::others::parked;

const MINUTE: Duration = Duration::from_secs(60);

fn machine(boot: &str, ticks: u64, date: u64) -> SetClock {
    SetClock::at(date).booted(boot, ticks)
}

fn open(disk: &SimDisk, machine: SetClock) -> FileStore {
    FileStore::on(Arc::new(disk.clone()), "/store").unwrap().with_clock(machine)
}

async fn create(store: &FileStore, run: &str) {
    store.create(&NewRun::new(run, json!(0), 0)).await.unwrap();
}

#[tokio::test]
async fn reboot_ends_file_store_leases_but_not_set_aside_runs() {
    let disk = SimDisk::new();
    let store = open(&disk, machine("b1", 900_000, 0));
    for run in ["held", "endless", "off", "aside"] {
        create(&store, run).await;
    }
    store.claim(&Claim::of("endless", "me", Duration::MAX)).await.unwrap().unwrap();
    store.claim(&Claim::of("held", "me", MINUTE)).await.unwrap().unwrap();
    for (run, release) in
        [("off", Release::retry_after(MINUTE, "away")), ("aside", Release::set_aside("large"))]
    {
        let lease = store.claim(&Claim::of(run, "me", MINUTE)).await.unwrap().unwrap();
        store.release(&lease, &release).await.unwrap();
    }
    // Set ahead or back, the clock of the machine changes nothing.
    for date in [0, 9_000_000] {
        let store = open(&disk, machine("b1", 959_999, date));
        let held = store.claim(&Claim::of("held", "you", MINUTE)).await.unwrap_err();
        assert!(matches!(held, StoreError::Held { left, .. } if left.as_millis() == 1), "{held:?}");
    }

    // The clock begins anew, long before the moments that are stored. Reading shows it, and changes nothing.
    let before = disk.files();
    let store = open(&disk, machine("b2", 1_000, 0));
    let runs = store.runs(&RunQuery::all(9)).await.unwrap();
    let of = |run: &str| runs.iter().find(|info| info.id == run).unwrap();
    for run in ["held", "endless"] {
        assert_eq!(of(run).holder.as_ref().unwrap().left, Duration::ZERO, "{run}");
    }
    assert_eq!(of("off").not_before, None);
    assert!(of("aside").is_set_aside());
    assert_eq!(disk.files(), before);
    let mut claimed = Vec::new();
    while let Some(lease) = store.claim(&Claim::any("you", MINUTE)).await.unwrap() {
        claimed.push(lease.run);
    }
    claimed.sort();
    assert_eq!(claimed, ["endless", "held", "off"]);
    let held =
        open(&disk, machine("b2", 2_000, 0)).claim(&Claim::of("held", "it", MINUTE)).await.unwrap_err();
    assert!(matches!(held, StoreError::Held { .. }), "{held:?}");
}

#[tokio::test]
async fn file_store_question_expires_by_date_after_a_reboot() {
    let disk = SimDisk::new();
    // The clock of the driver is an hour ahead; it asks for 70 ms.
    let store = open(&disk, machine("b1", 5_000, 0));
    create(&store, "r1").await;
    let lease = store.claim(&Claim::of("r1", "me", MINUTE)).await.unwrap().unwrap();
    for mut commit in parked("r1").await {
        commit.at_ms = 3_600_000;
        for waits in commit.calls.iter_mut().filter_map(|call| call.waits.as_mut()) {
            waits.suspension.expires_at_ms = Some(3_600_070);
        }
        store.commit(&lease, &commit).await.unwrap();
    }
    let left = async |machine: SetClock| {
        let open = open(&disk, machine).approvals(&ApprovalQuery::new(ApprovalFilter::All, 1)).await.unwrap();
        open[0].left.unwrap().as_millis()
    };
    assert_eq!(left(machine("b1", 5_000, 0)).await, 70);
    assert_eq!(left(machine("b1", 5_069, 9_000_000)).await, 1);
    assert_eq!(left(machine("b1", 5_070, 0)).await, 0);
    assert_eq!(left(machine("b2", 0, 3_600_060)).await, 10);
    assert_eq!(open(&disk, machine("b2", 0, 3_600_070)).due(9).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_folder_that_another_machine_had_since_is_refused() {
    let disk = SimDisk::new();
    let first = open(&disk, machine("b1", 0, 0));
    create(&first, "r1").await;
    create(&open(&disk, machine("b2", 0, 0)), "r2").await;
    for store in [&first, &open(&disk, machine("b1", 0, 0))] {
        let claimed = store.claim(&Claim::any("me", MINUTE)).await.map(drop);
        for refused in [claimed, store.create(&NewRun::new("r3", json!(0), 0)).await] {
            let told = refused.unwrap_err().to_string();
            assert!(told.starts_with("/store was used under another boot id"), "{told}");
            assert!(told.contains("remove /store/boots"), "{told}");
        }
        assert_eq!(store.runs(&RunQuery::all(9)).await.unwrap().len(), 2, "it can be read");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_boot_that_comes_while_a_claim_waits_refuses_the_claim() {
    let disk = SimDisk::new();
    let first = open(&disk, machine("b1", 0, 0));
    create(&first, "r1").await;
    let lock = disk.list(Path::new("/store/locks")).unwrap().pop().unwrap();
    let mut lock = disk.open(&Path::new("/store/locks").join(lock), Open::Append).unwrap();
    lock.try_lock().unwrap();
    let claim = tokio::spawn(async move { first.claim(&Claim::of("r1", "me", MINUTE)).await });
    // It waits for the lock by now. Were it slower, it would be refused just so.
    tokio::time::sleep(Duration::from_millis(50)).await;
    create(&open(&disk, machine("b2", 0, 0)), "r2").await;
    drop(lock);
    let told = claim.await.unwrap().unwrap_err().to_string();
    assert!(told.starts_with("/store was used under another boot id"), "{told}");
}

#[tokio::test]
async fn a_hundred_boots_are_kept() {
    let disk = SimDisk::new();
    let boots: Vec<String> = (0..150).map(|boot| format!("b{boot}")).collect();
    for boot in &boots {
        create(&open(&disk, machine(boot, 0, 0)), boot).await;
    }
    let kept = disk.read(Path::new("/store/boots"), u64::MAX).unwrap();
    let kept = String::from_utf8(kept).unwrap();
    assert_eq!(kept.lines().collect::<Vec<_>>(), boots[50..]);
}

/// Another program has written it: 100 boots have some 4 KiB.
#[tokio::test]
async fn a_file_of_boots_has_256_kib_and_no_more() {
    for (bytes, is_read) in [(256 << 10, true), ((256 << 10) + 1, false)] {
        let disk = SimDisk::new();
        create(&open(&disk, machine("b1", 1, 0)), "r1").await;
        let boots = "x".repeat(bytes - 4) + "\nb1\n";
        disk.open(Path::new("/store/boots"), Open::Write).unwrap().write(boots.as_bytes()).unwrap();
        let claimed = open(&disk, machine("b1", 2, 0)).claim(&Claim::of("r1", "me", MINUTE)).await;
        match claimed {
            Ok(lease) => assert!(is_read && lease.is_some()),
            Err(refused) => {
                let told = "/store/boots has 262145 bytes, more than the 262144 that are read of it";
                assert!(!is_read && refused.to_string().contains(told), "{refused}");
            }
        }
    }
}
