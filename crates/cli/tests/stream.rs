use crate::session::{ROOT, Session, assert_shown};

/// A scenario of one line each: what it is about, and the rest of the file.
const SCENARIOS: &[(&str, &str)] = &[
    (
        "a rule, a veto and a fallback",
        r#"
streams:
  - attempts:
      - script: [{tokens: ["as ", "a secret ", "told "]}, complete]
  - attempts:
      - open: {fail: {kind: server_error, message: down, causes: [refused, no route]}}
      - script: [{token: "fine"}, {data: {image: 1}}, {message: {content: aside}}, {progress: 1}, complete]
guardrails:
  - forbid: {text: secret, name: no-secrets}
  - forbid_regex: {regex: 'to+ld', severity: warning, within_bytes: 9}
  - require: {text: fine, severity: warning}
retry: {veto_kinds: [guardrail], delays_ms: [5]}
"#,
    ),
    (
        "timeouts, then all streams are exhausted",
        r#"
streams:
  - attempts: [{open: {hang: true}}, {script: [{token: a}, silence]}]
  - attempts: [{script: [{wait: 60}, {token: late}, complete]}]
timeouts: {initial_ms: 50, inter_ms: 20}
retry: {total_retries: 1, backoff: {curve: fixed, base_ms: 10}}
"#,
    ),
    (
        "an abort in a back-off",
        r#"
streams:
  - attempts: [{script: [{token: "a "}, {error: {kind: rate_limit, retry_after_ms: 5000}}]}]
abort: {at_ms: 40, by: token}
"#,
    ),
    (
        "an abort by a callback that is followed by nothing",
        r#"
streams:
  - attempts: [{script: [{throw: {kind: internal}}]}]
  - attempts: [{script: [{token: unused}]}]
abort: {on: {event: ERROR, in_callback: true}}
panicking_callbacks: [on_event, on_abort]
"#,
    ),
    (
        "a dropped session",
        "\nstreams: [{attempts: [{script: [{tokens: [a, b, c]}, silence]}]}]\nabort: {on: {event: TOKEN, nth: 2}, by: drop}\n",
    ),
    (
        "panics of the source and of what opens it",
        r#"
streams:
  - attempts: [{open: {panic: no factory}}]
  - attempts: [{script: [{token: a}, {panic: broken}]}]
  - attempts: [{script: [{token: fine}]}]
"#,
    ),
    (
        "a stream that is cut, a checkpoint that is refused, and no output",
        r#"
streams:
  - attempts:
      - script: [{tokens: ["one ", "two "]}, cut]
      - script: [{token: " "}, complete]
      - script: [{repeat: {token: "x", times: 3}}, complete]
require_complete: true
continuation: {every: 2, refuse_with: two, remove_overlap: false}
retry: {backoff: {curve: linear, base_ms: 10, jitter: decorrelated}, seed: 3}
"#,
    ),
    (
        "a silent stream without a limit",
        "\nstreams: [{attempts: [{script: [{token: a}, silence]}]}]\ntimeouts: {initial_ms: none, inter_ms: none}\n",
    ),
    (
        "fatal failures may fall back where they are told to, and a slow consumer uses up no timeout",
        r#"
streams:
  - attempts: [{script: [{throw: {kind: fatal, message: wrong key}}]}]
  - attempts: [{script: [{wait: 5}, {token: fine}, {wait: 5}, {token: "."}, complete]}]
retry: {on: [{kind: fatal, to: fallback}]}
timeouts: {initial_ms: 10, inter_ms: 10}
consumer: {delay_ms: 1000}
guardrails: [json_strict, latex, repetition, zero_output, {patterns: {kinds: [refusal, placeholder], severity: error}}, {panic_at: never}]
drift: {kinds: [repetition, hedging], confidence: 0.9, every: 5}
guardrails_every: 3
zero_output_fails: false
"#,
    ),
];

#[test]
fn scenarios_show_what_a_session_tells() {
    let session = Session::new();
    let example = format!("{ROOT}/examples/stream-retry.yaml");
    let mut shown = session.run(&["stream", &example]).shown();
    for (number, (about, rest)) in SCENARIOS.iter().enumerate() {
        let file = format!("{number}.yaml");
        session.write(&file, format!("name: case-{number}\nabout: {about}{rest}"));
        let said = session.run(&["stream", &file]);
        assert_eq!(session.run(&["stream", &file]).stdout, said.stdout, "the same each time");
        shown.push('\n');
        shown.push_str(&said.shown());
    }
    assert_shown("stream_scenarios", &shown);
}

#[test]
fn json_lines_say_the_same() {
    let session = Session::new();
    let (about, rest) = SCENARIOS[0];
    session.write("0.yaml", format!("name: case-0\nabout: {about}{rest}"));
    let said = session.run(&["stream", "0.yaml", "--json"]);
    let lines: Vec<serde_json::Value> =
        said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let text = session.run(&["stream", "0.yaml"]).stdout;
    let events = lines.iter().filter(|line| line["event"].is_object()).count();
    let callbacks = lines.iter().filter(|line| line["callback"].is_string()).count();
    let listed = text.lines().skip(2).take_while(|line| *line != "consumer").count();
    assert_eq!(events + callbacks, listed);
    assert_eq!(lines.last().unwrap()["end"]["result"]["state"]["content"], "fine");
    assert_eq!(lines.last().unwrap()["end"]["verdict"], "conforms");
    assert_shown("stream_json", &said.shown());
}

#[test]
fn a_scenario_that_says_none_is_refused_with_its_place() {
    let session = Session::new();
    let mut shown = String::new();
    for scenario in [
        "",
        "name: x\nstreams: []\n",
        "name: x\nstreams: [{attempts: []}]\n",
        "name: x\nstreams: [{attempts: [{script: [{tokn: a}]}]}]\n",
        "name: x\nstreams: [{attempts: [{script: [{throw: {kind: netwrk}}]}]}]\n",
        "name: x\nstreams: [{attempts: [{script: [{wait: -1}]}]}]\n",
        "name: x\nstreams: [{attempts: [{script: [{wait: 99999999999999}]}]}]\n",
        "name: x\nstreams: [{attempts: [{script: [{repeat: {token: a, times: 4000000}}]}]}]\n",
        "name: x\nstreams: [{attempts: [{open: {hang: true, panic: x}}]}]\n",
        "name: x\nstreams: [{attempts: [{}]}]\ncontinuation: {every: 0}\n",
        "name: x\nstreams: [{attempts: [{}]}]\ndrift: {confidence: 7}\n",
        "name: x\nstreams: [{attempts: [{}]}]\nabort: {}\n",
        "name: x\nstreams: [{attempts: [{}]}]\nabort: {on: {event: NEVER}}\n",
        "name: x\nstreams: [{attempts: [{}]}]\nabort: {on: {event: TOKEN, in_callback: true}, by: drop}\n",
        "name: x\nstreams: [{attempts: [{}]}]\nguardrails: [markdown, {forbid_regex: {regex: '(a'}}]\n",
        "name: x\nstreams: [{attempts: [{}]}]\nguardrails: [{forbid_regex: {regex: 'a+'}}]\n",
        "name: x\nstreams: [{attempts: [{}]}]\naccept: {schema: {type: strin}}\n",
        "name: x\nstreams: [{attempts: [{}]}]\npanicking_hooks: [on_start]\n",
        "name: x\nstreams: [{attempts: [{}]}]\nsurprise: 1\n",
        "name: x\nstreams: [{attempts: [{script: [{token: a}, {finish: ' '}]}]}]\n",
        "name: x\nstreams: [{attempts: [{script: [complete, {token: a}]}]}]\n",
        "name: x\nstreams: [{attempts: [{}]}]\nfinishes: {lenght: accept}\n",
        "name: x\nstreams: [{attempts: [{}]}]\nfinishes: {length: continue}\n",
        "name: x\nstreams: [{attempts: [{}]}]\nguardrails: [{patterns: {kinds: []}}]\n",
        "name: x\nstreams: [{attempts: [{}]}]\nguardrails: [markdown, {phrases: {phrases: [a, '']}}]\n",
        "name: x\nstreams: [{attempts: [{}]}]\nguardrails: [{require: {text: ''}}]\n",
        "name: x\nstreams: [{attempts: [{}]}]\ndrift: {kinds: []}\n",
        "name: x\nstreams: [{attempts: [{script: [{repeat: {token: a, times: 0}}]}]}]\n",
    ] {
        let said = session.write("bad.yaml", scenario).run(&["stream", "bad.yaml"]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{scenario}");
        shown.push_str(&said.stderr);
        shown.push('\n');
    }
    assert_shown("stream_refused", &shown);
}

#[test]
fn the_schema_has_the_limits_of_the_reader() {
    use runstate_agent::SchemaCheck;
    let session = Session::new();
    let schema = serde_json::from_str(&session.run(&["stream", "--schema"]).stdout).unwrap();
    let fits = |text: &str| {
        session.write("s.stream.json", text);
        let is_read = session.run(&["stream", "s.stream.json"]).code != Some(2);
        let value = serde_json::from_str(text).unwrap();
        assert_eq!(runstate_schema::JsonSchemas::new().check(&schema, &value).is_ok(), is_read, "{text}");
        is_read
    };
    let of =
        |script: &str| format!(r#"{{"name": "s", "streams": [{{"attempts": [{{"script": [{script}]}}]}}]}}"#);
    for (script, is_read) in [
        (r#""complete""#, true),
        (r#"{"wait": 31536000000}"#, true),
        (r#"{"wait": 31536000001}"#, false),
        (r#"{"repeat": {"token": "a", "times": 0}}"#, false),
        (r#"{"repeat": {"token": "a", "times": 1000001}}"#, false),
    ] {
        assert_eq!(fits(&of(script)), is_read, "{script}");
    }
    for text in [r#"{"name": "s", "streams": []}"#, r#"{"name": "s", "streams": [{"attempts": []}]}"#] {
        assert!(!fits(text), "{text}");
    }
}

#[test]
fn the_published_schema_is_that_of_the_reader() {
    let said = Session::new().run(&["stream", "--schema"]);
    assert_eq!(said.code, Some(0));
    let published =
        std::fs::read_to_string(format!("{ROOT}/docs/schemas/stream-scenario.schema.json")).unwrap();
    assert_eq!(
        said.stdout, published,
        "write it again: runstate stream --schema > docs/schemas/stream-scenario.schema.json"
    );
}
