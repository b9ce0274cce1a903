//! The statements, with the name of the schema in them.

use crate::text::{MOST_BYTES, bounded};
use crate::time::{NOW, after};

/// The statements of a store.
#[derive(Debug)]
pub(crate) struct Sql {
    pub(crate) create_run: String,
    pub(crate) last_of_thread: String,
    pub(crate) supersede: String,
    pub(crate) run_no: String,
    pub(crate) is_given: String,
    pub(crate) claim_any: String,
    pub(crate) claim_run: String,
    pub(crate) renew_run: String,
    pub(crate) release: String,
    pub(crate) commit_run: String,
    pub(crate) commit_and_release: String,
    pub(crate) post_decision: String,
    pub(crate) cancel: String,
    pub(crate) mail: String,
    pub(crate) tell: String,
    pub(crate) trace: String,
    pub(crate) events: String,
    /// Number of the transaction, run, version, and the number below which no transaction is open.
    pub(crate) changes: String,
    /// The number below which no transaction is open.
    pub(crate) settled: String,
    pub(crate) remove_run: String,
    /// Run, messages, calls, decisions, values, number of the last trace event, position on a thread.
    pub(crate) load: Vec<String>,
    /// The entries of runs in lists, without a filter.
    pub(crate) runs: String,
    /// The entries of waiting calls in lists, without a filter.
    pub(crate) approvals: String,
    pub(crate) due: String,
}

/// The columns of a [`RunInfo`](runstate_store::RunInfo).
const INFO: &str =
    "<coalesce(r.long_id, r.id)>, <r.title>, r.status, <r.reason>, r.version, r.steps, r.waiting, <r.holder>,
    r.held_until, r.not_before, <r.problem>, <r.cancel>, r.created_at, r.changed_at, r.lost, {now}, r.fence, <r.id>";

impl Sql {
    pub(crate) fn of(schema: &str) -> Self {
        let with = |sql: &str| bounded(&sql.replace("{schema}", schema).replace("{info}", INFO));
        let call = |function: &str, count: usize| {
            let params: Vec<_> = (1..=count).map(|number| format!("${number}")).collect();
            format!("SELECT * FROM {schema}.{function}({})", params.join(", "))
        };
        // The expiries of questions are measured by the server's clock.
        let commit = |function: &str| {
            let lapses = format!(
                "ARRAY(SELECT CASE WHEN given.at < 0 THEN {NOW} - given.at - 1 ELSE given.at END
                    FROM unnest($34::bigint[]) WITH ORDINALITY AS given (at, place) ORDER BY place)"
            );
            call(function, 51).replace("$34", &lapses)
        };
        let timed = |function: &str, params: &str| {
            format!("SELECT done.*, {NOW} FROM {schema}.{function}({params}) AS done")
        };
        let load = [
            "SELECT {info}, <r.spec>, <r.snapshot>, <r.core> FROM {schema}.runs r WHERE r.id = $1",
            "SELECT <m.json> FROM {schema}.messages m JOIN {schema}.runs r ON r.no = m.run WHERE r.id = $1 ORDER BY m.seq",
            "SELECT <coalesce(c.long_name, c.name)>, c.passes, <c.snapshot>
                FROM {schema}.calls c JOIN {schema}.runs r ON r.no = c.run WHERE r.id = $1",
            "SELECT <d.json> FROM {schema}.decisions d JOIN {schema}.runs r ON r.no = d.run
                WHERE r.id = $1 AND d.taken ORDER BY d.n",
            "SELECT s.scope, <coalesce(s.long_key, s.key)>, <s.json>
                FROM {schema}.state s JOIN {schema}.runs r ON r.no = s.run WHERE r.id = $1",
            "SELECT t.seq FROM {schema}.trace t JOIN {schema}.runs r ON r.no = t.run
                WHERE r.id = $1 ORDER BY t.seq DESC LIMIT 1",
            "SELECT <coalesce(t.long_thread, t.thread)>, <coalesce(a.long_id, a.id)> FROM {schema}.threads t
                JOIN {schema}.runs r ON r.no = t.run LEFT JOIN {schema}.runs a ON a.no = t.follows WHERE r.id = $1",
        ];
        Sql {
            create_run: format!(
                "SELECT * FROM {schema}.create_on_thread($1, $2, $3, $4, $5, {}, $7, $8, $9, $10)",
                after("$6::bigint")
            ),
            last_of_thread: with("SELECT <coalesce(l.long_id, l.id)> FROM {schema}.last_of_thread($1) l WHERE l.no IS NOT NULL"),
            supersede: call("supersede", 3),
            run_no: with("SELECT no FROM {schema}.runs WHERE id = $1"),
            is_given: with(
                "SELECT EXISTS (SELECT FROM {schema}.runs WHERE id = $1) OR EXISTS (SELECT FROM {schema}.removed WHERE id = $1)",
            ),
            // A locked run is being claimed or changed by another process: it is skipped.
            claim_any: with(
                &"UPDATE {schema}.runs SET fence = greatest(least(fence, 9223372036854775806), 0) + 1, holder = $1, held_until = {after},
                    claimed_steps = steps, lost = CASE WHEN holder IS NULL THEN greatest(least(lost, 4294967295), 0)
                    WHEN steps > greatest(claimed_steps, 1) THEN 0 ELSE greatest(least(lost, 4294967294), 0) + 1 END
                    WHERE no = (
                        SELECT no FROM {schema}.runs
                        WHERE (status = 'Running' OR (status = 'Waiting' AND (mail OR cancel IS NOT NULL)))
                            AND (held_until IS NULL OR held_until <= {now})
                            AND (not_before IS NULL OR not_before <= {now})
                            AND coalesce(octet_length(long_id), 0) <= {most}
                        ORDER BY queued_at, id LIMIT 1
                        FOR NO KEY UPDATE SKIP LOCKED)
                    RETURNING coalesce(long_id, id), fence, lost"
                    .replace("{after}", &after("$2::bigint"))
                .replace("{most}", &MOST_BYTES.to_string()),
            ),
            claim_run: timed("claim_run", &format!("$1, $2, {NOW}, {}", after("$3::bigint"))),
            renew_run: format!("SELECT * FROM {schema}.renew_run($1, $2, {})", after("$3::bigint")),
            release: with(
                &"UPDATE {schema}.runs
                    SET holder = NULL, held_until = NULL, not_before = {after}, problem = $4, queued_at = changed_at,
                        lost = CASE WHEN $5 OR steps > greatest(claimed_steps, 1) THEN 0 ELSE lost END
                    WHERE id = $1 AND fence = $2 RETURNING no"
                    .replace("{after}", &after("$3::bigint")),
            ),
            commit_run: commit("commit_run"),
            commit_and_release: commit("commit_and_release"),
            post_decision: call("post_decision", 9),
            cancel: with(
                "UPDATE {schema}.runs SET cancel = $2, not_before = CASE WHEN problem IS NULL THEN not_before END
                    WHERE id = $1 AND status <> 'Done' AND cancel IS NULL RETURNING no",
            ),
            mail: with(
                "SELECT <r.cancel>, <d.json>, <p.json> FROM {schema}.runs r
                    LEFT JOIN {schema}.posts p ON p.run = r.no AND p.version = r.version
                    LEFT JOIN {schema}.decisions d ON d.run = r.no AND NOT d.taken
                    WHERE r.id = $1 ORDER BY d.n",
            ),
            tell: "SELECT pg_notify($1, $2)".to_owned(),
            trace: with(
                "SELECT t.seq, <t.json> FROM {schema}.trace t JOIN {schema}.runs r ON r.no = t.run
                    WHERE r.id = $1 AND t.seq > $2 ORDER BY t.seq LIMIT $3",
            ),
            events: with(
                "SELECT e.seq, e.last, <e.json> FROM {schema}.events e JOIN {schema}.runs r ON r.no = e.run
                    WHERE r.id = $1 AND e.last > $2 ORDER BY e.last LIMIT $3",
            ),
            changes: with(
                "SELECT CASE WHEN c.made_by IS NOT NULL THEN least(c.made_by, '9223372036854775807'::xid8)::text::bigint END,
                        <coalesce(r.long_id, r.id)>, c.version,
                        pg_snapshot_xmin(pg_current_snapshot())::text::bigint
                    FROM (SELECT) one
                    LEFT JOIN LATERAL (
                        SELECT given.* FROM {schema}.changes given
                            WHERE given.made_by >= $1::bigint::text::xid8 ORDER BY given.made_by LIMIT $2
                    ) c ON true
                    LEFT JOIN {schema}.runs r ON r.no = c.run
                    ORDER BY c.made_by",
            ),
            settled: "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint".to_owned(),
            remove_run: timed("remove_run", &format!("$1, {NOW}")),
            load: load.map(with).to_vec(),
            runs: with("SELECT {info} FROM {schema}.runs r"),
            approvals: with(
                "SELECT a.run_id, a.call, <coalesce(a.long_run_id, a.run_id)>, <coalesce(a.long_call, a.call)>, <a.tool>,
                    <a.arguments>, <a.json>, a.expires_at, {now} FROM {schema}.approvals a",
            ),
            due: with(
                "SELECT <coalesce(a.long_run_id, a.run_id)>, <coalesce(a.long_call, a.call)>, <a.json>, a.run_id, a.call
                    FROM {schema}.approvals a WHERE a.expires_at <= {now}
                    ORDER BY a.expires_at, a.run_id, a.call LIMIT $1 OFFSET $2",
            ),
        }
    }
}
