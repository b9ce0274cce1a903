-- Version 10 of the tables: service runs.

CREATE TABLE {schema}.service_runs (
    no           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           text   COLLATE "C" NOT NULL UNIQUE,
    long_id      text,
    status       text   NOT NULL,
    final_status text,
    current_step text,
    version      bigint NOT NULL,
    created_at   bigint NOT NULL,
    updated_at   bigint NOT NULL,
    -- The number of the last change among those of all service runs.
    change       bigint NOT NULL,
    holder       text,
    held_until   bigint,
    -- The fence of the last lease, and the number of leases since the last change that were not given back.
    fence        bigint NOT NULL DEFAULT 0,
    lost         bigint NOT NULL DEFAULT 0,
    trace_lines  bigint NOT NULL,
    requested_by text   NOT NULL,
    intent       text   NOT NULL,
    -- Id and intent in lower case, for searches: UTF-8 with its zero characters.
    id_lower     bytea  NOT NULL,
    intent_lower bytea  NOT NULL,
    machine      text   NOT NULL,
    pass         text,
    CHECK ((holder IS NULL) = (held_until IS NULL))
);
CREATE INDEX service_runs_newest ON {schema}.service_runs (created_at, id);
CREATE INDEX service_runs_updated ON {schema}.service_runs (updated_at, id);
CREATE INDEX service_runs_status_newest ON {schema}.service_runs (status, created_at, id);
CREATE INDEX service_runs_final_status_newest ON {schema}.service_runs (final_status, created_at, id)
    WHERE final_status IS NOT NULL;
CREATE INDEX service_runs_change ON {schema}.service_runs (change);
CREATE INDEX service_runs_ready ON {schema}.service_runs (lost, change) WHERE status = 'RUNNING';

CREATE TABLE {schema}.service_artifacts (
    run       bigint NOT NULL REFERENCES {schema}.service_runs ON DELETE CASCADE,
    name      text   COLLATE "C" NOT NULL,
    long_name text,
    json      text   NOT NULL,
    PRIMARY KEY (run, name)
);

-- The numbers of the steps, timeline entries, events and trace lines of a run begin with 1 and have no gap.
CREATE TABLE {schema}.service_steps (
    run  bigint NOT NULL REFERENCES {schema}.service_runs ON DELETE CASCADE,
    seq  bigint NOT NULL,
    json text   NOT NULL,
    PRIMARY KEY (run, seq)
);
CREATE TABLE {schema}.service_timeline (
    run  bigint NOT NULL REFERENCES {schema}.service_runs ON DELETE CASCADE,
    seq  bigint NOT NULL,
    json text   NOT NULL,
    PRIMARY KEY (run, seq)
);
CREATE TABLE {schema}.service_events (
    run  bigint NOT NULL REFERENCES {schema}.service_runs ON DELETE CASCADE,
    seq  bigint NOT NULL,
    json text   NOT NULL,
    PRIMARY KEY (run, seq)
);
CREATE TABLE {schema}.service_trace (
    run  bigint NOT NULL REFERENCES {schema}.service_runs ON DELETE CASCADE,
    seq  bigint NOT NULL,
    json text   NOT NULL,
    PRIMARY KEY (run, seq)
);

-- Answers to requests with a key, for 24 hours. An answer survives its run.
CREATE TABLE {schema}.service_answers (
    principal   text   COLLATE "C" NOT NULL,
    key         text   COLLATE "C" NOT NULL,
    digest      text   NOT NULL,
    json        text   NOT NULL,
    answered_at bigint NOT NULL,
    PRIMARY KEY (principal, key)
);
CREATE INDEX service_answers_age ON {schema}.service_answers (answered_at);

CREATE TABLE {schema}.service_removed (
    id text COLLATE "C" PRIMARY KEY
);

-- The hashes of sent transactions, each with its chain, and their runs. A removed run keeps them.
CREATE TABLE {schema}.service_hashes (
    hash text COLLATE "C" PRIMARY KEY,
    run  text COLLATE "C" NOT NULL
);

-- One row: the number of the last change of any service run.
CREATE TABLE {schema}.service_news (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    changes bigint  NOT NULL
);
INSERT INTO {schema}.service_news (changes) VALUES (0);

-- Creates a run, or changes the run of the version in_before. A change under a lease has its fence, and renews it until in_until or gives the run
-- back. The function locks the run first and the row of service_news second, so no two calls wait for each other. The second lock is held until the
-- commit: changes become visible in the order of their numbers, and a reader behind a number misses none.
CREATE FUNCTION {schema}.put_service_run(
    in_run text, in_long_run text, in_id_lower bytea, in_before bigint, in_fence bigint, in_until bigint,
    in_status text, in_final_status text, in_step text, in_version bigint, in_created bigint, in_updated bigint,
    in_trace_lines bigint, in_lost bigint, in_requested_by text, in_intent text, in_intent_lower bytea, in_machine text, in_pass text,
    artifact_names text[], artifact_longs text[], artifact_jsons text[],
    in_steps text[], in_timeline text[], in_events text[], in_trace text[],
    in_principal text, in_key text, in_digest text, in_answer text, in_at bigint, in_over bigint, in_hashes text[],
    OUT outcome text, OUT number bigint
) LANGUAGE plpgsql AS $$
DECLARE
    r record;
    run_no bigint;
    change_no bigint;
BEGIN
    IF in_before IS NOT NULL THEN
        SELECT kept.no, kept.fence, kept.version, kept.holder INTO r
            FROM {schema}.service_runs kept WHERE kept.id = in_run FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            outcome := 'no run';
            RETURN;
        END IF;
        IF in_fence IS NOT NULL AND (r.fence <> in_fence OR r.holder IS NULL) THEN
            outcome := 'fenced'; number := r.fence;
            RETURN;
        END IF;
        IF r.version <> in_before THEN
            outcome := 'version'; number := r.version;
            RETURN;
        END IF;
        run_no := r.no;
    END IF;
    PERFORM FROM {schema}.service_news FOR UPDATE;
    IF in_before IS NULL AND (EXISTS (SELECT FROM {schema}.service_runs kept WHERE kept.id = in_run)
        OR EXISTS (SELECT FROM {schema}.service_removed kept WHERE kept.id = in_run)) THEN
        outcome := 'taken';
        RETURN;
    END IF;
    SELECT array_position(in_hashes, kept.hash) INTO number
        FROM {schema}.service_hashes kept WHERE kept.hash = ANY (in_hashes) AND kept.run <> in_run LIMIT 1;
    IF FOUND THEN
        outcome := 'hash taken';
        RETURN;
    END IF;
    IF in_key IS NOT NULL THEN
        IF EXISTS (SELECT FROM {schema}.service_answers kept
            WHERE kept.principal = in_principal AND kept.key = in_key AND kept.answered_at > in_over) THEN
            outcome := 'key taken';
            RETURN;
        END IF;
        DELETE FROM {schema}.service_answers kept WHERE kept.answered_at <= in_over;
        INSERT INTO {schema}.service_answers (principal, key, digest, json, answered_at)
            VALUES (in_principal, in_key, in_digest, in_answer, in_at);
    END IF;
    INSERT INTO {schema}.service_hashes (hash, run)
        SELECT DISTINCT given.hash, in_run FROM unnest(in_hashes) AS given (hash) ON CONFLICT (hash) DO NOTHING;
    -- After the maximum the count restarts: a cursor beyond the count lists all runs.
    INSERT INTO {schema}.service_news AS kept (one, changes) VALUES (true, 1)
        ON CONFLICT (one) DO UPDATE SET
            changes = CASE WHEN kept.changes BETWEEN 0 AND 9223372036854775806 THEN kept.changes + 1 ELSE 1 END
        RETURNING kept.changes INTO change_no;

    IF in_before IS NULL THEN
        INSERT INTO {schema}.service_runs AS kept (id, long_id, id_lower, status, final_status, current_step, version, created_at,
                updated_at, change, lost, trace_lines, requested_by, intent, intent_lower, machine, pass)
            VALUES (in_run, in_long_run, in_id_lower, in_status, in_final_status, in_step, in_version, in_created,
                in_updated, change_no, in_lost, in_trace_lines, in_requested_by, in_intent, in_intent_lower, in_machine, in_pass)
            RETURNING kept.no INTO run_no;
    ELSE
        UPDATE {schema}.service_runs kept SET
            status = in_status, final_status = in_final_status, current_step = in_step, version = in_version,
            updated_at = in_updated, change = change_no, lost = in_lost, trace_lines = in_trace_lines,
            requested_by = in_requested_by, intent = in_intent, intent_lower = in_intent_lower, machine = in_machine, pass = in_pass,
            holder = CASE WHEN in_fence IS NOT NULL AND in_until IS NULL THEN NULL ELSE kept.holder END,
            held_until = CASE WHEN in_fence IS NULL THEN kept.held_until ELSE in_until END
            WHERE kept.no = run_no;
    END IF;

    IF cardinality(artifact_names) > 0 THEN
        DELETE FROM {schema}.service_artifacts kept
            USING unnest(artifact_names, artifact_jsons) AS given (name, json)
            WHERE kept.run = run_no AND kept.name = given.name AND given.json IS NULL;
        INSERT INTO {schema}.service_artifacts (run, name, long_name, json)
            SELECT run_no, given.* FROM unnest(artifact_names, artifact_longs, artifact_jsons) AS given (name, long_name, json)
            WHERE given.json IS NOT NULL
            ON CONFLICT (run, name) DO UPDATE SET json = excluded.json;
    END IF;
    INSERT INTO {schema}.service_steps (run, seq, json)
        SELECT run_no, given.place + (SELECT coalesce(max(kept.seq), 0) FROM {schema}.service_steps kept WHERE kept.run = run_no),
            given.json FROM unnest(in_steps) WITH ORDINALITY AS given (json, place);
    INSERT INTO {schema}.service_timeline (run, seq, json)
        SELECT run_no, given.place + (SELECT coalesce(max(kept.seq), 0) FROM {schema}.service_timeline kept WHERE kept.run = run_no),
            given.json FROM unnest(in_timeline) WITH ORDINALITY AS given (json, place);
    INSERT INTO {schema}.service_events (run, seq, json)
        SELECT run_no, given.place + (SELECT coalesce(max(kept.seq), 0) FROM {schema}.service_events kept WHERE kept.run = run_no),
            given.json FROM unnest(in_events) WITH ORDINALITY AS given (json, place);
    INSERT INTO {schema}.service_trace (run, seq, json)
        SELECT run_no, given.place + (SELECT coalesce(max(kept.seq), 0) FROM {schema}.service_trace kept WHERE kept.run = run_no),
            given.json FROM unnest(in_trace) WITH ORDINALITY AS given (json, place);
    outcome := 'made'; number := in_version;
END
$$;

CREATE FUNCTION {schema}.claim_service_run(
    in_run text, in_holder text, in_now bigint, in_until bigint, OUT outcome text, OUT number bigint, OUT detail text
) LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    SELECT kept.no, kept.status, kept.holder, kept.held_until INTO r
        FROM {schema}.service_runs kept WHERE kept.id = in_run FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 'no run';
    ELSIF r.held_until > in_now THEN
        outcome := 'held'; number := r.held_until; detail := r.holder;
    ELSIF r.status <> 'RUNNING' THEN
        outcome := 'not running'; detail := r.status;
    ELSE
        UPDATE {schema}.service_runs kept SET
            holder = in_holder, held_until = in_until,
            fence = greatest(least(kept.fence, 9223372036854775806), 0) + 1,
            lost = greatest(least(kept.lost, 4294967294), 0) + 1
            WHERE kept.no = r.no RETURNING kept.fence INTO number;
        outcome := 'claimed';
    END IF;
END
$$;

-- Renews a lease until that time; without a time it gives the run back.
CREATE FUNCTION {schema}.settle_service_run(
    in_run text, in_fence bigint, in_until bigint, OUT outcome text, OUT number bigint
) LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    SELECT kept.no, kept.fence, kept.holder INTO r FROM {schema}.service_runs kept WHERE kept.id = in_run FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 'no run';
    ELSIF r.fence <> in_fence OR r.holder IS NULL THEN
        outcome := 'fenced'; number := r.fence;
    ELSE
        UPDATE {schema}.service_runs kept SET
            held_until = in_until, holder = CASE WHEN in_until IS NULL THEN NULL ELSE kept.holder END,
            lost = CASE WHEN in_until IS NULL THEN greatest(kept.lost, 1) - 1 ELSE kept.lost END
            WHERE kept.no = r.no;
        outcome := 'made';
    END IF;
END
$$;

CREATE FUNCTION {schema}.remove_service_run(
    in_run text, in_now bigint, in_over text[], OUT outcome text, OUT number bigint, OUT detail text
) LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    SELECT kept.no, kept.status, kept.holder, kept.held_until INTO r
        FROM {schema}.service_runs kept WHERE kept.id = in_run FOR UPDATE;
    IF NOT FOUND THEN
        outcome := 'no run';
    ELSIF r.held_until > in_now THEN
        outcome := 'held'; number := r.held_until; detail := r.holder;
    ELSIF r.status <> ALL (in_over) THEN
        outcome := 'not over'; detail := r.status;
    ELSE
        INSERT INTO {schema}.service_removed VALUES (in_run) ON CONFLICT DO NOTHING;
        DELETE FROM {schema}.service_runs kept WHERE kept.no = r.no;
        outcome := 'removed';
    END IF;
END
$$;
