//! The server and its keeper.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::{OpenOptionsExt, chown};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

use crate::binaries::binaries;
use crate::user::{User, as_user};
use crate::{Absent, Setup};

/// The number of ports to try.
const PORTS: usize = 3;

const KEEP: &str = include_str!("keep.sh");

/// A server, which ends with this value, or with this process, however the process ends.
#[derive(Debug)]
pub struct Server {
    keeper: Mutex<Keeper>,
    port: u16,
    /// The last field to drop: the keeper removes the folder too, but not its mounts.
    folder: TempDir,
}

#[derive(Debug)]
struct Keeper {
    process: Child,
    /// The input of the keeper: it is closed when this process ends.
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Server {
    /// Starts a server on a free port.
    ///
    /// # Errors
    /// [`Absent`], with a remedy if one is known.
    pub fn start(setup: Setup) -> Result<Server, Absent> {
        for _ in 1..PORTS {
            match Self::start_once(&setup) {
                // Another process took the port between the check and the start.
                Err(Absent::NotReady(said)) if said.contains("could not bind") => {}
                started => return started,
            }
        }
        Self::start_once(&setup)
    }

    fn start_once(setup: &Setup) -> Result<Server, Absent> {
        let bin = binaries().ok_or(Absent::NotInstalled)?;
        if setup.has_small_disk && !may_mount() {
            return Err(Absent::NoSmallDisk);
        }
        let user = User::unprivileged()?;
        let folder = tempfile::Builder::new().prefix("runstate-pg-").tempdir_in("/tmp")?;
        fill(folder.path(), setup, user)?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut keeper = shell(folder.path(), setup, user);
        // By its text: the user may not be allowed to read the folder of this crate.
        keeper.args(["-c", KEEP, "keep.sh"]).arg(bin).arg(folder.path()).arg(port.to_string());
        keeper.args(["-c", "max_connections=200", "-c", "shared_buffers=32MB"]);
        keeper.args(setup.settings.iter().flat_map(|setting| ["-c", setting]));
        keeper.current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = keeper.spawn()?;
        let to = process.stdin.take();
        let from = process.stdout.take().ok_or_else(|| io::Error::other("its keeper has no output"))?;
        let keeper = Mutex::new(Keeper { process, to, from: BufReader::new(from) });
        let server = Server { keeper, port, folder };
        match &*server.ask("start")? {
            "ready" => Ok(server),
            _ => Err(Absent::NotReady(server.last_words())),
        }
    }

    /// Starts the server again, after it was stopped.
    ///
    /// # Errors
    /// If it does not start, with the end of its output.
    pub fn again(&self) -> io::Result<()> {
        self.told("start", "ready")
    }

    /// Stops the server by a signal, and waits for its end: `QUIT` is PostgreSQL's `immediate`, a crash that leaves recovery
    /// to the next start.
    ///
    /// # Errors
    /// If its keeper does not answer.
    pub fn stop(&self, signal: &str) -> io::Result<()> {
        self.told(&format!("stop {signal}"), "stopped")
    }

    fn told(&self, what: &str, expected: &str) -> io::Result<()> {
        let said = self.ask(what)?;
        if said == expected {
            return Ok(());
        }
        let words = self.last_words();
        Err(io::Error::other(format!(
            "{what}: expected {expected:?}, got {said:?}; the server said\n{words}"
        )))
    }

    fn ask(&self, what: &str) -> io::Result<String> {
        let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
        let to = keeper.to.as_mut().ok_or_else(|| io::Error::other("its keeper has no input"))?;
        writeln!(to, "{what}")?;
        let mut said = String::new();
        keeper.from.read_line(&mut said)?;
        Ok(said.trim().to_owned())
    }

    /// Its folder: its data are in `data`, its files beside them.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its complete output.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// The end of its output.
    pub fn last_words(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    /// The address of one of its databases, as the user `postgres`; the database of that name exists from the beginning.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let keeper = self.keeper.get_mut().unwrap_or_else(PoisonError::into_inner);
        // The keeper ends at the end of its input.
        keeper.to = None;
        keeper.process.wait().ok();
    }
}

fn may_mount() -> bool {
    let tried = Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "tmpfs", "/tmp"]).output();
    tried.is_ok_and(|done| done.status.success())
}

/// Writes the server's files into its folder, and gives all of them to its user.
fn fill(folder: &Path, setup: &Setup, user: Option<User>) -> io::Result<()> {
    let mut made = vec![folder.to_owned()];
    if setup.has_small_disk {
        std::fs::create_dir(folder.join("small"))?;
        made.push(folder.join("small"));
    }
    for (name, content) in &setup.files {
        let path = folder.join(name);
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(content.as_bytes())?;
        made.push(path);
    }
    if let Some(User { uid, gid }) = user {
        for path in made {
            chown(path, Some(uid), Some(gid))?;
        }
    }
    Ok(())
}

/// A shell of that user, with its small disk if one is requested.
fn shell(folder: &Path, setup: &Setup, user: Option<User>) -> Command {
    let shell = as_user(user, Path::new("/bin/sh"));
    let (true, Some(User { uid, gid })) = (setup.has_small_disk, user) else { return shell };
    // Mounted for the keeper and the server alone.
    let mount =
        format!("mount -t tmpfs -o size=6m,mode=700,uid={uid},gid={gid} tmpfs \"$0/small\" && exec \"$@\"");
    let mut outer = Command::new("unshare");
    outer.args(["-m", "/bin/sh", "-c", &mount]).arg(folder).arg(shell.get_program()).args(shell.get_args());
    outer
}
