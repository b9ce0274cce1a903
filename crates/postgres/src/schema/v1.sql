-- Version 1 of the tables. {schema} stands for the name of the schema, quoted.
--
-- Columns that are part of an index hold texts of at most 464 bytes: a longer text is cut and ends with its SHA-256, and
-- stands whole in the column whose name begins with long_. A zero character, which PostgreSQL has no place for, is written
-- as U+0001 U+0001, and U+0001 as U+0001 U+0002.

CREATE TABLE {schema}.runs (
    no              bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id              text    COLLATE "C" NOT NULL UNIQUE,
    long_id         text,
    title           text    NOT NULL,
    spec            text    NOT NULL,
    thread          text,
    status          text    NOT NULL DEFAULT 'Running' CHECK (status IN ('Running', 'Waiting', 'Done')),
    reason          text,
    version         bigint  NOT NULL DEFAULT 0,
    steps           bigint  NOT NULL DEFAULT 0,
    waiting         bigint  NOT NULL DEFAULT 0,
    -- The fence of the last lease, and that of the last commit.
    fence           bigint  NOT NULL DEFAULT 0,
    committed_under bigint  NOT NULL DEFAULT 0,
    holder          text,
    held_until      bigint,
    not_before      bigint,
    problem         text,
    cancel          text,
    -- Are there decisions that were not taken?
    mail            boolean NOT NULL DEFAULT false,
    created_at      bigint  NOT NULL,
    changed_at      bigint  NOT NULL,
    snapshot        text,
    core            text,
    CHECK ((holder IS NULL) = (held_until IS NULL)),
    CHECK ((version = 0) = (snapshot IS NULL) AND (version = 0) = (core IS NULL))
);
CREATE INDEX runs_newest ON {schema}.runs (created_at, id);
CREATE INDEX runs_status_newest ON {schema}.runs (status, created_at, id);
CREATE INDEX runs_ready ON {schema}.runs (changed_at, id)
    WHERE status = 'Running' OR (status = 'Waiting' AND (mail OR cancel IS NOT NULL));

CREATE TABLE {schema}.messages (
    run  bigint NOT NULL REFERENCES {schema}.runs ON DELETE CASCADE,
    seq  bigint NOT NULL,
    role text   NOT NULL,
    json text   NOT NULL,
    PRIMARY KEY (run, seq)
);

CREATE TABLE {schema}.calls (
    run        bigint NOT NULL REFERENCES {schema}.runs ON DELETE CASCADE,
    name       text   COLLATE "C" NOT NULL,
    long_name  text,
    id         text   NOT NULL,
    tool       text   NOT NULL,
    step       bigint NOT NULL,
    ordinal    bigint NOT NULL,
    status     text   NOT NULL,
    executions bigint NOT NULL,
    snapshot   text   NOT NULL,
    PRIMARY KEY (run, name)
);

-- The calls that wait and that nobody decided.
CREATE TABLE {schema}.approvals (
    run_id      text   COLLATE "C" NOT NULL REFERENCES {schema}.runs (id) ON DELETE CASCADE,
    call        text   COLLATE "C" NOT NULL,
    long_run_id text,
    long_call   text,
    call_id     text   COLLATE "C" NOT NULL,
    tool        text   NOT NULL,
    suspension  text   COLLATE "C" NOT NULL,
    json        text   NOT NULL,
    arguments   text   NOT NULL,
    args_digest text   NOT NULL,
    expires_at  bigint,
    PRIMARY KEY (run_id, call)
);
CREATE INDEX approvals_call ON {schema}.approvals (call, run_id);
CREATE INDEX approvals_call_id ON {schema}.approvals (call_id, run_id, call);
CREATE INDEX approvals_suspension ON {schema}.approvals (suspension, run_id, call);
CREATE INDEX approvals_due ON {schema}.approvals (expires_at, run_id, call) WHERE expires_at IS NOT NULL;

CREATE TABLE {schema}.decisions (
    run         bigint  NOT NULL REFERENCES {schema}.runs ON DELETE CASCADE,
    id          text    COLLATE "C" NOT NULL,
    suspension  text    COLLATE "C" NOT NULL,
    -- The order in which they came.
    n           bigint  GENERATED ALWAYS AS IDENTITY,
    call        text    NOT NULL,
    action      text    NOT NULL,
    actor       text,
    decided_at  bigint  NOT NULL,
    json        text    NOT NULL,
    taken       boolean NOT NULL,
    PRIMARY KEY (run, id),
    UNIQUE (run, suspension)
);

CREATE TABLE {schema}.state (
    run      bigint NOT NULL REFERENCES {schema}.runs ON DELETE CASCADE,
    scope    text   NOT NULL CHECK (scope IN ('run', 'thread')),
    key      text   COLLATE "C" NOT NULL,
    long_key text,
    json     text   NOT NULL,
    PRIMARY KEY (run, scope, key)
);

CREATE TABLE {schema}.trace (
    run  bigint NOT NULL REFERENCES {schema}.runs ON DELETE CASCADE,
    seq  bigint NOT NULL,
    json text   NOT NULL,
    PRIMARY KEY (run, seq)
);

-- The functions lock the run first, and only then look at what belongs to it: of two that change one run, the second sees all
-- that the first did. None of them locks two runs.

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
            (run, name, long_name, id, tool, step, ordinal, status, executions, snapshot)
            SELECT r.no, given.*
            FROM unnest(call_names, call_longs, call_ids, call_tools, call_steps, call_ordinals, call_statuses,
                call_executions, call_snapshots) AS given
            ON CONFLICT (run, name) DO UPDATE SET
                id = excluded.id, tool = excluded.tool, step = excluded.step, ordinal = excluded.ordinal,
                status = excluded.status, executions = excluded.executions, snapshot = excluded.snapshot;
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
    outcome := 'made';
END
$$;

CREATE FUNCTION {schema}.post_decision(
    in_run text, in_call text, in_suspension text, in_id text, in_name text, in_action text, in_actor text, in_at bigint,
    in_json text, OUT outcome text
) LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    SELECT runs.no INTO r FROM {schema}.runs WHERE runs.id = in_run FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 'no run';
    ELSIF EXISTS (SELECT FROM {schema}.decisions kept WHERE kept.run = r.no AND kept.id = in_id) THEN
        outcome := 'duplicate';
    ELSIF EXISTS (SELECT FROM {schema}.decisions kept WHERE kept.run = r.no AND kept.suspension = in_suspension) THEN
        outcome := 'conflict';
    ELSE
        DELETE FROM {schema}.approvals kept
            WHERE kept.run_id = in_run AND kept.call = in_call AND kept.suspension = in_suspension;
        IF NOT FOUND THEN
            outcome := 'not waiting';
            RETURN;
        END IF;
        INSERT INTO {schema}.decisions (run, id, suspension, call, action, actor, decided_at, json, taken)
            VALUES (r.no, in_id, in_suspension, in_name, in_action, in_actor, in_at, in_json, false);
        UPDATE {schema}.runs SET mail = true WHERE runs.no = r.no;
        outcome := 'accepted';
    END IF;
END
$$;

CREATE FUNCTION {schema}.claim_run(
    in_run text, in_holder text, in_now bigint, in_until bigint, OUT outcome text, OUT number bigint, OUT detail text
) LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    SELECT runs.no, runs.holder, runs.held_until INTO r FROM {schema}.runs WHERE runs.id = in_run FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 'no run';
    ELSIF r.held_until > in_now THEN
        outcome := 'held'; number := r.held_until; detail := r.holder;
    ELSE
        UPDATE {schema}.runs SET fence = fence + 1, holder = in_holder, held_until = in_until WHERE runs.no = r.no
            RETURNING fence INTO number;
        outcome := 'claimed';
    END IF;
END
$$;

CREATE FUNCTION {schema}.renew_run(
    in_run text, in_fence bigint, in_until bigint, OUT outcome text, OUT number bigint
) LANGUAGE plpgsql AS $$
BEGIN
    SELECT runs.fence INTO number FROM {schema}.runs WHERE runs.id = in_run FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 'no run';
    ELSIF number <> in_fence THEN
        outcome := 'fenced';
    ELSE
        UPDATE {schema}.runs SET held_until = in_until WHERE runs.id = in_run AND holder IS NOT NULL;
        outcome := 'renewed';
    END IF;
END
$$;

CREATE FUNCTION {schema}.remove_run(
    in_run text, in_now bigint, OUT outcome text, OUT number bigint, OUT detail text
) LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    SELECT runs.no, runs.holder, runs.held_until INTO r FROM {schema}.runs WHERE runs.id = in_run FOR UPDATE;
    IF NOT FOUND THEN
        outcome := 'no run';
    ELSIF r.held_until > in_now THEN
        outcome := 'held'; number := r.held_until; detail := r.holder;
    ELSE
        DELETE FROM {schema}.runs WHERE runs.no = r.no;
        outcome := 'removed';
    END IF;
END
$$;
