//! A folder before a run, and after its rollback: content, kind, mode, target, owner and empty folders of each name in it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{REVIEW, files, governed, json, plan, run_id};
use crate::session::Session;

/// A name in a folder: kind, mode, user, group, and the content or the target.
pub(super) type Found = (&'static str, u32, u32, u32, Vec<u8>);

/// All in a folder and the folder itself, but the content of the folder of runs.
pub(super) fn walked(folder: &Path, runs: &Path) -> BTreeMap<PathBuf, Found> {
    let (mut all, mut open) = (BTreeMap::new(), vec![folder.to_path_buf()]);
    while let Some(path) = open.pop() {
        if path == runs {
            continue;
        }
        let about = fs::symlink_metadata(&path).unwrap();
        let (kind, content) = match about.file_type() {
            kind if kind.is_symlink() => {
                ("link", fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
            }
            kind if kind.is_dir() => {
                open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                ("folder", Vec::new())
            }
            kind if kind.is_file() => ("file", fs::read(&path).unwrap()),
            _ => ("special", Vec::new()),
        };
        let mode = if kind == "link" { 0 } else { about.mode() & 0o7777 };
        let name = path.strip_prefix(folder).unwrap().to_path_buf();
        all.insert(name, (kind, mode, about.uid(), about.gid(), content));
    }
    all
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// One of each thing that is put back.
fn fill(site: &Path) {
    let path = |name: &str| site.join(name);
    for name in ["a/b/c", "empty/inner", "private", "closed", "shared", "turned"] {
        fs::create_dir_all(path(name)).unwrap();
    }
    for (name, content) in [
        ("index.html", "old"),
        ("keep.txt", "kept"),
        ("a/b/c/deep", "deep"),
        ("private/secret", "hidden"),
        ("closed/inside", "there"),
        ("turned/into-a-file", "x"),
        ("read-only", "r"),
        ("script", "#!/bin/sh\n"),
        ("bytes", "\u{0}\u{1}"),
    ] {
        fs::write(path(name), content).unwrap();
    }
    symlink("index.html", path("to-file")).unwrap();
    symlink("a/b", path("to-folder")).unwrap();
    symlink("nowhere", path("dangling")).unwrap();
    symlink("/etc/hostname", path("a/out-of-it")).unwrap();
    for (name, mode) in [
        ("read-only", 0o444),
        ("script", 0o755),
        ("private/secret", 0o600),
        ("private", 0o700),
        ("closed", 0o555),
    ] {
        set_mode(&path(name), mode);
    }
    set_mode(&path("shared"), 0o2775);
}

/// Spoils each of them, in each way.
const WRECK: &str = r#"
echo new > index.html; echo more >> keep.txt; chmod 600 keep.txt
rm -rf empty a/b/c; mkdir -p a/b/c/new; echo x > a/b/c/new/file
chmod 755 private closed; rm -f private/secret; echo y > closed/inside; echo z > closed/more
rm -rf turned; echo "a file" > turned
rm -f script; mkdir script; echo x > script/x
rm -f to-file; ln -s keep.txt to-file
rm -f to-folder; mkdir to-folder; echo x > to-folder/x
rm -f dangling; echo "a file" > dangling
rm -f a/out-of-it; ln -s ../.. a/out-of-it
rm -f read-only; ln -s bytes read-only
ln keep.txt another-name; mkfifo pipe; ln -s / root
mkdir -p made/deep/deeper; echo x > made/deep/deeper/x; chmod 000 made/deep/deeper/x made/deep
chmod 0777 shared; chmod 000 index.html
if [ "$(id -u)" = 0 ]; then chown 4321:4321 bytes .; chown -h 4321:4321 a; fi
chmod 0711 .
exit 1
"#;

fn judge(in_place: bool, runs: &str) {
    let what = format!("in place {in_place}, runs in {runs}");
    let session = Session::new();
    let site = session.path("site");
    fs::create_dir_all(&site).unwrap();
    fill(&site);
    session.write("wreck.sh", WRECK).write(
        "plan.yaml",
        format!(
            "project: SITE\nfolder: site\nin_place: {in_place}\ngates: {{auto: [wreck]}}\n\
             tools:\n  - {{name: wreck, run: [sh, {}]}}\n\
             verify:\n  - run: ['true']\naudit:\n  - {{reviewer: quality, run: ['true']}}\n",
            session.path("wreck.sh").display()
        ),
    );
    if is_root() {
        chown(site.join("keep.txt"), Some(1234), Some(1235)).unwrap();
        chown(site.join("a/b"), Some(1234), Some(0)).unwrap();
        lchown(site.join("dangling"), Some(1234), Some(1235)).unwrap();
    }
    fs::create_dir_all(session.path(runs)).unwrap();
    let runs_path = session.path(runs);
    let before = walked(&site, &runs_path);
    let said = session.run(&["governed", "run", "plan.yaml", "--json", "--state-dir", runs]);
    assert_eq!(json(&said)["status"], "ROLLED_BACK", "{what}: {}", said.shown());
    assert!(
        json(&said)["why"].to_string().contains("everything was rolled back"),
        "{what}: {}",
        said.shown()
    );
    assert_same(&walked(&site, &runs_path), &before, &format!("{what}: the folder of the plan"));
    if !in_place {
        let work = runs_path.join(run_id(&json(&said))).join("work");
        assert_same(&walked(&work, Path::new("")), &before, &format!("{what}: the copy"));
    }
}

fn assert_same(is: &BTreeMap<PathBuf, Found>, was: &BTreeMap<PathBuf, Found>, what: &str) {
    for name in was.keys().chain(is.keys()) {
        assert_eq!(is.get(name), was.get(name), "{what}: {}", name.display());
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

#[test]
fn a_folder_is_after_a_rollback_what_it_was_before_the_run() {
    for in_place in [true, false] {
        for runs in ["runs", "site/runs"] {
            judge(in_place, runs);
        }
    }
}

/// A rollback goes through no link that a tool left, and writes to no file that has another name elsewhere.
#[test]
fn a_rollback_changes_nothing_outside_of_the_folder() {
    // Where something cannot be taken away, nothing is put in its place.
    let kept = "mkdir -p command-center/PENDING";
    for (script, status) in [
        (format!("cd src; rm a.txt; ln -s ../../victim/a.txt a.txt; {kept}"), "HALTED_UNSAFE"),
        (format!("cd src; rm a.txt; ln ../../victim/a.txt a.txt; {kept}"), "HALTED_UNSAFE"),
        (format!("cd src; rm -r sub; ln -s ../../victim sub; {kept}"), "HALTED_UNSAFE"),
        ("rm src/a.txt; ln -s ../../victim/a.txt src/a.txt".to_owned(), "ROLLED_BACK"),
        // The same content under another name: only the mode differs.
        ("rm src/a.txt; ln ../victim/same.txt src/a.txt".to_owned(), "ROLLED_BACK"),
        ("rm -r src/sub; ln -s ../../victim src/sub".to_owned(), "ROLLED_BACK"),
        ("mv src away; ln -s ../victim src".to_owned(), "ROLLED_BACK"),
    ] {
        let session = Session::new();
        plan(&session, &[("build", &format!("{{ {script}; }}; exit 1"))], REVIEW);
        session.write("site/src/a.txt", "same").write("site/src/sub/b.txt", "b");
        session.write("plan.yaml", session.read("plan.yaml") + "in_place: true\n");
        session.write("victim/a.txt", "mine").write("victim/b.txt", "mine").write("victim/same.txt", "same");
        for name in ["a.txt", "b.txt", "same.txt"] {
            let private = fs::Permissions::from_mode(0o600);
            fs::set_permissions(session.path(&format!("victim/{name}")), private).unwrap();
        }
        let before = files(&session, "victim");
        let said = governed(&session, &["run", "plan.yaml", "--json"]);
        assert_eq!(json(&said)["status"], status, "{script}: {}", said.shown());
        assert_eq!(files(&session, "victim"), before, "{script}");
        for name in ["a.txt", "b.txt", "same.txt"] {
            let found = fs::metadata(session.path(&format!("victim/{name}"))).unwrap();
            assert_eq!(found.permissions().mode() & 0o777, 0o600, "{script}: {name}");
        }
        if status == "ROLLED_BACK" {
            assert_eq!(session.read("site/src/a.txt"), "same");
            assert_eq!(session.read("site/src/sub/b.txt"), "b");
        }
    }
}

/// A folder stays that a tool made for names that are ignored, and is no difference.
#[test]
fn a_new_folder_with_ignored_names_alone_is_no_difference() {
    let session = Session::new();
    let script = "mkdir -p build/out build/more; echo o > build/out/o; echo m > build/more/m; exit 1";
    plan(&session, &[("build", script)], REVIEW);
    session.write("plan.yaml", session.read("plan.yaml") + "in_place: true\nignore: [build/out]\n");
    let said = governed(&session, &["run", "plan.yaml", "--json"]);
    assert_eq!(json(&said)["status"], "ROLLED_BACK", "{}", said.shown());
    assert_eq!(session.read("site/build/out/o"), "o\n");
    assert!(!session.path("site/build/more").exists());
}

/// A file system that a tool mounted in the folder is neither emptied nor listed, even where it is the one of the folder itself.
#[test]
fn rollback_does_not_empty_a_mounted_file_system() {
    if std::env::var_os("RUNSTATE_REQUIRE_MOUNTS").is_none() {
        return;
    }
    for mount in ["mount -t tmpfs tmpfs m", "mount --bind ../victim m"] {
        let session = Session::new();
        let script = format!("mkdir m; {mount}; echo precious > m/precious; exit 1");
        plan(&session, &[("build", &script)], REVIEW);
        session
            .write("plan.yaml", session.read("plan.yaml") + "in_place: true\n")
            .write("victim/mine", "mine");
        let said = governed(&session, &["run", "plan.yaml", "--json"]);
        let kept = fs::read_to_string(session.path("site/m/precious"));
        assert!(
            Command::new("umount").arg(session.path("site/m")).status().unwrap().success(),
            "{}",
            said.shown()
        );
        assert_eq!(json(&said)["status"], "HALTED_UNSAFE", "{}", said.shown());
        assert_eq!(kept.unwrap(), "precious\n");
        assert_eq!(session.read("victim/mine"), "mine");
    }
}

/// A file that is mounted over one of the folder hides its content: the run is halted, whether the tool passes or not.
#[test]
fn a_file_mounted_over_another_halts_the_run() {
    if std::env::var_os("RUNSTATE_REQUIRE_MOUNTS").is_none() {
        return;
    }
    for end in ["true", "exit 1"] {
        let session = Session::new();
        let script = format!(
            "cp -a index.html ../real; echo evil > index.html; mount --bind ../real index.html; {end}"
        );
        plan(&session, &[("build", &script)], REVIEW);
        session.write("plan.yaml", session.read("plan.yaml") + "in_place: true\n");
        let said = governed(&session, &["run", "plan.yaml", "--json"]);
        let unmounted = Command::new("umount").arg(session.path("site/index.html")).status().unwrap();
        assert!(unmounted.success(), "{}", said.shown());
        assert_eq!(json(&said)["status"], "HALTED_UNSAFE", "{end}: {}", said.shown());
        let why = json(&said)["why"].to_string();
        assert!(why.contains("site/index.html") && why.contains("another file system"), "{why}");
    }
}

/// The content of a hole of half a terabyte is not read: in the folder and in its snapshot it is above the limit, and a rollback takes
/// it away for its length.
#[test]
fn a_file_with_a_hole_is_not_read() {
    for (hole, check, expected) in [
        ("truncate -s 500G sparse", "true", "work has more than 200000 names or 2147483648 bytes"),
        (
            "truncate -s 500G ../snapshot/index.html",
            "true",
            "snapshot has more than 200000 names or 2147483648 bytes",
        ),
        ("true", "truncate -s 500G sparse index.html; exit 1", "everything was rolled back"),
    ] {
        let session = Session::new();
        let review = format!(
            "verify:\n  - run: [sh, -c, {check:?}]\naudit:\n  - {{reviewer: quality, run: ['true']}}\n"
        );
        plan(&session, &[("build", hole)], &review);
        let said = governed(&session, &["run", "plan.yaml", "--json"]);
        let is_rolled_back = expected.contains("rolled back");
        let status = if is_rolled_back { "ROLLED_BACK" } else { "HALTED_UNSAFE" };
        assert_eq!(json(&said)["status"], status, "{hole}: {}", said.shown());
        let why = json(&said)["why"].to_string();
        assert!(why.contains(expected), "{hole}: {why}");
        if is_rolled_back {
            let work = format!("runs/{}/work", run_id(&json(&said)));
            assert_eq!(files(&session, &work), files(&session, "site"));
        }
    }
}

/// Folders in one another, with a path that no call of the system takes, are rolled back, and no message is as long.
#[test]
fn folders_of_any_depth_are_rolled_back() {
    let dive = "for i in $(seq 40); do mkdir $N; cd $N; touch f; done; mkdir moved-up-1 x; chmod 000 x; cd ../..; chmod 500 $N";
    let script = format!("exec 2> /dev/null; N=$(printf 'd%.0s' $(seq 200)); {dive}; exit 1");
    let session = Session::new();
    plan(&session, &[("build", &script)], REVIEW);
    let said = governed(&session, &["run", "plan.yaml", "--json"]);
    let (run, why) = (run_id(&json(&said)), json(&said)["why"].to_string());
    assert_eq!(json(&said)["status"], "ROLLED_BACK", "{}", said.shown());
    assert!(why.contains("everything was rolled back"), "{why}");
    assert_eq!(files(&session, &format!("runs/{run}/work")), files(&session, "site"));
    let report = session.read(&format!("runs/{run}/FINAL_REPORT.md"));
    let longest = report.lines().map(str::len).max().unwrap();
    assert!(longest < 1_000, "{longest}: {report}");
}

/// An incomplete rollback has a field of its own, with the next step.
#[test]
fn an_incomplete_rollback_says_what_is_left_to_do() {
    let session = Session::new();
    // What looks like a folder of runs is left alone.
    let review = "verify:\n  - run: [sh, -c, 'mkdir -p r/command-center/PENDING; exit 1']\naudit:\n  - {reviewer: quality, run: ['true']}\n";
    plan(&session, &[("build", "true")], review);
    let said = governed(&session, &["run", "plan.yaml"]);
    assert_eq!(said.code, Some(1), "{}", said.shown());
    let status = governed(&session, &["status"]);
    let expected = "to do by hand: remove the cause, and copy changed files back from runs/RUN-SITE-";
    for said in [&said, &status] {
        assert!(said.stdout.contains("ROLLED_BACK"), "{}", said.shown());
        assert!(said.stdout.contains(expected) && said.stdout.contains("/snapshot"), "{}", said.shown());
    }
    let status = json(&governed(&session, &["status", "--json"]));
    assert_eq!(status[0]["rollback"], "incomplete", "{status}");
    let run = status[0]["run"].as_str().unwrap().to_owned();
    assert_eq!(json(&governed(&session, &["recover", &run, "--json"]))["rollback"], "incomplete");

    let session = Session::new();
    plan(&session, &[("build", "exit 1")], REVIEW);
    assert_eq!(json(&governed(&session, &["run", "plan.yaml", "--json"]))["rollback"], "complete");
}
