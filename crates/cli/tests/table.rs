//! The table of replies at the door of the command, around each commit of a run that another process drives.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use runstate::decision::DecisionAction::{self, Cancel, Resume};
use runstate::turn::{CallRequest, Turn};
use runstate_agent::{Incoming, Unchecked};
use runstate_sqlite::SqliteStore;
use runstate_store::{ApprovalFilter, ApprovalQuery, Claim, FileStore, Lease, NewRun, RunStore};
use runstate_store_conformance::Played;
use runstate_store_conformance::replies::{NAMES, Question, Table};
use serde_json::{Value, json};

use crate::program::Running;
use crate::session::{Session, harmless};

const RUN: &str = "pay-1";
/// After the time at which a question expires here; the command has a clock of its own.
const NOW: u64 = 1_000;
const WRONG: &str = "sha256:00000000000000000000000000000000";

/// A command, and the decision that it gives.
#[derive(Debug, Clone)]
struct Given {
    args: Vec<String>,
    incoming: Incoming,
}

struct Desk {
    session: Session,
    store: Arc<dyn RunStore>,
    url: &'static str,
    table: Table,
    calls: Vec<(&'static str, &'static str)>,
    met: BTreeSet<String>,
}

impl Desk {
    async fn list(&mut self) {
        let open = self
            .store
            .approvals(&ApprovalQuery::new(ApprovalFilter::Run(RUN.to_owned()), 100))
            .await
            .unwrap();
        let has_second = open.iter().any(|open| open.call == "a#2") || self.calls.len() == 5;
        if !open.is_empty() {
            let all = [("a", "a"), ("b", "b"), ("l", "l"), ("a#2", "a")];
            self.calls = all[..if has_second { 4 } else { 3 }].to_vec();
        }
        self.table.listed(self.calls.clone(), open.iter().map(Question::from), NOW);
    }

    /// A decision as the command gives it: its id is made of its content.
    fn given(
        &self,
        verb: DecisionAction,
        question: &str,
        digest: Option<&str>,
        actor: &str,
        run: Option<&str>,
    ) -> Given {
        let name = if verb == Resume { "approve" } else { "deny" };
        let mut args = vec![name.to_owned(), question.to_owned(), "--actor".to_owned(), actor.to_owned()];
        for (flag, value) in [("--digest", digest), ("--run", run)] {
            args.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value.to_owned()]));
        }
        let is_suspension = question.contains('/');
        let mut incoming = Incoming::new("", if is_suspension { "" } else { question }, verb).by(actor);
        incoming.suspension_id = is_suspension.then(|| question.to_owned());
        incoming.digest = digest.map(str::to_owned);
        incoming.run_id = run.map(str::to_owned);
        // A call that is named is on the question that waits, or that was decided last: the same command again is the same decision.
        let of_call = self.table.asked().filter(|asked| is_suspension || asked.call == question);
        let last = match &incoming.suspension_id {
            Some(id) => of_call.last().map(|_| id.clone()),
            None => of_call.last().map(|asked| asked.suspension.id.clone()),
        };
        incoming.decision_id = format!("{verb:?} {last:?} {actor} {digest:?}");
        Given { args, incoming }
    }

    /// The commands of one moment. None of them is to be accepted.
    fn commands(&self) -> Vec<Given> {
        let mut all = vec![
            self.given(Resume, "pay-1/zz/1", None, "zoe", None),
            self.given(Resume, "zz", None, "zoe", Some(RUN)),
            self.given(Resume, "a", None, "zoe", Some("pay-2")),
            self.given(Resume, "a", None, "runstate", Some(RUN)),
        ];
        for asked in self.table.asked() {
            let (id, digest) = (&*asked.suspension.id, Some(&*asked.digest));
            all.push(self.given(Resume, id, None, "zoe", None));
            all.push(self.given(Resume, id, Some(WRONG), "zoe", None));
            all.push(self.given(Cancel, id, digest, "zoe", Some(RUN)));
            all.push(self.given(Resume, &asked.call, None, "zoe", Some(RUN)));
            all.push(self.given(Resume, &asked.call, digest, "zoe", Some(RUN)));
            all.push(self.given(Resume, &asked.call, Some(WRONG), "zoe", Some(RUN)));
            all.push(self.given(Cancel, &asked.call, None, "zoe", Some(RUN)));
        }
        all
    }

    fn expected(&self, given: &Given) -> &'static str {
        self.table.reply(&given.incoming, NOW, &Unchecked)
    }

    fn spawn(&self, given: &Given) -> Running {
        let mut args: Vec<_> = given.args.iter().map(String::as_str).collect();
        args.extend(["--json", "--store", self.url]);
        self.session.command(&args).spawn().unwrap()
    }

    fn told(&self, given: &Given, child: Running) -> String {
        let output = harmless("a decision", child.wait_with_output().unwrap());
        let (stdout, stderr) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        // The command refuses a run that is not in the store.
        if stdout.is_empty() && stderr.starts_with("error: there is no run ") {
            return "unknown".to_owned();
        }
        let told = serde_json::from_str::<Value>(&stdout);
        let told = told.unwrap_or_else(|error| panic!("{given:?}: {error}: {stdout}{stderr}"));
        told["reply"].as_str().unwrap().to_owned()
    }

    fn expect(&mut self, given: &Given) {
        let expected = self.expected(given);
        let told = self.told(given, self.spawn(given));
        assert_eq!(told, expected, "{given:?}");
        if told == "accepted" {
            self.table.accepted(&given.incoming);
        }
        self.met.insert(told);
    }

    /// At a moment between two commits; of so many commands one, by turns.
    async fn look(&mut self, turn: usize) {
        self.list().await;
        for given in self.commands().into_iter().skip(turn % 3).step_by(3) {
            if self.expected(&given) != "accepted" {
                self.expect(&given);
            }
        }
    }
}

/// Drives the run in this process, with commands around each commit and beside it.
async fn around_each_commit(
    open: impl FnOnce(&Path) -> Arc<dyn RunStore>,
    url: &'static str,
) -> BTreeSet<String> {
    let session = Session::new();
    let store = open(&session.path(""));
    let call = |id: &str, tool: &str, arguments: Value| CallRequest::new(id, tool, arguments);
    let round = vec![
        call("a", "pay", json!({ "of": 1 })),
        call("b", "ask", json!({ "distinct": true })),
        call("l", "ask", json!({ "expires": 1 })),
    ];
    let again = vec![call("a", "pay", json!({ "of": 2 }))];
    let turn = |calls| Turn { text: String::new(), calls, ..Turn::default() };
    let mut played = Played::new(RUN, &[turn(round), turn(again)]).await;
    store.create(&NewRun::new(RUN, Value::Null, 0)).await.unwrap();
    let lease: Lease =
        store.claim(&Claim::of(RUN, "a test", std::time::Duration::MAX)).await.unwrap().unwrap();
    let table = Table::of(RUN);
    let mut desk = Desk { session, store, url, table, calls: Vec::new(), met: BTreeSet::new() };
    let (mut new, mut turn) = (0..played.commits().len(), 0);
    loop {
        for number in new {
            desk.look(turn).await;
            turn += 1;
            // One command beside the commit: its reply is the one before or the one after.
            let beside = desk
                .commands()
                .into_iter()
                .cycle()
                .nth(turn)
                .filter(|given| desk.expected(given) != "accepted");
            let child = beside.map(|given| (desk.expected(&given), desk.spawn(&given), given));
            desk.store.commit(&lease, played.commits().nth(number).unwrap()).await.unwrap();
            if let Some((before, child, given)) = child {
                let told = desk.told(&given, child);
                desk.list().await;
                let after = desk.expected(&given);
                assert!(
                    [before, after].contains(&&*told),
                    "{given:?}: {told}, and neither {before} nor {after}"
                );
                if told == "accepted" {
                    desk.table.accepted(&given.incoming);
                }
            }
        }
        desk.look(turn).await;
        let open: Vec<_> = desk.table.open().cloned().collect();
        for (number, question) in open.iter().filter(|open| open.call != "l").enumerate() {
            let (actor, id) = (format!("ada {turn}-{number}"), &*question.suspension.id);
            let earlier: Vec<_> =
                desk.table.approved_by(&question.call).flatten().map(str::to_uppercase).collect();
            for earlier in earlier {
                desk.expect(&desk.given(Resume, id, None, &earlier, None));
            }
            let yes = desk.given(Resume, id, Some(&question.digest), &actor, None);
            desk.expect(&yes);
            desk.expect(&yes);
            let other = desk.given(Resume, id, Some(&question.digest), "ben", None);
            desk.expect(&other);
            if number == 0 {
                break;
            }
        }
        if open.iter().all(|open| open.call == "l") {
            // What no person decided in time is given up by the first command that comes too late.
            desk.expect(&desk.given(Resume, "pay-1/l/1", None, "zoe", None));
        }
        desk.look(turn + 1).await;
        desk.look(turn + 2).await;
        let taken = desk.store.pending_signals(RUN).await.unwrap().decisions;
        if taken.is_empty() {
            break;
        }
        new = played.resume(&taken).await;
    }
    assert!(desk.table.approved_by("a").count() == 2 && desk.table.approved_by("a#2").count() == 2);
    desk.met
}

fn check(open: impl FnOnce(&Path) -> Arc<dyn RunStore>, url: &'static str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let met = runtime.block_on(around_each_commit(open, url));
    for reply in NAMES {
        assert!(met.contains(reply), "no {reply} in {met:?}");
    }
}

#[test]
fn replies_at_a_store_in_sqlite_are_those_of_the_table() {
    check(|folder| Arc::new(SqliteStore::open(folder.join("runs.db")).unwrap()), "sqlite:runs.db");
}

#[test]
fn replies_at_a_store_in_files_are_those_of_the_table() {
    check(|folder| Arc::new(FileStore::open(folder.join("runs")).unwrap()), "file:runs");
}
