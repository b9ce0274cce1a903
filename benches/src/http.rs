//! The cost of a service run over HTTP, against bare axum and the bare store in the same run:
//! `cargo run --release --bin http [get | create | approve]`.
//!
//! The server has SQLite and tokens. Its clients are in the same process, with one connection each that stays open.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use runstate::service_run::ServiceRunStatus;
use runstate_http::{Connections, Options, Role, Tokens, serve, server};
use runstate_runtime::clock::unix_clock;
use runstate_service::sim::SimChain;
use runstate_service::testing::example_change;
use runstate_service::{NewServiceRun, Service, ServiceStore};
use runstate_sqlite::SqliteStore;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Rounds of each comparison. Both sides take turns.
const ROUNDS: usize = 5;
const READS: usize = 4_000;
const CREATES: usize = 1_000;
const CLIENTS: usize = 8;
/// Clients that approve at once.
const APPROVERS: usize = 50;
const APPROVALS: usize = 1_000;

/// A connection that stays open.
struct Client {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Client {
    async fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("the server listens");
        stream.set_nodelay(true).expect("a socket");
        Client { stream, read: Vec::new() }
    }

    /// Sends a request; returns the status and the body.
    async fn send(&mut self, request: &str) -> (u16, String) {
        self.stream.write_all(request.as_bytes()).await.expect("the server reads");
        self.read.clear();
        loop {
            let mut chunk = [0; 16 * 1024];
            let count = self.stream.read(&mut chunk).await.expect("the server answers");
            assert!(count > 0, "the server closed the connection");
            self.read.extend_from_slice(&chunk[..count]);
            let text = std::str::from_utf8(&self.read).expect("UTF-8");
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.expect("a length").parse().expect("a number");
            if body.len() >= length {
                let status = head[9..12].parse().expect("a status");
                return (status, body.to_owned());
            }
        }
    }
}

/// Executes `count` pieces of work by some clients at once. Returns the time of each, and the time of all.
async fn at_once<C, W, F>(clients: Vec<C>, count: usize, work: W) -> (Vec<Duration>, Duration)
where
    C: Send + 'static,
    W: Fn(C, usize) -> F + Clone + Send + 'static,
    F: Future<Output = C> + Send,
{
    let (next, begun) = (Arc::new(AtomicUsize::new(0)), Instant::now());
    let mut tasks = JoinSet::new();
    for mut client in clients {
        let (next, work) = (Arc::clone(&next), work.clone());
        tasks.spawn(async move {
            let mut times = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    return times;
                }
                let begun = Instant::now();
                client = work(client, index).await;
                times.push(begun.elapsed());
            }
        });
    }
    let times = tasks.join_all().await.into_iter().flatten().collect();
    (times, begun.elapsed())
}

async fn clients(count: usize, address: SocketAddr) -> Vec<Client> {
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(Client::to(address).await);
    }
    all
}

fn p99(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() * 99 / 100]
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn each_second(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}

/// A server with its store.
struct Bench {
    store: Arc<SqliteStore>,
    service: Service,
    address: SocketAddr,
    token: String,
    _folder: tempfile::TempDir,
}

const NEW_RUN: &str =
    r#"{"intent": "send 5 USDC to 0xbeef", "wallet_address": "0xa11ce", "chain_id": 31337}"#;

impl Bench {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Arc::new(SqliteStore::open(folder.path().join("runs.db")).expect("a store"));
        let (chain, clock) = (SimChain::example(), Arc::new(unix_clock()));
        let service = Service::new(store.clone(), chain.ports(), chain.config(), clock.clone(), "bench");
        let tokens = Tokens::open(folder.path().join("tokens.json")).expect("tokens");
        let token = tokens.create("bench", [Role::Operator, Role::Approver], 0, None).expect("a token");
        let mut options = Options::with_tokens(tokens);
        (options.limits.requests, options.limits.decisions) = ((0, 0), 0);
        let server = server(service.clone(), options, clock);
        tokio::spawn(server.pump());
        let worker = service.clone();
        tokio::spawn(async move { worker.work(NonZeroUsize::MIN, std::future::pending(), |_, _| {}).await });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(serve(listener, server.router, std::future::pending(), Connections::default()));

        Bench { store, service, address, token, _folder: folder }
    }

    /// Creates a run; returns its id and the answer.
    async fn create(&self, client: &mut Client) -> (String, String) {
        let (status, created) = client.send(&self.request("POST", "/v1/runs", NEW_RUN)).await;
        assert_eq!(status, 201, "{created}");
        (created.split('"').nth(3).expect("an id").to_owned(), created)
    }

    fn request(&self, method: &str, path: &str, body: &str) -> String {
        let (token, length) = (&self.token, body.len());
        format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )
    }
}

async fn reads(bench: &Bench) {
    let (id, created) = bench.create(&mut Client::to(bench.address).await).await;
    let bare = {
        let router = axum::Router::new().route(
            "/v1/runs/{id}",
            axum::routing::get(move || {
                let created = created.clone();
                async move { ([("content-type", "application/json")], created) }
            }),
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move { axum::serve(listener, router).await });
        address
    };
    let get = bench.request("GET", &format!("/v1/runs/{id}"), "");
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let mut rates = [0.0; 2];
        for (rate, address) in rates.iter_mut().zip([bench.address, bare]) {
            let get = get.clone();
            let send = move |mut client: Client, _| {
                let get = get.clone();
                async move {
                    let (status, _) = client.send(&get).await;
                    assert_eq!(status, 200);
                    client
                }
            };
            let (_, time) = at_once(clients(CLIENTS, address).await, READS, send).await;
            *rate = each_second(READS, time);
        }
        println!("GET a run: {:.0}/s; bare axum: {:.0}/s", rates[0], rates[1]);
        ratios.push(rates[0] / rates[1]);
    }
    println!("GET a run / bare axum: {:.2} (bar: at least 0.5)\n", median(ratios));
}

async fn creates(bench: &Bench) {
    let mut ratios = Vec::new();
    for round in 0..ROUNDS {
        let post = bench.request("POST", "/v1/runs", NEW_RUN);
        let send = move |mut client: Client, _| {
            let post = post.clone();
            async move {
                assert_eq!(client.send(&post).await.0, 201);
                client
            }
        };
        let (_, by_http) = at_once(clients(CLIENTS, bench.address).await, CREATES, send).await;
        let raw = bench.service.clone();
        let create = move |(), index: usize| {
            let service = raw.clone();
            async move {
                let new = NewServiceRun {
                    id: format!("raw-{round}-{index}"),
                    intent: "send 5 USDC to 0xbeef".to_owned(),
                    wallet: Some("0xa11ce".to_owned()),
                    chain_id: Some(31337),
                };
                service.create(new, "bench").await.expect("a run");
            }
        };
        let (_, raw) = at_once(vec![(); CLIENTS], CREATES, create).await;
        let rates = [by_http, raw].map(|time| each_second(CREATES, time));
        println!("POST create: {:.0}/s; the store without HTTP: {:.0}/s", rates[0], rates[1]);
        ratios.push(rates[0] / rates[1]);
    }
    println!("POST create / the store: {:.2} (bar: at least 0.8)\n", median(ratios));
}

async fn approvals(bench: &Bench) {
    let mut ready = Vec::new();
    let mut client = Client::to(bench.address).await;
    for _ in 0..APPROVALS {
        let (id, _) = bench.create(&mut client).await;
        let (status, run) = client.send(&bench.request("POST", &format!("/v1/runs/{id}/start"), "{}")).await;
        assert!(status == 200 && run.contains("AWAITING_APPROVAL"), "{run}");
        ready.push(bench.request("POST", &format!("/v1/runs/{id}/approve"), "{}"));
    }
    let ready = Arc::new(ready);
    let approve = move |mut client: Client, index: usize| {
        let ready = Arc::clone(&ready);
        async move {
            assert_eq!(client.send(&ready[index]).await.0, 200);
            client
        }
    };
    // The first requests open the connections of the store.
    let get = bench.request("GET", "/v1/runs?limit=1", "");
    let warm = move |mut client: Client, _| {
        let get = get.clone();
        async move {
            assert_eq!(client.send(&get).await.0, 200);
            client
        }
    };
    at_once(clients(APPROVERS, bench.address).await, APPROVALS, warm).await;
    let (approved, _) = at_once(clients(APPROVERS, bench.address).await, APPROVALS, approve).await;
    let store = bench.store.clone();
    for index in 0..APPROVALS {
        let run = format!("commit-{index}");
        let created = example_change(&run, ServiceRunStatus::Created, "an intent");
        store.create(&run, &created).await.expect("a run");
    }
    let commit = move |(), index: usize| {
        let store = store.clone();
        async move {
            let run = format!("commit-{index}");
            let change = example_change(&run, ServiceRunStatus::Running, "an intent");
            store.compare_and_set(&run, 1, &change).await.expect("a commit");
        }
    };
    let (committed, _) = at_once(vec![(); APPROVERS], APPROVALS, commit).await;
    let (approved, committed) = (p99(approved), p99(committed));
    let ratio = approved.as_secs_f64() / committed.as_secs_f64();
    println!("approve, p99 of {APPROVERS} clients: {approved:.1?}; a commit of the store: {committed:.1?}");
    println!("approve / a commit: {ratio:.2} (bar: at most 3)");
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let part = std::env::args().nth(1);
    let bench = Bench::new().await;
    match part.as_deref() {
        None => {
            reads(&bench).await;
            creates(&bench).await;
            approvals(&bench).await;
        }
        Some("get") => reads(&bench).await,
        Some("create") => creates(&bench).await,
        Some("approve") => approvals(&bench).await,
        Some(_) => {
            eprintln!("usage: http [get | create | approve]");
            std::process::exit(2);
        }
    }
}
