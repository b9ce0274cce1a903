//! A commit as the parameters of one statement: a list for each column.

use std::borrow::Cow;
use std::collections::BTreeMap;

use runstate::decision::{Decision, DecisionAction};
use runstate_store::{CallRow, Commit, Lease, PendingQuestion, StoreError, UserMessage};
use tokio_postgres::types::ToSql;

use super::{Answer, load};
use crate::pool::Connections;
use crate::text::{Key, fits, int, longest, text};
use crate::time::span;

/// Makes a commit. Fencing token, version and all rows go to the server in one statement, which is one transaction
/// and one round trip.
pub(super) async fn commit(
    connections: &Connections,
    sql: &str,
    lease: &Lease,
    commit: &Commit,
) -> Result<(), StoreError> {
    let columns = Columns::of(lease, commit)?;
    columns.fit()?;
    let rows = connections.rows(sql, &columns.params()).await?;
    let answer = Answer::of(&rows)?;
    match (answer.outcome, answer.detail) {
        ("made", _) => Ok(()),
        ("decided", Some(json)) => {
            let first: Decision = load::parse(json, "decisions.json")?;
            let (run, suspension) = (lease.run.clone(), first.suspension_id);
            Err(StoreError::Decided { run, suspension, decision: first.decision_id })
        }
        ("superseded", Some(json)) => {
            let message: UserMessage = load::parse(json, "posts.json")?;
            Err(StoreError::Superseded { run: lease.run.clone(), message: message.id })
        }
        _ => Err(answer.refusal(&lease.run, lease.fence, commit.version)),
    }
}

type Text<'a> = Cow<'a, str>;

/// The parameters, in the order of those of the SQL function.
struct Columns<'a> {
    run: Key<'a>,
    numbers: [i64; 5],
    again: bool,
    status: &'static str,
    reason: Option<Text<'a>>,
    thread: Text<'a>,
    snapshot: &'a str,
    core: &'a str,
    messages: (Vec<i64>, Vec<&'a str>, Vec<&'a str>),
    calls: Calls<'a>,
    waits: Waiting<'a>,
    decisions: Decisions<'a>,
    values: Values<'a>,
    trace: (Vec<i64>, Vec<&'a str>),
    events: (Vec<i64>, Vec<i64>, Vec<&'a str>),
    takes: Option<Text<'a>>,
}

#[derive(Default)]
struct Calls<'a> {
    names: Vec<Text<'a>>,
    longs: Vec<Option<Text<'a>>>,
    ids: Vec<Text<'a>>,
    tools: Vec<Text<'a>>,
    steps: Vec<i64>,
    ordinals: Vec<i64>,
    statuses: Vec<&'static str>,
    passes: Vec<i64>,
    snapshots: Vec<&'a str>,
}

#[derive(Default)]
struct Waiting<'a> {
    calls: Vec<Text<'a>>,
    long_runs: Vec<Option<Text<'a>>>,
    long_calls: Vec<Option<Text<'a>>>,
    ids: Vec<Text<'a>>,
    tools: Vec<Text<'a>>,
    suspensions: Vec<Text<'a>>,
    jsons: Vec<String>,
    arguments: Vec<&'a str>,
    digests: Vec<&'a str>,
    expiries: Vec<Option<i64>>,
}

#[derive(Default)]
struct Values<'a> {
    scopes: Vec<String>,
    keys: Vec<Text<'a>>,
    longs: Vec<Option<Text<'a>>>,
    jsons: Vec<Option<&'a str>>,
}

#[derive(Default)]
struct Decisions<'a> {
    ids: Vec<Text<'a>>,
    suspensions: Vec<Text<'a>>,
    calls: Vec<Text<'a>>,
    actions: Vec<&'static str>,
    actors: Vec<Option<Text<'a>>>,
    ats: Vec<i64>,
    jsons: Vec<String>,
}

impl<'a> Columns<'a> {
    fn of(lease: &'a Lease, commit: &'a Commit) -> Result<Self, StoreError> {
        let row = &commit.run;
        let run = Key::of(&lease.run);
        // Of two rows with one key the later one counts, since one statement cannot write both.
        let calls: BTreeMap<_, _> = commit.calls.iter().map(|call| (&*call.name, call)).collect();
        let values = commit.values.iter().map(|value| ((value.scope, &*value.key), value));
        let values: BTreeMap<_, _> = values.collect();
        let trace: BTreeMap<_, _> = commit.trace.iter().map(|row| (row.seq, &*row.json)).collect();
        let events: BTreeMap<_, _> = commit.events.iter().map(|row| (row.last, row)).collect();
        let decisions = commit.decisions.iter().map(|decision| (&*decision.decision_id, decision));
        let decisions: BTreeMap<_, _> = decisions.collect();
        let messages = &commit.messages;
        let mut columns = Columns {
            numbers: [
                int(lease.fence),
                int(commit.version),
                int(commit.at_ms),
                row.steps.into(),
                row.waiting.into(),
            ],
            again: commit.again,
            status: row.status.name(),
            reason: row.reason.as_deref().map(text),
            thread: text(&row.thread),
            snapshot: &row.snapshot,
            core: &row.core,
            messages: (
                messages.iter().map(|row| int(row.seq)).collect(),
                messages.iter().map(|row| row.role).collect(),
                messages.iter().map(|row| &*row.json).collect(),
            ),
            calls: Calls::default(),
            waits: Waiting::default(),
            decisions: Decisions::default(),
            values: Values::default(),
            trace: trace.into_iter().map(|(seq, json)| (int(seq), json)).unzip(),
            events: (
                events.values().map(|row| int(row.seq)).collect(),
                events.keys().map(|last| int(*last)).collect(),
                events.values().map(|row| &*row.json).collect(),
            ),
            takes: commit.takes.as_deref().map(|id| Key::of(id).key),
            run,
        };
        for call in calls.into_values() {
            columns.calls.add(call);
            if let Some(waits) = &call.waits {
                columns.waits.add(columns.run.long.clone(), call, waits, commit.at_ms)?;
            }
        }
        for decision in decisions.into_values() {
            let into = &mut columns.decisions;
            into.ids.push(Key::of(&decision.decision_id).key);
            into.suspensions.push(Key::of(&decision.suspension_id).key);
            into.calls.push(text(&decision.call));
            into.actions.push(action(decision.action));
            into.actors.push(decision.actor.as_deref().map(text));
            into.ats.push(int(decision.decided_at_ms));
            into.jsons.push(serde_json::to_string(decision).map_err(StoreError::failed)?);
        }
        for value in values.into_values() {
            let Key { key, long } = Key::of(&value.key);
            columns.values.scopes.push(value.scope.to_string());
            columns.values.keys.push(key);
            columns.values.longs.push(long);
            columns.values.jsons.push(value.json.as_deref());
        }
        Ok(columns)
    }

    /// Checks that each value is within the size limit of reads.
    fn fit(&self) -> Result<(), StoreError> {
        let (calls, waits, decisions) = (&self.calls, &self.waits, &self.decisions);
        let texts = [
            ("runs.reason", longest(&self.reason)),
            ("runs.thread", self.thread.len()),
            ("runs.snapshot", self.snapshot.len()),
            ("runs.core", self.core.len()),
            ("messages.json", longest(&self.messages.2)),
            ("calls.name", longest(calls.longs.iter().flatten())),
            ("calls.id", longest(&calls.ids)),
            ("calls.tool", longest(&calls.tools)),
            ("calls.snapshot", longest(&calls.snapshots)),
            ("approvals.json", longest(&waits.jsons)),
            ("approvals.arguments", longest(&waits.arguments)),
            ("decisions.json", longest(&decisions.jsons)),
            ("state.key", longest(self.values.longs.iter().flatten())),
            ("state.json", longest(self.values.jsons.iter().flatten())),
            ("trace.json", longest(&self.trace.1)),
            ("events.json", longest(&self.events.2)),
        ];
        texts.into_iter().try_for_each(|(column, bytes)| fits(column, bytes))
    }

    fn params(&self) -> [&(dyn ToSql + Sync); 51] {
        let [fence, version, at, steps, waiting] = &self.numbers;
        let (messages, values) = (&self.messages, &self.values);
        let (trace, events) = (&self.trace, &self.events);
        let (calls, waits, decisions) = (&self.calls, &self.waits, &self.decisions);
        [
            &self.run.key,
            fence,
            version,
            &self.again,
            at,
            &self.status,
            &self.reason,
            &self.thread,
            steps,
            waiting,
            &self.snapshot,
            &self.core,
            &messages.0,
            &messages.1,
            &messages.2,
            &calls.names,
            &calls.longs,
            &calls.ids,
            &calls.tools,
            &calls.steps,
            &calls.ordinals,
            &calls.statuses,
            &calls.passes,
            &calls.snapshots,
            &waits.calls,
            &waits.long_runs,
            &waits.long_calls,
            &waits.ids,
            &waits.tools,
            &waits.suspensions,
            &waits.jsons,
            &waits.arguments,
            &waits.digests,
            &waits.expiries,
            &decisions.ids,
            &decisions.suspensions,
            &decisions.calls,
            &decisions.actions,
            &decisions.actors,
            &decisions.ats,
            &decisions.jsons,
            &values.scopes,
            &values.keys,
            &values.longs,
            &values.jsons,
            &trace.0,
            &trace.1,
            &events.0,
            &events.1,
            &events.2,
            &self.takes,
        ]
    }
}

impl<'a> Calls<'a> {
    fn add(&mut self, call: &'a CallRow) {
        let Key { key, long } = Key::of(&call.name);
        self.names.push(key);
        self.longs.push(long);
        self.ids.push(text(&call.id));
        self.tools.push(text(&call.tool));
        self.steps.push(call.key.step.into());
        self.ordinals.push(call.key.ordinal.into());
        self.statuses.push(call.status.name());
        self.passes.push(call.passes.into());
        self.snapshots.push(&call.snapshot);
    }
}

impl<'a> Waiting<'a> {
    fn add(
        &mut self,
        run: Option<Text<'a>>,
        call: &'a CallRow,
        waits: &'a PendingQuestion,
        at_ms: u64,
    ) -> Result<(), StoreError> {
        let Key { key, long } = Key::of(&call.name);
        self.calls.push(key);
        self.long_runs.push(run);
        self.long_calls.push(long);
        self.ids.push(Key::of(&call.id).key);
        self.tools.push(text(&call.tool));
        self.suspensions.push(Key::of(&waits.suspension.id).key);
        self.jsons.push(serde_json::to_string(&waits.suspension).map_err(StoreError::failed)?);
        self.arguments.push(&waits.arguments);
        self.digests.push(&waits.digest);
        // A duration from now is sent as a negative number, a date as a positive one.
        let left = waits.left_at(at_ms).map(|left| -1 - span(left));
        self.expiries.push(left.or(waits.suspension.expires_at_ms.map(int)));
        Ok(())
    }
}

/// Returns the name of the action, as in its JSON form.
pub(super) fn action(action: DecisionAction) -> &'static str {
    match action {
        DecisionAction::Resume => "resume",
        DecisionAction::Cancel => "cancel",
    }
}
