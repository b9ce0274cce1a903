-- Version 6 of the tables: claims of a run in a row that ended with neither a step nor a release, and its steps at the last claim. The run is
-- set aside once there are too many.

ALTER TABLE {schema}.runs
    ADD COLUMN lost bigint NOT NULL DEFAULT 0,
    ADD COLUMN claimed_steps bigint NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION {schema}.claim_run(
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
        UPDATE {schema}.runs SET fence = least(fence, 9223372036854775806) + 1, holder = in_holder, held_until = in_until,
            claimed_steps = steps, lost = CASE WHEN holder IS NULL THEN lost WHEN steps > greatest(claimed_steps, 1) THEN 0
            ELSE least(lost, 4294967294) + 1 END
            WHERE runs.no = r.no
            RETURNING fence INTO number;
        outcome := 'claimed';
    END IF;
END
$$;
