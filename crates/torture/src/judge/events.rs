//! Events are numbered without a gap over all processes, and report each commit and each end.

use runstate::run::RunStatus;
use runstate_agent::event::{AgentEvent, EventKind};

use super::Violation;
use super::run::Seen;

pub(super) fn judge(seen: &Seen, wrong: &mut Vec<Violation>) {
    let mut say = |what: String| wrong.push(Violation::new("events", &*seen.id, what));
    let (mut next, mut commits, mut end) = (1, 0, None);
    for row in &seen.events {
        let event: AgentEvent = match serde_json::from_str(&row.json) {
            Ok(event) => event,
            Err(error) => return say(format!("event {} cannot be read: {error}", row.seq)),
        };
        if (event.seq, event.last()) != (row.seq, row.last) || row.seq != next {
            say(format!("after event {} comes one of {} to {}: {}", next - 1, row.seq, row.last, row.json));
        }
        next = row.last + 1;
        match event.kind {
            EventKind::Checkpoint { commit, .. } => {
                if commit != commits + 1 {
                    say(format!("after the checkpoint of commit {commits} comes that of {commit}"));
                }
                commits = commit;
            }
            EventKind::RunFinished { status, .. } => end = Some(status),
            _ => {}
        }
    }
    if commits != seen.loaded.info.version {
        say(format!("the last checkpoint is of commit {commits}, and it is at {}", seen.loaded.info.version));
    }
    if seen.is_over() && end != Some(RunStatus::Done) {
        say(format!("it is over, and the last reported end is {end:?}"));
    }
}
