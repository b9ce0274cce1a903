-- Version 3 of the tables: a commit changes no column that an index has, so that it writes none of them and no row in its
-- page has to be found through those that came before it.

-- Where it stands among those that can go on: when it was created or last given back, in the time of its last commit.
ALTER TABLE {schema}.runs ADD COLUMN queued_at bigint;
UPDATE {schema}.runs SET queued_at = changed_at;
ALTER TABLE {schema}.runs ALTER COLUMN queued_at SET NOT NULL;
DROP INDEX {schema}.runs_ready;
CREATE INDEX runs_ready ON {schema}.runs (queued_at, id)
    WHERE status = 'Running' OR (status = 'Waiting' AND (mail OR cancel IS NOT NULL));
-- Room in each page for the next version of a row.
ALTER TABLE {schema}.runs SET (fillfactor = 70);

CREATE OR REPLACE FUNCTION {schema}.create_run(
    in_id text, in_long_id text, in_title text, in_spec text, in_at bigint, in_not_before bigint, OUT made boolean
) LANGUAGE plpgsql AS $$
DECLARE
    new bigint;
BEGIN
    INSERT INTO {schema}.runs (id, long_id, title, spec, created_at, changed_at, queued_at, not_before, fence)
        SELECT in_id, in_long_id, in_title, in_spec, in_at, in_at, in_at, in_not_before, fences.first
        FROM {schema}.fences
        ON CONFLICT (id) DO NOTHING RETURNING no INTO new;
    made := FOUND;
    -- In a statement of its own: it sees what was committed while the one above waited for a run of that id to be gone.
    UPDATE {schema}.runs SET fence = fences.first FROM {schema}.fences
        WHERE runs.no = new AND runs.fence < fences.first;
END
$$;
