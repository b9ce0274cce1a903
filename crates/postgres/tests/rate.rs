//! Commits a second, to look at: `cargo test --release -p runstate-postgres --test lib rate -- --ignored --nocapture`.

use std::sync::Arc;
use tokio::time::Instant;

use runstate::turn::{CallRequest, Turn};
use runstate_store::{Claim, NewRun, RunData, RunQueue};
use runstate_store_conformance::Played;

use crate::cluster::{self, Place};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn commits_a_second_by_1_4_and_8_writers() {
    const STEPS: usize = 60;
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = Arc::new(place.store().await);
    let call = |step| vec![CallRequest::new("c", "say", serde_json::json!({ "file": step }))];
    let script: Vec<_> = (0..STEPS)
        .map(|step| Turn { text: "next".to_owned(), calls: call(step), ..Turn::default() })
        .collect();
    let hour = std::time::Duration::from_secs(3_600);
    for turn in 0..5 {
        for writers in [1, 4, 8] {
            let mut runs = Vec::new();
            for writer in 0..writers {
                let run = format!("r{turn}-{writers}-{writer}");
                let commits: Vec<_> = Played::new(&run, &script).await.commits().cloned().collect();
                store.create(&NewRun::new(&*run, serde_json::Value::Null, 0)).await.unwrap();
                runs.push((store.claim(&Claim::of(&run, "w", hour)).await.unwrap().unwrap(), commits));
            }
            let (began, mut made) = (Instant::now(), 0);
            let mut tasks = Vec::new();
            for (lease, commits) in runs {
                made += commits.len();
                let store = Arc::clone(&store);
                tasks.push(tokio::spawn(async move {
                    for commit in &commits {
                        store.commit(&lease, commit).await.unwrap();
                    }
                }));
            }
            for task in tasks {
                task.await.unwrap();
            }
            println!("{writers} writers: {:.0} commits/s", made as f64 / began.elapsed().as_secs_f64());
        }
    }
}
