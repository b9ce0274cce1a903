//! What the guide says of code that does not compile.

#[path = "../../docs/guide/unpack.rs"]
#[allow(dead_code, reason = "the guide itself uses the rest")]
mod unpack;

use std::fs;
use std::path::Path;

use super::rustc::{Against, compile, scratch};
use unpack::{blocks, files};

/// Writes the files of a page, and compiles `src/lib.rs` with this text at its end.
fn compile_page(page: &str, folder: &Path, added: &str, illegal: bool) -> Result<(), String> {
    for file in files(page) {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, file.last()).unwrap();
    }
    let lib = folder.join("src/lib.rs");
    fs::write(&lib, fs::read_to_string(&lib).unwrap() + added).unwrap();
    compile(&lib, Against::Kernel, illegal)
}

/// A line of the compiler without the number of its source line and without its columns, as the pages show it.
fn shown(line: &str) -> String {
    let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The compiler says each line of the text that the page shows.
fn assert_says(said: &str, text: &str) {
    let said: Vec<_> = said.lines().map(shown).collect();
    for line in text.lines() {
        assert!(
            said.contains(&shown(line)),
            "the page shows {line:?}, the compiler says:\n{}",
            said.join("\n")
        );
    }
}

/// The code below the line that ends so does not compile, and the block after it has the words of the compiler.
fn assert_refused(name: &str, page: &str) {
    let folder = scratch("guide").join(name);
    compile_page(page, &folder, "", false).unwrap_or_else(|said| panic!("{name}: {said}"));
    let blocks = blocks(page);
    let at = blocks.iter().position(|block| block.lead.ends_with("compile:")).unwrap();
    let said = compile_page(page, &folder, &blocks[at].text, true).expect_err("the illegal code compiles");
    assert_says(&said, &blocks[at + 1].text);
}

#[test]
fn an_illegal_step_of_a_parcel_fails_as_shown() {
    assert_refused("parcel", include_str!("../../docs/guide/src/parcel.md"));
}

#[test]
fn a_stored_connection_fails_as_shown() {
    assert_refused("connection", include_str!("../../docs/guide/src/connection.md"));
}

#[test]
fn a_changed_diagram_of_a_parcel_fails_as_shown() {
    let page = include_str!("../../docs/guide/src/parcel.md");
    let changed = page.replace(" : lose\n", " : mislay\n");
    let folder = scratch("guide").join("changed");
    let said = compile_page(&changed, &folder, "", true).expect_err("the changed diagram compiles");
    let shown = blocks(page).into_iter().find(|block| block.lead.contains("`mislay`"));
    assert_says(&said, &shown.unwrap().text);
}
