//! What durable runs cost in a store, against what the disk can do in the same run:
//! `cargo run --release --bin stores sqlite|files [rate | group | depth | parked | events | commits NUMBER]`.

mod depth;
mod parked;
mod rate;
mod script;
mod subject;

use std::process::ExitCode;
use std::time::Duration;

use runstate_store::{Claim, Lease, NewRun, RunStore};
use serde_json::Value;
use subject::Subject;

async fn new_run(store: &dyn RunStore, run: &str, at_ms: u64) -> Lease {
    store.create(&NewRun::new(run, Value::Null, at_ms)).await.expect("a new run");
    let claim = Claim::of(run, "bench", Duration::MAX);
    store.claim(&claim).await.expect("a free run").expect("a lease")
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (name, what) = args.split_first().map_or(("", &[] as &[&str]), |(name, what)| (*name, what));
    let Some(subject) = Subject::named(name) else { return usage() };
    match what {
        [] => {
            rate::one_by_one(subject).await;
            rate::in_groups(subject).await;
            depth::depth(subject).await;
            parked::parked(subject).await;
        }
        ["rate"] => rate::one_by_one(subject).await,
        ["group"] => rate::in_groups(subject).await,
        ["events"] => rate::with_events(subject).await,
        ["depth"] => depth::depth(subject).await,
        ["parked"] => parked::parked(subject).await,
        // For strace: so many commits, and nothing beside.
        ["commits", number] => match number.parse() {
            Ok(number) => rate::commits(subject, number).await,
            Err(_) => return usage(),
        },
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: stores sqlite|files [rate | group | depth | parked | events | commits NUMBER]");
    ExitCode::from(2)
}
