//! A PostgreSQL server of our own, in a temporary folder, on loopback, not as root.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// A server, which ends with this value, or with this process, however that ends.
#[derive(Debug)]
pub struct Server {
    keeper: Child,
    folder: TempDir,
    port: u16,
}

/// The keeper of the store's own tests: it stops the server when its standard input is closed.
const KEEP: &str = include_str!("../../postgres/tests/server/keep.sh");

impl Server {
    /// Starts one; none where PostgreSQL is not installed.
    ///
    /// # Errors
    /// Those of the operating system, and what the server says when it does not start.
    pub fn start() -> io::Result<Option<Server>> {
        let Some(bin) = binaries() else { return Ok(None) };
        let folder = tempfile::Builder::new().prefix("runstate-pg-").tempdir_in("/tmp")?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut keeper = Command::new("/bin/sh");
        if let Some((uid, gid)) = unprivileged()? {
            chown(folder.path(), Some(uid), Some(gid))?;
            keeper = Command::new("setpriv");
            keeper.args(["--clear-groups", &format!("--reuid={uid}"), &format!("--regid={gid}"), "/bin/sh"]);
        }
        keeper.args(["-c", KEEP, "keep.sh"]).arg(bin).arg(folder.path()).arg(port.to_string());
        keeper.args(["-c", "max_connections=200", "-c", "shared_buffers=32MB"]);
        keeper.current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = Server { keeper: keeper.spawn()?, folder, port };
        match &*server.ask("start")? {
            "ready" => Ok(Some(server)),
            _ => Err(io::Error::other(format!("the server does not start: {}", server.last_words()))),
        }
    }

    fn ask(&mut self, what: &str) -> io::Result<String> {
        let (Some(to), Some(from)) = (&mut self.keeper.stdin, &mut self.keeper.stdout) else {
            return Err(io::Error::other("the keeper has an input and an output"));
        };
        writeln!(to, "{what}")?;
        let mut said = String::new();
        BufReader::new(from).read_line(&mut said)?;
        Ok(said.trim().to_owned())
    }

    /// The end of what it said.
    pub fn last_words(&self) -> String {
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    /// The address of its database.
    pub fn address(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // It ends when its input does.
        self.keeper.wait().ok();
    }
}

/// Where initdb and postgres are: in `PATH`, or where Debian puts them.
fn binaries() -> Option<PathBuf> {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut debian: Vec<PathBuf> = debian.map(|entry| entry.path().join("bin")).collect();
    debian.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has_all = |bin: &Path| ["initdb", "postgres", "pg_isready"].iter().all(|it| bin.join(it).is_file());
    std::env::split_paths(&path).chain(debian.into_iter().rev()).find(|bin| has_all(bin))
}

/// The ids of the user that runs the server, where this is root: the server refuses to run as root.
fn unprivileged() -> io::Result<Option<(u32, u32)>> {
    let id = |arguments: &[&str]| -> io::Result<Option<u32>> {
        let said = Command::new("id").args(arguments).output()?;
        Ok(String::from_utf8_lossy(&said.stdout).trim().parse().ok())
    };
    if id(&["-u"])? != Some(0) {
        return Ok(None);
    }
    for user in ["postgres", "nobody"] {
        if let (Some(uid), Some(gid)) = (id(&["-u", user])?, id(&["-g", user])?) {
            return Ok(Some((uid, gid)));
        }
    }
    Err(io::Error::other("there is neither the user postgres nor nobody to run a server as"))
}
