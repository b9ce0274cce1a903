//! What a writer of a store cannot make the command do.

use std::fs;

use crate::session::{SECRET, Said, Session};
use crate::stores;

const FILES: &str = "\
name: files
message: go
model:
  - calls:
      - {id: w, tool: write_file, arguments: {path: planted.txt, content: planted}}
      - {id: d, tool: delete_file, arguments: {path: mine.txt}}
  - text: done
";

/// A run that nobody has driven, beside the folder of a victim with what a run's own folder has.
struct Attacked {
    session: Session,
    store: &'static str,
}

impl Attacked {
    fn with(store: &'static str, more: &[&str]) -> Attacked {
        let session = Session::new();
        session.write("s.yaml", FILES).write("victim/work/mine.txt", "mine").write("victim/mine.txt", "mine");
        session.write("keys", format!("k1 {}", "ab".repeat(32)));
        let attacked = Attacked { session, store };
        attacked.say(&[&["run", "--detach", "s.yaml"], more].concat(), 0);
        attacked
    }

    #[track_caller]
    fn say(&self, args: &[&str], code: i32) -> Said {
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

    #[track_caller]
    fn assert_nothing_happened(&self) {
        for folder in ["victim", "victim/work"] {
            assert!(!self.session.path(&format!("{folder}/planted.txt")).exists(), "{folder} was written");
            assert!(self.session.path(&format!("{folder}/mine.txt")).exists(), "{folder} was changed");
        }
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

/// A run whose folder has lost its mark is not one whose folder never had one.
#[test]
fn a_run_and_a_folder_without_tokens_do_not_belong_together() {
    let attacked = Attacked::with("sqlite:runs.db", &[]);
    attacked.edit(|spec| drop(spec.as_object_mut().unwrap().remove("token")));
    fs::remove_file(attacked.session.path("runs/files-1/owner")).unwrap();
    attacked.say(&["worker", "--once"], 1);
    assert!(!attacked.session.path("runs/files-1/work/planted.txt").exists());
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

/// A link in the place of a run's folder, or of the folder in it, leads nowhere.
#[cfg(unix)]
#[test]
fn a_folder_of_a_run_that_became_a_link_is_not_followed() {
    use std::os::unix::fs::symlink;
    for inner in [false, true] {
        let attacked = Attacked::with("sqlite:runs.db", &[]);
        let session = &attacked.session;
        fs::copy(session.path("runs/files-1/owner"), session.path("victim/owner")).unwrap();
        let (place, victim) =
            if inner { ("runs/files-1/work", "victim/work") } else { ("runs/files-1", "victim") };
        fs::rename(session.path(place), session.path("aside")).unwrap();
        symlink(session.path(victim), session.path(place)).unwrap();
        attacked.say(&["worker", "--once"], 1);
        attacked.assert_nothing_happened();
        let said = attacked.say(&["resume", "files-1"], 2);
        assert!(said.stderr.contains("links are not followed"), "{}", said.shown());
        attacked.say(&["cancel", "files-1"], 0);
        attacked.say(&["worker", "--once"], 0);
        attacked.say(&["prune", "--older-than", "1ms"], if inner { 0 } else { 2 });
        attacked.assert_nothing_happened();
    }
}

/// Whatever is wrong with the address of a store, and wherever it is said, no password is.
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
        // In a place where no address belongs.
        if url.contains("://") || url.contains("password") {
            session.run(&["runs", &url]);
            session.run(&["show", "--format", &url, "x"]);
        }
    }
}

#[test]
fn what_is_no_text_to_a_terminal_is_escaped_everywhere() {
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

#[cfg(unix)]
mod links {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;
    use std::process::{Child, Command};

    use super::*;

    #[test]
    fn a_folder_of_a_scenario_that_is_a_link_is_refused() {
        let session = Session::new();
        session
            .write("s.yaml", FILES.replace("message:", "folder: there\nmessage:"))
            .write("secret/a.txt", "secret");
        symlink(session.path("secret"), session.path("there")).unwrap();
        let said = session.run(&["run", "s.yaml", "--state-dir", "runs"]);
        assert!(said.code == Some(2) && said.stderr.contains("links are not followed"), "{}", said.shown());
        let said = session.run(&["test", "s.yaml"]);
        assert!(said.code == Some(2), "{}", said.shown());
    }

    #[test]
    fn the_number_of_a_run_is_not_written_through_a_link() {
        let session = Session::new();
        session.write("s.yaml", FILES).write("mine.txt", "mine");
        fs::create_dir_all(session.path("runs/numbers")).unwrap();
        symlink(session.path("mine.txt"), session.path("runs/numbers/files.new")).unwrap();
        session.run(&["run", "--detach", "s.yaml", "--state-dir", "runs"]);
        assert_eq!(session.read("mine.txt"), "mine");
        assert_eq!(session.read("runs/numbers/files"), "1\n");
    }

    #[test]
    fn what_is_stored_is_for_its_user_alone_in_a_folder_of_others() {
        for store in ["sqlite:there/runs.db", "file:there/store"] {
            let session = Session::new();
            session.write("s.yaml", FILES.replace("message:", "folder: template\nmessage:"));
            session.write("template/inner/a.txt", "a");
            fs::create_dir_all(session.path("there/store")).unwrap();
            for place in ["there", "there/store"] {
                fs::set_permissions(session.path(place), fs::Permissions::from_mode(0o777)).unwrap();
            }
            let program = env!("CARGO_BIN_EXE_runstate");
            let run = format!("umask 0; exec {program} run s.yaml --state-dir there --store {store}");
            let output =
                Command::new("sh").args(["-c", &run]).current_dir(session.path("")).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            let mut open = vec![session.path("there")];
            while let Some(folder) = open.pop() {
                for entry in fs::read_dir(&folder).unwrap() {
                    let path = entry.unwrap().path();
                    let about = fs::metadata(&path).unwrap();
                    let mode = about.permissions().mode() & 0o777;
                    let is_made = path != session.path("there/store");
                    // The tools of a run make files in a folder that nobody else can enter.
                    let is_work = path.components().any(|part| part.as_os_str() == "work") && about.is_file();
                    assert!(!is_made || is_work || mode & 0o077 == 0, "{}: {mode:o}", path.display());
                    if about.is_dir() {
                        open.push(path);
                    }
                }
            }
        }
    }

    /// A second process that goes on swapping a folder for a link to another one.
    struct Swapper(Child);

    impl Swapper {
        fn of(folder: &Path, target: &Path) -> Swapper {
            let (folder, target) = (folder.to_str().unwrap(), target.to_str().unwrap());
            let swap = format!(
                "while :; do mv '{folder}' '{folder}.real'; ln -s '{target}' '{folder}'; rm '{folder}'; \
                 mv '{folder}.real' '{folder}'; done 2>/dev/null"
            );
            Swapper(Command::new("sh").args(["-c", &swap]).spawn().unwrap())
        }
    }

    impl Drop for Swapper {
        fn drop(&mut self) {
            drop(self.0.kill());
            drop(self.0.wait());
        }
    }

    #[test]
    fn a_folder_that_is_swapped_while_it_is_copied_brings_nothing_else() {
        let session = Session::new();
        session.write("s.yaml", FILES.replace("message:", "folder: template\nmessage:"));
        session.write("template/inner/a.txt", "a").write("secret/secret.txt", "secret");
        for swapped in ["template", "template/inner"] {
            let swapper = Swapper::of(&session.path(swapped), &session.path("secret"));
            for _ in 0..25 {
                session.run(&["run", "--detach", "s.yaml", "--state-dir", "runs"]);
            }
            drop(swapper);
            drop(fs::remove_file(session.path(swapped)));
            drop(fs::rename(session.path(&format!("{swapped}.real")), session.path(swapped)));
        }
        let mut open = vec![session.path("runs")];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                assert!(!path.ends_with("secret.txt"), "{}", path.display());
                if path.is_dir() {
                    open.push(path);
                }
            }
        }
    }

    #[test]
    fn a_folder_that_is_swapped_while_a_run_is_driven_leads_nowhere() {
        for inner in [false, true] {
            let attacked = Attacked::with("sqlite:runs.db", &[]);
            let session = &attacked.session;
            fs::copy(session.path("runs/files-1/owner"), session.path("victim/owner")).unwrap();
            let (place, victim) =
                if inner { ("runs/files-1/work", "victim/work") } else { ("runs/files-1", "victim") };
            let swapper = Swapper::of(&session.path(place), &session.path(victim));
            for _ in 0..15 {
                session.run(&[
                    "worker",
                    "--once",
                    "--put-off",
                    "1ms",
                    "--store",
                    attacked.store,
                    "--state-dir",
                    "runs",
                ]);
            }
            session.run(&["cancel", "files-1", "--store", attacked.store, "--state-dir", "runs"]);
            for _ in 0..10 {
                session.run(&[
                    "worker",
                    "--once",
                    "--put-off",
                    "1ms",
                    "--store",
                    attacked.store,
                    "--state-dir",
                    "runs",
                ]);
                session.run(&[
                    "prune",
                    "--older-than",
                    "1ms",
                    "--store",
                    attacked.store,
                    "--state-dir",
                    "runs",
                ]);
            }
            drop(swapper);
            attacked.assert_nothing_happened();
        }
    }
}
