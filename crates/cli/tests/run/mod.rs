//! `runstate run` and `runstate resume`: scenarios as they are driven here.

mod answers;
mod ends;
mod example;
mod refused;

use std::fs;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tidy-folder.yaml");

/// Two deletions that nothing decides.
pub(crate) const UNDECIDED: &str = "\
name: undecided
message: tidy up
approve: [delete_file]
model:
  - calls:
      - {id: make, tool: write_file, arguments: {path: a.txt, content: one}}
      - {id: rm_a, tool: delete_file, arguments: {path: a.txt}}
      - {id: rm_b, tool: delete_file, arguments: {path: b.txt}}
  - text: done
";

/// The names and contents of a folder's files.
fn files(folder: &std::path::Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}
