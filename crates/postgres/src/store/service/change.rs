//! A creation or a change of a service run, as the parameters of one statement.

use std::borrow::Cow;
use std::time::Duration;

use runstate::service_run::ServiceRunStatus;
use runstate_service::{Change, ChangeTexts, RequestKey, ServiceLease, ServiceStoreError, StoredRun};
use tokio_postgres::types::ToSql;

use super::load::{Head, head};
use super::sql::PUT;
use super::{Answer, PostgresStore, Stored, failure, over_until, refusal};
use crate::text::{Key, fits, int, longest, nat, text};
use crate::time::span;

/// The state that a change follows.
pub(super) enum Onto<'a> {
    /// The change creates the run.
    Nothing,
    Version(u64),
    Leased {
        lease: &'a ServiceLease,
        version: u64,
        /// The term of the renewed lease. None: the run is given back.
        term: Option<Duration>,
    },
}

impl PostgresStore {
    /// Creates or changes a run. Returns its version.
    ///
    /// The row of the run is read first, and the rows of the change follow from it. The statement that writes them holds
    /// for the read version alone, so it is the whole transaction.
    pub(super) async fn put_service_run(&self, run: &str, onto: Onto<'_>, change: &Change) -> Stored<u64> {
        let texts = ChangeTexts::of(change)?;
        let (version, lease, term) = match onto {
            Onto::Nothing => (None, None, None),
            Onto::Version(version) => (Some(version), None, None),
            Onto::Leased { lease, version, term } => (Some(version), Some(lease), term),
        };
        let (row, before) = match version {
            None => (change.first_row(run), None),
            Some(version) => {
                let Head { mut row, fence, is_held } =
                    head(&self.connections, &self.service, run, change).await?;
                check(lease, fence, is_held)?;
                let (status, current) = (row.status, row.version);
                if current != version {
                    return Err(ServiceStoreError::Version { run: run.to_owned(), got: version, current });
                }
                change.apply_to(&mut row);
                (row, Some(status))
            }
        };
        let columns = Columns::of(run, &row, before, change, &texts)?;
        columns.fit()?;
        let (version, fence) = (version.map(int), lease.map(|lease| int(lease.fence)));
        let term = term.map(span);
        let rows = self.service_rows(&self.service.put, &columns.params(&version, &fence, &term)).await?;
        let answer = Answer::of(&rows).map_err(failure)?;
        match (answer.outcome, &change.answer) {
            ("made", _) => {
                self.tell_of_commit();
                Ok(row.version)
            }
            ("key taken", Some(kept)) => {
                let RequestKey { principal, key } = kept.key.clone();
                Err(ServiceStoreError::KeyTaken { principal, key })
            }
            ("hash taken", _) => {
                let place = usize::try_from(answer.number).unwrap_or(1).saturating_sub(1);
                let hash = change.hashes.get(place).cloned().unwrap_or_default();
                Err(ServiceStoreError::HashTaken { hash })
            }
            _ => {
                let fence = lease.map_or(0, |lease| lease.fence);
                Err(refusal(&answer, run, fence, row.version.saturating_sub(1)))
            }
        }
    }
}

/// Checks that the lease was not released, and that the run was not claimed since.
fn check(lease: Option<&ServiceLease>, current: i64, is_held: bool) -> Stored<()> {
    match lease {
        Some(lease) if !is_held || int(lease.fence) != current => Err(ServiceStoreError::Fenced {
            run: lease.run.clone(),
            fence: lease.fence,
            current: nat(current),
        }),
        _ => Ok(()),
    }
}

type Text<'a> = Cow<'a, str>;

/// The parameters, without those of the version and of the lease.
struct Columns<'a> {
    run: Key<'a>,
    id_lower: Vec<u8>,
    status: &'static str,
    final_status: Option<&'static str>,
    step: Option<String>,
    numbers: [i64; 5],
    requested_by: String,
    intent: Text<'a>,
    intent_lower: Vec<u8>,
    machine: &'a str,
    pass: Option<&'a str>,
    artifact_names: Vec<Text<'a>>,
    artifact_longs: Vec<Option<Text<'a>>>,
    artifact_jsons: Vec<Option<&'a str>>,
    steps: &'a [String],
    timeline: &'a [String],
    events: Vec<String>,
    trace: Vec<Text<'a>>,
    principal: Option<Text<'a>>,
    key: Option<Text<'a>>,
    digest: Option<Text<'a>>,
    answer: Option<&'a str>,
    hashes: Vec<Text<'a>>,
    times: [i64; 2],
}

impl<'a> Columns<'a> {
    fn of(
        run: &'a str,
        row: &'a StoredRun,
        before: Option<ServiceRunStatus>,
        change: &'a Change,
        texts: &'a ChangeTexts,
    ) -> Stored<Self> {
        let names = texts.artifacts.iter().map(|(name, _)| Key::of(name));
        let (artifact_names, artifact_longs) = names.map(|Key { key, long }| (key, long)).unzip();
        let answer = change.answer.as_ref();
        Ok(Columns {
            run: Key::of(run),
            id_lower: run.to_lowercase().into_bytes(),
            status: row.status.name(),
            final_status: row.final_status.map(|status| status.name()),
            step: row.current_step.map(|step| step.to_string()),
            numbers: [
                int(row.version),
                int(row.created_at_ms),
                int(row.updated_at_ms),
                int(row.trace_lines),
                row.lost.into(),
            ],
            requested_by: ChangeTexts::written(&row.requested_by)?,
            intent: text(&row.intent),
            intent_lower: row.intent.to_lowercase().into_bytes(),
            machine: &texts.machine,
            pass: texts.pass.as_deref(),
            artifact_names,
            artifact_longs,
            artifact_jsons: texts.artifacts.iter().map(|(_, json)| json.as_deref()).collect(),
            steps: &texts.steps,
            timeline: &texts.timeline,
            events: change.events(before).iter().map(ChangeTexts::written).collect::<Stored<_>>()?,
            trace: change.trace.iter().map(|line| text(line)).collect(),
            principal: answer.map(|answer| Key::of(&answer.key.principal).key),
            key: answer.map(|answer| Key::of(&answer.key.key).key),
            digest: answer.map(|answer| text(&answer.digest)),
            answer: texts.answer.as_deref(),
            hashes: change.hashes.iter().map(|hash| text(hash)).collect(),
            times: [int(change.at_ms), over_until(change.at_ms)],
        })
    }

    /// Refuses values that could not be read again.
    fn fit(&self) -> Stored<()> {
        let sizes = [
            ("service_runs.id", longest(&self.run.long)),
            ("service_runs.id_lower", self.id_lower.len()),
            ("service_runs.requested_by", self.requested_by.len()),
            ("service_runs.intent", self.intent.len()),
            ("service_runs.intent_lower", self.intent_lower.len()),
            ("service_runs.machine", self.machine.len()),
            ("service_runs.pass", longest(self.pass)),
            ("service_artifacts.name", longest(self.artifact_longs.iter().flatten())),
            ("service_artifacts.json", longest(self.artifact_jsons.iter().flatten())),
            ("service_steps.json", longest(self.steps)),
            ("service_timeline.json", longest(self.timeline)),
            ("service_events.json", longest(&self.events)),
            ("service_trace.json", longest(&self.trace)),
            ("service_answers.digest", longest(&self.digest)),
            ("service_answers.json", longest(self.answer)),
        ];
        sizes.into_iter().try_for_each(|(column, bytes)| fits(column, bytes)).map_err(failure)
    }

    fn params<'s>(
        &'s self,
        version: &'s Option<i64>,
        fence: &'s Option<i64>,
        term: &'s Option<i64>,
    ) -> [&'s (dyn ToSql + Sync); PUT] {
        let [new_version, created, updated, trace_lines, lost] = &self.numbers;
        let [at, over] = &self.times;
        [
            &self.run.key,
            &self.run.long,
            &self.id_lower,
            version,
            fence,
            term,
            &self.status,
            &self.final_status,
            &self.step,
            new_version,
            created,
            updated,
            trace_lines,
            lost,
            &self.requested_by,
            &self.intent,
            &self.intent_lower,
            &self.machine,
            &self.pass,
            &self.artifact_names,
            &self.artifact_longs,
            &self.artifact_jsons,
            &self.steps,
            &self.timeline,
            &self.events,
            &self.trace,
            &self.principal,
            &self.key,
            &self.digest,
            &self.answer,
            at,
            over,
            &self.hashes,
        ]
    }
}
