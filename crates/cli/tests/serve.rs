//! `runstate serve` and `runstate token`, as processes on the loopback address.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::program::{Program, Running};
#[cfg(unix)]
use super::server;

/// A server. It is killed at its drop.
struct Server {
    child: Running,
    address: SocketAddr,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// An answer: the status and the body.
type Answer = (u16, Value);

fn runstate(folder: &Path, args: &[&str]) -> Program {
    let mut command = Program::new(env!("CARGO_BIN_EXE_runstate"));
    command.args(args).current_dir(folder).env_remove("RUNSTATE_STORE");
    command
}

fn output(folder: &Path, args: &[&str]) -> Output {
    runstate(folder, args).output().unwrap()
}

/// The stores of a test: a file, and a database where a server is installed.
fn stores() -> Vec<String> {
    let mut stores = vec!["sqlite:runs.db".to_owned()];
    #[cfg(unix)]
    stores.extend(server::shared().map(server::Shared::database));
    stores
}

/// A free port. Another process may take it before the server does; the server then ends, and the test says so.
fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

impl Server {
    fn start(folder: &Path, args: &[&str]) -> Self {
        Self::start_at(folder, args, free())
    }

    fn start_at(folder: &Path, args: &[&str], address: SocketAddr) -> Self {
        let listen = address.to_string();
        let mut all = vec!["serve", "--chain", "chain", "--drain-delay", "10ms", "--listen", &listen];
        if !args.contains(&"--store") {
            all.extend(["--store", "sqlite:runs.db"]);
        }
        all.extend(args);
        let mut child = runstate(folder, &all).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        assert!(line.starts_with("http://"), "{line}");
        // Further words would fill the pipe.
        thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Server { child, address }
    }

    fn try_request(&self, method: &str, path: &str, headers: &str, body: &str) -> std::io::Result<Answer> {
        request(self.address, method, path, headers, body)
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        self.try_request("POST", path, "", &body.to_string()).unwrap()
    }

    fn get(&self, path: &str) -> Answer {
        self.try_request("GET", path, "", "").unwrap()
    }

    fn create(&self, intent: &str) -> String {
        let body = json!({ "intent": intent, "walletAddress": "0xa11ce", "chainId": 31337 });
        let (status, run) = self.post("/v1/runs", &body);
        assert_eq!(status, 201, "{run}");
        format!("/v1/runs/{}", run["run_id"].as_str().unwrap())
    }
}

fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> std::io::Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n{headers}\r\n{body}"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let lost = || std::io::Error::other(format!("no whole answer: {answer:?}"));
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(lost)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(lost)?;
    let body = if body.is_empty() { Value::Null } else { serde_json::from_str(body).map_err(|_| lost())? };
    Ok((status, body))
}

#[test]
fn run_goes_on_after_a_kill_behind_each_step() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path(), &[]);
    let run = server.create("send 5 USDC");
    let mut step = |action: &str, body: Value, expected: &str| -> Value {
        server.child.kill().unwrap();
        server = Server::start(folder.path(), &[]);
        let path = if action.starts_with('/') { action.to_owned() } else { format!("{run}/{action}") };
        let (status, answer) = server.post(&path, &body);
        assert_eq!(status, 200, "{action}: {answer}");
        assert_eq!(server.get(&run).1["status"], expected, "{action}");
        answer
    };
    step("start", json!({}), "PAUSED");
    let ready = step("resume", json!({ "answers": { "recipient": "0xbeef" } }), "AWAITING_APPROVAL");
    step("approve", json!({ "digest": ready["digest"] }), "APPROVED_READY");
    let handout = step("execute", json!({}), "APPROVED_READY");
    let sent = step("/sim/transactions", handout["tx_request"].clone(), "APPROVED_READY");
    let body = json!({ "txHash": sent["hash"], "submittedBy": "manual" });
    step("tx_submitted", body, "SUBMITTED");
    step("/sim/blocks", json!({}), "SUBMITTED");
    let poll = step("poll_tx", json!({}), "CONFIRMED");
    assert_eq!(poll["mined"], true);
    let (_, all) = server.get(&format!("{run}?include=decisions,steps"));
    assert_eq!(all["decisions"].as_array().unwrap().len(), 1);
}

/// One flow up to CONFIRMED. Each request has a key, and is sent again until a server answers it.
fn flow(address: SocketAddr, number: usize) {
    let send = |step: &str, path: &str, body: &Value| -> Value {
        let key = format!("idempotency-key: {number}-{step}\r\nprefer: wait=60\r\n");
        for _ in 0..600 {
            match request(address, "POST", path, &key, &body.to_string()) {
                // The run is driven, or the key is in progress: both pass.
                Ok((202 | 409 | 429 | 503, _)) | Err(_) => thread::sleep(Duration::from_millis(50)),
                Ok((status, answer)) => {
                    assert!(matches!(status, 200 | 201), "{step}: {status} {answer}");
                    return answer;
                }
            }
        }
        panic!("{step} of flow {number} had no answer");
    };
    let new = json!({ "intent": "send 1 USDC to 0xbeef", "walletAddress": "0xa11ce", "chainId": 31337 });
    let run = send("create", "/v1/runs", &new);
    let run = format!("/v1/runs/{}", run["run_id"].as_str().unwrap());
    let at = |action: &str| format!("{run}/{action}");
    let ready = send("start", &at("start"), &json!({}));
    assert_eq!(ready["status"], "AWAITING_APPROVAL", "{ready}");
    let approved = send("approve", &at("approve"), &json!({ "digest": ready["digest"] }));
    assert_eq!(approved["status"], "APPROVED_READY");
    let handout = send("execute", &at("execute"), &json!({}));
    assert_eq!(handout["digest"], ready["digest"]);
    let hash = json!({ "txHash": format!("0x{number}"), "submittedBy": "manual" });
    assert_eq!(send("submit", &at("tx_submitted"), &hash)["status"], "SUBMITTED");
}

#[test]
fn kills_lose_nothing_and_repeat_nothing() {
    stores().iter().for_each(|store| kills(store));
}

fn kills(store: &str) {
    const FLOWS: usize = 4;
    const ROUNDS: usize = 3;

    let folder = tempfile::tempdir().unwrap();
    let address = free();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let flows: Vec<_> = (0..FLOWS)
            .map(|worker| {
                scope.spawn(move || (0..ROUNDS).for_each(|round| flow(address, worker * ROUNDS + round)))
            })
            .collect();
        let killer = scope.spawn(|| {
            let mut kills = 0;
            while !is_over.load(Ordering::Relaxed) && kills < 60 {
                let mut server = Server::start_at(folder.path(), &["--store", store], address);
                // Different places of the flows, without a random number.
                thread::sleep(Duration::from_millis(120 + 37 * (kills % 9)));
                server.child.kill().unwrap();
                kills += 1;
            }
            let server = Server::start_at(folder.path(), &["--store", store], address);
            while !is_over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(20));
            }
            drop(server);
            kills
        });
        let failed: Vec<_> = flows.into_iter().map(|flow| flow.join()).filter(Result::is_err).collect();
        is_over.store(true, Ordering::Relaxed);
        let kills = killer.join().unwrap();
        assert!(kills > 0, "no server was killed");
        assert!(failed.is_empty(), "{} flows failed after {kills} kills", failed.len());
    });
    let server = Server::start(folder.path(), &["--store", store]);
    let (_, page) = server.get("/v1/runs?limit=200&counts=true");
    assert_eq!(page["counts"], json!({ "SUBMITTED": FLOWS * ROUNDS }), "one run for each key");
    for run in page["runs"].as_array().unwrap() {
        let path = format!("/v1/runs/{}?include=steps", run["run_id"].as_str().unwrap());
        let (_, run) = server.get(&path);
        for step in ["RUN_CREATED", "RUN_STARTED", "HUMAN_APPROVAL", "EXECUTE_PREP", "TX_SUBMITTED"] {
            let count = run["steps"].as_array().unwrap().iter().filter(|row| row["step"] == step).count();
            assert_eq!(count, 1, "{step}: {run}");
        }
    }
}

#[test]
fn approval_and_rejection_by_two_processes_have_one_winner() {
    stores().iter().for_each(|store| races(store));
}

fn races(store: &str) {
    let folder = tempfile::tempdir().unwrap();
    let one = Server::start(folder.path(), &["--store", store]);
    let other = Server::start(folder.path(), &["--store", store, "--no-worker"]);
    // The night takes more.
    let rounds = std::env::var("RUNSTATE_RACES").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(50);
    for round in 0..rounds {
        let run = one.create("send 1 USDC to 0xbeef");
        assert_eq!(one.post(&format!("{run}/start"), &json!({})).1["status"], "AWAITING_APPROVAL");
        let (approved, rejected) = thread::scope(|scope| {
            let approved = scope.spawn(|| one.post(&format!("{run}/approve"), &json!({})));
            let rejected = scope.spawn(|| other.post(&format!("{run}/reject"), &json!({})));
            (approved.join().unwrap(), rejected.join().unwrap())
        });
        let mut statuses = [approved.0, rejected.0];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "round {round}: {approved:?} {rejected:?}");
    }
}

#[cfg(unix)]
#[test]
fn signal_drains_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path(), &[]);
    let run = server.create("send 5 USDC");
    let mut watcher = TcpStream::connect(server.address).unwrap();
    watcher.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    write!(watcher, "GET {run}/events HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut first = [0; 12];
    watcher.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let id = rustix::process::Pid::from_raw(server.child.id().cast_signed()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    let mut rest = Vec::new();
    // The stream breaks: a reset is an end too.
    drop(watcher.read_to_end(&mut rest));
    assert!(!rest.ends_with(b"0\r\n\r\n"), "the stream ended cleanly");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let token = |args: &[&str]| {
        let mut all = vec!["token"];
        all.extend(args);
        all.extend(["--tokens", "tokens.json"]);
        let output = output(folder.path(), &all);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    };
    let (code, made, _) = token(&["new", "ada", "--role", "operator"]);
    assert_eq!((code, made.len()), (0, 3 + 64 + 1), "{made}");
    assert_eq!(token(&["new", "bob", "--role", "approver", "--role", "viewer", "--expires", "1d"]).0, 0);
    assert_eq!(token(&["list"]), (0, "ada  operator\nbob  viewer, approver\n".into(), String::new()));
    assert!(!token(&["list", "--json"]).1.contains("sha256"));
    let (code, _, said) = token(&["new", "ada", "--role", "viewer"]);
    assert_eq!((code, said.trim()), (2, "error: \"ada\" has a token already; revoke it first"));
    let server = Server::start(folder.path(), &["--tokens", "tokens.json"]);
    let header = format!("authorization: Bearer {}\r\n", made.trim());
    assert_eq!(server.try_request("GET", "/v1/runs", &header, "").unwrap().0, 200);
    assert_eq!(server.get("/v1/runs").0, 401);
    assert_eq!(token(&["revoke", "ada"]).0, 0);
    assert_eq!(token(&["revoke", "ada"]).0, 1);
    let refused = (0..200).any(|_| {
        thread::sleep(Duration::from_millis(50));
        server.try_request("GET", "/v1/runs", &header, "").unwrap().0 == 401
    });
    assert!(refused, "the server reads the file again");
}

#[test]
fn agent_runs_of_the_store_are_read() {
    stores().iter().for_each(|store| {
        let folder = tempfile::tempdir().unwrap();
        let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tidy-folder.yaml");
        let run = output(folder.path(), &["run", "--state-dir", "state", "--store", store, example]);
        assert!(run.status.code().is_some_and(|code| code != 2), "{run:?}");
        let server = Server::start(folder.path(), &["--store", store]);
        let (status, list) = server.get("/v1/runs?kind=agent");
        assert_eq!((status, &list["runs"][0]["run_id"]), (200, &json!("tidy-folder-1")), "{list} {run:?}");
        assert_eq!(list["runs"][0]["status"], "Done");
        let (_, calls) = server.get("/v1/runs/tidy-folder-1/tool-calls");
        let tools: Vec<&Value> = calls["rows"].as_array().unwrap().iter().map(|call| &call["tool"]).collect();
        assert!(tools.contains(&&json!("delete_file")), "{calls}");
        let (status, services) = server.get("/v1/runs");
        assert_eq!((status, &services["runs"]), (200, &json!([])));
    });
}

#[test]
fn unreadable_runs_are_named_and_fail_no_list() {
    let folder = tempfile::tempdir().unwrap();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tidy-folder.yaml");
    for _ in 0..2 {
        let store = ["--state-dir", "state", "--store", "sqlite:runs.db", example];
        let run = output(folder.path(), &[&["run"], &store[..]].concat());
        assert!(run.status.code().is_some_and(|code| code != 2), "{run:?}");
    }
    let server = Server::start(folder.path(), &[]);
    let runs: Vec<String> = ["send 5 USDC", "send 6 USDC"].map(|intent| server.create(intent)).into();
    let id = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    // A later version of the program has other statuses.
    let theirs = rusqlite::Connection::open(folder.path().join("runs.db")).unwrap();
    let spoil = |table: &str, run: &str| {
        let sql = format!("UPDATE {table} SET status = 'PARKED' WHERE id = ?1");
        assert_eq!(theirs.execute(&sql, [run]).unwrap(), 1);
    };
    spoil("service_runs", &id(&runs[0]));
    spoil("runs", "tidy-folder-1");

    let (status, list) = server.get("/v1/runs?counts=true");
    assert_eq!((status, &list["runs"][0]["run_id"]), (200, &json!(id(&runs[1]))), "{list}");
    assert_eq!(list["counts"], json!({ "CREATED": 1, "PARKED": 1 }));
    let (status, agents) = server.get("/v1/runs?kind=agent");
    assert_eq!((status, &agents["runs"][0]["run_id"]), (200, &json!("tidy-folder-2")), "{agents}");
    for (list, run) in [(&list, &*id(&runs[0])), (&agents, "tidy-folder-1")] {
        assert_eq!(list["runs"].as_array().unwrap().len(), 1, "{list}");
        let [unreadable] = &list["unreadable"].as_array().unwrap()[..] else { panic!("{list}") };
        assert_eq!(unreadable["run_id"], run);
        let detail = unreadable["detail"].as_str().unwrap();
        assert!(detail.contains("status of the run") && detail.contains("\"PARKED\""), "{detail}");
        assert!(!detail.contains("runs.db"), "{detail}");
    }
    // The command names it too.
    let listed = output(folder.path(), &["runs", "--store", "sqlite:runs.db", "--json"]);
    let (listed, said) =
        (String::from_utf8(listed.stdout).unwrap(), String::from_utf8(listed.stderr).unwrap());
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(
        (&listed["runs"][0]["run"], &listed["damaged"][0]["run"]),
        (&json!("tidy-folder-2"), &json!("tidy-folder-1"))
    );
    assert!(said.contains("tidy-folder-1"), "{said}");
}

#[test]
fn server_of_a_new_user_makes_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let listen = free().to_string();
    let mut command = runstate(folder.path(), &["serve", "--listen", &listen]);
    command.env("XDG_DATA_HOME", folder.path().join("data")).env("HOME", folder.path());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.starts_with(&format!("http://{listen} serves the service runs of sqlite:")), "{line}");
}

/// The refusal of two files that do not exist.
const TLS: &str = if cfg!(feature = "serve-tls") { "cert.pem: I/O error" } else { "--features serve-tls" };

#[test]
fn arguments_that_cannot_be_used_are_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    std::fs::write(folder.path().join("typo.yaml"), "policy: {target: []}\n").unwrap();
    std::fs::write(folder.path().join("target.yaml"), "policy: {targets: [zzz]}\n").unwrap();
    std::fs::write(folder.path().join("slippage.yaml"), "slippage_bps: 20000\n").unwrap();
    std::fs::write(folder.path().join("attempts.yaml"), "max_attempts: 1000000\n").unwrap();
    std::fs::write(folder.path().join("both.yaml"), "slippage_bps: 20000\nmax_attempts: 11\n").unwrap();
    std::fs::write(folder.path().join("noise.yaml"), b"\xff\xfe\x00noise").unwrap();
    std::fs::write(folder.path().join("tokens.json"), "{}").unwrap();
    let rows: [(&[&str], &str); 17] = [
        (
            &["--listen", "0.0.0.0:0"],
            "`runstate token new` makes a file for --tokens; or listen on 127.0.0.1",
        ),
        (&["--behind-proxy"], "each request of the proxy would be of the user `local`"),
        (&["--distinct-actors"], "the user `local` alone could approve nothing"),
        (&["--listen", "0.0.0.0:0", "--tokens", "good.json"], "give --tls-cert and --tls-key"),
        (&["--store", "file:runs"], "service runs have no store in folders; write sqlite:PATH"),
        (&["--graph", "typo.yaml"], "target"),
        (
            &["--graph", "target.yaml"],
            "policy.targets: got \"zzz\", expected 0x and 1 to 62 hexadecimal digits",
        ),
        (
            &["--graph", "slippage.yaml"],
            "slippage_bps: got 20000, expected at most max_slippage_bps, which is 300",
        ),
        (&["--graph", "attempts.yaml"], "max_attempts: got 1000000, expected 1 to 10"),
        (&["--graph", "both.yaml"], "which is 300; max_attempts: got 11, expected 1 to 10"),
        (&["--graph", "noise.yaml"], "cannot read noise.yaml"),
        (&["--graph", "none.yaml"], "cannot read none.yaml"),
        (&["--listen", &taken], "end the program that has the address, or name another one with --listen"),
        (&["--tokens", "tokens.json"], "chmod 600"),
        (&["--allow-origin", "https://a.example/path"], "expected a scheme with a host"),
        (&["--tls-cert", "cert.pem"], "--tls-key <FILE>"),
        (&["--tls-cert", "cert.pem", "--tls-key", "key.pem"], TLS),
    ];
    for (args, expected) in rows {
        let mut all = vec!["serve"];
        for (flag, value) in [("--store", "sqlite:runs.db"), ("--listen", "127.0.0.1:0")] {
            if !args.contains(&flag) {
                all.extend([flag, value]);
            }
        }
        all.extend(args);
        let output = output(folder.path(), &all);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(expected), "{args:?}: {said}");
    }
}

#[test]
fn server_that_waits_for_its_store_lives_and_is_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    // Another process has the file for itself, as one that migrates it does.
    let holder = rusqlite::Connection::open(folder.path().join("runs.db")).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let address = free();
    let starts = {
        let folder = folder.path().to_owned();
        thread::spawn(move || Server::start_at(&folder, &[], address))
    };
    let asked = |path: &str| {
        (0..100).find_map(|_| {
            thread::sleep(Duration::from_millis(20));
            request(address, "GET", path, "", "").ok()
        })
    };
    let (status, problem) = asked("/readyz").unwrap();
    assert_eq!((status, &problem["detail"]), (503, &json!("the server starts: it opens its store")));
    assert_eq!(asked("/healthz").unwrap().0, 200);
    assert_eq!(asked("/v1/runs").unwrap().0, 503);
    holder.execute_batch("ROLLBACK").unwrap();
    let server = starts.join().unwrap();
    assert_eq!(server.get("/readyz").0, 200);
    assert_eq!(server.get("/v1/runs").0, 200);
}

#[cfg(feature = "agents")]
#[test]
fn models_of_the_graph_plan_and_judge() {
    use super::agents::{Answer, ModelServer};

    let folder = tempfile::tempdir().unwrap();
    let plan = r#"{"actions": [{"kind": "send", "amount": "5", "asset": "USDC", "recipient": "0xbeef"}], "summary": "5 USDC to bob"}"#;
    let planner =
        ModelServer::new(&[Answer::Status(500), Answer::Text(plan), Answer::Text("I would rather not.")]);
    let verdict = r#"{"verdict": "PASS", "summary": "it is what was asked for", "issues": []}"#;
    let judge = ModelServer::new(&[Answer::Text(verdict)]);
    let model = |server: &ModelServer| {
        format!("{{base_url: \"http://{}/v1\", name: m, parameters: {{temperature: 0}}}}", server.address)
    };
    let graph = format!(
        "planner: {{model: {}, system: Plan., output: 900}}\njudge: {{model: {}}}\n",
        model(&planner),
        model(&judge)
    );
    std::fs::write(folder.path().join("graph.yaml"), graph).unwrap();
    let server = Server::start(folder.path(), &["--graph", "graph.yaml"]);
    let run = server.create("give bob a fiver");
    assert_eq!(server.post(&format!("{run}/start"), &json!({})).1["status"], "AWAITING_APPROVAL");
    let artifacts = &server.get(&format!("{run}?include=artifacts")).1["artifacts"];
    assert_eq!(artifacts["judge_result"]["summary"], "it is what was asked for", "{artifacts}");
    assert_eq!(artifacts["planner_result"]["planner_fallback"], Value::Null, "{artifacts}");

    // An answer that is no plan is a plan without actions, which says so.
    let run = server.create("give bob a fiver");
    assert_eq!(server.post(&format!("{run}/start"), &json!({})).1["final_status"], "NOOP");

    let requests = planner.requests();
    assert_eq!(requests.len(), 3, "the failed answer is asked for again");
    let first = &requests[0].1;
    assert_eq!((&first["temperature"], &first["max_tokens"]), (&json!(0), &json!(900)));
    assert_eq!(first["messages"][0], json!({ "role": "system", "content": "Plan." }));
    assert!(first["messages"][1]["content"].as_str().unwrap().contains("give bob a fiver"), "{first}");
}

#[cfg(feature = "agents")]
#[test]
fn models_of_the_graph_have_no_key_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.yaml");
    let secret = "sk-7c1d0a";
    for (model, expected) in [
        (format!("{{base_url: \"https://models.example/v1\", name: m, key: {secret}}}"), "write key_env"),
        ("{base_url: \"http://models.example/v1\", name: m, key_env: PATH}".to_owned(), "would be readable"),
        (
            "{base_url: \"https://models.example/v1\", name: m, key_env: RUNSTATE_NOT_SET}".to_owned(),
            "RUNSTATE_NOT_SET",
        ),
    ] {
        std::fs::write(&path, format!("judge: {{model: {model}}}\n")).unwrap();
        let refused = output(folder.path(), &["serve", "--listen", "127.0.0.1:0", "--graph", "graph.yaml"]);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains("graph.yaml: judge: ") && said.contains(expected), "{said}");
        assert!(!said.contains(secret), "{said}");
    }
}

#[cfg(not(feature = "agents"))]
#[test]
fn graph_with_models_names_the_feature() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("graph.yaml"), "judge: {model: {base_url: x, name: m}}\n").unwrap();
    let refused = output(folder.path(), &["serve", "--listen", "127.0.0.1:0", "--graph", "graph.yaml"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && said.contains("--features serve,agents"), "{said}");
}
