//! A program that a test runs. No output of it is read but through here, where each is looked at.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio};

use crate::session::{assert_harmless, harmless};

/// A command without the ways to its output that pass the look at it by.
pub(crate) struct Program(Command);

impl Program {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        Program(Command::new(program))
    }

    pub(crate) fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Self {
        self.0.arg(arg);
        self
    }

    pub(crate) fn args(&mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Self {
        self.0.args(args);
        self
    }

    pub(crate) fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.0.env(name, value);
        self
    }

    pub(crate) fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.0.env_remove(name);
        self
    }

    pub(crate) fn current_dir(&mut self, folder: impl AsRef<Path>) -> &mut Self {
        self.0.current_dir(folder);
        self
    }

    pub(crate) fn stdin(&mut self, from: impl Into<Stdio>) -> &mut Self {
        self.0.stdin(from);
        self
    }

    pub(crate) fn stdout(&mut self, to: impl Into<Stdio>) -> &mut Self {
        self.0.stdout(to);
        self
    }

    pub(crate) fn stderr(&mut self, to: impl Into<Stdio>) -> &mut Self {
        self.0.stderr(to);
        self
    }

    pub(crate) fn get_program(&self) -> &OsStr {
        self.0.get_program()
    }

    #[track_caller]
    pub(crate) fn output(&mut self) -> io::Result<Output> {
        self.0.output().map(|output| harmless("a command", output))
    }

    pub(crate) fn spawn(&mut self) -> io::Result<Running> {
        let mut child = self.0.spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (stdout, stderr) = (stdout.map(Scanned::of), stderr.map(Scanned::of));
        Ok(Running { child, stdin, stdout, stderr })
    }
}

/// A process of a [`Program`].
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: Option<Scanned<ChildStdout>>,
    pub(crate) stderr: Option<Scanned<ChildStderr>>,
}

impl Running {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn kill(&mut self) -> io::Result<()> {
        self.child.kill()
    }

    pub(crate) fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        self.child.wait()
    }

    pub(crate) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    #[track_caller]
    pub(crate) fn wait_with_output(mut self) -> io::Result<Output> {
        drop(self.stdin.take());
        self.child.stdout = self.stdout.take().and_then(|mut scanned| scanned.pipe.take());
        self.child.stderr = self.stderr.take().and_then(|mut scanned| scanned.pipe.take());
        self.child.wait_with_output().map(|output| harmless("a command", output))
    }
}

/// An output that a test reads bit by bit. It is looked at in the end, with what the test left in it.
#[derive(Debug)]
pub(crate) struct Scanned<P: Pipe> {
    pipe: Option<P>,
    said: Vec<u8>,
}

pub(crate) trait Pipe: Read {
    /// Makes reads end where nothing is left: another process may have the other end for as long as it lives.
    fn unblock(&self);
}

macro_rules! pipe {
    ($($pipe:ty),*) => {$(
        impl Pipe for $pipe {
            #[cfg(unix)]
            fn unblock(&self) {
                let flags = rustix::fs::fcntl_getfl(self).unwrap();
                rustix::fs::fcntl_setfl(self, flags | rustix::fs::OFlags::NONBLOCK).unwrap();
            }

            #[cfg(not(unix))]
            fn unblock(&self) {}
        }
    )*};
}

pipe!(ChildStdout, ChildStderr);

impl<P: Pipe> Scanned<P> {
    fn of(pipe: P) -> Self {
        Scanned { pipe: Some(pipe), said: Vec::new() }
    }
}

impl<P: Pipe> Read for Scanned<P> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let Some(pipe) = &mut self.pipe else { return Ok(0) };
        let count = pipe.read(to)?;
        self.said.extend(&to[..count]);
        Ok(count)
    }
}

impl<P: Pipe> Drop for Scanned<P> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        if let Some(mut pipe) = self.pipe.take() {
            pipe.unblock();
            // It fails where the process lives and is silent; all before that is there.
            drop(pipe.read_to_end(&mut self.said));
        }
        // A process that was killed may have been within a character.
        assert_harmless("a command in the background", &String::from_utf8_lossy(&self.said));
    }
}

/// Programs of others, whose outputs are none of the command's.
const OTHERS: [&str; 12] = [
    "\"kill\"",
    "\"mkfifo\"",
    "\"sh\"",
    "\"strace\"",
    "\"sleep\"",
    "\"umount\"",
    "\"chown\"",
    "\"mount\"",
    "\"rm\"",
    // Tools that make a link or a pipe, and the tests themselves, once more.
    "args[0]",
    "program",
    "reports",
];

/// [`Program`] has no other way to an output, so that a test would have to make a command of its own.
#[test]
fn every_test_reads_outputs_through_the_checked_program() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")];
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|kind| kind != "rs") || path.ends_with("program.rs") {
                continue;
            }
            count += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            for made in text.split("Command::new(").skip(1) {
                let program = made.split([')', ',']).next().unwrap();
                let statement = made.split(';').next().unwrap();
                assert!(
                    OTHERS.contains(&program),
                    "{}: a command of {program}: use `Session::program`",
                    path.display()
                );
                assert!(!statement.contains("output()"), "{}: {statement}", path.display());
            }
        }
    }
    assert!(count > 50, "{count}");
}

/// Each way to an output finds a colour and a secret in it.
#[cfg(unix)]
mod looked_at {
    use std::io::Read;

    use crate::session::Session;

    fn told(script: &str, read: impl Fn(super::Program) + std::panic::UnwindSafe) -> String {
        let script = script.to_owned();
        let told = std::panic::catch_unwind(move || {
            let session = Session::new();
            let mut shell = session.program("sh");
            shell.args(["-c", &script]);
            read(shell);
        });
        told.err().and_then(|told| told.downcast_ref::<String>().cloned()).unwrap_or_default()
    }

    #[test]
    fn unsafe_output_is_found_however_it_is_read() {
        for (script, fault) in [
            ("printf '\\033[2J'", "a raw control character"),
            ("printf '\\302\\233' >&2", "a raw control character"),
            ("echo $RUNSTATE_TEST_SECRET", "says a secret"),
            ("echo $RUNSTATE_TEST_SECRET >&2", "says a secret"),
        ] {
            let ways: [fn(super::Program); 4] = [
                |mut shell| drop(shell.output()),
                |mut shell| drop(shell.spawn().unwrap().wait_with_output()),
                // No test reads it.
                |mut shell| drop(shell.spawn().unwrap().wait()),
                |mut shell| {
                    let mut running = shell.spawn().unwrap();
                    let (mut stdout, mut stderr) =
                        (running.stdout.take().unwrap(), running.stderr.take().unwrap());
                    stdout.read_to_end(&mut Vec::new()).unwrap();
                    stderr.read_to_end(&mut Vec::new()).unwrap();
                    running.wait().unwrap();
                },
            ];
            for (way, read) in ways.into_iter().enumerate() {
                let told = told(script, read);
                assert!(told.contains(fault), "{way}, {script}: {told:?}");
            }
            assert_eq!(told("echo fine", ways[0]), "");
        }
    }
}
