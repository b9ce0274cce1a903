//! A folder to run the binary in, and what it said.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use tempfile::TempDir;

use crate::program::Program;

/// The root of the repository.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A secret that is in the environment of each command, and in addresses and keys of some tests. No command says it.
pub(crate) const SECRET: &str = "S3CRET-0f9d27";
/// The key of the tests that store runs under one.
pub(crate) const KEY: &str = "abababababababababababababababababababababababababababababababab";

/// The password of a user of a database begins so.
pub(crate) const SESAME: &str = "open-sesame";

/// No output has a character that moves or changes the text on a terminal, nor a secret.
#[track_caller]
pub(crate) fn assert_harmless(command: &str, output: &str) {
    let is_raw = |c: char| !matches!(c, '\n' | '\t') && (c.is_control() || runstate::actor::is_unseen(c));
    assert!(!output.contains(is_raw), "{command} says a raw control character: {output:?}");
    for secret in [SECRET, KEY, SESAME] {
        assert!(!output.contains(secret), "{command} says a secret: {output}");
    }
}

/// The output of a process, which is harmless.
#[track_caller]
pub(crate) fn harmless(command: &str, output: Output) -> Output {
    for said in [&output.stdout, &output.stderr] {
        assert_harmless(command, std::str::from_utf8(said).unwrap());
    }
    output
}

/// A folder of its own for one test, with a home of its own.
pub(crate) struct Session {
    folder: TempDir,
    /// The outputs of [`kept`](Self::kept), which are looked at in the end.
    outputs: TempDir,
}

impl Drop for Session {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        for output in fs::read_dir(self.outputs.path()).into_iter().flatten().flatten() {
            // A process that was killed may have been within a character.
            let said = fs::read(output.path()).unwrap();
            assert_harmless("a command in the background", &String::from_utf8_lossy(&said));
        }
    }
}

impl Session {
    pub(crate) fn new() -> Session {
        Session { folder: TempDir::new().unwrap(), outputs: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join(inside)
    }

    pub(crate) fn write(&self, inside: &str, content: impl AsRef<[u8]>) -> &Session {
        fs::create_dir_all(self.path(inside).parent().unwrap()).unwrap();
        fs::write(self.path(inside), content).unwrap();
        self
    }

    pub(crate) fn read(&self, inside: &str) -> String {
        fs::read_to_string(self.path(inside)).unwrap()
    }

    /// A place for an output that no test reads while the process lives. A pipe would be held by each process that is left.
    pub(crate) fn kept(&self) -> Stdio {
        let (file, _) = tempfile::NamedTempFile::new_in(self.outputs.path()).unwrap().keep().unwrap();
        file.into()
    }

    /// The binary, to be run in the folder with these arguments.
    pub(crate) fn command(&self, args: &[&str]) -> Program {
        let mut command = self.program(env!("CARGO_BIN_EXE_runstate"));
        command.args(args);
        command
    }

    /// A program around the binary, to be run as the binary is.
    pub(crate) fn program(&self, program: impl AsRef<std::ffi::OsStr>) -> Program {
        let mut command = Program::new(program);
        command
            .current_dir(self.folder.path())
            .env("XDG_DATA_HOME", self.path("home"))
            .env_remove("RUST_BACKTRACE")
            .env_remove("COLUMNS")
            .env_remove("RUNSTATE_STORE")
            .env_remove("RUNSTATE_KEY")
            .env("USER", "tester")
            .env("RUNSTATE_TEST_SECRET", SECRET)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Said {
        self.said(args, &self.command(args).output().unwrap())
    }

    /// Does the trace of a stored run conform, and is all in it over?
    pub(crate) fn assert_complete(&self, run: &str, place: &[&str]) {
        self.assert_trace(run, place, &["--complete"]);
    }

    /// Does the trace of a stored run conform? Where a process was killed, what it had begun is not over in it.
    pub(crate) fn assert_conforms(&self, run: &str, place: &[&str]) {
        self.assert_trace(run, place, &[]);
    }

    fn assert_trace(&self, run: &str, place: &[&str], more: &[&str]) {
        let trace = self.run(&[&["show", run, "--format", "jsonl"], place].concat());
        assert_eq!(trace.code, Some(0), "{}", trace.shown());
        let checked = self.run_with(&[&["check", "-"], more].concat(), &trace.stdout);
        assert_eq!(checked.code, Some(0), "{}", checked.shown());
    }

    pub(crate) fn run_with(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Said {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        // A command that refuses its arguments does not read.
        drop(child.stdin.take().unwrap().write_all(stdin.as_ref()));
        self.said(args, &child.wait_with_output().unwrap())
    }

    /// What a command with these arguments said.
    #[track_caller]
    pub(crate) fn said(&self, args: &[&str], output: &Output) -> Said {
        harmless(&args.join(" "), output.clone());
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
        let text = in_words(text);
        text.replace(folder, "[tmp]").replace(ROOT, "[root]").replace(root.to_str().unwrap(), "[root]")
    }
}

/// The text without what differs from time to time: how long ago something was, and the number of a process.
fn in_words(text: &str) -> String {
    text.split('\n').map(line_in_words).collect::<Vec<_>>().join("\n")
}

/// A time is a number, its unit, and in a table the spaces behind it: all of them go, so that it does not matter how many digits
/// the number has, nor whether a minute is over.
fn line_in_words(line: &str) -> String {
    let holder = format!("{}/", host());
    let words: Vec<&str> = line.split(' ').collect();
    let mut said: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let next = |further: usize| words.get(at + further).copied().unwrap_or("");
        let unit = next(1).trim_end_matches([',', ':', ')']);
        let is_away = next(2).starts_with("ago") || next(2) == "more;" || at > 0 && words[at - 1] == "in";
        if is_number(word) && matches!(unit, "s" | "min" | "h" | "d") && is_away {
            said.push(format!("[n]{}", &next(1)[unit.len()..]));
            at += 2;
            if words.get(at) == Some(&"ago") {
                said.push("ago".to_owned());
                at += 1;
                at += words[at..].iter().take_while(|word| word.is_empty()).count();
            }
            continue;
        }
        said.push(match word.strip_prefix(&holder) {
            Some(process) => {
                let is_of_it = |c: char| c.is_ascii_hexdigit() || c == '.';
                format!("[holder]{}", process.trim_start_matches(is_of_it))
            }
            None => (*word).to_owned(),
        });
        at += 1;
    }
    said.join(" ")
}

#[test]
fn relative_times_are_masked_alike_at_any_age() {
    let line = |changed: &str| {
        format!("pay-1  Waiting      1  1               {changed:<11}-\nended {changed}: well")
    };
    let [first, others @ ..] =
        ["9 s ago", "10 s ago", "1 min ago", "59 min ago"].map(|ago| in_words(&line(ago)));
    assert_eq!(first, "pay-1  Waiting      1  1               [n] ago -\nended [n] ago: well");
    others.into_iter().for_each(|other| assert_eq!(other, first));
    assert_eq!(in_words("tried again in 30 s\nx"), in_words("tried again in 1 min\nx"));
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_digit())
}

fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
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
    /// The same, with another text in the place of one that differs from time to time.
    pub(crate) fn replaced(self, what: &str, with: &str) -> Said {
        let replaced = |text: String| text.replace(what, with);
        let Said { command, code, stdout, stderr } = self;
        Said { command: replaced(command), code, stdout: replaced(stdout), stderr: replaced(stderr) }
    }

    /// The same, without its begin, and with one mark in the place of the times of each row of a timeline.
    pub(crate) fn untimed(mut self) -> Said {
        let mut times = None;
        let row = |line: &str| {
            if line.contains("  In state  Instance") {
                times = line.find("Instance");
            } else if line.is_empty() {
                times = None;
            }
            times.map_or(line.to_owned(), |times| {
                format!("[t]  {}", line.chars().skip(times).collect::<String>())
            })
        };
        self.stdout = self
            .stdout
            .split('\n')
            // A pause without events depends on the machine.
            .filter(|line| !line.starts_with("begins ") && !line.trim_end().ends_with("~ no event"))
            .map(row)
            .collect::<Vec<_>>()
            .join("\n");
        self
    }

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
