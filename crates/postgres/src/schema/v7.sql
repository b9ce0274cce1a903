-- Version 7 of the tables: events of runs. Pieces of an answer are one row: seq is the number of the first, last that of the last.

CREATE TABLE {schema}.events (
    run  bigint NOT NULL REFERENCES {schema}.runs ON DELETE CASCADE,
    seq  bigint NOT NULL,
    last bigint NOT NULL,
    json text   NOT NULL,
    PRIMARY KEY (run, last)
);

-- The last commit of each run: its version, and the transaction that made it. Apart from the run, whose indexes a commit does not write.
CREATE TABLE {schema}.changes (
    run     bigint PRIMARY KEY REFERENCES {schema}.runs ON DELETE CASCADE,
    version bigint NOT NULL,
    made_by xid8   NOT NULL
);
CREATE INDEX changes_in_order ON {schema}.changes (made_by);
INSERT INTO {schema}.changes (run, version, made_by)
    SELECT no, version, pg_current_xact_id() FROM {schema}.runs WHERE version > 0;

DROP FUNCTION {schema}.commit_run(text, bigint, bigint, boolean, bigint, text, text, text, bigint, bigint, text, text, bigint[], text[], text[], text[], text[], text[], text[], bigint[], bigint[], text[], bigint[], text[], text[], text[], text[], text[], text[], text[], text[], text[], text[], bigint[], text[], text[], text[], text[], text[], bigint[], text[], text[], text[], text[], text[], bigint[], text[]);

CREATE FUNCTION {schema}.commit_run(
    in_run text, in_fence bigint, in_version bigint, in_again boolean, in_at bigint,
    in_status text, in_reason text, in_thread text, in_steps bigint, in_waiting bigint, in_snapshot text, in_core text,
    message_seqs bigint[], message_roles text[], message_jsons text[],
    call_names text[], call_longs text[], call_ids text[], call_tools text[], call_steps bigint[], call_ordinals bigint[],
    call_statuses text[], call_executions bigint[], call_snapshots text[],
    wait_calls text[], wait_long_runs text[], wait_long_calls text[], wait_ids text[], wait_tools text[],
    wait_suspensions text[], wait_jsons text[], wait_arguments text[], wait_digests text[], wait_expiries bigint[],
    decision_ids text[], decision_suspensions text[], decision_calls text[], decision_actions text[],
    decision_actors text[], decision_ats bigint[], decision_jsons text[],
    value_scopes text[], value_keys text[], value_longs text[], value_jsons text[],
    trace_seqs bigint[], trace_jsons text[],
    event_seqs bigint[], event_lasts bigint[], event_jsons text[],
    OUT outcome text, OUT number bigint, OUT detail text
) LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    SELECT runs.no, runs.fence, runs.version, runs.committed_under INTO r
        FROM {schema}.runs WHERE runs.id = in_run FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 'no run';
        RETURN;
    END IF;
    IF r.fence <> in_fence THEN
        outcome := 'fenced'; number := r.fence;
        RETURN;
    END IF;
    IF in_version <> r.version + 1
        AND NOT (in_again AND in_version = r.version AND r.committed_under = in_fence) THEN
        outcome := 'version'; number := r.version + 1;
        RETURN;
    END IF;

    IF cardinality(decision_ids) > 0 THEN
        SELECT kept.json INTO detail
            FROM unnest(decision_ids, decision_suspensions) AS given (id, suspension)
            JOIN {schema}.decisions kept
                ON kept.run = r.no AND kept.suspension = given.suspension AND kept.id <> given.id
            LIMIT 1;
        IF FOUND THEN
            outcome := 'decided';
            RETURN;
        END IF;
        INSERT INTO {schema}.decisions (run, id, suspension, call, action, actor, decided_at, json, taken)
            SELECT r.no, given.*, true
            FROM unnest(decision_ids, decision_suspensions, decision_calls, decision_actions, decision_actors,
                decision_ats, decision_jsons) AS given
            ON CONFLICT (run, id) DO UPDATE SET taken = true;
        DELETE FROM {schema}.approvals
            WHERE approvals.run_id = in_run AND approvals.suspension = ANY (decision_suspensions);
    END IF;

    UPDATE {schema}.runs SET
        status = in_status, reason = in_reason, thread = in_thread, version = in_version, steps = in_steps,
        waiting = in_waiting, committed_under = in_fence, changed_at = in_at, snapshot = in_snapshot, core = in_core,
        cancel = CASE WHEN in_status = 'Done' THEN NULL ELSE cancel END,
        mail = mail AND (cardinality(decision_ids) = 0
            OR EXISTS (SELECT FROM {schema}.decisions kept WHERE kept.run = r.no AND NOT kept.taken))
        WHERE runs.no = r.no;

    IF cardinality(message_seqs) > 0 THEN
        IF in_again THEN
            INSERT INTO {schema}.messages (run, seq, role, json)
                SELECT r.no, given.* FROM unnest(message_seqs, message_roles, message_jsons) AS given
                ON CONFLICT (run, seq) DO UPDATE SET role = excluded.role, json = excluded.json;
        ELSE
            INSERT INTO {schema}.messages (run, seq, role, json)
                SELECT r.no, given.* FROM unnest(message_seqs, message_roles, message_jsons) AS given;
        END IF;
    END IF;

    IF cardinality(call_names) > 0 THEN
        INSERT INTO {schema}.calls AS kept
            (run, name, long_name, id, tool, step, ordinal, status, passes, snapshot)
            SELECT r.no, given.*
            FROM unnest(call_names, call_longs, call_ids, call_tools, call_steps, call_ordinals, call_statuses,
                call_executions, call_snapshots) AS given
            ON CONFLICT (run, name) DO UPDATE SET
                id = excluded.id, tool = excluded.tool, step = excluded.step, ordinal = excluded.ordinal,
                status = excluded.status, passes = excluded.passes, snapshot = excluded.snapshot;
        DELETE FROM {schema}.approvals WHERE approvals.run_id = in_run AND approvals.call = ANY (call_names);
    END IF;
    IF cardinality(wait_calls) > 0 THEN
        INSERT INTO {schema}.approvals (run_id, call, long_run_id, long_call, call_id, tool, suspension, json,
                arguments, args_digest, expires_at)
            SELECT in_run, given.*
            FROM unnest(wait_calls, wait_long_runs, wait_long_calls, wait_ids, wait_tools, wait_suspensions,
                wait_jsons, wait_arguments, wait_digests, wait_expiries)
                AS given (call, long_run, long_call, id, tool, suspension, json, arguments, digest, expires_at)
            WHERE NOT EXISTS (SELECT FROM {schema}.decisions kept
                WHERE kept.run = r.no AND kept.suspension = given.suspension);
    END IF;

    IF cardinality(value_keys) > 0 THEN
        DELETE FROM {schema}.state kept
            USING unnest(value_scopes, value_keys, value_jsons) AS given (scope, key, json)
            WHERE kept.run = r.no AND kept.scope = given.scope AND kept.key = given.key AND given.json IS NULL;
        INSERT INTO {schema}.state (run, scope, key, long_key, json)
            SELECT r.no, given.*
            FROM unnest(value_scopes, value_keys, value_longs, value_jsons) AS given (scope, key, long_key, json)
            WHERE given.json IS NOT NULL
            ON CONFLICT (run, scope, key) DO UPDATE SET json = excluded.json;
    END IF;

    -- An event may be given with the commit behind as well, when nobody knew whether its own was made.
    IF cardinality(trace_seqs) > 0 THEN
        INSERT INTO {schema}.trace (run, seq, json)
            SELECT r.no, given.* FROM unnest(trace_seqs, trace_jsons) AS given
            ON CONFLICT (run, seq) DO UPDATE SET json = excluded.json;
    END IF;
    INSERT INTO {schema}.changes (run, version, made_by) VALUES (r.no, in_version, pg_current_xact_id())
        ON CONFLICT (run) DO UPDATE SET version = excluded.version, made_by = excluded.made_by;

    -- Those of a commit that is given again take the place of the first try's, which may have other numbers.
    IF cardinality(event_seqs) > 0 THEN
        IF in_again THEN
            DELETE FROM {schema}.events WHERE run = r.no AND last >= event_seqs[1];
        END IF;
        INSERT INTO {schema}.events (run, seq, last, json)
            SELECT r.no, given.* FROM unnest(event_seqs, event_lasts, event_jsons) AS given
            ON CONFLICT (run, last) DO UPDATE SET seq = excluded.seq, json = excluded.json;
    END IF;
    outcome := 'made';
END
$$;
