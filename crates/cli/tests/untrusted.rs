//! What a writer of a store cannot make the command do.

use std::fs;

use crate::session::{Said, Session};
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
