//! What commits cost, against bare inserts on the same server in the same run: `cargo bench -p runstate-postgres`. Needs the
//! binaries of PostgreSQL.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]
#![allow(unreachable_pub, dead_code, reason = "parts of the tests' harness")]

#[path = "../tests/cluster.rs"]
mod cluster;
#[path = "../tests/runs.rs"]
mod runs;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use cluster::Place;
use runs::{More, commits, waiting};
use runstate::run::RunStatus;
use runstate_postgres::PostgresStore;
use runstate_postgres_server::Server;
use runstate_store::{ApprovalFilter, ApprovalQuery, Lease, RunData, RunLists, RunQuery};
use tokio::time::Instant;

const WRITERS: usize = 16;
const TURNS: usize = 3;
const TIME: Duration = Duration::from_secs(2);

fn main() {
    // `cargo test --benches` only wants to know whether it starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let Some(server) = cluster::own(&["shared_buffers=256MB"]) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        rates(&server).await;
        long_run(&server).await;
        many_runs(&server).await;
    });
}

/// How many a second, of whatever as many writers do at once.
async fn rate<W, F>(writers: Vec<W>, once: impl Fn(W) -> F) -> (f64, Vec<W>)
where
    W: Send + 'static,
    F: Future<Output = W> + Send + 'static,
    F::Output: Send,
{
    let count = writers.len();
    let began = Instant::now();
    let tasks: Vec<_> = writers.into_iter().map(|writer| tokio::spawn(once(writer))).collect();
    let mut writers = Vec::with_capacity(count);
    for task in tasks {
        writers.push(task.await.unwrap());
    }
    (began.elapsed().as_secs_f64(), writers)
}

/// A step of a run that goes on: a message, a call of its own, the events of both.
async fn step(run: &str) -> More {
    let mut more = More::of(run, 1).await;
    let mut calls = commits(run, 1).await.into_iter().map(|commit| commit.calls);
    more.commit.calls = calls.rfind(|calls| !calls.is_empty()).unwrap_or_default();
    for call in &mut more.commit.calls {
        call.waits = None;
    }
    more
}

/// A run, and what is committed to it next.
struct Writer {
    store: Arc<PostgresStore>,
    lease: Lease,
    more: More,
    made: u64,
}

impl Writer {
    async fn new(store: &Arc<PostgresStore>, run: &str) -> Self {
        let (lease, _) = waiting(&**store, run, 1).await;
        let more = step(run).await;
        Writer { store: Arc::clone(store), lease, more, made: 0 }
    }

    async fn commit(&mut self) {
        let version = self.more.commit.version + 1;
        self.more.commit.at_ms += 1;
        for call in &mut self.more.commit.calls {
            call.name = format!("call_{version}");
        }
        self.store.commit(&self.lease, self.more.next()).await.unwrap();
        self.made += 1;
    }
}

/// Bare inserts: one row with as many bytes as the rows of a commit, in a transaction of its own.
struct Inserts {
    client: tokio_postgres::Client,
    statement: tokio_postgres::Statement,
    text: Arc<str>,
    made: i64,
}

impl Inserts {
    async fn new(place: &Place, table: &str, text: Arc<str>) -> Self {
        let client = place.client().await;
        let sql = format!("INSERT INTO {table} (n, json) VALUES ($1, $2)");
        let statement = client.prepare(&sql).await.unwrap();
        Inserts { client, statement, text, made: 0 }
    }

    async fn insert(&mut self) {
        self.made += 1;
        self.client.execute(&self.statement, &[&self.made, &&*self.text]).await.unwrap();
    }
}

async fn rates(server: &Server) {
    let place = Place::on(server);
    let store = Arc::new(PostgresStore::connect(place.options().connections(WRITERS)).await.unwrap());
    place.client().await.batch_execute("CREATE TABLE bare (n bigint, json text)").await.unwrap();
    let commit = step("r").await.commit;
    let bytes = commit.run.snapshot.len()
        + commit.run.core.len()
        + commit.calls.iter().map(|call| call.snapshot.len()).sum::<usize>()
        + commit.trace.iter().map(|row| row.json.len()).sum::<usize>()
        + 100;
    println!(
        "a commit: a message, {} call, {} events, {bytes} bytes",
        commit.calls.len(),
        commit.trace.len()
    );
    let text: Arc<str> = "x".repeat(bytes).into();
    for count in [1, WRITERS] {
        let (mut writers, mut inserts) = (Vec::new(), Vec::new());
        for number in 0..count {
            writers.push(Writer::new(&store, &format!("{count}-{number}")).await);
            inserts.push(Inserts::new(&place, "bare", Arc::clone(&text)).await);
        }
        let mut ratios = Vec::new();
        // In turns, so that whatever else the machine does befalls both.
        for _ in 0..TURNS {
            let before: u64 = writers.iter().map(|writer| writer.made).sum();
            let (seconds, done) = rate(writers, |mut writer| async move {
                let began = Instant::now();
                while began.elapsed() < TIME {
                    writer.commit().await;
                }
                writer
            })
            .await;
            writers = done;
            let made = writers.iter().map(|writer| writer.made).sum::<u64>() - before;
            let commits = made as f64 / seconds;
            let before: i64 = inserts.iter().map(|inserts| inserts.made).sum();
            let (seconds, done) = rate(inserts, |mut inserts| async move {
                let began = Instant::now();
                while began.elapsed() < TIME {
                    inserts.insert().await;
                }
                inserts
            })
            .await;
            inserts = done;
            let made = inserts.iter().map(|inserts| inserts.made).sum::<i64>() - before;
            let bare = made as f64 / seconds;
            ratios.push((commits / bare, commits, bare));
        }
        ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (ratio, commits, bare) = ratios[TURNS / 2];
        println!("{count:>2} writers: {commits:.0} commits/s, {bare:.0} bare inserts/s, ratio {ratio:.2}");
    }
}

const FEW: u64 = 1_000;
const STEPS: u64 = 10_000;

async fn time(writer: &mut Writer) -> Duration {
    let began = Instant::now();
    writer.commit().await;
    began.elapsed()
}

fn median(mut each: Vec<Duration>) -> Duration {
    each.sort();
    each[each.len() / 2]
}

async fn long_run(server: &Server) {
    let place = Place::on(server);
    let store = Arc::new(PostgresStore::connect(place.options()).await.unwrap());
    let mut writer = Writer::new(&store, "long").await;
    let client = place.client().await;
    let size = format!(
        "SELECT sum(pg_table_size(c.oid) + pg_indexes_size(c.oid))::int8 FROM pg_class c
            WHERE c.relkind = 'r' AND c.relnamespace = '\"{}\"'::regnamespace",
        place.schema
    );
    let mut sizes = Vec::new();
    for (from, to) in [(0, FEW), (FEW, STEPS)] {
        for _ in from..to {
            writer.commit().await;
        }
        client.batch_execute("VACUUM").await.unwrap();
        sizes.push(client.query_one(&size, &[]).await.unwrap().get::<_, i64>(0));
    }
    // In turns with runs that begin, since the machine is not the same from one second to the next.
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for number in 0..20 {
        let mut young = Writer::new(&store, &format!("young {number}")).await;
        for _ in 0..50 {
            early.push(time(&mut young).await);
            late.push(time(&mut writer).await);
        }
    }
    let (early, late) = (median(early), median(late));
    let ratio = late.as_secs_f64() / early.as_secs_f64();
    println!("median commit: of steps to 50: {early:?}, from {STEPS} on: {late:?}, ratio {ratio:.2}");
    let (few, all) = (sizes[0] as f64, sizes[1] as f64);
    println!(
        "bytes on disk per step: to {FEW}: {:.0}, from there to {STEPS}: {:.0}",
        few / FEW as f64,
        (all - few) / (STEPS - FEW) as f64
    );
    let mut loads = Vec::new();
    for _ in 0..5 {
        let began = Instant::now();
        // Its rows are those of one step again and again, so that it is no sound run: what is timed is the reading.
        drop(store.load("long").await);
        loads.push(began.elapsed());
    }
    println!("reading a run of {STEPS} steps: {:?}", median(loads));
}

const RUNS: i32 = 100_000;

async fn many_runs(server: &Server) {
    let place = Place::on(server);
    let store = place.store().await;
    waiting(&store, "r1", 1).await;
    let client = place.client().await;
    let many = include_str!("../tests/server/many.sql").replace("{schema}", &format!("\"{}\"", place.schema));
    client.batch_execute(&many.replace("{count}", &RUNS.to_string())).await.unwrap();
    client.batch_execute("VACUUM ANALYZE").await.unwrap();
    let runs = RunQuery::status(RunStatus::Waiting, 100);
    let page = store.runs(&runs).await.unwrap();
    let behind = RunQuery::status(RunStatus::Waiting, 100).after(&page[99]);
    let all = ApprovalQuery::new(ApprovalFilter::All, 100);
    let call = ApprovalQuery::new(ApprovalFilter::Call("call_0".to_owned()), 100);
    let suspension = ApprovalQuery::new(ApprovalFilter::Suspension("many 77777".to_owned()), 100);
    let took = |what: &'static str, each: Vec<Duration>| {
        let longest = each.iter().max().copied().unwrap_or_default();
        println!("{what}: median {:?}, longest {longest:?}", median(each));
    };
    macro_rules! timed {
        ($what:literal, $count:expr, $ask:expr) => {{
            let mut each = Vec::new();
            for _ in 0..100 {
                let began = Instant::now();
                assert_eq!($ask.await.unwrap().len(), $count);
                each.push(began.elapsed());
            }
            took(concat!("among 100,000 runs that wait, ", $what), each);
        }};
    }
    timed!("a page of 100 runs", 100, store.runs(&behind));
    timed!("a page of 100 calls", 100, store.approvals(&all));
    timed!("find by call, 100 of all", 100, store.approvals(&call));
    timed!("find by suspension", 1, store.approvals(&suspension));
    timed!("timers that are due", 10, store.due(100));
}
