//! `runstate governed verify-ledger`

use std::path::Path;

use runstate::governed::{LedgerFaultKind, verify_ledger};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::governed::Runs;
use crate::input;
use crate::output::Output;

/// Hold each line of a ledger against the one before
///
/// Each line has the digest of the one before and its own; the first line that was changed, taken out or put in is named.
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
    let from = input::open(&path).map_err(|error| Failure::io("read", Path::new(&path), &error))?;
    match verify_ledger(from, runs.keys()) {
        Ok(report) => {
            out.line(&format!(
                "{path}: {} lines, {} of them chained, all sound",
                report.lines, report.chained
            ));
            let loose = report.lines - report.chained;
            if loose > 0 {
                out.line(&format!("  note: nothing tells whether one of the first {loose} lines was changed: they have no digest"));
            }
            Ok(Exit::Good)
        }
        Err(fault) => match fault.why {
            LedgerFaultKind::Io(error) => Err(Failure::io("read", Path::new(&path), &error)),
            _ => {
                out.line(&crate::output::printable(&format!("{path}: {fault}")));
                Ok(Exit::Bad)
            }
        },
    }
}
