//! Servers and databases that let somebody in or do not: told with their place, never with a password.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

use crate::server::{self, Shared};
use crate::session::{Said, Session, assert_harmless, assert_shown};

const PASSWORD: &str = "open-sesame/42";
/// As it has to stand in a URL.
const ENCODED: &str = "open-sesame%2F42";

fn said(session: &Session, server: &Shared, args: &[&str], url: &str) -> Said {
    let said = session.run(&[args, &["--store", url, "--state-dir", "runs"]].concat());
    for part in ["sesame", "open-", "%2F42"] {
        let told = format!("{}{}", said.stdout, said.stderr);
        assert!(!told.contains(part), "{part:?} is told: {}", said.shown());
    }
    let said = said.replaced(&format!(":{}", server.port()), ":[port]");
    said.replaced(PASSWORD, "[password]").replaced(ENCODED, "[password]")
}

/// A database of its own, which a user of its own may use who has to know the password.
fn of_ada(server: &Shared, user: &str) -> String {
    let url = server.database();
    let (_, database) = url.split('?').next().unwrap().rsplit_once('/').unwrap();
    server.make(&format!(
        "CREATE ROLE {user} LOGIN PASSWORD '{PASSWORD}'; GRANT CREATE ON DATABASE {database} TO {user}"
    ));
    database.to_owned()
}

#[test]
fn postgres_password_connects_and_is_never_shown() {
    let Some(server) = server::shared() else { return };
    let session = Session::new();
    session.write(
        "s.yaml",
        "name: pay\nmessage: go\napprove: [pay]\ntools: {pay: {}}\nmodel:\n  - calls: [{id: p, tool: pay}]\n",
    );
    let database = of_ada(server, "ada");
    let port = server.port();
    for url in [
        format!("postgres://ada:{ENCODED}@127.0.0.1:{port}/{database}?sslmode=disable"),
        // Not encoded, the client takes it all the same.
        format!("postgresql://ada:{PASSWORD}@127.0.0.1:{port}/{database}?sslmode=disable"),
        format!("postgres://127.0.0.1:{port}/{database}?sslmode=disable&user=ada&password={ENCODED}"),
    ] {
        // It says how to go on, where the store is, and which one a worker drives.
        let run = said(&session, server, &["run", "s.yaml"], &url);
        assert_eq!(run.code, Some(3), "{}", run.shown());
        assert!(run.stdout.contains(&format!("127.0.0.1:[port]/{database}")), "{}", run.shown());
        for args in [&["show", "pay-1"] as &[&str], &["worker", "--once"], &["runs"], &["approvals"]] {
            let told = said(&session, server, args, &url);
            assert_eq!(told.code, Some(0), "{}", told.shown());
        }
        // What is said to be copied works as it stands, once the URL is where it says.
        let hint = run.stdout.lines().find_map(|line| line.strip_prefix("show it with: runstate "));
        let (hint, note) = hint.unwrap().split_once(" (").unwrap();
        let told = "with RUNSTATE_STORE set to the URL of the store; its password is not shown)";
        assert_eq!(note, told, "{}", run.shown());
        let args: Vec<&str> = hint.split(' ').collect();
        let shown = session.command(&args).env("RUNSTATE_STORE", &url).output().unwrap();
        assert_eq!(session.said(&args, &shown).code, Some(0));
    }
}

#[test]
fn a_store_that_cannot_be_opened_is_told_with_its_place() {
    let Some(server) = server::shared() else { return };
    let session = Session::new();
    let (port, database) = (server.port(), of_ada(server, "grace"));
    server.make("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    // Bound and let go: nobody listens there.
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut shown = String::new();
    for (case, url) in [
        (
            "wrong password",
            format!("postgres://grace:not-{ENCODED}@127.0.0.1:{port}/{database}?sslmode=disable"),
        ),
        ("no password", format!("postgres://grace@127.0.0.1:{port}/{database}?sslmode=disable")),
        ("wrong user", format!("postgres://nobody:{ENCODED}@127.0.0.1:{port}/{database}?sslmode=disable")),
        ("wrong database", format!("postgres://grace:{ENCODED}@127.0.0.1:{port}/nowhere?sslmode=disable")),
        ("no rights", format!("postgres://grace:{ENCODED}@127.0.0.1:{port}/postgres?sslmode=disable")),
        ("not in UTF-8", format!("postgres://postgres@127.0.0.1:{port}/latin?sslmode=disable")),
        (
            "nobody listens",
            format!("postgres://grace:{ENCODED}@127.0.0.1:{closed}/{database}?sslmode=disable"),
        ),
        ("no TLS", format!("postgres://grace:{ENCODED}@127.0.0.1:{port}/{database}?sslmode=require")),
        ("no such mode", format!("postgres://grace:{ENCODED}@127.0.0.1:{port}/{database}?sslmode=no")),
        ("no port", format!("postgres://grace:{ENCODED}@127.0.0.1:x5432/{database}")),
        (
            "no such parameter",
            format!("postgres://grace:{ENCODED}@127.0.0.1:{port}/{database}?passphrase={ENCODED}"),
        ),
        ("a wrong scheme", format!("postgre://grace:{ENCODED}@127.0.0.1:{port}/{database}")),
        ("no slashes", format!("postgres:grace:{ENCODED}@127.0.0.1:{port}/{database}")),
    ] {
        let said = said(&session, server, &["runs"], &url);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{case}: {}", said.shown());
        let said = said.replaced(&closed.to_string(), "[closed]").replaced(&database, "[database]");
        shown.push_str(&format!("== {case}\n{}\n", said.stderr));
    }
    assert_shown("postgres_errors", &shown);
}

/// Forwards that port to another one, for as long as the test runs.
fn forward(listener: TcpListener, port: u16) {
    std::thread::spawn(move || {
        for from in listener.incoming() {
            let Ok(from) = from else { return };
            let to = TcpStream::connect(("127.0.0.1", port)).unwrap();
            for (mut here, mut there) in [(from.try_clone().unwrap(), to.try_clone().unwrap()), (to, from)] {
                std::thread::spawn(move || drop(std::io::copy(&mut here, &mut there)));
            }
        }
    });
}

#[test]
fn a_worker_that_starts_before_its_server_waits_for_it() {
    let Some(server) = server::shared() else { return };
    let session = Session::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = server.database().replace(&format!(":{}", server.port()), &format!(":{port}"));
    let args = ["worker", "--store", &url, "--state-dir", "runs"];
    let once = session.run(&[&args as &[&str], &["--once"]].concat());
    assert_eq!(once.code, Some(2), "{}", once.shown());

    let mut worker = session.command(&args).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(worker.stderr.take().unwrap()).lines();
    let first = told.next().unwrap().unwrap();
    assert_harmless("worker", &first);
    assert!(
        first.contains("cannot be reached") && first.ends_with("; the command tries again every second"),
        "{first}"
    );
    forward(TcpListener::bind(("127.0.0.1", port)).unwrap(), server.port());
    let next = told.next().unwrap().unwrap();
    assert_harmless("worker", &next);
    assert!(next.contains(" drives the runs of postgres://"), "{next}");
    worker.kill().unwrap();
    worker.wait().unwrap();
}
