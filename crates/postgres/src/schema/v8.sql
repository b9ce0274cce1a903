-- Version 8 of the tables: threads of runs, and messages for runs that wait.

-- Places of runs on threads: follows is the run before it, and none for the first one. A run without a row here has a thread of its own.
CREATE TABLE {schema}.threads (
    run         bigint PRIMARY KEY REFERENCES {schema}.runs ON DELETE CASCADE,
    thread      text   COLLATE "C" NOT NULL,    -- of a long id its digest
    long_thread text,
    follows     bigint REFERENCES {schema}.runs
);
CREATE UNIQUE INDEX threads_in_order ON {schema}.threads (follows) WHERE follows IS NOT NULL;
CREATE UNIQUE INDEX threads_begun ON {schema}.threads (thread) WHERE follows IS NULL;
CREATE INDEX threads_by_name ON {schema}.threads (thread, run);

-- Messages: version is the last commit before, and the next commit takes it.
CREATE TABLE {schema}.posts (
    run     bigint PRIMARY KEY REFERENCES {schema}.runs ON DELETE CASCADE,
    version bigint NOT NULL,
    id      text   COLLATE "C" NOT NULL,        -- as in runs
    json    text   NOT NULL
);

CREATE FUNCTION {schema}.last_of_thread(in_thread text, OUT no bigint, OUT id text, OUT long_id text, OUT status text)
LANGUAGE sql STABLE AS $$
    SELECT r.no, r.id, r.long_id, r.status FROM {schema}.threads t JOIN {schema}.runs r ON r.no = t.run
        WHERE t.thread = in_thread AND NOT EXISTS (SELECT FROM {schema}.threads behind WHERE behind.follows = t.run)
    UNION ALL
    SELECT r.no, r.id, r.long_id, r.status FROM {schema}.runs r
        WHERE r.id = in_thread AND NOT EXISTS (SELECT FROM {schema}.threads t WHERE t.run = r.no OR t.follows = r.no)
    LIMIT 1
$$;

-- Creations under one id, or on one thread, come one after the other.
CREATE FUNCTION {schema}.create_on_thread(
    in_id text, in_long_id text, in_title text, in_spec text, in_at bigint, in_not_before bigint,
    in_thread text, in_long_thread text, in_after text, in_message text, OUT outcome text, OUT last text, OUT status text
) LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    -- Ids first, in their order, and then the thread: in another order two could wait for each other.
    PERFORM pg_advisory_xact_lock(hashtextextended('runstate id ' || least(in_id, in_message), 0));
    PERFORM pg_advisory_xact_lock(hashtextextended('runstate id ' || greatest(in_id, in_message), 0));
    PERFORM pg_advisory_xact_lock(hashtextextended('runstate thread ' || coalesce(in_thread, in_id), 0));
    IF in_thread IS NULL AND EXISTS (SELECT FROM {schema}.threads WHERE threads.thread = in_id) THEN
        outcome := 'taken';
        RETURN;
    END IF;
    IF in_thread IS NULL AND in_message IS NULL THEN
        outcome := CASE WHEN {schema}.create_run(in_id, in_long_id, in_title, in_spec, in_at, in_not_before)
            THEN 'made' ELSE 'taken' END;
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM {schema}.runs WHERE runs.id = in_id)
        OR EXISTS (SELECT FROM {schema}.removed WHERE removed.id = in_id) THEN
        outcome := 'taken';
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM {schema}.runs WHERE runs.id = in_message)
        OR EXISTS (SELECT FROM {schema}.removed WHERE removed.id = in_message) THEN
        outcome := 'duplicate';
        RETURN;
    END IF;
    SELECT found.* INTO r FROM {schema}.last_of_thread(in_thread) AS found;
    IF r.no IS NULL AND in_after IS NOT NULL THEN
        outcome := 'no run';
        RETURN;
    END IF;
    IF r.no IS NOT NULL THEN
        -- It is not removed until this one is there.
        PERFORM FROM {schema}.runs WHERE runs.no = r.no FOR KEY SHARE;
        IF NOT FOUND OR in_after IS DISTINCT FROM r.id OR r.status <> 'Done' THEN
            outcome := 'busy'; last := coalesce(r.long_id, r.id); status := r.status;
            RETURN;
        END IF;
    END IF;
    IF NOT {schema}.create_run(in_id, in_long_id, in_title, in_spec, in_at, in_not_before) THEN
        outcome := 'taken';
        RETURN;
    END IF;
    IF in_message IS NOT NULL AND in_message <> in_id THEN
        INSERT INTO {schema}.removed VALUES (in_message);
    END IF;
    INSERT INTO {schema}.threads (run, thread, long_thread, follows)
        SELECT runs.no, in_thread, in_long_thread, r.no FROM {schema}.runs WHERE runs.id = in_id AND in_thread IS NOT NULL;
    outcome := 'made';
END
$$;

CREATE FUNCTION {schema}.supersede(in_run text, in_id text, in_json text, OUT outcome text)
LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('runstate id ' || in_id, 0));
    SELECT runs.no, runs.status, runs.mail, runs.cancel, runs.version INTO r
        FROM {schema}.runs WHERE runs.id = in_run FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 'no run';
    ELSIF EXISTS (SELECT FROM {schema}.runs WHERE runs.id = in_id)
        OR EXISTS (SELECT FROM {schema}.removed WHERE removed.id = in_id) THEN
        outcome := 'duplicate';
    ELSIF r.status = 'Done' THEN
        outcome := 'over';
    ELSIF r.status <> 'Waiting' OR r.mail OR r.cancel IS NOT NULL THEN
        outcome := 'busy';
    ELSE
        INSERT INTO {schema}.removed VALUES (in_id);
        INSERT INTO {schema}.posts (run, version, id, json) VALUES (r.no, r.version, in_id, in_json)
            ON CONFLICT (run) DO UPDATE SET version = excluded.version, id = excluded.id, json = excluded.json;
        DELETE FROM {schema}.approvals WHERE approvals.run_id = in_run;
        UPDATE {schema}.runs SET mail = true WHERE runs.no = r.no;
        outcome := 'accepted';
    END IF;
END
$$;

-- A commit. If the run has a message, the commit takes the message, or ends the run as cancelled.
ALTER FUNCTION {schema}.commit_run RENAME TO commit_rows;
CREATE FUNCTION {schema}.commit_run(text, bigint, bigint, boolean, bigint, text, text, text, bigint, bigint, text, text, bigint[], text[], text[], text[], text[], text[], text[], bigint[], bigint[], text[], bigint[], text[], text[], text[], text[], text[], text[], text[], text[], text[], text[], bigint[], text[], text[], text[], text[], text[], bigint[], text[], text[], text[], text[], text[], bigint[], text[], bigint[], bigint[], text[], text, OUT outcome text, OUT number bigint, OUT detail text)
LANGUAGE plpgsql AS $$
DECLARE
    r record;
    post record;
BEGIN
    -- In a statement of its own: one that waits for the row reads what belongs to it as it was before.
    SELECT runs.no, runs.fence, runs.version, runs.mail INTO r FROM {schema}.runs WHERE runs.id = $1 FOR NO KEY UPDATE;
    IF r.mail THEN
        SELECT posts.version, posts.id, posts.json INTO post FROM {schema}.posts WHERE posts.run = r.no;
        IF FOUND AND post.version = r.version AND r.fence = $2 AND $3 = r.version + 1
            AND post.id IS DISTINCT FROM $51 AND NOT ($6 = 'Done' AND $7 = 'cancelled') THEN
            outcome := 'superseded'; detail := post.json;
            RETURN;
        END IF;
    END IF;
    SELECT done.* INTO outcome, number, detail FROM {schema}.commit_rows($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
        $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35,
        $36, $37, $38, $39, $40, $41, $42, $43, $44, $45, $46, $47, $48, $49, $50) AS done;
    IF outcome <> 'made' OR post IS NULL THEN
        RETURN;
    END IF;
    IF post.version <> $3 THEN
        DELETE FROM {schema}.posts WHERE posts.run = r.no;
        UPDATE {schema}.runs SET mail = EXISTS (
            SELECT FROM {schema}.decisions kept WHERE kept.run = r.no AND NOT kept.taken)
            WHERE runs.no = r.no;
    ELSE
        -- It was made before the message came, and is given again.
        DELETE FROM {schema}.approvals WHERE approvals.run_id = $1;
        UPDATE {schema}.runs SET mail = true WHERE runs.no = r.no;
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION {schema}.remove_run(
    in_run text, in_now bigint, OUT outcome text, OUT number bigint, OUT detail text
) LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    SELECT runs.no, runs.holder, runs.held_until INTO r
        FROM {schema}.runs WHERE runs.id = in_run FOR UPDATE;
    IF NOT FOUND THEN
        outcome := 'no run';
    ELSIF r.held_until > in_now THEN
        outcome := 'held'; number := r.held_until; detail := r.holder;
    ELSE
        SELECT coalesce(runs.long_id, runs.id) INTO detail
            FROM {schema}.threads JOIN {schema}.runs ON runs.no = threads.run WHERE threads.follows = r.no;
        IF FOUND THEN
            outcome := 'continued';
            RETURN;
        END IF;
        INSERT INTO {schema}.removed VALUES (in_run) ON CONFLICT DO NOTHING;
        DELETE FROM {schema}.runs WHERE runs.no = r.no;
        outcome := 'removed';
    END IF;
END
$$;
