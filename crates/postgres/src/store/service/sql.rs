//! The statements of service runs, with the name of the schema in them.

use crate::text::{MOST_BYTES, bounded};
use crate::time::{NOW, after};

/// The statements.
#[derive(Debug)]
pub(crate) struct Sql {
    pub(super) put: String,
    pub(super) claim: String,
    pub(super) claim_any: String,
    pub(super) settle: String,
    pub(super) remove: String,
    pub(super) run_no: String,
    /// The columns of a run that its next change needs.
    pub(super) head: String,
    /// Run and artifacts.
    pub(super) load: Vec<String>,
    pub(super) steps: String,
    pub(super) timeline: String,
    pub(super) events: String,
    pub(super) trace: String,
    pub(super) answer: String,
    /// The number of changes in each row; run and number of its last change.
    pub(super) changes: String,
    /// The number of changes.
    pub(super) counted: String,
    /// The entries of runs in lists, without a filter.
    pub(super) list: String,
    /// A status and the number of runs with it, without a filter and without the group.
    pub(super) counts: String,
}

/// The columns of a [`RunInfo`](runstate_service::RunInfo), and the key of the run.
const INFO: &str =
    "<coalesce(r.long_id, r.id)>, r.version, r.created_at, r.updated_at, <r.status>, <r.final_status>,
    <r.current_step>, <r.intent>, r.id";

impl Sql {
    pub(crate) fn of(schema: &str) -> Self {
        let with = |sql: &str| bounded(&sql.replace("{schema}", schema).replace("{info}", INFO));
        let rows = |table: &str| {
            with(
                &"SELECT t.seq, <t.json> FROM {schema}.{table} t JOIN {schema}.service_runs r ON r.no = t.run
                    WHERE r.id = $1 AND t.seq > $2 ORDER BY t.seq LIMIT $3"
                    .replace("{table}", table),
            )
        };
        let timed = |function: &str, params: &str| {
            format!("SELECT done.*, {NOW} FROM {schema}.{function}({params}) AS done")
        };
        let params: Vec<_> = (1..=PUT).map(|number| format!("${number}")).collect();
        let put = params.join(", ").replacen("$6", &after("$6::bigint"), 1);
        let load = [
            "SELECT {info}, <r.requested_by>, r.trace_lines, r.lost, <r.machine>, <r.pass>
                FROM {schema}.service_runs r WHERE r.id = $1",
            "SELECT <coalesce(a.long_name, a.name)>, <a.json>
                FROM {schema}.service_artifacts a JOIN {schema}.service_runs r ON r.no = a.run WHERE r.id = $1",
        ];
        Sql {
            put: format!("SELECT * FROM {schema}.put_service_run({put})"),
            claim: timed("claim_service_run", &format!("$1, $2, {NOW}, {}", after("$3::bigint"))),
            // A locked run is being claimed or changed by another process: it is skipped.
            claim_any: with(
                &"UPDATE {schema}.service_runs SET holder = $1, held_until = {after},
                    fence = greatest(least(fence, 9223372036854775806), 0) + 1, lost = greatest(least(lost, 4294967294), 0) + 1
                    WHERE no = (
                        SELECT no FROM {schema}.service_runs
                        WHERE status = 'RUNNING' AND (held_until IS NULL OR held_until <= {now})
                            AND coalesce(octet_length(long_id), 0) <= {most}
                        ORDER BY lost, change LIMIT 1
                        FOR NO KEY UPDATE SKIP LOCKED)
                    RETURNING coalesce(long_id, id), fence"
                    .replace("{after}", &after("$2::bigint"))
                    .replace("{most}", &MOST_BYTES.to_string()),
            ),
            settle: format!("SELECT * FROM {schema}.settle_service_run($1, $2, {})", after("$3::bigint")),
            remove: timed("remove_service_run", &format!("$1, {NOW}, $2")),
            run_no: with("SELECT no FROM {schema}.service_runs WHERE id = $1"),
            head: with(
                "SELECT <r.status>, r.version, r.created_at, r.updated_at, r.trace_lines, <r.requested_by>, r.fence,
                    r.holder IS NOT NULL FROM {schema}.service_runs r WHERE r.id = $1",
            ),
            load: load.map(with).to_vec(),
            steps: rows("service_steps"),
            timeline: rows("service_timeline"),
            events: rows("service_events"),
            trace: rows("service_trace"),
            answer: with(
                "SELECT <a.digest>, <a.json> FROM {schema}.service_answers a
                    WHERE a.principal = $1 AND a.key = $2 AND a.answered_at > $3",
            ),
            // A cursor beyond the count lists all runs: the tables were restored from a backup.
            changes: with(
                "SELECT n.changes, c.id, c.change
                    FROM (SELECT coalesce((SELECT changes FROM {schema}.service_news), 0) AS changes) n
                    LEFT JOIN LATERAL (
                        SELECT <coalesce(r.long_id, r.id)>, r.change FROM {schema}.service_runs r
                            WHERE r.change > CASE WHEN $1 > n.changes THEN 0 ELSE $1 END AND r.change <= n.changes
                            ORDER BY r.change LIMIT $2
                    ) c ON true
                    ORDER BY c.change",
            ),
            counted: with("SELECT coalesce((SELECT changes FROM {schema}.service_news), 0)"),
            list: with("SELECT {info} FROM {schema}.service_runs r"),
            counts: with(
                "SELECT CASE WHEN octet_length(r.status) > 64 THEN NULL ELSE r.status END, count(*)
                    FROM {schema}.service_runs r",
            ),
        }
    }
}

/// The number of parameters of the function that creates and changes runs.
pub(super) const PUT: usize = 33;
