//! The compiler's words, pinned in files.

use std::path::{Path, PathBuf};

/// Where the cases and the pinned texts are.
pub(super) fn ui(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui").join(path)
}

/// The text without the number of further types that it does not name: each type of the library changes that number.
fn without_counts(said: &str) -> String {
    let line =
        |line: &str| match line.trim().strip_prefix("and ").and_then(|rest| rest.strip_suffix(" others")) {
            Some(count) if count.parse::<u32>().is_ok() => line.replace(count, "N"),
            _ => line.to_owned(),
        };
    said.lines().map(|text| line(text) + "\n").collect()
}

/// Compares what the compiler said with `tests/ui/{case}.stderr`; with `BLESS` in the environment, writes it there.
pub(super) fn assert_pinned(case: &str, said: &str) {
    let path = ui(&format!("{case}.stderr"));
    let said = without_counts(said);
    if std::env::var_os("BLESS").is_some() && std::env::var_os("CI").is_none() {
        std::fs::write(&path, said).unwrap();
        return;
    }
    let pinned = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        said == pinned,
        "{case} does not fail in the pinned words; if the new ones are better, pin them with \
         `BLESS=1 cargo test --test lib compile_fail`\n--- pinned\n{pinned}\n--- now\n{said}"
    );
}

/// The names of the files with that extension in a folder of the cases, sorted.
pub(super) fn names(folder: &str, extension: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(ui(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}
