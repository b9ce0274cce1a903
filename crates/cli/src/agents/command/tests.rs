//! Commands as tools.

use super::*;

fn of(command: &[&str]) -> CommandTool {
    CommandTool {
        spec: ToolSpec::new("t", "t"),
        command: command.iter().map(|text| parts(text).unwrap()).collect(),
        folder: ".".into(),
        timeout: Duration::from_secs(20),
        max_output: 8,
        withheld: vec!["USER".to_owned()],
    }
}

async fn run(tool: &CommandTool, arguments: Value) -> Result<ToolResult, String> {
    tool.execute(&arguments, "key").await
}

#[test]
fn placeholders_are_names_between_braces() {
    let name = |name: &str| Part::Argument(name.to_owned());
    let text = |text: &str| Part::Text(text.to_owned());
    assert_eq!(parts("a{b}c").unwrap(), [text("a"), name("b"), text("c")]);
    assert_eq!(parts("{{b}}").unwrap(), [text("{b}")]);
    assert_eq!(parts("").unwrap(), [text("")]);
    for wrong in ["{", "}", "{a", "{a b}", "{}"] {
        assert!(parts(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn value_of_the_model_is_no_option() {
    let tool = of(&["cat", "{path}", "--name={path}"]);
    assert_eq!(tool.filled(&json!({ "path": "a b" })).unwrap(), ["cat", "a b", "--name=a b"]);
    assert!(tool.filled(&json!({ "path": "--help" })).unwrap_err().contains("does not begin with `-`"));
    assert!(tool.filled(&json!({ "path": "a\0" })).unwrap_err().contains("NUL"));
    assert!(tool.filled(&json!({})).unwrap_err().contains("expected a text"));
}

/// A process that ended and that no parent has waited for.
#[cfg(unix)]
fn is_zombie(id: rustix::process::Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}

#[cfg(unix)]
#[test]
fn command_has_limits_of_output_and_time() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let printed = run(&of(&["printf", "%s", "{text}"]), json!({ "text": "0123456789" })).await.unwrap();
        let warning = "2 bytes of output are omitted".to_owned();
        assert_eq!(printed, ToolResult::Warning { output: "01234567".into(), warning });
        let failed = run(&of(&["false"]), json!({})).await.unwrap_err();
        assert!(failed.contains("exit status: 1"), "{failed}");
        assert!(run(&of(&["no-such-program"]), json!({})).await.unwrap_err().contains("cannot execute"));
        let mut slow = of(&["sh", "-c", "sleep 1000 & sleep 1000"]);
        slow.timeout = Duration::from_millis(50);
        assert!(run(&slow, json!({})).await.unwrap_err().contains("was ended"));
        // A process that the command leaves behind ends with it, with and without its output.
        for left in ["sleep 1000 &", "sleep 1000 >/dev/null 2>&1 &"] {
            let mut leaves = of(&["sh", "-c", "{script}"]);
            leaves.max_output = 100;
            let script = format!("{left} echo $!");
            let printed = run(&leaves, json!({ "script": script })).await.unwrap();
            let ToolResult::Success(Value::String(id)) = printed else { panic!("{printed:?}") };
            let id = rustix::process::Pid::from_raw(id.trim().parse().unwrap()).unwrap();
            let is_gone = || rustix::process::test_kill_process(id).is_err() || is_zombie(id);
            for _ in 0..200 {
                if is_gone() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert!(is_gone(), "{left}");
        }
    });
}

#[cfg(unix)]
#[test]
fn command_gets_no_keys_of_this_process() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut tool = of(&["env"]);
    tool.max_output = 1 << 20;
    let ToolResult::Success(Value::String(env)) = runtime.block_on(run(&tool, json!({}))).unwrap() else {
        panic!("env printed nothing");
    };
    let names: BTreeSet<&str> = env.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    assert!(!names.contains("USER"), "{names:?}");
    let known = PASSED.into_iter().chain(["RUNSTATE_IDEMPOTENCY_KEY", "PWD"]);
    assert_eq!(names.difference(&known.collect()).collect::<Vec<_>>(), Vec::<&&str>::new());
}
