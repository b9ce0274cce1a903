//! HTTP requests as a tool.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use super::*;

/// A server that gives each request the next answer, and the text of each request.
fn server(answers: &'static [&'static str]) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, requests) = channel();
    thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut request, mut buffer) = (String::new(), [0; 4096]);
            loop {
                let count = stream.read(&mut buffer).unwrap();
                request.push_str(&String::from_utf8_lossy(&buffer[..count]));
                let whole = request.split_once("\r\n\r\n").is_some_and(|(head, body)| {
                    let length = head.to_lowercase();
                    let length = length.lines().find_map(|line| line.strip_prefix("content-length: "));
                    body.len() >= length.map_or(0, |length| length.parse().unwrap())
                });
                if whole || count == 0 {
                    break;
                }
            }
            drop(sender.send(request));
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    (address, requests)
}

fn tool(hosts: &[&str], more: Value) -> Result<HttpTool, Failure> {
    let mut http = json!({ "hosts": hosts });
    http.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let file = json!({ "name": "a", "model": { "base_url": "http://localhost:1", "name": "m" }, "tools": { "http": http } });
    let from = super::super::file::of_run("r1", &file.to_string())?;
    HttpTool::new(&from, from.file.tools.http.as_ref().unwrap())
}

async fn send(tool: &HttpTool, arguments: Value) -> Result<ToolResult, String> {
    tool.send(&arguments, "r1/c1/1").await
}

#[tokio::test]
async fn request_goes_to_a_listed_host_with_the_headers_of_the_file() {
    // `PATH` is a variable that each process has.
    let secret = std::env::var("PATH").unwrap();
    let (address, requests) =
        server(&["HTTP/1.1 201 Created\r\nlocation: /x\r\ncontent-length: 2\r\n\r\nok"]);
    let tool = tool(
        &[&address.to_string()],
        json!({ "methods": ["GET", "POST"], "headers_env": { "X-Key": "PATH" } }),
    );
    let arguments = json!({ "method": "POST", "url": format!("http://{address}/a?b=c#d"), "headers": { "x-more": "1" }, "body": "hi" });
    let sent = send(&tool.unwrap(), arguments).await.unwrap();
    assert_eq!(sent, ToolResult::Success(json!({ "status": 201, "location": "/x", "body": "ok" })));
    let request = requests.recv().unwrap();
    assert!(request.starts_with("POST /a?b=c HTTP/1.1\r\n") && request.ends_with("\r\n\r\nhi"), "{request}");
    for line in [&*format!("x-key: {secret}\r\n"), "x-more: 1\r\n", "idempotency-key: r1/c1/1\r\n"] {
        assert!(request.contains(line), "{line}: {request}");
    }
}

#[tokio::test]
async fn answer_of_a_server_repeats_no_header_of_the_file() {
    let (address, requests) = server(&["HTTP/1.1 200 OK\r\n\r\n"]);
    let tool = tool(&[&address.to_string()], json!({ "headers_env": { "Authorization": "PATH" } })).unwrap();
    send(&tool, json!({ "url": format!("http://{address}") })).await.unwrap();
    let cut = format!("echo {}", &std::env::var("PATH").unwrap()[..7]);
    assert_eq!(tool.without_beginning(cut), "echo ");
    let request = requests.recv().unwrap();
    assert!(tool.withheld(&request).contains("authorization: [withheld]"), "{}", tool.withheld(&request));
}

#[tokio::test]
async fn long_answer_is_cut_and_redirects_and_failures_are_answers() {
    let (address, _requests) = server(&[
        "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nabc\u{e9}f",
        "HTTP/1.1 302 Found\r\nlocation: http://elsewhere.test/\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 503 No\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\nabc",
        "nonsense\r\n\r\n",
    ]);
    let tool = tool(&[&address.to_string()], json!({ "max_output": 4 })).unwrap();
    let get = || send(&tool, json!({ "url": format!("http://{address}/") }));
    let output = json!({ "status": 200, "body": "abc" });
    let warning = "the body is cut after 4 of 7 bytes".to_owned();
    assert_eq!(get().await.unwrap(), ToolResult::Warning { output, warning });
    let moved = json!({ "status": 302, "location": "http://elsewhere.test/", "body": "" });
    assert_eq!(get().await.unwrap(), ToolResult::Success(moved));
    let busy = json!({ "status": 503, "retry_after": "7", "body": "" });
    assert_eq!(get().await.unwrap(), ToolResult::Success(busy));
    let early = get().await.unwrap_err();
    assert!(early.contains("ended early"), "{early}");
    let noise = get().await.unwrap_err();
    assert!(noise.starts_with(&format!("GET http://{address}/: ")), "{noise}");
}

#[tokio::test]
async fn silent_server_is_left_after_the_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let tool = tool(&[&address.to_string()], json!({ "timeout": "100ms" })).unwrap();
    let late = send(&tool, json!({ "url": format!("http://{address}") })).await.unwrap_err();
    assert!(late.contains("took more than 100ms"), "{late}");
}

#[test]
fn other_addresses_headers_and_methods_are_refused() {
    let tool =
        tool(&["API.example.org", "127.0.0.1:8080", "[::1]:8080"], json!({ "methods": ["GET", "POST"] }))
            .unwrap();
    let permitted = |url: &str| tool.permitted(&json!({ "url": url }));
    for url in [
        "https://api.example.org/x",
        "https://API.EXAMPLE.ORG:443",
        "http://127.0.0.1:8080/",
        "http://[::1]:8080/",
    ] {
        assert!(permitted(url).is_ok(), "{url}");
    }
    for url in [
        "http://api.example.org/",
        "https://api.example.org:8443/",
        "https://api.example.org.evil.test/",
        "https://evil.test/api.example.org",
        "https://api.example.org@evil.test/",
        "https://user:word@api.example.org/",
        "https://\u{430}pi.example.org/",
        "http://127.0.0.1/",
        "http://127.1:8080/",
        "file:///etc/passwd",
        "//api.example.org/",
        "/x",
        "",
    ] {
        let refused = permitted(url).map(|_| ()).unwrap_err();
        assert!(refused.starts_with("url: got "), "{url}: {refused}");
    }
    let of = |more: Value| {
        let mut arguments = json!({ "url": "https://api.example.org/" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        tool.permitted(&arguments).map(|_| ()).unwrap_err()
    };
    for name in ["Host", "authorization", "Cookie", "Transfer-Encoding", "a b", ""] {
        assert!(of(json!({ "headers": { name: "1" } })).starts_with("headers: "), "{name}");
    }
    assert!(of(json!({ "headers": { "X-HTTP-Method-Override": "DELETE" } })).contains("client alone"));
    assert!(
        of(json!({ "headers": { "x-note": "pay mallory \u{e9}" } }))
            .contains("no value that a header can have")
    );
    assert!(of(json!({ "headers": { "x": "a\r\nhost: b" } })).contains("no value that a header can have"));
    assert!(of(json!({ "method": "DELETE" })).contains("expected one of GET, POST"));
    assert!(of(json!({ "body": "x" })).contains("a GET has none"));
}

#[test]
fn mistakes_of_the_file_are_told() {
    let of = |hosts: &[&str], more: Value| tool(hosts, more).map(|_| ()).unwrap_err().to_string();
    assert!(of(&[], json!({})).contains("tools.http.hosts: expected at least one host"));
    for host in ["https://a.test", "*.a.test", "a@b", ""] {
        assert!(of(&[host], json!({})).contains("tools.http.hosts: got"), "{host}");
    }
    assert!(of(&["a.test"], json!({ "methods": ["get"] })).contains("got \"get\", expected some of GET"));
    let missing = of(&["a.test"], json!({ "headers_env": { "x": "RUNSTATE_NOT_SET" } }));
    assert!(missing.contains("the environment variable RUNSTATE_NOT_SET is not set"), "{missing}");
}
