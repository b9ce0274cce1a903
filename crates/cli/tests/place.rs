//! A place of its own for a test, with an empty store of some kind, and the command as it is used there.
//!
//! What is looked at is what the command says: so all stores are held to the same.

use std::process::Command;

use serde_json::Value;

use crate::program::{Program, Running};
use crate::session::{Said, Session, harmless};
use crate::stores;

/// The kinds of stores that the command knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Files,
    #[cfg(unix)]
    Postgres,
}

impl Kind {
    /// A place of its own. None where the store's server is not installed, which was said then.
    pub(crate) fn place(self) -> Option<Place> {
        let url = match self {
            Kind::Sqlite => "sqlite:runs/runs.db".to_owned(),
            Kind::Files => "file:runs/store".to_owned(),
            #[cfg(unix)]
            Kind::Postgres => crate::server::shared()?.database(),
        };
        Some(Place { session: Session::new(), kind: self, url })
    }

    /// Does it tell other processes what came in? Elsewhere they look once in a while.
    fn tells_news(self) -> bool {
        self != Kind::Files
    }
}

/// A folder to run the command in, and a store for it.
pub(crate) struct Place {
    pub(crate) session: Session,
    pub(crate) kind: Kind,
    pub(crate) url: String,
}

impl Place {
    /// The command with the store of this place, in its folder.
    pub(crate) fn command(&self, args: &[&str]) -> Program {
        let mut command = self.session.command(&[args, &["--state-dir", "runs"]].concat());
        command.env("RUNSTATE_STORE", &self.url);
        command
    }

    /// What it says; the store is called `[store]` in it.
    pub(crate) fn say(&self, args: &[&str]) -> Said {
        let said = self.session.said(args, &self.command(args).output().unwrap());
        said.replaced(&self.url, "[store]")
    }

    /// What it says, ending with that code.
    #[track_caller]
    pub(crate) fn does(&self, args: &[&str], code: i32) -> Said {
        let said = self.say(args);
        assert_eq!(said.code, Some(code), "{:?}: {}", self.kind, said.shown());
        said
    }

    /// A run of this scenario that nobody has driven yet.
    #[track_caller]
    pub(crate) fn detached(&self, scenario: &str) {
        self.session.write("s.yaml", scenario);
        self.does(&["run", "--detach", "s.yaml"], 0);
    }

    /// Drives all that can go on now.
    #[track_caller]
    pub(crate) fn work(&self) {
        self.does(&["worker", "--once"], 0);
    }

    /// A worker that waits for work, and looks by itself only where the store tells nothing: for as long as a test would wait.
    /// Its leases outlast whatever the machine does meanwhile.
    pub(crate) fn worker(&self, more: &[&str]) -> Ended {
        let poll = if self.kind.tells_news() { "1h" } else { "100ms" };
        let mut args = [&["worker"], more].concat();
        for (name, value) in [("--lease", "10m"), ("--poll", poll)] {
            if !more.contains(&name) {
                args.extend([name, value]);
            }
        }
        Ended(Some(self.command(&args).spawn().unwrap()))
    }

    /// Where a run stands: what `show --format json` has. None as long as there is no such run.
    pub(crate) fn stands(&self, run: &str) -> Option<Value> {
        let said = self.say(&["show", run, "--format", "json"]);
        let json: Value = serde_json::from_str(&said.stdout).ok()?;
        Some(json["run"].clone())
    }

    /// A field of where a run stands, as text; empty where it has none.
    pub(crate) fn field(&self, run: &str, field: &str) -> String {
        let stands = self.stands(run).unwrap_or_default();
        stands[field].as_str().unwrap_or_default().to_owned()
    }

    /// The status of a call.
    pub(crate) fn call(&self, run: &str, call: &str) -> String {
        let stands = self.stands(run).unwrap_or_default();
        let calls = stands["calls"].as_array().cloned().unwrap_or_default();
        let call = calls.iter().find(|one| one["call"] == call);
        call.and_then(|one| one["status"].as_str()).unwrap_or_default().to_owned()
    }

    /// Waits until a field of a run says that.
    #[track_caller]
    pub(crate) fn wait_for(&self, run: &str, field: &str, expected: &str) {
        stores::wait_until(&format!("{run} has {field} {expected}"), || self.field(run, field) == expected);
    }

    /// Waits until a call of a run has that status.
    #[track_caller]
    pub(crate) fn wait_for_call(&self, run: &str, call: &str, expected: &str) {
        stores::wait_until(&format!("{call} of {run} is {expected}"), || self.call(run, call) == expected);
    }

    /// How many events of the trace of a run say that.
    pub(crate) fn events(&self, run: &str, lifecycle: &str, to: &str) -> usize {
        let said = self.does(&["show", run, "--format", "jsonl"], 0);
        let events = said.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        events.filter(|event| event["lifecycle"] == lifecycle && event["to"] == to).count()
    }

    /// How often tools were executed, as far as is durable.
    pub(crate) fn executions(&self, run: &str) -> usize {
        self.events(run, "tool_execution", "ExecuteTool")
    }

    /// Does the trace of a run conform? Where a process was killed, what it had begun is not over in it.
    #[track_caller]
    pub(crate) fn conforms(&self, run: &str, more: &[&str]) {
        let trace = self.does(&["show", run, "--format", "jsonl"], 0);
        let checked = self.session.run_with(&[&["check", "-"], more].concat(), &trace.stdout);
        assert_eq!(checked.code, Some(0), "{:?}: {}", self.kind, checked.shown());
    }
}

/// A process that is ended should an assertion fail.
pub(crate) struct Ended(pub(crate) Option<Running>);

impl Ended {
    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.0.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Waits for its end, but not for ever: the exit code.
    #[cfg(unix)]
    #[track_caller]
    pub(crate) fn ends(mut self) -> Option<i32> {
        let mut ended = None;
        stores::wait_until("it ends", || {
            ended = self.0.as_mut().unwrap().try_wait().unwrap();
            ended.is_some()
        });
        harmless("a command", self.0.take().unwrap().wait_with_output().unwrap());
        ended.unwrap().code()
    }

    /// Waits for its end: all of it.
    pub(crate) fn output(mut self) -> std::process::Output {
        harmless("a command", self.0.take().unwrap().wait_with_output().unwrap())
    }

    /// Waits for its end: the exit code, and what it complained about.
    pub(crate) fn wait(mut self) -> (Option<i32>, String) {
        let output = harmless("a worker", self.0.take().unwrap().wait_with_output().unwrap());
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            drop(child.kill());
            drop(child.wait());
        }
    }
}
