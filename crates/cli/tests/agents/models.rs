//! Providers, fallbacks and parameters of models.

use serde_json::json;

use super::{Answer, ModelServer, SECRET, finished, notes, output, runstate};

/// The value of a header.
const GATEWAY: &str = "gateway-4f2b9c";

/// Writes an agent file with these models and further lines.
fn agent(folder: &std::path::Path, text: &str) {
    std::fs::write(folder.join("a.yaml"), format!("name: helper\n{text}")).unwrap();
}

fn openai(server: &ModelServer, name: &str, more: &str) -> String {
    format!("{{base_url: \"http://{}/v1\", name: {name}{more}}}", server.address)
}

#[test]
fn refused_request_is_not_repeated_and_asks_no_fallback() {
    for status in [400, 404, 413, 422] {
        let folder = notes();
        let (first, second) =
            (ModelServer::new(&[Answer::Status(status)]), ModelServer::new(&[Answer::Text("no")]));
        let (model, fallback) = (openai(&first, "m", ""), openai(&second, "other", ""));
        agent(folder.path(), &format!("model: {model}\nfallbacks: [{fallback}]\n"));
        let (code, out, err) = output(folder.path(), &["run", "a.yaml", "go"]);
        assert_eq!((code, first.requests().len(), second.requests().len()), (Some(1), 1, 0), "{out} {err}");
        assert!(format!("{out}{err}").contains(&status.to_string()), "{out} {err}");
    }
}

#[test]
fn retries_and_fallbacks_are_told_on_standard_error() {
    let folder = notes();
    let first = ModelServer::new(&[Answer::Status(500), Answer::Cut("half"), Answer::Status(503)]);
    let second = ModelServer::new(&[Answer::Text("from the second")]);
    let (model, fallback) = (openai(&first, "m", ""), openai(&second, "other", ""));
    agent(folder.path(), &format!("model: {model}\nfallbacks: [{fallback}]\nlimits: {{retries: 2}}\n"));
    let (code, out, err) = output(folder.path(), &["run", "a.yaml", "go"]);
    assert_eq!((code, &*out), (Some(0), "from the second\n"), "{err}");
    let told: Vec<&str> = err.lines().filter(|line| line.starts_with("the model ")).collect();
    let begins = [
        "the model \"m\" failed at try 1: the server answers 500",
        "the model \"m\" failed at try 2: the connection",
        "the model \"m\" failed at try 3: the server answers 503",
    ];
    let ends = ["; it is asked again", "; it is asked again", "; the fallback \"other\" is asked"];
    assert_eq!(told.len(), 3, "{err}");
    for ((line, begin), end) in told.iter().zip(begins).zip(ends) {
        assert!(line.starts_with(begin) && line.ends_with(end), "{line}");
    }
}

#[test]
fn each_model_has_its_parameters_and_the_limit_of_its_output() {
    let folder = notes();
    let first = ModelServer::new(&[Answer::Status(500)]);
    let second = ModelServer::new(&[Answer::Text("hi")]);
    let model = openai(&first, "m", ", parameters: {temperature: 1, max_tokens: 7}");
    let fallback = openai(&second, "other", ", parameters: {top_p: 0.5}");
    let limits = "limits: {retries: 0, output: 300}";
    agent(folder.path(), &format!("model: {model}\nfallbacks: [{fallback}]\n{limits}\n"));
    let (code, out, err) = output(folder.path(), &["run", "a.yaml", "go"]);
    assert_eq!((code, &*out), (Some(0), "hi\n"), "{err}");
    let (first, second) = (first.requests()[0].1.clone(), second.requests()[0].1.clone());
    assert_eq!((&first["temperature"], &first["max_tokens"]), (&1.into(), &7.into()));
    assert_eq!((&second["top_p"], &second["max_tokens"]), (&0.5.into(), &300.into()));
    assert!(second["temperature"].is_null(), "{second}");
    agent(folder.path(), &format!("model: {model}\nlimits: {{output: 0}}\n"));
    let (code, _, err) = output(folder.path(), &["run", "a.yaml", "go"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("limits.output: got 0, expected at least 1"), "{err}");
}

#[test]
fn header_of_a_model_is_in_no_store_message_or_command() {
    let folder = notes();
    let shows = Answer::Calls(vec![("e1", "show", json!({}))]);
    let server = ModelServer::new(&[shows, Answer::Status(500), Answer::Repeats(GATEWAY)]);
    let model = openai(&server, "m", ", key_env: TEST_KEY, headers_env: {X-Gateway: USER}");
    let command = "commands: [{name: show, description: Shows the environment., command: [env]}]";
    agent(folder.path(), &format!("model: {model}\ntools: {{{command}}}\napprove: []\n"));
    let mut command = runstate(folder.path(), &["run", "a.yaml", "go"]);
    // A command gets this variable unless a model has it.
    command.env("USER", format!(" {GATEWAY} "));
    let (code, out, err) = finished(command, "");
    assert_eq!(code, Some(1), "{out} {err}");
    assert!(out.contains("wrong key [key]"), "{out} {err}");
    let requests = server.requests();
    assert_eq!(requests.len(), 3, "{out} {err}");
    for (head, body) in &requests {
        assert!(head.to_lowercase().contains(&format!("x-gateway: {GATEWAY}\r\n")), "{head}");
        assert!(head.contains(&format!("authorization: Bearer {SECRET}\r\n")), "{head}");
        assert!(!body.to_string().contains(GATEWAY), "{body}");
    }
    assert!(requests[1].1.to_string().contains("PATH="), "the command shows its environment");
    assert!(!format!("{out}{err}").contains(GATEWAY), "{out} {err}");
    let bytes = std::fs::read(folder.path().join("runs.db")).unwrap();
    assert!(!bytes.windows(GATEWAY.len()).any(|part| part == GATEWAY.as_bytes()));
}

#[test]
fn mistakes_of_the_headers_of_a_model_are_told() {
    let folder = notes();
    for (url, header, expected) in [
        (
            "http://models.example/v1",
            "x-key: TEST_KEY",
            "over which the value of headers_env would be readable",
        ),
        ("https://a.example/v1", "x-key: sk-1", "a.yaml:2:73: the model \"m\": headers_env.x-key is no name"),
        (
            "https://a.example/v1",
            "x-key: NO_SUCH",
            "headers_env.x-key: the environment variable NO_SUCH is not set",
        ),
        ("https://a.example/v1", "a key: TEST_KEY", "headers_env.a key: expected the name of a header"),
        ("https://a.example/v1", "x-key: NO_ASCII", "NO_ASCII has characters that no header can have"),
    ] {
        agent(
            folder.path(),
            &format!("model: {{base_url: \"{url}\", name: m, headers_env: {{{header}}}}}\n"),
        );
        let mut command = runstate(folder.path(), &["run", "a.yaml", "go"]);
        command.env("NO_ASCII", "sk-1é");
        let (code, out, err) = finished(command, "");
        assert_eq!((code, &*out), (Some(2), ""), "{header}: {err}");
        assert!(err.contains(expected) && !err.contains("sk-1"), "{header}: {err}");
    }
}

#[cfg(not(feature = "genai"))]
#[test]
fn provider_without_its_feature_names_it() {
    let folder = notes();
    let server = ModelServer::new(&[]);
    agent(folder.path(), &format!("model: {}\n", openai(&server, "m", ", provider: anthropic")));
    let (code, _, err) = output(folder.path(), &["run", "a.yaml", "go"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("--features genai"), "{err}");
}

#[cfg(feature = "genai")]
mod genai {
    use serde_json::{Value, json};

    use super::super::{Answer, ModelServer, SECRET, notes, output};
    use super::agent;

    fn events(all: &[Value]) -> Answer {
        let event = |data: &Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
        Answer::Stream(all.iter().map(event).collect())
    }

    fn start() -> Value {
        json!({ "type": "message_start", "message": { "usage": { "input_tokens": 100, "output_tokens": 1 } } })
    }

    fn end(reason: &str) -> [Value; 2] {
        let usage = json!({ "output_tokens": 10 });
        [
            json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": usage }),
            json!({ "type": "message_stop" }),
        ]
    }

    fn block(index: u32, block: &Value, deltas: &[Value]) -> Vec<Value> {
        let begin = json!({ "type": "content_block_start", "index": index, "content_block": block });
        let delta = |delta| json!({ "type": "content_block_delta", "index": index, "delta": delta });
        let end = json!({ "type": "content_block_stop", "index": index });
        [begin].into_iter().chain(deltas.iter().map(delta)).chain([end]).collect()
    }

    fn says(text: &str) -> Answer {
        let delta = json!({ "type": "text_delta", "text": text });
        let text = block(0, &json!({ "type": "text", "text": "" }), &[delta]);
        events(&[vec![start()], text, end("end_turn").to_vec()].concat())
    }

    fn anthropic(server: &ModelServer) -> String {
        format!(
            "{{provider: anthropic, base_url: \"http://{}/v1\", name: claude, key_env: TEST_KEY, headers_env: {{x-gateway: TEST_KEY}}}}",
            server.address
        )
    }

    #[test]
    fn agent_of_anthropic_reads_with_its_tools_and_answers() {
        let folder = notes();
        let thought = [
            json!({ "type": "thinking_delta", "thinking": "I must read." }),
            json!({ "type": "signature_delta", "signature": "EqoBCkg=" }),
        ];
        let thinking = block(0, &json!({ "type": "thinking", "thinking": "", "signature": "" }), &thought);
        let tool = json!({ "type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {} });
        let arguments = ["{\"path\":", "\"old.txt\"}"];
        let arguments = arguments.map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
        let call = [vec![start()], thinking, block(1, &tool, &arguments), end("tool_use").to_vec()].concat();
        let server = ModelServer::new(&[events(&call), says("It says: buy milk.")]);
        // A limit of tokens stops a run whose model does not count them.
        let more = "system: Be brief.\ntools: {files: {folder: notes}}\nlimits: {tokens: 1000, output: 400}";
        agent(folder.path(), &format!("model: {}\n{more}\n", anthropic(&server)));
        let (code, out, err) = output(folder.path(), &["run", "a.yaml", "What is in the note?"]);
        assert_eq!((code, &*out), (Some(0), "It says: buy milk.\n"), "{err}");
        assert!(err.contains("toolu_1") && err.contains("Succeeded read_file"), "{err}");
        assert!(err.contains("trace    conforms"), "{err}");

        let requests = server.requests();
        assert!(
            requests.iter().all(|(head, _)| head.starts_with("POST /v1/messages HTTP/1.1")),
            "{requests:?}"
        );
        for header in ["x-api-key", "x-gateway"] {
            let line = format!("{header}: {SECRET}\r\n");
            assert!(requests.iter().all(|(head, _)| head.contains(&line)), "{requests:?}");
        }
        assert_eq!(
            (&requests[0].1["max_tokens"], &requests[0].1["system"]),
            (&400.into(), &"Be brief.".into())
        );
        let messages = requests[1].1["messages"].as_array().unwrap();
        let thinking = json!({ "type": "thinking", "thinking": "I must read.", "signature": "EqoBCkg=" });
        let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "read_file", "input": { "path": "old.txt" } });
        assert_eq!(messages[1]["content"], json!([thinking, call]));
        let result = &messages[2]["content"][0];
        assert_eq!((&result["type"], &result["tool_use_id"]), (&"tool_result".into(), &"toolu_1".into()));
        assert!(result["content"].as_str().unwrap().contains("buy milk"), "{result}");

        let bytes = std::fs::read(folder.path().join("runs.db")).unwrap();
        assert!(!bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()));
    }

    #[test]
    fn model_of_a_provider_falls_back_to_another_wire() {
        let folder = notes();
        let first = ModelServer::new(&[Answer::Status(529)]);
        let second = ModelServer::new(&[Answer::Text("from the second")]);
        let fallback = format!("{{base_url: \"http://{}/v1\", name: other}}", second.address);
        let limits = "limits: {retries: 0, tokens: 1000}";
        agent(folder.path(), &format!("model: {}\nfallbacks: [{fallback}]\n{limits}\n", anthropic(&first)));
        let (code, out, err) = output(folder.path(), &["run", "a.yaml", "go"]);
        assert_eq!((code, &*out), (Some(0), "from the second\n"), "{err}");
        assert!(err.contains("the model \"claude\" failed at try 1: the server answers 529"), "{err}");
    }

    #[test]
    fn mistakes_of_a_provider_are_told() {
        let folder = notes();
        for (model, expected) in [
            (
                "{provider: antropic, base_url: \"http://127.0.0.1:9/v1\", name: m}",
                "\"antropic\" is no provider",
            ),
            (
                "{provider: gemini, base_url: \"http://models.example/v1\", name: m, key_env: TEST_KEY}",
                "over which the key would be readable",
            ),
            ("{provider: gemini, base_url: \"ftp://127.0.0.1/v1\", name: m}", "neither http nor https"),
            (
                "{provider: gemini, base_url: \"http://127.0.0.1/v1\", name: m, key: sk-1}",
                "write key_env: VARIABLE",
            ),
        ] {
            agent(folder.path(), &format!("model: {model}\n"));
            let (code, out, err) = output(folder.path(), &["run", "a.yaml", "go"]);
            assert_eq!((code, &*out), (Some(2), ""), "{model}: {err}");
            assert!(err.contains(expected) && !err.contains("sk-1"), "{model}: {err}");
        }
    }
}
