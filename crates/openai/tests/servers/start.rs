//! Starts `aimock`, a mock server from the npm registry. The tests of two packages include this file.

use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// The address of a new server, and its process. None where it is not installed; that is a failure where
/// `RUNSTATE_REQUIRE_SERVERS` is 1.
pub async fn aimock() -> Option<(String, Child)> {
    let openai = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../openai");
    let servers = std::env::var_os("RUNSTATE_SERVERS")
        .map_or_else(|| openai.join("../../target/servers"), PathBuf::from);
    let program = servers.join("node_modules/@copilotkit/aimock/dist/cli.js");
    let started = Command::new("node")
        .arg(&program)
        .args(["--port", "0", "--host", "127.0.0.1", "--strict", "--chunk-size", "8", "--fixtures"])
        .arg(openai.join("tests/servers/fixtures.json"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .spawn();
    let mut process = match started {
        Ok(process) if program.exists() => process,
        _ => {
            let why = "aimock is not installed; install it with `sh crates/openai/tests/servers/install.sh` (needs node and npm)";
            assert_ne!(std::env::var("RUNSTATE_REQUIRE_SERVERS").as_deref(), Ok("1"), "{why}");
            #[expect(clippy::explicit_write, reason = "past the harness, which would keep it to itself")]
            writeln!(std::io::stderr(), "SKIPPED: {why}").unwrap();
            return None;
        }
    };
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let base = loop {
        let line = tokio::time::timeout(Duration::from_secs(60), lines.next_line()).await.unwrap().unwrap();
        if let Some((_, address)) = line.expect("it says where it listens").split_once("listening on ") {
            break address.trim().to_owned();
        }
    };
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Some((base, process))
}
