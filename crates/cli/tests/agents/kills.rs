//! Kills of a command whose model stalls and whose MCP server dies.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::mcp_server;
use super::{Answer, ModelServer, Program, notes, runstate};

/// The kills of a run.
const KILLS: u64 = 3;

/// The most processes of a run.
const MOST: usize = 40;

/// The number of runs: `RUNSTATE_AGENT_KILLS`, or 3.
fn runs() -> u64 {
    std::env::var("RUNSTATE_AGENT_KILLS").ok().map_or(3, |number| number.parse().unwrap())
}

/// A call that writes its own id.
fn write(id: &'static str) -> (&'static str, &'static str, Value) {
    (id, "t__write", json!({ "text": id }))
}

struct World {
    folder: tempfile::TempDir,
    seed: u64,
}

impl World {
    fn command(&self, args: &[&str]) -> Program {
        let mut command = runstate(self.folder.path(), args);
        for (name, value) in mcp_server::command().1 {
            command.env(name, value);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn output(&self, args: &[&str]) -> (Option<i32>, Value, String) {
        let (code, out, err) = super::finished(self.command(args), "");
        (code, serde_json::from_str(&out).unwrap_or_default(), err)
    }

    fn server(&self) -> PathBuf {
        self.folder.path().join("server")
    }

    /// Starts a process, and kills it after a time between 50 ms and 1.5 s, or waits for its end.
    fn drive(&self, args: &[&str], kill: Option<u64>) -> (Option<i32>, String) {
        let Some(kill) = kill else {
            let (code, _, err) = super::finished(self.command(args), "");
            return (code, err);
        };
        let mut child = self.command(args).spawn().unwrap();
        sleep(Duration::from_millis(50 + (self.seed * 1_103 + kill * 619) % 1_450));
        child.kill().unwrap();
        let code = child.wait().unwrap().code();
        self.until_server_ended();
        (code, String::new())
    }

    /// Waits for the end of the server. It notices the end of its client, and a call that it executes may end after it.
    fn until_server_ended(&self) {
        let folder = self.server().canonicalize().unwrap();
        let lives = || {
            let processes = std::fs::read_dir("/proc").unwrap().map_while(Result::ok);
            processes.map(|of| of.path().join("cwd")).any(|cwd| cwd.read_link().is_ok_and(|it| it == folder))
        };
        for _ in 0..1_000 {
            if !lives() {
                return;
            }
            sleep(Duration::from_millis(20));
        }
        panic!("the server of a killed command lives on");
    }

    /// Decides each call that waits: one that had its effect gets a result, and another one executes again.
    fn decide(&self, run: &str) {
        let written = lines(&self.server());
        let (_, waiting, err) = self.output(&["approvals", "--run", run, "--json"]);
        let all = waiting.as_object().and_then(|fields| fields.values().find_map(Value::as_array));
        for waits in all.unwrap_or_else(|| panic!("{waiting} {err}")) {
            let call = waits["call"].as_str().unwrap();
            let mut args = vec!["approve", call, "--run", run];
            if written.iter().any(|line| line == call) {
                args.extend(["--result", "\"written\""]);
            }
            let (code, _, err) = self.output(&args);
            assert_eq!(code, Some(0), "{args:?}: {err}");
        }
    }
}

fn lines(server: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(server.join("written")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn killed_run_ends_and_writes_each_line_once() {
    for seed in 0..runs() {
        let folder = notes();
        let steps = [
            Answer::Calls(vec![write("w1")]),
            Answer::Calls(vec![("d1", "t__die", json!({}))]),
            Answer::Calls(vec![write("w2"), write("w3")]),
            Answer::Calls(vec![("s1", "t__slow", json!({})), ("r1", "t__read", json!({ "text": "x" }))]),
            Answer::Calls(vec![write("w4")]),
            Answer::Text("Done."),
        ];
        let model = ModelServer::by_step(&steps, &[2]);
        let (command, variables) = mcp_server::command();
        let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
        let command = serde_json::to_string(&command).unwrap();
        std::fs::create_dir_all(folder.path().join("server")).unwrap();
        let text = format!(
            "name: helper\nmodel: {{base_url: \"http://{}/v1\", name: m, silence: 3s}}\napprove: []\n\
             tools: {{mcp: [{{name: t, folder: server, trust: true, env: {names:?}, command: {command}}}]}}\n",
            model.address
        );
        std::fs::write(folder.path().join("a.yaml"), text).unwrap();

        let world = World { folder, seed };
        let mut kills = 0;
        let run = (0..MOST).find_map(|_| {
            let (_, list, _) = world.output(&["runs", "--json"]);
            let id = list
                .as_array()
                .or(list["runs"].as_array())
                .and_then(|all| Some(all.first()?["run"].as_str()?.to_owned()));
            let kill = Some(kills).filter(|kill| *kill < KILLS);
            kills += 1;
            let ended = match &id {
                None => world.drive(&["run", "a.yaml", "Go."], kill),
                Some(id) => {
                    world.decide(id);
                    world.drive(&["chat", "a.yaml", "--thread", id], kill)
                }
            };
            match ended {
                (Some(0), _) => id,
                (Some(3) | None, _) => None,
                (code, err) => panic!("seed {seed}: {code:?}: {err}{}", world.output(&["runs", "--json"]).1),
            }
        });
        let run = run.unwrap_or_else(|| panic!("seed {seed}: the run does not end"));
        let mut written = lines(&world.server());
        written.sort_unstable();
        assert_eq!(written, ["w1", "w2", "w3", "w4"], "seed {seed}");
        let (code, _, err) = super::finished(world.command(&["show", &run]), "");
        assert_eq!(code, Some(0), "seed {seed}: {err}");
        let (_, list, _) = world.output(&["runs", "--json"]);
        assert!(list.to_string().contains("natural_end"), "seed {seed}: {list}");
    }
}
