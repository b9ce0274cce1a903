//! Links, swaps of folders by another process, and modes of files: the reach of another user of the machine.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use crate::session::Session;
use crate::untrusted::{Attacked, FILES};

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
        let output = Command::new("sh").args(["-c", &run]).current_dir(session.path("")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let mut open = vec![session.path("there")];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let about = fs::metadata(&path).unwrap();
                let mode = about.permissions().mode() & 0o777;
                let is_made = path != session.path("there/store");
                // The tools of a run make files in a folder that no other user can enter.
                let is_work = path.components().any(|part| part.as_os_str() == "work") && about.is_file();
                assert!(!is_made || is_work || mode & 0o077 == 0, "{}: {mode:o}", path.display());
                if about.is_dir() {
                    open.push(path);
                }
            }
        }
    }
}

/// A second process that goes on swapping a folder for a link to another one, and puts it back in the end.
struct Swapper {
    process: Child,
    /// While this file is there.
    swaps: PathBuf,
}

impl Swapper {
    fn of(folder: &Path, target: &Path) -> Swapper {
        let swaps = target.with_extension("swaps");
        fs::write(&swaps, "").unwrap();
        let (folder, target) = (folder.to_str().unwrap(), target.to_str().unwrap());
        let swap = format!(
            "while [ -e '{}' ]; do mv '{folder}' '{folder}.real'; ln -s '{target}' '{folder}'; rm '{folder}'; \
             mv '{folder}.real' '{folder}'; done 2>/dev/null",
            swaps.display()
        );
        Swapper { process: Command::new("sh").args(["-c", &swap]).spawn().unwrap(), swaps }
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.swaps));
        drop(self.process.wait());
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
    }
    let whole = session.run(&["run", "--detach", "s.yaml", "--state-dir", "runs"]);
    assert_eq!(whole.code, Some(0), "{}", whole.shown());
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
            session.run(&["prune", "--older-than", "1ms", "--store", attacked.store, "--state-dir", "runs"]);
        }
        drop(swapper);
        attacked.assert_nothing_happened();
    }
}

/// A link in the place of a run's folder, or of the folder in it, leads nowhere.
#[test]
fn a_folder_of_a_run_that_became_a_link_is_not_followed() {
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
