//! `runstate worker`

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use runstate_agent::CancellationToken;
use runstate_runtime::clock::unix_clock;
use runstate_store::Worker;
use tokio::task::JoinHandle;

use super::time::time;
use crate::agents::AgentFiles;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::host::RunExecutor;
use crate::machine;
use crate::output::complain;
use crate::signals::Signals;
use crate::store::{Missing, StoreArgs, end_leases};

/// Drive the ready runs of a store
///
/// A worker claims new runs, interrupted runs, and runs with a decision, a message or a cancellation. It cancels calls with
/// an expired question. It parks runs that wait for decisions. Any number of workers can share a store, and one worker drives
/// a run at a time. Other workers take over the runs of a killed worker when its leases end; on Linux, workers of the same
/// machine take them over within 5 s, or within --poll if that is longer.
///
/// Time is real. The model and the tools are those of the run's scenario, or of its agent file. A run of an agent is driven
/// only if a file in the folder of --agents has the text of its agent file. The scenario's `decisions`, `outside` and
/// `when_suspended` have no effect: decisions come from `runstate approve`, `deny` and `cancel`, and waiting runs are parked.
///
/// SIGTERM and Ctrl-C drain the worker: it claims no further run, and releases each run at the next commit at which no tool
/// executes. A second signal ends the worker immediately.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate worker
  runstate worker --once --store sqlite:runs.db

Exit codes:
  0  the worker is drained; with --once, no run is ready
  1  with --once: a claimed run could not be driven, or a run is unreadable
  2  the store or another argument is unusable")]
pub(crate) struct Args {
    /// Drive the runs that are ready now, and end. A run that cannot be driven is tried once
    #[arg(long)]
    once: bool,
    /// The folder of the agent files that this worker may execute. A run of another agent file waits
    #[arg(long, value_name = "DIR")]
    agents: Option<PathBuf>,
    /// The maximum number of runs that are driven at a time. Default: 16
    #[arg(long, value_name = "RUNS", default_value_t = 16, hide_default_value = true, value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,
    /// The duration of the lease on a run. The worker renews its leases. Other workers take over a run when its lease ends.
    /// Default: 30s
    #[arg(long, value_name = "TIME", default_value = "30s", hide_default_value = true, value_parser = time)]
    lease: Duration,
    /// The interval of polling for expired questions, expired leases and delayed runs, and for ready runs in a store without
    /// notifications. Default: 1s
    #[arg(long, value_name = "TIME", default_value = "1s", hide_default_value = true, value_parser = time)]
    poll: Duration,
    /// The delay before the next try of a run that could not be driven. Default: 30s
    #[arg(long, value_name = "TIME", default_value = "30s", hide_default_value = true, value_parser = time)]
    retry_delay: Duration,
    #[command(flatten)]
    place: StoreArgs,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let opened = if args.once { args.place.open(Missing::Make)? } else { args.place.open_waiting()? };
    let clock = unix_clock();
    if let Some(folder) = args.agents.as_deref().filter(|folder| !folder.is_dir()) {
        return Err(Failure::new(format!("--agents: {} is no folder", folder.display())));
    }
    let agents = args.agents.clone().map_or(AgentFiles::None, AgentFiles::Folder);
    let host = RunExecutor::new(clock, opened.state_dir().map(Path::to_owned), Arc::clone(opened.marks()))
        .with_agents(agents);
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
        end_leases(&*opened.store).await.ok();
        let (store, every) = (Arc::clone(&opened.store), args.poll.max(LEAST_PAUSE));
        let others = async move {
            loop {
                tokio::time::sleep(every).await;
                end_leases(&*store).await.ok();
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
    complain(
        "draining: no further run is claimed, and runs are released at their next commits; a second signal ends the worker immediately",
    );
    drain.cancel();
    let code = signals.next().await;
    crate::agents::end_commands();
    std::process::exit(code);
}
