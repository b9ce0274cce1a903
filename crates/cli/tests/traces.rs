//! Traces to check and to show.

/// A line of a trace of the run `r`.
pub(crate) fn line(seq: u64, instance: &str, event: &str, from: Option<&str>, to: &str) -> String {
    let lifecycle = if instance == "r" { "run" } else { "tool_call" };
    let from = from.map_or("null".to_owned(), |from| format!("\"{from}\""));
    format!(
        r#"{{"seq":{seq},"at_ms":{seq},"run":"r","lifecycle":"{lifecycle}","instance":"{instance}","event":"{event}","from":{from},"to":"{to}"}}"#
    ) + "\n"
}

/// A run with one call that is suspended, resumed and succeeds.
pub(crate) fn good() -> String {
    [
        line(1, "r", "create", None, "Running"),
        line(2, "a", "create", None, "New"),
        line(3, "a", "suspend", Some("New"), "Suspended"),
        line(4, "r", "wait", Some("Running"), "Waiting"),
        line(5, "r", "resume", Some("Waiting"), "Running"),
        line(6, "a", "resume", Some("Suspended"), "Resuming"),
        line(7, "a", "start", Some("Resuming"), "Running"),
        line(8, "a", "succeed", Some("Running"), "Succeeded"),
        line(9, "r", "finish", Some("Running"), "Done"),
    ]
    .concat()
}

/// The same, parked.
pub(crate) fn parked() -> String {
    good().lines().take(4).map(|line| format!("{line}\n")).collect()
}

/// The same, with the decision left out.
pub(crate) fn violating() -> String {
    good().replacen(
        "\"event\":\"resume\",\"from\":\"Suspended\",\"to\":\"Resuming\"",
        "\"event\":\"start\",\"from\":\"Suspended\",\"to\":\"Running\"",
        1,
    )
}

/// Texts that are no trace, or not a whole one.
pub(crate) fn bad() -> Vec<(&'static str, Vec<u8>)> {
    let good = good();
    vec![
        ("empty", Vec::new()),
        ("binary", b"\x00\x01\xff".to_vec()),
        ("no JSON", b"run r: Running\n".to_vec()),
        ("another JSON", b"[1, 2]\n".to_vec()),
        ("missing field", good.replacen("\"run\":\"r\",", "", 1).into_bytes()),
        ("wrong type", good.replacen("\"seq\":1", "\"seq\":\"1\"", 1).into_bytes()),
        ("field twice", good.replacen("\"seq\":1", "\"seq\":1,\"seq\":1", 1).into_bytes()),
        ("deep nesting", format!("{{\"seq\":{}", "[".repeat(100_000)).into_bytes()),
        ("huge line", format!("{{\"seq\":1,\"note\":\"{}\"}}\n", "x".repeat(17 << 20)).into_bytes()),
    ]
}
