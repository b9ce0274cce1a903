//! Compiles one file against the library.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

/// The crates that a case can use, and where their metadata is.
const CRATES: [&str; 3] = ["runstate", "runstate_agent", "serde"];

type Metadata = BTreeMap<String, PathBuf>;

/// What a case is compiled against.
#[derive(Clone, Copy)]
pub(super) enum Against {
    /// The kernel and snapshots. The compiler offers similar impls, which are not to come from our own lifecycles.
    Kernel,
    /// The library with its default features, and the driver of agent runs.
    Library,
}

static KERNEL: LazyLock<Metadata> =
    LazyLock::new(|| check_library("runstate", &["--no-default-features", "--features=snapshot"]));
static LIBRARY: LazyLock<Metadata> = LazyLock::new(|| check_library("runstate-agent", &[]));

/// The target directory of the build under test.
fn target_dir() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("cargo's temporary folder is in the target folder")
}

/// A folder for what a case makes.
pub(super) fn scratch(case: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_fail").join(case);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// Lets cargo check the library, and reads from its messages where the metadata of the crates is. Looking for files
/// would not do: a target folder holds one for each set of features.
fn check_library(package: &str, features: &[&str]) -> Metadata {
    let check = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["check", "--quiet", "--package", package, "--lib", "--message-format=json", "--target-dir"])
        .arg(target_dir())
        .args(features)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
    let mut found = BTreeMap::new();
    for line in check.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let message: Value = serde_json::from_slice(line).unwrap();
        let name = message["target"]["name"].as_str().unwrap_or_default();
        let file = message["filenames"][0].as_str().unwrap_or_default();
        if CRATES.contains(&name) && file.ends_with(".rmeta") {
            found.insert(name.to_owned(), PathBuf::from(file));
        }
    }
    let crates = if package == "runstate" { CRATES.len() - 1 } else { CRATES.len() };
    assert_eq!(found.len(), crates, "cargo told of {found:?}");
    found
}

/// Type-checks `source` as a library; the error is what the compiler says.
///
/// In the twin that must compile a warning is an error too.
pub(super) fn compile(source: &Path, against: Against, illegal: bool) -> Result<(), String> {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--color=never"]);
    rustc.args(["--diagnostic-width=140", "--check-cfg=cfg(illegal,test)"]);
    // The cases are those of a foreign package.
    rustc.env("CARGO_PKG_NAME", "shop");
    rustc.args(if illegal {
        ["--cfg=illegal", "--cap-lints=allow"]
    } else {
        ["-Dwarnings", "-Wunreachable_pub"]
    });
    let metadata = match against {
        Against::Kernel => &*KERNEL,
        Against::Library => &*LIBRARY,
    };
    for (name, path) in metadata {
        rustc.arg("--extern").arg(format!("{name}={}", path.display()));
        rustc.arg("-L").arg(format!("dependency={}", path.parent().unwrap().display()));
    }
    // A build of the library beside that one, which is another crate to the compiler.
    if std::fs::read_to_string(source).unwrap().contains("second::") {
        rustc.arg("--extern").arg(format!("second={}", KERNEL["runstate"].display()));
    }
    let name = source.file_stem().unwrap().to_str().unwrap();
    let out = scratch("out").join(format!("{name}-{illegal}.rmeta"));
    let output = rustc
        .arg("-o")
        .arg(out)
        .arg(source.file_name().unwrap())
        .current_dir(source.parent().unwrap())
        .output()
        .unwrap();
    if output.status.success() {
        return Ok(());
    }
    Err(without_paths(&without_kernel(&String::from_utf8(output.stderr).unwrap())))
}

/// The text with `Run<Waiting>` for `runstate::run::Run<runstate::run::Waiting>`: the compiler writes the one or the
/// other, as there is another type of that name anywhere in the library or not.
fn without_paths(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while let Some(at) = rest.find("runstate::").filter(|_| !line.contains("use runstate::")) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            while let Some((module, item)) = rest.split_once("::")
                && module.chars().all(|c| c.is_ascii_lowercase() || c == '_')
            {
                rest = item;
            }
        }
        out.push_str(rest);
    }
    out
}

/// The text less the kernel's line numbers and source, which are no promise.
fn without_kernel(text: &str) -> String {
    let mut out = String::new();
    let mut in_kernel = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if let Some(place) = trimmed.strip_prefix("--> ").or_else(|| trimmed.strip_prefix("::: ")) {
            in_kernel = place.starts_with("src/") || place.starts_with("crates/");
            let place = if in_kernel { place.split(':').next().unwrap_or(place) } else { place };
            let arrow = &line[..line.len() - trimmed.len() + 4];
            out.push_str(arrow);
            out.push_str(place);
            out.push('\n');
            continue;
        }
        let is_source =
            trimmed.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().starts_with('|')
                || trimmed == "...";
        in_kernel &= is_source;
        if !in_kernel {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}
