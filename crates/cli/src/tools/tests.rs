//! The effects of the tools on a real folder, and their refusals.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{ToolResult, Tools};

/// A working folder, with a secret beside it that no tool may reach.
struct World {
    root: TempDir,
    tools: Tools,
}

impl World {
    fn new() -> World {
        let root = TempDir::new().unwrap();
        fs::create_dir(root.path().join("work")).unwrap();
        fs::write(root.path().join("secret.txt"), "secret").unwrap();
        let tools = Tools::open(&root.path().join("work"), 64).unwrap();
        World { root, tools }
    }

    fn path(&self, inside: &str) -> std::path::PathBuf {
        self.root.path().join("work").join(inside)
    }

    fn call(&self, tool: &str, arguments: &Value) -> ToolResult {
        self.tools.call(tool, arguments)
    }

    fn error(&self, tool: &str, arguments: &Value) -> String {
        match self.call(tool, arguments) {
            ToolResult::Error(text) => text,
            other => panic!("expected {tool} to refuse {arguments}, got {other:?}"),
        }
    }

    /// Checks that the secret is unchanged, and that the working folder has no other neighbour.
    fn assert_untouched(&self) {
        assert_eq!(fs::read_to_string(self.root.path().join("secret.txt")).unwrap(), "secret");
        assert_eq!(fs::read_dir(self.root.path()).unwrap().count(), 2);
    }
}

#[test]
fn a_file_is_written_listed_read_and_deleted() {
    let world = World::new();
    let written = world.call("write_file", &json!({"path": "a/b.txt", "content": "grüße"}));
    assert_eq!(written, ToolResult::Success(json!({"path": "a/b.txt", "bytes": 7})));
    assert_eq!(
        world.call("list_files", &json!({})),
        ToolResult::Success(json!([{"name": "a", "kind": "folder"}]))
    );
    assert_eq!(
        world.call("list_files", &json!({"path": "a"})),
        ToolResult::Success(json!([{"name": "b.txt", "kind": "file", "bytes": 7}]))
    );
    assert_eq!(world.call("read_file", &json!({"path": "./a/b.txt"})), ToolResult::Success(json!("grüße")));
    world.call("write_file", &json!({"path": "a/b.txt", "content": "x"}));
    assert_eq!(fs::read_to_string(world.path("a/b.txt")).unwrap(), "x", "a shorter text leaves no tail");
    assert_eq!(
        world.call("delete_file", &json!({"path": "a/b.txt"})),
        ToolResult::Success(json!({"path": "a/b.txt"}))
    );
    assert!(!world.path("a/b.txt").exists());
    let again = world.call("delete_file", &json!({"path": "a/b.txt"}));
    assert!(matches!(again, ToolResult::Warning { .. }), "replaying a deletion is harmless: {again:?}");
}

#[test]
fn paths_that_lead_out_are_refused() {
    let world = World::new();
    for path in ["../secret.txt", "a/../../secret.txt", "..", "/etc/passwd", "", "a\0b", &"x/".repeat(3000)] {
        for tool in ["list_files", "read_file", "delete_file"] {
            world.error(tool, &json!({"path": path}));
        }
        world.error("write_file", &json!({"path": path, "content": "gotcha"}));
    }
    world.assert_untouched();
}

#[cfg(unix)]
#[test]
fn symlinks_that_lead_out_are_refused() {
    use std::os::unix::fs::symlink;
    let world = World::new();
    symlink("../secret.txt", world.path("file")).unwrap();
    symlink("..", world.path("up")).unwrap();
    symlink(world.root.path(), world.path("absolute")).unwrap();
    symlink("up/secret.txt", world.path("twice")).unwrap();
    symlink("../new.txt", world.path("dangling")).unwrap();
    for path in ["file", "up/secret.txt", "absolute/secret.txt", "twice", "up/work/../secret.txt"] {
        world.error("read_file", &json!({"path": path}));
        world.error("write_file", &json!({"path": path, "content": "gotcha"}));
    }
    for path in ["dangling", "up/new.txt", "absolute/folder/new.txt"] {
        world.error("write_file", &json!({"path": path, "content": "gotcha"}));
    }
    for path in ["up/secret.txt", "absolute/secret.txt"] {
        world.error("delete_file", &json!({"path": path}));
    }
    world.error("list_files", &json!({"path": "up"}));
    world.assert_untouched();

    // A symlink itself can be seen and deleted, and a symlink to a target inside can be followed.
    let ToolResult::Success(listing) = world.call("list_files", &json!({})) else { panic!("no listing") };
    assert!(listing.as_array().unwrap().iter().all(|entry| entry["kind"] == "symlink"), "{listing}");
    assert_eq!(
        world.call("delete_file", &json!({"path": "file"})),
        ToolResult::Success(json!({"path": "file"}))
    );
    world.assert_untouched();
    fs::write(world.path("inside.txt"), "inside").unwrap();
    symlink("inside.txt", world.path("alias")).unwrap();
    assert_eq!(world.call("read_file", &json!({"path": "alias"})), ToolResult::Success(json!("inside")));
}

/// The check and the use are one: a folder that turns into a symlink and back while a tool runs gives no access outside.
#[cfg(unix)]
#[test]
fn a_folder_that_is_swapped_for_a_symlink_lets_nothing_out() {
    use std::os::unix::fs::symlink;
    let world = World::new();
    fs::create_dir(world.path("real")).unwrap();
    fs::write(world.path("real/secret.txt"), "decoy").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = {
        let (stop, work) = (Arc::clone(&stop), world.path(""));
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                fs::rename(work.join("real"), work.join("door")).unwrap();
                fs::rename(work.join("door"), work.join("real")).unwrap();
                symlink("..", work.join("door")).unwrap();
                fs::remove_file(work.join("door")).unwrap();
            }
        })
    };
    for _ in 0..2_000 {
        if let ToolResult::Success(text) = world.call("read_file", &json!({"path": "door/secret.txt"})) {
            assert_eq!(text, json!("decoy"));
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    world.assert_untouched();
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_and_does_not_block() {
    let world = World::new();
    let made = std::process::Command::new("mkfifo").arg(world.path("pipe")).status().unwrap();
    assert!(made.success());
    insta::assert_snapshot!(
        world.error("read_file", &json!({"path": "pipe"})),
        @r#"cannot read "pipe": it is a special file, not a file"#
    );
    world.error("write_file", &json!({"path": "pipe", "content": "x"}));
}

#[test]
fn sizes_and_bytes_are_limited() {
    let world = World::new();
    fs::write(world.path("large"), "x".repeat(65)).unwrap();
    fs::write(world.path("binary"), b"ab\xff").unwrap();
    fs::create_dir(world.path("folder")).unwrap();
    insta::assert_snapshot!(
        [
            world.error("read_file", &json!({"path": "large"})),
            world.error("read_file", &json!({"path": "binary"})),
            world.error("read_file", &json!({"path": "folder"})),
            world.error("read_file", &json!({"path": "absent"})),
            world.error("write_file", &json!({"path": "new", "content": "x".repeat(65)})),
            world.error("write_file", &json!({"path": "folder", "content": "x"})),
            world.error("write_file", &json!({"path": "large/x", "content": "x"})),
        ]
        .join("\n"),
        @r#"
    cannot read "large": expected at most 64 bytes, got more; split the file; for another run, `tools.files.max_bytes` of an agent or `limits.max_file_bytes` of a scenario, at most 67108864, sets the limit
    cannot read "binary": byte 2 is no UTF-8
    cannot read "folder": it is a folder, not a file
    cannot read "absent": No such file or directory (os error 2)
    cannot write "new": expected at most 64 bytes, got 65; split the file; for another run, `tools.files.max_bytes` of an agent or `limits.max_file_bytes` of a scenario, at most 67108864, sets the limit
    cannot write "folder": it is a folder, not a file
    cannot write "large/x": File exists (os error 17)
    "#
    );
    assert!(!world.path("new").exists());
}

#[test]
fn wrong_arguments_and_unknown_tools_are_answers() {
    let world = World::new();
    insta::assert_snapshot!(
        [
            world.error("read_file", &json!({})),
            world.error("read_file", &json!({"path": 7})),
            world.error("write_file", &json!({"path": "a", "content": "b", "mode": 511})),
            world.error("format_disk", &json!({})),
        ]
        .join("\n"),
        @r#"
    the arguments are not those of read_file: missing field `path`
    the arguments are not those of read_file: invalid type: integer `7`, expected a string
    the arguments are not those of write_file: unknown field `mode`, expected `path` or `content`
    there is no tool "format_disk": expected one of list_files, read_file, write_file, delete_file
    "#
    );
}

/// A server refuses an object schema without `properties`, and a model without descriptions guesses.
#[test]
fn each_file_tool_has_a_strict_schema_with_descriptions() {
    use runstate_agent::SchemaCheck;
    for spec in super::specs() {
        let name = spec.name();
        let schema = spec.schema().unwrap_or_else(|| panic!("{name} has no schema"));
        assert_eq!(schema["additionalProperties"], false, "{name}");
        for (field, of) in schema["properties"].as_object().unwrap() {
            assert!(of["description"].as_str().is_some_and(|about| !about.is_empty()), "{name}: {field}");
        }
        let arguments = match name {
            "list_files" => json!({}),
            "write_file" => json!({"path": "a", "content": "b"}),
            _ => json!({"path": "a"}),
        };
        let schemas = runstate_schema::JsonSchemas::new();
        assert_eq!(schemas.check(schema, &arguments), Ok(()), "{name}");
        assert!(schemas.check(schema, &json!({"path": "a", "content": "b", "mode": 511})).is_err(), "{name}");
    }
}

/// One bad name must not hide the others, and is reported.
#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_no_text_is_listed_as_such() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    fs::write(world.path("").join(std::ffi::OsStr::from_bytes(b"a\xff")), "x").unwrap();
    fs::write(world.path("b"), "x").unwrap();
    let ToolResult::Success(listing) = world.call("list_files", &json!({})) else { panic!("no listing") };
    assert_eq!(listing[0]["name"], "a\u{fffd}");
    assert_eq!(listing[0]["no_tool_can_name_it"], "its name is no UTF-8");
    assert_eq!(listing[1], json!({"name": "b", "kind": "file", "bytes": 1}));
}

#[test]
fn the_files_of_a_run_give_64_mib_and_no_more() {
    let root = TempDir::new().unwrap();
    let tools = Tools::open(root.path(), 64 << 20).unwrap();
    let file =
        |name: &str, bytes: u64| fs::File::create(root.path().join(name)).unwrap().set_len(bytes).unwrap();
    file("half", 32 << 20);
    file("one", 1);
    let read = |name: &str| tools.call("read_file", &json!({ "path": name }));
    for _ in 0..2 {
        assert!(matches!(read("half"), ToolResult::Success(_)));
    }
    let ToolResult::Error(refused) = read("one") else { panic!("it is one byte more") };
    assert!(
        refused.contains(
            "expected at most 67108864 bytes from the files of this run, got 67108865 with this file"
        ),
        "{refused}"
    );
    // Names count as well.
    let ToolResult::Error(refused) = tools.call("list_files", &json!({ "path": "." })) else {
        panic!("listed")
    };
    assert!(refused.starts_with("cannot list \".\": expected at most 67108864 bytes"), "{refused}");
}

#[cfg(feature = "agents")]
#[test]
fn preview_has_the_content_that_changes_and_the_place() {
    let root = TempDir::new().unwrap();
    let tools = Tools::open(root.path(), 64).unwrap().with_previews();
    let path = |name: &str| root.path().join(name);
    let write = |name: &str, content: &str| {
        tools.preview("write_file", &json!({ "path": name, "content": content })).unwrap().to_string()
    };
    let delete = |name: &str| tools.preview("delete_file", &json!({ "path": name })).unwrap().to_string();
    assert_eq!(write("new.md", "one\n"), "new.md (a new file)\n@@ -0,0 +1 @@\n+one\n");
    assert_eq!(write("new.md", ""), "\"new.md\": a new, empty file");
    assert_eq!(delete("new.md"), "\"new.md\": there is no file");
    fs::write(path("a.md"), "one\n").unwrap();
    assert_eq!(write("a.md", "one\n"), "\"a.md\": no change");
    assert_eq!(delete("a.md"), "a.md\n@@ -1 +0,0 @@\n-one\n");
    assert_eq!(write("b\n+c", "x\n").lines().next(), Some("b\\u{a}+c (a new file)"));

    // The content of a file that is no text, or too large, is bound by its digest.
    for content in [&b"\xff one"[..], &[b'a'; 100]] {
        fs::write(path("odd"), content).unwrap();
        let before = delete("odd");
        assert!(
            before.contains("the present content is not shown") && before.contains("sha256:"),
            "{before}"
        );
        let mut other = content.to_vec();
        *other.last_mut().unwrap() = b'z';
        fs::write(path("odd"), other).unwrap();
        assert_ne!(before, delete("odd"));
    }
    let many = "a\n".repeat(30);
    assert!(
        super::changes("a", &many.repeat(1_000), "a\n")
            .to_string()
            .contains("30000 lines with the digest sha256:")
    );

    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;

        for (folder, link) in [("d1", "d"), ("d2", "e")] {
            fs::create_dir(path(folder)).unwrap();
            symlink(folder, path(link)).unwrap();
        }
        assert!(
            write("d/f", "x\n").starts_with("d/f (behind a link: d1/f) (a new file)\n"),
            "{}",
            write("d/f", "x\n")
        );
        fs::write(path("d2/f"), "x\n").unwrap();
        assert!(delete("e/f").starts_with("e/f (behind a link: d2/f)\n"), "{}", delete("e/f"));
        symlink("a.md", path("link")).unwrap();
        assert_eq!(delete("link"), "\"link\": the link is deleted, and not its target");
    }
}
