//! `runstate governed verify-ledger`

use std::io::BufRead;
use std::path::{Path, PathBuf};

use runstate_governed::{LedgerFault, LedgerFaultKind, LedgerReport, verify_ledger};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::governed::Runs;
use crate::input;
use crate::output::{Output, printable};

/// Check each line of a ledger against the previous one
///
/// Each line has its digest and the digest of the previous line. The first line that was changed, removed or inserted is
/// named. A ledger with an unreadable end was set aside, and the first line of the next ledger names it: each such file is
/// verified, too. A missing end is not detected: `recover` compares the ledger with a run. With --key-file, each line needs a
/// tag of one of the keys. Without a key, a completely rewritten ledger is not detected.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate governed verify-ledger RUN_LEDGER.jsonl")]
pub(super) struct Args {
    /// The ledger. `-` reads standard input. Default: the ledger of --state-dir
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
        // A ledger may name itself, or one that was already verified.
        if before.is_file() && !seen.iter().any(|path| Path::new(path) == before) {
            let from = input::open(&before.to_string_lossy())
                .map_err(|error| Failure::io("read", &before, &error))?;
            next = Some((before.to_string_lossy().into_owned(), from));
        }
    }
    Ok(if is_sound { Exit::Good } else { Exit::Bad })
}

/// Reports a sound ledger. Returns the path of the ledger that it continues.
fn told(path: &str, report: &LedgerReport, out: &mut Output) -> Option<PathBuf> {
    out.line(&format!("{path}: {} lines, {} of them chained, all sound", report.lines, report.chained));
    let loose = report.lines - report.chained;
    if loose > 0 {
        out.line(&format!(
            "  note: the first {loose} lines have no digest: a change of them is not detected"
        ));
    }
    let before = report.continues.as_ref()?;
    out.line(&printable(&format!(
        "  note: it continues {}, of {} bytes, which was set aside because of an unreadable line",
        before.file, before.bytes
    )));
    // The name is from the ledger: it is a file of the same folder, not a path.
    let name =
        Path::new(&before.file).file_name().filter(|name| *name == before.file.as_str() && path != "-")?;
    Some(Path::new(path).with_file_name(name))
}

/// The content of a ledger; `None` with a bad line, which is named.
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
