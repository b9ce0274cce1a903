//! A folder to run the binary in, and what it said.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The root of the repository.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A folder of its own for one test, with a home of its own.
pub(crate) struct Session {
    folder: TempDir,
}

impl Session {
    pub(crate) fn new() -> Session {
        Session { folder: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join(inside)
    }

    pub(crate) fn write(&self, inside: &str, content: impl AsRef<[u8]>) -> &Session {
        fs::write(self.path(inside), content).unwrap();
        self
    }

    pub(crate) fn read(&self, inside: &str) -> String {
        fs::read_to_string(self.path(inside)).unwrap()
    }

    /// The binary, to be run in the folder with these arguments.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_runstate"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("XDG_DATA_HOME", self.path("home"))
            .env_remove("RUST_BACKTRACE")
            .env_remove("COLUMNS")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Said {
        self.said(args, &self.command(args).output().unwrap())
    }

    pub(crate) fn run_with(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Said {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        // A command that refuses its arguments does not read.
        drop(child.stdin.take().unwrap().write_all(stdin.as_ref()));
        self.said(args, &child.wait_with_output().unwrap())
    }

    fn said(&self, args: &[&str], output: &Output) -> Said {
        let text = |bytes: &[u8]| self.redacted(std::str::from_utf8(bytes).unwrap());
        Said {
            command: self.redacted(&format!("runstate {}", args.join(" "))),
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// The text without what differs from machine to machine.
    fn redacted(&self, text: &str) -> String {
        let root = Path::new(ROOT).canonicalize().unwrap();
        let folder = self.folder.path().to_str().unwrap();
        text.replace(folder, "[tmp]").replace(ROOT, "[root]").replace(root.to_str().unwrap(), "[root]")
    }
}

/// What the binary said.
#[derive(Debug)]
pub(crate) struct Said {
    command: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    /// All of it, as a person would see it; a signal instead of an exit code is `killed`.
    pub(crate) fn shown(&self) -> String {
        let code = self.code.map_or("killed".to_owned(), |code| format!("exit {code}"));
        let mut shown = format!("$ {}\n", self.command);
        shown.push_str(&self.stdout);
        if !self.stderr.is_empty() {
            write!(shown, "--- standard error\n{}", self.stderr).unwrap();
        }
        writeln!(shown, "--- {code}").unwrap();
        shown
    }
}

/// Compares with `snapshots/cli__<name>.snap` at the root.
pub(crate) fn assert_shown(name: &str, shown: &str) {
    let mut settings = insta::Settings::clone_current();
    // The plain path, by which .ci/run knows which snapshots are referred to.
    settings.set_snapshot_path(Path::new(ROOT).canonicalize().unwrap().join("snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(format!("cli__{name}"), shown));
}
