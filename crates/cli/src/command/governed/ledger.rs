//! `runstate governed verify-ledger`

use std::io::BufRead;
use std::path::{Path, PathBuf};

use runstate::governed::{LedgerFault, LedgerFaultKind, LedgerReport, verify_ledger};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::governed::Runs;
use crate::input;
use crate::output::{Output, printable};

/// Hold each line of a ledger against the one before
///
/// Each line has the digest of the one before and its own; the first line that was changed, taken out or put in is named. A ledger
/// whose end could not be read was set aside, and the next one says so in its first line: it is verified too while it is there, and so is each one before.
/// That the end is missing is not seen here: `recover` holds the ledger against a run. With --key-file each line must be under
/// one of the keys; without, a ledger that was written anew is not found out.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate governed verify-ledger RUN_LEDGER.jsonl")]
pub(super) struct Args {
    /// The ledger; `-` reads standard input [default: that of --state-dir]
    ledger: Option<String>,
}

pub(super) fn verify(args: &Args, runs: &Runs, out: &mut Output) -> Result<Exit, Failure> {
    let path = match &args.ledger {
        Some(path) => path.clone(),
        None => runs.folders().ledger().to_string_lossy().into_owned(),
    };
    let from = input::open(&path).map_err(|error| input::unreadable(&path, &error))?;
    let mut next: Option<(String, Box<dyn BufRead>)> = Some((path, Box::new(from)));
    let (mut is_sound, mut seen) = (true, Vec::new());
    while let Some((path, from)) = next.take() {
        let report = verified(&path, from, runs, out)?;
        is_sound &= report.is_some();
        let Some(before) = report.and_then(|report| told(&path, &report, out)) else { break };
        seen.push(path);
        // A ledger may name itself, or one that was looked at.
        if before.is_file() && !seen.iter().any(|path| Path::new(path) == before) {
            let from = input::open(&before.to_string_lossy())
                .map_err(|error| Failure::io("read", &before, &error))?;
            next = Some((before.to_string_lossy().into_owned(), from));
        }
    }
    Ok(if is_sound { Exit::Good } else { Exit::Bad })
}

/// Tells of a sound ledger. Returns the path of the one that it continues.
fn told(path: &str, report: &LedgerReport, out: &mut Output) -> Option<PathBuf> {
    out.line(&format!("{path}: {} lines, {} of them chained, all sound", report.lines, report.chained));
    let loose = report.lines - report.chained;
    if loose > 0 {
        out.line(&format!(
            "  note: nothing tells whether one of the first {loose} lines was changed: they have no digest"
        ));
    }
    let before = report.continues.as_ref()?;
    out.line(&printable(&format!(
        "  note: it continues {}, of {} bytes, which could not be read on and was set aside",
        before.file, before.bytes
    )));
    // The name is from the ledger: it is one of the same folder, and no path.
    let name =
        Path::new(&before.file).file_name().filter(|name| *name == before.file.as_str() && path != "-")?;
    Some(Path::new(path).with_file_name(name))
}

/// The content of a ledger; none where a line is bad, which is named.
fn verified(
    path: &str,
    from: impl BufRead,
    runs: &Runs,
    out: &mut Output,
) -> Result<Option<LedgerReport>, Failure> {
    match verify_ledger(from, runs.keys.as_ref()) {
        Ok(report) => Ok(Some(report)),
        Err(LedgerFault { why: LedgerFaultKind::Io(error), .. }) => {
            Err(Failure::io("read", Path::new(path), &error))
        }
        Err(fault) => {
            out.line(&printable(&format!("{path}: {fault}")));
            Ok(None)
        }
    }
}
