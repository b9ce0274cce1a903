//! `runstate seal FILE`

use std::path::Path;

use runstate::snapshot::Snapshot;
use runstate_agent::StoredRun;
use serde_json::{Value, json};

use crate::builtin;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{self, TEXT_LIMIT, Text};
use crate::output::{Output, printable};
use crate::runs;

/// Recompute the digests of the snapshots in a file, after an edit by hand
///
/// A snapshot has a digest of its content, and a snapshot with a wrong digest is refused when it is read. After a deliberate
/// edit this command recomputes the digest of every snapshot in the file, in any place. A snapshot of a built-in lifecycle is
/// checked first; if it cannot be restored, nothing is written. To edit a snapshot of a store, read it from its table, give
/// it to this command on standard input, and write the output to the table.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate seal state.json
  sqlite3 runs.db \"SELECT snapshot FROM calls WHERE name = 'rm_draft'\" | runstate seal -

Exit codes:
  0  sealed; a snapshot with its digest stays as it is
  2  the file is unusable: it has no snapshot, or a snapshot that cannot be
     restored")]
pub(crate) struct Args {
    /// The file. `-` reads standard input and writes standard output
    file: String,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let source = input::read_text(&args.file, TEXT_LIMIT)?;
    let mut document: Value = input::json(&source)?;
    let mut sealed = Vec::new();
    seal_all(&mut document, String::new(), &mut sealed).map_err(|error| at(&source, &error))?;
    if sealed.is_empty() {
        return Err(Failure::new(format!("{}: expected a snapshot, got none", source.name)).with_help(
            "a snapshot is an object with lifecycle, version, fingerprint, status, record, state and digest",
        ));
    }
    let text = if source.text.trim_end().contains('\n') {
        format!("{document:#}\n")
    } else {
        format!("{document}\n")
    };
    if args.file == "-" {
        out.json_line(text.trim_end());
        return Ok(Exit::Good);
    }
    if sealed.iter().any(|one| one.changed) {
        let path = Path::new(&args.file);
        runs::replace(path, text.as_bytes()).map_err(|error| Failure::io("write", path, &error))?;
    }
    for Sealed { place, what, changed } in sealed {
        let done = if changed { "sealed" } else { "already sealed" };
        out.line(&printable(&format!("{}#{place}: {what}: {done}", source.name)));
    }
    Ok(Exit::Good)
}

/// A found snapshot.
struct Sealed {
    /// Its JSON pointer.
    place: String,
    what: String,
    changed: bool,
}

/// Why a snapshot is not recomputed: its JSON pointer, and the reason.
struct Unsound {
    place: String,
    why: String,
}

/// Traverses the document; serde_json has refused any nesting deeper than 128.
fn seal_all(value: &mut Value, place: String, sealed: &mut Vec<Sealed>) -> Result<(), Unsound> {
    // No other object has these fields, so an object with them that is no snapshot is a manual error.
    let has = |field: &str| value.get(field).is_some() && value.get("digest").is_some();
    let seal: Option<fn(Value) -> Resealed> = match (has("__run"), has("lifecycle")) {
        (true, _) => Some(seal_run),
        (false, true) => Some(seal_snapshot),
        (false, false) => None,
    };
    if let Some(seal) = seal {
        return match seal(value.take()) {
            Ok((with_new_checksum, what, changed)) => {
                *value = with_new_checksum;
                sealed.push(Sealed { place, what, changed });
                Ok(())
            }
            Err(why) => Err(Unsound { place, why }),
        };
    }
    match value {
        Value::Object(fields) => fields
            .iter_mut()
            .try_for_each(|(key, field)| seal_all(field, format!("{place}/{}", escaped(key)), sealed)),
        Value::Array(items) => items
            .iter_mut()
            .enumerate()
            .try_for_each(|(i, item)| seal_all(item, format!("{place}/{i}"), sealed)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// The recomputed value with its description, and whether its checksum differed; or the reason of a refusal.
type Resealed = Result<(Value, String, bool), String>;

fn seal_snapshot(value: Value) -> Resealed {
    let mut snapshot: Snapshot =
        serde_json::from_value(value).map_err(|error| format!("expected a snapshot: {error}"))?;
    let changed = snapshot.verify().is_err();
    snapshot.recompute_checksum();
    let what = format!("{} in {}", snapshot.lifecycle(), snapshot.status());
    if let Some(Err(why)) = builtin::restores(&snapshot) {
        return Err(format!("this {what} cannot be restored: {why}"));
    }
    Ok((json!(snapshot), what, changed))
}

/// A stored run has a checksum around those of its machines.
fn seal_run(value: Value) -> Resealed {
    let before = value.clone();
    let mut stored: StoredRun =
        serde_json::from_value(value).map_err(|error| format!("expected a stored run: {error}"))?;
    stored.recompute_checksum();
    let what = format!("run in {}", stored.status());
    stored.restore().map_err(|why| format!("this {what} cannot be restored: {why}"))?;
    let value = json!(stored);
    let changed = value != before;
    Ok((value, what, changed))
}

/// A key within a JSON pointer (RFC 6901).
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn at(source: &Text, error: &Unsound) -> Failure {
    Failure::new(format!("{}#{}: {}", source.name, error.place, error.why))
        .with_help("nothing was written; undo or correct the change")
}
