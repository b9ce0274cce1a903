-- Version 2 of the tables: fences do not begin anew when a run is removed and another one gets its id.

-- One row: the fence that a run begins with, above each lease on those that were removed.
CREATE TABLE {schema}.fences (
    one   boolean PRIMARY KEY DEFAULT true CHECK (one),
    first bigint  NOT NULL
);
-- Of runs that were removed before nothing is known; those that are there have had the most leases, as likely as not.
INSERT INTO {schema}.fences (first) SELECT coalesce(max(fence) + 1, 0) FROM {schema}.runs;

CREATE FUNCTION {schema}.create_run(
    in_id text, in_long_id text, in_title text, in_spec text, in_at bigint, in_not_before bigint, OUT made boolean
) LANGUAGE plpgsql AS $$
DECLARE
    new bigint;
BEGIN
    INSERT INTO {schema}.runs (id, long_id, title, spec, created_at, changed_at, not_before, fence)
        SELECT in_id, in_long_id, in_title, in_spec, in_at, in_at, in_not_before, fences.first FROM {schema}.fences
        ON CONFLICT (id) DO NOTHING RETURNING no INTO new;
    made := FOUND;
    -- In a statement of its own: it sees what was committed while the one above waited for a run of that id to be gone.
    UPDATE {schema}.runs SET fence = fences.first FROM {schema}.fences
        WHERE runs.no = new AND runs.fence < fences.first;
END
$$;

CREATE OR REPLACE FUNCTION {schema}.remove_run(
    in_run text, in_now bigint, OUT outcome text, OUT number bigint, OUT detail text
) LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    SELECT runs.no, runs.holder, runs.held_until, runs.fence INTO r
        FROM {schema}.runs WHERE runs.id = in_run FOR UPDATE;
    IF NOT FOUND THEN
        outcome := 'no run';
    ELSIF r.held_until > in_now THEN
        outcome := 'held'; number := r.held_until; detail := r.holder;
    ELSE
        -- Most removals find it higher already, and wait for nobody.
        UPDATE {schema}.fences SET first = r.fence + 1 WHERE first <= r.fence;
        DELETE FROM {schema}.runs WHERE runs.no = r.no;
        outcome := 'removed';
    END IF;
END
$$;
