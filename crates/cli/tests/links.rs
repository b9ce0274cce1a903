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
    // Nor a folder behind a link.
    session
        .write("deep.yaml", FILES.replace("message:", "folder: there/sub\nmessage:"))
        .write("secret/sub/a.txt", "secret");
    let said = session.run(&["run", "deep.yaml", "--state-dir", "runs"]);
    assert!(said.code == Some(2) && said.stderr.contains("links are not followed"), "{}", said.shown());
}

/// The file outside is the same file as that in the folder: only a copy is another one.
#[test]
fn a_copy_of_a_folder_of_a_scenario_has_no_hard_link() {
    let session = Session::new();
    session
        .write("s.yaml", FILES.replace("message:", "folder: template\nmessage:"))
        .write("outside.txt", "outside");
    fs::create_dir(session.path("template")).unwrap();
    fs::hard_link(session.path("outside.txt"), session.path("template/planted.txt")).unwrap();
    let said = session.run(&["run", "s.yaml", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert_eq!(session.read("runs/files-1/work/planted.txt"), "planted");
    assert_eq!(session.read("outside.txt"), "outside", "the run has written to a file outside of its folder");
}

/// The user names the file of the scenario, and so its folder.
#[test]
fn a_scenario_in_a_linked_folder_has_the_folders_beside_it() {
    let session = Session::new();
    for (name, folder) in [("here", "."), ("beside", "./inner/.")] {
        let scenario = FILES.replace("name: files", &format!("name: {name}"));
        session.write(
            &format!("project/{name}.yaml"),
            scenario.replace("message:", &format!("folder: {folder}\nmessage:")),
        );
    }
    session.write("project/inner/mine.txt", "mine").write("project/mine.txt", "mine");
    symlink(session.path("project"), session.path("link")).unwrap();
    for path in ["link/here.yaml", "link/beside.yaml", "project/here.yaml"] {
        let said = session.run(&["run", path, "--state-dir", "runs"]);
        assert_eq!(said.code, Some(0), "{}", said.shown());
    }
    let mut inside = session.command(&["run", "here.yaml", "--state-dir", "../runs"]);
    let output = inside.current_dir(session.path("link")).output().unwrap();
    assert_eq!(session.said(&["run", "here.yaml"], &output).code, Some(0));
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
fn a_link_in_the_place_of_a_file_of_a_store_is_refused() {
    for (store, places) in [
        ("sqlite:there/runs.db", &["there/runs.db"][..]),
        ("file:there", &["there/store.json", "there/runs", "there/locks", "there/removed"]),
    ] {
        let session = Session::new();
        session.write("s.yaml", FILES).write("mine.txt", "mine").write("folder/mine.txt", "mine");
        let place = ["--store", store, "--state-dir", "runs"];
        let say = |args: &[&str]| session.run(&[args, &place[..]].concat());
        for there in places {
            let (is_file, link) = (there.contains('.'), session.path(there));
            for target in ["mine.txt", "folder", "nothing"] {
                assert_eq!(say(&["run", "s.yaml"]).code, Some(0));
                let aside = session.path("aside");
                let was = fs::rename(&link, &aside);
                symlink(session.path(target), &link).unwrap();
                let said = say(&["run", "--detach", "s.yaml"]);
                let pruned = say(&["prune", "--older-than", "1ms"]);
                let is_refused = [&said, &pruned].iter().any(|said| said.code == Some(2));
                assert!(is_refused, "{there} {target}: {} {}", said.shown(), pruned.shown());
                assert!(!session.path("nothing").exists(), "{there}");
                assert_eq!(session.read("mine.txt"), "mine");
                assert_eq!(fs::read_dir(session.path("folder")).unwrap().count(), 1, "{there} {is_file}");
                fs::remove_file(&link).unwrap();
                if was.is_ok() {
                    fs::rename(&aside, &link).unwrap();
                }
            }
        }
    }
}

#[test]
fn a_link_in_the_folder_of_a_run_of_a_store_is_refused() {
    for name in ["", "state.json", "spec.json", "trace.jsonl"] {
        let attacked = Attacked::with("file:store", &[]);
        let session = &attacked.session;
        let run = fs::read_dir(session.path("store/runs")).unwrap().next().unwrap().unwrap().path();
        let link = if name.is_empty() { run } else { run.join(name) };
        fs::rename(&link, session.path("aside")).unwrap();
        symlink(session.path("aside"), &link).unwrap();
        let said = session.run(&["worker", "--once", "--store", "file:store", "--state-dir", "runs"]);
        assert!(said.code.is_some_and(|code| code > 0), "{name}: {}", said.shown());
        let said = session.run(&["show", "files-1", "--store", "file:store", "--state-dir", "runs"]);
        assert!(said.code == Some(2) || name == "trace.jsonl", "{name}: {}", said.shown());
        assert!(
            said.shown().contains("links are not followed") || name == "trace.jsonl",
            "{name}: {}",
            said.shown()
        );
    }
}

#[test]
fn a_link_in_the_place_of_the_numbers_and_locks_is_refused() {
    for place in ["numbers", "numbers/.lock", "numbers/files"] {
        let session = Session::new();
        session.write("s.yaml", FILES).write("there/mine.txt", "mine").write("mine.txt", "7\n");
        fs::create_dir_all(session.path("runs/numbers")).unwrap();
        if place == "numbers" {
            fs::remove_dir(session.path("runs/numbers")).unwrap();
            symlink(session.path("there"), session.path("runs/numbers")).unwrap();
        } else {
            symlink(session.path("mine.txt"), session.path(&format!("runs/{place}"))).unwrap();
        }
        let said = session.run(&["run", "--detach", "s.yaml", "--state-dir", "runs"]);
        assert!(said.code == Some(2) && said.stderr.contains("links are not followed"), "{}", said.shown());
        assert_eq!(session.read("mine.txt"), "7\n");
        assert_eq!(fs::read_dir(session.path("there")).unwrap().count(), 1, "{place}");
    }
}

#[test]
fn stored_files_are_private_in_a_world_writable_folder() {
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
        let output = session.program("sh").args(["-c", &run]).output().unwrap();
        assert_eq!(session.said(&["run", "s.yaml"], &output).code, Some(0), "{output:?}");
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
    /// This one has a character for each swap.
    count: PathBuf,
}

impl Swapper {
    fn of(folder: &Path, target: &Path) -> Swapper {
        let (swaps, count) = (target.with_extension("swaps"), target.with_extension("count"));
        fs::write(&swaps, "").unwrap();
        fs::write(&count, "").unwrap();
        let (folder, target) = (folder.to_str().unwrap(), target.to_str().unwrap());
        let swap = format!(
            "while [ -e '{}' ]; do mv '{folder}' '{folder}.real'; ln -s '{target}' '{folder}'; rm '{folder}'; \
             mv '{folder}.real' '{folder}'; printf x >> '{}'; done 2>/dev/null",
            swaps.display(),
            count.display()
        );
        Swapper { process: Command::new("sh").args(["-c", &swap]).spawn().unwrap(), swaps, count }
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.swaps));
        drop(self.process.wait());
        if !std::thread::panicking() {
            let swaps = fs::metadata(&self.count).unwrap().len();
            assert!(swaps > 20, "the folder was swapped {swaps} times alone");
        }
    }
}

#[test]
fn folder_swapped_during_copy_brings_no_foreign_files() {
    let session = Session::new();
    session.write("s.yaml", FILES.replace("message:", "folder: template\nmessage:"));
    session.write("template/inner/a.txt", "a").write("secret/secret.txt", "secret");
    for swapped in ["template", "template/inner"] {
        let swapper = Swapper::of(&session.path(swapped), &session.path("secret"));
        for _ in 0..25 {
            let said = session.run(&["run", "--detach", "s.yaml", "--state-dir", "runs"]);
            assert!(matches!(said.code, Some(0 | 2)), "{}", said.shown());
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
        let place = ["--store", attacked.store, "--state-dir", "runs"];
        let ends = |args: &[&str], codes: &[i32]| {
            let said = session.run(&[args, &place[..]].concat());
            assert!(said.code.is_some_and(|code| codes.contains(&code)), "{}", said.shown());
        };
        // It is driven, or is put off.
        let work = || ends(&["worker", "--once", "--retry-delay", "1ms"], &[0, 1]);
        (0..15).for_each(|_| work());
        // It is over perhaps.
        ends(&["cancel", "files-1"], &[0, 1]);
        for _ in 0..10 {
            work();
            // Its folder is left for the next time, where it is not in its place.
            ends(&["prune", "--older-than", "1ms"], &[0, 2]);
        }
        drop(swapper);
        attacked.assert_nothing_happened();
    }
}

/// The number of the last commit is written again and again beside the folder of a run.
#[test]
fn a_swapped_number_of_commits_leads_nowhere() {
    const STEPS: usize = 150;
    let session = Session::new();
    let step = "  - calls: [{id: w, tool: write_file, arguments: {path: a.txt, content: one}}]\n";
    session
        .write("s.yaml", format!("name: files\nmessage: go\nmodel:\n{}  - text: done\n", step.repeat(STEPS)));
    session.write("mine", "mine");
    let place = ["--store", "sqlite:runs.db", "--state-dir", "runs"];
    session.run(&[&["run", "--detach", "s.yaml"], &place[..]].concat());
    session.write("runs/files-1/committed", "");
    let swapper = Swapper::of(&session.path("runs/files-1/committed"), &session.path("mine"));
    let said = session.run(&[&["worker", "--once"], &place[..]].concat());
    assert_eq!(said.code, Some(0), "{}", said.shown());
    drop(swapper);
    assert_eq!(session.read("mine"), "mine");
    let said = session.run(&[&["show", "files-1", "--format", "json"], &place[..]].concat());
    assert!(
        said.stdout.contains(r#""status":"Done""#) || said.stdout.contains(r#""status": "Done""#),
        "{}",
        said.shown()
    );
}

/// The first number that cannot be kept is told, and the run goes on.
#[test]
fn a_number_of_commits_that_cannot_be_written_is_told_once() {
    for make in [
        (|path: &Path| symlink("../../mine", path).unwrap()) as fn(&Path),
        |path| fs::create_dir(path).unwrap(),
        |path| fs::hard_link(path.with_file_name("owner"), path).unwrap(),
    ] {
        let session = Session::new();
        session.write("s.yaml", FILES).write("mine", "mine");
        let place = ["--state-dir", "runs"];
        session.run(&[&["run", "--detach", "s.yaml"], &place[..]].concat());
        session.write("runs/files-1/work/mine.txt", "mine");
        let owner = session.read("runs/files-1/owner");
        make(&session.path("runs/files-1/committed"));
        let said = session.run(&[&["worker", "--once"], &place[..]].concat());
        assert_eq!(said.code, Some(0), "{}", said.shown());
        let told = "an older copy of the store would not be noticed; remove the file, or make it this user's";
        assert_eq!(said.stderr.matches(told).count(), 1, "{}", said.shown());
        assert!(said.stderr.contains("runs/files-1/committed: "), "{}", said.shown());
        assert_eq!((session.read("mine"), session.read("runs/files-1/owner")), ("mine".to_owned(), owner));
    }
}

#[test]
fn a_link_in_the_place_of_an_owner_is_told() {
    let session = Session::new();
    session.write("s.yaml", FILES);
    let place = ["--state-dir", "runs"];
    session.run(&[&["run", "--detach", "s.yaml"], &place[..]].concat());
    fs::rename(session.path("runs/files-1/owner"), session.path("mine")).unwrap();
    symlink("../../mine", session.path("runs/files-1/owner")).unwrap();
    let said = session.run(&[&["resume", "files-1"], &place[..]].concat());
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(
        said.stderr.contains("files-1/owner: expected a file, got a link: links are not followed"),
        "{}",
        said.shown()
    );
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
