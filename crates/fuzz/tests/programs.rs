//! Programs behind the protocol, as shell scripts: a clean one, and one for each kind of finding.

use std::fs;
use std::time::Duration;

use runstate_fuzz::{Config, Fuzz, Kind, Map, Program, Report, Unusable};

use super::order::graph;

const DIAGRAM: &str = "stateDiagram-v2\n[*] --> A\nA --> B : go\nB --> A : back";

/// The program, with `$FAULT` executed at the event `back` in B.
const PROGRAM: &str = r#"
state=A
answer() { printf '{"id":%s,%s"state":"%s"}\n' "$id" "$1" "$state"; }
while read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case "$state $line" in
    *hello*) answer "\"ready\":{\"reset\":$RESET},";;
    *reset*) state=A; answer "";;
    "A "*go*) state=B; answer '"taken":true,';;
    "B "*back*) eval "$FAULT"; state=A; answer '"taken":true,';;
    *) answer '"refused":"not now",';;
  esac
done
"#;

fn program(fault: &str, reset: &str) -> Program {
    let script = format!("FAULT='{}'\nRESET={reset}\n{PROGRAM}", fault.replace('\'', r"'\''"));
    Program::new(["sh", "-c", &script].map(Into::into).into(), "pair", 1).timeout(Duration::from_secs(20))
}

fn run(mut program: Program) -> Result<Report, Unusable> {
    let map = Map::new(&graph(DIAGRAM), &Config::default()).unwrap();
    Fuzz::new(map).sequences(5).depth(10).run(&mut program)
}

#[test]
fn program_without_a_fault_is_clean() {
    let report = run(program("", "true")).unwrap();
    assert!(report.is_clean(), "{report}");
}

#[test]
fn each_broken_reply_is_found_as_its_kind() {
    for (fault, kind) in [
        ("echo last words >&2; exit 3", Kind::Crash),
        ("exec >&-; exec sleep 60", Kind::Crash),
        // A process that it leaves holds its output.
        ("sleep 60 & exit 3", Kind::Crash),
        ("echo nonsense", Kind::Garbage),
        ("echo 7", Kind::Garbage),
        ("id=99", Kind::Garbage),
        ("echo '{}'", Kind::Garbage),
        ("state=Nowhere; answer '\"taken\":true,'; state=A; continue", Kind::Garbage),
        ("answer '\"taken\":true,\"refused\":\"no\",'", Kind::Garbage),
        ("answer ''", Kind::Garbage),
        ("printf '\\377\\n'", Kind::Garbage),
        ("head -c 2000000 /dev/zero | tr '\\000' x", Kind::Flood),
        ("answer '\"refused\":\"no\",'; continue", Kind::RefusedLegal),
        ("state=B; answer '\"taken\":true,'; continue", Kind::WrongTarget),
    ] {
        let report = run(program(fault, "true")).unwrap();
        let kinds: Vec<Kind> = report.findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [kind], "{fault}: {report}");
        assert!(!report.findings[0].is_flaky(), "{fault}: {report}");
        assert_eq!(report.findings[0].exchanges.len(), 2, "{fault}: {report}");
    }
}

#[test]
fn extra_line_is_garbage() {
    // The next request shows it, and a sequence that ends there does not.
    let report = run(program("state=A; answer '\"taken\":true,'", "true")).unwrap();
    assert_eq!(report.findings[0].kind, Kind::Garbage, "{report}");
}

#[test]
fn errors_of_the_program_are_in_the_report() {
    let report = run(program("echo last words >&2; exit 3", "true")).unwrap();
    assert!(report.to_string().contains("| last words"), "{report}");
    assert!(report.findings[0].why.contains("exit status: 3"), "{report}");
}

#[test]
fn errors_before_a_wrong_reply_are_complete() {
    // 60 kB fit the pipe, so the program replies while its errors are still in it.
    let words = "x".repeat(60_000);
    let fault = format!("echo {words} >&2; echo last words >&2; state=B; answer '\"taken\":true,'; continue");
    for _ in 0..30 {
        let report = run(program(&fault, "true")).unwrap();
        let log = &report.findings[0].log;
        assert!(
            log.ends_with("x\nlast words\n"),
            "{} bytes, at the end {:?}",
            log.len(),
            log.lines().next_back()
        );
    }
}

#[test]
fn missing_reply_is_a_timeout() {
    let program = program("sleep 60", "true").timeout(Duration::from_millis(200));
    let report = run(program).unwrap();
    assert!(report.findings.iter().any(|finding| finding.kind == Kind::Timeout), "{report}");
}

#[test]
fn error_of_the_adapter_stops_the_run() {
    let report =
        run(program("printf '{\"id\":%s,\"error\":\"no database\"}\\n' $id; continue", "true")).unwrap();
    let why = report.stopped.unwrap();
    assert!(why.contains("cannot execute") && why.contains("no database"), "{why}");
}

#[test]
fn program_without_reset_has_a_process_for_each_sequence() {
    let folder = tempfile::tempdir().unwrap();
    let starts = folder.path().join("starts");
    let program = |reset: &str| program(&format!("echo x >>{}", starts.display()), reset);
    let report = run(program("false")).unwrap();
    assert!(report.is_clean(), "{report}");
    let script = format!("echo $$ >>{}; RESET=false; FAULT=; {PROGRAM}", starts.display());
    fs::remove_file(&starts).unwrap();
    let counted = Program::new(["sh", "-c", &script].map(Into::into).into(), "pair", 1);
    let report = run(counted).unwrap();
    let started = fs::read_to_string(&starts).unwrap().lines().count();
    assert_eq!(u64::try_from(started).unwrap(), report.sequences);
}

#[test]
fn no_process_of_the_program_survives() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let fault = format!("sleep 1000 & echo $! >>{}", pids.display());
    let report = run(program(&fault, "false")).unwrap();
    assert!(report.is_clean(), "{report}");
    let pids = fs::read_to_string(pids).unwrap();
    assert!(pids.lines().count() > 0);
    for pid in pids.lines() {
        // A killed process may be a zombie until its new parent reads its status.
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(status.is_empty() || status.contains(") Z "), "{pid}: {status}");
    }
}

#[test]
fn program_that_gives_no_hello_is_unusable() {
    for (command, expected) in [
        (vec!["sh", "-c", "exit 4"], "exit status: 4"),
        (vec!["sh", "-c", "echo no such file >&2; exit 4"], "\"no such file\""),
        (vec!["cat"], "expected the fields `ready` and `state`"),
        (vec!["./missing-program"], "cannot be started"),
    ] {
        let command = command.into_iter().map(Into::into).collect();
        let error = run(Program::new(command, "pair", 1)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let silent = Program::new(["sh", "-c", "sleep 60"].map(Into::into).into(), "pair", 1);
    let error = run(silent.start_timeout(Duration::from_millis(50))).unwrap_err().to_string();
    assert!(error.contains("in 50ms"), "{error}");
}

#[test]
fn program_that_stops_reading_is_a_timeout() {
    // A payload that does not shrink: each replay waits for the timeout.
    let config = format!("payloads: {{back: {{const: {}}}}}", "x".repeat(150_000));
    let map = Map::new(&graph(DIAGRAM), &Config::parse(&config).unwrap()).unwrap();
    // The payload of `back` is larger than a pipe, and the program sleeps after `go`.
    let script = "read -r l; echo '{\"id\":0,\"ready\":{\"reset\":false},\"state\":\"A\"}'; read -r l; \
                  echo '{\"id\":1,\"taken\":true,\"state\":\"B\"}'; exec sleep 60";
    let mut program = Program::new(["sh", "-c", script].map(Into::into).into(), "pair", 1)
        .timeout(Duration::from_millis(200));
    let report = Fuzz::new(map).sequences(0).run(&mut program).unwrap();
    assert!(report.findings.iter().any(|finding| finding.kind == Kind::Timeout), "{report}");
}
