//! Tools that answer in the place of their supervisor.

use super::{REVIEW, STATE_DIR, assert_in_order, governed, json, plan, run_id};
use crate::session::Session;

/// Takes the socket of its supervisor, and writes the answers of that many tools into it. Then it ends with a code, or goes on.
const FORGER: &str = r#"
import ctypes, json, os, struct, sys, time
libc = ctypes.CDLL(None)
socket = libc.syscall(438, libc.syscall(434, os.getppid(), 0), 0, 0)
if socket < 0:
    open("../refused", "w").close()
    raise SystemExit(0)
answer = json.dumps({"Ended": {"status": 0, "strays": 0, "left": 0}}).encode()
os.write(socket, (struct.pack("<Q", len(answer)) + answer) * int(sys.argv[1]))
open("../forged", "w").close()
if sys.argv[2] == "on":
    time.sleep(600)
raise SystemExit(int(sys.argv[2]))
"#;

/// Neither the result of a later tool nor one of its own is forged: the effects of the tool are unknown, and nothing else runs.
#[test]
fn a_tool_that_answers_for_its_supervisor_halts_the_run() {
    for forges in ["1 0", "4 0", "1 1", "1 on", "9 on"] {
        let session = Session::new();
        plan(&session, &[("build", "PLACE"), ("wait", "echo > ../ran; exit 1")], REVIEW);
        session.write("site/forge.py", FORGER);
        let forge = format!("exec python3 forge.py {forges}");
        session.write("plan.yaml", session.read("plan.yaml").replace("PLACE", &forge));
        let done = governed(&session, &["run", "plan.yaml", "--json"]);
        let run = run_id(&json(&done));
        let has = |name: &str| session.path(&format!("{STATE_DIR}/{run}/{name}")).exists();
        if !has("forged") {
            println!("no python3, or no right to take the socket: {}", done.shown());
            // A normal user has no right to it, and the later tool has its own result.
            let why = json(&done)["why"].to_string();
            assert!(!has("refused") || why.contains("exit code 1"), "{}", done.shown());
            return;
        }
        assert_eq!(json(&done)["status"], "HALTED_UNSAFE", "{forges}: {}", done.shown());
        let why = json(&done)["why"].to_string();
        assert!(why.contains("or another process answered for it"), "{forges}: {}", done.shown());
        assert!(!has("ran"), "{forges}");
        assert_in_order(&session, &run);
    }
}

/// An answer without an end is not awaited, and one of any length is not read.
#[test]
fn a_forged_answer_without_an_end_halts_the_run() {
    for begins in ["struct.pack('<Q', 1 << 20) + b'{'", "struct.pack('<Q', 1 << 60)"] {
        let session = Session::new();
        plan(&session, &[("build", "exec python3 forge.py")], REVIEW);
        let script = FORGER.replace("(struct.pack(\"<Q\", len(answer)) + answer) * int(sys.argv[1])", begins);
        session.write("site/forge.py", script.replace("sys.argv[2]", "'0'"));
        let done = governed(&session, &["run", "plan.yaml", "--json"]);
        let run = run_id(&json(&done));
        if !session.path(&format!("{STATE_DIR}/{run}/forged")).exists() {
            println!("no python3, or no right to take the socket: {}", done.shown());
            return;
        }
        assert_eq!(json(&done)["status"], "HALTED_UNSAFE", "{begins}: {}", done.shown());
    }
}

/// Takes each descriptor of the command, the parent of its supervisor, that it can get.
const TAKER: &str = r#"
import ctypes, os
libc = ctypes.CDLL(None)
parent = int(open(f"/proc/{os.getppid()}/stat").read().rsplit(")", 1)[1].split()[1])
process = libc.syscall(434, parent, 0)
taken = [number for number in range(64) if libc.syscall(438, process, number, 0) >= 0]
open("../tried", "w").write(str(taken))
"#;

/// The command's end of the socket of its supervisor is closed to its tools. A superuser opens it.
#[test]
fn a_tool_of_a_normal_user_orders_nothing() {
    let session = Session::new();
    plan(&session, &[("build", "exec python3 take.py")], REVIEW);
    session.write("site/take.py", TAKER);
    let done = governed(&session, &["run", "plan.yaml", "--json"]);
    let tried = session.path(&format!("{STATE_DIR}/{}/tried", run_id(&json(&done))));
    match std::fs::read_to_string(tried) {
        Ok(taken) if !rustix::process::geteuid().is_root() => assert_eq!(taken, "[]", "{}", done.shown()),
        Ok(taken) => assert!(taken.starts_with('['), "{}", done.shown()),
        Err(_) => println!("no python3: {}", done.shown()),
    }
}
