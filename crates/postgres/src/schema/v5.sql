-- Version 5 of the tables: the id of a run that was removed is not given to another one, from this version on. So nothing that was meant for it, a lease
-- or a decision, is taken for that of another, and a run need not begin above the leases of others.

CREATE TABLE {schema}.removed (
    id text COLLATE "C" PRIMARY KEY     -- as in runs: of a long id its digest
);

CREATE OR REPLACE FUNCTION {schema}.create_run(
    in_id text, in_long_id text, in_title text, in_spec text, in_at bigint, in_not_before bigint, OUT made boolean
) LANGUAGE plpgsql AS $$
DECLARE
    new bigint;
BEGIN
    INSERT INTO {schema}.runs (id, long_id, title, spec, created_at, changed_at, queued_at, not_before)
        VALUES (in_id, in_long_id, in_title, in_spec, in_at, in_at, in_at, in_not_before)
        ON CONFLICT (id) DO NOTHING RETURNING no INTO new;
    made := FOUND;
    -- In a statement of its own: it sees a removal that was committed while the one above waited for that run to be gone.
    IF EXISTS (SELECT FROM {schema}.removed WHERE removed.id = in_id) THEN
        DELETE FROM {schema}.runs WHERE runs.no = new;
        made := false;
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
        INSERT INTO {schema}.removed VALUES (in_run) ON CONFLICT DO NOTHING;
        DELETE FROM {schema}.runs WHERE runs.no = r.no;
        outcome := 'removed';
    END IF;
END
$$;

DROP TABLE {schema}.fences;
