//! Graphs on a chain behind a node.

use std::path::Path;

use super::program::Program;

/// The output of a server that ends by itself: the exit code and standard error.
fn serve(folder: &Path, graph: &str, edit: impl FnOnce(&mut Program)) -> (Option<i32>, String) {
    std::fs::write(folder.join("graph.yaml"), graph).unwrap();
    let mut command = Program::new(env!("CARGO_BIN_EXE_runstate"));
    command.args(["serve", "--graph", "graph.yaml", "--store", "sqlite:runs.db", "--listen", "127.0.0.1:0"]);
    command.current_dir(folder).env_remove("RUNSTATE_STORE").env_remove("NODE_URL");
    edit(&mut command);
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[cfg(not(feature = "evm"))]
#[test]
fn chain_of_another_feature_is_refused_with_the_build() {
    let folder = tempfile::tempdir().unwrap();
    let (code, said) = serve(folder.path(), "chain: {rpc: {url: 'http://localhost:1', id: 1}}", |_| {});
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("built without chains over JSON-RPC") && said.contains("--features evm"), "{said}");
}

#[cfg(feature = "evm")]
mod built {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpListener;
    use std::process::Stdio;
    use std::thread;

    use serde_json::json;

    use super::*;

    const USDC: &str = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
    const POOL: &str = "0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0";

    /// A graph with these members of `rpc`, and these of its own.
    fn graph(rpc: &str, more: &str) -> String {
        let tokens = format!("tokens: [{{symbol: USDC, address: \"{USDC}\", decimals: 6}}]");
        format!("chain: {{rpc: {{id: 31337, name: anvil, native: ETH, {tokens}, {rpc}}}}}\n{more}\n")
    }

    #[test]
    fn graphs_that_no_run_could_use_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("empty"), "\n").unwrap();
        let url = "url: 'http://localhost:1/hidden'";
        let with = |rpc: &str| graph(&format!("{url}, {rpc}"), "");
        let policy = |target: &str| graph(url, &format!("policy: {{targets: [\"{target}\"]}}"));
        let plain = |id: u64, tokens: &str| {
            format!("chain: {{rpc: {{{url}, id: {id}, name: anvil, native: ETH, tokens: [{tokens}]}}}}")
        };
        let token = |symbol: &str, address: &str, decimals: u8| {
            format!("{{symbol: {symbol}, address: \"{address}\", decimals: {decimals}}}")
        };
        let pool = format!("router: {{name: pool, address: \"{POOL}\"}}");
        let rows = [
            ("chain: rpc".into(), "expected mapping"),
            ("chain: https://node.example/hidden".into(), "(a URL)"),
            ("chain: {rpc: 'https://node.example/hidden'}".into(), "expected mapping"),
            ("chain: {rpc: {url: 'http://localhost:1/hidden'}}".into(), "missing field `id`"),
            (with("gas: 5"), "unknown field `gas`"),
            (with("url_env: NODE_URL"), "chain.rpc: got 2 of url, url_env and url_file, expected one"),
            (graph("plain_http: true", ""), "chain.rpc: got 0 of url, url_env and url_file, expected one"),
            (graph("url_env: NODE_URL", ""), "the environment has no text in NODE_URL"),
            (
                graph("url_env: 'https://node.example/hidden'", ""),
                "chain.rpc.url_env: got a text that is no name",
            ),
            (graph("url_env: node.example/hidden", ""), "chain.rpc.url_env: got a text that is no name"),
            (graph("url_env: 1_hidden", ""), "chain.rpc.url_env: got a text that is no name"),
            (graph("url_env: ''", ""), "chain.rpc.url_env: got a text that is no name"),
            (graph("url_file: 'https://node.example/hidden'", ""), "chain.rpc.url_file: got a URL"),
            (graph("url_file: none", ""), "cannot read none"),
            (graph("url_file: empty", ""), "the URL of the node cannot be used: expected one like"),
            (graph("url: 'ws://localhost/hidden'", ""), "expected one with http or https"),
            (graph("url: 'http://node.example/hidden'", ""), "expected https, or plain_http"),
            (with("confirmations: 0"), "expected a nonzero u64"),
            (with("swap_deadline: soon"), "chain.rpc.swap_deadline: "),
            (with("router: {name: '', address: '0x1'}"), "the name of the router is empty"),
            (with("router: {name: pool, address: '0x1'}"), "the router: got \"0x1\", expected 0x and 40"),
            (with(&pool.replace(POOL, USDC)), "is there twice"),
            (with(&pool.replace('A', "a").replace("9fE4", "9FE4")), "checksum (EIP-55)"),
            (plain(0, ""), "the id of the chain is 0, expected at least 1"),
            (plain(1, &token("USDC", &USDC[..41], 6)), "expected 0x and 40 hexadecimal digits"),
            (plain(1, &token("USDC", USDC, 39)), "has 39 decimals, expected at most 38"),
            (plain(1, &token("eth", USDC, 6)), "the symbol \"eth\" is there twice"),
            (
                plain(1, &[token("A", USDC, 6), token("A", POOL, 6)].join(", ")),
                "the token \"A\" is there twice",
            ),
            (plain(1, &[token("A", USDC, 6), token("B", USDC, 6)].join(", ")), "is there twice"),
            (policy("0xc0de"), "policy.targets: got \"0xc0de\", expected 0x and 40 hexadecimal digits"),
            (graph(url, "slippage_bps: 20000"), "slippage_bps: got 20000"),
        ];
        for (graph, expected) in rows {
            let (code, said) = serve(folder.path(), &graph, |_| {});
            assert_eq!(code, Some(2), "{graph}: {said}");
            assert!(said.contains(expected), "{graph}: {said}");
            assert!(!said.contains("hidden"), "{graph}: {said}");
        }
        let with_journal = |command: &mut Program| {
            command.args(["--chain", "journal"]);
        };
        let (code, said) = serve(folder.path(), &graph(url, ""), with_journal);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("leave --chain out") && !folder.path().join("journal").exists(), "{said}");
    }

    /// A node that has the chain with that id. It answers one request.
    fn node(id: &str) -> String {
        answering(format!("{{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": \"{id}\"}}"))
    }

    /// A node with that body for one request.
    fn answering(body: String) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hidden", listener.local_addr().unwrap());
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 4_096];
            assert!(stream.read(&mut request).unwrap() > 0);
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            stream.write_all((head + &body).as_bytes()).unwrap();
        });
        url
    }

    #[test]
    fn node_of_another_chain_ends_the_server() {
        let folder = tempfile::tempdir().unwrap();
        let url = node("0x1");
        let (code, said) = serve(folder.path(), &graph("url_env: NODE_URL", ""), |command| {
            command.env("NODE_URL", &url);
        });
        assert_eq!(code, Some(2), "{said}");
        assert!(
            said.contains("the chain has the id 1, expected 31337") && !said.contains("hidden"),
            "{said}"
        );
    }

    /// The first lines of a server that goes on, up to its address.
    fn starts(folder: &Path) -> Vec<String> {
        let mut command = Program::new(env!("CARGO_BIN_EXE_runstate"));
        command.args([
            "serve",
            "--graph",
            "graph.yaml",
            "--store",
            "sqlite:runs.db",
            "--listen",
            "127.0.0.1:0",
        ]);
        command.current_dir(folder).env_remove("RUNSTATE_STORE");
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = Vec::new();
        for line in BufReader::new(child.stderr.take().unwrap()).lines() {
            lines.push(line.unwrap());
            if lines.last().is_some_and(|line| line.starts_with("http://")) {
                break;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        lines
    }

    #[test]
    fn server_starts_before_its_node_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("node-url"), "http://127.0.0.1:1/hidden\n").unwrap();
        std::fs::write(folder.path().join("graph.yaml"), graph("url_file: node-url", "")).unwrap();
        let lines = starts(folder.path());
        assert_eq!(
            lines[0],
            "the chain cannot be reached: connection refused; runs fail until its node answers"
        );
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(!folder.path().join("runs.db.chain").exists(), "another chain has no journal");

        let error = json!({ "code": -32_005, "message": "hidden" });
        for (body, expected) in [
            (json!({ "jsonrpc": "2.0", "id": 1, "error": error }).to_string(), "got the error -32005"),
            ("<html>hidden</html>".to_owned(), "the answer is no JSON object"),
        ] {
            std::fs::write(folder.path().join("node-url"), answering(body)).unwrap();
            let lines = starts(folder.path());
            assert_eq!(lines.len(), 2, "{lines:?}");
            assert!(lines[0].contains(expected) && !lines[0].contains("hidden"), "{lines:?}");
        }

        std::fs::write(folder.path().join("node-url"), node("0x7a69")).unwrap();
        let lines = starts(folder.path());
        assert_eq!(lines.len(), 1, "{lines:?}");
    }
}
