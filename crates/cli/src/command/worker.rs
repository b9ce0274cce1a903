//! `runstate worker`

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use runstate::run::RunStatus;
use runstate_agent::CancellationToken;
use runstate_runtime::clock::unix_clock;
use runstate_store::Worker;
use tokio::task::JoinHandle;

use super::time::time;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::host::ScenarioExecutor;
use crate::machine;
use crate::output::complain;
use crate::signals::Signals;
use crate::store::{Missing, StoreArgs, end_leases};

/// Drive the runs of a store: those that can go on, and those whose decisions have come
///
/// It claims runs that have not begun, that were interrupted, that somebody decided about or cancelled; gives up calls that
/// nobody decided in time; and parks what waits. Any number of workers may share a store; each run is driven by one at a
/// time. A worker that is killed loses its runs to others once its leases are over, on Linux at once to a worker
/// of the same machine.
///
/// Time is real. Model and tools are those of the run's scenario; its `decisions` and what it lets come from `outside` are
/// left out: here they come from people, with `runstate approve`, `deny` and `cancel`. A run that waits is parked, whatever
/// the scenario says about that.
///
/// SIGTERM and Ctrl-C drain it: it claims no more, and gives each run back at its next commit at which no tool executes. A
/// second one ends it at once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate worker
  runstate worker --once --store sqlite:runs.db

Exit codes:
  0  drained; with --once, nothing more can go on
  1  with --once: a run that it took could not be driven, or one cannot be read
  2  the store, or another argument, cannot be used")]
pub(crate) struct Args {
    /// Drive the runs that can go on now, and end; a run that cannot be driven is tried once
    #[arg(long)]
    once: bool,
    /// Drive at most so many runs at once
    #[arg(long, value_name = "RUNS", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,
    /// Keep runs in hand for so long at a time: others go on with those of a worker that is gone after this
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = time)]
    lease: Duration,
    /// Look for work so often: calls that lapsed, leases that are over and runs that were put off are found by looking, and
    /// so is anything else where the store tells no news
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = time)]
    poll: Duration,
    /// Try again after this time what could not be driven
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = time)]
    retry_delay: Duration,
    #[command(flatten)]
    place: StoreArgs,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let opened = if args.once { args.place.open(Missing::Make)? } else { args.place.open_waiting()? };
    let clock = unix_clock();
    let host =
        ScenarioExecutor::new(clock, opened.state_dir().map(Path::to_owned), Arc::clone(opened.marks()));
    let drain = CancellationToken::new();
    opened.handle().spawn(hear_signals(drain.clone()));
    let worker = Worker::new(Arc::clone(&opened.store), machine::holder())
        .clock(clock)
        .lease(args.lease)
        .poll(args.poll)
        .retry_delay(args.retry_delay)
        .concurrency(usize::from(args.concurrency));
    complain(&format!("{} drives the runs of {}", machine::holder(), opened.url()));
    opened.ask(async {
        // A process that was killed leaves its leases. In the worst case their time is waited for.
        end_leases(&*opened.store, &[RunStatus::Running, RunStatus::Waiting]).await.ok();
        let (store, every) = (Arc::clone(&opened.store), args.poll.max(LEAST_PAUSE));
        let others = async move {
            loop {
                tokio::time::sleep(every).await;
                end_leases(&*store, &[RunStatus::Running]).await.ok();
            }
        };
        let _others = Aborted(tokio::spawn(others));
        if args.once { worker.run_ready_until(&host, drain).await } else { worker.run(&host, drain).await }
    })?;
    Ok(if args.once && host.has_left() { Exit::Bad } else { Exit::Good })
}

/// The least interval between two checks for leases of processes that have ended.
const LEAST_PAUSE: Duration = Duration::from_secs(5);

/// A task that is aborted when this value is dropped.
struct Aborted(JoinHandle<()>);

impl Drop for Aborted {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Waits for signals. The first signal drains the worker; the second one ends the process.
async fn hear_signals(drain: CancellationToken) {
    let Ok(mut signals) = Signals::new() else { return };
    signals.next().await;
    complain("no more is claimed; runs are given back at their next commits; again to leave at once");
    drain.cancel();
    let code = signals.next().await;
    std::process::exit(code);
}
