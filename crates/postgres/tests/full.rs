//! A disk that is full.

use runstate_postgres::PostgresStore;
use runstate_postgres_server::{Setup, for_tests};
use runstate_store::{RunData, StoreError};
use tokio_postgres::NoTls;

use crate::runs::{More, waiting};

/// Letters that cannot be made much shorter.
fn noise(seed: u64) -> String {
    let mut state = seed;
    let letter = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + ((state >> 33) % 26) as u8)
    };
    (0..50_000).map(letter).collect()
}

#[tokio::test]
async fn full_disk_is_reported_and_acknowledged_data_is_kept() {
    let Some(server) = for_tests(Setup::new().small_disk()) else { return };
    let url = server.url("postgres");
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let small = server.folder().join("small").display().to_string();
    client.batch_execute(&format!("CREATE TABLESPACE small LOCATION '{small}'")).await.unwrap();
    client.batch_execute("ALTER DATABASE postgres SET default_tablespace = small").await.unwrap();
    client.batch_execute("SET default_tablespace = small").await.unwrap();
    let filler = "CREATE TABLE filler AS SELECT repeat('x', 1000) AS x FROM generate_series(1, 1500)";
    client.batch_execute(filler).await.unwrap();

    let store = PostgresStore::connect(url.parse().unwrap()).await.unwrap();
    let (lease, _) = waiting(&store, "r1", 1).await;
    let mut more = More::of("r1", 1).await;
    let (mut commit, told) = loop {
        assert!(more.commit.version < 1_000, "the disk is not full yet");
        let mut commit = more.next().clone();
        commit.messages[0].json = commit.messages[0].json.replace("begin", &noise(commit.version));
        if let Err(told) = store.commit(&lease, &commit).await {
            break (commit, told);
        }
    };
    assert!(matches!(told, StoreError::Failed(_)), "{told:?}");
    assert!(told.to_string().contains("No space left on device (53100)"), "{told}");
    assert!(told.to_string().contains("Check free disk space"), "{told}");
    let loaded = store.load("r1").await.unwrap();
    assert_eq!((loaded.info.version, loaded.messages), (commit.version - 1, more.messages - 1));

    client.batch_execute("DROP TABLE filler; CHECKPOINT").await.unwrap();
    commit.again = true;
    store.commit(&lease, &commit).await.unwrap();
    assert_eq!(store.load("r1").await.unwrap().info.version, commit.version);
}
