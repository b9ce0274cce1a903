use crate::session::Session;

const SECRET: &str = "hunter2";
const FORMATS: [&str; 9] =
    ["text", "timeline", "html", "perfetto", "gantt", "markdown", "mermaid", "json", "jsonl"];

/// A call that was decided, one that failed, and one with a decision that its run has not taken.
const SCENARIO: &str = "name: NAME\nmessage: my password is hunter2\napprove: [ask, pay]\ntools:\n  \
    ask: {does: [{gives: {success: hunter2}}]}\n  \
    break: {does: [{gives: {error: hunter2}}]}\n  pay: {}\nmodel:\n  \
    - calls: [{id: a, tool: ask, arguments: {word: hunter2}}]\n  \
    - calls: [{id: b, tool: break, arguments: {word: hunter2}}]\n  \
    - calls: [{id: p, tool: pay, arguments: {word: hunter2}}]\n  - text: hunter2\ndecisions:\n  \
    - {call: a, action: approve, reason: hunter2}\n";

#[test]
fn a_run_with_redact_hides_its_values_in_all_formats() {
    let session = Session::new();
    let say = |args: &[&str]| session.run(&[args, &["--state-dir", "runs"]].concat());
    let show = |run: &str, format: &str| {
        let shown = say(&["show", run, "--format", format]);
        assert_eq!(shown.code, Some(0), "{}", shown.shown());
        shown.stdout
    };
    session
        .write("open.yaml", SCENARIO.replace("NAME", "open"))
        .write("hidden.yaml", SCENARIO.replace("NAME", "hidden") + "redact: true\n");
    for name in ["open", "hidden"] {
        let (file, run) = (format!("{name}.yaml"), format!("{name}-1"));
        assert_eq!(say(&["run", &file]).code, Some(3));
        // Waiting, with a decision and a cancellation that are not taken, and ended.
        let stages: [&[&str]; 4] = [
            &[],
            &["approve", &format!("{run}/p/1"), "--run", &run, "--actor", "ada", "--reason", SECRET],
            &["cancel", &run, "--reason", SECRET],
            &["resume", &run],
        ];
        for (number, stage) in stages.into_iter().enumerate() {
            if !stage.is_empty() {
                let said = say(stage);
                assert!(said.code.is_some_and(|code| code < 2), "{}", said.shown());
            }
            for format in FORMATS {
                let shown = show(&run, format);
                // The trace has no values, and these formats have those of the calls too.
                let has_values = matches!(format, "text" | "timeline" | "html" | "perfetto" | "json");
                let is_shown = name == "open" && has_values;
                assert_eq!(shown.contains(SECRET), is_shown, "stage {number} of {run} as {format}: {shown}");
            }
        }
        if name == "hidden" {
            for (format, kinds) in [
                ("text", ["[title]", "[arguments]", "[output]", "[error]", "[reason]"]),
                ("json", ["[title]", "[arguments]", "[output]", "[error]", "[reason]"]),
            ] {
                let shown = show(&run, format);
                kinds.iter().for_each(|kind| assert!(shown.contains(kind), "{kind} as {format}: {shown}"));
            }
        }
    }
}
