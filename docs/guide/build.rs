//! Writes the files of each chapter to the folder of the build, as a reader would.

#[path = "unpack.rs"]
mod unpack;

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const CHAPTERS: [&str; 4] = ["parcel", "connection", "order", "agent"];

fn main() -> io::Result<()> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?);
    println!("cargo::rerun-if-changed=unpack.rs");
    for chapter in CHAPTERS {
        let page = format!("src/{chapter}.md");
        println!("cargo::rerun-if-changed={page}");
        for file in unpack::files(&fs::read_to_string(&page)?) {
            write(&out.join(chapter).join(&file.path), &file.last())?;
            write(&out.join(chapter).join("first").join(&file.path), &file.first())?;
        }
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}
