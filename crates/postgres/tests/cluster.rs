//! A PostgreSQL server of the tests' own, in a temporary folder, on loopback, not as root.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use runstate_postgres::{PostgresOptions, PostgresStore};
use tokio_postgres::{Client, NoTls};

/// A server, which ends with this value, or with this process, however that ends.
#[derive(Debug)]
pub struct Cluster {
    pub folder: PathBuf,
    pub port: u16,
    keeper: Mutex<Keeper>,
}

#[derive(Debug)]
struct Keeper {
    process: Child,
    /// What the keeper waits on: it is closed when this process is gone.
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

/// The server that most tests share, each in a schema of its own. None where it is not installed.
pub fn shared() -> Option<&'static Cluster> {
    static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
    SHARED.get_or_init(|| Cluster::start(&[])).as_ref()
}

impl Cluster {
    /// A server with these settings. None where PostgreSQL is not installed; that is a failure where
    /// `RUNSTATE_REQUIRE_POSTGRES` is 1.
    pub fn start(settings: &[&str]) -> Option<Cluster> {
        Self::start_with(settings, |_| {})
    }

    /// The same, and files are added to its folder before it starts.
    pub fn start_with(settings: &[&str], files: impl FnOnce(&Path)) -> Option<Cluster> {
        Self::begin(settings, files, false)
    }

    /// The same, with a disk of six megabytes in its folder `small`, which is gone with its processes. None where this is
    /// not root, or may not mount anything.
    pub fn start_with_small_disk() -> Option<Cluster> {
        let may_mount =
            Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "tmpfs", "/tmp"]).output();
        if !may_mount.is_ok_and(|done| done.status.success()) {
            skip(
                "a small disk can not be mounted here; run the tests as root, with unshare and mount allowed",
            );
            return None;
        }
        Self::begin(&[], |folder| std::fs::create_dir(folder.join("small")).unwrap(), true)
    }

    fn begin(settings: &[&str], files: impl FnOnce(&Path), has_small_disk: bool) -> Option<Cluster> {
        let Some(bin) = binaries() else {
            let why =
                "PostgreSQL is not installed; install it with `sh crates/postgres/tests/server/install.sh`";
            assert_ne!(std::env::var("RUNSTATE_REQUIRE_POSTGRES").as_deref(), Ok("1"), "{why}");
            skip(why);
            return None;
        };
        let folder = tempfile::Builder::new().prefix("runstate-pg-").tempdir_in("/tmp").unwrap().keep();
        files(&folder);
        let user = unprivileged();
        for entry in std::iter::once(folder.clone())
            .chain(std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()))
        {
            if let Some((_, uid, gid)) = &user {
                chown(entry, Some(*uid), Some(*gid)).unwrap();
            }
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut keeper = as_user(user.as_ref(), Path::new("/bin/sh"));
        if let (true, Some((_, uid, gid))) = (has_small_disk, &user) {
            // Mounted for the keeper and the server alone.
            let mount = format!(
                "mount -t tmpfs -o size=6m,mode=700,uid={uid},gid={gid} tmpfs \"$0/small\" && exec \"$@\""
            );
            let mut outer = Command::new("unshare");
            outer
                .args(["-m", "/bin/sh", "-c", &mount])
                .arg(&folder)
                .arg(keeper.get_program())
                .args(keeper.get_args());
            keeper = outer;
        }
        // By its text: the user may not be allowed to read this folder.
        keeper.args(["-c", include_str!("server/keep.sh"), "keep.sh"]).arg(&bin).arg(&folder);
        keeper.arg(port.to_string()).args(["-c", "max_connections=200", "-c", "shared_buffers=32MB"]);
        keeper.args(settings.iter().flat_map(|setting| ["-c", setting]));
        keeper.current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = keeper.spawn().unwrap();
        let to = process.stdin.take();
        let from = BufReader::new(process.stdout.take().unwrap());
        let cluster = Cluster { folder, port, keeper: Mutex::new(Keeper { process, to, from }) };
        cluster.again();
        Some(cluster)
    }

    /// Starts the server again, after it was stopped.
    pub fn again(&self) {
        assert_eq!(self.ask("start"), "ready", "{}", self.log());
    }

    /// Stops the server by a signal: `QUIT` is PostgreSQL's `immediate`, a crash that leaves recovery to the next start.
    pub fn stop(&self, signal: &str) {
        assert_eq!(self.ask(&format!("stop {signal}")), "stopped", "{}", self.log());
    }

    fn ask(&self, what: &str) -> String {
        let mut keeper = self.keeper.lock().unwrap();
        writeln!(keeper.to.as_mut().unwrap(), "{what}").unwrap();
        let mut said = String::new();
        keeper.from.read_line(&mut said).unwrap();
        said.trim().to_owned()
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }

    /// A place of its own in the server.
    pub fn place(&self) -> Place {
        static PLACES: AtomicUsize = AtomicUsize::new(1);
        let schema = format!("place {}", PLACES.fetch_add(1, Ordering::Relaxed));
        Place { url: self.url("postgres"), schema }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let keeper = self.keeper.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        keeper.to = None;
        keeper.process.wait().ok();
        // The keeper removes it, but not what it has mounted.
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

/// A schema that no other test has.
#[derive(Debug, Clone)]
pub struct Place {
    pub url: String,
    pub schema: String,
}

impl Place {
    pub fn options(&self) -> PostgresOptions {
        PostgresOptions::new(&self.url).unwrap().schema(&self.schema).unwrap()
    }

    /// A store with connections of its own, as another process has it.
    pub async fn store(&self) -> PostgresStore {
        PostgresStore::connect(self.options()).await.unwrap()
    }

    /// A connection past all stores.
    pub async fn client(&self) -> Client {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }
}

fn skip(why: &str) {
    #[expect(clippy::explicit_write, reason = "past the harness, which would keep it to itself")]
    writeln!(std::io::stderr(), "SKIPPED: {why}").unwrap();
}

/// Where initdb and postgres are: in `PATH`, or where Debian puts them.
fn binaries() -> Option<PathBuf> {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut debian: Vec<_> = debian.map(|entry| entry.unwrap().path().join("bin")).collect();
    debian.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::env::split_paths(&path).chain(debian.into_iter().rev());
    all.into_iter()
        .find(|bin| ["initdb", "postgres", "pg_isready"].iter().all(|name| bin.join(name).is_file()))
}

/// Name and ids of the user that runs the server, where this is root: the server refuses to run as root.
fn unprivileged() -> Option<(&'static str, u32, u32)> {
    let id = |args: &[&str]| {
        let said = Command::new("id").args(args).output().ok().filter(|said| said.status.success())?;
        String::from_utf8(said.stdout).unwrap().trim().parse::<u32>().ok()
    };
    if id(&["-u"]) != Some(0) {
        return None;
    }
    let user = |name| Some((name, id(&["-u", name])?, id(&["-g", name])?));
    Some(user("postgres").or_else(|| user("nobody")).expect("neither the user postgres nor nobody is there"))
}

fn as_user(user: Option<&(&str, u32, u32)>, program: &Path) -> Command {
    let Some((_, uid, gid)) = user else { return Command::new(program) };
    let mut command = Command::new("setpriv");
    command.args(["--clear-groups", &format!("--reuid={uid}"), &format!("--regid={gid}")]).arg(program);
    command
}
