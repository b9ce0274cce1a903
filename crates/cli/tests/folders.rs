//! The folders of runs: a path and an id are the same on many machines, which may share a store, and a folder is one run's alone.

use std::fs;

use serde_json::Value;

use crate::session::{Said, Session};

const FILES: &str = "\
name: files
message: go
model:
  - calls: [{id: w, tool: write_file, arguments: {path: a.txt, content: mine}}]
  - text: done
";

/// The store that both machines reach.
const SHARED: &str = "sqlite:shared.db";
/// Where one of them has runs of its own.
const LOCAL: &str = "sqlite:local.db";

/// Two machines with the same paths, of which one is looked at.
struct Machines {
    session: Session,
}

impl Machines {
    /// On each there is a run `files-1` in the same place, in a store of its own and in the one that they share. It is this
    /// machine that has the run of its own.
    fn two() -> Machines {
        let machines = Machines { session: Session::new() };
        machines.session.write("s.yaml", FILES);
        machines.say(LOCAL, &["run", "--detach", "s.yaml"], 0);
        machines.change();
        machines.say(SHARED, &["run", "--detach", "s.yaml"], 0);
        machines.change();
        machines
    }

    /// Goes to the other machine.
    fn change(&self) {
        let [here, there, aside] = ["runs", "elsewhere", "aside"].map(|path| self.session.path(path));
        fs::rename(&here, &aside).unwrap();
        if there.exists() {
            fs::rename(&there, &here).unwrap();
        }
        fs::rename(&aside, &there).unwrap();
    }

    #[track_caller]
    fn say(&self, store: &str, args: &[&str], code: i32) -> Said {
        let said = self.session.run(&[args, &["--store", store, "--state-dir", "runs"]].concat());
        assert_eq!(said.code, Some(code), "{}", said.shown());
        said
    }

    fn has_written(&self) -> bool {
        self.session.path("runs/files-1/work/a.txt").exists()
    }
}

#[test]
fn run_of_another_machine_is_refused_a_local_runs_folder() {
    let machines = Machines::two();
    machines.say(SHARED, &["worker", "--once"], 1);
    let listed = machines.say(SHARED, &["runs"], 0);
    assert!(listed.stdout.contains("files-1/work belongs to another run"), "{}", listed.shown());
    let said = machines.say(SHARED, &["resume", "files-1"], 2);
    assert!(said.stderr.contains("files-1/owner, got another token"), "{}", said.shown());
    assert!(said.stderr.contains("on the machine that created it"), "{}", said.shown());
    assert!(!machines.has_written(), "the folder is the other run's");

    machines.say(LOCAL, &["worker", "--once"], 0);
    assert!(machines.has_written());
    machines.change();
    // There it goes on, though another machine has put it off.
    machines.say(SHARED, &["resume", "files-1"], 0);
    assert!(machines.has_written());
}

#[test]
fn prune_of_another_machines_run_keeps_a_local_runs_folder() {
    let machines = Machines::two();
    machines.change();
    machines.say(SHARED, &["worker", "--once"], 0);
    machines.change();
    let said = machines.say(SHARED, &["prune", "--older-than", "1ms", "--json"], 0);
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(
        (&json["runs"][0]["run"], &json["runs"][0]["folder"]),
        (&"files-1".into(), &"left".into()),
        "{json}"
    );
    let warned = said.stderr.contains("warning: the folder of files-1 stays: ");
    assert!(warned && said.stderr.contains("belongs to another run"), "{}", said.shown());

    machines.say(LOCAL, &["worker", "--once"], 0);
    assert!(machines.has_written());
    machines.say(LOCAL, &["prune", "--older-than", "1ms"], 0);
    assert!(!machines.session.path("runs/files-1").exists(), "it went with the run that it is of");
}

/// A folder that somebody put back in part is not known to be the run's.
#[test]
fn a_folder_without_its_mark_is_not_worked_in() {
    let session = Session::new();
    session.write("s.yaml", FILES);
    let place = ["--state-dir", "runs"];
    session.run(&[&["run", "--detach", "s.yaml"], &place as &[&str]].concat());
    let mark = session.path("runs/files-1/owner");
    let token = fs::read(&mark).unwrap();
    fs::remove_file(&mark).unwrap();
    let resume = [&["resume", "files-1"], &place as &[&str]].concat();
    let said = session.run(&resume);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(said.stderr.contains("expected its token in "), "{}", said.shown());
    assert!(said.stderr.contains("restore that file"), "{}", said.shown());
    fs::write(&mark, token).unwrap();
    assert_eq!(session.run(&resume).code, Some(0));
}

/// One that works in no folder needs none.
#[test]
fn run_without_file_tools_ignores_a_foreign_run_folder() {
    let session = Session::new();
    session.write("s.yaml", "name: bare\nmessage: go\nmodel:\n  - text: done\n");
    let place = ["--state-dir", "runs"];
    session.run(&[&["run", "--detach", "s.yaml"], &place as &[&str]].concat());
    session.write("runs/bare-1/owner", "another\n");
    let said = session.run(&[&["worker", "--once"], &place as &[&str]].concat());
    assert!(said.stdout.contains("over: natural_end"), "{}", said.shown());
}

/// Nothing of it is needed to end a run, and nothing else would ever end this one.
#[test]
fn a_run_whose_folder_is_gone_can_be_cancelled() {
    for by in [&["worker", "--once"] as &[&str], &["resume", "files-1"]] {
        let session = Session::new();
        session.write("s.yaml", FILES.replace("model:", "approve: [write_file]\nmodel:"));
        let say = |args: &[&str]| session.run(&[args, &["--state-dir", "runs"]].concat());
        assert_eq!(say(&["run", "s.yaml"]).code, Some(3));
        fs::remove_dir_all(session.path("runs/files-1")).unwrap();
        let cancelled = say(&["cancel", "files-1", "--reason", "its folder is gone"]);
        assert_eq!(cancelled.code, Some(0), "{}", cancelled.shown());
        let ended = say(by);
        let json: Value =
            serde_json::from_str(&say(&["show", "files-1", "--format", "json"]).stdout).unwrap();
        assert_eq!(json["run"]["reason"], "cancelled", "{}", ended.shown());
        let pruned = say(&["prune", "--older-than", "1ms"]);
        assert!(pruned.stdout.ends_with("1 run removed\n"), "{}", pruned.shown());
    }
}
